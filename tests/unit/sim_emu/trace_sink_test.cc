// What a trace sink is told.
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_format.h"
#include "sim/emu/emulator.h"
#include "tests/unit/sim_emu/code_builder.h"

namespace sm89::emu {
namespace {

class Notes : public TraceSink {
 public:
  void BeginCta(uint64_t cta) override { text += absl::StrFormat("cta %d\n", cta); }
  void EndCta(uint64_t cta) override { text += absl::StrFormat("end %d\n", cta); }
  void Record(uint32_t warp, uint32_t inst, LaneMask executed, std::span<const uint64_t> addresses) override {
    ++records;
    if (warp != 0) return;
    text += absl::StrFormat("%02x %x", inst * 16, executed);
    for (const uint64_t a : addresses) text += absl::StrFormat(" %x", a);
    text += "\n";
  }
  std::string text;
  uint64_t records = 0;
};

TEST(TraceSink, GetsMasksAndAddressesInOrder) {
  CodeBuilder b;  // lanes 1 and 2 of three store
  b.Tid(3).Mov(7, 4).Address(8, 3, 7, 1).NotZero(0, 3).Mad(2, 3, 4, kRz);
  b.Sts(2, 3, 0, {0, false}).Stg(8, 3, 8, {0, false}).Stl(2, 3).Stg(8, 3, 0, {7, true}).Exit();
  const cubin::Module m = b.Build(64);
  auto emulator = Emulator::Create(m, MakeLaunch(1, 3, 64), {});
  ASSERT_TRUE(emulator.ok()) << emulator.status();
  Notes notes;
  ASSERT_TRUE((*emulator)->RunAll(&notes).ok());
  EXPECT_EQ(notes.text,
            "cta 0\n00 7\n10 7\n20 7\n30 7\n40 7\n"
            "50 6 4 8\n"
            "60 6 7f000002010c 7f0000020110\n"
            "70 7 0 4 8\n"
            "80 0\n"
            "90 7\nend 0\n");
}

TEST(TraceSink, RecordsAreTheExecutedWarpInstructions) {
  CodeBuilder b;
  b.Tid(3).BarSync(0).Nop().Exit();
  const cubin::Module m = b.Build();
  auto emulator = Emulator::Create(m, MakeLaunch(3, 100, 128), {});
  ASSERT_TRUE(emulator.ok()) << emulator.status();
  Notes notes;
  ASSERT_TRUE((*emulator)->RunCta(2, &notes).ok());
  ASSERT_TRUE((*emulator)->RunCta(0, &notes).ok());
  EXPECT_EQ(notes.records, 2u * 4 * 4);
  EXPECT_EQ((*emulator)->executed_warp_instructions(), 2u * 4 * 4);
  EXPECT_EQ(notes.text.substr(0, 6), "cta 2\n");
}

TEST(TraceSink, IsNotToldOfAnInstructionThatIsNone) {
  CodeBuilder b;  // no EXIT
  b.Nop();
  const cubin::Module m = b.Build();
  auto emulator = Emulator::Create(m, MakeLaunch(1, 32, 32), {});
  ASSERT_TRUE(emulator.ok()) << emulator.status();
  Notes notes;
  EXPECT_FALSE((*emulator)->RunAll(&notes).ok());
  EXPECT_EQ(notes.text, "cta 0\n00 ffffffff\n");
}

class Full : public Notes {
 public:
  absl::Status status() const override {
    return records < 1000 ? absl::OkStatus() : absl::ResourceExhaustedError("full");
  }
};

TEST(TraceSink, ThatIsFullEndsAKernelThatDoesNot) {
  CodeBuilder b;
  b.Label("loop").Nop().Bra("loop").Exit();
  const cubin::Module m = b.Build();
  auto emulator = Emulator::Create(m, MakeLaunch(1, 32, 32), {});
  ASSERT_TRUE(emulator.ok()) << emulator.status();
  Full full;
  EXPECT_EQ((*emulator)->RunAll(&full), absl::ResourceExhaustedError("full"));
}

TEST(TraceSink, CostsNothingOfTheResult) {
  CodeBuilder b;
  b.Tid(3).Mov(7, 4).Address(8, 3, 7, 1).Stg(8, 3).Exit();
  const cubin::Module m = b.Build();
  std::vector<std::vector<uint32_t>> results;
  for (const bool traced : {false, true}) {
    auto emulator = Emulator::Create(m, MakeLaunch(1, 64, 64), {});
    ASSERT_TRUE(emulator.ok()) << emulator.status();
    Notes notes;
    ASSERT_TRUE((*emulator)->RunAll(traced ? &notes : nullptr).ok());
    results.push_back(Words((*emulator)->buffer(1)));
  }
  EXPECT_EQ(results[0], results[1]);
  EXPECT_EQ(results[0][63], 63u);
}

}  // namespace
}  // namespace sm89::emu
