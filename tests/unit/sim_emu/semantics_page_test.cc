// SEMANTICS.md is the users' list of what is executed: no mnemonic may be missing from it.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <string>

#include "sim/sass/fields.h"

namespace sm89::emu {
namespace {

TEST(SemanticsPage, NamesEveryMnemonic) {
  std::ifstream in(SM89_SOURCE_DIR "/sim/emu/SEMANTICS.md");
  const std::string page{std::istreambuf_iterator<char>(in), {}};
  const std::regex word("[A-Z][A-Z0-9_]+");
  const std::set<std::string> words{std::sregex_token_iterator(page.begin(), page.end(), word), {}};
  ASSERT_GT(words.size(), 100u);
  for (int op = 0; op < static_cast<int>(sass::Op::kCount); ++op) {
    const std::string name(sass::Name(static_cast<sass::Op>(op)));
    EXPECT_TRUE(words.contains(name)) << name << " has no line in sim/emu/SEMANTICS.md";
  }
}

}  // namespace
}  // namespace sm89::emu
