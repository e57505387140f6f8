#include "sim/config/option_reader.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace sm89::settings {
namespace {

// "line:text" of each word; quoted ones in quotes, faulty ones with '!'.
std::vector<std::string> Shown(std::string_view text) {
  std::vector<std::string> shown;
  for (const Word& word : SplitWords(text, 100).words) {
    const std::string quote = word.quoted ? "\"" : "";
    shown.push_back(std::to_string(word.line) + ":" + quote + word.text + quote + (word.faulty ? "!" : ""));
  }
  return shown;
}

std::vector<std::string> FaultsIn(std::string_view text) {
  std::vector<std::string> shown;
  for (const Fault& fault : SplitWords(text, 100).faults) {
    shown.push_back(std::to_string(fault.line) + ":" + fault.message);
  }
  return shown;
}

using List = std::vector<std::string>;

TEST(SplitWords, BlanksTabsAndLineEndsSeparate) {
  EXPECT_EQ(Shown("-a 1\t-b\t2\r\n\r\n  -c\n3"), (List{"1:-a", "1:1", "1:-b", "1:2", "3:-c", "4:3"}));
  EXPECT_EQ(Shown(""), List{});
  EXPECT_EQ(Shown("\n \t\r\n"), List{});
}

TEST(SplitWords, SkipsAByteOrderMarkAtTheStartOnly) {
  EXPECT_EQ(Shown("\xEF\xBB\xBF-a 1"), (List{"1:-a", "1:1"}));
  EXPECT_EQ(FaultsIn("\xFF\xFE-\0a\0"), (List{"1:the text is UTF-16; save it as UTF-8"}));
}

TEST(SplitWords, CommentsStartAnywhere) {
  EXPECT_EQ(Shown("# all\n-a 1#glued\n#-b 2\n-c 3 # end"), (List{"2:-a", "2:1", "4:-c", "4:3"}));
}

TEST(SplitWords, QuotesJoinWordsAlsoOverLines) {
  EXPECT_EQ(Shown("-a \"x  y\" -b 1"), (List{"1:-a", "1:\"x y\"", "1:-b", "1:1"}));
  EXPECT_EQ(Shown("-a \"x: # one\r\n   y\" -b 1"), (List{"1:-a", "1:\"x: y\"", "2:-b", "2:1"}));
  EXPECT_EQ(Shown("-a \"\""), (List{"1:-a", "1:\"\""}));
  EXPECT_EQ(Shown("-a \"-b\""), (List{"1:-a", "1:\"-b\""}));
}

TEST(SplitWords, AnOpenQuoteDoesNotSwallowTheRest) {
  EXPECT_EQ(Shown("-a \"x\n-b 2"), (List{"1:-a", "1:\"x\"!", "2:-b", "2:2"}));
  EXPECT_EQ(FaultsIn("-a \"x\n-b 2"), (List{"1:the quote that opens here is not closed"}));
  EXPECT_EQ(FaultsIn("-a 1\n-b \"x"), (List{"2:the quote that opens here is not closed"}));
}

TEST(SplitWords, StrayQuotesAndControlCharacters) {
  EXPECT_EQ(Shown("-a x\"y -b 1"), (List{"1:-a", "1:x\"y!", "1:-b", "1:1"}));
  EXPECT_EQ(FaultsIn("-a x\"y"), (List{"1:a quote or control character inside 'x\"y'"}));
  EXPECT_EQ(FaultsIn("-a \"x\"y z"), (List{"1:text directly behind a closing quote"}));
  EXPECT_EQ(FaultsIn(std::string("-a 1\0002", 6)), (List{"1:a quote or control character inside '1\\x002'"}));
  EXPECT_EQ(FaultsIn("-a \"x\x1b\""), (List{"1:a control character inside quotes"}));
}

TEST(SplitWords, ListsABoundedNumberOfFaults) {
  std::string text;
  for (int i = 0; i < 1000; ++i) text += "x\"\n";
  EXPECT_EQ(SplitWords(text, 10).faults.size(), 10u);
  EXPECT_EQ(SplitWords(text, 10).words.size(), 1000u);
}

TEST(IsOptionName, NumbersAreValues) {
  EXPECT_TRUE(IsOptionName({.text = "-a"}));
  EXPECT_TRUE(IsOptionName({.text = "--a"}));
  EXPECT_TRUE(IsOptionName({.text = "-"}));
  EXPECT_FALSE(IsOptionName({.text = "-1"}));
  EXPECT_FALSE(IsOptionName({.text = "-.5"}));
  EXPECT_FALSE(IsOptionName({.text = "a"}));
  EXPECT_FALSE(IsOptionName({.text = ""}));
  EXPECT_FALSE(IsOptionName({.text = "-a", .quoted = true}));
}

}  // namespace
}  // namespace sm89::settings
