// Kernel names, pairs, reports and errors.
#include "sim/calibrate/match.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "sim/calibrate/kernel_name.h"
#include "tests/support/expect_file.h"

namespace sm89::calibrate {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(KernelName, SpellingsOfOneKernelAreEqual) {
  for (const char* name : {"_Z7row_sumPfi", "row_sum(float *, int)", "row_sum(float*, int)"})
    EXPECT_EQ(CanonicalName(name), "row_sum(float*,int)") << name;
  for (const char* name :
       {"_Z4axpyIfLi4EEvPT_PKS0_i", "void axpy<float, 4>(float *, const float *, int)",
        "void axpy<float, (int)4>(float *, const float *, int)",
        "void axpy<float, 4>(float*, float const*, int)", "void axpy<float, 4u>(float*, float const*, int)"})
    EXPECT_EQ(CanonicalName(name), "axpy<float,4>(float*,float*,int)") << name;
  EXPECT_EQ(CanonicalName("void f<(bool)1, (unsigned int)32>(int)"), "f<1,32>(int)");
  EXPECT_EQ(CanonicalName("constant_fill(int)"), "constant_fill(int)");
  EXPECT_EQ(CanonicalName("k4u"), "k4u");
  EXPECT_EQ(CanonicalName("gemm_tile"), "gemm_tile");
  EXPECT_EQ(CanonicalName("_Zbroken"), "_Zbroken");
  EXPECT_EQ(BaseName("a::b::axpy<float,4>(float*)"), "axpy");
  EXPECT_EQ(BaseName("(anonymousnamespace)::k(int)"), "k");
  EXPECT_EQ(BaseName("gemm_tile"), "gemm_tile");
  EXPECT_TRUE(IsBareName("gemm"));
  EXPECT_FALSE(IsBareName("gemm(int)"));
}

MeasuredKernel M(const std::string& name, uint64_t grid, double cycles, uint64_t instances = 0) {
  MeasuredKernel kernel{.name = name, .instances = instances};
  if (instances == 0) {
    kernel.grid = Dimensions{grid, 1, 1};
    kernel.block = Dimensions{64, 1, 1};
  }
  kernel.metrics[kCyclesMetric] = cycles;
  return kernel;
}
SimulatedKernel S(const std::string& name, uint64_t grid, double cycles) {
  return {.name = name, .grid = {grid, 1, 1}, .block = {64, 1, 1}, .metrics = {{kCyclesMetric, cycles}}};
}

TEST(Match, CaseMatchByName55) {
  const std::string folder = std::string(SM89_SOURCE_DIR) + "/../shared/cases/55-match-by-name";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << folder << " is absent";
  const auto expect = testing::ReadExpect(folder + "/expect.txt");
  const auto measured = ReadMeasuredFile(folder + "/ncu.csv");
  ASSERT_TRUE(measured.ok()) << measured.status();
  // Names, grids and blocks of the case's trace.
  const std::vector<SimulatedKernel> simulated = {S("_Z7row_sumPfi", 2, 1), S("_Z7col_sumPfi", 2, 1),
                                                  S("_Z7row_sumPfi", 8, 1)};
  const Matching matching = Match(measured->kernels, simulated);
  const std::vector<std::string> pairs = testing::SplitFact(expect.at("pairs"));
  const std::vector<std::string> cycles = testing::SplitFact(expect.at("measured_cycles"));
  ASSERT_EQ(matching.pairs.size(), pairs.size());
  for (size_t i = 0; i < pairs.size(); ++i) {
    const Pair& pair = matching.pairs[i];
    EXPECT_EQ("kernel-" + std::to_string(pair.simulated[0] + 1) + ":" + std::to_string(pair.measured),
              pairs[i]);
    EXPECT_EQ(measured->kernels[pair.measured].metrics.at(kCyclesMetric), std::stod(cycles[i]));
  }
  EXPECT_THAT(matching.unpaired_measured, IsEmpty());
  EXPECT_THAT(matching.unpaired_simulated, IsEmpty());
}

TEST(Match, ByOccurrenceAndWithLeftovers) {
  const Matching matching =
      Match({M("a(int)", 1, 10), M("a(int)", 1, 20), M("b(int)", 1, 5), M("a(int)", 9, 7)},
            {S("a(int)", 1, 1), S("c(int)", 1, 1), S("a(int)", 1, 1), S("a(int)", 1, 1)});
  ASSERT_EQ(matching.pairs.size(), 2u);
  EXPECT_EQ(matching.pairs[0].measured, 0u);
  EXPECT_THAT(matching.pairs[1].simulated, ElementsAre(2));
  EXPECT_EQ(matching.pairs[1].measured, 1u);
  EXPECT_THAT(matching.unpaired_measured, ElementsAre(2, 3));
  EXPECT_THAT(matching.unpaired_simulated, ElementsAre(1, 3));
}

TEST(Match, BareNamesPairWithFullOnesButExactNamesFirst) {
  const Matching matching = Match({M("row_sum", 1, 10), M("row_sum(int)", 1, 20)},
                                  {S("row_sum(int)", 1, 1), S("row_sum(float)", 1, 1)});
  ASSERT_EQ(matching.pairs.size(), 2u);
  EXPECT_EQ(matching.pairs[0].measured, 1u);
  EXPECT_EQ(matching.pairs[1].measured, 0u);
  // Two overloads are not taken for each other.
  EXPECT_EQ(Match({M("f(int)", 1, 1)}, {S("f(float)", 1, 1)}).pairs.size(), 0u);
  const Matching bare = Match({M("void g<4>(int)", 1, 10)}, {S("g", 1, 1)});
  ASSERT_EQ(bare.pairs.size(), 1u);
  EXPECT_EQ(bare.notes.size(), 1u);
}

TEST(Match, ASummaryIsComparedWithTheMean) {
  const std::vector<SimulatedKernel> simulated = {S("a(int)", 1, 100), S("b(int)", 1, 1),
                                                  S("a(int)", 2, 300)};
  const Matching matching = Match({M("a(int)", 0, 250, 3)}, simulated);
  ASSERT_EQ(matching.pairs.size(), 1u);
  EXPECT_THAT(matching.pairs[0].simulated, ElementsAre(0, 2));
  EXPECT_EQ(matching.notes.size(), 1u);  // 3 launches against 2
  EXPECT_EQ(SimulatedValue(matching.pairs[0], simulated, kCyclesMetric), 200);
  EXPECT_EQ(SimulatedValue(matching.pairs[0], simulated, "absent"), std::nullopt);
}

TEST(Errors, AmountsRelativePercentagesInPoints) {
  EXPECT_EQ(ErrorPercent(kCyclesMetric, 200, 210), 5);
  EXPECT_EQ(ErrorPercent("l1tex__t_sector_hit_rate.pct", 50, 48), -2);
  EXPECT_EQ(ErrorPercent("sm__warps_active.avg.pct_of_peak_sustained_active", 50, 48), -2);
  EXPECT_EQ(ErrorPercent("dram__bytes_read.sum", 0, 0), 0);
  EXPECT_EQ(ErrorPercent("dram__bytes_read.sum", 0, 32), std::nullopt);
}

TEST(Report, CountersGetTheNamesOfNsightCompute) {
  const auto simulated = FromReport(R"({"format": "sm89-report/1", "status": "complete", "model_version": "m",
    "trace": {"name": "t", "digest": "d"}, "config": {"name": "c", "digest": "e", "core_khz": 2520000, "num_sms": 4},
    "kernels": [{"name": "k", "grid": [2, 1, 1], "block": [64, 1, 1], "cycles": 1000,
                 "statistics": {"sm": {"active_cycles": 400}, "dram": {"read_sectors": 10}},
                 "derived": {"time_us": 0.5, "l1_hit_rate": null}}],
    "definitions": {"sm_active_cycles": {"unit": "cycles", "ncu_metric": "sm__cycles_active.sum"},
                    "dram_read_sectors": {"unit": "sectors", "ncu_metric": "dram__sectors_read.sum"},
                    "l1_hit_rate": {"unit": "%", "ncu_metric": "l1tex__t_sector_hit_rate.pct"},
                    "time_us": {"unit": "us", "ncu_metric": "gpu__time_duration.sum"}}})");
  ASSERT_TRUE(simulated.ok()) << simulated.status();
  const auto& metrics = simulated->kernels.at(0).metrics;
  EXPECT_EQ(metrics.at(kCyclesMetric), 1000);
  EXPECT_EQ(metrics.at(kDurationMetric), 500);
  EXPECT_EQ(metrics.at("sm__cycles_active.avg"), 100);
  EXPECT_EQ(metrics.at("dram__bytes_read.sum"), 320);
  EXPECT_FALSE(metrics.contains("l1tex__t_sector_hit_rate.pct"));
  EXPECT_FALSE(FromReport("{}").ok());
  EXPECT_FALSE(FromReport(R"({"format": "sm89-report/1", "status": "cycle_limit"})").ok());
}

}  // namespace
}  // namespace sm89::calibrate
