// Machine words as a trace lists them. Expected registers and texts are those of the vendor's disassembly of
// the same words; a tracer prints the first register of each run, no RZ, and a descriptor's uniform register
// last.
#include "sim/replay/static_inst.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "sim/sass/decode.h"

namespace sm89 {
namespace {

struct Row {
  uint64_t lo, hi;
  const char* opcode;
  const char* dests;
  const char* sources;
  uint32_t width_bytes;
  const char* immediate;  // "": none
};

std::string Names(std::span<const RegRef> registers) {
  std::string text;
  for (const RegRef& reg : registers) {
    absl::StrAppend(&text, text.empty() ? "" : " ", reg.file == RegFile::kUniform ? "UR" : "R", reg.index);
  }
  return text;
}

StaticInst Make(uint64_t lo, uint64_t hi, uint32_t pc = 0, uint32_t line = 0) {
  const auto inst = sass::Decode({lo, hi}, sass::kSm89);
  EXPECT_TRUE(inst.ok()) << inst.status();
  return inst.ok() ? MakeStaticInst(*inst, pc, line) : StaticInst{};
}

TEST(StaticInst, RegistersWidthAndImmediateOfEachKind) {
  const Row rows[] = {
      // LDG.E R5, [R4.64]; the descriptor is UR4
      {0x0000000404057981, 0x000ea2000c1e1900, "LDG.E", "R5", "R4 UR4", 4, "0"},
      // LDG.E.128 R8, [R8.64]
      {0x0000000408087981, 0x000f62000c1e1d00, "LDG.E.128", "R8", "R8 UR4", 16, "0"},
      // STG.E.64 [R2.64], R26
      {0x0000001a02007986, 0x000fe2000c101b04, "STG.E.64", "", "R2 R26 UR4", 8, "0"},
      // STS [R17+0x4c], R6
      {0x00004c0611007388, 0x0041e80000000800, "STS", "", "R17 R6", 4, "76"},
      // STL [R1+0x4], R21
      {0x0000041501007387, 0x0033de0000100800, "STL", "", "R1 R21", 4, "4"},
      // LDSM.16.M88.4 R12, [R0]: a lane names 16 bytes
      {0x00000000000c783b, 0x000e680000000200, "LDSM.16.M88.4", "R12", "R0", 16, "0"},
      // @!P0 ATOMG.E.ADD.S32.STRONG.GPU PT, R3, [R6.64], R2
      {0x00000002060389a8, 0x00116200081ee3c4, "ATOMG.E.ADD.S32.STRONG.GPU", "R3", "R6 R2 UR4", 4, "0"},
      // ATOMG.E.CAS.64.STRONG.GPU PT, R2, [R8], R4, R6
      {0x00000004080273a9, 0x000ea800001ee506, "ATOMG.E.CAS.64.STRONG.GPU", "R2", "R8 R4 R6", 8, "0"},
      // ATOMS.CAS.64 R4, [R9.X8], R4, R6
      {0x000000040904738d, 0x000fe20000008406, "ATOMS.CAS.64", "R4", "R9 R4 R6", 8, "0"},
      // RED.E.ADD.F32.FTZ.RN.STRONG.GPU [R2.64], R7
      {0x000000070200798e, 0x000fe2000c10e784, "RED.E.ADD.F32.FTZ.RN.STRONG.GPU", "", "R2 R7 UR4", 4, "0"},
      // LDGSTS.E.BYPASS.128 [R0], [R8.64]
      {0x0000000008007fae, 0x0003e2000b901c44, "LDGSTS.E.BYPASS.128", "", "R0 R8 UR4", 16, "0"},
      // IMAD.WIDE R4, R0, R5, c[0x0][0x160]
      {0x0000580000047625, 0x000fcc00078e0205, "IMAD.WIDE", "R4", "R0 R5", 0, ""},
      // IMAD.MOV.U32 R1, RZ, RZ, c[0x0][0x28]
      {0x00000a00ff017624, 0x000fe400078e00ff, "IMAD.MOV.U32", "R1", "", 0, ""},
      // HMMA.16816.F32 R24, R16, R6, R24
      {0x000000061018723c, 0x004fe60000001818, "HMMA.16816.F32", "R24", "R16 R6 R24", 0, ""},
      // BAR.SYNC.DEFER_BLOCKING 0x0
      {0x0000000000007b1d, 0x000fe20000010000, "BAR.SYNC.DEFER_BLOCKING", "", "", 0, "0"},
      // SHFL.DOWN PT, R5, R3, 0x10, 0x1f
      {0x0a001f0003057f89, 0x000fe200000e0000, "SHFL.DOWN", "R5", "R3", 0, "31"},
      // ULDC.64 UR4, c[0x0][0x118]
      {0x0000460000047ab9, 0x000fc60000000a00, "ULDC.64", "UR4", "", 0, ""},
      // R2UR UR4, R10
      {0x000000000a0473c2, 0x00321e00000e0000, "R2UR", "UR4", "R10", 0, ""},
      // @P0 EXIT
      {0x000000000000094d, 0x000fea0003800000, "EXIT", "", "", 0, ""},
  };
  for (const Row& row : rows) {
    const StaticInst inst = Make(row.lo, row.hi);
    EXPECT_EQ(inst.opcode, row.opcode);
    EXPECT_EQ(Names(std::span(inst.dests).first(inst.num_dests)), row.dests) << row.opcode;
    EXPECT_EQ(Names(std::span(inst.sources).first(inst.num_sources)), row.sources) << row.opcode;
    EXPECT_EQ(inst.declared_width_bytes, row.width_bytes) << row.opcode;
    EXPECT_EQ(inst.has_immediate ? absl::StrCat(inst.immediate) : "", row.immediate) << row.opcode;
  }
}

TEST(StaticInst, CarriesPlaceAndTheWholeEncoding) {
  const StaticInst inst = Make(0x0000000404057981, 0x000ea2000c1e1900, 0x90, 17);
  EXPECT_EQ(inst.pc, 0x90u);
  EXPECT_EQ(inst.source_line, 17u);
  EXPECT_TRUE(inst.has_encoding);
  // As the bytes lie in the cubin: both words little-endian, the low one first.
  const std::array<uint8_t, 16> bytes = {0x81, 0x79, 0x05, 0x04, 0x04, 0x00, 0x00, 0x00,
                                         0x00, 0x19, 0x1e, 0x0c, 0x00, 0xa2, 0x0e, 0x00};
  EXPECT_EQ(inst.encoding, bytes);
}

}  // namespace
}  // namespace sm89
