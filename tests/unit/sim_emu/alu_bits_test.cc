// Logic, shifts, permutations, bit counts.
#include <bit>

#include "sim/emu/alu_scalar.h"
#include "tests/unit/sim_emu/alu_lab.h"

namespace sm89::emu {
namespace {

TEST(AluLogic, EveryTruthTable) {
  // LOP3.LUT R10, R12, R11, R10, 0x96, !PT with the table (bits 79:72) replaced by each of the 256.
  for (uint64_t lut = 0; lut < 256; ++lut) {
    const uint64_t hi = (0x004fc600078e960a & ~uint64_t{0xff00}) | lut << 8;
    AluLab before(lut + 1), after(lut + 1);
    ASSERT_TRUE(after.Run(0x0000000b0c0a7212, hi).ok());
    for (int i = 0; i < kWarpSize; i += 5) {
      const uint32_t a = before.reg(12, i), b = before.reg(11, i), c = before.reg(10, i);
      uint32_t expected = 0;
      for (int bit = 0; bit < 32; ++bit) {
        const uint32_t index = (a >> bit & 1) * 4 + (b >> bit & 1) * 2 + (c >> bit & 1);
        expected |= static_cast<uint32_t>(lut >> index & 1) << bit;
      }
      ASSERT_EQ(after.reg(10, i), expected) << after.text;
    }
  }
}

TEST(AluLogic, PredicateOfResult) {
  // LOP3.LUT P1, RZ, R6, R11, R3, 0xf8, !PT
  AluLab before(5), after(5);
  for (AluLab* lab : {&before, &after}) {
    for (int i = 0; i < kWarpSize; i += 3) lab->reg(6, i) = lab->reg(11, i) = 0;
  }
  ASSERT_TRUE(after.Run(0x0000000b06ff7212, 0x000fe4000782f803).ok());
  for (int i = 0; i < kWarpSize; ++i) {
    EXPECT_EQ(after.pred(1, i), (before.reg(6, i) | (before.reg(11, i) & before.reg(3, i))) != 0);
  }
}

TEST(AluShift, ByConstant) {
  // SHF.R.S32.HI R3, RZ, 0x1f, R0
  ExpectLanes(0x0000001fff037819, 0x000fc80000011400, 3,
              [](AluLab& w, int i) { return static_cast<int32_t>(w.reg(0, i)) < 0 ? 0xffffffffu : 0u; });
  // SHF.R.U32.HI R7, RZ, 0x11, R6
  ExpectLanes(0x00000011ff077819, 0x000fc80000011606, 7, [](AluLab& w, int i) { return w.reg(6, i) >> 17; });
}

// All formats, directions, halves and wraps; amounts in a register and as an immediate.
TEST(AluShift, EveryVariantAgainstWideArithmetic) {
  // SHF.R.U32.HI R7, RZ, 0x11, R6 rewritten: R7, R4, amount, R6.
  for (uint64_t variant = 0; variant < 32; ++variant) {
    const bool right = (variant & 1) != 0, wrap = (variant & 2) != 0, high = (variant & 4) != 0;
    const uint64_t format = variant >> 3;  // S64 U64 S32 U32
    const uint64_t hi = 0x000fc80000000006 | uint64_t{right} << 12 | uint64_t{wrap} << 11 |
                        uint64_t{high} << 16 | format << 9;
    const unsigned bits = format < 2 ? 64 : 32;
    for (uint64_t amount : {0, 1, 17, 31, 32, 33, 63, 64, 65, 200, -1}) {
      for (const bool immediate : {false, true}) {
        AluLab before(amount + 7), after(amount + 7);
        after.Fill(9, static_cast<uint32_t>(amount));
        const uint64_t lo = immediate
                                ? 0x0000000004077819 | static_cast<uint32_t>(amount) * (uint64_t{1} << 32)
                                : 0x0000000904077219;
        ASSERT_TRUE(after.Run(lo, hi).ok());
        const auto given = static_cast<uint32_t>(amount);
        const unsigned s = wrap ? given % bits : std::min(given, bits);
        for (int i = 0; i < kWarpSize; i += 3) {
          const i128 value = static_cast<i128>(before.reg(4, i) | uint64_t{before.reg(6, i)} << 32);
          const i128 sign = static_cast<int32_t>(before.reg(6, i)) < 0 && (format & 1) == 0 ? -1 : 0;
          const i128 wide = value | sign << 64;
          const auto result = static_cast<uint64_t>(right ? wide >> s : wide << s);
          ASSERT_EQ(after.reg(7, i), static_cast<uint32_t>(high ? result >> 32 : result))
              << after.text << " by " << given;
        }
      }
    }
  }
}

TEST(AluPermute, KnownSelectors) {
  struct Case {
    uint64_t lo, hi;
    uint32_t a, c, expected, d;
  };
  const Case cases[] = {
      // PRMT R20, R20, 0x5410, R21
      {0x0000541014147816, 0x003fde0000000015, 0x11223344, 0xaabbccdd, 0xccdd3344, 20},
      // PRMT R13, R13, 0x7632, R13 (c is a)
      {0x000076320d0d7816, 0x003fde000000000d, 0x11223344, 0x11223344, 0x11221122, 13},
      // PRMT R0, R0, 0x8880, RZ: byte 0 and its sign three times
      {0x0000888000007816, 0x003fde00000000ff, 0x11223384, 0, 0xffffff84, 0},
      // PRMT R25, R4, 0x7710, RZ
      {0x0000771004197816, 0x003fde00000000ff, 0x11223384, 0, 0x00003384, 25},
  };
  for (const Case& k : cases) {
    AluLab lab;
    const auto a_reg = static_cast<uint32_t>(k.lo >> 24 & 0xff), c_reg = static_cast<uint32_t>(k.hi & 0xff);
    if (c_reg != 255) lab.Fill(c_reg, k.c);
    lab.Fill(a_reg, k.a);
    ASSERT_TRUE(lab.Run(k.lo, k.hi).ok());
    EXPECT_EQ(lab.reg(k.d, 0), k.expected) << lab.text;
  }
}

TEST(AluPermute, FixedSelectorsAsRegisterOnes) {
  // PRMT R7, R2, sel, R5 with sel an immediate, and in R12.
  AluLab random(9);
  for (int n = 0; n < 200; ++n) {
    const uint64_t selector = random.Next() & 0xffff;
    AluLab fixed(n + 1), in_register(n + 1);
    in_register.Fill(12, static_cast<uint32_t>(selector));
    ASSERT_TRUE(fixed.Run(0x0000000002077816 | selector << 32, 0x000fca0000000005).ok());
    ASSERT_TRUE(in_register.Run(0x0000000c02077216, 0x000fca0000000005).ok());
    for (int i = 0; i < kWarpSize; ++i) ASSERT_EQ(fixed.reg(7, i), in_register.reg(7, i)) << fixed.text;
  }
}

TEST(AluPermute, Modes) {
  // PTX prmt, the modes' tables: byte 0 first.
  EXPECT_EQ(PermuteSelector(sass::kPrmtF4e, 1), 0x4321u);
  EXPECT_EQ(PermuteSelector(sass::kPrmtB4e, 1), 0x6701u);
  EXPECT_EQ(PermuteSelector(sass::kPrmtRc8, 2), 0x2222u);
  EXPECT_EQ(PermuteSelector(sass::kPrmtEcl, 1), 0x3211u);
  EXPECT_EQ(PermuteSelector(sass::kPrmtEcr, 2), 0x2210u);
  EXPECT_EQ(PermuteSelector(sass::kPrmtRc16, 3), 0x3232u);
  // PRMT.F4E R4, R7, R5, R2
  ExpectLanes(0x0000000507047216, 0x000fc80000000102, 4, [](AluLab& w, int i) {
    const uint64_t bytes = w.reg(7, i) | uint64_t{w.reg(2, i)} << 32;
    return static_cast<uint32_t>(bytes >> 8 * (w.reg(5, i) & 3));
  });
}

TEST(AluBits, Counts) {
  // POPC R11, R8
  ExpectLanes(0x00000008000b7309, 0x000ea20000000000, 11,
              [](AluLab& w, int i) { return static_cast<uint32_t>(std::popcount(w.reg(8, i))); });
  // BREV R10, R8
  ExpectLanes(0x00000008000a7301, 0x000ff00000000000, 10, [](AluLab& w, int i) {
    uint32_t out = 0;
    for (int bit = 0; bit < 32; ++bit) out |= (w.reg(8, i) >> bit & 1) << (31 - bit);
    return out;
  });
  // FLO.U32 R12, R9
  ExpectLanes(0x00000009000c7300, 0x00007000000e0000, 12, [](AluLab& w, int i) {
    return w.reg(9, i) == 0 ? ~0u : 31u - static_cast<uint32_t>(std::countl_zero(w.reg(9, i)));
  });
}

TEST(AluBits, LeadingBitOfSignedNumbers) {
  EXPECT_EQ(FindLeading(0xffffffff, true, false), ~0u);
  EXPECT_EQ(FindLeading(0xfffffff0, true, false), 3u);
  EXPECT_EQ(FindLeading(0x00000010, true, true), 27u);
  EXPECT_EQ(FindLeading(0, false, true), ~0u);
}

TEST(AluBits, MasksAndExtensions) {
  // PTX bmsk and szext.
  EXPECT_EQ(BitMask(4, 8, false), 0xff0u);
  EXPECT_EQ(BitMask(28, 8, false), 0xf0000000u);
  EXPECT_EQ(BitMask(32, 8, false), 0u);
  EXPECT_EQ(BitMask(32, 8, true), 0xffu);
  EXPECT_EQ(BitMask(1, 32, false), 0xfffffffeu);
  EXPECT_EQ(BitMask(1, 32, true), 0u);
  EXPECT_EQ(Extend(0x1f0, 9, false, true), 0xfffffff0u);
  EXPECT_EQ(Extend(0x1f0, 9, false, false), 0x1f0u);
  EXPECT_EQ(Extend(0x1f0, 32, false, true), 0x1f0u);
  EXPECT_EQ(Extend(0x1f0, 32, true, true), 0u);
  // BMSK R11, R14, R11; SGXT.U32 R9, R8, R9; SGXT R6, R8, 0x9
  ExpectLanes(0x0000000b0e0b721b, 0x003fde0000000000, 11,
              [](AluLab& w, int i) { return BitMask(w.reg(14, i), w.reg(11, i), false); });
  ExpectLanes(0x000000090809721a, 0x000fc40000000000, 9,
              [](AluLab& w, int i) { return Extend(w.reg(8, i), w.reg(9, i), false, false); });
  ExpectLanes(0x000000090806781a, 0x000fe20000000200, 6,
              [](AluLab& w, int i) { return Extend(w.reg(8, i), 9, false, true); });
}

TEST(AluMultiply, DotProducts) {
  // IDP.4A.S8.U8 R24, R22, R27, R23
  ExpectLanes(0x0000001b16187226, 0x1c0fe20000000217, 24, [](AluLab& w, int i) {
    uint32_t sum = w.reg(23, i);
    for (int k = 0; k < 4; ++k) {
      sum += static_cast<uint32_t>(static_cast<int8_t>(w.reg(22, i) >> 8 * k) *
                                   static_cast<uint8_t>(w.reg(27, i) >> 8 * k));
    }
    return sum;
  });
  // IDP.2A.HI.S16.S8 R37, R22, R27, R23
  ExpectLanes(0x0000001b16257226, 0x1c0fe20000003617, 37, [](AluLab& w, int i) {
    uint32_t sum = w.reg(23, i);
    for (int k = 0; k < 2; ++k) {
      sum += static_cast<uint32_t>(static_cast<int16_t>(w.reg(22, i) >> 16 * k) *
                                   static_cast<int8_t>(w.reg(27, i) >> 8 * (k + 2)));
    }
    return sum;
  });
  // VABSDIFF4.U8.ACC R8, R5, R6, RZ
  ExpectLanes(0x0000000605087215, 0x000fe400000e08ff, 8, [](AluLab& w, int i) {
    uint32_t sum = 0;
    for (int k = 0; k < 32; k += 8) {
      const int diff = static_cast<uint8_t>(w.reg(5, i) >> k) - static_cast<uint8_t>(w.reg(6, i) >> k);
      sum += static_cast<uint32_t>(std::abs(diff));
    }
    return sum;
  });
}

}  // namespace
}  // namespace sm89::emu
