// The memory pipeline of an SM against core-model 1.6: issue cadence, write-after-read and read-after-write
// latencies, bank conflicts, sectors, MSHRs, store buffers, address translation.
#include <gtest/gtest.h>

#include "tests/unit/sim_sm/sm_fixture.h"

namespace sm89 {
namespace {

using namespace testing;  // NOLINT: the fixture is the tests' language

using Cycles = std::vector<Cycle>;

// The RTX A6000 of the source's table: a hit takes 32 cycles there, shared memory 24.
GpuConfig A6000() {
  GpuConfig config = LabConfig();
  config.l1.latency_cycles = 32;
  config.l1.shmem_latency_cycles = 24;
  config.tlb.entries = 0;
  return config;
}

// A load that brings the line of `base` into the L1, and its end.
Program Warm(uint64_t base = kGlobal, uint32_t width = 4) {
  return {Ldg(width, base).Write(5).Stall(2), Nop().Wait(0b100000)};
}

TEST(MemoryCadence, OneSubCoreIssuesFiveInARowThenWaits) {
  // Shared-memory address units of 4 cycles' worth are global ones: lines that hit.
  SmLab lab(A6000());
  lab.Launch({Warm() + Repeat(Ldg(), 9)});
  lab.Run();
  Cycles issued = lab.Issued();
  issued.erase(issued.begin(), issued.begin() + 2);
  const Cycle first = issued[0];
  for (Cycle& c : issued) c -= first - 2;
  EXPECT_EQ(issued, (Cycles{2, 3, 4, 5, 6, 13, 17, 21, 25}));
}

// Issue cycles of loads that miss, in each of the first `subs` sub-cores.
std::vector<Cycles> CadenceOf(uint32_t subs, size_t loads) {
  SmLab lab(A6000());
  std::vector<Program> warps;
  for (uint32_t w = 0; w < subs; ++w) warps.push_back(Repeat(Ldg(4, kGlobal + w * 4096), loads));
  lab.Launch(warps);
  lab.Run();
  std::vector<Cycles> issued;
  for (uint32_t w = 0; w < subs; ++w) issued.push_back(lab.Issued(w));
  return issued;
}

TEST(MemoryCadence, TheSixthOfEachSubCoreWaitsForTheSharedPort) {
  const std::vector<Cycles> issued = CadenceOf(4, 6);
  for (uint32_t sub = 0; sub < 4; ++sub) {
    EXPECT_EQ(issued[sub], (Cycles{2, 3, 4, 5, 6, 13 + 2 * sub})) << "sub-core " << sub;
  }
}

TEST(MemoryCadence, SteadyStateOfOneToFourSubCores) {
  const Cycle period[] = {4, 4, 6, 8};
  for (uint32_t subs = 1; subs <= 4; ++subs) {
    for (const Cycles& issued : CadenceOf(subs, 40)) {
      EXPECT_EQ(issued[35] - issued[15], 20 * period[subs - 1]) << subs << " sub-cores";
    }
  }
}

TEST(MemoryCadence, UniformAddressesTakeTwoCycles) {
  const Cycles issued = IssueCycles(Repeat(Uniform(Ldg()), 40), A6000());
  EXPECT_EQ(issued[5], 2u + 9) << "the first one's sources";
  EXPECT_EQ(issued[35] - issued[15], 20u * 2);
}

TEST(MemoryCadence, AFullQueueHoldsBackMemoryInstructionsOnly) {
  Program program = Repeat(Ldg(), 5) + Repeat(Nop(), 4) + Program{Ldg()};
  EXPECT_EQ(IssueCycles(program, A6000()), (Cycles{2, 3, 4, 5, 6, 7, 8, 9, 10, 13}));
}

TEST(MemoryCadence, AFullQueueStarvesNoWarp) {
  // Dependent shared loads in 32 warps: the SM's port is the limit, a load every two cycles, and all warps
  // come to their ends at about the same time (RTX 4090: 2.005 cycles).
  constexpr size_t kLoads = 100;
  SmLab lab(A6000());
  lab.Launch(std::vector<Program>(32, Repeat(Lds().Write(0).Wait(1).Stall(2), kLoads)));
  lab.Run();
  Cycle first = kNever;
  Cycle last = 0;
  for (size_t w = 0; w < 32; ++w) {
    first = std::min(first, lab.Issued(w).back());
    last = std::max(last, lab.Issued(w).back());
  }
  EXPECT_LE(last, 32 * kLoads * 2 * 1.01);
  EXPECT_GE(first, last * 9 / 10);
}

// Five loads of sub-core 0 from cycle 2 on, whose address unit hands one to the port every four cycles (8,
// 12, 16 ...), and beside them `other` in sub-core 1. The issue cycles of `other`.
Cycles BesideABacklog(const Program& other) {
  SmLab lab(A6000());
  lab.Launch({Repeat(Ldg(), 5), other});
  lab.Run();
  return lab.Issued(1);
}

TEST(MemoryPort, ABacklogOfOneSubCoreLeavesTheCyclesInBetweenToTheOthers) {
  // Issued in cycle 4, at the port in cycle 10: as long as alone.
  const Cycles issued =
      BesideABacklog(Repeat(Nop(), 2) + Program{Ldg(4, kGlobal + 4096).Read(0).Stall(2), Nop().Wait(1)});
  EXPECT_EQ(issued, (Cycles{2, 3, 4, 4 + 11}));
}

TEST(MemoryPort, SoDoesTheDataPath) {
  // Issued in cycle 5, at the port in cycle 10 and not 9, where the first load is.
  const Cycles issued = BesideABacklog(Repeat(Nop(), 3) + Program{Lds().Write(0).Stall(2), Nop().Wait(1)});
  EXPECT_EQ(issued.back(), 5u + 24 + 1);
}

TEST(MemoryPort, NoCycleIsLostBetweenTheLoadsOfTheBacklog) {
  // Shared loads issued in cycles 7 to 9 come to the port in cycles 11, 13 and 15. The backlog leaves two
  // cycles of four, enough for one load each: 10 (passed when the first comes), 14, 18 and 22, begun at 11,
  // 15 and 19.
  const Cycles issued =
      BesideABacklog(Repeat(Nop(), 5) + Program{Lds(), Lds(), Lds().Read(0).Stall(2), Nop().Wait(1)});
  EXPECT_EQ(issued.back(), 19u + 5);
}

// Cycles from the issue to that of an instruction that waits for its read counter.
Cycle War(const Inst& inst) { return Span({Inst(inst).Read(0).Stall(2), Nop().Wait(1)}, A6000()); }
// To that of one that waits for its write counter, data in the L1.
Cycle Raw(const Inst& inst) {
  Program program = Warm() + Warm(kGlobal + 128) + Warm(kGlobal + 256) + Warm(kGlobal + 384);
  program.push_back(Inst(inst).Write(0).Stall(2));
  program.push_back(Nop().Wait(1));
  const Cycles issued = IssueCycles(program, A6000());
  return issued.back() - issued[issued.size() - 2];
}

TEST(MemoryLatency, GlobalLoads) {
  for (const uint32_t width : {4u, 8u, 16u}) {
    EXPECT_EQ(War(Uniform(Ldg(width))), 9u);
    EXPECT_EQ(War(Ldg(width)), 11u);
  }
  EXPECT_EQ(Raw(Ldg(4)), 32u);
  EXPECT_EQ(Raw(Ldg(8)), 34u);
  EXPECT_EQ(Raw(Ldg(16)), 38u);
}

TEST(MemoryLatency, SourcesAreReadAsLateAsTheSettingSays) {
  GpuConfig config = A6000();
  config.l1.read_release_cycles = 12;
  const auto war = [&](const Inst& inst) {
    return Span({Inst(inst).Read(0).Stall(2), Nop().Wait(1)}, config);
  };
  EXPECT_EQ(war(Uniform(Ldg())), 12u);
  EXPECT_EQ(war(Ldg()), 14u) << "two cycles more in the address unit";
  EXPECT_EQ(war(Lds()), 12u);
}

TEST(MemoryLatency, GlobalLoadsOfUniformAddressesSaveTheAddressCycles) {
  // The table has 29, 31, 35: a cycle less than the two that their address unit saves. The model keeps the
  // two; nothing else in the source says where the third comes from.
  EXPECT_EQ(Raw(Uniform(Ldg(4))), 30u);
  EXPECT_EQ(Raw(Uniform(Ldg(8))), 32u);
  EXPECT_EQ(Raw(Uniform(Ldg(16))), 36u);
}

TEST(MemoryLatency, GlobalStores) {
  EXPECT_EQ(War(Uniform(Stg(4))), 10u);
  EXPECT_EQ(War(Uniform(Stg(8))), 12u);
  EXPECT_EQ(War(Uniform(Stg(16))), 16u);
  EXPECT_EQ(War(Stg(4)), 14u);
  EXPECT_EQ(War(Stg(8)), 16u);
  EXPECT_EQ(War(Stg(16)), 20u);
}

TEST(MemoryLatency, SharedLoads) {
  for (const uint32_t width : {4u, 8u, 16u}) {
    EXPECT_EQ(War(Lds(width)), 9u);
    EXPECT_EQ(War(Uniform(Lds(width))), 9u);
  }
  EXPECT_EQ(Raw(Lds(4)), 24u);
  EXPECT_EQ(Raw(Lds(8)), 24u);
  EXPECT_EQ(Raw(Lds(16)), 26u);
}

TEST(MemoryLatency, SharedLoadsDoNotDependOnTheKindOfAddress) {
  // The table has 23, 23, 25 for uniform addresses; the model takes the same address cycles for both kinds.
  EXPECT_EQ(Raw(Uniform(Lds(4))), 24u);
  EXPECT_EQ(Raw(Uniform(Lds(16))), 26u);
}

TEST(MemoryLatency, SharedStores) {
  EXPECT_EQ(War(Uniform(Sts(4))), 10u);
  EXPECT_EQ(War(Uniform(Sts(8))), 12u);
  EXPECT_EQ(War(Uniform(Sts(16))), 16u);
  EXPECT_EQ(War(Sts(4)), 12u);
  EXPECT_EQ(War(Sts(8)), 14u);
  EXPECT_EQ(War(Sts(16)), 18u);
}

TEST(MemoryLatency, AsyncCopies) {
  EXPECT_EQ(War(Ldgsts()), 13u);
  EXPECT_EQ(Raw(Ldgsts()), 39u);
}

TEST(MemoryLatency, ConstantLoads) {
  Inst ldc = Variable(Pipe::kNone, 26, 1).Constant(64);
  ldc.code.unit = ExecUnit::kMem;
  ldc.code.space = MemSpace::kConstant;
  Inst by_register = Variable(Pipe::kNone, 29, 1);
  by_register.code.unit = ExecUnit::kMem;
  by_register.code.space = MemSpace::kConstant;
  const Program warm = {Inst(ldc).Write(0).Stall(2), Nop().Wait(1)};
  EXPECT_EQ(Gaps(IssueCycles(warm + warm)).back(), 26u);
  EXPECT_EQ(Span({by_register.Write(0).Stall(2), Nop().Wait(1)}), 29u);
  EXPECT_EQ(Span(warm), 26u + 79 - 11) << "cold: what the SM's constant cache adds to a hit in it";
}

TEST(SharedMemory, ABankConflictOfNWaysTakesNPasses) {
  for (const uint32_t ways : {1u, 2u, 4u, 8u, 16u, 32u}) {
    Inst lds = Lds();
    lds.addresses = Strided(0, 4 * ways);
    EXPECT_EQ(Raw(lds), 24u + ways - 1) << ways;
    Inst spread = Lds();
    spread.addresses = Strided(0, 4 * ways + 4);
    if (ways == 1) continue;
    EXPECT_EQ(Raw(spread), 24u) << "an odd number of words apart: no conflict";
  }
}

TEST(SharedMemory, PassesOccupyTheDataPath) {
  // One pass a cycle for the whole SM: loads of 8 passes follow each other at 8 cycles, whatever the queues.
  Inst lds = Lds();
  lds.addresses = Strided(0, 32);
  SmLab lab(A6000());
  lab.Launch(std::vector<Program>(4, Repeat(Inst(lds).Write(0), 40) + Program{Depbar(0, 0)}));
  lab.Run();
  EXPECT_EQ(lab.AllStats(lab.now()).l1.shared_passes, 4u * 40 * 8);
  EXPECT_EQ(lab.AllStats(lab.now()).l1.shared_bank_conflicts, 4u * 40 * 7);
  Cycle end = 0;
  for (size_t w = 0; w < 4; ++w) end = std::max(end, lab.Issued(w).back());
  // The first leaves the port at 6; the last one's data start 159 passes' worth of cycles later.
  EXPECT_EQ(end, 2u + 24 + 159 * 8 + 7);
}

TEST(SharedMemory, MatrixLoadsTakeAPassAMatrix) {
  const auto ldsm = [](uint32_t matrices) {
    Inst inst = Memory(MemOp::kLoadMatrix, MemSpace::kShared, 16, 0);
    inst.code.matrices = static_cast<uint8_t>(matrices);
    inst.code.address_lanes = matrices == 4 ? ~0u : (1u << 8 * matrices) - 1;
    return inst;
  };
  EXPECT_EQ(Raw(ldsm(1)), 24u);
  EXPECT_EQ(Raw(ldsm(2)), 24u + 2) << "two cycles a further matrix";
  EXPECT_EQ(Raw(ldsm(4)), 24u + 6);
  Inst conflict = ldsm(1);
  conflict.addresses = Strided(0, 128);  // eight rows in the same four banks
  EXPECT_EQ(Raw(conflict), 24u + 7);
}

TEST(SharedMemory, AtomicsOnOneWordGoOneLaneAfterTheOther) {
  const uint32_t round = A6000().l1.shmem_atomic_cycles;
  for (const uint32_t lanes : {1u, 2u, 16u, 32u}) {
    Inst atomic = Memory(MemOp::kAtomic, MemSpace::kShared, 4, 0);
    atomic.mask = lanes == 32 ? ~0u : (1u << lanes) - 1;
    atomic.addresses = Strided(64, 0, lanes);
    // The first pass is in the latency.
    EXPECT_EQ(Raw(atomic), 24u + 6 + lanes * round - 1) << lanes;
  }
}

// Requests of a load with these addresses, and the sectors of each.
std::vector<std::pair<uint64_t, uint32_t>> RequestsOf(const std::vector<uint64_t>& addresses,
                                                      uint32_t width = 4) {
  SmLab lab(A6000());
  Inst load = Ldg(width);
  load.addresses = addresses;
  lab.Launch({{load}});
  lab.Run();
  std::vector<std::pair<uint64_t, uint32_t>> requests;
  for (const MemRequest& r : lab.requests()) {
    requests.emplace_back(r.line * kLineBytes - kGlobal, r.sector_mask);
  }
  return requests;
}

TEST(Coalescing, SectorsAreMergedIntoOneRequestALine) {
  using Requests = std::vector<std::pair<uint64_t, uint32_t>>;
  EXPECT_EQ(RequestsOf(Strided(kGlobal, 4)), (Requests{{0, 0xF}}));
  EXPECT_EQ(RequestsOf(Strided(kGlobal, 0)), (Requests{{0, 0x1}}));
  EXPECT_EQ(RequestsOf(Strided(kGlobal + 96, 4)), (Requests{{0, 0x8}, {128, 0x7}}));
  EXPECT_EQ(RequestsOf(Strided(kGlobal, 8), 8), (Requests{{0, 0xF}, {128, 0xF}}));
  EXPECT_EQ(RequestsOf(Strided(kGlobal, 128)).size(), 32u);
}

TEST(Coalescing, FourSectorsACycle) {
  // Scattered lanes: 32 sectors in 32 lines take 8 cycles of the data path where 4 take one.
  Inst scattered = Ldg();
  scattered.addresses = Strided(kGlobal, 128);
  Program warm = {Inst(scattered).Write(0).Stall(2), Nop().Wait(1)};
  const Cycles issued = IssueCycles(warm + warm, A6000());
  EXPECT_EQ(issued[3] - issued[2], 32u + 7);
}

TEST(L1, AMissWaitsForItsReplyAndTheFill) {
  SmLab lab(A6000());
  lab.ReplyAt(kGlobal, 500);
  lab.Launch({Warm()});
  lab.Run();
  ASSERT_EQ(lab.requests().size(), 1u);
  // Port 6 cycles behind the issue, one data cycle, then the miss is known.
  EXPECT_EQ(lab.requests()[0].cycle, 2u + 6 + 1 + A6000().l1.miss_detect_cycles);
  EXPECT_EQ(lab.Issued().back(), 500u + A6000().l1.fill_cycles);
}

TEST(L1, WideLoadsThatMissReturnRegisterByRegister) {
  for (const uint32_t width : {4u, 8u, 16u}) {
    SmLab lab(A6000());
    lab.ReplyAt(kGlobal, 500);
    lab.set_reply_latency(20);
    Inst load = Ldg(width).Write(0).Stall(2);
    lab.Launch({{load, Nop().Wait(1)}});
    lab.Run();
    EXPECT_EQ(lab.Issued().back(), 500u + 12 + (width / 4 - 1) * 2) << width;
  }
}

TEST(Mshr, ASecondMissOfTheSectorsMakesNoRequest) {
  SmLab lab(A6000());
  lab.ReplyAt(kGlobal, 500);
  Program program = {Ldg().Write(0), Ldg().Write(1).Stall(2), Nop().Wait(1), Nop().Wait(2)};
  lab.Launch({program});
  lab.Run();
  EXPECT_EQ(lab.requests().size(), 1u);
  EXPECT_EQ(lab.AllStats(lab.now()).l1.global_load_mshr_hits, 4u);
  EXPECT_EQ(lab.Issued()[2], 512u);
  EXPECT_EQ(lab.Issued()[3], 513u);
}

TEST(Mshr, OnlySectorsThatNobodyFetchesAreRequested) {
  SmLab lab(A6000());
  Inst half = Ldg();
  half.mask = 0xFFFF;
  half.addresses = Strided(kGlobal, 4, 16);
  lab.Launch({{half, Ldg()}});
  lab.Run();
  ASSERT_EQ(lab.requests().size(), 2u);
  EXPECT_EQ(lab.requests()[0].sector_mask, 0x3);
  EXPECT_EQ(lab.requests()[1].sector_mask, 0xC);
  EXPECT_EQ(lab.AllStats(lab.now()).l1.global_load_mshr_hits, 2u);
}

TEST(Mshr, WhenAllAreTakenALoadWaitsForAReply) {
  GpuConfig config = A6000();
  config.l1.cache.mshr_entries = 2;
  SmLab lab(config);
  lab.ReplyAt(kGlobal, 900);
  lab.ReplyAt(kGlobal + 4096, 700);
  lab.Launch({{Ldg(4, kGlobal), Ldg(4, kGlobal + 4096), Ldg(4, kGlobal + 8192)}});
  lab.Run();
  EXPECT_EQ(lab.Issued(), (Cycles{2, 3, 700}));
  EXPECT_EQ(lab.Stats().stall_lg_throttle, 700u - 4);
}

TEST(Mshr, ALoadOfMoreLinesThanThereAreGoesAlone) {
  GpuConfig config = A6000();
  config.l1.cache.mshr_entries = 4;
  Inst scattered = Ldg(4, kGlobal + 65536);
  scattered.addresses = Strided(kGlobal + 65536, 128);
  SmLab lab(config);
  lab.ReplyAt(kGlobal, 600);
  lab.Launch({{Ldg(), scattered}});
  lab.Run();
  EXPECT_EQ(lab.Issued(), (Cycles{2, 600}));
  EXPECT_EQ(lab.requests().size(), 33u);
}

GpuConfig WithMshrs(uint32_t entries) {
  GpuConfig config = A6000();
  config.l1.cache.mshr_entries = entries;
  return config;
}

TEST(Mshr, WhatHitsOrJoinsAFillNeedsNone) {
  SmLab lab(WithMshrs(1));
  lab.set_reply_latency(20);
  lab.ReplyAt(kGlobal + 4096, 900);
  Inst both = Ldg();
  both.addresses = Strided(kGlobal + 64, 4, 16);
  const std::vector<uint64_t> rest = Strided(kGlobal + 4096, 4, 16);
  both.addresses.insert(both.addresses.end(), rest.begin(), rest.end());
  lab.Launch({Warm() +
              Program{Ldg(4, kGlobal + 4096), Ldg(), Ldg(4, kGlobal + 4096), both, Ldg(4, kGlobal + 8192)}});
  lab.Run();
  const Cycles issued = lab.Issued();
  EXPECT_EQ(Gaps({issued.begin() + 2, issued.end() - 1}), Cycles(3, 1)) << "a hit, a joiner, one of both";
  EXPECT_EQ(issued.back(), 900u) << "a miss";
}

TEST(Stores, ALocalOneThatHitsNeedsNoBuffer) {
  GpuConfig config = WithMshrs(1);  // two write buffers
  SmLab lab(config);
  lab.set_reply_latency(SmLab::kNoReply);
  const Inst local = Memory(MemOp::kStore, MemSpace::kLocal, 4, 64);
  Inst uniform = local;
  uniform.addresses = Strided(64, 0);
  lab.Launch({{uniform, Stg(4, kGlobal), Stg(4, kGlobal + 128), uniform}});
  lab.Run(1000);
  EXPECT_EQ(lab.Issued(), (Cycles{2, 3, 4, 5}));
}

TEST(Mshr, RoomGoesToTheRefusedInTheOrderOfTheirRefusal) {
  // Sub-cores 3 and 1 are refused in cycles 2 and 3; sub-core 1 steps first.
  SmLab lab(WithMshrs(1));
  lab.set_reply_latency(200);
  lab.ReplyAt(kGlobal, 500);
  lab.Launch({{Ldg()}, {Nop(), Ldg(4, kGlobal + 4096)}, {}, {Ldg(4, kGlobal + 8192)}});
  lab.Run();
  EXPECT_EQ(lab.Issued(3), (Cycles{500}));
  EXPECT_EQ(lab.Issued(1), (Cycles{2, lab.requests()[1].cycle + 200}));
}

TEST(Mshr, ALargeAccessIsNotPassedBySmallOnes) {
  SmLab lab(WithMshrs(4));
  Inst four = Ldg();
  four.addresses.clear();
  for (uint64_t lane = 0; lane < 32; ++lane) four.addresses.push_back(kGlobal + lane % 4 * 128);
  Inst three = Ldg();
  three.addresses.clear();
  for (uint64_t lane = 0; lane < 32; ++lane) three.addresses.push_back(kGlobal + 4096 + lane % 3 * 128);
  for (uint64_t line = 0; line < 4; ++line) lab.ReplyAt(kGlobal + line * 128, 500 + 100 * line);
  lab.Launch({{four}, {three}, {Nop(), Ldg(4, kGlobal + 8192)}});
  lab.Run();
  EXPECT_EQ(lab.Issued(1), (Cycles{700})) << "three are free";
  EXPECT_EQ(lab.Issued(2), (Cycles{2, 800}));
}

TEST(Mshr, ARefusedLoadThatCanJoinAFillDoesSoAtOnce) {
  SmLab lab(WithMshrs(1));
  lab.ReplyAt(kGlobal, 500);
  lab.ReplyAt(kGlobal + 4096, 900);
  lab.Launch({{Ldg()}, {Ldg(4, kGlobal + 4096)}, {Ldg(4, kGlobal + 4096)}});
  lab.Run();
  EXPECT_EQ(lab.Issued(1), (Cycles{500}));
  EXPECT_EQ(lab.Issued(2), (Cycles{501})) << "the cycle behind the load that fetches the line";
  EXPECT_EQ(lab.requests().size(), 2u);
}

TEST(Mshr, ARefusedAccessDoesNotHoldBackThoseBehindItAtTheQueue) {
  // Sub-core 0's queue is full until cycle 13. The load that is admitted then finds no MSHR; the shared load
  // that was refused behind it goes in the cycle after.
  SmLab lab(WithMshrs(1));
  lab.ReplyAt(kGlobal, 900);
  lab.LaunchInOneSubCore({{Ldg(4, kGlobal + 4096)}, {Lds()}, Program{Ldg()} + Repeat(Lds(), 4)});
  lab.Run();
  EXPECT_EQ(lab.IssuedInOneSubCore(2), (Cycles{2, 3, 4, 5, 6}));
  EXPECT_EQ(lab.IssuedInOneSubCore(1), (Cycles{14}));
  EXPECT_EQ(lab.IssuedInOneSubCore(0), (Cycles{900}));
}

TEST(Stores, WaitForAFreeBufferAndNotForTheirAcknowledgement) {
  GpuConfig config = A6000();
  config.l1.cache.mshr_entries = 2;  // twice as many store buffers
  SmLab lab(config);
  lab.set_reply_latency(SmLab::kNoReply);
  lab.ReplyAt(kGlobal, 800);
  Program program;
  for (uint64_t i = 0; i < 5; ++i) program.push_back(Stg(4, kGlobal + i * 128));
  lab.Launch({program});
  lab.Run(2000);
  EXPECT_EQ(lab.Issued(), (Cycles{2, 3, 4, 5, 800}));
}

TEST(Stores, WriteThroughWithoutAllocation) {
  SmLab lab(A6000());
  lab.Launch(
      {Program{Stg().Stall(15).Yield()} + Repeat(Nop().Stall(15).Yield(), 30) + Warm() + Program{Stg()}});
  lab.Run();
  const L1Stats l1 = lab.AllStats(lab.now()).l1;
  EXPECT_EQ(l1.global_store_sectors, 8u);
  EXPECT_EQ(l1.global_store_hits, 4u) << "present once loaded, not once stored";
  EXPECT_EQ(l1.global_load_hits, 0u);
  EXPECT_EQ(lab.requests().size(), 3u);
}

TEST(Translation, ReachesSixteenPagesOfTwoMebibytes) {
  GpuConfig config = A6000();
  config.tlb = TlbConfig{};
  const auto misses = [&](uint64_t pages) {
    SmLab lab(config);
    Program program;
    for (int round = 0; round < 3; ++round) {
      for (uint64_t p = 0; p < pages; ++p) {
        // Another line each time: the L1 does not answer.
        program.push_back(Ldg(4, kGlobal + p * (2 << 20) + static_cast<uint64_t>(round) * 4096));
      }
    }
    lab.Launch({program});
    lab.Run();
    EXPECT_EQ(lab.Stats().tlb_accesses, 3 * pages);
    return lab.Stats().tlb_misses;
  };
  EXPECT_EQ(misses(16), 16u);
  EXPECT_EQ(misses(17), 3u * 17) << "one page too many for least-recently-used replacement";
}

TEST(Translation, AMissDelaysItsRequest) {
  GpuConfig config = A6000();
  config.tlb = TlbConfig{};
  SmLab lab(config);
  lab.Launch({{Ldg(4, kGlobal).Stall(15).Yield(), Ldg(4, kGlobal + 4096)}});
  lab.Run();
  ASSERT_EQ(lab.requests().size(), 2u);
  const Cycle behind = 6 + 1 + config.l1.miss_detect_cycles;
  EXPECT_EQ(lab.requests()[0].cycle - lab.Issued()[0], behind + config.tlb.miss_cycles);
  EXPECT_EQ(lab.requests()[1].cycle - lab.Issued()[1], behind);
}

TEST(Shuffles, GoThroughThePipelineAndTakeTwoCyclesOfTheDataPath) {
  const auto shfl = [] { return Memory(MemOp::kShuffle, MemSpace::kNone, 4, 0); };
  EXPECT_EQ(Raw(shfl()), A6000().l1.shuffle_latency_cycles);
  SmLab lab(A6000());
  lab.Launch(std::vector<Program>(4, Repeat(shfl(), 40)));
  lab.Run();
  for (size_t w = 0; w < 4; ++w) EXPECT_EQ(lab.Issued(w)[35] - lab.Issued(w)[15], 20u * 8);
}

TEST(MaskedOff, AnAccessWithoutLanesTakesASlotAndMakesNoRequest) {
  SmLab lab(A6000());
  Inst off = Ldg().Write(0).Stall(2);
  off.mask = 0;
  off.addresses.clear();
  lab.Launch({{off, Nop().Wait(1)}});
  lab.Run();
  EXPECT_TRUE(lab.requests().empty());
  EXPECT_EQ(lab.AllStats(lab.now()).l1.requests, 0u);
  EXPECT_EQ(lab.Stats().masked_off_instructions, 1u);
}

TEST(MaskedOff, ItPassesTheAddressUnitAndTakesNothingOfTheDataPath) {
  GpuConfig config = A6000();
  config.l1.shuffle_interval_cycles = 8;
  Inst off = Ldg();
  off.mask = 0;
  off.addresses.clear();
  const Cycles issued = IssueCycles(Repeat(off, 40), config);
  EXPECT_EQ(issued[35] - issued[15], 20u * 4);
  EXPECT_EQ(Span({Inst(off).Write(0).Stall(2), Nop().Wait(1)}, config), 11u) << "its sources have been read";
}

}  // namespace
}  // namespace sm89
