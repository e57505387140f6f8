#include "sim/analysis/effects.h"

#include "absl/strings/str_cat.h"

namespace sm89::analysis {
namespace {

using sass::Op;
using sass::Operand;
using sass::OperandKind;
using sass::Slot;

void AddOperand(const Operand& operand, RegSet* set) {
  switch (operand.kind) {
    case OperandKind::kReg:
      for (unsigned i = 0; i < operand.regs && operand.index + i < 255; ++i) {
        set->Add(RegFile::kGeneral, operand.index + i);
      }
      return;
    case OperandKind::kUReg:
      for (unsigned i = 0; i < operand.regs && operand.index + i < 63; ++i) {
        set->Add(RegFile::kUniform, operand.index + i);
      }
      return;
    case OperandKind::kConstReg:  // the handle of a bindless bank is 64 bits
      for (unsigned i = 0; i < 2 && operand.index + i < 63; ++i) {
        set->Add(RegFile::kUniform, operand.index + i);
      }
      return;
    case OperandKind::kPred:
      if (operand.index < 7) set->Add(RegFile::kPred, operand.index);
      return;
    case OperandKind::kUPred:
      if (operand.index < 7) set->Add(RegFile::kUPred, operand.index);
      return;
    default:
      return;
  }
}

// The uniform register of a device-memory access is a 64-bit value: a descriptor or a cache policy. Shared
// memory takes a 32-bit offset.
bool HasWideUniformAddress(sass::Op op) {
  switch (op) {
    case Op::kLd:
    case Op::kLdg:
    case Op::kSt:
    case Op::kStg:
    case Op::kRed:
    case Op::kRedg:
    case Op::kAtom:
    case Op::kAtomg:
    case Op::kLdgsts:
      return true;
    default:
      return false;
  }
}

// P2R and R2P move all predicates that their mask selects: no operand names them.
void AddPredicateMask(const sass::Instruction& inst, RegSet* set) {
  uint64_t mask = 0x7f;
  for (const Slot slot : {Slot::kB, Slot::kImm}) {
    const Operand* operand = inst.Find(slot);
    if (operand != nullptr && operand->kind == OperandKind::kImm) {
      mask = static_cast<uint64_t>(operand->value) & 0x7f;
    }
  }
  for (unsigned i = 0; i < 7; ++i) {
    if ((mask >> i & 1) != 0) set->Add(RegFile::kPred, i);
  }
}

}  // namespace

Effects EffectsOf(const sass::Instruction& inst) {
  Effects effects;
  effects.unconditional = inst.guard == 7 && !inst.guard_not;
  effects.never = inst.guard == 7 && inst.guard_not;
  if (inst.guard < 7) {
    effects.reads.Add(inst.guard_uniform ? RegFile::kUPred : RegFile::kPred, inst.guard);
  }
  for (int i = 0; i < inst.num_operands; ++i) {
    Operand operand = inst.operands[static_cast<size_t>(i)];
    if (operand.slot == Slot::kUa && HasWideUniformAddress(inst.op)) operand.regs = 2;
    AddOperand(operand, operand.is_dest ? &effects.writes : &effects.reads);
  }
  if (inst.op == Op::kP2r) AddPredicateMask(inst, &effects.reads);
  if (inst.op == Op::kR2p) AddPredicateMask(inst, &effects.writes);
  return effects;
}

std::string RegName(RegFile file, unsigned index) {
  switch (file) {
    case RegFile::kGeneral:
      return absl::StrCat("R", index);
    case RegFile::kUniform:
      return absl::StrCat("UR", index);
    case RegFile::kPred:
      return absl::StrCat("P", index);
    case RegFile::kUPred:
      return absl::StrCat("UP", index);
  }
  return "";
}

}  // namespace sm89::analysis
