// Atomics, one word a test, and the mbarrier word.
#include <gtest/gtest.h>

#include <cstring>
#include <functional>

#include "sim/emu/atomic_ops.h"
#include "sim/emu/emulator.h"
#include "tests/unit/sim_emu/code_builder.h"

namespace sm89::emu {
namespace {

// ATOMG.E.op PT, R6, [R4.64], R10 of the given AtomOp and AtomSize.
std::pair<uint64_t, uint64_t> Atomg(uint32_t op, uint32_t size) {
  const uint64_t lo = 0x09a8 | uint64_t{6} << 16 | uint64_t{4} << 24 | uint64_t{10} << 32;
  return {lo, 0x001ee1c4 | uint64_t{0x8} << 24 | uint64_t{op} << 23 | uint64_t{size} << 9};
}

// Runs a kernel of `threads` lanes that all do `op` on in[0] with operand in[1 + tid] + bias; old values go
// to out.
struct Result {
  std::vector<uint32_t> in, out;
};
Result RunAtomg(uint32_t op, uint32_t size, uint32_t threads, uint32_t bias) {
  CodeBuilder b;
  b.Tid(3).Mov(7, 4).Address(12, 3, 7, 0).Ldg(10, 12, 4).Add(10, 10, bias).Mov(11, 0).Address(8, 3, 7, 1);
  b.Mov(2, 0).Address(4, 2, 7, 0);
  const auto [lo, hi] = Atomg(op, size);
  b.Word(lo, hi).Stg(8, 6).Exit();
  const cubin::Module m = b.Build();
  auto emulator = Emulator::Create(m, MakeLaunch(1, threads, 64), {});
  EXPECT_TRUE(emulator.ok()) << emulator.status();
  if (!emulator.ok()) return {};
  const absl::Status status = (*emulator)->RunAll(nullptr);
  EXPECT_TRUE(status.ok()) << status;
  return {Words((*emulator)->buffer(0)), Words((*emulator)->buffer(1))};
}

struct Case {
  const char* name;
  uint32_t op, size;
  std::function<uint32_t(uint32_t, uint32_t)> apply;
};

class AtomicOp : public testing::TestWithParam<Case> {};

TEST_P(AtomicOp, LanesActOneAfterAnother) {
  const Case& c = GetParam();
  const uint32_t bias = 0u - 16;  // some operands are negative
  const Result r = RunAtomg(c.op, c.size, 32, bias);
  ASSERT_EQ(r.out.size(), 64u);
  uint32_t memory = 0;  // in[0] of the iota
  for (uint32_t lane = 0; lane < 32; ++lane) {
    EXPECT_EQ(r.out[lane], memory) << lane;
    memory = c.apply(memory, lane + 1 + bias);
  }
  EXPECT_EQ(r.in[0], memory);
}

uint32_t Signed(uint32_t a, uint32_t b, bool max) {
  const auto x = static_cast<int32_t>(a), y = static_cast<int32_t>(b);
  return (x < y) == max ? b : a;
}

INSTANTIATE_TEST_SUITE_P(
    Ops, AtomicOp,
    testing::Values(Case{"Add", 0, 0, [](uint32_t a, uint32_t b) { return a + b; }},
                    Case{"Min", 1, 0, [](uint32_t a, uint32_t b) { return std::min(a, b); }},
                    Case{"Max", 2, 0, [](uint32_t a, uint32_t b) { return std::max(a, b); }},
                    Case{"MinSigned", 1, 1, [](uint32_t a, uint32_t b) { return Signed(a, b, false); }},
                    Case{"MaxSigned", 2, 1, [](uint32_t a, uint32_t b) { return Signed(a, b, true); }},
                    Case{"Inc", 3, 0, [](uint32_t a, uint32_t b) { return a >= b ? 0 : a + 1; }},
                    Case{"Dec", 4, 0, [](uint32_t a, uint32_t b) { return a == 0 || a > b ? b : a - 1; }},
                    Case{"And", 5, 0, [](uint32_t a, uint32_t b) { return a & b; }},
                    Case{"Or", 6, 0, [](uint32_t a, uint32_t b) { return a | b; }},
                    Case{"Xor", 7, 0, [](uint32_t a, uint32_t b) { return a ^ b; }},
                    Case{"Exch", 8, 0, [](uint32_t, uint32_t b) { return b; }}),
    [](const auto& p) { return p.param.name; });

TEST(Atomic, FloatAddRoundsEachStep) {
  // Operands 1..32 as FP32 subnormals are flushed: the sum stays 0 (ATOMG.ADD.F32.FTZ).
  const Result r = RunAtomg(0, 3, 32, 0);
  EXPECT_EQ(r.in[0], 0u);
}

TEST(Atomic, FormsWithoutAKnownMeaningAreRefused) {
  constexpr uint32_t kMax = 2, kSafeAdd = 9, kF32 = 3;
  for (const auto& [lo, hi] : {Atomg(kMax, kF32), Atomg(kSafeAdd, 0)}) {
    CodeBuilder b;
    b.Word(lo, hi, {}).Exit();
    const cubin::Module m = b.Build();
    EXPECT_EQ(Emulator::Create(m, MakeLaunch(1, 32, 64), {}).status().code(),
              absl::StatusCode::kUnimplemented);
  }
}

TEST(Mbarrier, PhaseFlipsWhenTheLastOneArrives) {
  constexpr uint32_t kCount = 3;
  uint64_t word = uint64_t{0x80000000u - kCount} << 32 | (0x40000000u - kCount);
  const auto phase = [&] { return word >> 63; };
  for (int round = 0; round < 3; ++round) {
    const uint64_t before = phase();
    word = ArriveOnce(word);
    word = ArriveOnce(word);
    EXPECT_EQ(phase(), before) << round;
    word = ArriveOnce(word);
    EXPECT_NE(phase(), before) << round;
  }
  EXPECT_EQ(static_cast<uint32_t>(word), 0x40000000u - kCount);
}

TEST(Mbarrier, DroppedArrivalsShortenTheNextPhase) {
  uint64_t word = uint64_t{0x80000000u - 2} << 32 | (0x40000000u - 2);
  word += 1;                            // as the compiled code drops one: the expected count
  word = ArriveOnce(ArriveOnce(word));  // this phase still wants two
  const uint64_t phase = word >> 63;
  EXPECT_NE(ArriveOnce(word) >> 63, phase);  // the next one only one
}

}  // namespace
}  // namespace sm89::emu
