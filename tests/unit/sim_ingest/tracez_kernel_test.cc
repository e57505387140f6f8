// The fixture is built from the format's description: it checks this reader against that text, not against
// files of a real tracer (none could be had).
#include <zstd.h>

#include <string>
#include <vector>

#include "sim/ingest/kernel_reader.h"
#include "tests/unit/sim_ingest/ingest_fixtures.h"

namespace sm89 {
namespace {

using testing::FactOf;
using testing::KernelText;

void PutU32(uint32_t value, std::string* out) {
  for (int i = 0; i < 4; ++i) out->push_back(static_cast<char>(value >> 8 * i));
}
void PutU64(uint64_t value, std::string* out) {
  PutU32(static_cast<uint32_t>(value), out);
  PutU32(static_cast<uint32_t>(value >> 32), out);
}

std::string Frame(const std::string& text, const std::string& dictionary) {
  ZSTD_CCtx* context = ZSTD_createCCtx();
  std::string out(ZSTD_compressBound(text.size()), '\0');
  const size_t size = ZSTD_compress_usingDict(context, out.data(), out.size(), text.data(), text.size(),
                                              dictionary.data(), dictionary.size(), 3);
  ZSTD_freeCCtx(context);
  EXPECT_FALSE(ZSTD_isError(size));
  out.resize(size);
  return out;
}

// One block of two warps: the first in two frames, the second empty.
std::string Tracez(const std::string& dictionary, const std::vector<std::string>& lines) {
  KernelText kernel;
  kernel.block = "(64,1,1)";
  kernel.tracer = "-accelsim tracer version = 6\n-enable lineinfo = 0\n";
  std::string file = kernel.Header();
  file.push_back('\0');
  PutU32(static_cast<uint32_t>(dictionary.size()), &file);
  PutU32(2, &file);
  file.append(dictionary);
  const uint64_t warp_offset = file.size();
  PutU32(static_cast<uint32_t>(lines.size()), &file);
  PutU32(2, &file);
  const std::string frames[] = {Frame(lines[0] + "\n" + lines[1], dictionary), Frame(lines[2], dictionary)};
  for (const std::string& frame : frames) {
    PutU32(static_cast<uint32_t>(frame.size()), &file);
    file.append(frame);
  }
  const uint64_t index_offset = file.size();
  PutU32(1, &file);
  for (int i = 0; i < 10; ++i) PutU32(0, &file);
  PutU32(2, &file);
  PutU32(static_cast<uint32_t>(lines.size()), &file);
  PutU32(2, &file);
  PutU64(warp_offset, &file);
  PutU32(2, &file);
  PutU32(1, &file);
  PutU32(0, &file);
  PutU32(0, &file);
  PutU64(warp_offset, &file);
  PutU64(index_offset, &file);
  return file;
}

const std::vector<std::string>& Lines() {
  static const std::vector<std::string> kLines = {
      "0000 ffffffff 1 R1 MOV 0 0 0 0 NoVal", "0010 0000000f 1 R4 LDG.E 1 R2 4 1 0x7f4c80000000 4 0 0 NoVal",
      "0020 ffffffff 0 EXIT 0 0 0 0 NoVal"};
  return kLines;
}

class TracezTest : public testing::IngestTest {};

TEST_F(TracezTest, ReadsWarpsThroughTheIndex) {
  for (const std::string& dictionary :
       {std::string(), std::string("0010 ffffffff 1 R4 LDG.E 1 R2 4 1 0x7f4c80000000")}) {
    const auto result = Ingest(Write("kernel-1.tracez", Tracez(dictionary, Lines())));
    ASSERT_TRUE(result.ok()) << result.status();
    const KernelInfo& kernel = result->info.kernels[0];
    EXPECT_EQ(kernel.warp_instructions, 3u);
    EXPECT_EQ(kernel.thread_instructions, 68u);
    EXPECT_EQ(kernel.empty_warps, 1u);
    EXPECT_EQ(kernel.tracer_version, "6");
  }
}

TEST_F(TracezTest, FaultsNameBlockWarpAndInstruction) {
  std::vector<std::string> lines = Lines();
  lines[2] = "0020 ffffffff 0 EXIT 0 0 0";
  const auto result = Ingest(Write("kernel-1.tracez", Tracez("", lines)));
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(FactOf(result.status(), "instruction"), "2");
  EXPECT_EQ(FactOf(result.status(), "warp"), "0");
}

TEST_F(TracezTest, EveryCutIsRefused) {
  const std::string whole = Tracez("", Lines());
  for (size_t size = 0; size < whole.size(); size += 3) {
    const auto result = Ingest(Write("kernel-1.tracez", whole.substr(0, size)));
    EXPECT_EQ(result.status().code(), absl::StatusCode::kInvalidArgument) << size << " " << result.status();
  }
}

TEST_F(TracezTest, EveryByteMayBeDamaged) {
  const std::string whole = Tracez("", Lines());
  for (size_t at = KernelText().Header().size(); at < whole.size(); at += 3) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x41);
    const auto result = Ingest(Write("kernel-1.tracez", damaged));
    // What no longer reads is refused as malformed; nothing crashes.
    if (result.ok()) continue;
    EXPECT_EQ(result.status().code(), absl::StatusCode::kInvalidArgument) << at << " " << result.status();
  }
}

}  // namespace
}  // namespace sm89
