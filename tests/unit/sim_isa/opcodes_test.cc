// Which opcodes are known, and to which unit, space and operation they belong.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include "sim/isa/foreign.h"
#include "sim/isa/opcode_table.h"
#include "tests/unit/sim_isa/decode_helpers.h"

namespace sm89 {
namespace {

TEST(OpcodeTable, KnowsEveryMnemonicMetInSm89MachineCode) {
  std::ifstream forms(SM89_SOURCE_DIR "/../shared/sass/forms_sm89.csv");
  if (!forms) GTEST_SKIP() << "../shared/sass/forms_sm89.csv is not here";
  std::set<std::string> mnemonics;
  std::string line;
  std::getline(forms, line);  // column names
  while (std::getline(forms, line)) mnemonics.insert(line.substr(0, line.find(',')));
  EXPECT_EQ(mnemonics.size(), 127u);
  for (const std::string& m : mnemonics) {
    EXPECT_NE(FindOpcode(m.substr(0, m.find('.'))), nullptr) << m;
  }
}

TEST(OpcodeTable, IsSortedAndFindsFirstLastAndNothingElse) {
  const auto rows = AllOpcodes();
  ASSERT_GT(rows.size(), 150u);
  for (const OpcodeRow& row : rows) EXPECT_EQ(FindOpcode(row.mnemonic), &row);
  EXPECT_EQ(FindOpcode(""), nullptr);
  EXPECT_EQ(FindOpcode("AAAA"), nullptr);
  EXPECT_EQ(FindOpcode("ZZZZ"), nullptr);
  EXPECT_EQ(FindOpcode("fadd"), nullptr);
  EXPECT_EQ(FindOpcode("FADD.FTZ"), nullptr);
  EXPECT_EQ(FindOpcode("HGMMA"), nullptr);
}

TEST(OpcodeTable, MemoryRowsAreConsistent) {
  for (const OpcodeRow& row : AllOpcodes()) {
    const bool accesses = row.mem_op != MemOp::kNone && row.mem_op != MemOp::kShuffle;
    EXPECT_TRUE(!accesses || row.space != MemSpace::kNone) << row.mnemonic;
    EXPECT_TRUE(row.unit != ExecUnit::kMem || row.mem_op != MemOp::kNone) << row.mnemonic;
    EXPECT_TRUE(row.unit != ExecUnit::kTensor || row.rule == OperandRule::kTensor) << row.mnemonic;
  }
}

// The opcodes of an Ada-only kernel: every one real, none unknown.
TEST(DecodeKernel, AdaOpcodes) {
  const DecodedKernel kernel = DecodeAll(
      {Inst("IMAD.MOV.U32", {1}, {255, 255}), Inst("S2R", {0}), Inst("S2UR"), Inst("ULDC.64"),
       Inst("I2FP.F32.S32", {4}, {0}), Inst("F2FP.BF16.F32.PACK_AB", {6}, {4, 4}),
       Inst("F2FP.SATFINITE.E4M3.F32.PACK_AB_MERGE_C", {7}, {4, 4, 6}),
       Inst("QMMA.16832.F32.E4M3.E4M3", {8}, {12, 16, 8}), Inst("HMMA.16816.F32.BF16", {8}, {12, 16, 8}),
       Inst("LDSM.16.MT88.4", {20}, {30}), Inst("REDUX.SUM.S32", {}, {4}), Inst("MUFU.TANH", {9}, {8}),
       Inst("BAR.SYNC.DEFER_BLOCKING"), Inst("EXIT")});
  EXPECT_TRUE(kernel.unknown.empty());
  ASSERT_EQ(kernel.insts.size(), 14u);
  const ExecUnit units[] = {ExecUnit::kImad,    ExecUnit::kMisc,  ExecUnit::kMisc, ExecUnit::kUniform,
                            ExecUnit::kInt,     ExecUnit::kInt,   ExecUnit::kInt,  ExecUnit::kTensor,
                            ExecUnit::kTensor,  ExecUnit::kMem,   ExecUnit::kSfu,  ExecUnit::kSfu,
                            ExecUnit::kBarrier, ExecUnit::kBranch};
  for (size_t i = 0; i < kernel.insts.size(); ++i) {
    EXPECT_EQ(kernel.insts[i].unit, units[i]) << i;
    EXPECT_FALSE(kernel.insts[i].guessed) << i;
  }
  EXPECT_EQ(kernel.insts[13].control, ControlOp::kExit);
  EXPECT_EQ(kernel.insts[12].control, ControlOp::kBarrier);
}

TEST(DecodeKernel, UnknownOpcodesAreListedOnceAndBecomeNops) {
  const DecodedKernel kernel =
      DecodeAll({Inst("FADD", {1}, {2, 3}), Inst("QFROB.RN.X4", {4}, {5}), Inst("VNORM", {6}, {7}),
                 Inst("QFROB.RN.X4", {8}, {9}), Inst("", {}, {})});
  ASSERT_EQ(kernel.insts.size(), 5u);
  ASSERT_EQ(kernel.unknown.size(), 3u);
  EXPECT_EQ(kernel.unknown[0].opcode, "QFROB.RN.X4");
  EXPECT_EQ(kernel.unknown[0].static_id, 1u);
  EXPECT_EQ(kernel.unknown[1].opcode, "VNORM");
  EXPECT_EQ(kernel.unknown[2].opcode, "");
  EXPECT_TRUE(kernel.insts[3].guessed);
  EXPECT_EQ(kernel.insts[3].unit, ExecUnit::kMisc);
  EXPECT_EQ(kernel.insts[3].num_dests, 0);
  EXPECT_EQ(kernel.insts[3].num_sources, 0);
}

TEST(DecodeKernel, TensorOpcodeWithoutAShapeIsUnknown) {
  EXPECT_EQ(DecodeAll({Inst("HMMA", {4}, {8, 10, 4})}).unknown.size(), 1u);
  EXPECT_EQ(DecodeAll({Inst("HMMA.99999.F32", {4}, {8, 10, 4})}).unknown.size(), 1u);
  EXPECT_EQ(DecodeAll({Inst("IMMA.16899999999999999999.S8.S8", {4}, {8, 10, 4})}).unknown.size(), 1u);
}

TEST(DecodeKernel, KeepsPcs) {
  StaticInst inst = Inst("NOP");
  inst.pc = 0xb880;
  EXPECT_EQ(Decode(inst).pc, 0xb880u);
  inst.opcode = "BOGUS";
  EXPECT_EQ(Decode(inst).pc, 0xb880u);
}

// Opcode texts met in public traces, by binary version.
constexpr const char* kMet70 =
    "BAR.SYNC BMOV.32.CLEAR BRA BSSY BSYNC CALL.REL.NOINC CS2R DADD EXIT FADD FFMA FMUL FSEL FSETP.GEU.AND "
    "FSETP.NEU.AND IADD3 IADD3.X IMAD IMAD.IADD IMAD.MOV IMAD.MOV.U32 IMAD.SHL.U32 IMAD.U32 IMAD.WIDE "
    "IMAD.WIDE.U32 IMAD.X ISETP.EQ.AND ISETP.EQ.AND.EX ISETP.GE.U32.OR ISETP.LT.AND.EX LDC LDC.64 LDC.U8 "
    "LDG.E.64.SYS LDG.E.CONSTANT.SYS LDG.E.STRONG.SYS LDG.E.SYS LDG.E.U8.SYS LDS.U LDS.U.128 LEA LEA.HI "
    "LEA.HI.X "
    "LEA.HI.X.SX32 LOP3.LUT MOV MUFU.RCP NOP PLOP3.LUT PRMT R2P RET.REL.NODEC S2R SEL SHF.L.U32 SHF.L.U64.HI "
    "SHF.R.S32.HI SHF.R.U32.HI SHFL.DOWN SHFL.IDX STG.E.64.SYS STG.E.SYS STG.E.U8.SYS STS WARPSYNC";
constexpr const char* kMet75 =
    "DADD EXIT FADD IMAD IMAD.WIDE ISETP.GE.AND LDG.E.64.SYS LDG.E.SYS MOV S2R STG.E.64.SYS STG.E.SYS";
constexpr const char* kMet80 =
    "BRA EXIT FADD HFMA2.MMA IADD3 IADD3.X IMAD IMAD.IADD IMAD.MOV.U32 IMAD.WIDE IMAD.X ISETP.GE.AND "
    "ISETP.NE.AND "
    "LDG.E LDG.E.U8 LEA.HI.X.SX32 MOV PRMT S2R SHF.R.S32.HI STG.E STG.E.U8 ULDC.64";
constexpr const char* kMet90 =
    "BRA BSSY BSYNC EXIT F2I.FTZ.U32.TRUNC.NTZ FADD FFMA FMUL FSETP.NEU.AND HFMA2.MMA I2F.U32.RP IADD3 "
    "IADD3.X "
    "IMAD IMAD.HI.U32 IMAD.IADD IMAD.MOV IMAD.WIDE IMAD.WIDE.U32 ISETP.GT.U32.AND.EX LDC LDC.64 LDG.E LDL "
    "LEA "
    "LEA.HI.X LEA.HI.X.SX32 LOP3.LUT MOV MUFU.RCP PLOP3.LUT S2R S2UR SHF.L.U32 SHF.R.S64 STG.E STL.64 UIADD3 "
    "UIMAD.WIDE ULDC ULDC.64 UMOV USHF.R.S32.HI VIADD";

TEST(ForeignArchitectures, EveryOpcodeOfPublicTracesMaps) {
  const std::pair<uint32_t, const char*> sets[] = {
      {70, kMet70}, {75, kMet75}, {80, kMet80}, {86, kMet80}, {90, kMet90}};
  for (const auto& [version, texts] : sets) {
    std::istringstream words(texts);
    for (std::string opcode; words >> opcode;) {
      EXPECT_TRUE(DecodeAll({Inst(opcode)}, version).unknown.empty()) << version << ' ' << opcode;
    }
  }
}

TEST(ForeignArchitectures, RenamedOpcodesAreMarkedAsGuessed) {
  const DecodedInst viadd = Decode(Inst("VIADD", {1}, {1}), 90);
  EXPECT_EQ(viadd.unit, ExecUnit::kInt);
  EXPECT_TRUE(viadd.guessed);
  const DecodedInst redg = Decode(Inst("REDG.E.ADD.F64.RN.STRONG.GPU", {}, {6, 8}), 90);
  EXPECT_EQ(redg.mem_op, MemOp::kReduction);
  EXPECT_EQ(redg.space, MemSpace::kGlobal);
  EXPECT_EQ(redg.width_bytes, 8);
  EXPECT_TRUE(redg.guessed);
  EXPECT_FALSE(Decode(Inst("FADD", {1}, {2, 3}), 90).guessed);
}

TEST(ForeignArchitectures, Counterparts) {
  EXPECT_EQ(CounterpartOnSm89("FADD", 89), "FADD");
  EXPECT_EQ(CounterpartOnSm89("FADD", 70), "FADD");
  EXPECT_EQ(CounterpartOnSm89("VIADD", 90), "IADD3");
  EXPECT_EQ(CounterpartOnSm89("REDG", 90), "RED");
  EXPECT_EQ(CounterpartOnSm89("VIMNMX", 90), "IMNMX");
  EXPECT_EQ(CounterpartOnSm89("VIADD", 89), "") << "not an sm_89 opcode";
  EXPECT_EQ(CounterpartOnSm89("VIADD", 80), "") << "not an sm_80 opcode";
  for (const char* none :
       {"HGMMA", "WARPGROUP", "UTMALDG", "UBLKCP", "SYNCS", "UCGABAR_ARV", "USETMAXREG", "XMAD"}) {
    EXPECT_EQ(CounterpartOnSm89(none, 90), "") << none;
  }
  EXPECT_EQ(CounterpartOnSm89("FADD", 61), "") << "version 61 is not mappable";
  for (const ForeignOpcode& f : ForeignOpcodes()) {
    EXPECT_EQ(FindOpcode(f.mnemonic), nullptr) << f.mnemonic << " needs no mapping";
    EXPECT_NE(FindOpcode(f.counterpart), nullptr) << f.counterpart;
  }
}

TEST(ForeignArchitectures, MappableVersions) {
  for (uint32_t v : {70u, 75u, 80u, 86u, 89u, 90u}) EXPECT_TRUE(IsMappableVersion(v)) << v;
  for (uint32_t v : {0u, 35u, 60u, 61u, 72u, 87u, 88u, 91u, 100u, 120u})
    EXPECT_FALSE(IsMappableVersion(v)) << v;
}

TEST(Names, AreDistinct) {
  std::set<std::string_view> units, spaces, ops;
  for (int i = 0; i < kNumExecUnits; ++i) units.insert(Name(static_cast<ExecUnit>(i)));
  EXPECT_EQ(units.size(), static_cast<size_t>(kNumExecUnits));
  for (int i = 0; i <= static_cast<int>(MemSpace::kTexture); ++i)
    spaces.insert(Name(static_cast<MemSpace>(i)));
  EXPECT_EQ(spaces.size(), 7u);
  for (int i = 0; i <= static_cast<int>(MemOp::kCacheControl); ++i) ops.insert(Name(static_cast<MemOp>(i)));
  EXPECT_EQ(ops.size(), 9u);
  EXPECT_FALSE(units.contains("?") || spaces.contains("?") || ops.contains("?"));
}

}  // namespace
}  // namespace sm89
