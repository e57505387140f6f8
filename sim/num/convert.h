// Conversions: F2I, I2F/I2FP, F2F, F2FP, FRND. Numbers travel as bits in the low end of a uint64_t.
#pragma once

#include <cstdint>

#include "sim/num/mode.h"

namespace sm89::num {

enum class FloatType : uint8_t { kF16, kBf16, kF32, kF64, kE4m3, kE5m2, kTf32 };

// Raw DSTFMT/SRCFMT fields: U8 0, S8 1, U16 2, S16 3, U32 4, S32 5, U64 6, S64 7.
enum class IntType : uint8_t { kU8, kS8, kU16, kS16, kU32, kS32, kU64, kS64 };

constexpr unsigned BitsOf(IntType type) { return 8u << (static_cast<unsigned>(type) >> 1); }
constexpr bool IsSigned(IntType type) { return (static_cast<unsigned>(type) & 1) != 0; }

struct F2iMode {
  FloatType src = FloatType::kF32;
  IntType dst = IntType::kS32;
  IntRound round = IntRound::kTrunc;
  bool ftz = false;
  bool ntz = false;  // NaN -> 0
};

// Out of range saturates. NaN without ntz: 1 << (width - 1) (PTX cvt: FP64 source or 64-bit result; ptxas
// sets NTZ in all other cases). Results narrower than 32 bits are sign- or zero-extended to the 32-bit
// register.
uint64_t F2i(uint64_t bits, F2iMode mode);
// `value` holds the source in its low bits; what lies above is ignored.
uint64_t I2f(uint64_t value, IntType src, FloatType dst, Round round);
// Float to float, one rounding; NaN becomes the canonical NaN of dst. ftz: subnormal FP32 source or result ->
// zero.
uint64_t F2f(uint64_t bits, FloatType src, FloatType dst, Round round, bool ftz);
// Round to an integral number of the same type.
uint64_t Frnd(uint64_t bits, FloatType type, IntRound round, bool ftz);

// Raw fields of F2FP.
struct F2fpMode {
  uint32_t dst = 0;    // F16 0, BF16 1, TF32 2 (assumption), E5M2 4, E4M3 5
  uint32_t src = 0;    // F32 0, F16 1, E5M2 2, E4M3 3
  uint32_t merge = 0;  // PACK_AB 0, MERGE_C 1, UNPACK_B 2, UNPACK_B_MERGE_C 4, PACK_AB_MERGE_C 5
  uint32_t extract =
      0;  // half select: upper half (or byte pair) of the source / of the result kept for MERGE_C
  Round round = Round::kRn;
  bool relu = false;
  bool satfinite = false;
};

// PACK_AB: Ra high, Rb low. FP8 results of PACK_AB land in the low 16 bits; *_MERGE_C keeps the other half of
// c.
uint32_t F2fp(uint32_t a, uint32_t b, uint32_t c, F2fpMode mode);

}  // namespace sm89::num
