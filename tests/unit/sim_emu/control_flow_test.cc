// Divergence, convergence barriers and the order of paths.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <random>
#include <string>

#include "sim/emu/emulator.h"
#include "tests/unit/sim_emu/code_builder.h"

namespace sm89::emu {
namespace {

using testing::HasSubstr;

constexpr uint32_t kTid = 3, kFour = 7, kIn = 4, kOut = 8, kX = 10, kAcc = 11, kTemp = 12, kCounter = 16;

// kX = in[tid], kAcc = 0.
void Prologue(CodeBuilder& b) {
  b.Tid(kTid).Mov(kFour, 4).Address(kIn, kTid, kFour, 0).Address(kOut, kTid, kFour, 1);
  b.Ldg(kX, kIn).Mov(kAcc, 0);
}
void Epilogue(CodeBuilder& b) { b.Stg(kOut, kAcc).Exit(); }

struct Ran {
  std::vector<uint32_t> out;
  std::vector<PcCount> counts;
};

Ran RunOk(CodeBuilder& b, const launch::LaunchSpec& launch, const EmuOptions& options = {}) {
  const cubin::Module m = b.Build(1024);
  auto emulator = Emulator::Create(m, launch, options);
  EXPECT_TRUE(emulator.ok()) << emulator.status();
  if (!emulator.ok()) return {};
  const absl::Status status = (*emulator)->RunAll(nullptr);
  EXPECT_TRUE(status.ok()) << status;
  return {Words((*emulator)->buffer(1)), {(*emulator)->counts().begin(), (*emulator)->counts().end()}};
}

absl::Status RunToError(CodeBuilder& b, const launch::LaunchSpec& launch, const EmuOptions& options = {}) {
  const cubin::Module m = b.Build(1024);
  auto emulator = Emulator::Create(m, launch, options);
  EXPECT_TRUE(emulator.ok()) << emulator.status();
  return emulator.ok() ? (*emulator)->RunAll(nullptr) : emulator.status();
}

TEST(ControlFlow, IfElseJoinsAtBsync) {
  CodeBuilder b;
  Prologue(b);
  b.And(kTemp, kX, 1).NotZero(0, kTemp);
  b.Bssy(0, "join").Bra("odd", {0, false});
  b.Add(kAcc, kAcc, 100).Bra("join");
  b.Label("odd").Add(kAcc, kAcc, 7);
  b.Label("join").Bsync(0);
  const size_t after = b.size();
  b.Add(kAcc, kAcc, 1);
  Epilogue(b);
  const Ran ran = RunOk(b, MakeLaunch(1, 64, 64));
  for (uint32_t i = 0; i < 64; ++i) EXPECT_EQ(ran.out[i], (i % 2 != 0 ? 7u : 100u) + 1) << i;
  EXPECT_EQ(ran.counts[after], (PcCount{2, 64, 64}));
  EXPECT_EQ(ran.counts[after - 1], (PcCount{4, 64, 64}));  // each side arrives for itself
  EXPECT_EQ(ran.counts[9], (PcCount{2, 64, 32}));          // the branch
}

// ptxas's check before a vote: REDUX.OR UR4, R; R2UR P1, URZ, R; @!P1 BRA.DIV UR4. Every lane must leave the
// converged path when the lanes name different masks, although together they name all.
TEST(ControlFlow, VotesOfTilesLeaveTheConvergedPath) {
  for (const bool tiles : {false, true}) {
    CodeBuilder b;
    Prologue(b);
    b.Shr(kTemp, kX, 4).NotZero(0, kTemp);
    b.Mov(kCounter, tiles ? 0xffff : 0xffffffff).Mov(kCounter, tiles ? 0xffff0000 : 0xffffffff, {0, false});
    b.Word(0x00000000000473c4 | uint64_t{kCounter} << 24, 0x000e240000004000);  // REDUX.OR UR4, R16
    b.Word(0x00000000003f73c2 | uint64_t{kCounter} << 24, 0x000e240000020000);  // R2UR P1, URZ, R16
    b.Word(0x0000004204000947, 0x000000000b800000, {1, true});                  // @!P1 BRA.DIV UR4, four on
    b.Add(kAcc, kAcc, 1);
    Epilogue(b);
    b.Nop();
    b.Add(kAcc, kAcc, 7);
    Epilogue(b);
    const Ran ran = RunOk(b, MakeLaunch(1, 32, 32));
    for (uint32_t i = 0; i < 32; ++i) EXPECT_EQ(ran.out[i], tiles ? 7u : 1u) << i;
  }
}

// ptxas computes return addresses from it, with the offset of the LEPC itself.
TEST(ControlFlow, LepcGivesItsOwnAddress) {
  CodeBuilder b;
  Prologue(b);
  const size_t at = b.size();
  b.Word(0x000000000000734e | uint64_t{kAcc} << 16, 0x001fca0000000000);
  Epilogue(b);
  EXPECT_EQ(RunOk(b, MakeLaunch(1, 32, 32)).out[5], at * 16);
}

// Lane 0 leaves the loop first and sets what the others wait for, behind the BSYNC that joins them.
TEST(ControlFlow, LanesGetPastABarrierThatSpinningLanesHold) {
  CodeBuilder b;
  Prologue(b);
  b.Mov(kTemp, 0).Mov(kCounter, 1).NotZero(0, kX);
  b.Sts(kRz, kRz);
  b.Bssy(0, "join");
  b.Label("spin").Yield().Bra("join", {0, true});
  b.Lds(kTemp, kRz).NotZero(1, kTemp).Bra("spin", {1, true});
  b.Label("join").Bsync(0);
  b.Sts(kRz, kCounter);
  b.Add(kAcc, kAcc, 9);
  Epilogue(b);
  const Ran ran = RunOk(b, MakeLaunch(1, 32, 32), {.max_warp_instructions = 100000});
  for (uint32_t i = 0; i < 32; ++i) EXPECT_EQ(ran.out[i], 9u) << i;
}

// WARPSYNC with a register: tiles of one warp that are all there stay one group.
TEST(ControlFlow, WarpsyncOfTilesDoesNotSplitTheWarp) {
  CodeBuilder b;
  Prologue(b);
  b.Shr(kTemp, kX, 4).NotZero(0, kTemp).Mov(kCounter, 0xffff).Mov(kCounter, 0xffff0000, {0, false});
  b.Word(0x0000000000007348 | uint64_t{kCounter} << 32, 0x0000000003800000);
  const size_t after = b.size();
  Epilogue(b);
  EXPECT_EQ(RunOk(b, MakeLaunch(1, 32, 32)).counts[after], (PcCount{1, 32, 32}));
}

TEST(ControlFlow, WithoutABarrierPathsStayApart) {
  CodeBuilder b;
  Prologue(b);
  b.And(kTemp, kX, 1).NotZero(0, kTemp).Bra("odd", {0, false});
  b.Add(kAcc, kAcc, 1);
  b.Label("odd");
  const size_t at = b.size();
  Epilogue(b);
  EXPECT_EQ(RunOk(b, MakeLaunch(1, 32, 32)).counts[at], (PcCount{2, 32, 32}));
}

TEST(ControlFlow, FallThroughPathRunsFirst) {
  CodeBuilder b;  // both sides store to out[0]; the jumping one comes second
  Prologue(b);
  b.Mov(13, 0).Address(14, 13, kFour, 1).And(kTemp, kX, 1).NotZero(0, kTemp);
  b.Bra("odd", {0, false}).Mov(kAcc, 1).Stg(14, kAcc).Exit();
  b.Label("odd").Mov(kAcc, 2).Stg(14, kAcc).Exit();
  EXPECT_EQ(RunOk(b, MakeLaunch(1, 32, 32)).out[0], 2u);
}

TEST(ControlFlow, LanesOfAnIndirectJumpGoWhereTheirRegistersSay) {
  constexpr uint32_t kOffset = 18, kCaseBytes = 32;
  CodeBuilder b;
  Prologue(b);
  b.And(kTemp, kX, 3).Mov(kOffset + 1, 0).Mad(kOffset, kTemp, kCaseBytes, kRz);
  b.Bssy(0, "join").Brx(kOffset);
  for (const uint32_t value : {10, 20, 30, 40}) b.Add(kAcc, kAcc, value).Bra("join");
  b.Label("join").Bsync(0);
  Epilogue(b);
  const Ran ran = RunOk(b, MakeLaunch(1, 32, 32));
  for (uint32_t i = 0; i < 32; ++i) EXPECT_EQ(ran.out[i], (i % 4 + 1) * 10) << i;
}

TEST(ControlFlow, LanesThatBreakAreNotWaitedFor) {
  CodeBuilder b;  // lanes with x & 1 leave the region by BREAK and never come to its BSYNC
  Prologue(b);
  b.And(kTemp, kX, 1).NotZero(0, kTemp).Bssy(0, "join");
  b.Break(0, {0, false}).Bra("away", {0, false});
  b.Label("join").Bsync(0);
  const size_t after = b.size();
  b.Mov(kAcc, 5);
  Epilogue(b);
  b.Label("away").Mov(kAcc, 6);
  Epilogue(b);
  const Ran ran = RunOk(b, MakeLaunch(1, 32, 32));
  for (uint32_t i = 0; i < 32; ++i) EXPECT_EQ(ran.out[i], i % 2 != 0 ? 6u : 5u);
  EXPECT_EQ(ran.counts[after], (PcCount{1, 16, 16}));
}

TEST(ControlFlow, LanesThatExitAreNotWaitedFor) {
  CodeBuilder b;  // the lanes that jump exit inside the region, after the others have come to BSYNC
  Prologue(b);
  b.And(kTemp, kX, 3).NotZero(0, kTemp).Bssy(0, "join").Bra("out", {0, true});
  b.Label("join").Bsync(0).Mov(kAcc, 9);
  Epilogue(b);
  b.Label("out").Exit();
  const Ran ran = RunOk(b, MakeLaunch(1, 32, 32));
  for (uint32_t i = 0; i < 32; ++i) EXPECT_EQ(ran.out[i], i % 4 != 0 ? 9u : 0u);
}

TEST(ControlFlow, WarpsyncGathersTheNamedLanes) {
  CodeBuilder b;
  Prologue(b);
  b.And(kTemp, kX, 1).NotZero(0, kTemp).Bra("odd", {0, false}).Add(kAcc, kAcc, 1);
  b.Label("odd").Warpsync(0xffffffff);
  const size_t after = b.size();
  Epilogue(b);
  EXPECT_EQ(RunOk(b, MakeLaunch(1, 32, 32)).counts[after], (PcCount{1, 32, 32}));
}

TEST(ControlFlow, WarpsyncOfAPartialWarpWaitsForLiveLanesOnly) {
  CodeBuilder b;
  Prologue(b);
  b.NotZero(0, kX).Exit({0, true}).Warpsync(0xffffffff).Mov(kAcc, 3);
  Epilogue(b);
  const Ran ran = RunOk(b, MakeLaunch(1, 20, 32));
  for (uint32_t i = 0; i < 32; ++i) EXPECT_EQ(ran.out[i], i != 0 && i < 20 ? 3u : 0u);
}

TEST(ControlFlow, SpinningLanesLetTheOthersRun) {
  // Odd lanes spin, with no YIELD, until the even ones have stored their flag.
  CodeBuilder b;
  Prologue(b);
  b.Mov(13, 0).Mov(14, 1).Sts(13, 13).And(kTemp, kX, 1).NotZero(0, kTemp).Bra("spin", {0, true});
  b.Label("wait").Lds(kAcc, 13).NotZero(1, kAcc).Bra("wait", {1, true}).Bra("end");
  b.Label("spin").Nop().Nop().Sts(13, 14).Mov(kAcc, 4);
  b.Label("end");
  Epilogue(b);
  const Ran ran = RunOk(b, MakeLaunch(1, 32, 32), {.max_warp_instructions = 100000});
  for (uint32_t i = 0; i < 32; ++i) EXPECT_EQ(ran.out[i], i % 2 != 0 ? 1u : 4u);
}

TEST(ControlFlow, EndlessLoopMeetsTheLimit) {
  CodeBuilder b;
  b.Label("for").Bra("for").Exit();
  const absl::Status status = RunToError(b, MakeLaunch(1, 64, 64), {.max_warp_instructions = 1000});
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(status.message(),
            "kernel k executed 1000 warp instructions, the limit (max_instructions), and had not ended "
            "(CTA (0,0,0) was running)");
}

TEST(ControlFlow, EndlessCtaMeetsItsLimit) {
  CodeBuilder b;
  b.Label("for").Bra("for").Exit();
  const absl::Status status = RunToError(b, MakeLaunch(1, 64, 64), {.max_cta_warp_instructions = 1000});
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(status.message().find("CTA (0,0,0) of kernel k executed "), 0u) << status;
  // A launch of several CTAs within it may go on.
  CodeBuilder two;
  Prologue(two);
  Epilogue(two);
  RunOk(two, MakeLaunch(64, 32, 64 * 32), {.max_cta_warp_instructions = 100});
}

TEST(ControlFlow, EndlessLoopCanBeCancelled) {
  CodeBuilder b;
  b.Label("loop").Bra("loop").Exit();
  const std::atomic<bool> cancel = true;
  EXPECT_EQ(RunToError(b, MakeLaunch(1, 64, 64), {.cancel = &cancel}).code(), absl::StatusCode::kCancelled);
}

TEST(ControlFlow, LimitThatIsJustEnoughIsEnough) {
  CodeBuilder b;
  b.Nop().Nop().Exit();
  EXPECT_TRUE(RunToError(b, MakeLaunch(2, 64, 64), {.max_warp_instructions = 12}).ok());
  CodeBuilder c;
  c.Nop().Nop().Exit();
  EXPECT_FALSE(RunToError(c, MakeLaunch(2, 64, 64), {.max_warp_instructions = 11}).ok());
}

TEST(ControlFlow, RunningPastTheEndIsAnError) {
  CodeBuilder b;
  b.Nop().Nop();
  EXPECT_THAT(std::string(RunToError(b, MakeLaunch(1, 32, 32)).message()),
              HasSubstr("the kernel ran past its last instruction"));
}

// --- Random nests of if/else and loops, against an interpreter that runs each lane alone ---

class Nest {
 public:
  explicit Nest(uint64_t seed) : random_(seed) {}

  // Statements at nesting `depth` into `b`; the same to be run by Interpret.
  void Emit(CodeBuilder& b, int depth) {
    const int n = 1 + static_cast<int>(random_() % 3);
    for (int i = 0; i < n; ++i) {
      switch (depth < 5 ? random_() % 4 : 0) {
        case 1:
          EmitIf(b, depth);
          break;
        case 2:
          EmitLoop(b, depth);
          break;
        default:
          EmitStep(b);
      }
    }
  }

  // Value of kAcc for one lane; counts each step's executions.
  uint32_t Interpret(uint32_t x, std::vector<uint64_t>* steps) const {
    uint32_t acc = 0;
    size_t at = 0;
    Walk(x, &acc, &at, true, steps);
    return acc;
  }

  size_t num_steps() const { return num_steps_; }
  const std::vector<size_t>& step_at() const { return step_at_; }

 private:
  enum class Kind { kStep, kIf, kElse, kEnd, kLoop, kEndLoop };
  struct Node {
    Kind kind;
    uint32_t value = 0;
  };

  void EmitStep(CodeBuilder& b) {
    const auto value = static_cast<uint32_t>(random_()) | 1;
    nodes_.push_back({Kind::kStep, value});
    step_at_.push_back(b.size());
    ++num_steps_;
    b.Mad(kAcc, kAcc, value, kX);
  }

  void EmitIf(CodeBuilder& b, int depth) {
    const auto bit = static_cast<uint32_t>(random_() % 5);
    const std::string id = std::to_string(next_++);
    const auto barrier = static_cast<uint32_t>(depth);
    nodes_.push_back({Kind::kIf, bit});
    b.And(kTemp, kX, 1u << bit).NotZero(0, kTemp).Bssy(barrier, "join" + id).Bra("else" + id, {0, true});
    Emit(b, depth + 1);
    b.Bra("join" + id).Label("else" + id);
    nodes_.push_back({Kind::kElse});
    Emit(b, depth + 1);
    nodes_.push_back({Kind::kEnd});
    b.Label("join" + id).Bsync(barrier);
  }

  // 1 + ((x >> bit) & 3) times.
  void EmitLoop(CodeBuilder& b, int depth) {
    const auto bit = static_cast<uint32_t>(random_() % 4);
    const std::string id = std::to_string(next_++);
    const auto barrier = static_cast<uint32_t>(depth), counter = kCounter + static_cast<uint32_t>(depth);
    nodes_.push_back({Kind::kLoop, bit});
    b.Shr(kTemp, kX, bit).And(counter, kTemp, 3).Add(counter, counter, 1);
    b.Bssy(barrier, "end" + id).Label("loop" + id);
    Emit(b, depth + 1);
    nodes_.push_back({Kind::kEndLoop});
    b.Add(counter, counter, ~0u).NotZero(0, counter).Bra("loop" + id, {0, false});
    b.Label("end" + id).Bsync(barrier);
  }

  // Runs nodes from *at to the end of the block; `run` false: only skips.
  void Walk(uint32_t x, uint32_t* acc, size_t* at, bool run, std::vector<uint64_t>* steps) const {
    while (*at < nodes_.size()) {
      const Node& node = nodes_[(*at)++];
      switch (node.kind) {
        case Kind::kStep:
          if (run) {
            *acc = *acc * node.value + x;
            ++(*steps)[StepOf(*at - 1)];
          }
          break;
        case Kind::kIf: {
          const bool taken = (x >> node.value & 1) != 0;
          Walk(x, acc, at, run && taken, steps);
          Walk(x, acc, at, run && !taken, steps);
          break;
        }
        case Kind::kLoop: {
          const size_t body = *at;
          const uint32_t times = run ? 1 + (x >> node.value & 3) : 1;
          for (uint32_t i = 0; i < times; ++i) {
            *at = body;
            Walk(x, acc, at, run, steps);
          }
          break;
        }
        default:
          return;
      }
    }
  }

  size_t StepOf(size_t node) const {
    size_t step = 0;
    for (size_t i = 0; i < node; ++i) step += nodes_[i].kind == Kind::kStep;
    return step;
  }

  std::mt19937_64 random_;
  std::vector<Node> nodes_;
  std::vector<size_t> step_at_;
  size_t num_steps_ = 0;
  int next_ = 0;
};

TEST(ControlFlowProperty, RandomNestsComputeWhatEachLaneAloneWould) {
  constexpr uint32_t kThreads = 80;  // the last warp is half empty
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(seed);
    CodeBuilder b;
    Prologue(b);
    Nest nest(seed);
    for (int i = 0; i < 3; ++i) nest.Emit(b, 0);
    const size_t joined = b.size();
    Epilogue(b);
    const Ran ran = RunOk(b, MakeLaunch(1, kThreads, kThreads), {.max_warp_instructions = 10'000'000});
    ASSERT_EQ(ran.out.size(), kThreads);
    std::vector<uint64_t> steps(nest.num_steps());
    for (uint32_t i = 0; i < kThreads; ++i) ASSERT_EQ(ran.out[i], nest.Interpret(i, &steps)) << i;
    for (size_t s = 0; s < steps.size(); ++s) EXPECT_EQ(ran.counts[nest.step_at()[s]].threads, steps[s]);
    EXPECT_EQ(ran.counts[joined], (PcCount{3, kThreads, kThreads}));  // whole warps again
  }
}

}  // namespace
}  // namespace sm89::emu
