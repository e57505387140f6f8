// Floating-point tensor-core products. The hardware model (README.md, "MMA") works on integers: significands
// and exponents apart, eight columns at a time, so that the compiler can use vector instructions.
#include "sim/num/mma.h"

#include <array>
#include <bit>
#include <cstring>

#include "sim/base/assert.h"
#include "sim/num/fp16x2.h"
#include "sim/num/fp32.h"
#include "sim/num/half.h"
#include "sim/num/half_double.h"
#include "sim/num/mma_unpack.h"
#include "sim/num/softfloat.h"
#include "sim/num/vector.h"

namespace sm89::num {
namespace {

// Exponent of a zero: its products never decide the alignment.
constexpr int32_t kZeroExponent = -100000;

struct Model {
  int fraction_bits = 24;      // kept below the largest exponent when products and C are aligned
  int group = 8;               // products added at once
  int out_fraction_bits = 23;  // of an FP32 result
  bool wide = false;           // sums may need 32 bits and a sign
};

// MMA-Sim (arXiv 2511.10909). Ada: 24 bits; k in groups of 8 (16-bit types) or 4 (TF32); FP8 13 bits, groups
// of 16, FP32 results cut to 13 fraction bits. Hopper: 25 bits, a whole k of 16 at once (80 of 80 measured
// FP16 dot products of length 512 agree bit by bit), FP8 as FP16.
Model ModelOf(const MmaDesc& desc) {
  if (desc.core == TensorCore::kHopper) return {25, 16, 23, true};
  switch (BitsOf(desc.a)) {
    case 8:
      return {13, 16, 13, false};
    case 32:
      return {24, 4, 23, false};
    default:
      return {24, 8, 23, false};
  }
}

Format FormatOf(MmaType type) {
  switch (type) {
    case MmaType::kBf16:
      return kBf16Format;
    case MmaType::kTf32:
      return kTf32Format;
    case MmaType::kE4m3:
      return kE4m3Format;
    case MmaType::kE5m2:
      return kE5m2Format;
    default:
      return kFp16Format;
  }
}

struct Decoder {
  int fraction;
  int32_t bias;
  int32_t sign_bit;
  int32_t special_from;  // magnitudes from here on are infinity or NaN

  explicit Decoder(const Format& format)
      : fraction(format.fraction_bits),
        bias(format.Bias()),
        sign_bit(static_cast<int32_t>(static_cast<uint32_t>(format.SignBit()))),
        special_from(static_cast<int32_t>(format.has_infinity ? format.Infinity() : format.nan)) {}
  int32_t MagnitudeMask() const { return static_cast<int32_t>(static_cast<uint32_t>(sign_bit) - 1); }
};

struct FloatOperands {
  alignas(64) uint32_t a_bits[kMmaRowsMax][kMmaFloatStoredMax];
  alignas(64) int32_t a_significand[kMmaRowsMax][kMmaFloatStoredMax];
  alignas(64) int32_t a_exponent[kMmaRowsMax][kMmaFloatStoredMax];
  alignas(64) uint32_t b_bits[kMmaFloatColsMax][kMmaN];
  alignas(64) int32_t b_significand[kMmaFloatColsMax][kMmaN];
  alignas(64) int32_t b_exponent[kMmaFloatColsMax][kMmaN];
  SparseColumns own_columns;
  const SparseColumns* columns;
  bool special;  // some A or B is infinite or NaN
  int stored;
  int up;  // left shift that gives a product Model::fraction_bits fraction bits
};

const SparseColumns& IdentityColumns() {
  static const SparseColumns kIdentity = [] {
    SparseColumns columns;
    for (auto& row : columns) {
      for (int i = 0; i < kMmaStoredMax; ++i) row[i] = static_cast<uint8_t>(i);
    }
    return columns;
  }();
  return kIdentity;
}

// All but the matrices themselves.
void Prepare(const MmaDesc& desc, const MmaRegs& regs, FloatOperands* ops) {
  ops->stored = ColsOf(desc, Matrix::kA);
  ops->up = ModelOf(desc).fraction_bits - FormatOf(desc.a).fraction_bits - FormatOf(desc.b).fraction_bits;
  ops->columns = &IdentityColumns();
  if (desc.sparse) {
    DenseColumns(desc, regs.e, &ops->own_columns);
    ops->columns = &ops->own_columns;
  }
  // Rows shorter than a vector are decoded whole.
  if (ops->stored < 8) std::memset(ops->a_bits, 0, sizeof(ops->a_bits));
}

// Rounds a group's sum to FP32 towards zero, to out_fraction_bits.
uint32_t FinishScalar(uint32_t magnitude, bool negative, int32_t exponent, const Model& model) {
  Exact exact;
  exact.kind = FloatClass::kFinite;
  exact.negative = negative;
  exact.mantissa = magnitude;
  exact.exponent = exponent - model.fraction_bits;
  // Too large is infinity (as MMA-Sim finds it), not the largest finite number.
  const int top = exact.exponent + BitWidth(exact.mantissa) - 1;
  if (top > 127) return exact.negative ? 0xff800000u : 0x7f800000u;
  const auto bits = static_cast<uint32_t>(Pack(kFp32Format, exact, {.round = Round::kRz}));
  return bits & ~((1u << (23 - model.out_fraction_bits)) - 1);
}

// Infinities and NaN decide a dot product by themselves; answers false when it is an ordinary number.
bool SpecialDot(const FloatOperands& ops, const MmaDesc& desc, int row, int n, uint32_t* acc) {
  const bool half = desc.acc == MmaType::kF16;
  const Format format_a = FormatOf(desc.a);
  const Format format_b = FormatOf(desc.b);
  const Format& format = half ? kFp16Format : kFp32Format;
  Exact seen = Unpack(format, *acc);
  bool nan = seen.kind == FloatClass::kNan;
  bool positive = seen.kind == FloatClass::kInfinity && !seen.negative;
  bool negative = seen.kind == FloatClass::kInfinity && seen.negative;
  for (int i = 0; i < ops.stored; ++i) {
    const Exact product = Multiply(Unpack(format_a, ops.a_bits[row][i]),
                                   Unpack(format_b, ops.b_bits[(*ops.columns)[row][i]][n]));
    nan = nan || product.kind == FloatClass::kNan;
    positive = positive || (product.kind == FloatClass::kInfinity && !product.negative);
    negative = negative || (product.kind == FloatClass::kInfinity && product.negative);
  }
  if (nan || (positive && negative)) {
    *acc = static_cast<uint32_t>(format.nan);
  } else if (positive || negative) {
    *acc = static_cast<uint32_t>(format.Infinity() | (negative ? format.SignBit() : 0));
  }
  return nan || positive || negative;
}

bool IsSpecialAcc(uint32_t bits, bool half) {
  return half ? (bits & 0x7c00u) == 0x7c00u : (bits & 0x7f800000u) == 0x7f800000u;
}

// Replaces what infinities and NaN decide in a row of accumulators; answers those columns' mask.
uint32_t SpecialColumns(const FloatOperands& ops, const MmaDesc& desc, int row, uint32_t* acc) {
  const bool half = desc.acc == MmaType::kF16;
  uint32_t mask = 0;
  for (int n = 0; n < kMmaN; ++n) {
    if (!ops.special && !IsSpecialAcc(acc[n], half)) continue;
    if (SpecialDot(ops, desc, row, n, &acc[n])) mask |= 1u << n;
  }
  return mask;
}

namespace base {
#define SM89_NUM_BODY inline __attribute__((always_inline))
#include "sim/num/half_body.h"
#include "sim/num/mma_body.h"
#undef SM89_NUM_BODY
}  // namespace base

#if defined(__x86_64__)
namespace avx2 {
#define SM89_NUM_BODY inline __attribute__((always_inline, target("avx2")))
#include "sim/num/half_body.h"
#include "sim/num/mma_body.h"
#undef SM89_NUM_BODY
}  // namespace avx2

__attribute__((target("avx2"))) void HardwareAvx2(const MmaDesc& desc, const MmaRegs& regs) {
  avx2::Hardware(desc, regs);
}
#endif

void HardwareBase(const MmaDesc& desc, const MmaRegs& regs) { base::Hardware(desc, regs); }

uint32_t ToFp32(const Format& format, uint32_t bits) {
  return static_cast<uint32_t>(Pack(kFp32Format, Unpack(format, bits)));
}

void FmaChain(const MmaDesc& desc, const MmaRegs& regs) {
  FloatOperands ops;
  Prepare(desc, regs, &ops);
  base::Unpack(desc, regs, &ops);
  Accumulators acc;
  UnpackAccumulators(desc, regs.c, &acc);
  const bool half = desc.acc == MmaType::kF16;
  const Format format_a = FormatOf(desc.a);
  const Format format_b = FormatOf(desc.b);
  for (int row = 0; row < desc.m; ++row) {
    for (int n = 0; n < kMmaN; ++n) {
      uint32_t sum = half ? Fp16ToFp32(static_cast<uint16_t>(acc[row][n])) : acc[row][n];
      for (int i = 0; i < ops.stored; ++i) {
        sum = Ffma(ToFp32(format_a, ops.a_bits[row][i]),
                   ToFp32(format_b, ops.b_bits[(*ops.columns)[row][i]][n]), sum, {});
      }
      acc[row][n] = half ? Fp32ToFp16(sum) : sum;
    }
  }
  PackAccumulators(desc, acc, regs.d);
}

}  // namespace

void Mma(const MmaDesc& desc, const MmaRegs& regs, MmaMode mode) {
  SM89_ASSERT(IsSupported(desc), "no such tensor-core instruction");
  if (desc.acc == MmaType::kS32) {
    if (desc.a == MmaType::kB1) {
      MmaBits(desc, regs);
    } else {
      MmaInteger(desc, regs);
    }
  } else if (desc.acc == MmaType::kF64) {
    MmaDouble(desc, regs);
  } else if (mode == MmaMode::kFmaChain) {
    FmaChain(desc, regs);
  } else {
#if defined(__x86_64__)
    if (HasAvx2()) {
      HardwareAvx2(desc, regs);
      return;
    }
#endif
    HardwareBase(desc, regs);
  }
}

void MmaPortable(const MmaDesc& desc, const MmaRegs& regs) {
  SM89_ASSERT(IsSupported(desc), "no such tensor-core instruction");
  HardwareBase(desc, regs);
}

void Ldmatrix(const uint8_t* matrix_bytes, uint32_t* dst, bool transposed) {
  uint16_t element[8][8];
  std::memcpy(element, matrix_bytes, sizeof(element));
  uint32_t out[kLanes];
  for (int lane = 0; lane < kLanes; ++lane) {
    const int major = lane / 4;
    const int minor = (lane % 4) * 2;
    const uint32_t low = transposed ? element[minor][major] : element[major][minor];
    const uint32_t high = transposed ? element[minor + 1][major] : element[major][minor + 1];
    out[lane] = low | (high << 16);
  }
  std::memcpy(dst, out, sizeof(out));
}

void MovmTranspose(const uint32_t* src, uint32_t* dst) {
  uint8_t bytes[128];
  std::memcpy(bytes, src, sizeof(bytes));
  Ldmatrix(bytes, dst, true);
}

}  // namespace sm89::num
