#include "sim/ingest/ingest.h"

#include <sys/stat.h>

#include <filesystem>
#include <string>
#include <vector>

#include "sim/ingest/ingest_context.h"
#include "sim/trace/compact_reader.h"
#include "tests/unit/sim_ingest/ingest_fixtures.h"

namespace sm89 {
namespace {

namespace fs = std::filesystem;
using testing::BlockText;
using testing::FactOf;
using testing::KernelText;
using testing::PlainLines;
using testing::SmallKernel;
using testing::WarpText;

class IngestTraceTest : public testing::IngestTest {
 protected:
  absl::Status Refused(const std::string& input) {
    fs::remove(Output());
    const auto result = Ingest(input);
    EXPECT_FALSE(result.ok());
    EXPECT_EQ(EntriesBesideInput(), 0u) << "a refused trace leaves nothing behind";
    return result.status();
  }
};

TEST_F(IngestTraceTest, FolderListAndKernelAreAccepted) {
  Write("kernelslist.g", "MemcpyHtoD,0x10,4\nkernel-1.traceg\n");
  Write("my-list.txt", "kernel-1.traceg\n");
  const std::string kernel = Write("kernel-1.traceg", SmallKernel());
  const auto folder = Ingest(Folder());
  ASSERT_TRUE(folder.ok()) << folder.status();
  EXPECT_EQ(folder->info.name, "trace");
  EXPECT_EQ(folder->info.commands.size(), 2u);
  EXPECT_TRUE(IsCompactTrace(Output()));
  const auto list = Ingest(Folder() + "/my-list.txt");
  ASSERT_TRUE(list.ok()) << list.status();
  const auto single = Ingest(kernel);
  ASSERT_TRUE(single.ok()) << single.status();
  EXPECT_EQ(single->info.commands.size(), 1u);
  EXPECT_EQ(single->info.kernels[0].file, "kernel-1.traceg");
}

TEST_F(IngestTraceTest, AListSomeFoldersDownIsFoundWhenItIsTheOnlyOne) {
  Write("a/b/kernelslist.g", "kernel-1.traceg\n");
  Write("a/b/kernel-1.traceg", SmallKernel());
  EXPECT_TRUE(Ingest(Folder()).ok());
  Write("c/kernelslist.g", "kernel-1.traceg\n");
  EXPECT_EQ(FactOf(Refused(Folder()), "lists"), "a/b/kernelslist.g,c/kernelslist.g");
  // A list at the top is the folder's own.
  Write("kernelslist.g", "kernel-1.traceg\n");
  Write("kernel-1.traceg", SmallKernel());
  EXPECT_TRUE(Ingest(Folder()).ok());
}

TEST_F(IngestTraceTest, FoldersWithoutAListSayWhatIsMissing) {
  EXPECT_EQ(FactOf(Refused(Folder()), "missing_part"), "kernelslist.g");
  Write("kernel-1.traceg", SmallKernel());
  EXPECT_EQ(FactOf(Refused(Folder()), "missing_part"), "kernelslist.g");
  Write("kernel-1.trace", "x");
  EXPECT_EQ(FactOf(Refused(Folder()), "reason"), "not_grouped");
}

TEST_F(IngestTraceTest, LinksInsideATraceAreNotFollowed) {
  const std::string outside = root_ + "/trace/../outside.traceg";
  std::ofstream(outside) << SmallKernel();
  Write("kernelslist.g", "kernel-1.traceg\n");
  fs::create_symlink(outside, Folder() + "/kernel-1.traceg");
  const auto result = Ingest(Folder());
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(result.status().message().find("symbolic link"), std::string::npos) << result.status();
}

TEST_F(IngestTraceTest, PipesAndFoldersAreNoKernelFiles) {
  Write("kernelslist.g", "kernel-1.traceg\nkernel-2.traceg\n");
  ASSERT_EQ(mkfifo((Folder() + "/kernel-1.traceg").c_str(), 0600), 0);
  fs::create_directory(Folder() + "/kernel-2.traceg");
  const absl::Status status = Refused(Folder());
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(FaultsOf(status).size(), 2u);
}

TEST_F(IngestTraceTest, NotFoundAndEmptyInputsAreSaid) {
  EXPECT_EQ(Refused(root_ + "/nowhere").code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(FactOf(Refused(Write("kernel-1.traceg", "")), "missing_part"), "header");
  EXPECT_EQ(FactOf(Refused(Write("list", "")), "kernels"), "0");
  EXPECT_EQ(FactOf(Refused(Write("kernel-1.traceg", KernelText().Header())), "missing_part"), "instructions");
}

TEST_F(IngestTraceTest, AllHeadersAreJudgedBeforeAnyKernelIsRead) {
  Write("kernelslist.g", "kernel-1.traceg\nkernel-2.traceg\nkernel-3.traceg\n");
  KernelText foreign;
  foreign.binary = "75";
  foreign.blocks = {"#BEGIN_TB\ngarbage\n"};
  Write("kernel-1.traceg", foreign.Text());
  Write("kernel-2.traceg", "");
  Write("kernel-3.traceg", foreign.Text());
  const absl::Status status = Refused(Folder());
  const std::vector<Fault> faults = FaultsOf(status);
  ASSERT_EQ(faults.size(), 3u);
  EXPECT_EQ(faults[0].file, "kernel-1.traceg");
  EXPECT_EQ(faults[1].file, "kernel-2.traceg");
  EXPECT_EQ(faults[2].file, "kernel-3.traceg");
}

TEST_F(IngestTraceTest, KernelsBehindARefusedOneAreStillJudged) {
  Write("kernelslist.g", "kernel-1.traceg\nkernel-2.traceg\nkernel-3.traceg\n");
  KernelText unknown;
  unknown.blocks = {BlockText("0,0,0", {WarpText(0, {"0000 ffffffff 0 QFROB 0 0 0"})})};
  KernelText short_count;
  short_count.grid = "(2,1,1)";
  short_count.blocks = {BlockText("1,0,0", {WarpText(0, PlainLines())})};
  Write("kernel-1.traceg", unknown.Text());
  Write("kernel-2.traceg", SmallKernel());
  Write("kernel-3.traceg", short_count.Text());
  const absl::Status status = Refused(Folder());
  ASSERT_EQ(FaultsOf(status).size(), 2u) << status;
  EXPECT_EQ(FactOf(status, "opcodes"), "QFROB");
  EXPECT_EQ(FactOf(status, "missing"), "0,0,0");
}

TEST_F(IngestTraceTest, PartialTracesKeepTheirCompleteBlocks) {
  KernelText kernel;
  kernel.grid = "(3,1,1)";
  kernel.blocks = {BlockText("0,0,0", {WarpText(0, PlainLines())}),
                   BlockText("1,0,0", {WarpText(0, PlainLines())})};
  const std::string text = kernel.Text();
  const std::string path = Write("kernel-1.traceg", text.substr(0, text.size() - 30));
  EXPECT_EQ(FactOf(Refused(path), "blocks_complete"), "1");
  options_.allow_partial = true;
  const auto result = Ingest(path);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->info.kernels[0].num_ctas, 1u);
  EXPECT_FALSE(result->info.kernels[0].complete);
  EXPECT_EQ(result->info.marks[0].kind, "allow_partial");
  // Without one complete block there is nothing to run.
  EXPECT_FALSE(Ingest(Write("kernel-1.traceg", text.substr(0, text.find("#END_TB")))).ok());
  // Other faults stay faults.
  EXPECT_FALSE(Ingest(Write("kernel-1.traceg", kernel.Header() + "#BEGIN_TB\ngarbage\n")).ok());
}

TEST_F(IngestTraceTest, ForeignOpcodesAreMappedOrRefusedByName) {
  options_.foreign_arch = true;
  KernelText kernel;
  kernel.binary = "90";
  kernel.blocks = {
      BlockText("0,0,0", {WarpText(0, {"0000 ffffffff 1 R1 VIADD 1 R2 0 0", "0010 ffffffff 0 EXIT 0 0 0"})})};
  const auto mapped = Ingest(Write("kernel-1.traceg", kernel.Text()));
  ASSERT_TRUE(mapped.ok()) << mapped.status();
  ASSERT_EQ(mapped->info.marks.size(), 1u);
  EXPECT_NE(mapped->info.marks[0].detail.find("VIADD as IADD3 (1)"), std::string::npos)
      << mapped->info.marks[0].detail;
  kernel.blocks = {BlockText("0,0,0", {WarpText(0, {"0000 ffffffff 1 R1 WARPGROUP.ARRIVE 0 0 0"})})};
  const auto refused = Ingest(Write("kernel-1.traceg", kernel.Text()));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(FactOf(refused.status(), "opcodes"), "WARPGROUP.ARRIVE");
}

TEST_F(IngestTraceTest, GlobalAccessesAtAddressZeroAreWarnedAbout) {
  KernelText kernel;
  kernel.blocks = {BlockText(
      "0,0,0", {WarpText(0, {"0000 ffffffff 1 R1 LDG.E 1 R2 4 1 0x0 0 0",
                             "0010 ffffffff 1 R1 LDS 1 R2 4 1 0x0 4 0", "0020 ffffffff 0 EXIT 0 0 0"})})};
  const auto result = Ingest(Write("kernel-1.traceg", kernel.Text()));
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->info.kernels[0].zero_address_accesses, 1u);
  ASSERT_EQ(result->info.warnings.size(), 1u);
  EXPECT_EQ(result->info.warnings[0].kind, "zero_address");
}

// Older post-processing keeps both lines of an LDGSTS, the shared side first.
TEST_F(IngestTraceTest, SharedSidesOfAsyncCopiesAccessNoGlobalMemory) {
  KernelText kernel;
  kernel.blocks = {BlockText(
      "0,0,0",
      {WarpText(0, {"0000 ffffffff 0 LDGSTS.E.128 2 R1 R2 16 1 0x0 16 0",
                    "0000 ffffffff 0 LDGSTS.E.128 2 R1 R2 16 1 0x7f4c80000000 16 0",
                    "0010 00000001 0 LDGSTS.E 2 R1 R2 4 1 0x100000 4 0", "0020 ffffffff 0 EXIT 0 0 0"})})};
  const auto result = Ingest(Write("kernel-1.traceg", kernel.Text()));
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->info.kernels[0].warp_instructions, 4u);
  EXPECT_EQ(result->info.kernels[0].zero_address_accesses, 0u);
  ASSERT_EQ(result->info.warnings.size(), 1u);
  EXPECT_EQ(result->info.warnings[0].kind, "async_copy_shared_side");
  EXPECT_NE(result->info.warnings[0].message.find(": 1 executed LDGSTS"), std::string::npos);
  const auto reader = CompactReader::Open(Output());
  ASSERT_TRUE(reader.ok()) << reader.status();
  const auto cursor = (*reader)->OpenCta(0, 0).value()->OpenWarp(0);
  std::vector<bool> has_addresses;
  for (DynInst inst; cursor->Next(&inst);) has_addresses.push_back(inst.shape != nullptr);
  EXPECT_EQ(has_addresses, (std::vector<bool>{false, true, true, false}));
}

// Headers are looked at before anything else is read; that has a bound, too.
TEST_F(IngestTraceTest, LongHeadersOfPackedFilesAreBounded) {
  IngestContext context(options_);
  options_.max_unpacked_bytes = 1000;
  const IngestContext::Quiet quiet(context);
  EXPECT_TRUE(context.ChargeUnpacked(600, "f").ok());
  EXPECT_EQ(context.ChargeUnpacked(600, "f").code(), absl::StatusCode::kResourceExhausted);
}

TEST_F(IngestTraceTest, TheSameKernelMayBeListedTwice) {
  Write("kernelslist.g", "kernel-1.traceg\nMemcpyHtoD,0x10,4\nkernel-1.traceg\n");
  Write("kernel-1.traceg", SmallKernel());
  const auto result = Ingest(Folder());
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->info.kernels.size(), 2u);
  EXPECT_EQ(result->info.commands[2].kernel, 1u);
}

TEST_F(IngestTraceTest, ACompactTraceIsNotReadAsText) {
  const std::string path = Write("kernel-1.traceg", SmallKernel());
  EXPECT_FALSE(IsCompactTrace(path));
  EXPECT_FALSE(IsCompactTrace(Folder()));
  ASSERT_TRUE(Ingest(path).ok());
  const auto again = IngestTrace(Output(), root_ + "/second", options_);
  ASSERT_FALSE(again.ok());
  EXPECT_NE(again.status().message().find("compact"), std::string::npos);
}

TEST_F(IngestTraceTest, LineEndsDoNotChangeTheTrace) {
  const auto unix_ends = Ingest(Write("kernel-1.traceg", SmallKernel()));
  std::string dos;
  for (const char c : SmallKernel()) dos.append(c == '\n' ? "\r\n" : std::string(1, c));
  const auto dos_ends = Ingest(Write("kernel-1.traceg", dos));
  ASSERT_TRUE(unix_ends.ok() && dos_ends.ok()) << dos_ends.status();
  EXPECT_EQ(unix_ends->written.digest, dos_ends->written.digest);
}

TEST_F(IngestTraceTest, CancelledMeansCancelled) {
  std::atomic<bool> cancel{true};
  options_.cancel = &cancel;
  EXPECT_EQ(Refused(Write("kernel-1.traceg", SmallKernel())).code(), absl::StatusCode::kCancelled);
}

}  // namespace
}  // namespace sm89
