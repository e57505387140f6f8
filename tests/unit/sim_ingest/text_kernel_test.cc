#include <string>
#include <vector>

#include "sim/ingest/kernel_reader.h"
#include "tests/unit/sim_ingest/ingest_fixtures.h"

namespace sm89 {
namespace {

using testing::BlockText;
using testing::FactOf;
using testing::KernelText;
using testing::PlainLines;
using testing::RecordingWriter;
using testing::StringSource;
using testing::WarpText;

class TextKernelTest : public ::testing::Test {
 protected:
  absl::Status Read(const std::string& text, uint64_t max_ctas = ~uint64_t{0}) {
    writer_ = std::make_unique<RecordingWriter>();
    builder_.reset();
    const auto reader = MakeTextKernelReader(std::make_unique<StringSource>(text, 64), "k.traceg", context_);
    const auto header = reader->ReadHeader();
    if (!header.ok()) return header.status();
    builder_ = std::make_unique<KernelBuilder>(header->info, *writer_);
    return reader->ReadBody(*builder_, max_ctas);
  }
  // The fault of a file that must be refused as malformed.
  Fault Refused(const std::string& text) {
    const absl::Status status = Read(text);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
    const std::vector<Fault> faults = FaultsOf(status);
    return faults.empty() ? Fault() : faults[0];
  }

  IngestOptions options_;
  IngestContext context_{options_};
  std::unique_ptr<RecordingWriter> writer_;
  std::unique_ptr<KernelBuilder> builder_;
};

TEST_F(TextKernelTest, ReadsBlocksAndWarpsInFileOrder) {
  KernelText kernel;
  kernel.grid = "(2,1,1)";
  kernel.block = "(64,1,1)";
  kernel.blocks = {BlockText("1,0,0", {WarpText(1, PlainLines()), WarpText(0, PlainLines())}),
                   BlockText("0,0,0", {WarpText(0, PlainLines())})};
  ASSERT_TRUE(Read(kernel.Text()).ok());
  ASSERT_EQ(writer_->ctas.size(), 2u);
  EXPECT_EQ(writer_->ctas[0].id, (Dim3{1, 0, 0}));
  EXPECT_EQ(writer_->ctas[0].warps[0].id, 1u);
  EXPECT_EQ(writer_->ctas[0].warps[0].insts.size(), 3u);
  EXPECT_EQ(writer_->ctas[0].warps[0].insts[1].addresses.size(), 32u);
  EXPECT_EQ(writer_->statics.size(), 3u);
  EXPECT_EQ(builder_->info().warp_instructions, 9u);
  EXPECT_EQ(builder_->info().thread_instructions, 288u);
  EXPECT_EQ(builder_->info().absent_warps, 1u);
  EXPECT_TRUE(builder_->HasAllCtas());
}

TEST_F(TextKernelTest, ClusterLinesAndCommentsHaveNoEffect) {
  KernelText kernel;
  std::string block =
      BlockText("0,0,0", {"cluster id = 0,0,0\ncluster rank = 0\n# note\n", WarpText(0, PlainLines())});
  kernel.blocks = {block};
  EXPECT_TRUE(Read(kernel.Text()).ok());
}

TEST_F(TextKernelTest, TheLastLineNeedsNoEnd) {
  std::string text = testing::SmallKernel();
  text.resize(text.find("#END_TB") + 7);
  EXPECT_TRUE(Read(text).ok());
}

TEST_F(TextKernelTest, CutAnywhereIsTruncatedOrComplete) {
  KernelText kernel;
  kernel.grid = "(2,1,1)";
  kernel.blocks = {BlockText("0,0,0", {WarpText(0, PlainLines())}),
                   BlockText("1,0,0", {WarpText(0, PlainLines())})};
  const std::string text = kernel.Text();
  const size_t first_end = text.find("#END_TB") + 7;
  const size_t second_begin = text.rfind("#BEGIN_TB");
  const size_t last_end = text.rfind("#END_TB") + 7;
  for (size_t size = first_end; size <= text.size(); ++size) {
    const absl::Status status = Read(text.substr(0, size));
    // Between the blocks, or in the middle of their marks' comment signs, the file seems to end cleanly.
    const bool between = size < second_begin + 9;
    if (size >= last_end || between) {
      EXPECT_TRUE(status.ok() || status.code() == absl::StatusCode::kDataLoss) << size << " " << status;
      continue;
    }
    EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss) << size << " " << status;
    EXPECT_EQ(FactOf(status, "blocks_complete"), "1");
    EXPECT_EQ(FactOf(status, "blocks_expected"), "2");
  }
}

TEST_F(TextKernelTest, StopsBehindTheAskedNumberOfBlocks) {
  KernelText kernel;
  kernel.grid = "(2,1,1)";
  kernel.blocks = {BlockText("0,0,0", {WarpText(0, PlainLines())}), "#BEGIN_TB\ngarbage"};
  EXPECT_TRUE(Read(kernel.Text(), 1).ok());
  EXPECT_EQ(writer_->ctas.size(), 1u);
}

TEST_F(TextKernelTest, CountsMustFit) {
  KernelText kernel;
  kernel.blocks = {BlockText("0,0,0", {"\nwarp = 0\ninsts = 2\n" + PlainLines()[0] + "\n"})};
  EXPECT_EQ(Refused(kernel.Text()).message, "block 0,0,0, warp 0 declares 2 instructions and has 1");
  kernel.blocks = {
      BlockText("0,0,0", {"\nwarp = 0\ninsts = 0\n" + PlainLines()[0] + "\n" + PlainLines()[2] + "\n"})};
  EXPECT_EQ(Refused(kernel.Text()).message, "block 0,0,0, warp 0 declares 0 instructions and has 2");
}

TEST_F(TextKernelTest, WarpsAreInRangeAndUnique) {
  KernelText kernel;
  kernel.block = "(33,1,1)";
  kernel.blocks = {BlockText("0,0,0", {WarpText(2, PlainLines())})};
  EXPECT_EQ(Refused(kernel.Text()).expected, "0..1 by the block's dimensions");
  kernel.blocks = {BlockText("0,0,0", {WarpText(1, PlainLines()), WarpText(1, PlainLines())})};
  EXPECT_EQ(Refused(kernel.Text()).message, "the warp is there twice");
}

TEST_F(TextKernelTest, BlocksAreInsideTheGridAndUnique) {
  KernelText kernel;
  kernel.grid = "(2,2,1)";
  kernel.blocks = {BlockText("0,2,0", {})};
  EXPECT_EQ(Refused(kernel.Text()).message, "the thread block is outside the grid");
  kernel.blocks = {BlockText("0,1,0", {}), BlockText("0,1,0", {})};
  EXPECT_EQ(Refused(kernel.Text()).message, "the thread block is there twice");
}

TEST_F(TextKernelTest, LinesOutOfPlaceAreNamed) {
  const std::string mov = PlainLines()[0] + "\n";
  for (const std::string& body :
       {std::string("#BEGIN_TB\n#BEGIN_TB\n"), std::string("#BEGIN_TB\n#END_TB\n"),
        std::string("thread block = 0,0,0\n"), std::string("#END_TB\n"), std::string("#BEGIN_TB\nwarp = 0\n"),
        "#BEGIN_TB\nthread block = 0,0,0\n" + mov, "#BEGIN_TB\nthread block = 0,0,0\nwarp = 0\n" + mov,
        std::string("#BEGIN_TB\nthread block = 0,0,0\ninsts = 1\n"),
        std::string("#BEGIN_TB\nthread block = 0,0,0\nwarp = 0\nwarp = 1\n"),
        std::string("#BEGIN_TB\nthread block = 0,0,0\nthread block = 0,0,0\n")}) {
    const Fault fault = Refused(KernelText().Header() + body);
    EXPECT_EQ(fault.message, "the line is out of place") << body;
    EXPECT_NE(fault.line, 0u);
  }
  for (const char* body : {"#BEGIN_TB\nthread block = 0,0\n", "#BEGIN_TB\nthread block = 0,0,0\nwarp = x\n",
                           "#BEGIN_TB\nthread block = 0,0,0\nwarp = 0\ninsts = -1\n"}) {
    EXPECT_EQ(Refused(KernelText().Header() + body).message.substr(0, 3), "bad") << body;
  }
}

TEST_F(TextKernelTest, UngroupedTracesGetAdviceBesideTheirOtherFaults) {
  KernelText kernel;
  kernel.binary = "61";
  kernel.blocks = {"31 0 0 12 0008 ffffffff 1 R1 MOV 0 0 \n"};
  const absl::Status status = Read(kernel.Text());
  EXPECT_EQ(FactOf(status, "reason"), "not_grouped");
  EXPECT_EQ(FactOf(status, "binary_version"), "61");
}

TEST_F(TextKernelTest, SaysWhichPartIsMissing) {
  EXPECT_EQ(FactOf(Read(""), "missing_part"), "header");
  EXPECT_EQ(FactOf(Read("hello\nworld\n"), "missing_part"), "header");
  EXPECT_EQ(FactOf(Read(KernelText().Header()), "missing_part"), "instructions");
}

TEST_F(TextKernelTest, WorkBehindAnExitIsCountedByWarp) {
  KernelText kernel;
  kernel.block = "(96,1,1)";
  const std::string exit_all = "0000 ffffffff 0 EXIT 0 0 0";
  const std::string exit_half = "0000 0000ffff 0 EXIT 0 0 0";
  const std::string half = "0010 ffff0000 1 R1 MOV 0 0 0";
  const std::string one = "0010 00000001 1 R1 MOV 0 0 0";
  const std::string none = "0010 00000000 1 R1 MOV 0 0 0";
  kernel.blocks = {
      BlockText("0,0,0", {WarpText(0, {exit_all, one, one}), WarpText(1, {exit_half, half, exit_all, none}),
                          WarpText(2, {exit_half, half})})};
  ASSERT_TRUE(Read(kernel.Text()).ok());
  // Warp 1 ends with an EXIT of all lanes although half have left: those lanes did run on.
  EXPECT_EQ(builder_->info().warps_past_exit, 2u);
  EXPECT_EQ(builder_->info().masked_off_instructions, 1u);
}

}  // namespace
}  // namespace sm89
