#include "sim/debug/words.h"

#include <algorithm>
#include <iterator>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "sim/base/fault.h"
#include "sim/base/status_macros.h"
#include "sim/base/strings.h"
#include "sim/emu/emulator.h"
#include "sim/report/text.h"

namespace sm89::debug {

absl::Status Mistake(std::string_view word, std::string_view value, std::string_view expected,
                     std::string_view message) {
  return InputError(absl::StatusCode::kInvalidArgument, Fault{.field = std::string(word),
                                                              .value = Printable(std::string(value)),
                                                              .expected = std::string(expected),
                                                              .message = std::string(message)});
}

Words::Words(std::string_view line) {
  for (const absl::string_view word : absl::StrSplit(Av(line), absl::ByAnyChar(" \t\r"), absl::SkipEmpty())) {
    if (word.front() == '#') break;
    words_.emplace_back(word);
  }
}

bool Words::TakeIf(std::string_view word) {
  if (empty() || Peek() != word) return false;
  ++at_;
  return true;
}

absl::StatusOr<std::string> Words::TakeFor(std::string_view what, std::string_view expected) {
  if (empty()) return Mistake(what, "", expected, "nothing behind it");
  return Take();
}

absl::StatusOr<uint64_t> Words::TakeNumber(std::string_view what, uint64_t least, uint64_t most) {
  const std::string expected = most == ~uint64_t{0} ? absl::StrCat("a number from ", least)
                                                    : absl::StrCat("a number from ", least, " to ", most);
  ASSIGN_OR_RETURN(const std::string text, TakeFor(what, expected));
  uint64_t value = 0;
  if (!ParseNumber(text, &value) || value < least || value > most) {
    return Mistake(what, text, expected);
  }
  return value;
}

absl::Status Words::Finish(std::string_view command) const {
  if (empty()) return absl::OkStatus();
  return Mistake(command, Peek(), "nothing more", "a word too many");
}

bool ParseNumber(std::string_view text, uint64_t* value) {
  if (text.starts_with("0x") || text.starts_with("0X")) {
    const std::string_view digits = text.substr(2);
    if (digits.empty() || digits.size() > 16 ||
        digits.find_first_not_of("0123456789abcdefABCDEF") != std::string_view::npos) {
      return false;
    }
    return absl::SimpleHexAtoi(Av(digits), value);
  }
  if (text.empty() || text.find_first_not_of("0123456789") != std::string_view::npos) return false;
  return absl::SimpleAtoi(Av(text), value);
}

absl::StatusOr<Dim3> ParseDim(std::string_view what, std::string_view text) {
  uint32_t parts[3] = {};
  size_t count = 0;
  bool ok = true;
  for (const absl::string_view part : absl::StrSplit(Av(text), ',')) {
    uint64_t value = 0;
    ok = ok && count < 3 && ParseNumber(Sv(part), &value) && value <= UINT32_MAX;
    if (ok) parts[count++] = static_cast<uint32_t>(value);
  }
  if (ok) return Dim3{parts[0], parts[1], parts[2]};
  return Mistake(what, text, "coordinates X, X,Y or X,Y,Z");
}

namespace {

struct FileOf {
  std::string_view prefix;
  RegFile file;
  uint32_t count;  // that hold something
};
constexpr uint32_t kGeneral = 255;  // R255 is RZ
constexpr FileOf kFiles[] = {{"UR", RegFile::kUniform, emu::RegisterView::kNumUniform},
                             {"UP", RegFile::kUniformPredicate, emu::RegisterView::kNumPredicates},
                             {"R", RegFile::kGeneral, kGeneral},
                             {"P", RegFile::kPredicate, emu::RegisterView::kNumPredicates}};

bool ParseRegister(std::string_view text, RegFile* file, uint32_t* index) {
  for (const FileOf& f : kFiles) {
    uint64_t value = 0;
    if (!text.starts_with(f.prefix) || !ParseNumber(text.substr(f.prefix.size()), &value)) continue;
    if (value >= f.count) return false;
    *file = f.file;
    *index = static_cast<uint32_t>(value);
    return true;
  }
  return false;
}

}  // namespace

absl::StatusOr<RegRange> ParseRegisters(std::string_view text) {
  const size_t dash = text.find('-');
  RegFile first_file, last_file;
  uint32_t first = 0, last = 0;
  bool ok = ParseRegister(text.substr(0, dash), &first_file, &first);
  last_file = first_file;
  last = first;
  if (ok && dash != std::string_view::npos) {
    ok = ParseRegister(text.substr(dash + 1), &last_file, &last) && last_file == first_file && last >= first;
  }
  if (ok) return RegRange{first_file, static_cast<uint8_t>(first), static_cast<uint8_t>(last - first + 1)};
  return Mistake("register", text, "R0 to R254, UR0 to UR62, P0 to P6, UP0 to UP6, or a run as R4-R7");
}

std::string HexText(uint64_t value, int digits) { return absl::StrFormat("0x%0*x", digits, value); }

std::string DimText(const Dim3& dim) { return absl::StrCat("(", dim.x, ",", dim.y, ",", dim.z, ")"); }

}  // namespace sm89::debug
