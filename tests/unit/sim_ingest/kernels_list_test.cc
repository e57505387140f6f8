#include "sim/ingest/kernels_list.h"

#include <string>

#include "sim/ingest/limits.h"
#include "tests/unit/sim_ingest/ingest_fixtures.h"

namespace sm89 {
namespace {

using testing::StringSource;

class KernelsListTest : public ::testing::Test {
 protected:
  absl::StatusOr<KernelsList> Read(const std::string& text) {
    LineReader lines(std::make_unique<StringSource>(text), "kernelslist.g", kMaxListLineBytes);
    return ReadKernelsList(lines, context_);
  }
  IngestOptions options_;
  IngestContext context_{options_};
};

TEST_F(KernelsListTest, ToleratesSpacingCaseAndAFourthField) {
  const auto list =
      Read("\r\n\tMemcpyHtoD , 0X7F4C80003000 ,1\t\r\nMemcpyHtoD,0x10,256,dump.bin\n\n  kernel-1.traceg  ");
  ASSERT_TRUE(list.ok()) << list.status();
  ASSERT_EQ(list->commands.size(), 3u);
  EXPECT_EQ(list->commands[0].address, 0x7f4c80003000u);
  EXPECT_EQ(list->commands[0].bytes, 1u);
  EXPECT_EQ(list->commands[0].line, 2u);
  EXPECT_EQ(list->kernels[0].file, "kernel-1.traceg");
  EXPECT_EQ(list->kernels[0].line, 5u);
}

TEST_F(KernelsListTest, KeepsEveryMalformedLineForOneAnswer) {
  const auto list =
      Read("MemcpyHtoD,0x10\nMemcpyHtoD,0x10,many\nMemcpyHtoD,0x10,1,x,y\nkernel-1.traceg\nMemcpyDtoH,,\n");
  ASSERT_FALSE(list.ok());
  EXPECT_EQ(list.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(FaultsOf(list.status()).size(), 4u);
}

TEST_F(KernelsListTest, KernelNamesCannotLeaveTheFolder) {
  for (const char* name : {"kernel/../../etc/passwd", "kernel-1.traceg/x", "../kernel-1.traceg",
                           "/kernel-1.traceg", "kernel-1\x01.traceg"}) {
    const auto list = Read(std::string(name) + "\n");
    ASSERT_FALSE(list.ok()) << name;
    EXPECT_EQ(list.status().code(), absl::StatusCode::kInvalidArgument) << name;
  }
}

TEST_F(KernelsListTest, ShellTextIsOnlyAnOddName) {
  const auto list = Read("kernel-1.traceg;cmd #.traceg\n");
  ASSERT_TRUE(list.ok());
  EXPECT_EQ(list->kernels[0].file, "kernel-1.traceg;cmd #.traceg");
}

TEST_F(KernelsListTest, OtherLinesAreKeptAsIgnored) {
  const auto list = Read("ncclAllReduce,0x1,64\nMemset,0x1,2\nkernel-1.traceg\n");
  ASSERT_TRUE(list.ok());
  EXPECT_EQ(list->commands[0].kind, CommandKind::kIgnored);
  EXPECT_EQ(list->commands[0].text, "ncclAllReduce,0x1,64");
  EXPECT_EQ(context_.warnings().Take().size(), 2u);
  const auto cut = Read(std::string(1000, 'x') + "\nkernel-1.traceg\n");
  ASSERT_TRUE(cut.ok());
  EXPECT_EQ(cut->commands[0].text, std::string(120, 'x'));
}

TEST_F(KernelsListTest, AListWithoutKernelsIsRefused) {
  for (const char* text : {"", "\n\n", "MemcpyHtoD,0x1,2\n", "[\n  {\n"}) {
    const auto list = Read(text);
    ASSERT_FALSE(list.ok());
    EXPECT_EQ(testing::FactOf(list.status(), "kernels"), "0");
  }
}

TEST_F(KernelsListTest, ManyIgnoredLinesGiveFewWarnings) {
  std::string text = "kernel-1.traceg\n";
  for (int i = 0; i < 500; ++i) text.append("noise\n");
  const auto list = Read(text);
  ASSERT_TRUE(list.ok());
  EXPECT_EQ(list->commands.size(), 501u);
  const std::vector<TraceWarning> warnings = context_.warnings().Take();
  EXPECT_EQ(warnings.size(), 21u);
  EXPECT_EQ(warnings.back().message, "and 480 more of this kind");
}

TEST(TraceSuffixTest, KnowsTheNames) {
  EXPECT_TRUE(HasTraceSuffix("a.traceg"));
  EXPECT_TRUE(HasTraceSuffix("a.traceg.xz"));
  EXPECT_TRUE(HasTraceSuffix("a.trace.gz"));
  EXPECT_TRUE(HasTraceSuffix("a.tracez"));
  EXPECT_FALSE(HasTraceSuffix("stats.csv"));
  EXPECT_FALSE(HasTraceSuffix("a.xz"));
}

}  // namespace
}  // namespace sm89
