// An emulator that only looks at a launch.
#include "gtest/gtest.h"
#include "sim/emu/emulator.h"
#include "tests/unit/sim_emu/code_builder.h"

namespace sm89::emu {
namespace {

TEST(InspectOnly, TakesNoMemoryForBuffersAndRefusesToRun) {
  CodeBuilder b;
  b.Exit();
  const cubin::Module m = b.Build();
  launch::LaunchSpec launch = MakeLaunch(1, 32, 64);
  ASSERT_FALSE(launch.buffers.empty());
  launch.buffers[0].count =
      (uint64_t{7} << 30) / SizeBytes(launch.buffers[0].type);  // the tests' machines have less
  EmuOptions options;
  options.inspect_only = true;
  const auto emulator = Emulator::Create(m, launch, options);
  ASSERT_TRUE(emulator.ok()) << emulator.status();
  EXPECT_EQ((*emulator)->instructions().size(), m.functions[0].num_instructions());
  EXPECT_TRUE((*emulator)->buffer(0).empty());
  EXPECT_EQ((*emulator)->RunCta(0, nullptr).code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ((*emulator)->RunAll(nullptr).code(), absl::StatusCode::kFailedPrecondition);
}

}  // namespace
}  // namespace sm89::emu
