#include "sim/sm/coalescer.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>

namespace sm89 {
namespace {

struct Access {
  AccessShape shape;
  DynInst inst;
};

Access Strided(LaneMask mask, uint64_t base, int64_t stride) {
  Access a;
  a.shape.mask = mask;
  a.shape.strided = true;
  a.shape.stride = stride;
  int64_t offset = 0;
  for (LaneMask rest = mask; rest != 0; rest &= rest - 1, offset += stride) {
    a.shape.offsets.push_back(static_cast<uint64_t>(offset));
  }
  a.inst.mask = mask;
  a.inst.base = base;
  return a;
}

CoalescedAccess Coalesced(Access a, MemSpace space, uint8_t width, const KernelCode& kernel = {},
                          MemOp op = MemOp::kLoad) {
  SmInst code;
  code.unit = ExecUnit::kMem;
  code.space = space;
  code.mem_op = op;
  code.width_bytes = width;
  a.inst.shape = &a.shape;
  CoalescedAccess out;
  Coalesce(code, a.inst, kernel, {0x1000'0000'0000}, nullptr, &out);
  return out;
}

uint32_t Sectors(const LineAccess* lines, uint32_t count) {
  uint32_t sectors = 0;
  for (uint32_t i = 0; i < count; ++i)
    sectors += static_cast<uint32_t>(__builtin_popcount(lines[i].sector_mask));
  return sectors;
}

TEST(CoalescerTest, UnitStrideIsOneLineOfFourWholeSectors) {
  const CoalescedAccess a = Coalesced(Strided(~0u, 0x7f0000000000, 4), MemSpace::kGlobal, 4);
  ASSERT_EQ(a.num_lines, 1u);
  EXPECT_EQ(a.lines[0].sector_mask, 0xF);
  EXPECT_EQ(a.lines[0].partial_mask, 0);
}

TEST(CoalescerTest, MisalignedByOneSectorTouchesTwoLines) {
  const CoalescedAccess a = Coalesced(Strided(~0u, 0x7f0000000020, 4), MemSpace::kGlobal, 4);
  ASSERT_EQ(a.num_lines, 2u);
  EXPECT_EQ(a.lines[0].sector_mask, 0xE);
  EXPECT_EQ(a.lines[1].sector_mask, 0x1);
}

TEST(CoalescerTest, LargeStrideIsOneSectorALane) {
  const CoalescedAccess a = Coalesced(Strided(~0u, 0x7f0000000000, 256), MemSpace::kGlobal, 4);
  EXPECT_EQ(a.num_lines, 32u);
  EXPECT_EQ(Sectors(a.lines.data(), a.num_lines), 32u);
  EXPECT_EQ(a.lines[0].partial_mask, 0x1) << "4 of 32 bytes are written";
}

TEST(CoalescerTest, NegativeStrideAndBroadcast) {
  EXPECT_EQ(Coalesced(Strided(~0u, 0x7f00000010fc, -4), MemSpace::kGlobal, 4).num_lines, 1u);
  EXPECT_EQ(Coalesced(Strided(~0u, 0x7f00000010f8, -4), MemSpace::kGlobal, 4).num_lines, 2u);
  const CoalescedAccess a = Coalesced(Strided(~0u, 0x7f0000000000, 0), MemSpace::kGlobal, 4);
  EXPECT_EQ(Sectors(a.lines.data(), a.num_lines), 1u);
}

TEST(CoalescerTest, AddressesWrapAtTheTopOfTheAddressSpace) {
  const CoalescedAccess a = Coalesced(Strided(0x3, 0xfffffffffffffffc, 4), MemSpace::kGlobal, 4);
  EXPECT_EQ(Sectors(a.lines.data(), a.num_lines), 2u);
}

TEST(CoalescerTest, LocalMemoryIsInterleavedByThread) {
  CoalescedAccess a = Coalesced(Strided(~0u, 0xfff72c, 0), MemSpace::kLocal, 4);
  EXPECT_EQ(a.num_lines, 0u);
  EXPECT_EQ(Sectors(a.local_lines.data(), a.num_local_lines), 4u);
  a = Coalesced(Strided(~0u, 0xfff730, 0), MemSpace::kLocal, 8);
  EXPECT_EQ(Sectors(a.local_lines.data(), a.num_local_lines), 8u);
  a = Coalesced(Strided(1u, 0xfff740, 0), MemSpace::kLocal, 4);
  EXPECT_EQ(Sectors(a.local_lines.data(), a.num_local_lines), 1u);
}

TEST(CoalescerTest, ScatteredWideLocalAccessesFitWhateverTheirOffsets) {
  // Every word of every lane in a line of its own: 4 words aligned, 5 off a word's border.
  EXPECT_EQ(Coalesced(Strided(~0u, 0, 16), MemSpace::kLocal, 16).num_local_lines, 128u);
  EXPECT_EQ(Coalesced(Strided(~0u, 1, 32), MemSpace::kLocal, 16).num_local_lines, 160u);
}

TEST(CoalescerTest, GenericAddressesGoByTheirWindowsInEitherOrder) {
  for (const bool local_below : {true, false}) {
    KernelCode kernel;
    kernel.shmem_base = 0x7f5a10000000;
    kernel.local_base = local_below ? 0x7f5a0e000000 : 0x7f5a12000000;
    EXPECT_EQ(
        Coalesced(Strided(~0u, kernel.shmem_base + 0x100, 4), MemSpace::kGeneric, 4, kernel).shared_passes,
        1u);
    EXPECT_EQ(
        Coalesced(Strided(~0u, kernel.local_base + 0x40, 0), MemSpace::kGeneric, 4, kernel).num_local_lines,
        1u);
    EXPECT_EQ(Coalesced(Strided(~0u, 0x7f4c80000000, 4), MemSpace::kGeneric, 4, kernel).num_lines, 1u);
  }
}

struct PassCase {
  int64_t stride;
  uint8_t width;
  uint32_t passes;
};

TEST(CoalescerTest, SharedPassesFollowTheBanks) {
  // Stride in bytes, width, passes over 32 banks of 4 bytes.
  for (const PassCase& c : {PassCase{4, 4, 1},
                            {0, 4, 1},
                            {8, 4, 2},
                            {16, 4, 4},
                            {128, 4, 32},
                            {132, 4, 1},
                            {8, 8, 2},
                            {16, 16, 4},
                            {256, 8, 32},
                            {0, 16, 4}}) {
    EXPECT_EQ(Coalesced(Strided(~0u, 0, c.stride), MemSpace::kShared, c.width).shared_passes, c.passes)
        << "stride " << c.stride << " width " << int{c.width};
  }
}

TEST(CoalescerTest, ReadModifyWritesOfOneWordFollowEachOther) {
  const auto passes = [](int64_t stride, MemOp op) {
    return Coalesced(Strided(~0u, 0, stride), MemSpace::kShared, 4, {}, op).shared_passes;
  };
  EXPECT_EQ(passes(0, MemOp::kStore), 1u);
  EXPECT_EQ(passes(0, MemOp::kAtomic), 32u);
  EXPECT_EQ(passes(0, MemOp::kReduction), 32u);
  EXPECT_EQ(passes(4, MemOp::kAtomic), 1u) << "32 banks";
  EXPECT_EQ(passes(8, MemOp::kAtomic), 2u);
}

TEST(CoalescerTest, MatrixLoadsCountTheRowsOfTheirFirstLanes) {
  SmInst code;
  code.unit = ExecUnit::kMem;
  code.space = MemSpace::kShared;
  code.mem_op = MemOp::kLoadMatrix;
  code.width_bytes = 16;
  // 8 rows of 16 bytes a matrix; rows 128 B apart lie in the same four banks.
  for (const uint32_t matrices : {1u, 2u, 4u}) {
    for (const auto& [stride, passes] : {std::pair<int64_t, uint32_t>{16, 1}, {144, 1}, {128, 8}, {32, 2}}) {
      code.matrices = static_cast<uint8_t>(matrices);
      code.address_lanes = matrices == 4 ? ~0u : (1u << 8 * matrices) - 1;
      Access a = Strided(~0u, 0, stride);
      a.inst.shape = &a.shape;
      CoalescedAccess out;
      Coalesce(code, a.inst, {}, {}, nullptr, &out);
      EXPECT_EQ(out.shared_passes, passes * matrices) << "x" << matrices << " stride " << stride;
    }
  }
}

TEST(CoalescerTest, BytesOfEachSectorAreKnown) {
  const CoalescedAccess a =
      Coalesced(Strided(0xF, 0x7f0000000018, 4), MemSpace::kGlobal, 4, {}, MemOp::kStore);
  ASSERT_EQ(a.num_lines, 1u);
  EXPECT_EQ(a.lines[0].sector_mask, 0x3);
  EXPECT_EQ(a.lines[0].partial_mask, 0x3);
  EXPECT_EQ(a.lines[0].bytes[0], 0xFF000000u);
  EXPECT_EQ(a.lines[0].bytes[1], 0x000000FFu);
  // Two half sectors of one instruction are a whole one.
  const CoalescedAccess whole = Coalesced(Strided(0x3, 0x7f0000000000, 16), MemSpace::kGlobal, 16);
  EXPECT_EQ(whole.lines[0].partial_mask, 0);
  EXPECT_EQ(whole.lines[0].bytes[0], ~0u);
}

TEST(CoalescerTest, AtomicsKnowTheirLanesAndTheMostOnOneAddress) {
  const auto atomic = [](Access a) { return Coalesced(a, MemSpace::kGlobal, 4, {}, MemOp::kReduction); };
  CoalescedAccess a = atomic(Strided(~0u, 0x7f0000000000, 0));
  EXPECT_EQ(a.lines[0].lanes, 32);
  EXPECT_EQ(a.lines[0].same_address_lanes, 32);
  a = atomic(Strided(~0u, 0x7f0000000000, 4));
  EXPECT_EQ(a.lines[0].lanes, 32);
  EXPECT_EQ(a.lines[0].same_address_lanes, 1);
  a = atomic(Strided(0xFF, 0x7f0000000040, 16));
  ASSERT_EQ(a.num_lines, 2u);
  EXPECT_EQ(a.lines[0].lanes, 4);
  EXPECT_EQ(a.lines[1].lanes, 4);
  Access mixed = Strided(0x7, 0x7f0000000000, 4);
  mixed.shape.strided = false;
  mixed.shape.offsets = {0, 8, 0};
  a = atomic(mixed);
  EXPECT_EQ(a.lines[0].lanes, 3);
  EXPECT_EQ(a.lines[0].same_address_lanes, 2);
}

void ExpectSameLines(const CoalescedAccess& a, const CoalescedAccess& b, const std::string& where) {
  ASSERT_EQ(a.num_lines, b.num_lines) << where;
  for (uint32_t i = 0; i < a.num_lines; ++i) {
    EXPECT_EQ(a.lines[i].line, b.lines[i].line) << where;
    EXPECT_EQ(a.lines[i].sector_mask, b.lines[i].sector_mask) << where;
    EXPECT_EQ(a.lines[i].partial_mask, b.lines[i].partial_mask) << where;
    EXPECT_EQ(a.lines[i].bytes, b.lines[i].bytes) << where;
  }
  EXPECT_EQ(a.shared_passes, b.shared_passes) << where;
  EXPECT_EQ(a.shared_passes_min, b.shared_passes_min) << where;
}

uint32_t AtomicFlits(const Access& access) {
  const CoalescedAccess a = Coalesced(access, MemSpace::kGlobal, 4, {}, MemOp::kReduction);
  uint32_t flits = 0;
  for (uint32_t i = 0; i < a.num_lines; ++i) flits += a.lines[i].atomic_flits;
  return flits;
}

// Cycles of an SM's port on an H200 (tests/data/requests/h200.txt).
TEST(CoalescerTest, AtomicsGoInPacketsThatHoldEachAddressOnce) {
  const uint64_t base = 0x7f0000000000;
  EXPECT_EQ(AtomicFlits(Strided(~0u, base, 4)), 5u) << "4sectors";
  EXPECT_EQ(AtomicFlits(Strided(0xFF, base, 4)), 2u) << "1sector";
  EXPECT_EQ(AtomicFlits(Strided(~0u, base, 128)), 32u) << "stride128";
  EXPECT_EQ(AtomicFlits(Strided(~0u, base, 64)), 48u) << "stride64";
  EXPECT_EQ(AtomicFlits(Strided(~0u, base, 32)), 40u) << "stride32";
  EXPECT_EQ(AtomicFlits(Strided(~0u, base, 0)), 32u) << "same";
  Access pairs = Strided(~0u, base, 0);
  Access four_words = Strided(~0u, base, 0);
  pairs.shape.strided = four_words.shape.strided = false;
  for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
    pairs.shape.offsets[lane] = lane / 2 * 4;
    four_words.shape.offsets[lane] = lane / 8 * 4;
  }
  EXPECT_EQ(AtomicFlits(pairs), 6u) << "pairs";
  EXPECT_EQ(AtomicFlits(four_words), 16u) << "four_words";
}

TEST(CoalescerTest, ShortCutsForStridesChangeNothing) {
  std::mt19937_64 rng(1);
  for (int i = 0; i < 2000; ++i) {
    const auto width = static_cast<uint8_t>(1u << rng() % 5);
    const int64_t stride = rng() % 2 == 0 ? width : static_cast<int64_t>(rng() % 5) * width - width;
    const LaneMask mask = rng() % 2 == 0 ? ~0u : static_cast<LaneMask>(rng()) | 1u;
    const MemSpace space = rng() % 2 == 0 ? MemSpace::kGlobal : MemSpace::kShared;
    const MemOp op = rng() % 4 == 0 ? MemOp::kAtomic : MemOp::kStore;
    const Access fast = Strided(mask, 0x7f0000001000 + rng() % 64 * width, stride);
    Access slow = fast;
    slow.shape.strided = false;
    const CoalescedAccess a = Coalesced(fast, space, width, {}, op);
    ExpectSameLines(a, Coalesced(slow, space, width, {}, op),
                    "width " + std::to_string(width) + " stride " + std::to_string(stride) + " mask " +
                        std::to_string(mask) + " space " + std::to_string(static_cast<int>(space)));
  }
}

TEST(SharedPassMemoTest, GivesWhatACountGives) {
  SharedPassMemo memo;
  SmInst code;
  code.unit = ExecUnit::kMem;
  code.space = MemSpace::kShared;
  uint32_t id = 0;
  for (const uint64_t stride : {4u, 8u, 12u, 36u, 64u, 128u, 132u}) {
    const Access access = Strided(~0u, 0, stride);
    AccessShape shape = access.shape;
    shape.id = id++;
    for (const uint32_t width : {1u, 4u, 8u, 16u}) {
      for (const bool merge : {false, true}) {
        for (const uint64_t base : {0u, 1u, 4u, 6u, 124u, 1020u, 4u, 0u}) {
          code.width_bytes = static_cast<uint8_t>(width);
          DynInst inst = access.inst;
          inst.shape = &shape;
          inst.base = base;
          uint32_t minimum = 0;
          uint32_t remembered = 0;
          const uint32_t counted =
              SharedPasses(shape.mask, shape.offsets.data(), base, width, merge, &minimum);
          EXPECT_EQ(memo.Passes(code, inst, merge, &remembered), counted)
              << stride << ' ' << width << ' ' << base;
          EXPECT_EQ(remembered, minimum);
        }
      }
    }
  }
}

// Of random accesses: a bank serves one word a pass, every lane gets all its words, and the passes are those
// that the timing counts.
TEST(SharedBankWordsTest, AreThePassesWordByWord) {
  std::mt19937 random(7);
  for (int round = 0; round < 2000; ++round) {
    SmInst code;
    code.unit = ExecUnit::kMem;
    code.space = MemSpace::kShared;
    code.width_bytes = static_cast<uint8_t>(1u << random() % 5);
    code.mem_op = random() % 4 == 0 ? MemOp::kAtomic : MemOp::kLoad;
    Access access = Strided(random() | 1u, random() % 64 * code.width_bytes, 0);
    for (size_t i = 1; i < access.shape.offsets.size(); ++i) {
      access.shape.offsets[i] = random() % 128 * code.width_bytes;
    }
    access.inst.shape = &access.shape;
    access.shape.strided = false;
    CoalescedAccess counted;
    Coalesce(code, access.inst, {}, {}, nullptr, &counted);
    const std::vector<BankWord> words = SharedBankWords(code, access.inst, {});
    const size_t words_per_lane = std::max(1, code.width_bytes / 4);
    EXPECT_EQ(words.size(), access.shape.offsets.size() * words_per_lane);
    uint32_t passes = 0;
    std::map<std::pair<uint32_t, uint32_t>, uint64_t> served;  // (pass, bank) -> word
    for (const BankWord& w : words) {
      EXPECT_EQ(w.bank, w.word % 32);
      passes = std::max(passes, w.pass + 1);
      const auto [at, first] = served.emplace(std::pair(w.pass, w.bank), w.word);
      EXPECT_EQ(at->second, w.word) << "two words of one bank in one pass";
      EXPECT_EQ(w.joins, !first);
      EXPECT_FALSE(w.joins && code.mem_op == MemOp::kAtomic) << "read-modify-writes follow each other";
    }
    EXPECT_EQ(passes, counted.shared_passes);
  }
}

TEST(SharedBankWordsTest, LeaveOutLanesOfOtherSpaces) {
  SmInst code;
  code.unit = ExecUnit::kMem;
  code.space = MemSpace::kGeneric;
  code.mem_op = MemOp::kLoad;
  code.width_bytes = 4;
  KernelCode kernel;
  kernel.shmem_base = 0x7f0000000000;
  Access access = Strided(0b1101, kernel.shmem_base + 8, 4);
  access.shape.offsets[1] = 0x100000000;  // lane 2: global memory
  access.inst.shape = &access.shape;
  const std::vector<BankWord> words = SharedBankWords(code, access.inst, kernel);
  ASSERT_EQ(words.size(), 2u);
  EXPECT_EQ(words[0].lane, 0);
  EXPECT_EQ(words[0].bank, 2);
  EXPECT_EQ(words[1].lane, 3);
  EXPECT_EQ(words[1].bank, 4);
  access.inst.shape = nullptr;
  EXPECT_TRUE(SharedBankWords(code, access.inst, kernel).empty());
}

}  // namespace
}  // namespace sm89
