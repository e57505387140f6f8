// Rules that bind several settings: each is broken once, and what is next to it holds.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "sim/base/fault.h"
#include "sim/config/config.h"
#include "sim/config/validate.h"

namespace sm89 {
namespace {

using ::testing::HasSubstr;

struct Case {
  std::string text;
  std::string message;  // empty = accepted
};

std::ostream& operator<<(std::ostream& out, const Case& c) { return out << c.text; }

class ConfigRules : public ::testing::TestWithParam<Case> {};

TEST_P(ConfigRules, AreChecked) {
  const auto config = LoadConfigText("text", GetParam().text, {}, {});
  if (GetParam().message.empty()) {
    EXPECT_TRUE(config.ok()) << config.status();
    return;
  }
  const std::vector<Fault> faults = FaultsOf(config.status());
  ASSERT_EQ(faults.size(), 1u) << config.status();
  EXPECT_THAT(faults[0].message, HasSubstr(GetParam().message));
  EXPECT_EQ(faults[0].file, "text");
  EXPECT_EQ(faults[0].line, 1u);
  EXPECT_FALSE(faults[0].expected.empty());
  EXPECT_FALSE(faults[0].value.empty());
}

INSTANTIATE_TEST_SUITE_P(
    All, ConfigRules,
    ::testing::Values(
        Case{"-gpgpu_n_clusters 1024 -gpgpu_n_cores_per_cluster 1", ""},
        Case{"-gpgpu_n_clusters 1024 -gpgpu_n_cores_per_cluster 2", "2048 SMs in all"},
        Case{"-gpgpu_shader_core_pipeline 1664:32", ""},
        Case{"-gpgpu_shader_core_pipeline 1600:32", "1600 threads do not divide"},
        Case{"-gpgpu_shader_registers 66560", ""},
        Case{"-gpgpu_shader_registers 65792", "65792 registers do not divide"},
        Case{"-gpgpu_shmem_option 0,100,127", ""},
        Case{"-gpgpu_shmem_option 0,100,128", "a carve-out of 128 KiB leaves no data cache"},
        Case{"-gpgpu_shmem_option 0,64",
             "the largest CTA takes 102400 bytes, the largest carve-out has 65536"},
        Case{"-gpgpu_sm89_max_shmem_per_cta 101377", "the largest CTA takes 102401 bytes"},
        Case{"-gpgpu_cache:dl1 S:4:128:257,L:T:m:L:L,A:384:48,16", "sets x line x ways is 131584 bytes"},
        Case{"-gpgpu_cache:dl1 none", "no SM without an L1"},
        Case{"-gpgpu_cache:dl1 N:4:128:64,L:T:m:L:L,A:384:48,16", "the L1 data cache has sectors"},
        Case{"-gpgpu_cache:dl2 none", "no GPU without an L2"},
        Case{"-gpgpu_cache:dl2 N:4:128:64,L:T:m:L:L,A:384:48,16", "the L2 has sectors"},
        Case{"-gpgpu_cache:dl2 S:65536:128:16,L:B:m:L:L,A:192:4,32", "the L2 has 6442450944 bytes in all"},
        Case{"-gpgpu_n_sub_partition_per_mchannel 32 -gpgpu_n_mem 33 -gpgpu_cache:dl2 "
             "S:8:128:16,L:B:m:L:L,A:192:4,32",
             "1056 L2 slices in all"},
        Case{"-gpgpu_sm89_l2_slice_count 24", ""},
        Case{"-gpgpu_sm89_l2_slice_count 12", "12 L2 slices do not divide over 24 DRAM channels"},
        Case{"-gpgpu_sm89_l2_slice_capacity_kb 6144", ""},
        Case{"-gpgpu_sm89_l2_slice_capacity_kb 1537",
             "1573888 bytes do not divide into sets of 16 ways x 128 bytes"},
        Case{"-gpgpu_sm89_l2_slice_capacity_kb 10924", "the L2 has 536936448 bytes in all"},
        Case{"-gpgpu_sm89_noc_latency_spread 188", "half the spread of 188 leaves no latency"},
        Case{"-gpgpu_sm89_window_cycles 65", ""},
        Case{"-gpgpu_sm89_window_cycles 66", "a window of 66 cycles exceeds"},
        Case{"-gpgpu_sm89_noc_reply_latency 60", "a window of 32 cycles exceeds"},
        Case{"-gpgpu_sm89_noc_reply_latency 60 -gpgpu_sm89_window_cycles 31", ""},
        Case{"-gpgpu_dram_timing_opt 15:4:12:24:55:24:78:24:8:10:24:4:6:4", "15 banks (nbk) do not divide"},
        Case{"-gpgpu_dram_timing_opt 16:4:12:24:55:24:54:24:8:10:24:4:6:4", "the row cycle RC is below"},
        Case{"-gpgpu_sm89_dram_refresh_time 1900", "a refresh takes as long"},
        Case{"-gpgpu_sm89_dram_rrdl 1000", ""},
        Case{
            "-gpgpu_sm89_dram_rrdl 1000 -gpgpu_sm89_dram_refresh_interval 890",
            "to open the 16 banks of a channel and reach a column takes 777 ns (RRDL), between two refreshes "
            "are 770 ns"},
        Case{"-gpgpu_sm89_dram_faw 1000 -gpgpu_sm89_dram_refresh_interval 890",
             "to open the 16 banks of a channel and reach a column takes 777 ns (FAW), between two refreshes "
             "are 770 ns"},
        Case{"-gpgpu_sm89_deadlock_cycles 10000", ""},
        Case{"-gpgpu_sm89_deadlock_cycles 10000 -gpgpu_sm89_dram_base_latency 4000",
             "after 10000 cycles without progress, one memory access may take"},
        Case{"-gpgpu_dram_buswidth 3", "a channel moves 96 bits"},
        Case{"-gpgpu_dram_buswidth 1",
             "a 32-byte sector takes 8 cycles of the data bus, CCD allows one every 4"},
        Case{"-gpgpu_dram_buswidth 4", ""}, Case{"-gpgpu_num_sched_per_core 1", "48 warps for 1 sub-core(s)"},
        Case{"-gpgpu_cache:dl1 S:224:128:4,L:T:m:L:L,A:384:48,16", ""},
        Case{"-gpgpu_cache:dl1 S:225:128:4,L:T:m:L:L,A:384:48,16", "the largest carve-out leaves 28 KiB"},
        Case{"-gpgpu_dram_buswidth 16 -dram_data_command_freq_ratio 4", "a channel moves 512 bits"},
        Case{"-gpgpu_sm89_dram_write_low_mark 47", ""},
        Case{"-gpgpu_sm89_dram_write_low_mark 48", "writes end at 48 and begin at 48"},
        Case{"-gpgpu_sm89_dram_write_high_mark 128", ""},
        Case{"-gpgpu_sm89_dram_write_high_mark 129",
             "a queue of 128 writes never reaches the high mark of 129"},
        Case{"-gpgpu_sm89_l0i_size 16", ""},
        Case{"-gpgpu_sm89_l0i_ways 24", "32768 bytes do not divide into sets of 24 ways x 128 bytes"},
        Case{"-gpgpu_sm89_l1i_size 127", "130048 bytes do not divide into sets of 16 ways x 128 bytes"},
        Case{"-gpgpu_sm89_constant_l0_size 448", "448 bytes do not divide into sets of 2 ways x 64 bytes"},
        Case{"-gpgpu_sm89_constant_l1_ways 7", "2048 bytes do not divide into sets of 7 ways x 64 bytes"},
        Case{"-gpgpu_sm89_constant_line_bytes 512 -gpgpu_sm89_constant_l1_ways 4",
             "512 bytes do not divide into sets of 2 ways x 512 bytes"},
        Case{"-gpgpu_sm89_constant_l0_miss_cycles 80", "a miss of both caches takes 79 cycles"},
        Case{"-gpgpu_sm89_constant_l0_miss_cycles 79", ""}, Case{"-gpgpu_kernel_launch_latency 999999", ""}));

TEST(ConfigRulesOf, TheDefaultsHold) { EXPECT_TRUE(settings::CheckRules(GpuConfig{}).empty()); }

TEST(ConfigRulesOf, AFaultStandsAtTheSettingThatSomebodyGave) {
  const std::vector<NamedOverride> overrides = {{"gpgpu_unified_l1d_size", "64"}};
  const auto config = LoadConfigText("text", "-gpgpu_n_mem 24", overrides, {});
  const std::vector<Fault> faults = FaultsOf(config.status());
  ASSERT_EQ(faults.size(), 2u) << config.status();  // carve-outs and the L1's size
  for (const Fault& fault : faults) {
    EXPECT_EQ(fault.file, "override");
    EXPECT_EQ(fault.field, "-gpgpu_unified_l1d_size");
  }
  EXPECT_EQ(faults[0].facts[0].second, "-gpgpu_shmem_option,-gpgpu_unified_l1d_size");
}

TEST(ConfigRulesOf, AreNotJudgedWhileAValueIsMissing) {
  const auto config =
      LoadConfigText("text", "-gpgpu_sm89_window_cycles 66 -gpgpu_sm89_noc_request_latency x", {}, {});
  EXPECT_EQ(FaultsOf(config.status()).size(), 1u) << config.status();
}

}  // namespace
}  // namespace sm89
