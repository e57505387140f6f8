// Packed half arithmetic (HADD2, HMUL2, HFMA2, HMNMX2, HSET2, HSETP2), FP16 or BF16: each half is the exact
// result rounded once to nearest even. Low half = bits 15:0. Neg and abs are the caller's, swizzles are
// ApplySwizzle's.
#pragma once

#include <cstdint>

#include "sim/num/mode.h"

namespace sm89::num {

// Raw ISWZ / ISWZB8 field.
enum class Swizzle : uint8_t { kH1H0 = 0, kF32 = 1, kH0H0 = 2, kH1H1 = 3, kH0NH1 = 4 };

// Raw OFMT8 field.
enum class HalfOut : uint8_t { kF16 = 0, kF32 = 1, kBf16 = 2 };

struct HalfMode {
  bool ftz = false;   // FP16/BF16 subnormals become zeros
  bool fmz = false;   // as FpMode::fmz
  bool sat = false;   // clamp to [0, 1], NaN -> +0
  bool relu = false;  // negative -> +0, NaN stays canonical NaN
  // kBf16: sources and result are BF16. kF32: sources are FP16, the result is the FP32 of the LOW halves
  // (HADD2.F32 d, -RZ, a.H0_H0 is how half -> float is spelled).
  HalfOut out = HalfOut::kF16;
};

// What an operand selector makes of a register. kF32: the FP32 number rounded to FP16, in both halves
// (assumption).
uint32_t ApplySwizzle(uint32_t value, Swizzle swizzle);

uint32_t Hadd2(uint32_t a, uint32_t b, HalfMode mode);
uint32_t Hmul2(uint32_t a, uint32_t b, HalfMode mode);
uint32_t Hfma2(uint32_t a, uint32_t b, uint32_t c, HalfMode mode);
uint32_t Hmnmx2(uint32_t a, uint32_t b, MinMaxMode mode, bool bf16);
// Bit 0 = low half, bit 1 = high half.
uint32_t Hcompare2(uint32_t a, uint32_t b, uint32_t code, bool ftz, bool bf16);
// HSET2's register: true -> 1.0 (bf) or 0xffff, false -> 0, for the two bits of `truth`.
uint32_t Hset2Value(uint32_t truth, bool bf, bool bf16);

// 32 lanes; all computed, d may overlay a source row.
void Hadd2Lanes(const uint32_t* a, const uint32_t* b, uint32_t* d, HalfMode mode);
void Hmul2Lanes(const uint32_t* a, const uint32_t* b, uint32_t* d, HalfMode mode);
void Hfma2Lanes(const uint32_t* a, const uint32_t* b, const uint32_t* c, uint32_t* d, HalfMode mode);
// Body without wide vector instructions, for tests.
void Hfma2LanesPortable(const uint32_t* a, const uint32_t* b, const uint32_t* c, uint32_t* d, HalfMode mode);

}  // namespace sm89::num
