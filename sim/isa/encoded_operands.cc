#include "sim/isa/encoded_operands.h"

#include <bit>

#include "sim/base/assert.h"
#include "sim/sass/decode.h"

namespace sm89 {
namespace {

using sass::Instruction;
using sass::Op;
using sass::Operand;
using sass::OperandKind;
using sass::Slot;

sass::Word128 WordOf(const std::array<uint8_t, 16>& bytes) {
  sass::Word128 word;
  for (int i = 7; i >= 0; --i) {
    word.lo = word.lo << 8 | bytes[static_cast<size_t>(i)];
    word.hi = word.hi << 8 | bytes[static_cast<size_t>(i) + 8];
  }
  return word;
}

void AddRead(const RegRange& range, DecodedInst* inst) {
  SM89_ASSERT(inst->num_sources < kMaxReads, "at most kMaxReads sources");
  inst->sources[inst->num_sources++] = range;
}

void AddWrite(const RegRange& range, DecodedInst* inst) {
  SM89_ASSERT(inst->num_dests < kMaxWrites, "at most kMaxWrites destinations");
  inst->dests[inst->num_dests++] = range;
}

bool IsPredicate(const Operand& operand) {
  return operand.kind == OperandKind::kPred || operand.kind == OperandKind::kUPred;
}

bool IsRegister(const Operand& operand) {
  return operand.IsReg() || operand.IsUReg() || IsPredicate(operand);
}

RegFile FileOf(OperandKind kind) {
  switch (kind) {
    case OperandKind::kUReg:
      return RegFile::kUniform;
    case OperandKind::kPred:
      return RegFile::kPredicate;
    case OperandKind::kUPred:
      return RegFile::kUniformPredicate;
    default:
      return RegFile::kGeneral;
  }
}

// The uniform register of a global or generic access is a 64-bit descriptor, cache policy or base.
bool IsAddressPair(const Instruction& inst, const Operand& operand) {
  return operand.slot == Slot::kUa && operand.index % 2 == 0 &&
         (inst.Has(sass::Field::kMemDesc) || inst.Has(sass::Field::kAddr64Offset));
}

RegRange RangeOf(const Instruction& inst, const Operand& operand) {
  const int count = IsAddressPair(inst, operand) ? 2 : std::max<int>(operand.regs, 1);
  const int limit = operand.IsReg()    ? 255
                    : operand.IsUReg() ? 63
                                       : 7;  // a run never reaches the zero register
  return {FileOf(operand.kind), static_cast<uint8_t>(operand.index),
          static_cast<uint8_t>(std::min<int>(count, limit - operand.index))};
}

// P2R and R2P move the predicates that their immediate mask names.
void AddMaskedPredicates(const Instruction& code, DecodedInst* inst) {
  if (code.op != Op::kP2r && code.op != Op::kR2p) return;
  const Operand* mask = code.Find(Slot::kB);
  const auto bits = static_cast<uint32_t>(mask->kind == OperandKind::kImm ? mask->value & 0x7f : 0x7f);
  if (bits == 0) return;
  const auto first = static_cast<uint8_t>(std::countr_zero(bits));
  const RegRange range{RegFile::kPredicate, first, static_cast<uint8_t>(std::bit_width(bits) - first)};
  code.op == Op::kP2r ? AddRead(range, inst) : AddWrite(range, inst);
}

// Data registers before predicates, the guard last.
void AddRegisters(const Instruction& code, DecodedInst* inst) {
  inst->num_dests = 0;
  inst->num_sources = 0;
  for (const bool predicates : {false, true}) {
    for (int i = 0; i < code.num_operands; ++i) {
      const Operand& operand = code.operands[static_cast<size_t>(i)];
      if (!IsRegister(operand) || operand.IsZeroReg() || IsPredicate(operand) != predicates) continue;
      const RegRange range = RangeOf(code, operand);
      operand.is_dest ? AddWrite(range, inst) : AddRead(range, inst);
    }
  }
  AddMaskedPredicates(code, inst);
  inst->guarded = code.guard != 7;
  if (!inst->guarded) return;
  AddRead({code.guard_uniform ? RegFile::kUniformPredicate : RegFile::kPredicate, code.guard, 1}, inst);
}

// Slots as the reuse bits number them: FADD R1, R2, R3 has its second source in C although the encoding
// keeps it where others have B.
void AssignSlots(const Instruction& code, DecodedInst* inst) {
  inst->slots = {};
  const bool async_copy = code.op == Op::kLdgsts;
  for (int i = 0; i < code.num_operands; ++i) {
    const Operand& operand = code.operands[static_cast<size_t>(i)];
    if (!operand.IsReg() || operand.is_dest || operand.IsZeroReg()) continue;
    int at = -1;
    if (operand.slot == Slot::kA) at = async_copy ? 1 : 0;
    if (operand.slot == Slot::kSharedA) at = 0;
    if (operand.slot == Slot::kB) at = 1;
    if (operand.slot == Slot::kC) at = 2;
    if (at >= 0) inst->slots[static_cast<size_t>(at)] = RangeOf(code, operand);
  }
}

// c[bank][offset]; with an index register (LDC R1, c[0x3][R2]) the address is unknown.
void SetConstant(const Instruction& code, DecodedInst* inst) {
  inst->constant_bank = DecodedInst::kNoConstant;
  for (int i = 0; i < code.num_operands; ++i) {
    const Operand& operand = code.operands[static_cast<size_t>(i)];
    if (operand.kind != OperandKind::kConst) continue;
    const Operand* index = code.op == Op::kLdc || code.op == Op::kUldc ? code.Find(Slot::kA) : nullptr;
    if (index != nullptr && !index->IsZeroReg()) return;
    inst->constant_bank = static_cast<uint8_t>(operand.index);
    inst->constant_offset = static_cast<uint32_t>(operand.value);
  }
}

bool HasUniformAddress(const Instruction& code, const DecodedInst& inst) {
  if (inst.mem_op == MemOp::kNone || inst.mem_op == MemOp::kShuffle) return false;
  for (const Slot slot : {Slot::kA, Slot::kSharedA}) {
    const Operand* address = code.Find(slot);
    if (address != nullptr && address->IsReg() && !address->IsZeroReg()) return false;
  }
  return true;
}

void SetBarrier(const Instruction& code, DecodedInst* inst) {
  const Operand* number = code.Find(Slot::kB);
  const Operand* count = code.Find(Slot::kCount);
  inst->immediate = number->kind == OperandKind::kImm ? number->value : DecodedInst::kUnknownBarrier;
  const bool counted = count != nullptr && count->kind == OperandKind::kImm;
  inst->barrier_threads = counted ? static_cast<uint32_t>(count->value) : 0;
}

void SetDepbar(const Instruction& code, DecodedInst* inst) {
  inst->depbar_counter = static_cast<uint8_t>(code.Find(Slot::kScoreboard)->index);
  inst->depbar_mask = static_cast<uint8_t>(code.Find(Slot::kScoreboardList)->value);
  inst->immediate = code.Find(Slot::kCount)->value;
}

}  // namespace

absl::StatusOr<Instruction> DecodeEncoding(const StaticInst& raw, uint32_t binary_version) {
  return sass::Decode(WordOf(raw.encoding), binary_version);
}

bool DecodeEncodedOperands(const StaticInst& raw, uint32_t binary_version, DecodedInst* inst) {
  const absl::StatusOr<Instruction> code = DecodeEncoding(raw, binary_version);
  if (!code.ok()) return false;
  AddRegisters(*code, inst);
  AssignSlots(*code, inst);
  SetConstant(*code, inst);
  inst->uniform_address = HasUniformAddress(*code, *inst);
  if (code->op == Op::kBar) SetBarrier(*code, inst);
  if (code->op == Op::kDepbar) SetDepbar(*code, inst);
  return true;
}

}  // namespace sm89
