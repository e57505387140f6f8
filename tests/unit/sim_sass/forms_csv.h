// ../shared/sass/forms_sm89.csv and enums_sm89.csv: the reference our own table is checked against.
#pragma once

#include <fstream>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tests/unit/sim_sass/listing.h"

namespace sm89::testing {

// Bits of a CSV field, most significant first.
using BitList = std::vector<unsigned>;

struct CsvOperand {
  std::string name, kind;
  BitList bits, bank;
  unsigned scale = 1;
};

struct CsvModifier {
  std::string name, list;
  BitList bits;
};

struct CsvForm {
  std::string mnemonic;
  uint32_t opcode = 0;  // 13 bits
  std::vector<CsvOperand> operands;
  std::vector<CsvModifier> modifiers;
  std::vector<std::pair<BitList, uint64_t>> fixed;  // fixed and pinned
  std::map<std::string, std::string> regs;          // operand -> rule text
  std::string line;
};

// Commas inside quotes do not separate.
inline std::vector<std::string> CsvCells(const std::string& line) {
  std::vector<std::string> cells(1);
  bool quoted = false;
  for (const char c : line) {
    if (c == '"') {
      quoted = !quoted;
    } else if (c == ',' && !quoted) {
      cells.emplace_back();
    } else {
      cells.back() += c;
    }
  }
  return cells;
}

// "86:85+75"
inline BitList BitsOf(std::string_view text) {
  BitList bits;
  for (const std::string& part : SplitText(text, '+')) {
    const std::vector<std::string> ends = SplitText(part, ':');
    const unsigned high = static_cast<unsigned>(std::stoul(ends[0]));
    const unsigned low = ends.size() == 2 ? static_cast<unsigned>(std::stoul(ends[1])) : high;
    for (unsigned bit = high + 1; bit-- > low;) bits.push_back(bit);
  }
  return bits;
}

inline void Put(sass::Word128& word, const BitList& bits, uint64_t value) {
  for (size_t i = 0; i < bits.size(); ++i) {
    const unsigned bit = bits[bits.size() - 1 - i];
    uint64_t& half = bit < 64 ? word.lo : word.hi;
    half = (half & ~(uint64_t{1} << (bit % 64))) | (((value >> i) & 1) << (bit % 64));
  }
}

// "Ra=R@31:24|neg@72", "Sc=CB@[58:54][53:40*4]"
inline CsvOperand OperandOf(const std::string& text) {
  CsvOperand operand;
  const std::string main = SplitText(text, '|')[0];
  const size_t equals = main.find('='), at = main.find('@');
  operand.name = main.substr(0, equals);
  operand.kind = main.substr(equals + 1, at - equals - 1);
  std::string place = main.substr(at + 1);
  if (place[0] == '[') {
    const size_t close = place.find(']');
    operand.bank = BitsOf(place.substr(1, close - 1));
    place = place.substr(close + 2, place.size() - close - 3);
  }
  if (const size_t star = place.find('*'); star != std::string::npos) {
    operand.scale = static_cast<unsigned>(std::stoul(place.substr(star + 1)));
    place.resize(star);
  }
  operand.bits = BitsOf(place);
  return operand;
}

inline CsvForm FormOf(const std::string& line) {
  const std::vector<std::string> cells = CsvCells(line);
  CsvForm form;
  form.line = line;
  form.mnemonic = cells[0].substr(0, cells[0].find('.'));
  form.opcode = static_cast<uint32_t>(std::stoul(cells[2], nullptr, 16)) | (cells[3] == "1" ? 0x1000u : 0);
  for (const std::string& text : SplitText(cells[5], ';')) {
    if (!text.empty()) form.operands.push_back(OperandOf(text));
  }
  for (const std::string& text : SplitText(cells[6], ';')) {
    const size_t colon = text.find(':'), at = text.find('@');
    if (text.empty()) continue;
    form.modifiers.push_back(
        {text.substr(0, colon), text.substr(colon + 1, at - colon - 1), BitsOf(text.substr(at + 1))});
  }
  for (const std::string& text : SplitText(cells[7] + ";" + cells[8], ';')) {
    const size_t equals = text.find('=');
    if (!text.empty())
      form.fixed.emplace_back(BitsOf(text.substr(0, equals)), std::stoull(text.substr(equals + 1)));
  }
  for (const std::string& text : SplitText(cells[9], ' ')) {
    const size_t colon = text.find(':');
    // A rule with blanks inside braces continues in the next piece.
    if (colon != std::string::npos && text[0] >= 'A') {
      form.regs[text.substr(0, colon)] = text.substr(colon + 1);
    } else if (!form.regs.empty()) {
      for (auto& [name, rule] : form.regs) {
        if (rule.find('{') != std::string::npos && rule.find('}') == std::string::npos) rule += " " + text;
      }
    }
  }
  return form;
}

inline std::vector<CsvForm> CsvForms() {
  std::ifstream in(std::string(kSassFolder) + "/forms_sm89.csv");
  std::vector<CsvForm> forms;
  std::string line;
  std::getline(in, line);
  while (std::getline(in, line)) forms.push_back(FormOf(line));
  return forms;
}

// Enum -> its values.
inline std::map<std::string, std::vector<uint64_t>> CsvEnums() {
  std::ifstream in(std::string(kSassFolder) + "/enums_sm89.csv");
  std::map<std::string, std::vector<uint64_t>> enums;
  std::string line;
  std::getline(in, line);
  while (std::getline(in, line)) {
    const std::vector<std::string> cells = CsvCells(line);
    // A '?' marks a value that was never seen: its name is a guess, and our table leaves it out.
    if (cells[2].find('?') == std::string::npos) enums[cells[0]].push_back(std::stoull(cells[1]));
  }
  return enums;
}

}  // namespace sm89::testing
