#include "sim/ingest/line_reader.h"

#include <string>
#include <string_view>
#include <vector>

#include "tests/unit/sim_ingest/ingest_fixtures.h"

namespace sm89 {
namespace {

using testing::StringSource;

std::vector<std::string> AllLines(LineReader& reader) {
  std::vector<std::string> lines;
  std::string_view line;
  while (true) {
    const auto more = reader.Next(&line);
    EXPECT_TRUE(more.ok()) << more.status();
    if (!more.ok() || !*more) return lines;
    lines.emplace_back(line);
  }
}

TEST(LineReaderTest, DropsLineEndsOfBothKinds) {
  LineReader reader(std::make_unique<StringSource>("a\r\n\nb c\nlast\r"), "f", 100);
  EXPECT_EQ(AllLines(reader), (std::vector<std::string>{"a", "", "b c", "last"}));
  EXPECT_EQ(reader.line_number(), 4u);
  EXPECT_TRUE(reader.unterminated());
}

TEST(LineReaderTest, KnowsWhenTheLastLineIsWhole) {
  LineReader reader(std::make_unique<StringSource>("a\nb\n"), "f", 100);
  EXPECT_EQ(AllLines(reader).size(), 2u);
  EXPECT_FALSE(reader.unterminated());
}

TEST(LineReaderTest, LinesOfEveryLengthSurviveRefills) {
  std::string text;
  std::vector<std::string> want;
  for (size_t n = 0; n < 400; ++n) {
    want.push_back(std::string(n * 7 % 1500, static_cast<char>('a' + n % 26)));
    text.append(want.back()).append("\n");
  }
  for (const size_t step : {size_t{1}, size_t{13}, size_t{4096}, text.size()}) {
    LineReader reader(std::make_unique<StringSource>(text, step), "f", 2000);
    EXPECT_EQ(AllLines(reader), want);
  }
}

TEST(LineReaderTest, RefusesALineThatIsTooLong) {
  for (const size_t step : {size_t{1}, size_t{50}}) {
    LineReader reader(std::make_unique<StringSource>("ok\n" + std::string(11, 'x') + "\n", step), "f", 10);
    std::string_view line;
    ASSERT_TRUE(reader.Next(&line).ok());
    const auto more = reader.Next(&line);
    ASSERT_FALSE(more.ok());
    EXPECT_EQ(more.status().code(), absl::StatusCode::kResourceExhausted);
    EXPECT_EQ(FaultsOf(more.status())[0].line, 2u);
  }
}

TEST(LineReaderTest, AnEndlessLineDoesNotGrowTheBuffer) {
  LineReader reader(std::make_unique<StringSource>(std::string(1 << 20, 'x'), 1 << 16), "f", 1000);
  std::string_view line;
  EXPECT_EQ(reader.Next(&line).status().code(), absl::StatusCode::kResourceExhausted);
}

}  // namespace
}  // namespace sm89
