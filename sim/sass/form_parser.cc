// Rows of the form table to forms. The rows are ours, so whatever is wrong with one is an assertion.
#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/assert.h"
#include "sim/sass/form_table.h"

namespace sm89::sass {
namespace {

constexpr unsigned kBit91 = 91;

// Where an operand name stands when the row does not say.
struct Name {
  std::string_view name;
  Slot slot;
  std::string_view place;          // KINDbits
  std::string_view uniform_place;  // of rows with 'u'
  bool is_dest = false;
  int not_bit = -1;            // predicates
  int reuse_bit = -1;          // r
  std::string_view hide = "";  // flags that always hold
};

constexpr Name kNames[] = {
    {"D", Slot::kD, "R23:16", "UR21:16", true},
    {"D2", Slot::kD2, "R71:64", "", true},
    {"A", Slot::kA, "R31:24", "UR29:24", false, -1, 122},
    {"B", Slot::kB, "R39:32", "UR37:32", false, -1, 123},
    {"C", Slot::kC, "R71:64", "UR69:64", false, -1, 124},
    {"E", Slot::kE, "R47:40", "", false, -1, 50},
    {"Ua", Slot::kUa, "UR37:32", ""},
    {"Pu", Slot::kPu, "P83:81", "UP83:81", true},
    {"Pv", Slot::kPv, "P86:84", "UP86:84", true},
    {"Pp", Slot::kPp, "P89:87", "UP89:87", false, 90},
    {"Pq", Slot::kPq, "P79:77", "UP79:77", false, 80},
    {"Pr", Slot::kPr, "P70:68", "UP70:68", false, 71},
    {"Pnz", Slot::kPnz, "N67:64", "", false, 90},
    {"Off", Slot::kOffset, "S63:40", ""},
    {"SharedA", Slot::kSharedA, "R23:16", ""},
    {"SharedOff", Slot::kSharedOffset, "S63:44", ""},
    {"Target", Slot::kTarget, "T81:34", ""},
    {"Bar", Slot::kBarrier, "H19:16", ""},
    {"Sr", Slot::kSpecial, "Z79:72", "Z79:72"},
    {"Cbu", Slot::kCbu, "Y29:24", "", false},
    {"Sb", Slot::kScoreboard, "K46:44", ""},
    {"Count", Slot::kCount, "I53:42", ""},
    {"List", Slot::kScoreboardList, "I37:32", ""},
    {"Lut", Slot::kLut, "I79:72", "I79:72"},
    {"Lut2", Slot::kLut2, "I23:16", "I23:16"},
    {"Scale", Slot::kScale, "I79:75", "I79:75"},
    {"Half", Slot::kExtract, "I88", "", false, -1, -1, "!"},
    {"Id", Slot::kExtract, "I49:48", ""},
    {"Imm", Slot::kImm, "I63:32", ""},
    {"Bank", Slot::kBank, "I58:54", ""},
    {"Idx", Slot::kIndex, "I53:40", ""},
    {"TexMask", Slot::kMask, "I75:72", ""},
};

const Name& FindName(std::string_view name) {
  for (const Name& entry : kNames) {
    if (entry.name == name) return entry;
  }
  SM89_ASSERT(false, "form table: unknown operand name");
}

int Number(std::string_view text, int base = 10) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  SM89_ASSERT(error == std::errc() && end == text.data() + text.size(), "form table: a number was expected");
  return value;
}

std::vector<std::string_view> Split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const size_t end = text.find(separator);
    if (end != 0) parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return parts;
}

// Leading digits of `text`, taken off it; nothing when there are none.
std::optional<int> TakeNumber(std::string_view& text) {
  size_t length = 0;
  while (length < text.size() && text[length] >= '0' && text[length] <= '9') ++length;
  if (length == 0) return std::nullopt;
  const int value = Number(text.substr(0, length));
  text.remove_prefix(length);
  return value;
}

BitField::Range ParseRange(std::string_view text) {
  const size_t colon = text.find(':');
  if (colon == std::string_view::npos) return {static_cast<uint8_t>(Number(text)), 1};
  const int high = Number(text.substr(0, colon)), low = Number(text.substr(colon + 1));
  SM89_ASSERT(high >= low && high < 128, "form table: bits run from high to low");
  return {static_cast<uint8_t>(low), static_cast<uint8_t>(high - low + 1)};
}

BitField ParseBits(std::string_view text) {
  BitField field;
  for (std::string_view part : Split(text, '+')) {
    SM89_ASSERT(field.num_ranges < field.ranges.size(), "form table: too many bit ranges");
    field.ranges[field.num_ranges++] = ParseRange(part);
  }
  return field;
}

// What stands in the places of sources B and C for one operand pattern (bits [11:9] of an ALU opcode).
enum class Source : uint8_t { kLow, kHigh, kImm, kConst, kUReg };  // registers at [39:32], [71:64]

struct Pattern {
  char code = 0;  // 0: not a family
  Source b = Source::kLow;
  Source c = Source::kHigh;
  bool bit91 = false;
};

Pattern PatternOf(char code, bool has_b) {
  Pattern pattern{code};
  const Source second = has_b ? Source::kHigh : Source::kLow;
  switch (code) {
    case '2':
      pattern.c = second;
      break;
    case '8':
      pattern.b = Source::kImm;
      break;
    case 'a':
      pattern.b = Source::kConst;
      break;
    case 'c':
      pattern.b = Source::kUReg;
      pattern.bit91 = true;
      break;
    case '4':
    case '6':
    case 'e':
      pattern.b = Source::kHigh;
      pattern.c = code == '4' ? Source::kImm : code == '6' ? Source::kConst : Source::kUReg;
      pattern.bit91 = code == 'e';
      break;
    default:
      SM89_ASSERT(false, "form table: unknown operand pattern");
  }
  return pattern;
}

class RowExpander {
 public:
  RowExpander(const Row& row, const Pattern& pattern, uint16_t opcode, bool uniform)
      : row_(row), pattern_(pattern) {
    form_.op = row.op;
    form_.opcode = opcode;
    form_.uniform = uniform;
    form_.min_arch = row.min_arch;
    form_.max_arch = row.max_arch;
  }

  Form Expand() {
    for (std::string_view token : Split(row_.modifiers, ' ')) AddModifier(token);
    for (std::string_view token : Split(row_.operands, ' ')) AddToken(token);
    for (std::string_view token : Split(row_.fixed, ' ')) AddFixed(token);
    IndexFields();
    Explain();
    return std::move(form_);
  }

 private:
  Source SourceOf(Slot slot) const { return slot == Slot::kB ? pattern_.b : pattern_.c; }

  void AddFixed(std::string_view token) {
    const size_t equals = token.find('=');
    const BitField::Range range = ParseRange(token.substr(0, equals));
    const uint64_t value = static_cast<uint64_t>(Number(token.substr(equals + 1)));
    for (unsigned i = 0; i < range.count; ++i) {
      const unsigned bit = range.first + i;
      Word128& mask = form_.fixed_mask;
      Word128& fixed = form_.fixed_value;
      (bit < 64 ? mask.lo : mask.hi) |= uint64_t{1} << (bit % 64);
      if ((value >> i) & 1) (bit < 64 ? fixed.lo : fixed.hi) |= uint64_t{1} << (bit % 64);
    }
  }

  // "80", "79:78", "85+78", "86+$B"; nothing when the place named by $ has no swizzle.
  std::optional<BitField> ModifierBits(std::string_view text) const {
    const size_t place = text.find('$');
    if (place == std::string_view::npos) return ParseBits(text);
    const Source source = SourceOf(text[place + 1] == 'B' ? Slot::kB : Slot::kC);
    if (source == Source::kImm) return std::nullopt;
    const std::string bits(source == Source::kHigh ? "82:81" : "61:60");
    return ParseBits(std::string(text.substr(0, place)) + bits);
  }

  void AddModifier(std::string_view token, bool is_operand = false) {
    ModifierSpec modifier;
    modifier.is_operand = is_operand;
    const size_t slash = token.find('/');
    if (slash != std::string_view::npos) {
      modifier.attached = true;
      modifier.slot = FindName(token.substr(0, slash)).slot;
      token.remove_prefix(slash + 1);
    }
    if (token[0] == '.') {
      modifier.text = std::string(token.substr(1));
    } else {
      const size_t end = token.find_first_of("@=");
      modifier.list = FindNameList(token.substr(0, end));
      SM89_ASSERT(modifier.list != nullptr, "form table: unknown modifier");
      modifier.field = modifier.list->field;
      if (token[end] == '=') {
        modifier.constant = static_cast<uint32_t>(Number(token.substr(end + 1)));
      } else {
        const std::optional<BitField> bits = ModifierBits(token.substr(end + 1));
        if (!bits.has_value()) return;
        modifier.bits = *bits;
      }
    }
    form_.modifiers.push_back(std::move(modifier));
  }

  void AddToken(std::string_view token) {
    if (token == "[") {
      opens_ = true;
    } else if (token == "]") {
      form_.operands.back().closes = true;
    } else if (token[0] == '"') {
      OperandSpec spec;
      spec.text = std::string(token.substr(1));
      form_.operands.push_back(std::move(spec));
    } else if (token[0] == '{') {
      AddModifier(token.substr(1, token.size() - 2), true);
      OperandSpec spec;
      spec.modifier = static_cast<int>(form_.modifiers.size()) - 1;
      form_.operands.push_back(std::move(spec));
    } else {
      AddOperand(token);
    }
  }

  // NAME[=KINDbits][:flags]
  void AddOperand(std::string_view token) {
    const size_t end = token.find_first_of("=:");
    const Name& name = FindName(token.substr(0, end));
    std::string_view place = form_.uniform ? name.uniform_place : name.place;
    std::string_view flags;
    bool explicit_place = false;
    if (end != std::string_view::npos && token[end] == '=') {
      place = token.substr(end + 1);
      explicit_place = true;
      const size_t colon = FlagsAt(place);
      if (colon != std::string_view::npos) {
        flags = place.substr(colon + 1);
        place = place.substr(0, colon);
      }
    } else if (end != std::string_view::npos) {
      flags = token.substr(end + 1);
    }
    OperandSpec spec;
    spec.slot = name.slot;
    spec.is_dest = name.is_dest;
    spec.opens = opens_;
    opens_ = false;
    const bool source =
        pattern_.code != 0 && !explicit_place && (name.slot == Slot::kB || name.slot == Slot::kC);
    if (source) {
      PlaceSource(SourceOf(name.slot), flags, name, spec);
      return;
    }
    Place(place, name, spec);
    ApplyFlags(flags, name, spec);
    ApplyFlags(name.hide, name, spec);
    form_.operands.push_back(std::move(spec));
  }

  // Position of the ':' that begins the flags: the one not followed by a digit.
  static size_t FlagsAt(std::string_view place) {
    for (size_t i = 0; i + 1 < place.size(); ++i) {
      if (place[i] == ':' && (place[i + 1] < '0' || place[i + 1] > '9')) return i;
    }
    return std::string_view::npos;
  }

  static void Place(std::string_view place, const Name& name, OperandSpec& spec) {
    size_t letters = 0;
    while (letters < place.size() && (place[letters] < '0' || place[letters] > '9')) ++letters;
    const std::string_view kind = place.substr(0, letters);
    place.remove_prefix(letters);
    spec.kind = KindOf(kind, spec);
    if (spec.kind == OperandKind::kPred || spec.kind == OperandKind::kUPred) {
      spec.inv_bit = static_cast<int16_t>(spec.complement ? -1 : name.not_bit);
    }
    const size_t slash = place.find('/');
    if (slash != std::string_view::npos) {
      spec.bank = ParseBits(place.substr(slash + 1));
      place = place.substr(0, slash);
    }
    spec.bits = ParseBits(place);
    const bool file = spec.kind == OperandKind::kReg || spec.kind == OperandKind::kUReg ||
                      spec.kind == OperandKind::kPred || spec.kind == OperandKind::kUPred;
    spec.regs = file ? 1 : 0;
  }

  static OperandKind KindOf(std::string_view kind, OperandSpec& spec) {
    if (kind == "R") return OperandKind::kReg;
    if (kind == "UR") return OperandKind::kUReg;
    if (kind == "P") return OperandKind::kPred;
    if (kind == "UP") return OperandKind::kUPred;
    spec.complement = kind == "N" || kind == "M";
    if (kind == "N") return OperandKind::kPred;
    if (kind == "M") return OperandKind::kUPred;
    spec.is_signed = kind == "S" || kind == "T";
    if (kind == "I" || kind == "S") return OperandKind::kImm;
    if (kind == "T") return OperandKind::kTarget;
    if (kind == "CB") return OperandKind::kConst;
    if (kind == "H") return OperandKind::kBarrier;
    if (kind == "Z") return OperandKind::kSpecialReg;
    if (kind == "Y") return OperandKind::kCbuState;
    SM89_ASSERT(kind == "K", "form table: unknown operand kind");
    return OperandKind::kScoreboard;
  }

  // Source B or C of an ALU family, in the place that the pattern gives it.
  void PlaceSource(Source source, std::string_view flags, const Name& name, OperandSpec& spec) {
    const bool upper = source == Source::kHigh;
    switch (source) {
      case Source::kLow:
        Place(form_.uniform ? "UR37:32" : "R39:32", name, spec);
        break;
      case Source::kHigh:
        Place(form_.uniform ? "UR69:64" : "R71:64", name, spec);
        break;
      case Source::kConst:
        Place("CB53:40/58:54", name, spec);
        spec.scale = 4;
        spec.spaced = flags.find('p') != std::string_view::npos;
        break;
      case Source::kUReg:
        Place("UR37:32", name, spec);
        break;
      case Source::kImm:
        PlaceImmediate(flags, name, spec);
        return;
    }
    ApplyFlags(flags, name, spec);
    if (spec.kind == OperandKind::kConst || spec.kind == OperandKind::kUReg) spec.reuse_bit = -1;
    if (upper && flags.find('v') != std::string_view::npos) {
      if (spec.neg_bit >= 0) spec.neg_bit = 84;
      if (spec.abs_bit >= 0) spec.abs_bit = 83;
    }
    form_.operands.push_back(std::move(spec));
  }

  void PlaceImmediate(std::string_view flags, const Name& name, OperandSpec& spec) {
    const auto has = [flags](char flag) { return flags.find(flag) != std::string_view::npos; };
    if (has('p')) {
      Place("I63:48", name, spec);
      spec.kind = OperandKind::kHalfImm;
      OperandSpec second = spec;
      second.bits = ParseBits("47:32");
      second.slot = Slot::kImm2;
      form_.operands.push_back(std::move(spec));
      form_.operands.push_back(std::move(second));
      return;
    }
    Place(has('s') ? "S63:32" : "I63:32", name, spec);
    if (has('f')) spec.kind = OperandKind::kFloatImm;
    if (has('d')) spec.kind = OperandKind::kDoubleImm;
    form_.operands.push_back(std::move(spec));
  }

  // Sign bits by place: [31:24] 72/73, the low source 63/62, the high one 75/74.
  void SetSign(char flag, OperandSpec& spec) const {
    const int first = spec.kind == OperandKind::kConst ? 40 : spec.bits.ranges[0].first;
    const int neg = first == 24 ? 72 : first >= 64 ? 75 : 63;
    const int abs = first == 24 ? 73 : first >= 64 ? 74 : 62;
    if (flag == 'n') spec.neg_bit = static_cast<int16_t>(neg);
    if (flag == 'a') spec.abs_bit = static_cast<int16_t>(abs);
    if (flag == 'i') spec.inv_bit = static_cast<int16_t>(neg);
  }

  void ApplyFlags(std::string_view flags, const Name& name, OperandSpec& spec) const {
    while (!flags.empty()) {
      const char flag = flags[0];
      flags.remove_prefix(1);
      switch (flag) {
        case 'n':
        case 'a':
          SetSign(flag, spec);
          break;
        case 'i': {
          const std::optional<int> bit = TakeNumber(flags);
          if (bit.has_value()) {
            spec.inv_bit = static_cast<int16_t>(*bit);
          } else {
            SetSign(flag, spec);
          }
          break;
        }
        case 'r':
          spec.reuse_bit = static_cast<int16_t>(name.reuse_bit);
          break;
        case '?':
          spec.hide = true;
          spec.hide_value = TakeNumber(flags).value_or(-1);
          break;
        case '*':
          SetRule(flags[0], spec);
          flags.remove_prefix(1);
          break;
        case 'x':
          spec.scale = static_cast<uint8_t>(TakeNumber(flags).value_or(1));
          break;
        case 'z':
          spec.unsigned_if_rz = true;
          break;
        case 'y':
          spec.indexes = true;
          break;
        case '!':
          spec.never_printed = true;
          break;
        case 'j':
          spec.joined = true;
          break;
        case 'u':
          spec.is_signed = false;
          break;
        default:
          SM89_ASSERT(std::string_view("fdpsv").find(flag) != std::string_view::npos,
                      "form table: unknown operand flag");
      }
    }
  }

  static void SetRule(char code, OperandSpec& spec) {
    if (code >= '1' && code <= '8') {
      spec.regs = static_cast<uint8_t>(code - '0');
      return;
    }
    constexpr std::string_view kCodes = "ztoeqkmlwgix";
    const size_t at = kCodes.find(code);
    SM89_ASSERT(at != std::string_view::npos, "form table: unknown register rule");
    spec.rule = static_cast<RegsRule>(at + 1);
  }

  void IndexFields() {
    form_.modifier_of.fill(-1);
    for (size_t i = 0; i < form_.modifiers.size(); ++i) {
      form_.modifier_of[static_cast<size_t>(form_.modifiers[i].field)] = static_cast<int8_t>(i);
    }
    form_.modifier_of[static_cast<size_t>(Field::kNone)] = -1;
  }

  void Explain();

  const Row& row_;
  const Pattern pattern_;
  Form form_;
  bool opens_ = false;
};

void SetBits(unsigned first, unsigned count, Word128& mask) {
  for (unsigned bit = first; bit < first + count; ++bit) {
    (bit < 64 ? mask.lo : mask.hi) |= uint64_t{1} << (bit % 64);
  }
}

void RowExpander::Explain() {
  Word128& mask = form_.explained;
  mask = form_.fixed_mask;
  SetBits(0, 16, mask);  // opcode and guard
  SetBits(kBit91, 1, mask);
  SetBits(102, 2, mask);   // pm
  SetBits(105, 17, mask);  // scheduling
  for (const OperandSpec& spec : form_.operands) {
    spec.bits.AddTo(mask);
    spec.bank.AddTo(mask);
    for (int bit : {spec.neg_bit, spec.abs_bit, spec.inv_bit, spec.reuse_bit}) {
      if (bit >= 0) SetBits(static_cast<unsigned>(bit), 1, mask);
    }
  }
  for (const ModifierSpec& modifier : form_.modifiers) modifier.bits.AddTo(mask);
}

}  // namespace

void BitField::AddTo(Word128& mask) const {
  for (int i = 0; i < num_ranges; ++i) SetBits(ranges[i].first, ranges[i].count, mask);
}

void ExpandRow(const Row& row, std::vector<Form>& forms) {
  std::string_view code = row.code;
  const bool uniform = code[0] == 'u';
  if (uniform) code.remove_prefix(1);
  const size_t slash = code.find('/');
  const auto base = static_cast<uint32_t>(Number(code.substr(0, slash), 16));
  if (slash == std::string_view::npos) {
    forms.push_back(RowExpander(row, {}, static_cast<uint16_t>(base), uniform).Expand());
    return;
  }
  bool has_b = false;
  for (std::string_view token : Split(row.operands, ' ')) has_b |= token[0] == 'B';
  for (const char letter : code.substr(slash + 1)) {
    const Pattern pattern = PatternOf(letter, has_b);
    const auto form_bits = static_cast<uint32_t>(Number(std::string_view(&letter, 1), 16));
    const bool bit91 = uniform || pattern.bit91;
    const auto opcode = static_cast<uint16_t>(base | (form_bits << 8) | (bit91 ? 0x1000u : 0));
    forms.push_back(RowExpander(row, pattern, opcode, uniform).Expand());
  }
}

}  // namespace sm89::sass
