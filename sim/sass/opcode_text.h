// Whether two spellings of an opcode can be one and the same word's.
#pragma once

#include <string_view>

namespace sm89::sass {

// Mnemonic with modifiers, as traces and disassemblers write them: "IMAD.WIDE.U32". True when the mnemonics
// are equal and so are the modifiers, in any order, once what PRINTING.md ("Spellings of other tools") lists
// is taken out on both sides.
bool SameOpcodeText(std::string_view a, std::string_view b);

}  // namespace sm89::sass
