// The multifunction unit: approximations of transcendental functions. The hardware's tables are not public;
// here every result is the function in double arithmetic rounded to FP32, which lies inside the maximum
// errors that the PTX ISA states (.approx.ftz). Deterministic: no libm, only + - * / and sqrt of IEEE
// doubles.
#pragma once

#include <cstdint>

namespace sm89::num {

// Raw MUFU_OP field.
enum class MufuOp : uint8_t {
  kCos = 0,
  kSin = 1,
  kEx2 = 2,
  kLg2 = 3,
  kRcp = 4,
  kRsq = 5,
  kRcp64h = 6,  // source and result are the high words of FP64 numbers
  kRsq64h = 7,
  kSqrt = 8,
  kTanh = 9,
};

// COS and SIN take x / 2pi (code multiplies by 0.15915494 first) and give cos/sin(2 pi x).
uint32_t Mufu(MufuOp op, uint32_t src);
void MufuLanes(MufuOp op, const uint32_t* src, uint32_t* dst);
// Half-precision variants (MUFU.EX2.F16, MUFU.TANH.F16): the function of the FP16 number, rounded to FP16.
uint16_t MufuF16(MufuOp op, uint16_t src);

}  // namespace sm89::num
