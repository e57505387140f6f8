// Single instructions: roles of operands, register banks, convergence of small graphs, fragment layouts.
#include <gtest/gtest.h>

#include <set>

#include "nlohmann/json.hpp"
#include "sim/analysis/bank_conflicts.h"
#include "sim/analysis/cfg.h"
#include "sim/analysis/effects.h"
#include "sim/analysis/liveness.h"
#include "sim/analysis/mma_diagram.h"
#include "sim/analysis/stalls.h"
#include "tests/unit/sim_analysis/corpus.h"

namespace sm89::analysis {
namespace {

constexpr uint64_t kFadd[2] = {0x000000000b067221, 0x000fe20000000000};  // FADD R6, R11, R0
constexpr uint64_t kExit[2] = {0x000000000000794d, 0x000fea0003800000};  // EXIT

// FFMA Rd, Ra, Rb, Rc with reuse of B when asked.
std::vector<uint64_t> Ffma(uint64_t d, uint64_t a, uint64_t b, uint64_t c, bool reuse_b = false) {
  return {0x7223 | d << 16 | a << 24 | b << 32, 0x000fe20000000000 | c | (reuse_b ? uint64_t{1} << 59 : 0)};
}
std::vector<uint64_t> Join(std::vector<std::vector<uint64_t>> parts) {
  std::vector<uint64_t> words;
  for (const auto& part : parts) words.insert(words.end(), part.begin(), part.end());
  return words;
}

TEST(EffectsTest, ReadsAndWritesByRole) {
  const LiteralCode f({kFadd[0], kFadd[1]});
  const Effects effects = EffectsOf(f.code.insts[0]);
  EXPECT_TRUE(effects.writes.Has(RegFile::kGeneral, 6));
  EXPECT_TRUE(effects.reads.Has(RegFile::kGeneral, 11));
  EXPECT_TRUE(effects.reads.Has(RegFile::kGeneral, 0));
  EXPECT_EQ(effects.reads.Count(RegFile::kGeneral), 2u);
  EXPECT_TRUE(effects.unconditional);
}

TEST(EffectsTest, AGuardIsReadAndKeepsTheOldValue) {
  // @!P1 FADD R6, R11, R0
  const LiteralCode f({(kFadd[0] & ~uint64_t{0xf000}) | 0x9000, kFadd[1], kExit[0], kExit[1]});
  const Effects effects = EffectsOf(f.code.insts[0]);
  EXPECT_TRUE(effects.reads.Has(RegFile::kPred, 1));
  EXPECT_FALSE(effects.unconditional);
}

TEST(RegSetTest, FilesDoNotMix) {
  RegSet set;
  set.Add(RegFile::kPred, 3);
  set.Add(RegFile::kUPred, 3);
  set.Add(RegFile::kUniform, 62);
  set.Add(RegFile::kGeneral, 254);
  set.Remove(RegFile::kPred, 3);
  EXPECT_EQ(set.Count(RegFile::kPred), 0u);
  EXPECT_EQ(set.Count(RegFile::kUPred), 1u);
  std::set<std::string> names;
  set.ForEach([&](RegFile file, unsigned index) { names.insert(RegName(file, index)); });
  EXPECT_EQ(names, (std::set<std::string>{"R254", "UP3", "UR62"}));
}

TEST(LivenessTest, ACountIsWhatLivesBeforePlusWhatIsWritten) {
  // FFMA R8, R2, R4, R6; FFMA R10, R8, R8, R8; EXIT
  const LiteralCode f(Join({Ffma(8, 2, 4, 6), Ffma(10, 8, 8, 8), {kExit[0], kExit[1]}}));
  const Liveness live = ComputeLiveness(f.code, BuildCfg(f.code));
  EXPECT_EQ(live.counts[0].general, 5u) << "R1, R2, R4, R6 and R8";
  EXPECT_EQ(live.counts[1].general, 3u) << "R1, R8 and R10";
  EXPECT_EQ(live.counts[2].general, 1u) << "R1";
  EXPECT_EQ(FindUndefinedReads(f.code, BuildCfg(f.code)).size(), 3u);
}

// The published check numbers: FADD with both operands in one bank 1 bubble, FFMA with three 2.
TEST(BankConflictTest, CountsPortCyclesOfTheMostLoadedBank) {
  const auto extra = [](const std::vector<uint64_t>& words) {
    const LiteralCode f(Join({words, {kExit[0], kExit[1]}}));
    return FindBankConflicts(f.code, BuildCfg(f.code)).extra_cycles;
  };
  EXPECT_EQ(extra(Ffma(1, 2, 4, 6)), 2u);
  EXPECT_EQ(extra(Ffma(1, 2, 4, 5)), 1u);
  EXPECT_EQ(extra({0x0000000402067221, 0x000fe20000000000}), 1u) << "FADD R6, R2, R4";
  EXPECT_EQ(extra({kFadd[0], kFadd[1]}), 0u);
}

TEST(BankConflictTest, ReuseTakesAnOperandOffTheBank) {
  const auto extra = [](bool reuse) {
    const LiteralCode f(Join({Ffma(9, 3, 4, 6, reuse), Ffma(9, 3, 4, 6), {kExit[0], kExit[1]}}));
    return FindBankConflicts(f.code, BuildCfg(f.code));
  };
  EXPECT_EQ(extra(false).extra_cycles, 2u);
  const BankReport with = extra(true);
  EXPECT_EQ(with.extra_cycles, 1u) << "the second FFMA finds R4 in the cache";
  EXPECT_EQ(with.cached_operands, 1u);
}

TEST(BankConflictTest, AWriteEmptiesTheCachesEntry) {
  const LiteralCode f(Join({Ffma(4, 3, 4, 6, true), Ffma(9, 3, 4, 6), {kExit[0], kExit[1]}}));
  EXPECT_EQ(FindBankConflicts(f.code, BuildCfg(f.code)).cached_operands, 0u);
}

TEST(ScoreboardTest, AUseWithoutAWaitIsFound) {
  // LDG.E R4, [R2.64] with write counter 2, then FADD R6, R4, R0: with and without waiting for it.
  const uint64_t load[2] = {0x0000000402047981, 0x000ea4000c1e1900};
  const uint64_t use = 0x0000000004067221;
  const auto check = [&](uint64_t wait_mask) {
    const LiteralCode f({load[0], load[1], use, 0x0000020000000000 | wait_mask << 52, kExit[0], kExit[1]});
    return CheckScoreboards(f.code, BuildCfg(f.code));
  };
  EXPECT_EQ(check(4).faults.size(), 0u);
  EXPECT_EQ(check(4).uses, 1u);
  ASSERT_EQ(check(0).faults.size(), 1u);
  EXPECT_EQ(check(0).faults[0].reg, "R4");
  EXPECT_EQ(check(0).faults[0].producer, 0u);
}

TEST(MmaDiagramTest, EveryLayoutGivesEachPlaceOneElement) {
  const std::vector<std::string> names = MmaNames();
  EXPECT_GT(names.size(), 30u);
  for (const std::string& name : names) {
    const auto picture = DrawMma(name);
    ASSERT_TRUE(picture.ok()) << name;
    for (const FragmentPicture& f : picture->fragments) {
      ASSERT_EQ(f.cells.size(), size_t{f.rows} * f.columns) << name;
      std::set<std::tuple<int, int, int>> places;
      for (const FragmentPicture::Cell& cell : f.cells) {
        EXPECT_LT(cell.lane, 32) << name;
        places.insert({cell.lane, cell.reg, cell.part});
      }
      EXPECT_EQ(places.size(), f.cells.size()) << name << " " << f.matrix;
    }
  }
  EXPECT_EQ(DrawMma("mma.m1n1k1").status().code(), absl::StatusCode::kNotFound);
}

// PTX ISA, mma.m16n8k16 with .f16: a0,a1 in row groupID, a2,a3 in row groupID + 8, a4.. columns from 8 on.
TEST(MmaDiagramTest, M16n8k16IsAsThePtxManualDrawsIt) {
  const auto picture = DrawMma("mma.m16n8k16.f16.f32");
  ASSERT_TRUE(picture.ok());
  const FragmentPicture& a = picture->fragments[0];
  EXPECT_EQ(a.matrix, "A");
  const auto at = [&](uint32_t row, uint32_t column) { return a.cells[row * a.columns + column]; };
  EXPECT_EQ(at(5, 3).lane, 5 * 4 + 1);
  EXPECT_EQ(at(5, 3).reg, 0);
  EXPECT_EQ(at(5, 3).part, 1);
  EXPECT_EQ(at(13, 2).reg, 1);
  EXPECT_EQ(at(5, 10).reg, 2);
  EXPECT_NE(ToText(*picture).find("T21:R0.1"), std::string::npos);
  const std::string svg = ToSvg(*picture);
  EXPECT_EQ(svg.rfind("<svg", 0), 0u);
  EXPECT_NE(svg.find("T21:R0.1"), std::string::npos);
  EXPECT_EQ(nlohmann::json::parse(ToJson(*picture))["fragments"].size(), 3u);
}

}  // namespace
}  // namespace sm89::analysis
