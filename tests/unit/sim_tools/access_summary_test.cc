// Sectors, lines and bank passes of one executed instruction, against counting by hand.
#include "sim/tools/access_summary.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

#include "sim/trace/shape_code.h"

namespace sm89 {
namespace {

constexpr uint64_t kShared = 0x7f5a10000000;
constexpr uint64_t kLocal = 0x7f5a0e000000;

class AccessSummaryTest : public ::testing::Test {
 protected:
  AccessSummary Summarize(const std::string& opcode, LaneMask mask, const std::vector<uint64_t>& addresses) {
    StaticInst inst;
    inst.opcode = opcode;
    info_.binary_version = 89;
    const DecodedKernel decoded = DecodeKernel(std::vector<StaticInst>{inst}, {});
    EXPECT_TRUE(decoded.unknown.empty()) << opcode;
    const KernelCode code = BuildKernelCode(decoded, info_, GpuConfig{});
    DynInst dyn{.static_id = 0, .mask = mask};
    AccessShape shape;
    if (!addresses.empty()) {
      std::string bytes;
      AppendShape(&bytes, mask, addresses);
      ByteReader in(bytes);
      EXPECT_TRUE(ReadShape(&in, &shape));
      dyn.shape = &shape;
      dyn.base = addresses[0];
    }
    return SummarizeAccess(code, dyn);
  }

  // 32 lanes from `base`.
  AccessSummary Strided(const std::string& opcode, uint64_t base, uint64_t stride) {
    std::vector<uint64_t> addresses;
    for (uint64_t lane = 0; lane < 32; ++lane) addresses.push_back(base + lane * stride);
    return Summarize(opcode, ~LaneMask{0}, addresses);
  }

  KernelInfo info_{.shmem_base = kShared, .local_base = kLocal};
};

TEST_F(AccessSummaryTest, GlobalSectorsByWidthAndStride) {
  EXPECT_EQ(Strided("LDG.E", 0x7f4c80000000, 4).global_sectors, 4u);
  EXPECT_EQ(Strided("LDG.E.64", 0x7f4c80000000, 8).global_sectors, 8u);
  EXPECT_EQ(Strided("LDG.E.128", 0x7f4c80000000, 16).global_sectors, 16u);
  EXPECT_EQ(Strided("LDG.E", 0x7f4c80000000, 32).global_sectors, 32u);
  EXPECT_EQ(Strided("LDG.E", 0x7f4c80000000, 0).global_sectors, 1u);
  EXPECT_EQ(Strided("LDG.E", 0x7f4c80000010, 4).global_sectors, 5u);
  EXPECT_EQ(Strided("LDG.E", 0x7f4c80000010, 4).global_lines, 2u);
}

TEST_F(AccessSummaryTest, LocalMemoryIsInterleavedByThread) {
  EXPECT_EQ(Strided("LDL", 0xfff72c, 0).local_sectors, 4u);
  EXPECT_EQ(Strided("LDL.64", 0xfff730, 0).local_sectors, 8u);
  EXPECT_EQ(Summarize("LDL", 1, {0xfff740}).local_sectors, 1u);
  EXPECT_EQ(Strided("LDL", 0xfff72c, 0).global_sectors, 0u);
}

TEST_F(AccessSummaryTest, GenericWindowsWorkInEitherOrder) {
  for (const bool swapped : {false, true}) {
    info_.shmem_base = swapped ? kLocal : kShared;
    info_.local_base = swapped ? kShared : kLocal;
    EXPECT_EQ(Strided("LD.E", info_.shmem_base + 0x100, 4).shared_passes, 1u);
    EXPECT_EQ(Strided("LD.E", info_.local_base + 0x40, 0).local_sectors, 4u);
    EXPECT_EQ(Strided("LD.E", 0x7f4c80000000, 4).global_sectors, 4u);
  }
}

TEST_F(AccessSummaryTest, GenericLanesAreClassifiedOneByOne) {
  const AccessSummary s = Summarize("LD.E", 0x7, {kShared + 4, kLocal + 8, 0x7f4c80000000});
  EXPECT_EQ(s.shared_passes, 1u);
  EXPECT_EQ(s.local_sectors, 1u);
  EXPECT_EQ(s.global_sectors, 1u);
}

TEST_F(AccessSummaryTest, WindowsAreSixteenMebibytes) {
  EXPECT_EQ(Summarize("LD.E", 1, {kShared + (16u << 20) - 4}).shared_passes, 1u);
  EXPECT_EQ(Summarize("LD.E", 1, {kShared + (16u << 20)}).global_sectors, 1u);
  EXPECT_EQ(Summarize("LD.E", 1, {kShared - 4}).global_sectors, 1u);
}

TEST_F(AccessSummaryTest, NoActiveLaneNoAccess) {
  const AccessSummary s = Summarize("LDG.E.128", 0, {});
  EXPECT_FALSE(s.accesses_memory);
  EXPECT_EQ(s.global_sectors, 0u);
  EXPECT_FALSE(Summarize("FADD", ~LaneMask{0}, {}).accesses_memory);
}

TEST_F(AccessSummaryTest, BankConflictPasses) {
  EXPECT_EQ(Strided("LDS", 0, 4).bank_conflict_passes(), 0u);
  EXPECT_EQ(Strided("LDS", 0, 0).shared_passes, 1u);  // one word for all
  EXPECT_EQ(Strided("LDS", 0, 8).shared_passes, 2u);
  EXPECT_EQ(Strided("LDS", 0, 128).shared_passes, 32u);
  EXPECT_EQ(Strided("LDS", 0, 128).bank_conflict_passes(), 31u);
  EXPECT_EQ(Strided("LDS.64", 0, 8).shared_passes, 2u);
  EXPECT_EQ(Strided("LDS.64", 0, 8).bank_conflict_passes(), 0u);
  EXPECT_EQ(Strided("LDS.128", 0, 16).shared_passes, 4u);
  EXPECT_EQ(Strided("LDS.128", 0, 16).bank_conflict_passes(), 0u);
}

// Sectors are the distinct 32-byte blocks of all bytes touched.
TEST_F(AccessSummaryTest, RandomGathersMatchCounting) {
  std::mt19937_64 random(3);
  for (int round = 0; round < 300; ++round) {
    const auto mask = static_cast<LaneMask>(random() | 1);
    const uint32_t width = round % 2 == 0 ? 4 : 16;
    std::vector<uint64_t> addresses;
    std::set<uint64_t> sectors;
    std::set<uint64_t> lines;
    for (LaneMask rest = mask; rest != 0; rest &= rest - 1) {
      addresses.push_back(0x7f4c80000000 + random() % 8192 / width * width);
      sectors.insert(addresses.back() / 32);
      lines.insert(addresses.back() / 128);
    }
    const AccessSummary s = Summarize(width == 4 ? "LDG.E" : "LDG.E.128", mask, addresses);
    ASSERT_EQ(s.global_sectors, sectors.size());
    ASSERT_EQ(s.global_lines, lines.size());
  }
}

TEST_F(AccessSummaryTest, HighAddressesWrapWithoutLoss) {
  EXPECT_EQ(Strided("LDG.E.128", 0xffff800012340000, 16).global_sectors, 16u);
  EXPECT_EQ(Summarize("LDG.E", 3, {0xfffffffffffffffc, 0}).global_sectors, 2u);
}

}  // namespace
}  // namespace sm89
