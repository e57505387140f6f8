// Text of an instruction in the vendor's spelling. Differences are listed in PRINTING.md.
#include <string>

#include "absl/strings/str_cat.h"
#include "sim/sass/decode.h"
#include "sim/sass/form_table.h"
#include "sim/sass/print_number.h"

namespace sm89::sass {
namespace {

constexpr uint64_t kInstructionBytes = 16;

std::string RegisterName(const char* prefix, const char* zero, uint16_t index, uint16_t none) {
  return index == none ? zero : absl::StrCat(prefix, index);
}

bool IsPowerOfTwo(int64_t value) { return value > 0 && (value & (value - 1)) == 0; }

// IMAD by what it does: a move, an addition or a shift. 0x10000 is left alone, as observed.
const char* ImadAlias(const Instruction& inst) {
  const Operand* a = inst.Find(Slot::kA);
  const Operand* b = inst.Find(Slot::kB);
  const Operand* c = inst.Find(Slot::kC);
  if (inst.Get(Field::kX) != 0 || inst.Get(Field::kWide) != kWideLo) return "";
  if (a->IsZeroReg() && b->IsZeroReg() && !c->IsUReg()) return "MOV";
  if (b->kind != OperandKind::kImm) return "";
  if (b->value == 1) return "IADD";
  if (IsPowerOfTwo(b->value) && b->value != 0x10000 && c->IsZeroReg()) return "SHL";
  return "";
}

class Printer {
 public:
  Printer(const Instruction& inst, const PrintOptions& options)
      : inst_(inst), form_(*inst.form), options_(options) {}

  std::string Run() {
    if (inst_.guard != 7 || inst_.guard_not) {
      absl::StrAppend(&text_, "@", inst_.guard_not ? "!" : "", Predicate(inst_.guard, inst_.guard_uniform),
                      " ");
    }
    absl::StrAppend(&text_, PrintOpcode(inst_));
    size_t next = 0;
    for (size_t i = 0; i < form_.operands.size(); ++i) {
      const OperandSpec& spec = form_.operands[i];
      if (spec.kind == OperandKind::kNone) {
        Item(spec.modifier >= 0 ? ModifierText(form_.modifiers[static_cast<size_t>(spec.modifier)])
                                : spec.text,
             ", ");
        continue;
      }
      const Operand& operand = inst_.operands[next++];
      if (spec.opens) {
        i = Address(i, next);
      } else if (spec.indexes) {
        index_ = &operand;
      } else if (!Hidden(spec, operand)) {
        Item(OperandText(spec, operand), spec.joined ? " " : ", ");
      }
    }
    while (text_.back() == ' ') text_.pop_back();
    return std::move(text_);
  }

  static std::string ModifierText(const ModifierSpec& modifier, const Word128& word) {
    if (modifier.list == nullptr) return modifier.text;
    if (modifier.list->names.empty()) return "";
    return modifier.list->names[modifier.Of(word)];
  }

 private:
  std::string ModifierText(const ModifierSpec& modifier) const { return ModifierText(modifier, inst_.word); }

  void Item(const std::string& item, const char* separator) {
    absl::StrAppend(&text_, items_++ == 0 ? " " : separator, item);
  }

  static std::string Predicate(uint16_t index, bool uniform) {
    return uniform ? RegisterName("UP", "UPT", index, 7) : RegisterName("P", "PT", index, 7);
  }

  static bool Hidden(const OperandSpec& spec, const Operand& operand) {
    if (spec.never_printed) return true;
    if (!spec.hide) return false;
    if (operand.kind == OperandKind::kImm) return operand.value == spec.hide_value;
    return operand.IsZeroReg() && !operand.inv;
  }

  std::string Attached(Slot slot) const {
    std::string text;
    for (const ModifierSpec& modifier : form_.modifiers) {
      if (!modifier.attached || modifier.slot != slot) continue;
      const std::string name = ModifierText(modifier);
      if (!name.empty()) absl::StrAppend(&text, ".", name);
    }
    return text;
  }

  std::string Constant(const OperandSpec& spec, const Operand& operand) {
    std::string inside = HexText(operand.value);
    if (index_ != nullptr && (!index_->IsZeroReg() || operand.value == 0)) {
      const std::string index = Plain(*index_);
      inside = operand.value == 0 ? index : absl::StrCat(index, "+", inside);
    }
    index_ = nullptr;
    return absl::StrCat("c[", HexText(operand.index), spec.spaced ? "] [" : "][", inside, "]");
  }

  std::string Target(const Operand& operand) const {
    if (inst_.op == Op::kBrx) return HexText(operand.value);
    const uint64_t address = options_.pc + kInstructionBytes + static_cast<uint64_t>(operand.value);
    if (options_.label != nullptr) {
      std::string label = options_.label(address, options_.label_context);
      if (!label.empty()) return label;
    }
    return absl::StrCat("0x", absl::Hex(address));
  }

  // Without sign, reuse and attached modifiers.
  std::string Plain(const Operand& operand) const {
    switch (operand.kind) {
      case OperandKind::kReg:
        return RegisterName("R", "RZ", operand.index, 255);
      case OperandKind::kUReg:
        return RegisterName("UR", "URZ", operand.index, 63);
      case OperandKind::kPred:
      case OperandKind::kUPred:
        return Predicate(operand.index, operand.kind == OperandKind::kUPred);
      case OperandKind::kImm:
        return HexText(operand.value);
      case OperandKind::kFloatImm:
        return FloatText(static_cast<uint32_t>(operand.value));
      case OperandKind::kDoubleImm:
        return DoubleText(static_cast<uint64_t>(operand.value) << 32);
      case OperandKind::kHalfImm:
        return inst_.Get(Field::kHalfFmt) == kHalfBf16 ? Bfloat16Text(static_cast<uint16_t>(operand.value))
                                                       : HalfText(static_cast<uint16_t>(operand.value));
      case OperandKind::kSpecialReg:
        return SpecialRegisterName(operand.index);
      case OperandKind::kBarrier:
      case OperandKind::kCbuState:
        return absl::StrCat("B", operand.index);
      case OperandKind::kScoreboard:
        return absl::StrCat("SB", operand.index);
      case OperandKind::kTarget:
        return Target(operand);
      default:
        return "";
    }
  }

  std::string OperandText(const OperandSpec& spec, const Operand& operand) {
    std::string text = operand.kind == OperandKind::kConst ? Constant(spec, operand) : Plain(operand);
    if (operand.abs) text = absl::StrCat("|", text, "|");
    const bool predicate = operand.kind == OperandKind::kPred || operand.kind == OperandKind::kUPred;
    const char* sign = operand.neg ? "-" : operand.inv ? (predicate ? "!" : "~") : "";
    return absl::StrCat(sign, text, operand.reuse ? ".reuse" : "", Attached(spec.slot));
  }

  // The descriptor form is shown from sm_90 on, and where an L2 policy makes it matter.
  bool IsDescriptor() const { return inst_.Get(Field::kMemDesc) != 0 || inst_.Get(Field::kL2Hint) != 0; }
  bool ShowsDescriptor() const {
    return IsDescriptor() && (inst_.arch >= kSm90 || inst_.Get(Field::kL2Hint) != 0);
  }

  // "[R2.X4+UR4+0x10]"; `next` is one past the operand that opens it. Returns the index of its last operand.
  size_t Address(size_t at, size_t& next) {
    --next;
    std::string descriptor, inside;
    const Operand* zero = nullptr;
    for (bool more = true; more; ++at) {
      const OperandSpec& spec = form_.operands[at];
      const Operand& operand = inst_.operands[next++];
      more = !spec.closes;
      if (operand.kind == OperandKind::kImm) {
        if (operand.value != 0) absl::StrAppend(&inside, inside.empty() ? "" : "+", HexText(operand.value));
      } else if (operand.IsUReg() && IsDescriptor()) {
        if (ShowsDescriptor()) descriptor = absl::StrCat("desc[", Plain(operand), "]");
      } else if (operand.IsReg() && operand.IsZeroReg()) {
        zero = &operand;
      } else {
        absl::StrAppend(&inside, inside.empty() ? "" : "+", Plain(operand), Attached(spec.slot));
      }
    }
    if (inside.empty() && zero != nullptr) inside = absl::StrCat(Plain(*zero), Attached(zero->slot));
    Item(absl::StrCat(descriptor, "[", inside, "]"), ", ");
    return at - 1;
  }

  const Instruction& inst_;
  const Form& form_;
  const PrintOptions& options_;
  std::string text_;
  int items_ = 0;
  const Operand* index_ = nullptr;  // register inside the next constant's brackets
};

}  // namespace

std::string PrintOpcode(const Instruction& inst) {
  std::string text(Name(inst.op));
  if (inst.op == Op::kImad) {
    const char* alias = ImadAlias(inst);
    if (*alias != '\0') absl::StrAppend(&text, ".", alias);
  }
  for (size_t i = 0; i < inst.form->modifiers.size(); ++i) {
    const ModifierSpec& modifier = inst.form->modifiers[i];
    if (modifier.attached || modifier.is_operand) continue;
    const std::string name = Printer::ModifierText(modifier, inst.word);
    if (!name.empty()) absl::StrAppend(&text, ".", name);
  }
  return text;
}

std::string Print(const Instruction& inst, const PrintOptions& options) {
  return Printer(inst, options).Run();
}

}  // namespace sm89::sass
