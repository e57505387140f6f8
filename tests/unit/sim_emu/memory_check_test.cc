// What the memory checker says, word for word.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "sim/emu/emulator.h"
#include "tests/unit/sim_emu/code_builder.h"

namespace sm89::emu {
namespace {

using testing::HasSubstr;

struct Outcome {
  absl::Status status;
  std::vector<Finding> findings;
  uint64_t num_findings = 0;
};

Outcome Execute(const cubin::Module& module, const launch::LaunchSpec& launch,
                const EmuOptions& options = {}) {
  auto emulator = Emulator::Create(module, launch, options);
  EXPECT_TRUE(emulator.ok()) << emulator.status();
  if (!emulator.ok()) return {emulator.status(), {}, 0};
  Outcome outcome;
  outcome.status = (*emulator)->RunAll(nullptr);
  outcome.findings = (*emulator)->findings();
  outcome.num_findings = (*emulator)->num_findings();
  return outcome;
}

// out[tid] = in[tid + skip]
cubin::Module Copy(uint32_t skip_bytes) {
  CodeBuilder b;
  b.Tid(3).Mov(7, 4).Address(4, 3, 7, 0).Address(8, 3, 7, 1).Ldg(6, 4, skip_bytes).Stg(8, 6).Exit();
  return b.Build();
}

TEST(MemoryCheck, LoadPastTheEndIsNamedWithThreadAndBuffer) {
  const Outcome o = Execute(Copy(16), MakeLaunch(1, 32, 32));
  EXPECT_EQ(o.status.code(), absl::StatusCode::kFailedPrecondition);
  ASSERT_EQ(o.findings.size(), 1u);
  const Finding& f = o.findings[0];
  EXPECT_EQ(f.kind, FindingKind::kOutOfBounds);
  EXPECT_EQ(f.pc, 0x40u);
  EXPECT_EQ(f.thread, (Dim3{28, 0, 0}));
  EXPECT_EQ(f.address, 0x7f0000010080u);
  EXPECT_EQ(f.message,
            "out-of-bounds load of 4 bytes at global address 0x7f0000010080 by LDG.E in k at +0x0040, thread "
            "(28,0,0) of CTA (0,0,0): 0 bytes past the end of 'in' (0x7f0000010000, 128 bytes)");
  EXPECT_EQ(o.status.message(), f.message);
}

TEST(MemoryCheck, LineOfTheSourceIsNamed) {
  cubin::Module m = Copy(16);
  m.files = {"copy.cu"};
  m.functions[0].lines.assign(m.functions[0].num_instructions(), {.file = 0, .line = 12});
  EXPECT_THAT(std::string(Execute(m, MakeLaunch(1, 32, 32)).status.message()),
              HasSubstr("+0x0040 (copy.cu:12)"));
}

TEST(MemoryCheck, MisalignedAccessEndsTheRun) {
  const Outcome o = Execute(Copy(2), MakeLaunch(1, 16, 32));
  ASSERT_EQ(o.findings.size(), 1u);
  EXPECT_EQ(o.findings[0].kind, FindingKind::kMisaligned);
  EXPECT_THAT(o.findings[0].message,
              HasSubstr("misaligned load of 4 bytes at global address 0x7f0000010002 by LDG.E"));
}

TEST(MemoryCheck, StoreIsCalledAStore) {
  CodeBuilder b;
  b.Mov(4, 0x100).Mov(5, 0).Mov(6, 1).Stg(4, 6).Exit();
  const Outcome o = Execute(b.Build(), MakeLaunch(1, 1, 32));
  ASSERT_EQ(o.findings.size(), 1u);
  EXPECT_THAT(o.findings[0].message,
              HasSubstr("out-of-bounds store of 4 bytes at global address 0x100 by STG.E"));
  EXPECT_THAT(o.findings[0].nearest, HasSubstr("bytes before '"));
}

TEST(MemoryCheck, SharedWindowHasItsOwnBounds) {
  CodeBuilder b;
  b.Tid(3).Mov(6, 1).Mad(2, 3, 4, kRz).Sts(2, 6).Exit();
  EXPECT_TRUE(Execute(b.Build(128), MakeLaunch(1, 32, 32)).status.ok());
  const Outcome o = Execute(b.Build(96), MakeLaunch(1, 32, 32));
  EXPECT_EQ(
      o.status.message(),
      "out-of-bounds store of 4 bytes at shared address 0x60 by STS in k at +0x0030, thread (24,0,0) of "
      "CTA (0,0,0): the CTA has 96 bytes");
}

TEST(MemoryCheck, NeverWrittenSharedBytesAreAWarning) {
  CodeBuilder b;  // shared[tid] is written by all but thread 5
  b.Tid(3).Mov(7, 4).Address(8, 3, 7, 1).Mad(2, 3, 4, kRz);
  b.Add(12, 3, static_cast<uint32_t>(-5)).NotZero(0, 12).Sts(2, 3, 0, {0, false}).Lds(6, 2).Stg(8, 6).Exit();
  const Outcome o = Execute(b.Build(128), MakeLaunch(1, 32, 32));
  EXPECT_TRUE(o.status.ok()) << o.status;
  ASSERT_EQ(o.findings.size(), 1u);
  EXPECT_EQ(o.findings[0].kind, FindingKind::kUninitialised);
  EXPECT_EQ(
      o.findings[0].message,
      "uninitialised load of 4 bytes at shared address 0x14 by LDS in k at +0x0070, thread (5,0,0) of CTA "
      "(0,0,0)");
}

TEST(MemoryCheck, EveryCtaStartsWithUnwrittenSharedMemory) {
  CodeBuilder b;  // CTA 0 writes, CTA 1 only reads
  b.CtaidX(3).NotZero(0, 3).Mov(2, 0).Sts(2, 3, 0, {0, true}).Lds(6, 2).Exit();
  const Outcome o = Execute(b.Build(4), MakeLaunch(2, 1, 32));
  ASSERT_EQ(o.findings.size(), 1u);
  EXPECT_EQ(o.findings[0].cta, (Dim3{1, 0, 0}));
}

TEST(MemoryCheck, NeverWrittenLocalBytesReadAsZeroWhateverRanBefore) {
  CodeBuilder b;  // CTA 0 writes its stack, CTA 1 reads the same place
  b.CtaidX(3).NotZero(0, 3).Tid(5).Mov(7, 4).Address(8, 5, 7, 1).Mov(2, 16).Mov(6, 77);
  b.Bra("read", {0, false}).Stl(2, 6).Exit().Label("read").Ldl(6, 2).Stg(8, 6).Exit();
  const cubin::Module m = b.Build();
  auto emulator = Emulator::Create(m, MakeLaunch(2, 32, 32), {});
  ASSERT_TRUE(emulator.ok()) << emulator.status();
  ASSERT_TRUE((*emulator)->RunAll(nullptr).ok());
  EXPECT_EQ(Words((*emulator)->buffer(1)), std::vector<uint32_t>(32, 0));
  EXPECT_EQ((*emulator)->num_findings(), 32u);
}

TEST(MemoryCheck, JumpOutOfTheCodeIsRefused) {
  CodeBuilder b;
  b.Label("start").Nop().Bra("start").Exit();
  cubin::Module m = b.Build();
  m.functions[0].code.resize(16 * 2);
  m.functions[0].code[16 + 4] = 0x40;  // a distance of 64 bytes forward
  for (int i = 5; i < 8; ++i) m.functions[0].code[16 + static_cast<size_t>(i)] = 0;
  m.functions[0].code[16 + 8] = m.functions[0].code[16 + 9] = 0;
  m.functions[0].code[16 + 10] = 0x80;
  const auto emulator = Emulator::Create(m, MakeLaunch(1, 32, 32), {});
  ASSERT_FALSE(emulator.ok());
  EXPECT_THAT(std::string(emulator.status().message()), HasSubstr("the jump leaves the code"));
}

TEST(MemoryCheck, LocalMemoryIsAThreadsOwn) {
  CodeBuilder b;  // each thread stores its number and reads it back, then reads beside it
  b.Tid(3).Mov(7, 4).Address(8, 3, 7, 1).Mov(2, 16).Stl(2, 3).Ldl(6, 2).Stg(8, 6).Ldl(6, 2, 4).Exit();
  const cubin::Module m = b.Build();
  auto emulator = Emulator::Create(m, MakeLaunch(1, 64, 64), {});
  ASSERT_TRUE(emulator.ok()) << emulator.status();
  ASSERT_TRUE((*emulator)->RunAll(nullptr).ok());
  const std::vector<uint32_t> out = Words((*emulator)->buffer(1));
  for (uint32_t i = 0; i < 64; ++i) EXPECT_EQ(out[i], i);
  EXPECT_EQ((*emulator)->num_findings(), 64u);
  EXPECT_THAT((*emulator)->findings()[0].message,
              HasSubstr("uninitialised load of 4 bytes at local address 0x14 by LDL"));
}

TEST(MemoryCheck, KeptFindingsAreBoundedAndAllAreCounted) {
  CodeBuilder b;
  b.Tid(3).Mad(2, 3, 4, kRz).Lds(6, 2).Exit();
  const Outcome o = Execute(b.Build(4096), MakeLaunch(1, 1024, 32), {.max_findings = 10});
  EXPECT_EQ(o.findings.size(), 10u);
  EXPECT_EQ(o.num_findings, 1024u);
}

TEST(MemoryCheck, WarningsCanBeSwitchedOff) {
  CodeBuilder b;
  b.Mov(2, 0).Lds(6, 2).Exit();
  EXPECT_EQ(Execute(b.Build(4), MakeLaunch(1, 32, 32), {.check_uninitialised = false}).num_findings, 0u);
}

TEST(MemoryCheck, TrapNamesTheThread) {
  CodeBuilder b;
  b.Tid(3).NotZero(0, 3).Trap({0, false}).Exit();
  const Outcome o = Execute(b.Build(), MakeLaunch(1, 8, 32));
  EXPECT_EQ(o.status.message(),
            "BPT.TRAP in k at +0x0020, thread (1,0,0) of CTA (0,0,0): the kernel trapped");
}

}  // namespace
}  // namespace sm89::emu
