// Modes shared by the arithmetic of sim/num. Raw values are those of the SASS modifier fields, so a decoder's
// number can be cast. All functions of this folder are pure and give the same bits on every host: only the
// round-to-nearest fast paths use the host's floating point, and only in its default environment (nearest
// even, subnormals kept).
#pragma once

#include <cstdint>

#ifdef __FAST_MATH__
#error "sim/num is bit-exact: no -ffast-math"
#endif

namespace sm89::num {

inline constexpr int kLanes = 32;

// Raw Round1 field.
enum class Round : uint8_t { kRn = 0, kRm = 1, kRp = 2, kRz = 3 };

// Raw Round3 field (F2I, FRND).
enum class IntRound : uint8_t { kRound = 0, kFloor = 1, kCeil = 2, kTrunc = 3 };

struct FpMode {
  Round round = Round::kRn;
  bool ftz = false;  // subnormal inputs and results become zeros of their sign
  bool fmz =
      false;  // a zero factor makes the product +0 whatever the other factor is; implies ftz (assumption)
  bool sat = false;  // clamp to [0, 1], NaN -> +0 (PTX .sat)

  constexpr bool Flushes() const { return ftz || fmz; }
};

// From the raw FMZ field of FMUL, FFMA, HMUL2, HFMA2 (0 none, 1 FMZ, 2 FTZ).
constexpr FpMode ModeFromFields(uint32_t round, uint32_t fmz, bool sat) {
  return {static_cast<Round>(round & 3), fmz == 2, fmz == 1, sat};
}

// How two numbers compare; the values are bit positions of an FCMP code.
enum class Relation : uint8_t { kLess = 0, kEqual = 1, kGreater = 2, kUnordered = 3 };

// Raw FCMP code: bit 0 less, 1 equal, 2 greater, 3 unordered (so F 0, LT 1, ... NUM 7, NAN 8, LTU 9, ... T
// 15).
constexpr bool FcmpHolds(uint32_t code, Relation relation) {
  return ((code >> static_cast<unsigned>(relation)) & 1) != 0;
}

// FMNMX, HMNMX2. NaN rule: one NaN -> the other operand (nan: NaN -> NaN); both NaN -> canonical NaN;
// -0 < +0 (PTX min/max). xorsign: magnitudes are compared and the result's sign is the XOR of the operands'
// signs; the caller hands the registers over WITHOUT the |abs| that the code shows on them.
struct MinMaxMode {
  bool max = false;
  bool nan = false;
  bool xorsign = false;
  bool ftz = false;
};

}  // namespace sm89::num
