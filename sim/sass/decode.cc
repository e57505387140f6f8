#include "sim/sass/decode.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "sim/base/assert.h"
#include "sim/sass/form_table.h"
#include "sim/sass/operand_size.h"

namespace sm89::sass {
namespace {

Word128 And(const Word128& a, const Word128& b) { return {a.lo & b.lo, a.hi & b.hi}; }

std::string Text(const Word128& word) { return absl::StrFormat("%016x %016x", word.lo, word.hi); }

unsigned LowestBit(const Word128& word) {
  return word.lo != 0 ? static_cast<unsigned>(__builtin_ctzll(word.lo))
                      : 64 + static_cast<unsigned>(__builtin_ctzll(word.hi));
}

std::string Bits(const BitField& field) {
  std::string text;
  for (int i = 0; i < field.num_ranges; ++i) {
    const BitField::Range range = field.ranges[i];
    absl::StrAppend(&text, i == 0 ? "" : "+", range.first + range.count - 1);
    if (range.count > 1) absl::StrAppend(&text, ":", static_cast<int>(range.first));
  }
  return text;
}

// Why a form is not what a word means. The later the step that failed, the closer the form.
struct Mismatch {
  int step = 0;  // 0 = it fits
  std::string reason;
};

Mismatch Compare(const Form& form, const Word128& word) {
  const Word128 got = And(word, form.fixed_mask);
  if (got != form.fixed_value) {
    const unsigned bit = LowestBit({got.lo ^ form.fixed_value.lo, got.hi ^ form.fixed_value.hi});
    return {1, absl::StrCat("bit ", bit, " is ", word.Bit(bit) ? 1 : 0, ", which no form has")};
  }
  const Word128 rest{word.lo & ~form.explained.lo, word.hi & ~form.explained.hi};
  if (rest != Word128{}) return {2, absl::StrCat("no field explains bit ", LowestBit(rest))};
  for (const ModifierSpec& modifier : form.modifiers) {
    if (modifier.list == nullptr || modifier.list->names.empty()) continue;
    const uint32_t value = modifier.Of(word);
    if (value >= modifier.list->names.size() || modifier.list->names[value] == "-") {
      return {3, absl::StrCat("value ", value, " of bits ", Bits(modifier.bits), " has no meaning")};
    }
  }
  return {};
}

int64_t SignExtend(uint64_t value, unsigned width) {
  const unsigned shift = 64 - width;
  return static_cast<int64_t>(value << shift) >> shift;
}

bool BitAt(const Word128& word, int bit) { return bit >= 0 && word.Bit(static_cast<unsigned>(bit)); }

// The register or number of an operand; flags are set by the caller.
void SetValue(const OperandSpec& spec, const Word128& word, Operand& operand) {
  const uint64_t raw = spec.bits.Of(word);
  switch (spec.kind) {
    case OperandKind::kPred:
    case OperandKind::kUPred:
      operand.index = static_cast<uint16_t>(spec.complement ? 7 - (raw & 7) : raw);
      if (spec.complement) operand.inv = (raw & 8) != 0;
      break;
    case OperandKind::kImm:
    case OperandKind::kTarget:
      operand.value = spec.is_signed ? SignExtend(raw, spec.bits.width()) : static_cast<int64_t>(raw);
      operand.value *= spec.scale;
      break;
    case OperandKind::kFloatImm:
    case OperandKind::kDoubleImm:
    case OperandKind::kHalfImm:
      operand.value = static_cast<int64_t>(raw);
      break;
    case OperandKind::kConst:
      operand.index = static_cast<uint16_t>(spec.bank.Of(word));
      operand.value = static_cast<int64_t>(raw) * spec.scale;
      break;
    default:
      operand.index = static_cast<uint16_t>(raw);
  }
}

void AddOperand(const OperandSpec& spec, Instruction& inst) {
  const Word128& word = inst.word;
  SM89_ASSERT(inst.num_operands < kMaxOperands, "form table: too many operands");
  const bool previous_rz = inst.num_operands > 0 && inst.operands[inst.num_operands - 1].IsZeroReg();
  Operand& operand = inst.operands[inst.num_operands++];
  operand.kind = spec.kind;
  operand.slot = spec.slot;
  operand.is_dest = spec.is_dest;
  operand.inv = BitAt(word, spec.inv_bit);
  SetValue(spec, word, operand);
  if (spec.unsigned_if_rz && previous_rz) operand.value = static_cast<int64_t>(spec.bits.Of(word));
  operand.neg = BitAt(word, spec.neg_bit);
  operand.abs = BitAt(word, spec.abs_bit);
  operand.reuse = BitAt(word, spec.reuse_bit);
  operand.regs = RegistersOf(spec, inst);
}

Control ControlOf(const Word128& word) {
  Control control;
  control.stall_cycles = static_cast<uint8_t>(word.Bits(105, 4));
  control.keep_warp = word.Bit(109);
  control.write_counter = static_cast<uint8_t>(word.Bits(110, 3));
  control.read_counter = static_cast<uint8_t>(word.Bits(113, 3));
  control.wait_mask = static_cast<uint8_t>(word.Bits(116, 6));
  control.reuse_mask = static_cast<uint8_t>(word.Bits(122, 3));
  control.pm = static_cast<uint8_t>(word.Bits(102, 2));
  return control;
}

Instruction Build(const Form& form, const Word128& word, uint32_t arch) {
  Instruction inst;
  inst.word = word;
  inst.form = &form;
  inst.op = form.op;
  inst.arch = arch;
  inst.guard = static_cast<uint8_t>(word.Bits(12, 3));
  inst.guard_not = word.Bit(15);
  inst.guard_uniform = form.uniform;
  inst.control = ControlOf(word);
  for (const OperandSpec& spec : form.operands) {
    if (spec.kind != OperandKind::kNone) AddOperand(spec, inst);
  }
  return inst;
}

}  // namespace

absl::StatusOr<Instruction> Decode(Word128 word, uint32_t arch) {
  if (arch < kSm80 || arch > kSm90) {
    return absl::InvalidArgumentError(absl::StrCat("sm_", arch, " is not a known architecture (80 to 90)"));
  }
  const auto opcode = static_cast<uint32_t>(word.Bits(0, 12) | (word.Bits(91, 1) << 12));
  std::string reason;
  int step = 0;
  for (const Form& form : FormsOf(opcode)) {
    if (arch < form.min_arch || arch > form.max_arch) continue;
    const Mismatch mismatch = Compare(form, word);
    if (mismatch.step == 0) return Build(form, word, arch);
    if (mismatch.step <= step) continue;
    step = mismatch.step;
    reason = absl::StrCat(std::string(Name(form.op)), ": ", mismatch.reason);
  }
  if (step == 0) {
    reason = absl::StrFormat("opcode 0x%03x (bit 91 = %d) is unknown", opcode & 0xfff, opcode >> 12);
  }
  return absl::InvalidArgumentError(absl::StrCat("instruction ", Text(word), " of sm_", arch, ": ", reason));
}

uint32_t Instruction::Get(Field field, uint32_t absent) const {
  const int at = form == nullptr ? -1 : form->modifier_of[static_cast<size_t>(field)];
  return at < 0 ? absent : form->modifiers[static_cast<size_t>(at)].Of(word);
}

bool Instruction::Has(Field field) const {
  return form != nullptr && form->modifier_of[static_cast<size_t>(field)] >= 0;
}

}  // namespace sm89::sass
