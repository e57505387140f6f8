#include "sim/replay/static_inst.h"

#include "sim/sass/decode.h"

namespace sm89 {
namespace {

using sass::Field;
using sass::Instruction;
using sass::Operand;
using sass::Slot;

// Bytes a lane moves, 0 for instructions without data in memory; tracers count constant banks as none.
uint8_t WidthBytes(const Instruction& inst) {
  if (inst.op == sass::Op::kLdc || inst.op == sass::Op::kUldc) return 0;
  if (inst.Has(Field::kMatrixNum) && inst.op == sass::Op::kLdsm) return 16;
  if (inst.Has(Field::kMemSize)) {
    constexpr uint8_t kBytes[] = {1, 1, 2, 2, 4, 8, 16, 16};
    return kBytes[inst.Get(Field::kMemSize) % 8];
  }
  if (inst.Has(Field::kAtomSize) || inst.Has(Field::kAtomSize90) || inst.Has(Field::kFloatAtomSize)) {
    const uint32_t size = sass::AtomSizeOf(inst);
    return size == sass::kAtU64 || size == sass::kAtS64 || size == sass::kAtF64 ? 8 : 4;
  }
  if (inst.Has(Field::kAtomSharedSize)) return inst.Get(Field::kAtomSharedSize) == sass::kAtU64 ? 8 : 4;
  return 0;
}

void AddRegister(const Operand& operand, StaticInst* out) {
  if ((!operand.IsReg() && !operand.IsUReg()) || operand.IsZeroReg()) return;
  const RegRef reg{operand.IsReg() ? RegFile::kGeneral : RegFile::kUniform,
                   static_cast<uint8_t>(operand.index)};
  if (operand.is_dest) {
    if (out->num_dests < kMaxDests) out->dests[out->num_dests++] = reg;
  } else if (out->num_sources < kMaxSources) {
    out->sources[out->num_sources++] = reg;
  }
}

// The number that the timing model wants of an instruction: a barrier's, an allowed group count, else the
// last immediate of the text, as tracers keep it.
void SetImmediate(const Instruction& inst, StaticInst* out) {
  const Operand* wanted = nullptr;
  if (inst.op == sass::Op::kBar) wanted = inst.Find(Slot::kB);
  if (inst.op == sass::Op::kDepbar) wanted = inst.Find(Slot::kCount);
  for (int i = 0; wanted == nullptr && i < inst.num_operands; ++i) {
    const Operand& last = inst.operands[inst.num_operands - 1 - i];
    if (last.kind == sass::OperandKind::kImm) wanted = &last;
  }
  if (wanted == nullptr || wanted->kind != sass::OperandKind::kImm) return;
  out->has_immediate = true;
  out->immediate = wanted->value;
}

}  // namespace

StaticInst MakeStaticInst(const Instruction& inst, uint32_t pc, uint32_t line) {
  StaticInst out;
  out.pc = pc;
  out.opcode = sass::PrintOpcode(inst);
  for (int i = 0; i < inst.num_operands; ++i) {
    if (inst.operands[i].slot != Slot::kUa) AddRegister(inst.operands[i], &out);
  }
  for (int i = 0; i < inst.num_operands; ++i) {
    if (inst.operands[i].slot == Slot::kUa) AddRegister(inst.operands[i], &out);
  }
  SetImmediate(inst, &out);
  out.declared_width_bytes = WidthBytes(inst);
  out.source_line = line;
  out.has_encoding = true;
  for (int i = 0; i < 8; ++i) {
    out.encoding[i] = static_cast<uint8_t>(inst.word.lo >> (8 * i));
    out.encoding[8 + i] = static_cast<uint8_t>(inst.word.hi >> (8 * i));
  }
  return out;
}

}  // namespace sm89
