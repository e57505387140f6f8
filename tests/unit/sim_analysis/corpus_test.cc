// The analyses over every cubin of the reference corpus.
#include "tests/unit/sim_analysis/corpus.h"

#include <gtest/gtest.h>

#include <set>

#include "sim/analysis/cfg.h"
#include "sim/analysis/liveness.h"
#include "sim/analysis/stalls.h"
#include "sim/sass/decode.h"

namespace sm89::analysis {
namespace {

constexpr double kLivePercent = 99.5;  // README.md gives the reasons for the rest

// Calls visit(path, module, code, cfg) for every function.
template <class Visit>
void ForEachFunction(Visit visit) {
  for (const auto& path : CorpusCubins()) {
    const auto module = cubin::OpenCubin(path.string(), ArchOf(path));
    ASSERT_TRUE(module.ok()) << path << ": " << module.status().message();
    for (const cubin::Function& function : module->functions) {
      const auto code = DecodeFunction(*module, function);
      ASSERT_TRUE(code.ok()) << code.status().message();
      visit(path, *code, BuildCfg(*code));
    }
  }
}

TEST(CorpusTest, LiveRegistersAreTheDisassemblers) {
  const LiveTable table = ReadLiveTable();
  if (table.empty() || CorpusCubins().empty()) GTEST_SKIP() << "../shared/sass is not here";
  uint64_t rows = 0, equal = 0;
  ForEachFunction([&](const auto& path, const Code& code, const Cfg& cfg) {
    const auto found = table.find({path.stem().string(), code.function->name});
    if (found == table.end()) return;
    const Liveness live = ComputeLiveness(code, cfg);
    const std::vector<LiveRow>& want = found->second;
    ASSERT_EQ(want.size(), live.counts.size()) << path << " " << code.function->name;
    for (size_t i = 0; i < want.size(); ++i) {
      if (want[i].general < 0) continue;
      const LiveCounts& got = live.counts[i];
      const auto same = [](int value, uint32_t count) {
        return value < 0 || value == static_cast<int>(count);
      };
      ++rows;
      equal += same(want[i].general, got.general) && same(want[i].pred, got.pred) &&
                       same(want[i].uniform, got.uniform)
                   ? 1
                   : 0;
    }
  });
  const double percent = 100.0 * static_cast<double>(equal) / static_cast<double>(rows);
  std::printf("%llu of %llu rows have the listing's live registers (%.3f %%)\n",
              static_cast<unsigned long long>(equal), static_cast<unsigned long long>(rows), percent);
  EXPECT_GT(rows, 190'000u);
  EXPECT_GE(percent, kLivePercent);
}

// ptxas leaves seven reads of undefined registers in the corpus, all halves of a register that it merges
// into.
TEST(CorpusTest, AlmostNothingIsReadThatWasNeverWritten) {
  if (CorpusCubins().empty()) GTEST_SKIP() << "../shared/sass is not here";
  std::set<std::string> kernels;
  uint32_t checked = 0;
  ForEachFunction([&](const auto& path, const Code& code, const Cfg& cfg) {
    if (ArchOf(path) != 89 || cfg.has_calls || !code.function->is_kernel) return;
    ++checked;
    for (const UndefinedRead& read : FindUndefinedReads(code, cfg)) {
      kernels.insert(path.stem().string() + " " + code.function->name);
      const sass::Instruction& inst = code.insts[read.instruction];
      // PRMT and VABSDIFF keep a part of what they overwrite.
      EXPECT_TRUE(inst.op == sass::Op::kPrmt || inst.op == sass::Op::kVabsdiff)
          << path << " " << code.function->name << ": " << sass::Print(inst, {});
    }
  });
  EXPECT_GT(checked, 890u);
  EXPECT_EQ(kernels.size(), 7u);
}

TEST(CorpusTest, NoValueIsUsedBeforeItsCounterIsWaitedFor) {
  if (CorpusCubins().empty()) GTEST_SKIP() << "../shared/sass is not here";
  uint32_t uses = 0;
  ForEachFunction([&](const auto& path, const Code& code, const Cfg& cfg) {
    const ScoreboardCheck check = CheckScoreboards(code, cfg);
    uses += check.uses;
    for (const ScoreboardFault& fault : check.faults) {
      ADD_FAILURE() << path << " " << code.function->name << ": " << fault.reg << " of "
                    << sass::Print(code.insts[fault.producer], {}) << " in "
                    << sass::Print(code.insts[fault.consumer], {});
    }
  });
  std::printf("%u values of counter-tagged producers checked\n", uses);
  EXPECT_GT(uses, 10'000u);
}

// The file's own tables name the exits and the targets of indirect branches.
TEST(CorpusTest, BlocksEndAtTheExitsThatTheFileNames) {
  if (CorpusCubins().empty()) GTEST_SKIP() << "../shared/sass is not here";
  uint32_t exits = 0, indirect = 0;
  ForEachFunction([&](const auto& path, const Code& code, const Cfg& cfg) {
    for (const uint32_t offset : code.function->exit_offsets) {
      const uint32_t index = static_cast<uint32_t>(offset / kInstBytes);
      ASSERT_EQ(code.insts[index].op, sass::Op::kExit) << path;
      ASSERT_EQ(cfg.blocks[cfg.block_of[index]].end, index + 1) << path;
      ++exits;
    }
    for (const Block& block : cfg.blocks) {
      for (const Edge& edge : block.successors) indirect += edge.kind == EdgeKind::kIndirect ? 1 : 0;
      ASSERT_LT(block.first, block.end);
    }
  });
  EXPECT_GT(exits, 987u);
  EXPECT_GT(indirect, 8u);
}

}  // namespace
}  // namespace sm89::analysis
