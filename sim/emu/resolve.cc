#include "sim/emu/resolve.h"

#include "absl/strings/str_cat.h"
#include "sim/base/status_macros.h"
#include "sim/sass/decode.h"

namespace sm89::emu {

namespace {

using sass::Field;
using sass::Instruction;
using sass::Op;
using sass::Operand;
using sass::OperandKind;
using sass::Slot;

// 32-bit parts that a constant in `slot` has.
uint32_t ConstantParts(const Instruction& inst, Slot slot) {
  switch (inst.op) {
    case Op::kDadd:
    case Op::kDmul:
    case Op::kDfma:
    case Op::kDsetp:
      return 2;
    case Op::kImad:
    case Op::kUimad:
      return slot == Slot::kC && inst.Get(Field::kWide) != sass::kWideLo ? 2 : 1;
    case Op::kF2f:
    case Op::kF2i:
    case Op::kFrnd:
      return inst.Get(Field::kSrcFmt) == sass::kFmtF64 ? 2 : 1;
    case Op::kI2f:
      return inst.Get(Field::kSrcFmt) >= sass::kFmtU64 ? 2 : 1;
    default:
      return 1;
  }
}

absl::Status ResolveConstant(const Instruction& inst, const Operand& operand, const ConstantReader& constants,
                             FixedRows* pool, Src* src) {
  std::vector<uint32_t> values;
  for (uint32_t part = 0; part < ConstantParts(inst, operand.slot); ++part) {
    ASSIGN_OR_RETURN(const uint32_t value,
                     constants(operand.index, static_cast<uint32_t>(operand.value) + 4 * part));
    values.push_back(value);
  }
  src->kind = Src::Kind::kFixed;
  src->fixed = pool->Broadcast(values);
  return absl::OkStatus();
}

void ResolveImmediate(const Instruction& inst, const Operand& operand, FixedRows* pool, Src* src) {
  const auto bits = static_cast<uint32_t>(operand.value);
  src->kind = Src::Kind::kFixed;
  switch (operand.kind) {
    case OperandKind::kDoubleImm:
      src->fixed = pool->Broadcast({0, bits});
      break;
    case OperandKind::kHalfImm:
      // Both halves of the pair stand in the immediate's 32 bits, in every form that has one.
      src->fixed = pool->Broadcast({static_cast<uint32_t>(inst.word.Bits(32, 32))});
      break;
    default:
      // The second row is there for whoever reads 64 bits.
      src->fixed = pool->Broadcast({bits, 0});
  }
}

// A damaged cubin may name registers that its function does not have.
absl::Status CheckRegister(const Instruction& inst, const Operand& operand, uint32_t num_regs) {
  if (!operand.IsReg() || operand.IsZeroReg()) return absl::OkStatus();
  const uint32_t last = operand.index + (operand.regs > 1 ? operand.regs - 1u : 0u);
  if (last < num_regs) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(sass::PrintOpcode(inst), " uses R", last,
                                                 ", but the function has ", num_regs, " registers"));
}

absl::Status ResolveSource(const Instruction& inst, const Operand& operand, uint32_t num_regs,
                           const ConstantReader& constants, FixedRows* pool, Src* src) {
  src->neg = operand.neg;
  src->abs = operand.abs;
  src->inv = operand.inv;
  switch (operand.kind) {
    case OperandKind::kReg:
      src->kind = Src::Kind::kRow;
      src->row = operand.IsZeroReg() ? num_regs : operand.index;
      break;
    case OperandKind::kUReg:
      src->kind = Src::Kind::kUniform;
      src->ureg = static_cast<uint8_t>(operand.index);
      break;
    case OperandKind::kConst:
      return ResolveConstant(inst, operand, constants, pool, src);
    case OperandKind::kConstReg:
      // ULDC and LDC read such a constant themselves.
      if (inst.op == Op::kUldc || inst.op == Op::kLdc) break;
      return absl::UnimplementedError(
          absl::StrCat(sass::PrintOpcode(inst), " with a constant bank chosen at run time"));
    case OperandKind::kImm:
    case OperandKind::kFloatImm:
    case OperandKind::kDoubleImm:
    case OperandKind::kHalfImm:
      ResolveImmediate(inst, operand, pool, src);
      break;
    default:
      break;
  }
  return absl::OkStatus();
}

void ResolveDest(const Operand& operand, uint32_t num_regs, Compiled* c) {
  c->d_regs = operand.regs;
  c->d_uniform = operand.IsUReg();
  c->d = operand.IsReg() && operand.IsZeroReg() ? num_regs + kZeroRows : operand.index;
}

PredSrc ResolvePred(const Operand& operand) {
  return {.uniform = operand.kind == OperandKind::kUPred,
          .inv = operand.inv,
          .index = static_cast<uint8_t>(operand.index)};
}

}  // namespace

const Row* FixedRows::Broadcast(const std::vector<uint32_t>& values) {
  std::unique_ptr<Row[]>& rows = rows_[values];
  if (rows == nullptr) {
    rows = std::make_unique<Row[]>(values.size());
    for (size_t i = 0; i < values.size(); ++i) rows[i].lane.fill(values[i]);
  }
  return rows.get();
}

absl::Status ResolveOperands(const Instruction& inst, uint32_t num_regs, const ConstantReader& constants,
                             FixedRows* pool, Compiled* c) {
  c->inst = &inst;
  c->guard = {.uniform = inst.guard_uniform, .inv = inst.guard_not, .index = inst.guard};
  c->d = num_regs + kZeroRows;
  for (int i = 0; i < inst.num_operands; ++i) {
    const Operand& operand = inst.operands[i];
    RETURN_IF_ERROR(CheckRegister(inst, operand, num_regs));
    switch (operand.slot) {
      case Slot::kD:
        ResolveDest(operand, num_regs, c);
        break;
      case Slot::kA:
      case Slot::kB:
      case Slot::kC:
      case Slot::kE: {
        const int index = operand.slot == Slot::kA   ? kSrcA
                          : operand.slot == Slot::kB ? kSrcB
                          : operand.slot == Slot::kC ? kSrcC
                                                     : kSrcE;
        RETURN_IF_ERROR(ResolveSource(inst, operand, num_regs, constants, pool, &c->src[index]));
        break;
      }
      case Slot::kPu:
        c->pu = static_cast<uint8_t>(operand.index);
        c->pu_uniform = operand.kind == OperandKind::kUPred;
        break;
      case Slot::kPv:
        c->pv = static_cast<uint8_t>(operand.index);
        break;
      case Slot::kPp:
        c->p = ResolvePred(operand);
        break;
      case Slot::kPq:
        c->q = ResolvePred(operand);
        break;
      case Slot::kPr:
        c->r = ResolvePred(operand);
        break;
      default:
        break;
    }
  }
  return absl::OkStatus();
}

}  // namespace sm89::emu
