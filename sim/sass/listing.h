// Text of the vendor's disassemblers with encodings: `cuobjdump -sass` and `nvdisasm -hex`.
//
// Both print an instruction as its address in a comment, its text, and two comments with the low and the high
// 64 bits of its encoding:
//         /*0010*/                   S2R R0, SR_TID.X ;      /* 0x0000000000007919 */
//                                                            /* 0x000e220000002100 */
// A function begins with "Function : NAME" (cuobjdump) or with the label ".text.NAME:" (nvdisasm).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "sim/sass/instruction.h"

namespace sm89::sass {

struct ListedInst {
  uint64_t pc = 0;  // bytes from the function's start
  Word128 word;
};

struct ListedFunction {
  std::string name;               // as the listing spells it: mangled
  uint32_t arch = 0;              // 89; 0 where the listing does not say
  std::vector<ListedInst> insts;  // by pc, each once
};

// `name` is the file's, for messages. INVALID_ARGUMENT naming file and line of an instruction without its
// encoding, of one outside a function or out of order; and when the text has no instruction with an encoding.
absl::StatusOr<std::vector<ListedFunction>> ReadListing(std::string_view text, const std::string& name);

}  // namespace sm89::sass
