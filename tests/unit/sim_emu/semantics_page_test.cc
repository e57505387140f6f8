// SEMANTICS.md is the users' list of what is executed: no mnemonic may be missing from it.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <utility>

#include "sim/sass/fields.h"

namespace sm89::emu {
namespace {

// Runs of capitals, digits and underscores.
std::set<std::string> WordsOf(const std::string& page) {
  std::set<std::string> words;
  std::string word;
  for (const char c : page + " ") {
    const bool part = (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    if (part) word += c;
    if (!part && !word.empty()) words.insert(std::exchange(word, ""));
  }
  return words;
}

TEST(SemanticsPage, NamesEveryMnemonic) {
  std::ifstream in(SM89_SOURCE_DIR "/sim/emu/SEMANTICS.md");
  const std::string page{std::istreambuf_iterator<char>(in), {}};
  const std::set<std::string> words = WordsOf(page);
  ASSERT_GT(words.size(), 100u);
  for (int op = 0; op < static_cast<int>(sass::Op::kCount); ++op) {
    const std::string name(sass::Name(static_cast<sass::Op>(op)));
    EXPECT_TRUE(words.contains(name)) << name << " has no line in sim/emu/SEMANTICS.md";
  }
}

}  // namespace
}  // namespace sm89::emu
