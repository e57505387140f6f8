#include "client/cli/format.h"

#include <gtest/gtest.h>

#include <sstream>

#include "client/cli/progress.h"
#include "client/cli/sweep.h"
#include "client/cli/table.h"

namespace sm89::client {
namespace {

TEST(FormatTest, ControlCharactersCannotReachTheTerminal) {
  EXPECT_EQ(Printable("a\x1b[2Jb\nc\x7f"), "a?[2Jb?c?");
  EXPECT_EQ(Printable("csi \xc2\x9b"
                      "31m"),
            "csi ?31m");
  EXPECT_EQ(Printable("gr\xc3\xbc\xc3\x9f"), "gr\xc3\xbc\xc3\x9f");
}

TEST(FormatTest, ShortensByColumnsNotBytes) {
  EXPECT_EQ(Shorten("abcdef", 6), "abcdef");
  EXPECT_EQ(Shorten("abcdefg", 6), "abc...");
  EXPECT_EQ(Shorten("\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc", 6),
            "\xc3\xbc\xc3\xbc\xc3\xbc...");
  EXPECT_EQ(Shorten("abc", 2), "..");
}

TEST(FormatTest, NumbersForPeople) {
  EXPECT_EQ(HumanBytes(1023), "1023 B");
  EXPECT_EQ(HumanBytes(3 << 20), "3.0 MiB");
  EXPECT_EQ(HumanCount(999), "999");
  EXPECT_EQ(HumanCount(1'230'000), "1.23 M");
  EXPECT_EQ(HumanSeconds(-1), "-");
  EXPECT_EQ(HumanSeconds(0.44), "0.4 s");
  EXPECT_EQ(HumanSeconds(125), "2m05s");
  EXPECT_EQ(HumanSeconds(3 * 3600 + 60), "3h01m");
  v1::Timestamp time;
  EXPECT_EQ(TimeText(time), "-");
  time.set_unix_nanos(1'000'000'000'000'000'000);
  EXPECT_EQ(TimeText(time), "2001-09-09T01:46:40Z");
}

TEST(FormatTest, ReadsSizesAndTimes) {
  EXPECT_EQ(ParseBytes("--memory", "4G").value(), uint64_t{4} << 30);
  EXPECT_EQ(ParseBytes("--memory", "512MiB").value(), uint64_t{512} << 20);
  EXPECT_EQ(ParseBytes("--memory", "17").value(), 17u);
  for (const char* bad : {"", "G", "4X", "-1", "4 G", "99999999999999999999", "99999999T"}) {
    EXPECT_FALSE(ParseBytes("--memory", bad).ok()) << bad;
  }
  EXPECT_EQ(ParseSeconds("--wall", "15m").value(), 900u);
  EXPECT_EQ(ParseSeconds("--wall", "90").value(), 90u);
  for (const char* bad : {"", "m", "1.5h", "200000d"}) EXPECT_FALSE(ParseSeconds("--wall", bad).ok()) << bad;
}

TEST(FormatTest, NamesInShortAndLongForm) {
  EXPECT_EQ(FullName("jobs", "a1").value(), "jobs/a1");
  EXPECT_EQ(FullName("jobs", "jobs/a1").value(), "jobs/a1");
  for (const char* bad : {"", "jobs/", "traces/a1", "/a1", "../a"})
    EXPECT_FALSE(FullName("jobs", bad).ok()) << bad;
  EXPECT_EQ(ShortName("jobs/a1"), "a1");
}

TEST(TableTest, AlignsWithoutTrailingBlanks) {
  std::ostringstream out, err;
  Terminal terminal(out, err);
  Table table({{"NAME"}, {"N", Table::Align::kRight}, {"LAST", Table::Align::kLeft, 5}});
  table.AddRow({"a", "1", ""});
  table.AddRow({"long", "200", "123456789"});
  table.Print(terminal);
  EXPECT_EQ(out.str(), "NAME    N  LAST\na       1\nlong  200  12...\n");
}

class ProgressTest : public ::testing::Test {
 protected:
  ProgressLine::Clock clock() {
    return [this] { return now_; };
  }
  std::ostringstream out_, err_;
  Terminal terminal_{out_, err_};
  std::chrono::steady_clock::time_point now_{};
};

TEST_F(ProgressTest, PlainLinesAreRareElsewhere) {
  ProgressLine line(terminal_, false, clock());
  line.Update("one", 0.5);
  EXPECT_EQ(err_.str(), "");
  now_ += std::chrono::seconds(5);
  line.Update("two", 0.6);
  line.Update("three", 0.7);
  now_ += std::chrono::seconds(5);
  line.Update("four", 0.8);
  EXPECT_EQ(err_.str(), " 60% two\n 80% four\n");
}

TEST_F(ProgressTest, ATerminalGetsOneLineInItsWidth) {
  terminal_.err_is_terminal = true;
  terminal_.columns = [] { return 30; };
  {
    ProgressLine line(terminal_, false, clock());
    line.Update(std::string(100, 'x'), 0.5);
    const std::string drawn = err_.str();
    EXPECT_EQ(drawn.substr(0, 4), "\r\x1b[K");
    EXPECT_EQ(drawn.size(), 4u + 29u);
    line.Update("too soon", 0.6);
    EXPECT_EQ(err_.str(), drawn);
  }
  EXPECT_TRUE(err_.str().ends_with("\r\x1b[K"));
}

TEST_F(ProgressTest, QuietIsQuiet) {
  ProgressLine line(terminal_, true, clock());
  line.Update("x", 0.5);
  line.Note("y");
  EXPECT_EQ(err_.str(), "");
}

TEST(BarTest, FillsFromTheLeft) {
  EXPECT_EQ(Bar(0, 6), "[....]");
  EXPECT_EQ(Bar(0.5, 6), "[##..]");
  EXPECT_EQ(Bar(7, 6), "[####]");
}

TEST(SweepTest, CombinesWithTheLastAxisFastest) {
  const auto axes = ParseAxes({"a=1", "b=x", "a=2"});
  ASSERT_TRUE(axes.ok());
  ASSERT_EQ(axes->size(), 2u);
  const auto specs = Combine(v1::JobSpec(), {{"traces/t"}, {"configs/c", "configs/d"}, *axes}, 100);
  ASSERT_TRUE(specs.ok());
  ASSERT_EQ(specs->size(), 4u);
  EXPECT_EQ((*specs)[0].config(), "configs/c");
  EXPECT_EQ((*specs)[0].overrides(0).value(), "1");
  EXPECT_EQ((*specs)[1].overrides(0).value(), "2");
  EXPECT_EQ((*specs)[1].overrides(1).value(), "x");
  EXPECT_EQ((*specs)[2].config(), "configs/d");
}

TEST(SweepTest, IsBounded) {
  const SweepInputs inputs{{"traces/t"}, {"configs/c"}, {{"a", std::vector<std::string>(11, "1")}}};
  EXPECT_TRUE(absl::IsResourceExhausted(Combine(v1::JobSpec(), inputs, 10).status()));
}

}  // namespace
}  // namespace sm89::client
