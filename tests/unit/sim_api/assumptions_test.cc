// What a report says that the model assumes: what can matter to its kernels, and nothing else.
#include "sim/api/assumptions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sm89 {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

KernelReport Kernel(std::string control_bits, bool machine_code) {
  KernelReport k;
  k.control_bits = std::move(control_bits);
  k.control_bits_present = machine_code;
  return k;
}

TEST(Assumptions, ControlBitsByKernel) {
  RunReport run;
  run.kernels = {Kernel("machine code", true), Kernel("machine code of a.cubin", false)};
  EXPECT_THAT(AssumptionsOf(run, {}), Not(Contains(HasSubstr("synthesised"))));
  run.kernels.push_back(Kernel("synthesised", false));
  EXPECT_THAT(AssumptionsOf(run, {}), Contains(HasSubstr("kernels without machine code")));
  EXPECT_THAT(AssumptionsOf(run, {}), Not(Contains(HasSubstr("set aside"))));
  run.kernels.back().control_bits_present = true;
  EXPECT_THAT(AssumptionsOf(run, {}), Not(Contains(HasSubstr("kernels without machine code"))));
  EXPECT_THAT(AssumptionsOf(run, {}), Contains(HasSubstr("set aside")));
}

TEST(Assumptions, SwitchesOfTheConfiguration) {
  GpuConfig config;
  for (const std::string& text : AssumptionsOf({}, config)) EXPECT_THAT(text, Not(HasSubstr("always hit")));
  config.front.perfect_icache = true;
  config.constant.perfect_l0 = true;
  config.registers.reuse_cache = false;
  config.tlb.entries = 0;
  const std::vector<std::string> all = AssumptionsOf({}, config);
  EXPECT_EQ(all.size(), AssumptionsOf({}, {}).size() + 4);
  EXPECT_THAT(all, Contains("L0 instruction caches always hit"));
  EXPECT_THAT(all, Contains("address translation takes no time"));
}

TEST(Assumptions, WhatIsConfiguredOfTheL2) {
  GpuConfig config;
  EXPECT_THAT(AssumptionsOf({}, config), Contains(HasSubstr("L2 slice hash: even over all slices")));
  config.l2.hash = 1;
  config.l2.slice_gb_per_s_x10 = 1280;
  const std::vector<std::string> all = AssumptionsOf({}, config);
  EXPECT_THAT(all, Contains(HasSubstr("L2 slice hash: line number modulo slices")));
  EXPECT_THAT(all, Contains(HasSubstr("L2 slices: at most 128 GB/s each, as configured")));
}

TEST(Assumptions, WhatIsAssumedOfEveryRun) {
  const std::vector<std::string> all = AssumptionsOf({}, {});
  for (const char* subject : {"RTX A6000", "L2 slice hash", "L2 latency", "DRAM timing",
                              "address translation", "shader execution reordering"}) {
    EXPECT_THAT(all, Contains(HasSubstr(subject)));
  }
  EXPECT_THAT(all, Not(Contains(HasSubstr("clock read"))));
  RunReport run;
  run.kernels = {Kernel("machine code", true)};
  run.kernels[0].clock_reads.warp_instructions = 2;
  run.kernels[0].clock_reads.pairs.resize(1);
  EXPECT_THAT(AssumptionsOf(run, {}), Contains(HasSubstr("clock read")));
}

TEST(Assumptions, ResearchOptionsAreNamedWhenOn) {
  const RunReport run;
  EXPECT_THAT(AssumptionsOf(run, {}), Not(Contains(HasSubstr("research"))));
  GpuConfig config;
  config.ser.enabled = true;
  EXPECT_THAT(AssumptionsOf(run, config), Contains(HasSubstr("research model: a reordering stage")));
  EXPECT_THAT(AssumptionsOf(run, config), Not(Contains(HasSubstr("no shader execution reordering"))));
  config.l2.features.prefetch_distance = 8;
  EXPECT_THAT(AssumptionsOf(run, config), Contains(HasSubstr("prefetch up to 8 of their lines")));
  config.l2.features.num_compressed = 2;
  EXPECT_THAT(AssumptionsOf(run, config), Contains(HasSubstr("2 address range(s) are stored compressed")));
  config.l2.features.interleave_bytes = 64;
  EXPECT_THAT(AssumptionsOf(run, config), Contains(HasSubstr("64 neighbouring bytes lie in one L2 slice")));
}

}  // namespace
}  // namespace sm89
