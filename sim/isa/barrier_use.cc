#include "sim/isa/barrier_use.h"

#include <optional>
#include <set>

#include "sim/isa/encoded_operands.h"

namespace sm89 {
namespace {

// Of machine code: number and count are immediates, or there is no count.
bool ToldByCode(const StaticInst& raw, uint32_t binary_version) {
  const auto code = DecodeEncoding(raw, binary_version);
  if (!code.ok()) return false;
  for (const sass::Slot slot : {sass::Slot::kB, sass::Slot::kCount}) {
    const sass::Operand* operand = code->Find(slot);
    if (operand != nullptr && operand->kind != sass::OperandKind::kImm && !operand->IsZeroReg()) return false;
  }
  return true;
}

}  // namespace

BarrierUse BarrierUseOf(std::span<const StaticInst> table, const DecodedKernel& kernel,
                        uint32_t binary_version) {
  BarrierUse use;
  std::set<int64_t> numbers;
  uint32_t bars = 0;
  bool unplaced_count = false, arrives = false;
  for (size_t i = 0; i < kernel.insts.size(); ++i) {
    const DecodedInst& inst = kernel.insts[i];
    if (inst.control != ControlOp::kBarrier) continue;
    ++bars;
    numbers.insert(inst.immediate);
    arrives |= inst.arrives_only;
    if (table[i].has_encoding) {
      const bool told = ToldByCode(table[i], binary_version);
      use.unknown |= !told;
      use.in_registers |= !told;
      continue;
    }
    use.unknown = true;
    unplaced_count |= inst.barrier_threads != 0;
  }
  use.partial = use.unknown && (arrives || numbers.size() > 1 || (unplaced_count && bars > 1));
  return use;
}

}  // namespace sm89
