// Exact operands of machine code. Words are ptxas output; the comment is the vendor's text.
#include <gtest/gtest.h>

#include <algorithm>

#include "sim/replay/static_inst.h"
#include "sim/sass/decode.h"
#include "tests/unit/sim_isa/decode_helpers.h"
#include "tests/unit/sim_sass/listing.h"

namespace sm89 {
namespace {

StaticInst Encoded(const sass::Word128& word, uint32_t arch) {
  const absl::StatusOr<sass::Instruction> inst = sass::Decode(word, arch);
  EXPECT_TRUE(inst.ok()) << inst.status();
  return MakeStaticInst(inst.value(), 0, 0);
}

DecodedInst DecodeWord(uint64_t low, uint64_t high, uint32_t arch = 89) {
  return Decode(Encoded({low, high}, arch), arch);
}

std::string Slots(const DecodedInst& inst) {
  std::string text;
  for (int i = 0; i < 3; ++i) {
    const RegRange& slot = inst.slots[static_cast<size_t>(i)];
    if (slot.count == 0) continue;
    if (!text.empty()) text += ' ';
    text += std::string(1, static_cast<char>('A' + i)) + "=" + Ranges(std::array{slot}, 1);
  }
  return text;
}

struct WordRow {
  const char* text;
  uint64_t low, high;
  const char* dests;
  const char* sources;
  const char* slots;
};

TEST(EncodedOperands, EveryFileTheGuardAndTheSlots) {
  const WordRow rows[] = {
      {"@P0 FADD R2, R2, R7", 0x0000000702020221, 0x000fc80000000000, "R2", "R2 R7 P0", "A=R2 C=R7"},
      {"FFMA R7, R2, c[0x0][0x170], R7", 0x00005c0002077a23, 0x004fca0000000007, "R7", "R2 R7", "A=R2 C=R7"},
      {"FFMA R5, R21, R23.reuse, R28", 0x0000001715057223, 0x080fe2000000001c, "R5", "R21 R23 R28",
       "A=R21 B=R23 C=R28"},
      {"IMAD.WIDE R2, R12, R5, c[0x0][0x160]", 0x000058000c027625, 0x000fe400078e0205, "R2x2", "R12 R5",
       "A=R12 B=R5"},
      {"IADD3.X R8, R21, R15, R19, P3, P4", 0x0000000f15087210, 0x000fca0001fe8413, "R8", "R21 R15 R19 P3 P4",
       "A=R21 B=R15 C=R19"},
      {"IADD3 R4, P0, R3, RZ, RZ", 0x000000ff03047210, 0x003fde0007f1e0ff, "R4 P0", "R3", "A=R3"},
      {"SEL R27, R12, R25, P1", 0x000000190c1b7207, 0x000fc40000800000, "R27", "R12 R25 P1", "A=R12 B=R25"},
      {"PLOP3.LUT P1, PT, PT, PT, UP0, 0x80, 0x0", 0x000000000000781c, 0x000fe20003f2f008, "P1", "UP0", ""},
      {"R2P PR, R71, 0x7e", 0x0000007e47007804, 0x000fe20000000000, "P1x6", "R71", "A=R71"},
      {"P2R R34, PR, RZ, 0x40", 0x00000040ff227803, 0x000fc80000000000, "R34", "P6", ""},
      {"VOTEU.ANY UR6, UPT, PT", 0x0000000000067886, 0x000fe400038e0100, "UR6", "", ""},
      {"LDG.E.128 R8, [R2.64+0x40]", 0x0000400402087981, 0x000ea2000c1e1d00, "R8x4", "R2x2 UR4x2", "A=R2x2"},
      {"STG.E.64 [R2.64], R4", 0x0000000402007986, 0x0001ea000c101b06, "", "R2x2 UR6x2 R4x2",
       "A=R2x2 B=R4x2"},
      {"LDGSTS.E.BYPASS.128 [R67+0x2800], [R36.64+0x40]", 0x0280004024437fae, 0x0003e8000b901c46, "",
       "R67 R36x2 UR6x2", "A=R67 B=R36x2"},
      {"ATOMG.E.CAS.STRONG.GPU PT, R7, [R2+0x40], R6, R7", 0x00004006020773a9, 0x004ea800001ee107, "R7",
       "R2x2 R6 R7", "A=R2x2 B=R6 C=R7"},
      {"@P0 RED.E.ADD.STRONG.GPU [R2.64+0x40], R9", 0x000040090200098e, 0x000fe8000c10e186, "",
       "R2x2 UR6x2 R9 P0", "A=R2x2 B=R9"},
      {"SHFL.DOWN PT, R7, R4, 0x1, 0x1f", 0x08201f0004077f89, 0x00006200000e0000, "R7", "R4", "A=R4"},
      {"HMMA.16816.F32 R16, R4, R12, R16", 0x0000000c0410723c, 0x004fee0000001810, "R16x4",
       "R4x4 R12x2 R16x4", "A=R4x4 B=R12x2 C=R16x4"},
      {"HMMA.SP.16832.F32 R16, R4, R8, R16, R0, 0x0", 0x000000080410723c, 0x000fe20000005a10, "R16x4",
       "R4x4 R8x4 R16x4 R0", "A=R4x4 B=R8x4 C=R16x4"},
      {"LDSM.16.M88.2 R48, [R66+0x11a0]", 0x0011a0004230783b, 0x000e6e0000000100, "R48x2", "R66", "A=R66"},
      {"DADD R4, R4, R6", 0x0000000004047229, 0x0040640000000006, "R4x2", "R4x2 R6x2", "A=R4x2 C=R6x2"},
      {"CS2R R16, SRZ", 0x0000000000107805, 0x000fe2000001ff00, "R16x2", "", ""},
      {"LDS R0, [UR4]", 0x00000004ff007984, 0x000e220008000800, "R0", "UR4", ""},
  };
  for (const WordRow& row : rows) {
    const DecodedInst inst = DecodeWord(row.low, row.high);
    EXPECT_EQ(Dests(inst), row.dests) << row.text;
    EXPECT_EQ(Sources(inst), row.sources) << row.text;
    EXPECT_EQ(Slots(inst), row.slots) << row.text;
    EXPECT_EQ(inst.guarded, row.text[0] == '@') << row.text;
  }
}

TEST(EncodedOperands, AGuardThatIsAlwaysFalseReadsNoPredicate) {
  // @!UPT UIADD3 URZ, URZ, URZ, URZ
  const DecodedInst filler = DecodeWord(0x0000003f3f3ff290, 0x000fe4000fffe03f);
  EXPECT_FALSE(filler.guarded);
  EXPECT_EQ(Sources(filler), "");
  EXPECT_EQ(Dests(filler), "");
}

TEST(EncodedOperands, Constants) {
  struct Row {
    const char* text;
    uint64_t low, high;
    int bank;
    uint32_t offset;
  };
  const Row rows[] = {
      {"FFMA R7, R2, c[0x0][0x170], R7", 0x00005c0002077a23, 0x004fca0000000007, 0, 0x170},
      {"IMAD.WIDE R2, R12, R5, c[0x0][0x160]", 0x000058000c027625, 0x000fe400078e0205, 0, 0x160},
      {"ULDC.64 UR4, c[0x0][0x118]", 0x0000460000047ab9, 0x000fc80000000a00, 0, 0x118},
      {"LDC R2, c[0x0][R2+0x160]", 0x0000580002027b82, 0x00321e0000000800, DecodedInst::kNoConstant, 0},
      {"LDC R255 as index", 0x00005800ff027b82, 0x00321e0000000800, 0, 0x160},
      {"FADD R2, R2, R7", 0x0000000702027221, 0x000fc80000000000, DecodedInst::kNoConstant, 0}};
  for (const Row& row : rows) {
    const DecodedInst inst = DecodeWord(row.low, row.high);
    EXPECT_EQ(inst.constant_bank, row.bank) << row.text;
    EXPECT_EQ(inst.constant_offset, row.offset) << row.text;
  }
}

TEST(EncodedOperands, AddressesWithoutGeneralRegisters) {
  EXPECT_TRUE(DecodeWord(0x00000004ff007984, 0x000e220008000800).uniform_address) << "LDS R0, [UR4]";
  EXPECT_FALSE(DecodeWord(0x0000400402087981, 0x000ea2000c1e1d00).uniform_address) << "LDG.E.128 R8, [R2.64]";
  EXPECT_FALSE(DecodeWord(0x0280004024437fae, 0x0003e8000b901c46).uniform_address) << "LDGSTS";
  EXPECT_FALSE(DecodeWord(0x0000000702027221, 0x000fc80000000000).uniform_address) << "FADD";
}

TEST(EncodedOperands, BarriersAndCounters) {
  const DecodedInst depbar = DecodeWord(0x000080400000791a, 0x000fc80000000000);  // DEPBAR.LE SB0, 0x1
  EXPECT_EQ(depbar.depbar_counter, 0);
  EXPECT_EQ(depbar.depbar_mask, 0);
  EXPECT_EQ(depbar.immediate, 1);
  const DecodedInst list = DecodeWord(0x0000a0400000791a | uint64_t{0x5} << 32, 0x000fc80000000000);
  EXPECT_EQ(list.depbar_counter, 2) << "DEPBAR.LE SB2, 0x1, {0,2}";
  EXPECT_EQ(list.depbar_mask, 5);

  const DecodedInst sync = DecodeWord(0x0000000000007b1d, 0x000fec0000010000);  // BAR.SYNC.DEFER_BLOCKING 0x0
  EXPECT_EQ(sync.immediate, 0);
  EXPECT_EQ(sync.barrier_threads, 0u);
  const DecodedInst arrive = DecodeWord(0x0081000000007b1d, 0x000fec0000002000);  // BAR.ARV 0x2, 0x40
  EXPECT_EQ(arrive.immediate, 2);
  EXPECT_EQ(arrive.barrier_threads, 64u);
  EXPECT_TRUE(arrive.arrives_only);
  const DecodedInst registers = DecodeWord(0x000000000000731d, 0x000fec0000000000);  // BAR.SYNC R0, R0
  EXPECT_EQ(registers.immediate, DecodedInst::kUnknownBarrier);
  EXPECT_EQ(registers.barrier_threads, 0u);
  EXPECT_EQ(Sources(registers), "R0 R0");
}

TEST(EncodedOperands, AWordThatNobodyKnowsKeepsTheTextsOperands) {
  StaticInst raw = Inst("FADD", {1}, {2, 3});
  raw.has_encoding = true;
  raw.encoding.fill(0xff);
  const DecodedInst inst = Decode(raw);
  EXPECT_EQ(Dests(inst), "R1");
  EXPECT_EQ(Sources(inst), "R2 R3");
  EXPECT_EQ(Slots(inst), "A=R2 C=R3");
  EXPECT_TRUE(inst.has_control_bits);
}

TEST(ControlSource, MachineCodeOnlyWhereEveryInstructionHasIt) {
  const StaticInst fadd = Encoded({0x0000000702027221, 0x000fc80000000000}, 89);
  EXPECT_EQ(DecodeAll({fadd, fadd}).control_source, ControlSource::kMachineCode);
  EXPECT_EQ(DecodeAll({fadd, Inst("EXIT")}).control_source, ControlSource::kSynthesised);
  EXPECT_EQ(DecodeAll({}).control_source, ControlSource::kSynthesised);

  DecodeOptions options;
  options.ignore_control_bits = true;
  const DecodedKernel ignored = DecodeKernel(std::span(&fadd, 1), options);
  EXPECT_EQ(ignored.control_source, ControlSource::kSynthesised);
  EXPECT_FALSE(ignored.insts[0].has_control_bits);
  EXPECT_EQ(ignored.insts[0].bits.stall_cycles, 0);
  EXPECT_EQ(Sources(ignored.insts[0]), "R2 R7");
}

// Every word of the corpus: operands within bounds, and each register that a trace would name is among them.
TEST(EncodedOperands, CoverTheTextOfEveryWordOfTheCorpus) {
  const auto& listing = testing::Listing();
  if (listing.empty()) GTEST_SKIP() << "../shared/sass/listing.tsv.xz is not here";
  int words = 0, failures = 0, reads = 0, writes = 0;
  for (const testing::ListingRow& row : listing) {
    const auto code = sass::Decode(row.word, row.arch());
    if (!code.ok()) continue;
    const StaticInst raw = MakeStaticInst(*code, 0, 0);
    const DecodedKernel kernel = DecodeKernel(std::span(&raw, 1), {.binary_version = row.arch()});
    if (!kernel.unknown.empty()) continue;
    const DecodedInst& inst = kernel.insts[0];
    ++words;
    reads = std::max<int>(reads, inst.num_sources);
    writes = std::max<int>(writes, inst.num_dests);
    const auto covers = [](const auto& ranges, int count, const RegRef& reg) {
      const int zero = reg.file == RegFile::kGeneral ? 255 : reg.file == RegFile::kUniform ? 63 : 7;
      if (reg.index == zero) return true;
      return std::any_of(ranges.begin(), ranges.begin() + count, [&](const RegRange& range) {
        return range.file == reg.file && reg.index >= range.first && reg.index < range.first + range.count;
      });
    };
    for (int i = 0; i < raw.num_sources; ++i) {
      if (!covers(inst.sources, inst.num_sources, raw.sources[i]) && ++failures < 10) {
        ADD_FAILURE() << row.text;
      }
    }
    for (int i = 0; i < raw.num_dests; ++i) {
      if (!covers(inst.dests, inst.num_dests, raw.dests[i]) && ++failures < 10) ADD_FAILURE() << row.text;
    }
  }
  EXPECT_GT(words, 200'000);
  EXPECT_EQ(failures, 0);
  std::printf("%d words, at most %d reads and %d writes\n", words, reads, writes);
}

}  // namespace
}  // namespace sm89
