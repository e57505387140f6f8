// Our form table against the reference layout: a word synthesised from each row and each value of each of its
// modifiers decodes to the row's mnemonic, with each operand found in the role, place and size that the row
// says.
#include "tests/unit/sim_sass/forms_csv.h"

#include <gtest/gtest.h>

#include <optional>

#include "sim/sass/decode.h"

namespace sm89::sass {
namespace {

using testing::BitList;
using testing::CsvEnums;
using testing::CsvForm;
using testing::CsvForms;
using testing::CsvModifier;
using testing::CsvOperand;
using testing::Put;

// Slots by the reference's operand names.
std::optional<Slot> SlotOf(const CsvForm& form, const CsvOperand& operand) {
  static const std::map<std::string, Slot> slots = {
      {"Rd", Slot::kD},
      {"URd", Slot::kD},
      {"Rd2", Slot::kD2},
      {"Ra", Slot::kA},
      {"URa", Slot::kA},
      {"Rb", Slot::kB},
      {"Sb", Slot::kB},
      {"URb", Slot::kB},
      {"Rc", Slot::kC},
      {"Sc", Slot::kC},
      {"URc", Slot::kC},
      {"Re", Slot::kE},
      {"Ra_URb", Slot::kUa},
      {"Ra_URc", Slot::kUa},
      {"Pu", Slot::kPu},
      {"UPu", Slot::kPu},
      {"Pv", Slot::kPv},
      {"UPv", Slot::kPv},
      {"Pp", Slot::kPp},
      {"UPp", Slot::kPp},
      {"Pq", Slot::kPq},
      {"UPq", Slot::kPq},
      {"Pr", Slot::kPr},
      {"UPr", Slot::kPr},
      {"Pnz", Slot::kPnz},
      {"Ra_offset", Slot::kOffset},
      {"Ra_off", Slot::kOffset},
      {"Rd_smem", Slot::kSharedA},
      {"smem_off", Slot::kSharedOffset},
      {"barReg", Slot::kBarrier},
      {"SRa", Slot::kSpecial},
      {"cbu_state", Slot::kCbu},
      {"sbidx", Slot::kScoreboard},
      {"cnt", Slot::kCount},
      {"scoreboard_list", Slot::kScoreboardList},
      {"imm8", Slot::kLut},
      {"uimm8", Slot::kLut},
      {"vimm8", Slot::kLut2},
      {"scaleU5", Slot::kScale},
      {"extract", Slot::kExtract},
      {"id", Slot::kExtract},
      {"PixMaskU04", Slot::kImm},
      {"imm", Slot::kImm},
      {"bank5", Slot::kBank},
      {"wmsk", Slot::kMask},
      {"sImm", Slot::kTarget},
  };
  const bool tensor = operand.name == "UPp" && operand.kind == "PNZ";
  if (tensor) return Slot::kPnz;
  if (form.mnemonic == "BAR" && (operand.name == "Sc" || operand.name == "Rc")) return Slot::kCount;
  if (form.mnemonic == "BRA" && operand.name == "URb") return Slot::kUa;
  if (form.mnemonic == "ATOMS" && operand.name == "URc") return Slot::kUa;
  if (form.mnemonic == "BPT") return Slot::kImm;
  if ((form.mnemonic == "ULDC" || form.mnemonic == "LDC") && operand.name == "Sa") return Slot::kC;
  if (operand.name == "Sa") return form.line.find("CALL,ABS") == 0 ? Slot::kOffset : Slot::kTarget;
  if (operand.name == "Ra_offset" && operand.scale == 4) return std::nullopt;  // target or absolute: by mode
  const auto found = slots.find(operand.name);
  if (found == slots.end()) return std::nullopt;
  return found->second;
}

// A value that can be told from others: registers count up in fours so that every alignment holds.
uint64_t ValueOf(const CsvOperand& operand, unsigned place) {
  if (operand.kind == "R" || operand.kind == "RNZ") return 8 + 4 * place;
  if (operand.kind == "RZ") return 255;
  if (operand.kind == "UR") return 4 + 4 * place;
  if (operand.kind == "P" || operand.kind == "UP" || operand.kind == "PNZ") return place % 6;
  if (operand.kind == "PADR") return 0;
  if (operand.name == "reuse_e") return 0;
  return 1;
}

bool IsFixed(const CsvForm& form, unsigned bit) {
  for (const auto& [bits, value] : form.fixed) {
    for (const unsigned b : bits) {
      if (b == bit) return true;
    }
  }
  return false;
}

// The row's word with every modifier at its first value that agrees with the fixed bits.
Word128 WordOf(const CsvForm& form, const std::map<std::string, std::vector<uint64_t>>& enums) {
  Word128 word{form.opcode & 0xfff, 0};
  if ((form.opcode & 0x1000) != 0) Put(word, {91}, 1);
  Put(word, {14, 13, 12}, 7);
  for (size_t i = 0; i < form.operands.size(); ++i) {
    const CsvOperand& operand = form.operands[i];
    if (operand.name == "UPg") continue;
    Put(word, operand.bits, ValueOf(operand, static_cast<unsigned>(i)));
    if (!operand.bank.empty()) Put(word, operand.bank, 3);
  }
  for (const CsvModifier& modifier : form.modifiers) {
    const auto found = enums.find(modifier.list);
    Put(word, modifier.bits, found == enums.end() ? 0 : found->second[0]);
  }
  for (const auto& [bits, value] : form.fixed) Put(word, bits, value);
  return word;
}

// Registers by the rule "sz{0>1 1>1 ...}" or "2"; nothing for the rules in prose.
std::optional<unsigned> RegistersBy(const CsvForm& form, const CsvOperand& operand, const Word128& word) {
  const auto found = form.regs.find(operand.name.starts_with("UR") ? operand.name.substr(1) : operand.name);
  if (found == form.regs.end()) return std::nullopt;
  const std::string& rule = found->second;
  if (rule.size() == 1 && rule[0] >= '1' && rule[0] <= '9') return rule[0] - '0';
  const size_t brace = rule.find('{');
  if (brace == std::string::npos || rule.find('|') != std::string::npos) return std::nullopt;
  for (const CsvModifier& modifier : form.modifiers) {
    if (modifier.name != rule.substr(0, brace)) continue;
    uint64_t value = 0;
    for (const unsigned bit : modifier.bits) value = value * 2 + (word.Bit(bit) ? 1 : 0);
    for (const std::string& arm : testing::SplitText(rule.substr(brace + 1, rule.size() - brace - 2), ' ')) {
      if (std::stoull(arm) == value) return static_cast<unsigned>(std::stoul(arm.substr(arm.find('>') + 1)));
    }
  }
  return std::nullopt;
}

OperandKind KindOf(const CsvOperand& operand) {
  if (operand.kind == "R" || operand.kind == "RNZ" || operand.kind == "RZ") return OperandKind::kReg;
  if (operand.kind == "UR") return OperandKind::kUReg;
  if (operand.kind == "CB") return OperandKind::kConst;
  return OperandKind::kNone;  // not compared
}

struct Checked {
  size_t words = 0, operands = 0, sizes = 0;
};

void CheckWord(const CsvForm& form, const Word128& word, Checked& checked) {
  SCOPED_TRACE(form.line);
  const auto inst = Decode(word, 89);
  ASSERT_TRUE(inst.ok()) << inst.status().message();
  ASSERT_EQ(Name(inst->op), form.mnemonic);
  ++checked.words;
  for (const CsvOperand& operand : form.operands) {
    const std::optional<Slot> slot = SlotOf(form, operand);
    const OperandKind kind = KindOf(operand);
    if (!slot.has_value() || kind == OperandKind::kNone) continue;
    const Operand* ours = inst->Find(*slot);
    // F2FP hides what its merge mode does not read.
    if (ours == nullptr && form.mnemonic == "F2FP") continue;
    ASSERT_NE(ours, nullptr) << operand.name;
    EXPECT_EQ(ours->kind, kind) << operand.name;
    uint64_t value = 0;
    for (const unsigned bit : operand.bits) value = value * 2 + (word.Bit(bit) ? 1 : 0);
    if (kind == OperandKind::kConst) {
      EXPECT_EQ(ours->index, 3u) << operand.name;
      EXPECT_EQ(ours->value, static_cast<int64_t>(value * operand.scale)) << operand.name;
    } else {
      EXPECT_EQ(ours->index, value) << operand.name;
    }
    const bool dest = operand.name == "Rd" || operand.name == "URd" || operand.name == "Rd2";
    EXPECT_EQ(ours->is_dest, dest) << operand.name;
    ++checked.operands;
    const std::optional<unsigned> regs = RegistersBy(form, operand, word);
    if (!regs.has_value() || kind == OperandKind::kConst) continue;
    EXPECT_EQ(ours->regs, *regs) << operand.name;
    ++checked.sizes;
  }
}

// Rows that our table splits by this modifier, so that other fields have to change with it.
bool IsSplitBy(const CsvForm& form, const CsvModifier& modifier) {
  return (form.mnemonic == "F2FP" && modifier.name == "merge") ||
         (form.mnemonic == "ISETP" && modifier.name == "ex") ||
         (form.mnemonic == "BRA" && modifier.name == "cond");
}

TEST(FormTable, AgreesWithTheReferenceOnEveryRow) {
  const std::vector<CsvForm> forms = CsvForms();
  if (forms.empty()) GTEST_SKIP() << "../shared/sass/forms_sm89.csv is not here";
  const auto enums = CsvEnums();
  Checked checked;
  for (const CsvForm& form : forms) {
    Word128 base = WordOf(form, enums);
    if (form.mnemonic == "F2FP") {  // PACK_AB reads neither C nor the half select
      Put(base, testing::BitsOf("71:64"), 255);
      Put(base, testing::BitsOf("88"), 0);
    }
    if (form.mnemonic == "ISETP") Put(base, testing::BitsOf("71:68"), 7);  // without EX
    CheckWord(form, base, checked);
    for (const CsvModifier& modifier : form.modifiers) {
      const auto list = enums.find(modifier.list);
      if (list == enums.end() || IsSplitBy(form, modifier)) continue;
      bool fixed = false;
      for (const unsigned bit : modifier.bits) fixed |= IsFixed(form, bit);
      for (const uint64_t value : list->second) {
        Word128 word = base;
        Put(word, modifier.bits, value);
        if (!fixed) CheckWord(form, word, checked);
      }
    }
  }
  std::printf("%zu rows, %zu words, %zu operands and %zu sizes compared\n", forms.size(), checked.words,
              checked.operands, checked.sizes);
  EXPECT_GT(checked.sizes, forms.size());
}

}  // namespace
}  // namespace sm89::sass
