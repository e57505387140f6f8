// Text of a configuration file -> words. Blanks, tabs and line ends separate words; '#' starts a comment
// anywhere, even inside quotes; "several words" in quotes are one, also over several lines.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/fault.h"

namespace sm89::settings {

struct Word {
  std::string text;
  uint32_t line = 0;
  bool quoted = false;
  bool faulty = false;  // already reported; not to be looked into
};

struct Words {
  std::vector<Word> words;
  std::vector<Fault> faults;  // without file names
};

// Never fails as a whole: what is wrong is listed and reading goes on. At most `max_faults` are listed.
Words SplitWords(std::string_view text, size_t max_faults);

// "-name", but not "-1" or "-.5", which are values.
bool IsOptionName(const Word& word);

}  // namespace sm89::settings
