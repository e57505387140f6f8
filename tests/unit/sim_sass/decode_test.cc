// Literal words, one of each kind of instruction, and what is refused. Needs no shared folder.
#include "sim/sass/decode.h"

#include <gtest/gtest.h>

namespace sm89::sass {
namespace {

Instruction Of(uint64_t lo, uint64_t hi, uint32_t arch = 89) {
  const auto inst = Decode({lo, hi}, arch);
  EXPECT_TRUE(inst.ok()) << inst.status().message();
  return inst.ok() ? *inst : Instruction{};
}

std::string TextOf(uint64_t lo, uint64_t hi, uint32_t arch = 89, uint64_t pc = 0) {
  PrintOptions options;
  options.pc = pc;
  return Print(Of(lo, hi, arch), options);
}

std::string Refusal(uint64_t lo, uint64_t hi, uint32_t arch = 89) {
  const auto inst = Decode({lo, hi}, arch);
  EXPECT_FALSE(inst.ok());
  EXPECT_EQ(inst.status().code(), absl::StatusCode::kInvalidArgument);
  return std::string(inst.status().message());
}

void ExpectReg(const Instruction& inst, Slot slot, uint16_t index, uint8_t regs) {
  const Operand* operand = inst.Find(slot);
  ASSERT_NE(operand, nullptr);
  EXPECT_EQ(operand->kind, OperandKind::kReg);
  EXPECT_EQ(operand->index, index);
  EXPECT_EQ(operand->regs, regs);
}

TEST(Decode, AnAdditionHasItsSignsReuseAndControlBits) {
  const Instruction inst = Of(0x0000000d09207221, 0x041fe20000000100);  // FADD R32, -R9.reuse, R13
  EXPECT_EQ(inst.op, Op::kFadd);
  ExpectReg(inst, Slot::kD, 32, 1);
  ExpectReg(inst, Slot::kA, 9, 1);
  ExpectReg(inst, Slot::kC, 13, 1);
  EXPECT_TRUE(inst.Find(Slot::kD)->is_dest);
  EXPECT_TRUE(inst.Find(Slot::kA)->neg);
  EXPECT_TRUE(inst.Find(Slot::kA)->reuse);
  EXPECT_FALSE(inst.Find(Slot::kC)->reuse);
  EXPECT_EQ(inst.control.stall_cycles, 1);
  EXPECT_TRUE(inst.control.keep_warp);
  EXPECT_EQ(inst.control.write_counter, 7);
  EXPECT_EQ(inst.control.read_counter, 7);
  EXPECT_EQ(inst.control.wait_mask, 1);
  EXPECT_EQ(inst.control.reuse_mask, 1);
  EXPECT_TRUE(inst.Has(Field::kFtz));
  EXPECT_EQ(inst.Get(Field::kFtz), 0u);
  EXPECT_FALSE(inst.Has(Field::kBop));
  EXPECT_EQ(inst.Get(Field::kBop, 9), 9u);
}

TEST(Decode, TheFormTellsWhichSourceIsNoRegister) {
  const Instruction imm = Of(0x3f00000000007423, 0x020fc80000000007);  // FFMA R0, R0, R7, 0.5
  ExpectReg(imm, Slot::kB, 7, 1);
  EXPECT_EQ(imm.Find(Slot::kC)->kind, OperandKind::kFloatImm);
  EXPECT_EQ(imm.Find(Slot::kC)->value, 0x3f000000);
  const Instruction constant = Of(0x00005c0000007623, 0x000fe20000000005);  // FFMA R0, R0, R5, c[0x0][0x170]
  EXPECT_EQ(constant.Find(Slot::kC)->kind, OperandKind::kConst);
  EXPECT_EQ(constant.Find(Slot::kC)->index, 0);
  EXPECT_EQ(constant.Find(Slot::kC)->value, 0x170);
  const Instruction uniform = Of(0x0000000a060b7c23, 0x000fe2000800000b);  // FFMA R11, R6, UR10, R11
  EXPECT_EQ(uniform.Find(Slot::kB)->kind, OperandKind::kUReg);
  EXPECT_EQ(uniform.Find(Slot::kB)->index, 10);
  ExpectReg(uniform, Slot::kC, 11, 1);
}

// Patterns that no compiler output at hand has follow from the family.
TEST(Decode, OperandPatternsOfAFamilyDecodeUnseen) {
  EXPECT_EQ(TextOf(0x00005c0003047a09, 0x000fd60007800000), "FMNMX R4, R3, c[0x0][0x170], !PT");
  EXPECT_EQ(TextOf(0x0000000403047c09, 0x000fd6000f800000), "FMNMX R4, R3, UR4, !PT");
  EXPECT_EQ(TextOf(0x00000004040c7e29, 0x001fc40008000000), "DADD R12, R4, UR4");
}

TEST(Decode, GuardsAreRegularOrUniform) {
  const Instruction regular =
      Of(0xffffffc0ff078424, 0x000fe200078e00ff);  // @!P0 IMAD.MOV.U32 R7, RZ, RZ, -0x40
  EXPECT_EQ(regular.guard, 0);
  EXPECT_TRUE(regular.guard_not);
  EXPECT_FALSE(regular.guard_uniform);
  const Instruction uniform = Of(0x0000004006067890, 0x000fe2000ff1e03f);  // UIADD3 UR6, UP0, UR6, 0x40, URZ
  EXPECT_TRUE(uniform.guard_uniform);
  EXPECT_EQ(uniform.guard, 7);
  EXPECT_EQ(uniform.Find(Slot::kPu)->kind, OperandKind::kUPred);
  EXPECT_EQ(uniform.Find(Slot::kD)->kind, OperandKind::kUReg);
}

TEST(Decode, WideAndDoubleOperandsCoverPairs) {
  const Instruction wide = Of(0x0000580000047625, 0x000fcc00078e0205);  // IMAD.WIDE R4, R0, R5, c[0x0][0x160]
  ExpectReg(wide, Slot::kD, 4, 2);
  ExpectReg(wide, Slot::kA, 0, 1);
  EXPECT_EQ(wide.Get(Field::kWide), kWideWide);
  const Instruction fma = Of(0x0000000c080c722b, 0x001046000000001a);  // DFMA R12, R8, R12, R26
  for (const Slot slot : {Slot::kD, Slot::kA, Slot::kB, Slot::kC}) EXPECT_EQ(fma.Find(slot)->regs, 2);
}

TEST(Decode, AccessesHaveAddressSizeAndDescriptor) {
  // LDG.E.128.CONSTANT R100, [R10.64]
  const Instruction load = Of(0x000000060a647981, 0x000ea6000c1e9d00);
  ExpectReg(load, Slot::kD, 100, 4);
  ExpectReg(load, Slot::kA, 10, 2);
  EXPECT_EQ(load.Find(Slot::kUa)->index, 6);
  EXPECT_EQ(load.Find(Slot::kOffset)->value, 0);
  EXPECT_EQ(load.Find(Slot::kPnz)->index, 7);
  EXPECT_EQ(load.Get(Field::kMemSize), kSz128);
  EXPECT_EQ(load.Get(Field::kMem), 4u);
  EXPECT_EQ(load.Get(Field::kMemDesc), 1u);
  EXPECT_EQ(load.Get(Field::kE), 1u);
  const Instruction back = Of(0xfffff01004187981, 0x000ee2000c1e1b00);  // LDG.E.64 R24, [R4.64+-0x10]
  EXPECT_EQ(back.Find(Slot::kOffset)->value, -0x10);
  EXPECT_EQ(back.Find(Slot::kD)->regs, 2);
  // LDGSTS.E [R15+0x2000], [R4.64]
  const Instruction copy = Of(0x02000000040f7fae, 0x0005e2000b921846);
  ExpectReg(copy, Slot::kSharedA, 15, 1);
  EXPECT_FALSE(copy.Find(Slot::kSharedA)->is_dest);
  EXPECT_EQ(copy.Find(Slot::kSharedOffset)->value, 0x2000);
  ExpectReg(copy, Slot::kA, 4, 2);
}

TEST(Decode, TensorOperandsAndShapesFollowSizeAndType) {
  const Instruction f16 = Of(0x000000061018723c, 0x004fe60000001818);  // HMMA.16816.F32 R24, R16, R6, R24
  ExpectReg(f16, Slot::kD, 24, 4);
  ExpectReg(f16, Slot::kA, 16, 4);
  ExpectReg(f16, Slot::kB, 6, 2);
  EXPECT_EQ(ShapeOf(f16).k, 16);
  // HMMA.SP.16832.F32 R4, R4, R20, R16, R12, 0x1
  const Instruction sparse = Of(0x00010c140404723c, 0x004ff60000005a10);
  EXPECT_EQ(ShapeOf(sparse).k, 32);
  EXPECT_EQ(sparse.Find(Slot::kA)->regs, 4);
  EXPECT_EQ(sparse.Find(Slot::kB)->regs, 4);
  ExpectReg(sparse, Slot::kE, 12, 1);
  EXPECT_EQ(sparse.Find(Slot::kExtract)->value, 1);
  // IMMA.16864.S4.S4, IMMA.8816.S8.S8, IMMA.SP.168128.S4.S4
  const Instruction s4 = Of(0x000000100c087237, 0x004ff60000785408);
  EXPECT_EQ(s4.Find(Slot::kA)->regs, 4);
  EXPECT_EQ(s4.Find(Slot::kB)->regs, 2);
  const Instruction s8 = Of(0x00000007040a7237, 0x004fe20000005408);
  EXPECT_EQ(s8.Find(Slot::kD)->regs, 2);
  EXPECT_EQ(s8.Find(Slot::kA)->regs, 1);
  EXPECT_EQ(s8.Find(Slot::kB)->regs, 1);
  const Instruction s4_sparse = Of(0x00000c1404047237, 0x004ff60000785d10);
  EXPECT_EQ(s4_sparse.Find(Slot::kA)->regs, 4);
  EXPECT_EQ(s4_sparse.Find(Slot::kB)->regs, 4);
  // BMMA.168256.AND.POPC, QMMA.16832.F16.E4M3.E4M3, DMMA.884
  const Instruction b1 = Of(0x000000100c08723d, 0x004ff60000015408);
  EXPECT_EQ(b1.Find(Slot::kA)->regs, 4);
  EXPECT_EQ(b1.Find(Slot::kB)->regs, 2);
  EXPECT_EQ(ShapeOf(b1).k, 256);
  const Instruction fp8 = Of(0x0000000a0c08727a, 0x004ff60000000c08);
  EXPECT_EQ(fp8.Find(Slot::kD)->regs, 2);
  EXPECT_EQ(fp8.Find(Slot::kA)->regs, 4);
  EXPECT_EQ(fp8.Find(Slot::kB)->regs, 2);
  const Instruction f64 = Of(0x0000000a0804723f, 0x004e360000000004);
  EXPECT_EQ(f64.Find(Slot::kD)->regs, 4);
  EXPECT_EQ(f64.Find(Slot::kA)->regs, 2);
  EXPECT_EQ(ShapeOf(Of(0x0000000000007918, 0x000fc00000000000)).m, 0);
}

TEST(Decode, TextureSourcesAreSpreadOverBothOperands) {
  const auto sizes = [](uint64_t lo, uint64_t hi) {
    const Instruction inst = Of(lo, hi);
    return std::pair<int, int>(inst.Find(Slot::kA)->regs, inst.Find(Slot::kB)->regs);
  };
  EXPECT_EQ(sizes(0xb00058201e0c7b60, 0x000fc200059e08ff), std::pair(2, 2));  // ARRAY_2D with a level
  EXPECT_EQ(sizes(0x3000581d06037b60, 0x000fc200019e01ff), std::pair(2, 1));  // 2D with a level
  EXPECT_EQ(sizes(0x3000580706107b63, 0x000f4200009e06ff), std::pair(1, 1));  // TLD4 2D
  EXPECT_EQ(sizes(0x2000581406147b6c, 0x000fc200041e02ff), std::pair(2, 4));  // TXD 2D: four derivatives
}

TEST(Decode, BranchDistancesCountFromTheNextInstruction) {
  const Instruction sm89 = Of(0x0000074000008947, 0x000fea0003800000);  // @!P0 BRA
  EXPECT_EQ(sm89.Target()->value, 0x740);
  EXPECT_EQ(TextOf(0x0000074000008947, 0x000fea0003800000, 89, 0x90), "@!P0 BRA 0x7e0");
  // sm_90 keeps eight low bits elsewhere.
  EXPECT_EQ(Of(0x0000000400c88947, 0x000fea0003800000, 90).Target()->value, 0x720);
  EXPECT_EQ(Of(0xffffff5000008947, 0x000fea000083ffff).Target()->value, -0xb0);
}

TEST(Decode, CarryAndPredicateRolesOfAdditions) {
  // IADD3.X R6, P1, P0, R12, RZ, R19, P0, P2
  const Instruction inst = Of(0x000000ff0c067210, 0x000fe40000024413);
  EXPECT_EQ(inst.Get(Field::kX), 1u);
  EXPECT_EQ(inst.Find(Slot::kPu)->index, 1);
  EXPECT_TRUE(inst.Find(Slot::kPu)->is_dest);
  EXPECT_EQ(inst.Find(Slot::kPv)->index, 0);
  EXPECT_EQ(inst.Find(Slot::kPp)->index, 0);
  EXPECT_FALSE(inst.Find(Slot::kPp)->is_dest);
  EXPECT_EQ(inst.Find(Slot::kPq)->index, 2);
  const Instruction plain = Of(0x0000001d000c7210, 0x000fe40007ffe0ff);
  EXPECT_EQ(plain.Get(Field::kX, 7), 0u);
  EXPECT_EQ(plain.Find(Slot::kPp), nullptr);
}

TEST(Decode, PackedHalfImmediatesAreTwoOperands) {
  // HSETP2.EQ.AND P0, P2, R9.reuse.H0_H0, 0.9990234375, 0.00147724151611328125, PT
  const Instruction inst = Of(0x3bfe160d09007434, 0x040fe20003a02800);
  EXPECT_EQ(inst.Find(Slot::kC)->value, 0x3bfe);
  EXPECT_EQ(inst.Find(Slot::kImm2)->value, 0x160d);
  EXPECT_EQ(inst.Get(Field::kSwzA), kSwzH0H0);
}

TEST(Print, SpellingsOfTheDisassembler) {
  EXPECT_EQ(TextOf(0x0000000107077824, 0x000fe200078e0205), "IMAD.IADD R7, R7, 0x1, R5");
  EXPECT_EQ(TextOf(0x0000200009067824, 0x000fe200078e00ff), "IMAD.SHL.U32 R6, R9, 0x2000, RZ");
  EXPECT_EQ(TextOf(0x00000a00ff017624, 0x000fe400078e00ff), "IMAD.MOV.U32 R1, RZ, RZ, c[0x0][0x28]");
  EXPECT_EQ(TextOf(0x7f8000000000780b, 0x000fda0003f1c200), "FSETP.GTU.FTZ.AND P0, PT, |R0|, +INF , PT");
  EXPECT_EQ(TextOf(0x41e000000c00742a, 0x000fe40003f06200),
            "DSETP.GE.AND P0, PT, |R12|, 2.14748364800000000000e+09, PT");
  EXPECT_EQ(TextOf(0x0000000404057981, 0x000ea2000c1e1900, 89), "LDG.E R5, [R4.64]");
  EXPECT_EQ(TextOf(0x0000000404057981, 0x000ea2000c1e1900, 90), "LDG.E R5, desc[UR4][R4.64]");
  EXPECT_EQ(TextOf(0xffffc005070c7984, 0x001e280008000c00, 90), "LDS.128 R12, [R7+UR5+-0x40]");
  EXPECT_EQ(TextOf(0x0002000006ff7fae, 0x000fe80008141c44), "LDGSTS.E.BYPASS.128.ZFILL [0x20], [R6.64], P0");
  EXPECT_EQ(TextOf(0x00c1000009067abb, 0x000fe40008000800), "ULDC UR6, c[0x3][UR9+0x400]");
  EXPECT_EQ(TextOf(0x0000001b1600721f, 0x000fe2000070021f),
            "PLOP3.LUT P0, PT, R22.SIGN, R27.SIGN, R31.SIGN, 0x2, 0x0");
}

TEST(Print, LabelsReplaceTargets) {
  PrintOptions options;
  options.pc = 0x90;
  options.label = [](uint64_t address, void*) {
    return address == 0x7e0 ? std::string("done") : std::string();
  };
  EXPECT_EQ(Print(Of(0x0000074000008947, 0x000fea0003800000), options), "@!P0 BRA done");
  options.pc = 0xa0;
  EXPECT_EQ(Print(Of(0x0000074000008947, 0x000fea0003800000), options), "@!P0 BRA 0x7f0");
}

TEST(DecodeRefuses, AnUnknownOpcodeByNumber) {
  const std::string message = Refusal(0x0000000000007fff, 0x000fc00000000000);
  EXPECT_NE(message.find("0000000000007fff 000fc00000000000"), std::string::npos) << message;
  EXPECT_NE(message.find("opcode 0xfff (bit 91 = 0) is unknown"), std::string::npos) << message;
}

TEST(DecodeRefuses, ABitThatNothingExplains) {
  const std::string message = Refusal(0x0000000000007918, 0x200fc00000000000);  // NOP with bit 125
  EXPECT_NE(message.find("NOP: no field explains bit 125"), std::string::npos) << message;
}

TEST(DecodeRefuses, AValueWithoutMeaning) {
  // ISETP with boolean operation 3
  const std::string message = Refusal(0x0000000b0800720c, 0x001fda0003f22c70);
  EXPECT_NE(message.find("value 3 of bits 75:74 has no meaning"), std::string::npos) << message;
}

TEST(DecodeRefuses, InstructionsOfAnotherArchitecture) {
  EXPECT_NE(Refusal(0x00000000000075ab, 0x000fec0000000000, 89).find("unknown"), std::string::npos);
  EXPECT_EQ(Of(0x00000000000075ab, 0x000fec0000000000, 90).op, Op::kCgaerrbar);
  EXPECT_NE(Refusal(0x000000060c08727a, 0x004fde0000002408, 86).find("unknown"), std::string::npos);  // QMMA
  EXPECT_NE(Refusal(0x0000000000007918, 0x000fc00000000000, 75).find("sm_75"), std::string::npos);
}

TEST(Names, SpecialRegisters) {
  EXPECT_EQ(SpecialRegisterName(kSrTidX), "SR_TID.X");
  EXPECT_EQ(SpecialRegisterName(kSrZero), "SRZ");
  EXPECT_EQ(SpecialRegisterName(0x11), "SR17");
}

}  // namespace
}  // namespace sm89::sass
