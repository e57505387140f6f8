// The words of a debugger's command and the numbers in them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "sim/base/types.h"
#include "sim/isa/decoded_inst.h"

namespace sm89::debug {

// INVALID_ARGUMENT: "MESSAGE (WORD = 'VALUE', expected EXPECTED)". `word`: the word of the command in
// question.
absl::Status Mistake(std::string_view word, std::string_view value, std::string_view expected,
                     std::string_view message = "not usable");

// Takes words from the front.
class Words {
 public:
  // A word that begins with '#' ends the line.
  explicit Words(std::string_view line);

  bool empty() const { return at_ == words_.size(); }
  const std::string& Peek() const { return words_[at_]; }
  std::string Take() { return words_[at_++]; }
  // True, and taken, if it is the next one.
  bool TakeIf(std::string_view word);
  // `what` is the option that it belongs to.
  absl::StatusOr<std::string> TakeFor(std::string_view what, std::string_view expected);
  absl::StatusOr<uint64_t> TakeNumber(std::string_view what, uint64_t least, uint64_t most);
  // OK only when nothing is left.
  absl::Status Finish(std::string_view command) const;

 private:
  std::vector<std::string> words_;
  size_t at_ = 0;
};

// Decimal, or hexadecimal behind "0x".
bool ParseNumber(std::string_view text, uint64_t* value);
// "3", "3,1", "3,1,2".
absl::StatusOr<Dim3> ParseDim(std::string_view what, std::string_view text);
// "R4", "UR2", "P0", "UP1", and runs "R4-R7": registers that hold something, not RZ, URZ, PT, UPT.
absl::StatusOr<RegRange> ParseRegisters(std::string_view text);

std::string HexText(uint64_t value, int digits = 0);
std::string DimText(const Dim3& dim);  // "(1,2,3)"

}  // namespace sm89::debug
