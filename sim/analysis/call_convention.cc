#include "sim/analysis/call_convention.h"

#include <algorithm>

#include "sim/sass/decode.h"

namespace sm89::analysis {
namespace {

constexpr unsigned kStackPointer = 1;
constexpr unsigned kFirstSavedUniform = 36;

// R2, R16 to R31, then four of every eight from R36 on.
bool IsCalleeSaved(unsigned reg) {
  return reg == 2 || (reg >= 16 && reg < 32) || (reg >= 36 && (reg - 36) % 8 < 4);
}

struct Highest {
  unsigned general = 0, uniform = 0, pred = 0, upred = 0;
};

void Raise(const Code& code, Highest* highest) {
  for (const sass::Instruction& inst : code.insts) {
    const Effects effects = EffectsOf(inst);
    (effects.reads | effects.writes).ForEach([highest](RegFile file, unsigned index) {
      if (file == RegFile::kGeneral) highest->general = std::max(highest->general, index + 1);
      if (file == RegFile::kUniform) highest->uniform = std::max(highest->uniform, index + 1);
      if (file == RegFile::kPred) highest->pred = std::max(highest->pred, index + 1);
      if (file == RegFile::kUPred) highest->upred = std::max(highest->upred, index + 1);
    });
  }
}

}  // namespace

CallConvention ConventionOf(const Code& code) {
  Highest highest;
  for (const cubin::Function& function : code.module->functions) {
    if (&function == code.function) continue;
    if (const auto other = DecodeFunction(*code.module, function); other.ok()) Raise(*other, &highest);
  }
  Raise(code, &highest);
  CallConvention convention;
  const unsigned registers = std::min<uint32_t>(code.function->registers, 255);
  for (unsigned r = 0; r < registers; ++r) {
    if (r == kStackPointer) continue;
    if (IsCalleeSaved(r)) {
      convention.return_reads.Add(RegFile::kGeneral, r);
    } else if (r < highest.general) {
      convention.call_writes.Add(RegFile::kGeneral, r);
    }
  }
  // ptxas leaves UR0 to UR3 alone.
  for (unsigned u = 4; u < std::min(highest.uniform, kFirstSavedUniform); ++u) {
    convention.call_writes.Add(RegFile::kUniform, u);
  }
  for (unsigned p = 0; p < highest.pred; ++p) convention.call_writes.Add(RegFile::kPred, p);
  for (unsigned p = 0; p < highest.upred; ++p) convention.call_writes.Add(RegFile::kUPred, p);
  convention.call_reads.Add(RegFile::kGeneral, 0);
  return convention;
}

}  // namespace sm89::analysis
