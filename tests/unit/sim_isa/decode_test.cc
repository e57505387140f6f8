// Widths, scopes, tensor shapes, register runs and control bits.
#include <gtest/gtest.h>

#include <cstring>

#include "tests/unit/sim_isa/decode_helpers.h"

namespace sm89 {
namespace {

TEST(Width, ComesFromTheOpcode) {
  const std::pair<const char*, int> rows[] = {{"LDG.E", 4},
                                              {"LDG.E.U8", 1},
                                              {"LDG.E.S8", 1},
                                              {"LDG.E.U16.STRONG.SYS", 2},
                                              {"LDG.E.64", 8},
                                              {"LDG.E.128.CONSTANT", 16},
                                              {"LDG.E.LTC128B", 4},
                                              {"LDG.E.EL.LTC64B.CONSTANT", 4},
                                              {"LDS.U.128", 16},
                                              {"LDS.U", 4},
                                              {"LDS.S16", 2},
                                              {"LDL.LU.64", 8},
                                              {"STG.E.128.SYS", 16},
                                              {"STL.64", 8},
                                              {"STS.U8", 1},
                                              {"LDC.64", 8},
                                              {"LDGSTS.E.BYPASS.LTC128B.128", 16},
                                              {"LDGSTS.E", 4},
                                              {"ATOMG.E.ADD.F64.RN.STRONG.GPU", 8},
                                              {"ATOMG.E.ADD.F16x2.RN.STRONG.GPU", 4},
                                              {"ATOMS.CAS.64", 8},
                                              {"ATOMS.POPC.INC.32", 4},
                                              {"RED.E.MAX.S64.STRONG.GPU", 8},
                                              {"LDSM.16.M88.4", 16},
                                              {"LDSM.16.MT88", 16},
                                              {"SHFL.BFLY", 0},
                                              {"CCTL.IVALL", 0},
                                              {"FADD", 0},
                                              {"SUST.D.BA.2D.128.STRONG.SM", 16}};
  for (const auto& [opcode, bytes] : rows) EXPECT_EQ(Decode(Inst(opcode)).width_bytes, bytes) << opcode;
}

TEST(Width, IgnoresTheTracesOwnColumn) {
  StaticInst ldsm = Inst("LDSM.16.M88.4", {12}, {0});
  ldsm.declared_width_bytes = 2;
  EXPECT_EQ(Decode(ldsm).width_bytes, 16);
  EXPECT_EQ(Decode(ldsm).matrices, 4);
}

TEST(ScopeAndBypass, StrongAccessesOnly) {
  struct Row {
    const char* opcode;
    Scope scope;
    bool bypass;
  };
  const Row rows[] = {{"LDG.E", Scope::kNone, false},
                      {"LDG.E.SYS", Scope::kNone, false},  // sm_70 spelling of a weak load
                      {"LDG.E.CONSTANT.SYS", Scope::kNone, false},
                      {"LDG.E.STRONG.SM", Scope::kCta, false},
                      {"LDG.E.STRONG.GPU", Scope::kGpu, true},
                      {"LDG.E.STRONG.SYS", Scope::kSys, false},  // volatile
                      {"LDG.E.MMIO.SYS", Scope::kSys, true},
                      {"LDGSTS.E.BYPASS.128", Scope::kNone, true},
                      {"LDGSTS.E.128", Scope::kNone, false},
                      {"STG.E.STRONG.GPU", Scope::kGpu, true},
                      {"ATOMG.E.ADD.STRONG.GPU", Scope::kGpu, true},
                      {"RED.E.ADD.STRONG.SM", Scope::kCta, true},
                      {"ATOMS.ADD", Scope::kNone, false},
                      {"MEMBAR.SC.GPU", Scope::kGpu, false},
                      {"MEMBAR.ALL.CTA", Scope::kCta, false},
                      {"MEMBAR.SC.SYS", Scope::kSys, false}};
  for (const Row& row : rows) {
    const DecodedInst inst = Decode(Inst(row.opcode));
    EXPECT_EQ(inst.scope, row.scope) << row.opcode;
    EXPECT_EQ(inst.bypass_l1, row.bypass) << row.opcode;
  }
}

struct TensorRow {
  const char* opcode;
  int m, n, k;
  TensorType a, b;
  bool fp32, sparse;
  const char* dests;    // of D = R4
  const char* sources;  // of A = R8, B = R16, C = R4, metadata R3
};

TEST(Tensor, ShapesTypesAndFragments) {
  using T = TensorType;
  const TensorRow rows[] = {
      {"HMMA.16816.F32", 16, 8, 16, T::kF16, T::kF16, true, false, "R4x4", "R8x4 R16x2 R4x4"},
      {"HMMA.16816.F16", 16, 8, 16, T::kF16, T::kF16, false, false, "R4x2", "R8x4 R16x2 R4x2"},
      {"HMMA.1688.F32.BF16", 16, 8, 8, T::kBf16, T::kBf16, true, false, "R4x4", "R8x2 R16 R4x4"},
      {"HMMA.1688.F32.TF32", 16, 8, 8, T::kTf32, T::kTf32, true, false, "R4x4", "R8x4 R16x2 R4x4"},
      {"HMMA.1684.F32.TF32", 16, 8, 4, T::kTf32, T::kTf32, true, false, "R4x4", "R8x2 R16 R4x4"},
      {"HMMA.SP.16832.F32.BF16", 16, 8, 32, T::kBf16, T::kBf16, true, true, "R4x4", "R8x4 R16x4 R4x4 R3"},
      {"HMMA.SP.16816.F32.TF32", 16, 8, 16, T::kTf32, T::kTf32, true, true, "R4x4", "R8x4 R16x4 R4x4 R3"},
      {"HMMA.SP.16816.F16", 16, 8, 16, T::kF16, T::kF16, false, true, "R4x2", "R8x2 R16x2 R4x2 R3"},
      {"IMMA.8816.S8.S8", 8, 8, 16, T::kS8, T::kS8, false, false, "R4x2", "R8 R16 R4x2"},
      {"IMMA.16816.U8.S8.SAT", 16, 8, 16, T::kU8, T::kS8, false, false, "R4x4", "R8x2 R16 R4x4"},
      {"IMMA.16832.S8.U8", 16, 8, 32, T::kS8, T::kU8, false, false, "R4x4", "R8x4 R16x2 R4x4"},
      {"IMMA.16864.S4.S4", 16, 8, 64, T::kS4, T::kS4, false, false, "R4x4", "R8x4 R16x2 R4x4"},
      {"IMMA.SP.168128.S4.S4", 16, 8, 128, T::kS4, T::kS4, false, true, "R4x4", "R8x4 R16x4 R4x4 R3"},
      {"QMMA.16832.F32.E4M3.E5M2", 16, 8, 32, T::kE4m3, T::kE5m2, true, false, "R4x4", "R8x4 R16x2 R4x4"},
      {"QMMA.16816.F32.E4M3.E4M3", 16, 8, 16, T::kE4m3, T::kE4m3, true, false, "R4x4", "R8x2 R16 R4x4"},
      {"QMMA.16832.F16.E5M2.E4M3", 16, 8, 32, T::kE5m2, T::kE4m3, false, false, "R4x2", "R8x4 R16x2 R4x2"},
      {"QMMA.SP.16864.F32.E4M3.E4M3", 16, 8, 64, T::kE4m3, T::kE4m3, true, true, "R4x4",
       "R8x4 R16x4 R4x4 R3"},
      {"BMMA.168256.XOR.POPC", 16, 8, 256, T::kB1, T::kB1, false, false, "R4x4", "R8x4 R16x2 R4x4"},
      {"BMMA.88128.XOR.POPC", 8, 8, 128, T::kB1, T::kB1, false, false, "R4x2", "R8 R16 R4x2"},
      {"DMMA.884", 8, 8, 4, T::kF64, T::kF64, false, false, "R4x4", "R8x2 R16x2 R4x4"},
      {"HMMA.884.F32.F32.STEP2", 8, 8, 4, T::kF16, T::kF16, true, false, "R4x2", "R8x2 R16x2 R4x2"},
  };
  for (const TensorRow& row : rows) {
    StaticInst raw = Inst(row.opcode, {4}, {8, 16, 4});
    if (row.sparse) raw.sources[raw.num_sources++] = {RegFile::kGeneral, 3};
    const DecodedInst inst = Decode(raw);
    EXPECT_EQ(inst.unit, ExecUnit::kTensor) << row.opcode;
    EXPECT_EQ(inst.tensor.m, row.m) << row.opcode;
    EXPECT_EQ(inst.tensor.n, row.n) << row.opcode;
    EXPECT_EQ(inst.tensor.k, row.k) << row.opcode;
    EXPECT_EQ(inst.tensor.a, row.a) << row.opcode;
    EXPECT_EQ(inst.tensor.b, row.b) << row.opcode;
    EXPECT_EQ(inst.tensor.fp32_accumulate, row.fp32) << row.opcode;
    EXPECT_EQ(inst.tensor.sparse, row.sparse) << row.opcode;
    EXPECT_EQ(Dests(inst), row.dests) << row.opcode;
    EXPECT_EQ(Sources(inst), row.sources) << row.opcode;
  }
}

struct OperandRow {
  StaticInst raw;
  const char* dests;
  const char* sources;
};

TEST(Operands, MemoryRuns) {
  const OperandRow rows[] = {
      {Inst("LDG.E.128", {8}, {2}), "R8x4", "R2x2"},
      {Inst("LDG.E", {5}, {4}), "R5", "R4x2"},
      {Inst("LDG.E", {5}, {3}), "R5", "R3"},  // 32-bit offset to a uniform base
      {Inst("LDS.64", {8}, {3}), "R8x2", "R3"},
      {Inst("LDS.U8", {8}, {2}), "R8", "R2"},
      {Inst("LDL.128", {4}, {1}), "R4x4", "R1"},
      {Inst("LDC.64", {4}), "R4x2", ""},
      {Inst("LDSM.16.M88", {8}, {4}), "R8", "R4"},
      {Inst("LDSM.16.M88.2", {8}, {4}), "R8x2", "R4"},
      {Inst("LDSM.16.MT88.4", {8}, {4}), "R8x4", "R4"},
      {Inst("STG.E", {}, {2, 4}), "", "R2x2 R4"},
      {Inst("STG.E.128", {}, {8, 12}), "", "R8x2 R12x4"},
      {Inst("STG.E.U8", {}, {4, 255}), "", "R4x2"},
      {Inst("STS.64", {}, {6, 10}), "", "R6 R10x2"},
      {Inst("STS.128", {}, {12}), "", "R12x4"},  // address is an immediate
      {Inst("STL.64", {}, {1, 4}), "", "R1 R4x2"},
      {Inst("LDGSTS.E.BYPASS.128", {}, {15, 4}), "", "R15 R4x2"},
      {Inst("ATOMG.E.ADD.64.STRONG.GPU", {}, {10, 12, 4}), "R10x2", "R12x2 R4x2"},
      {Inst("ATOMG.E.CAS.STRONG.GPU", {}, {4, 2, 8, 9}), "R4", "R2x2 R8 R9"},
      {Inst("ATOM.E.ADD.64.STRONG.GPU", {}, {255, 6, 8}), "", "R6x2 R8x2"},
      {Inst("ATOMS.CAS.64", {4}, {9, 4, 6}), "R4x2", "R9 R4x2 R6x2"},
      {Inst("RED.E.ADD.F64.RN.STRONG.GPU", {}, {6, 8}), "", "R6x2 R8x2"},
      {Inst("RED.E.ADD.STRONG.GPU", {}, {2, 5}), "", "R2x2 R5"},
      {Inst("CCTL.E.PF2", {}, {10}), "", "R10x2"},
      {Inst("LDG.E.128", {252}, {2}), "R252x3", "R2x2"},  // never into RZ
  };
  for (const OperandRow& row : rows) {
    const DecodedInst inst = Decode(row.raw);
    EXPECT_EQ(Dests(inst), row.dests) << row.raw.opcode;
    EXPECT_EQ(Sources(inst), row.sources) << row.raw.opcode;
  }
}

TEST(Operands, RolesThatTracersGetWrong) {
  const OperandRow rows[] = {
      {Inst("SHFL.DOWN", {}, {7, 2, 5}), "R7", "R2 R5"},
      {Inst("SHFL.IDX", {}, {255, 255, 255, 255}), "", ""},
      {Inst("SHFL.BFLY", {3}, {4}), "R3", "R4"},  // listed properly: nothing to move
      {Inst("LOP3.LUT", {}, {7, 5, 6}), "R7", "R5 R6"},
      {Inst("LOP3.LUT", {7}, {5, 6}), "R7", "R5 R6"},
      {Inst("MATCH.ALL", {}, {7, 2}), "R7", "R2"},
      {Inst("MATCH.ANY.U64", {7}, {2}), "R7", "R2x2"},
      {Inst("RET.REL.NODEC", {136}, {}), "", "R136x2"},
      {Inst("WARPSYNC", {7}, {}), "", "R7"},
      {Inst("BMOV.32.CLEAR", {25}, {}), "R25", ""},
      {Inst("LDG.E", {}, {4}), "", "R4x2"},  // an address alone stays an address
      {Inst("IMAD.MOV.U32", {1}, {255, 255}), "R1", ""},
      {Inst("FADD", {255}, {2, 3}), "", "R2 R3"},
  };
  for (const OperandRow& row : rows) {
    const DecodedInst inst = Decode(row.raw);
    EXPECT_EQ(Dests(inst), row.dests) << row.raw.opcode;
    EXPECT_EQ(Sources(inst), row.sources) << row.raw.opcode;
  }
}

StaticInst WithImmediate(StaticInst inst, int64_t immediate) {
  inst.has_immediate = true;
  inst.immediate = immediate;
  return inst;
}

TEST(Operands, ArithmeticPairs) {
  const OperandRow rows[] = {
      {Inst("IMAD.WIDE", {4}, {0, 5}), "R4x2", "R0 R5"},
      {Inst("IMAD.WIDE", {4}, {0, 6}), "R4x2", "R0 R6"},  // the addend is a constant
      {WithImmediate(Inst("IMAD.WIDE.U32", {2}, {11, 2}), 16), "R2x2", "R11 R2x2"},
      {WithImmediate(Inst("IMAD.WIDE", {4}, {0, 6}), 0), "R4x2", "R0 R6"},
      {Inst("IMAD.WIDE.U32.X", {12}, {21, 24, 12}), "R12x2", "R21 R24 R12x2"},
      {Inst("IMAD.HI.U32", {8}, {4, 21, 6}), "R8", "R4 R21 R6x2"},
      {Inst("IMAD", {8}, {4, 21, 6}), "R8", "R4 R21 R6"},
      {Inst("DFMA", {6}, {4, 2, 8}), "R6x2", "R4x2 R2x2 R8x2"},
      {Inst("DSETP.GT.AND", {}, {4, 2}), "", "R4x2 R2x2"},
      {Inst("CS2R", {26}), "R26x2", ""},
      {Inst("CS2R.32", {5}), "R5", ""},
      {Inst("F2F.F64.F32", {4}, {8}), "R4x2", "R8"},
      {Inst("F2F.F32.F64", {4}, {8}), "R4", "R8x2"},
      {Inst("F2F.F16.F32", {4}, {8}), "R4", "R8"},
      {Inst("F2I.S64.F64.TRUNC", {14}, {4}), "R14x2", "R4x2"},
      {Inst("F2I.U64.TRUNC", {14}, {4}), "R14x2", "R4"},
      {Inst("F2I.F64.TRUNC", {11}, {6}), "R11", "R6x2"},
      {Inst("I2F.F64", {20}, {0}), "R20x2", "R0"},
      {Inst("I2F.U64.RP", {5}, {12}), "R5", "R12x2"},
      {Inst("I2F.F64.S64", {14}, {12}), "R14x2", "R12x2"},
      {Inst("FRND.F64.CEIL", {18}, {4}), "R18x2", "R4x2"},
      {Inst("MUFU.RCP64H", {9}, {19}), "R9", "R19"},
      {Inst("FFMA", {1}, {2, 3, 4}), "R1", "R2 R3 R4"},
  };
  for (const OperandRow& row : rows) {
    const DecodedInst inst = Decode(row.raw);
    EXPECT_EQ(Dests(inst), row.dests) << row.raw.opcode;
    EXPECT_EQ(Sources(inst), row.sources) << row.raw.opcode;
  }
}

TEST(Operands, OtherRegisterFiles) {
  StaticInst raw;
  raw.opcode = "ISETP.GE.AND";
  raw.num_dests = 2;
  raw.dests = {RegRef{RegFile::kPredicate, 0}, RegRef{RegFile::kPredicate, 7}};
  raw.num_sources = 2;
  raw.sources[0] = {RegFile::kGeneral, 6};
  raw.sources[1] = {RegFile::kUniform, 63};
  const DecodedInst isetp = Decode(raw);
  EXPECT_EQ(Dests(isetp), "P0");
  EXPECT_EQ(Sources(isetp), "R6");
  EXPECT_TRUE(isetp.writes_predicate);

  StaticInst uldc;
  uldc.opcode = "ULDC.64";
  uldc.num_dests = 1;
  uldc.dests[0] = {RegFile::kUniform, 4};
  EXPECT_EQ(Dests(Decode(uldc)), "UR4x2");

  StaticInst shfl;  // tracer 6 lists the predicate
  shfl.opcode = "SHFL.UP";
  shfl.num_dests = 1;
  shfl.dests[0] = {RegFile::kPredicate, 1};
  shfl.num_sources = 2;
  shfl.sources[0] = {RegFile::kGeneral, 3};
  shfl.sources[1] = {RegFile::kGeneral, 2};
  EXPECT_EQ(Dests(Decode(shfl)), "P1 R3");
  EXPECT_EQ(Sources(Decode(shfl)), "R2");
}

TEST(Control, Kinds) {
  const std::pair<const char*, ControlOp> rows[] = {{"EXIT", ControlOp::kExit},
                                                    {"BRA", ControlOp::kBranch},
                                                    {"BRX", ControlOp::kBranch},
                                                    {"CALL.REL.NOINC", ControlOp::kCall},
                                                    {"RET.REL.NODEC", ControlOp::kReturn},
                                                    {"BAR.SYNC", ControlOp::kBarrier},
                                                    {"BSSY", ControlOp::kConvergence},
                                                    {"BSYNC", ControlOp::kConvergence},
                                                    {"WARPSYNC.ALL", ControlOp::kConvergence},
                                                    {"MEMBAR.SC.GPU", ControlOp::kMembar},
                                                    {"DEPBAR.LE", ControlOp::kDepbar},
                                                    {"LDGDEPBAR", ControlOp::kLdgDepbar},
                                                    {"NANOSLEEP", ControlOp::kNanosleep},
                                                    {"YIELD", ControlOp::kYield},
                                                    {"FADD", ControlOp::kNone}};
  for (const auto& [opcode, control] : rows) EXPECT_EQ(Decode(Inst(opcode)).control, control) << opcode;
}

TEST(Control, Immediates) {
  EXPECT_EQ(Decode(WithImmediate(Inst("DEPBAR.LE"), 2)).immediate, 2);
  EXPECT_EQ(Decode(WithImmediate(Inst("BAR.SYNC.DEFER_BLOCKING"), 0)).immediate, 0);
  const DecodedInst arrive = Decode(WithImmediate(Inst("BAR.ARV", {}, {11}), 2));
  EXPECT_EQ(arrive.immediate, 2);
  EXPECT_TRUE(arrive.arrives_only);
  EXPECT_FALSE(Decode(WithImmediate(Inst("BAR.SYNC"), 1)).arrives_only);
  // "BAR.SYNC 1, 64" records 64: the number of the barrier is not in the trace.
  EXPECT_EQ(Decode(WithImmediate(Inst("BAR.SYNC"), 64)).immediate, DecodedInst::kUnknownBarrier);
  EXPECT_EQ(Decode(Inst("BAR.SYNC")).immediate, DecodedInst::kUnknownBarrier);
}

StaticInst Encoded(StaticInst raw, uint64_t low, uint64_t high) {
  raw.has_encoding = true;
  for (int i = 0; i < 8; ++i) {
    raw.encoding[i] = static_cast<uint8_t>(low >> (8 * i));
    raw.encoding[8 + i] = static_cast<uint8_t>(high >> (8 * i));
  }
  return raw;
}

TEST(MachineCode, ClockReadsAreKnownByTheirSpecialRegister) {
  const auto reads = [](const char* opcode, uint64_t low, uint64_t high) {
    return Decode(Encoded(Inst(opcode, {4}), low, high)).reads_clock;
  };
  // As ptxas wrote them.
  EXPECT_TRUE(reads("CS2R", 0x0000000000047805, 0x000fe40000015000)) << "SR_CLOCKLO, 64 bits";
  EXPECT_TRUE(reads("CS2R.32", 0x0000000000007805, 0x000fca0000005000)) << "SR_CLOCKLO";
  EXPECT_TRUE(reads("CS2R", 0x0000000000047805, 0x002fca0000015200)) << "SR_GLOBALTIMERLO";
  EXPECT_TRUE(reads("S2UR", 0x00000000000679c3, 0x000e220000005000)) << "SR_CLOCKLO";
  EXPECT_FALSE(reads("CS2R", 0x00000000001a7805, 0x000fe2000001ff00)) << "SRZ";
  EXPECT_FALSE(reads("S2R", 0x0000000000007919, 0x000e280000002500)) << "SR_CTAID.X";
  EXPECT_FALSE(reads("S2UR", 0x00000000000479c3, 0x000e220000002600)) << "SR_CTAID.Y";
  EXPECT_FALSE(reads("FADD", 0x0000000d09207221, 0x041fe20000005000)) << "no register read";
  EXPECT_FALSE(Decode(Inst("CS2R", {4})).reads_clock) << "text does not tell the register";
}

TEST(ControlBits, OfARealInstruction) {
  // FADD R32, -R9.reuse, R13 as ptxas wrote it: stall 1, no yield, waits for counter 0, reuses slot A.
  const DecodedInst inst =
      Decode(Encoded(Inst("FADD", {32}, {9, 13}), 0x0000000d09207221, 0x041fe20000000100));
  ASSERT_TRUE(inst.has_control_bits);
  EXPECT_EQ(inst.bits.stall_cycles, 1);
  EXPECT_FALSE(inst.bits.yield);
  EXPECT_EQ(inst.bits.write_counter, 7);
  EXPECT_EQ(inst.bits.read_counter, 7);
  EXPECT_EQ(inst.bits.wait_mask, 1);
  EXPECT_EQ(inst.bits.reuse_mask, 1);
  EXPECT_FALSE(Decode(Inst("FADD")).has_control_bits);
}

}  // namespace
}  // namespace sm89
