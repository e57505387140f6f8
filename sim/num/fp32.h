// FP32 arithmetic on register bits: one number a call, or 32 lanes a call. Neg and abs are the caller's.
// NaN results are the canonical 0x7fffffff (hardware and PTX ISA, "NaN payload").
// Lanes: all 32 are computed, the caller masks; results may overlay any source row.
#pragma once

#include <cstdint>

#include "sim/num/mode.h"

namespace sm89::num {

inline constexpr uint32_t kNan32 = 0x7fffffffu;

uint32_t Fadd(uint32_t a, uint32_t b, FpMode mode);
// `scale_log2`: FMUL's D8 D4 D2 M2 M4 M8 as -3..3: the exact product is scaled before rounding.
uint32_t Fmul(uint32_t a, uint32_t b, FpMode mode, int scale_log2 = 0);
uint32_t Ffma(uint32_t a, uint32_t b, uint32_t c, FpMode mode);
uint32_t Fmnmx(uint32_t a, uint32_t b, MinMaxMode mode);
Relation Fcompare(uint32_t a, uint32_t b, bool ftz);
// FCHK.DIVIDE: whether a/b needs the slow path (operands or quotient near the limits of the exponent).
bool FchkDivide(uint32_t a, uint32_t b);

void FaddLanes(const uint32_t* a, const uint32_t* b, uint32_t* d, FpMode mode);
void FmulLanes(const uint32_t* a, const uint32_t* b, uint32_t* d, FpMode mode);
void FfmaLanes(const uint32_t* a, const uint32_t* b, const uint32_t* c, uint32_t* d, FpMode mode);
void FmnmxLanes(const uint32_t* a, const uint32_t* b, uint32_t* d, MinMaxMode mode);
// Bit i = FCMP `code` holds between a[i] and b[i].
uint32_t FsetpLanes(const uint32_t* a, const uint32_t* b, uint32_t code, bool ftz);

// The two bodies of FfmaLanes, for tests: without and with the host's fused multiply-add. The second answers
// false (and does nothing) where the host has none.
void FfmaLanesPortable(const uint32_t* a, const uint32_t* b, const uint32_t* c, uint32_t* d, FpMode mode);
bool FfmaLanesFused(const uint32_t* a, const uint32_t* b, const uint32_t* c, uint32_t* d, FpMode mode);

}  // namespace sm89::num
