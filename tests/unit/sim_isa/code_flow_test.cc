// Successors and guards from machine code and from executed instructions.
#include "sim/isa/code_flow.h"

#include <gtest/gtest.h>

#include "tests/unit/sim_isa/cubin_code.h"
#include "tests/unit/sim_isa/decode_helpers.h"

namespace sm89 {
namespace {

std::string Edges(const CodeFlow& flow) {
  std::string text;
  for (const CodeEdge& e : flow.edges) text += std::to_string(e.from) + ">" + std::to_string(e.to) + " ";
  return text;
}

StaticInst Word(uint32_t pc, uint64_t low, uint64_t high) {
  const auto inst = sass::Decode({low, high}, 89);
  EXPECT_TRUE(inst.ok()) << inst.status();
  return MakeStaticInst(*inst, pc, 0);
}

TEST(MachineCodeFlow, FallThroughBranchesAndExits) {
  const std::vector<StaticInst> table = {
      Word(0x00, 0x0000000702027221, 0x000fc80000000000),   // FADD
      Word(0x10, 0xfffffff000000947, 0x000fea000383ffff),   // @P0 BRA -0x20 from behind it: to 0x10 - 0x10
      Word(0x20, 0x000000000000794d, 0x000fea0003800000)};  // EXIT
  const CodeFlow flow = FlowOfMachineCode(table, 89);
  EXPECT_EQ(Edges(flow), "0>1 1>1 1>2 ")
      << "a branch back by 16 bytes from its own end is a branch to itself";
  EXPECT_TRUE(flow.guarded.empty()) << "machine code names its guards";
  std::vector<StaticInst> mixed = table;
  mixed[0].has_encoding = false;
  EXPECT_TRUE(FlowOfMachineCode(mixed, 89).edges.empty());
  EXPECT_TRUE(FlowOfMachineCode({}, 89).edges.empty());
}

// A trace of one warp, kept in memory.
class OneWarp final : public TraceSource {
 public:
  OneWarp(std::vector<StaticInst> table, std::vector<DynInst> insts, bool live = false)
      : table_(std::move(table)), insts_(std::move(insts)), live_(live) {
    info_.kernels.resize(1);
    info_.kernels[0].binary_version = 89;
  }
  const TraceSetInfo& info() const override { return info_; }
  const std::string& digest() const override { return digest_; }
  std::span<const StaticInst> StaticTable(uint32_t) const override { return table_; }
  uint64_t NumCtas(uint32_t) const override { return 3; }
  Dim3 CtaId(uint32_t, uint64_t) const override { return {}; }
  bool live() const override { return live_; }
  absl::StatusOr<std::unique_ptr<CtaTrace>> OpenCta(uint32_t, uint64_t) override {
    ++opened_;
    return std::make_unique<Cta>(insts_);
  }
  int opened() const { return opened_; }

 private:
  class Cursor final : public WarpCursor {
   public:
    explicit Cursor(std::span<const DynInst> insts) : insts_(insts) {}
    bool Next(DynInst* inst) override {
      if (at_ == insts_.size()) return false;
      *inst = insts_[at_++];
      return true;
    }
    const absl::Status& status() const override { return status_; }
    uint64_t remaining() const override { return insts_.size() - at_; }

   private:
    std::span<const DynInst> insts_;
    size_t at_ = 0;
    absl::Status status_;
  };
  class Cta final : public CtaTrace {
   public:
    explicit Cta(std::span<const DynInst> insts) : insts_(insts) {}
    Dim3 id() const override { return {}; }
    uint32_t num_warps() const override { return 2; }
    uint64_t warp_instructions(uint32_t warp) const override { return warp == 0 ? insts_.size() : 0; }
    std::unique_ptr<WarpCursor> OpenWarp(uint32_t warp) const override {
      return warp == 0 ? std::make_unique<Cursor>(insts_) : nullptr;
    }

   private:
    std::span<const DynInst> insts_;
  };

  TraceSetInfo info_;
  std::string digest_;
  std::vector<StaticInst> table_;
  std::vector<DynInst> insts_;
  bool live_;
  int opened_ = 0;
};

std::vector<StaticInst> LoopCode() {
  std::vector<StaticInst> table = {Inst("IADD3", {1}, {2}), Inst("FADD", {3}, {4, 5}),
                                   Inst("ISETP.GE.AND", {}, {1}), Inst("BRA"), Inst("EXIT")};
  for (size_t i = 0; i < table.size(); ++i) table[i].pc = static_cast<uint32_t>(16 * i);
  return table;
}

TEST(TraceFlow, SuccessorsSeenAndGuardsThatMasksShow) {
  constexpr LaneMask kAll = ~LaneMask{0};
  OneWarp source(
      LoopCode(),
      {{0, kAll}, {1, 0xff}, {2, kAll}, {3, kAll}, {0, kAll}, {1, kAll}, {2, kAll}, {3, 0xffff}, {4, kAll}});
  const auto flow = FlowOfTrace(source, 0, 1000);
  ASSERT_TRUE(flow.ok());
  EXPECT_EQ(Edges(*flow), "0>1 1>2 2>3 3>0 3>4 ");
  EXPECT_EQ(flow->guarded, std::vector<uint32_t>{1}) << "the branch's own lanes are no guard";
  EXPECT_EQ(source.opened(), 3);
}

TEST(TraceFlow, StopsAtTheLimit) {
  constexpr LaneMask kAll = ~LaneMask{0};
  OneWarp source(LoopCode(), {{0, kAll}, {1, kAll}, {2, kAll}, {3, kAll}, {4, kAll}});
  const auto flow = FlowOfTrace(source, 0, 3);
  ASSERT_TRUE(flow.ok());
  EXPECT_EQ(Edges(*flow), "0>1 1>2 ");
  EXPECT_EQ(source.opened(), 1);
}

TEST(CollectFlow, NeverOpensBlocksOfALiveSource) {
  OneWarp live(LoopCode(), {{0, 1}, {1, 1}}, true);
  const auto none = CollectFlow(live, 0);
  ASSERT_TRUE(none.ok());
  EXPECT_TRUE(none->edges.empty());
  EXPECT_EQ(live.opened(), 0);
  OneWarp stored(LoopCode(), {{0, 1}, {1, 1}});
  const auto walked = CollectFlow(stored, 0);
  ASSERT_TRUE(walked.ok());
  EXPECT_EQ(Edges(*walked), "0>1 ");
}

}  // namespace
}  // namespace sm89
