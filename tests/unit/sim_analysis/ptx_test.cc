// PTX text, and PTX next to the SASS that ptxas made of it.
#include <gtest/gtest.h>

#include <set>

#include "nlohmann/json.hpp"
#include "sim/analysis/ptx_map.h"
#include "sim/analysis/ptx_source.h"
#include "tests/unit/sim_analysis/corpus.h"

namespace sm89::analysis {
namespace {

constexpr char kSmall[] = R"(.version 8.7
.target sm_89
.address_size 64
.global .align 4 .b8 table[4] = {1, 2, 3, 4};
.func (.param .b32 r) Helper(.param .b32 a)
{
  .loc 1 3 5
  mov.u32 %r1, %tid.x; // { not a brace
  ret;
}
.visible .entry Kernel(
  .param .u64 Kernel_param_0
)
{
  .local .align 8 .b8 depot[24];
  .reg .pred %p<2>;
  .loc 1 12 1
$L_top:
  { // callseq 0, 0
  .reg .b32 temp;
  @%p1 bra $L_top;
  }
  mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
    {%f1,%f2,%f3,%f4},
    {%r1,%r2,%r3,%r4}, {%r5,%r6}, {%f1,%f2,%f3,%f4};
  /* exit; */ ret;
}
.file 1 "a.cu"
)";

TEST(PtxSourceTest, FindsFunctionsInstructionsAndPlaces) {
  const auto ptx = ParsePtx(kSmall, "a.ptx");
  ASSERT_TRUE(ptx.ok()) << ptx.status().message();
  EXPECT_EQ(ptx->version, "8.7");
  EXPECT_EQ(ptx->target, "sm_89");
  EXPECT_EQ(ptx->files.at(1), "a.cu");
  ASSERT_EQ(ptx->functions.size(), 2u);
  EXPECT_EQ(ptx->functions[0].name, "Helper");
  EXPECT_FALSE(ptx->functions[0].is_entry);
  EXPECT_EQ(ptx->functions[0].instructions.size(), 2u);
  const PtxFunction* kernel = ptx->Find("Kernel");
  ASSERT_NE(kernel, nullptr);
  EXPECT_TRUE(kernel->is_entry);
  EXPECT_EQ(kernel->depot_bytes, 24u);
  ASSERT_EQ(kernel->instructions.size(), 3u);
  EXPECT_EQ(kernel->instructions[0].opcode, "bra");
  EXPECT_EQ(kernel->instructions[0].text, "@%p1 bra $L_top");
  EXPECT_EQ(kernel->instructions[0].source_line, 12u);
  EXPECT_EQ(kernel->instructions[1].opcode, "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32");
  EXPECT_EQ(kernel->instructions[1].line, 23u);
  EXPECT_EQ(kernel->instructions[1].last_line, 25u);
}

TEST(PtxSourceTest, NamesTheLineOfABraceTooMany) {
  const auto status = ParsePtx(".entry k()\n{\nret;\n}\n}\n", "bad.ptx").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(status.message().find("bad.ptx:5"), std::string::npos) << status.message();
  EXPECT_FALSE(ParsePtx(".entry k()\n{\nret;\n", "open.ptx").ok());
}

class PtxMapTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto module = cubin::OpenCubin(Fixture("scale.sm_89.cubin"));
    ASSERT_TRUE(module.ok()) << module.status().message();
    module_ = *std::move(module);
    auto ptx = ParsePtx(ReadAll(Fixture("scale.ptx")), "scale.ptx");
    ASSERT_TRUE(ptx.ok()) << ptx.status().message();
    ptx_ = *std::move(ptx);
  }
  PtxReport Map(const std::string& kernel) {
    code_ = DecodeFunction(module_, *module_.Find(kernel)).value();
    return MapPtx(code_, ptx_, GpuConfig()).value();
  }

  cubin::Module module_;
  PtxSource ptx_;
  Code code_;
};

TEST_F(PtxMapTest, EverySassInstructionStandsInExactlyOneRow) {
  const PtxReport report = Map("Scale");
  EXPECT_EQ(report.mapping, PtxMapping::kPtxLines);
  std::set<uint32_t> seen;
  uint32_t cycles = 0;
  for (const PtxRow& row : report.rows) {
    for (const uint32_t i : row.sass) EXPECT_TRUE(seen.insert(i).second) << i;
    EXPECT_LE(row.ideal_cycles, row.issue_cycles);
    cycles += row.issue_cycles;
  }
  EXPECT_EQ(seen.size(), code_.NumUsed());
  EXPECT_EQ(cycles, report.total.issue_cycles);
}

// The lines mean the instructions: a PTX division, sine or load leads to the machine's.
TEST_F(PtxMapTest, RowsHoldWhatThePtxSays) {
  const PtxReport report = Map("Scale");
  uint32_t divisions = 0, sines = 0, loads = 0;
  const auto has = [this](const PtxRow& row, sass::Op op) {
    return std::any_of(row.sass.begin(), row.sass.end(), [&](uint32_t i) { return code_.insts[i].op == op; });
  };
  for (const PtxRow& row : report.rows) {
    if (row.ptx.size() != 1) continue;
    const std::string& opcode = row.ptx[0].opcode;
    if (opcode == "div.rn.f32") {
      ++divisions;
      EXPECT_GT(row.Expansion(), 5.0);
      EXPECT_GT(row.ThroughputLost(), 0.5);
      EXPECT_TRUE(has(row, sass::Op::kFchk));
    }
    if (opcode == "sin.approx.f32" && !row.sass.empty()) {
      ++sines;
      EXPECT_TRUE(has(row, sass::Op::kMufu)) << row.ptx_line;
    }
    if (opcode == "ld.global.f32") {
      ++loads;
      EXPECT_TRUE(has(row, sass::Op::kLdg)) << row.ptx_line;
    }
  }
  EXPECT_EQ(divisions, 1u);
  EXPECT_GE(sines, 4u);
  EXPECT_EQ(loads, 1u);
}

TEST_F(PtxMapTest, SpillsAndConvergenceAreMarked) {
  EXPECT_EQ(Map("Spilling").total.spills, 211u + 190u);
  EXPECT_EQ(Map("Picked").total.spills, 0u);
  EXPECT_GT(Map("Scale").total.convergence, 0u);
}

TEST_F(PtxMapTest, WithoutPtxLinesSourceLinesJoinTheTwo) {
  for (cubin::Function& function : module_.functions) function.ptx_lines.clear();
  const PtxReport report = Map("Picked");
  EXPECT_EQ(report.mapping, PtxMapping::kSourceLines);
  EXPECT_EQ(report.total.sass.size(), code_.NumUsed());
  for (cubin::Function& function : module_.functions) function.lines.clear();
  code_ = DecodeFunction(module_, *module_.Find("Picked")).value();
  EXPECT_EQ(MapPtx(code_, ptx_, GpuConfig()).status().code(), absl::StatusCode::kFailedPrecondition);
}

// The cubin carries its PTX; its lines are those of the file.
TEST_F(PtxMapTest, TheEmbeddedPtxGivesTheSameRows) {
  const PtxReport from_file = Map("Scale");
  ASSERT_FALSE(module_.ptx.empty());
  const auto embedded = ParsePtx(module_.ptx, "embedded");
  ASSERT_TRUE(embedded.ok()) << embedded.status().message();
  const PtxReport report = MapPtx(code_, *embedded, GpuConfig()).value();
  ASSERT_EQ(report.rows.size(), from_file.rows.size());
  for (size_t i = 0; i < report.rows.size(); ++i) {
    EXPECT_EQ(report.rows[i].ptx_line, from_file.rows[i].ptx_line);
    EXPECT_EQ(report.rows[i].sass, from_file.rows[i].sass);
    ASSERT_EQ(report.rows[i].ptx.size(), from_file.rows[i].ptx.size());
    for (size_t j = 0; j < report.rows[i].ptx.size(); ++j) {
      EXPECT_EQ(report.rows[i].ptx[j].opcode, from_file.rows[i].ptx[j].opcode);
    }
  }
}

TEST_F(PtxMapTest, RenderingsAgree) {
  const PtxReport report = Map("Scale");
  const auto json = nlohmann::json::parse(ToJson(report, code_, ptx_));
  EXPECT_EQ(json["rows"].size(), report.rows.size());
  EXPECT_EQ(json["total"]["sass_instructions"], code_.NumUsed());
  EXPECT_NE(ToText(report, code_, ptx_).find("div.rn.f32"), std::string::npos);
}

}  // namespace
}  // namespace sm89::analysis
