// Operands and modifiers that the encoding has and no code was met with: refused, not left out of account.
#include "gtest/gtest.h"
#include "sim/emu/emulator.h"
#include "tests/unit/sim_emu/alu_lab.h"
#include "tests/unit/sim_emu/code_builder.h"

namespace sm89::emu {
namespace {

struct Case {
  const char* name;
  uint64_t lo, hi;  // a word of ptxas
  int bit;          // of the word; flipping it gives the form that is refused
};

class Refused : public testing::TestWithParam<Case> {};

TEST_P(Refused, OnlyTheFormThatWasNotMet) {
  const Case& c = GetParam();
  EXPECT_TRUE(AluLab().Run(c.lo, c.hi).ok());
  const absl::Status status = AluLab().Run(c.lo, c.hi ^ uint64_t{1} << (c.bit - 64));
  EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented) << status;
}

INSTANTIATE_TEST_SUITE_P(Words, Refused,
                         testing::Values(Case{"HfmaPredicate", 0x0000000300007231, 0x003fde0003808004, 87},
                                         Case{"ImmaRowB", 0x000000100c087237, 0x004ff60000405c08, 74},
                                         Case{"HmmaPredicate", 0x000000061018723c, 0x004fe60000001818, 87},
                                         Case{"I2ipHalf", 0x0000000d0c0f7239, 0x001fca0000001010, 72}),
                         [](const auto& p) { return p.param.name; });

TEST(RefusedLoad, WithAResultPredicate) {
  CodeBuilder b;
  b.Word(0x0000000402027981, 0x0c1e1900 ^ uint64_t{7} << 17).Exit();
  const cubin::Module m = b.Build();
  EXPECT_EQ(Emulator::Create(m, MakeLaunch(1, 32, 64), {}).status().code(), absl::StatusCode::kUnimplemented);
}

}  // namespace
}  // namespace sm89::emu
