// Properties of the decoder: no word crashes it or the printer, and no bit of an accepted word is without
// meaning.
#include <gtest/gtest.h>

#include <random>
#include <set>

#include "sim/sass/decode.h"
#include "sim/sass/form_table.h"

namespace sm89::sass {
namespace {

Word128 Flipped(Word128 word, unsigned bit) {
  (bit < 64 ? word.lo : word.hi) ^= uint64_t{1} << (bit % 64);
  return word;
}

bool SameOperand(const Operand& a, const Operand& b) {
  return a.kind == b.kind && a.slot == b.slot && a.is_dest == b.is_dest && a.neg == b.neg && a.abs == b.abs &&
         a.inv == b.inv && a.reuse == b.reuse && a.regs == b.regs && a.index == b.index && a.value == b.value;
}

bool SameControl(const Control& a, const Control& b) {
  return a.stall_cycles == b.stall_cycles && a.keep_warp == b.keep_warp &&
         a.write_counter == b.write_counter && a.read_counter == b.read_counter &&
         a.wait_mask == b.wait_mask && a.pm == b.pm;
}

// Nothing that a reader of `a` can see without its bits differs in `b`.
bool SameMeaning(const Instruction& a, const Instruction& b) {
  if (a.form != b.form || a.guard != b.guard || a.guard_not != b.guard_not ||
      a.num_operands != b.num_operands) {
    return false;
  }
  if (!SameControl(a.control, b.control)) return false;
  for (int i = 0; i < a.num_operands; ++i) {
    if (!SameOperand(a.operands[i], b.operands[i])) return false;
  }
  for (const ModifierSpec& modifier : a.form->modifiers) {
    if (modifier.Of(a.word) != modifier.Of(b.word)) return false;
  }
  return true;
}

// A word that `form` accepts: the bits of `noise` where the form leaves them free. Fields with values that
// mean nothing are tried again by the caller.
Word128 WordOf(const Form& form, Word128 noise) {
  Word128 word{noise.lo & form.explained.lo, noise.hi & form.explained.hi};
  word.lo = (word.lo & ~form.fixed_mask.lo) | form.fixed_value.lo;
  word.hi = (word.hi & ~form.fixed_mask.hi) | form.fixed_value.hi;
  word.lo = (word.lo & ~uint64_t{0xfff}) | (form.opcode & 0xfff);
  const uint64_t bit91 = uint64_t{1} << 27;
  word.hi = (word.hi & ~bit91) | ((form.opcode & 0x1000) != 0 ? bit91 : 0);
  return word;
}

TEST(DecodeProperty, RandomWordsNeverCrash) {
  std::mt19937_64 random(89);
  size_t accepted = 0;
  for (int i = 0; i < 300000; ++i) {
    const auto inst = Decode({random(), random()}, i % 2 == 0 ? 89 : 90);
    if (!inst.ok()) {
      ASSERT_FALSE(inst.status().message().empty());
      continue;
    }
    ++accepted;
    ASSERT_FALSE(Print(*inst, {}).empty());
  }
  EXPECT_LT(accepted, 300u);  // the encoding is sparse: three bits alone must be 0
}

// A row that another one of the same opcode hides completely would be dead text.
TEST(DecodeProperty, RandomFieldsOfEveryFormDecodeAndPrint) {
  std::mt19937_64 random(90);
  size_t unreachable = 0;
  for (const Form& form : AllForms()) {
    bool reached = false;
    for (int i = 0; i < 20000 && !reached; ++i) {
      const auto inst = Decode(WordOf(form, {random(), random()}), form.max_arch);
      if (!inst.ok()) continue;
      ASSERT_EQ(inst->op, form.op);
      ASSERT_FALSE(Print(*inst, {}).empty());
      reached = inst->form == &form;
    }
    if (!reached) {
      ++unreachable;
      ADD_FAILURE() << Name(form.op) << " opcode 0x" << std::hex << form.opcode << " is never reached";
    }
  }
  EXPECT_EQ(unreachable, 0u);
}

TEST(DecodeProperty, EveryBitOfAnAcceptedWordMeansSomething) {
  std::mt19937_64 random(91);
  size_t flips = 0;
  for (const Form& form : AllForms()) {
    int words = 0;
    for (int i = 0; i < 20000 && words < 3; ++i) {
      const auto inst = Decode(WordOf(form, {random(), random()}), form.max_arch);
      if (!inst.ok()) continue;
      ++words;
      for (unsigned bit = 0; bit < 128; ++bit) {
        const auto other = Decode(Flipped(inst->word, bit), form.max_arch);
        if (!other.ok()) continue;
        ++flips;
        ASSERT_FALSE(SameMeaning(*inst, *other))
            << Name(form.op) << " opcode 0x" << std::hex << form.opcode << std::dec << " bit " << bit;
      }
    }
  }
  EXPECT_GT(flips, 50000u);
}

TEST(DecodeProperty, TopBitsAreAlwaysZeroOnSm89) {
  for (const Form& form : AllForms()) {
    if (form.min_arch > 89) continue;
    EXPECT_EQ(form.explained.hi >> 61, 0u) << Name(form.op);
  }
}

TEST(DecodeProperty, OperandsAndModifiersFitTheirLimits) {
  std::set<Op> seen;
  for (const Form& form : AllForms()) {
    seen.insert(form.op);
    size_t operands = 0;
    for (const OperandSpec& spec : form.operands) operands += spec.kind != OperandKind::kNone ? 1 : 0;
    EXPECT_LE(operands, static_cast<size_t>(kMaxOperands)) << Name(form.op);
    EXPECT_LT(form.modifiers.size(), 127u) << Name(form.op);
  }
  EXPECT_GE(seen.size(), 130u);
}

}  // namespace
}  // namespace sm89::sass
