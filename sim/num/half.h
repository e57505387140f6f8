// Small float formats: FP16, BF16, TF32, FP8 E4M3 and E5M2, to and from FP32. Widening is exact.
// Narrowing rounds once; out-of-range becomes infinity (or the largest finite number, by rounding mode or
// satfinite).
#pragma once

#include <cstdint>

#include "sim/num/mode.h"

namespace sm89::num {

inline constexpr uint16_t kNan16 = 0x7fff;  // FP16 and BF16 (PTX ISA: canonical NaN)
inline constexpr uint8_t kNanFp8 = 0x7f;    // E4M3 and E5M2 (PTX cvt: NaN -> 0x7f)
inline constexpr uint32_t kNanTf32 = 0x7fffffffu;

struct NarrowMode {
  Round round = Round::kRn;
  bool ftz = false;        // subnormal FP32 source counts as zero
  bool relu = false;       // negative -> +0, NaN stays NaN
  bool satfinite = false;  // out of range -> largest finite number; infinities too
};

uint32_t Fp16ToFp32(uint16_t half);
uint32_t Bf16ToFp32(uint16_t bf16);
uint32_t E4m3ToFp32(uint8_t fp8);
uint32_t E5m2ToFp32(uint8_t fp8);

uint16_t Fp32ToFp16(uint32_t single, NarrowMode mode = {});
uint16_t Fp32ToBf16(uint32_t single, NarrowMode mode = {});
uint8_t Fp32ToE4m3(uint32_t single,
                   NarrowMode mode = {});  // no infinity in E4M3: overflow without satfinite is NaN
uint8_t Fp32ToE5m2(uint32_t single, NarrowMode mode = {});
// TF32 in an FP32 register: the low 13 bits are zero.
uint32_t Fp32ToTf32(uint32_t single, NarrowMode mode = {});

}  // namespace sm89::num
