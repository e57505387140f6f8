// The analyses on the small kernels of tests/data/analysis/scale.cu.
#include <gtest/gtest.h>

#include <algorithm>

#include "nlohmann/json.hpp"
#include "sim/analysis/bank_conflicts.h"
#include "sim/analysis/listing.h"
#include "sim/analysis/mix.h"
#include "sim/analysis/module_info.h"
#include "sim/analysis/spills.h"
#include "sim/analysis/stalls.h"
#include "tests/unit/sim_analysis/corpus.h"

namespace sm89::analysis {
namespace {

class FixtureTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto module = cubin::OpenCubin(Fixture("scale.sm_89.cubin"));
    ASSERT_TRUE(module.ok()) << module.status().message();
    module_ = *std::move(module);
  }
  const Code& Kernel(const std::string& name) {
    code_ = DecodeFunction(module_, *module_.Find(name)).value();
    cfg_ = BuildCfg(code_);
    return code_;
  }

  cubin::Module module_;
  Code code_;
  Cfg cfg_;
};

// What ptxas -v said of these kernels.
TEST_F(FixtureTest, SpillsAreThoseThatPtxasReports) {
  const SpillReport spilling = FindSpills(Kernel("Spilling"));
  EXPECT_EQ(spilling.total.spill_store_bytes, 760u);
  EXPECT_EQ(spilling.total.spill_load_bytes, 844u);
  EXPECT_EQ(spilling.total.array_loads + spilling.total.array_stores, 0u);
  EXPECT_EQ(spilling.frame_bytes, 344u);
  const SpillReport picked = FindSpills(Kernel("Picked"));
  EXPECT_EQ(picked.total.spill_stores + picked.total.spill_loads, 0u);
  EXPECT_EQ(picked.total.array_store_bytes, 64u + 4 * 4);
  EXPECT_EQ(picked.total.array_load_bytes, 4u);
}

TEST_F(FixtureTest, SpillsAreBySourceLine) {
  const SpillReport report = FindSpills(Kernel("Spilling"));
  uint32_t bytes = 0;
  for (const LocalLine& line : report.lines) {
    EXPECT_GE(line.line.line, 20u);
    bytes += line.spill_store_bytes;
  }
  EXPECT_EQ(bytes, 760u);
  const auto json = nlohmann::json::parse(ToJson(report, code_));
  EXPECT_EQ(json["total"]["spill_load_bytes"], 844);
  EXPECT_EQ(json["accesses"].size(), 401u);
}

TEST_F(FixtureTest, CallsLinkTheKernelAndItsCallee) {
  Kernel("Scale");
  ASSERT_GE(cfg_.functions.size(), 2u);
  EXPECT_TRUE(cfg_.has_calls);
  const auto callee = std::find_if(cfg_.functions.begin(), cfg_.functions.end(), [](const CfgFunction& f) {
    return f.name.find("Smooth") != std::string::npos;
  });
  ASSERT_NE(callee, cfg_.functions.end());
  EXPECT_EQ(callee->call_blocks.size(), 1u);
  EXPECT_FALSE(callee->return_blocks.empty());
  for (const uint32_t block : callee->return_blocks) {
    ASSERT_FALSE(cfg_.blocks[block].successors.empty());
    EXPECT_EQ(cfg_.blocks[block].successors[0].kind, EdgeKind::kReturn);
    EXPECT_EQ(cfg_.blocks[block].successors[0].to, callee->call_blocks[0] + 1);
  }
}

TEST_F(FixtureTest, TheEntryDominatesEveryReachableBlock) {
  Kernel("Scale");
  for (uint32_t b = 1; b < cfg_.blocks.size(); ++b) {
    if (!cfg_.blocks[b].reachable) continue;
    uint32_t at = b, steps = 0;
    while (at != 0 && ++steps <= cfg_.blocks.size()) {
      ASSERT_TRUE(cfg_.immediate_dominator[at].has_value()) << at;
      at = *cfg_.immediate_dominator[at];
    }
    EXPECT_EQ(at, 0u);
  }
}

TEST_F(FixtureTest, PeaksAreBelowTheAllocation) {
  for (const char* name : {"Scale", "Spilling", "Picked"}) {
    const Code& code = Kernel(name);
    const Liveness live = ComputeLiveness(code, cfg_, LiveModel::kExact);
    EXPECT_LE(live.functions[0].general, code.function->registers) << name;
    EXPECT_FALSE(live.lines.empty());
  }
  const Liveness live = ComputeLiveness(Kernel("Spilling"), cfg_);
  EXPECT_GE(live.functions[0].general, 36u) << "a spilling kernel uses what it may";
}

TEST_F(FixtureTest, ListingCarriesLabelsLinesAndControl) {
  const Code& code = Kernel("Scale");
  const Listing listing = MakeListing(code, cfg_, ComputeLiveness(code, cfg_));
  ASSERT_EQ(listing.rows.size(), code.insts.size());
  const std::string text = ToText(listing, code);
  EXPECT_NE(text.find("// scale.cu:"), std::string::npos);
  // Every label that an operand names stands before some row.
  for (const ListingRow& row : listing.rows) {
    const size_t at = row.text.find("`(");
    if (at == std::string::npos || row.text.find("RET") != std::string::npos) continue;
    const std::string label = row.text.substr(at + 2, row.text.find(')', at) - at - 2);
    EXPECT_TRUE(std::any_of(listing.rows.begin(), listing.rows.end(), [&](const ListingRow& r) {
      return r.label == label;
    })) << row.text;
  }
  EXPECT_EQ(nlohmann::json::parse(ToJson(listing, code))["instructions"].size(), code.insts.size());
}

TEST_F(FixtureTest, MixAddsUp) {
  const Code& code = Kernel("Spilling");
  const InstructionMix mix = CountMix(code);
  uint32_t by_class = 0, by_mnemonic = 0;
  for (const MixRow& row : mix.classes) by_class += row.count;
  for (const MixRow& row : mix.mnemonics) by_mnemonic += row.count;
  EXPECT_EQ(by_class, code.NumUsed());
  EXPECT_EQ(by_mnemonic, code.NumUsed());
  EXPECT_EQ(
      mix.mnemonics[0].count,
      std::max_element(mix.mnemonics.begin(), mix.mnemonics.end(), [](const MixRow& a, const MixRow& b) {
        return a.count < b.count;
      })->count);
}

TEST_F(FixtureTest, InfoDescribesKernelsAndOccupancy) {
  const auto info = DescribeModule(module_, SmConfig(), LaunchShape{.block_threads = 128});
  ASSERT_TRUE(info.ok());
  const auto json = nlohmann::json::parse(ToJson(*info));
  ASSERT_EQ(json["kernels"].size(), 3u);
  for (const auto& kernel : json["kernels"]) {
    if (kernel["name"] != "Spilling") continue;
    EXPECT_EQ(kernel["registers"], 40);
    EXPECT_EQ(kernel["local_bytes"], 344);
    EXPECT_EQ(kernel["params"].size(), 3u);
    EXPECT_EQ(kernel["occupancy"]["ctas_per_sm"], 12);
    EXPECT_EQ(kernel["line_information"], true);
  }
  EXPECT_EQ(json["arch"], 89);
  EXPECT_NE(ToText(*info).find("limited by"), std::string::npos);
}

TEST_F(FixtureTest, LoadsAreWaitedForByTheirUsers) {
  const Code& code = Kernel("Picked");
  const StallReport report = AnalyseStalls(code, cfg_);
  uint32_t load_waits = 0;
  for (uint32_t i = 0; i < code.NumUsed(); ++i) {
    for (const CounterWait& wait : report.insts[i].waits) {
      for (const uint32_t producer : wait.producers) {
        EXPECT_LT(producer, code.insts.size());
        load_waits += wait.write && code.insts[producer].op == sass::Op::kLdg ? 1 : 0;
      }
    }
  }
  EXPECT_GE(load_waits, 4u);
  uint32_t cycles = 0;
  for (const BlockStall& block : report.blocks) {
    EXPECT_GE(block.stall_cycles, block.instructions);
    cycles += block.stall_cycles;
  }
  EXPECT_GT(cycles, code.NumUsed());
}

}  // namespace
}  // namespace sm89::analysis
