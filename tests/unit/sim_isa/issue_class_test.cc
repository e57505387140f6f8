// Dependence and timing classes, and what text alone tells about slots and addresses.
#include "sim/isa/issue_class.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>

#include "sim/isa/modifiers.h"
#include "sim/sass/decode.h"
#include "tests/unit/sim_isa/decode_helpers.h"
#include "tests/unit/sim_sass/listing.h"

namespace sm89 {
namespace {

using D = DepClass;

TEST(DepClass, OfEachKindOfInstruction) {
  const std::pair<const char*, D> rows[] = {{"IADD3", D::kAlu},
                                            {"LOP3.LUT", D::kAlu},
                                            {"MOV", D::kAlu},
                                            {"SEL", D::kAlu},
                                            {"PRMT", D::kAlu},
                                            {"FSETP.GT.AND", D::kAlu},
                                            {"FMNMX", D::kAlu},
                                            {"FSEL", D::kAlu},
                                            {"I2FP.F32.S32", D::kAlu},
                                            {"F2FP.BF16.F32.PACK_AB", D::kAlu},
                                            {"IABS", D::kAlu},
                                            {"PLOP3.LUT", D::kAlu},
                                            {"VOTE.ALL", D::kAlu},
                                            {"CS2R.32", D::kAlu},
                                            {"NOP", D::kAlu},
                                            {"FADD", D::kFma},
                                            {"FFMA.FTZ", D::kFma},
                                            {"IMAD.MOV.U32", D::kFma},
                                            {"IMAD.X", D::kFma},
                                            {"IDP.4A.S8.S8", D::kFma},
                                            {"IMAD.WIDE.U32", D::kImadWide},
                                            {"IMAD.HI.U32", D::kImadWide},
                                            {"HADD2", D::kHalf},
                                            {"HFMA2.BF16_V2", D::kHalf},
                                            {"HFMA2.MMA", D::kFp64},
                                            {"CS2R", D::kPair},
                                            {"LEPC", D::kPair},
                                            {"HMMA.1688.F32", D::kMmaShort},
                                            {"HMMA.1684.F32.TF32", D::kMmaShort},
                                            {"IMMA.16816.S8.S8", D::kMmaShort},
                                            {"IMMA.8832.S4.S4", D::kMmaShort},
                                            {"HMMA.SP.16816.F16", D::kMmaShort},
                                            {"HMMA.16816.F32", D::kMmaLong},
                                            {"HMMA.1688.F32.TF32", D::kMmaLong},
                                            {"QMMA.16832.F32.E4M3.E4M3", D::kMmaLong},
                                            {"HMMA.SP.16832.F32", D::kMmaLong},
                                            {"UIADD3", D::kUniform},
                                            {"ULOP3.LUT", D::kUniform},
                                            {"ULDC.64", D::kUniformLoad},
                                            {"UMOV", D::kUniformLoad},
                                            {"VOTEU.ANY", D::kUniformLoad},
                                            {"MUFU.RCP", D::kDecoupled},
                                            {"POPC", D::kDecoupled},
                                            {"F2I.TRUNC", D::kDecoupled},
                                            {"S2R", D::kDecoupled},
                                            {"S2UR", D::kDecoupled},
                                            {"R2UR", D::kDecoupled},
                                            {"REDUX.SUM.S32", D::kDecoupled},
                                            {"BRA", D::kDecoupled},
                                            {"BMOV.32.CLEAR", D::kDecoupled},
                                            {"LDG.E", D::kAddress},
                                            {"STS", D::kAddress},
                                            {"LDC", D::kAddress},
                                            {"SHFL.IDX", D::kAddress},
                                            {"BAR.SYNC", D::kAddress},
                                            {"LDGDEPBAR", D::kAddress},
                                            {"QSPC.E.S", D::kAddress}};
  for (const auto& [opcode, dep] : rows) {
    EXPECT_EQ(Decode(Inst(opcode)).dep, dep) << opcode;
  }
}

TEST(DepClass, Fp64IsDecoupledWhereTheSmSharesOneUnit) {
  for (const char* opcode : {"DADD", "DFMA", "DSETP.GT.AND"}) {
    EXPECT_EQ(Decode(Inst(opcode), 89).dep, D::kDecoupled) << opcode;
    EXPECT_EQ(Decode(Inst(opcode), 86).dep, D::kDecoupled) << opcode;
    EXPECT_EQ(Decode(Inst(opcode), 80).dep, D::kFp64) << opcode;
    EXPECT_EQ(Decode(Inst(opcode), 90).dep, D::kFp64) << opcode;
  }
  EXPECT_EQ(Decode(Inst("DMMA.884"), 89).dep, D::kDecoupled);
  EXPECT_EQ(Decode(Inst("DMMA.884"), 80).dep, D::kDmma);
}

// ptxas gives a counter exactly to results whose time it does not know. Of each opcode, counters occur or
// they do not; instructions whose result nobody reads have none, so one with a counter settles it.
TEST(DepClass, VariableLatencyIsWhatPtxasCounts) {
  const auto& listing = testing::Listing();
  if (listing.empty()) GTEST_SKIP() << "../shared/sass/listing.tsv.xz is not here";
  std::map<std::pair<std::string, uint32_t>, std::pair<int, int>> counted;  // with a write counter, without
  for (const testing::ListingRow& row : listing) {
    const auto code = sass::Decode(row.word, row.arch());
    if (!code.ok()) continue;
    auto& [with, without] = counted[{sass::PrintOpcode(*code), row.arch()}];
    ++(code->control.write_counter != 7 ? with : without);
  }
  int checked = 0;
  for (const auto& [key, counts] : counted) {
    const DecodedKernel kernel = DecodeAll({Inst(key.first)}, key.second);
    if (!kernel.unknown.empty()) continue;
    ++checked;
    const bool variable = HasVariableLatency(kernel.insts[0].dep);
    EXPECT_TRUE(variable || counts.first == 0)
        << key.first << " of sm_" << key.second << " has a counter " << counts.first << " times";
  }
  EXPECT_GT(checked, 500);
}

TEST(TimingClass, FinerRowsOfTheUnits) {
  using T = TimingClass;
  const std::pair<const char*, T> rows[] = {{"F2F.F32.F64", T::kConvert}, {"F2I.TRUNC", T::kConvert},
                                            {"I2F.RP", T::kConvert},      {"FRND.CEIL", T::kConvert},
                                            {"I2FP.F32.S32", T::kUnit},   {"F2FP.F16.F32.PACK_AB", T::kUnit},
                                            {"POPC", T::kIntegerSfu},     {"FLO.U32", T::kIntegerSfu},
                                            {"BREV", T::kIntegerSfu},     {"MUFU.EX2", T::kUnit},
                                            {"S2R", T::kSpecialRegister}, {"S2UR", T::kSpecialRegister},
                                            {"CS2R", T::kUnit},           {"B2R.RESULT", T::kSpecialRegister},
                                            {"VOTE.ANY", T::kUnit},       {"MATCH.ANY", T::kVote},
                                            {"REDUX.OR", T::kVote},       {"R2UR", T::kVote},
                                            {"VOTEU.ALL", T::kUnit},      {"LDG.E", T::kUnit}};
  for (const auto& [opcode, timing] : rows) EXPECT_EQ(Decode(Inst(opcode)).timing, timing) << opcode;
}

// Half-pipes of an Ampere or Ada sub-core: comparisons, selections and minimum of FP32 values are integer
// logic, moves by IMAD are not.
TEST(Units, HalfPipes) {
  for (const char* opcode :
       {"MOV",          "SEL",     "PRMT",         "LEA",      "IMNMX",     "FMNMX",    "FSETP.GT.AND",
        "FSEL",         "FSET.BF", "I2FP.F32.S32", "IABS",     "SHF.L.U32", "LOP3.LUT", "IADD3",
        "ISETP.GE.AND", "BMSK",    "PLOP3.LUT",    "VOTE.ANY", "P2R",       "R2P"}) {
    EXPECT_EQ(Decode(Inst(opcode)).unit, ExecUnit::kInt) << opcode;
  }
  for (const char* opcode : {"IMAD", "IMAD.MOV.U32", "IMAD.SHL.U32", "IMAD.WIDE", "IDP.4A.S8.S8"}) {
    EXPECT_EQ(Decode(Inst(opcode)).unit, ExecUnit::kImad) << opcode;
  }
}

RegRange General(int first, int count = 1) {
  return {RegFile::kGeneral, static_cast<uint8_t>(first), static_cast<uint8_t>(count)};
}

void ExpectSlot(const DecodedInst& inst, int slot, const RegRange& expected) {
  EXPECT_EQ(inst.slots[slot].first, expected.first) << slot;
  EXPECT_EQ(inst.slots[slot].count, expected.count) << slot;
}

TEST(TextOperands, SlotsFollowTheReadingOrder) {
  const DecodedInst ffma = Decode(Inst("FFMA", {1}, {2, 3, 4}));
  ExpectSlot(ffma, 0, General(2));
  ExpectSlot(ffma, 1, General(3));
  ExpectSlot(ffma, 2, General(4));
  const DecodedInst fadd = Decode(Inst("FADD", {1}, {2, 3}));
  ExpectSlot(fadd, 0, General(2));
  EXPECT_EQ(fadd.slots[1].count, 0);
  ExpectSlot(fadd, 2, General(3));
  const DecodedInst mov = Decode(Inst("IMAD.MOV.U32", {1}, {255, 255, 7}));
  EXPECT_EQ(mov.slots[0].count, 0) << "RZ keeps its slot and reads nothing";
  ExpectSlot(mov, 2, General(7));
  ExpectSlot(Decode(Inst("MUFU.RCP", {1}, {9})), 1, General(9));
  const DecodedInst store = Decode(Inst("STG.E.64", {}, {2, 4}));
  ExpectSlot(store, 0, General(2, 2));
  ExpectSlot(store, 1, General(4, 2));
  const DecodedInst data_alone = Decode(Inst("STS.64", {}, {4}));
  EXPECT_EQ(data_alone.slots[0].count, 0);
  ExpectSlot(data_alone, 1, General(4, 2));
}

TEST(TextOperands, UniformAddresses) {
  EXPECT_TRUE(Decode(Inst("LDS", {1})).uniform_address);
  EXPECT_TRUE(Decode(Inst("LDS", {1}, {255})).uniform_address) << "[RZ+0x10]";
  EXPECT_FALSE(Decode(Inst("LDS", {1}, {3})).uniform_address);
  EXPECT_TRUE(Decode(Inst("STS", {}, {4})).uniform_address);
  EXPECT_FALSE(Decode(Inst("STS", {}, {3, 4})).uniform_address);
  EXPECT_TRUE(Decode(Inst("LDC", {4})).uniform_address);
  EXPECT_FALSE(Decode(Inst("LDGSTS.E.128", {}, {15, 4})).uniform_address);
  EXPECT_FALSE(Decode(Inst("SHFL.IDX", {1}, {2})).uniform_address) << "no address at all";
}

TEST(TextOperands, ThreadsOfANamedBarrier) {
  StaticInst bar = Inst("BAR.SYNC");
  bar.has_immediate = true;
  bar.immediate = 64;
  EXPECT_EQ(Decode(bar).barrier_threads, 64u);
  bar.immediate = 1;
  EXPECT_EQ(Decode(bar).barrier_threads, 0u);
  EXPECT_EQ(Decode(Inst("BAR.SYNC")).barrier_threads, 0u);
  EXPECT_EQ(Decode(Inst("DEPBAR.LE")).depbar_counter, DecodedInst::kNoCounter);
}

}  // namespace
}  // namespace sm89
