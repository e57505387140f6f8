// The families of register-only instructions. Each Choose function picks the handler and fills the Compiled's
// imm and mod; null: this variant has no handler.
#pragma once

#include "sim/emu/exec.h"
#include "sim/sass/instruction.h"

namespace sm89::emu {

Handler ChooseAdd(const sass::Instruction& inst, Compiled* c);        // IADD3 LEA IABS VIADD
Handler ChooseSelect(const sass::Instruction& inst);                  // MOV SEL IMNMX VIMNMX ... FSEL
Handler ChooseMultiply(const sass::Instruction& inst, Compiled* c);   // IMAD IDP VABSDIFF VABSDIFF4
Handler ChooseCompare(const sass::Instruction& inst, Compiled* c);    // ISETP
Handler ChooseLogic(const sass::Instruction& inst, Compiled* c);      // LOP3 PRMT
Handler ChooseBits(const sass::Instruction& inst, Compiled* c);       // BREV POPC FLO BMSK SGXT
Handler ChooseShift(const sass::Instruction& inst, Compiled* c);      // SHF
Handler ChoosePredicate(const sass::Instruction& inst, Compiled* c);  // PLOP3 P2R R2P
Handler ChooseWarp(const sass::Instruction& inst, Compiled* c);       // SHFL VOTE VOTEU MATCH REDUX R2UR
Handler ChooseUniform(const sass::Instruction& inst, Compiled* c);    // U...
Handler ChooseFloat(const sass::Instruction& inst, Compiled* c);    // FADD FMUL FFMA FMNMX FSET(P) FCHK MUFU
Handler ChooseDouble(const sass::Instruction& inst, Compiled* c);   // DADD DMUL DFMA DSETP
Handler ChooseHalf(const sass::Instruction& inst, Compiled* c);     // HADD2 HMUL2 HFMA2 HMNMX2 HSET(P)2
Handler ChooseConvert(const sass::Instruction& inst, Compiled* c);  // F2F F2FP F2I I2F I2FP FRND I2I ...
Handler ChooseTensor(const sass::Instruction& inst, Compiled* c);   // HMMA IMMA BMMA DMMA QMMA MOVM

}  // namespace sm89::emu
