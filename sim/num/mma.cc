// Floating-point tensor-core products. The hardware model (README.md, "MMA") works on integers: significands
// and exponents apart, eight columns at a time, so that the compiler can use vector instructions.
#include "sim/num/mma.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "sim/base/assert.h"
#include "sim/num/fp32.h"
#include "sim/num/half.h"
#include "sim/num/mma_unpack.h"
#include "sim/num/softfloat.h"

#define SM89_NUM_INLINE inline __attribute__((always_inline))

namespace sm89::num {
namespace {

// Exponent of a zero: its products never decide the alignment.
constexpr int32_t kZeroExponent = -100000;

struct Model {
  int fraction_bits = 24;      // kept below the largest exponent when products and C are aligned
  int group = 8;               // products added at once
  int out_fraction_bits = 23;  // of an FP32 result
};

// MMA-Sim (arXiv 2511.10909, Ada Lovelace): 24 bits; k split in groups of 8 (16-bit types) or 4 (TF32); FP8
// 13 bits, groups of 16, FP32 results cut to 13 fraction bits.
Model ModelOf(const MmaDesc& desc) {
  switch (BitsOf(desc.a)) {
    case 8:
      return {13, 16, 13};
    case 32:
      return {24, 4, 23};
    default:
      return {24, 8, 23};
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

// Signed significand and exponent: value = significand * 2^(exponent - fraction bits of the type). Subnormals
// keep the smallest exponent, unnormalised.
struct Parts {
  int32_t significand;
  int32_t exponent;
};

struct Decoder {
  int fraction;
  int bias;
  uint32_t exponent_mask;
  uint32_t sign_bit;
  uint32_t special_from;  // magnitudes from here on are infinity or NaN

  explicit Decoder(const Format& format)
      : fraction(format.fraction_bits),
        bias(format.Bias()),
        exponent_mask(static_cast<uint32_t>(format.ExponentMask())),
        sign_bit(static_cast<uint32_t>(format.SignBit())),
        special_from(static_cast<uint32_t>(format.has_infinity ? format.Infinity() : format.nan)) {}

  SM89_NUM_INLINE Parts operator()(uint32_t bits) const {
    const uint32_t magnitude = bits & (sign_bit - 1);
    const uint32_t biased = magnitude >> fraction;
    const uint32_t low = magnitude & ((1u << fraction) - 1);
    const uint32_t unit = biased != 0 ? 1u << fraction : 0;
    const auto significand = static_cast<int32_t>(low | unit);
    const int32_t exponent = static_cast<int32_t>(biased) - bias + (biased == 0 ? 1 : 0);
    return {(bits & sign_bit) != 0 ? -significand : significand, magnitude == 0 ? kZeroExponent : exponent};
  }
  bool IsSpecial(uint32_t bits) const { return (bits & (sign_bit - 1)) >= special_from; }
};

struct FloatOperands {
  alignas(64) int32_t a_significand[kMmaRowsMax][kMmaStoredMax];
  alignas(64) int32_t a_exponent[kMmaRowsMax][kMmaStoredMax];
  alignas(64) int32_t b_significand[kMmaColsMax][kMmaN];
  alignas(64) int32_t b_exponent[kMmaColsMax][kMmaN];
  uint32_t a_bits[kMmaRowsMax][kMmaStoredMax];
  uint32_t b_bits[kMmaColsMax][kMmaN];
  SparseColumns columns;
  bool special = false;  // some A or B is infinite or NaN
  int stored = 0;
  int up = 0;  // left shift that gives a product Model::fraction_bits fraction bits
};

SM89_NUM_INLINE void Unpack(const MmaDesc& desc, const MmaRegs& regs, FloatOperands* ops) {
  const Decoder decode_a(FormatOf(desc.a));
  const Decoder decode_b(FormatOf(desc.b));
  const int bits = static_cast<int>(BitsOf(desc.a));
  const bool tf32 = desc.a == MmaType::kTf32;
  const uint32_t mask = bits == 32 ? ~uint32_t{0} : (1u << bits) - 1;
  const int drop = tf32 ? 13 : 0;  // the hardware ignores what TF32 has no bits for
  ops->stored = ColsOf(desc, Matrix::kA);
  ops->up = ModelOf(desc).fraction_bits - decode_a.fraction - decode_b.fraction;
  uint32_t special = 0;
  ForEachTiled(regs.a, desc.m, ops->stored, bits, [&](int row, int col, uint32_t word, int shift) {
    const uint32_t element = ((word >> shift) & mask) >> drop;
    const Parts parts = decode_a(element);
    ops->a_bits[row][col] = element;
    ops->a_significand[row][col] = parts.significand;
    ops->a_exponent[row][col] = parts.exponent;
    special |= static_cast<uint32_t>(decode_a.IsSpecial(element));
  });
  ForEachTiled(regs.b, kMmaN, desc.k, bits, [&](int n, int k, uint32_t word, int shift) {
    const uint32_t element = ((word >> shift) & mask) >> drop;
    const Parts parts = decode_b(element);
    ops->b_bits[k][n] = element;
    ops->b_significand[k][n] = parts.significand;
    ops->b_exponent[k][n] = parts.exponent;
    special |= static_cast<uint32_t>(decode_b.IsSpecial(element));
  });
  ops->special = special != 0;
}

// One group: products [first, first + count) of a row and the accumulators, aligned and added without
// rounding. The sum is total * 2^(exponent - fraction_bits).
struct GroupSum {
  alignas(32) int32_t total[kMmaN];
  alignas(32) int32_t exponent[kMmaN];
};

SM89_NUM_INLINE void AddGroup(const FloatOperands& ops, const Model& model, int row, int first,
                              const Parts (&c)[kMmaN], int c_up, GroupSum* out) {
  const int last = std::min(first + model.group, ops.stored);
  int32_t top[kMmaN];
  int32_t total[kMmaN];
  for (int n = 0; n < kMmaN; ++n) top[n] = c[n].exponent;
  for (int i = first; i < last; ++i) {
    const int k = ops.columns[row][i];
    const int32_t exponent = ops.a_exponent[row][i];
    for (int n = 0; n < kMmaN; ++n) top[n] = std::max(top[n], exponent + ops.b_exponent[k][n]);
  }
  for (int n = 0; n < kMmaN; ++n) {
    const uint32_t magnitude = static_cast<uint32_t>(std::abs(c[n].significand)) << 1;  // 24 fraction bits
    const auto aligned = static_cast<int32_t>(magnitude >> std::min(top[n] - c[n].exponent + c_up, 31));
    total[n] = c[n].significand < 0 ? -aligned : aligned;
  }
  for (int i = first; i < last; ++i) {
    const int k = ops.columns[row][i];
    const int32_t exponent = ops.a_exponent[row][i];
    const int32_t significand = ops.a_significand[row][i];
    for (int n = 0; n < kMmaN; ++n) {
      const int32_t product = significand * ops.b_significand[k][n];
      const uint32_t magnitude = static_cast<uint32_t>(std::abs(product)) << ops.up;
      const auto aligned =
          static_cast<int32_t>(magnitude >> std::min(top[n] - exponent - ops.b_exponent[k][n], 31));
      total[n] += product < 0 ? -aligned : aligned;
    }
  }
  for (int n = 0; n < kMmaN; ++n) {
    out->total[n] = total[n];
    out->exponent[n] = top[n];
  }
}

// Rounds a group's sum to the accumulator type: FP32 towards zero (to out_fraction_bits), FP16 to nearest
// even.
uint32_t FinishScalar(int32_t total, int32_t exponent, const Model& model, bool half) {
  if (total == 0) return 0;
  Exact exact;
  exact.kind = FloatClass::kFinite;
  exact.negative = total < 0;
  exact.mantissa = static_cast<uint32_t>(std::abs(total));
  exact.exponent = exponent - model.fraction_bits;
  if (half) return static_cast<uint32_t>(Pack(kFp16Format, exact));
  // Towards zero, but too large is infinity (as MMA-Sim finds it), not the largest finite number.
  const int top = exact.exponent + BitWidth(exact.mantissa) - 1;
  if (top > 127) return exact.negative ? 0xff800000u : 0x7f800000u;
  const auto bits = static_cast<uint32_t>(Pack(kFp32Format, exact, {.round = Round::kRz}));
  return bits & ~((1u << (23 - model.out_fraction_bits)) - 1);
}

// FP32 results of normal range without branches; the others are marked in the return value (bit n).
SM89_NUM_INLINE uint32_t FinishRow(const GroupSum& sum, const Model& model, uint32_t* out) {
  const uint32_t cut = ~((1u << (23 - model.out_fraction_bits)) - 1);
  uint32_t odd[kMmaN];
  for (int n = 0; n < kMmaN; ++n) {
    const int32_t magnitude = std::abs(sum.total[n]);
    const auto rounded = static_cast<float>(magnitude);
    const int32_t above = static_cast<int32_t>(rounded) > magnitude ? 1 : 0;  // undo rounding up
    const int32_t bits = std::bit_cast<int32_t>(rounded) - above;
    const int32_t scale = std::clamp(sum.exponent[n] - model.fraction_bits, -1000, 1000);
    const int32_t biased = (bits >> 23) + scale;
    const bool normal = magnitude != 0 && biased >= 1 && biased <= 254;
    const uint32_t sign = static_cast<uint32_t>(sum.total[n]) & 0x80000000u;
    out[n] = normal ? ((static_cast<uint32_t>(bits + scale * (1 << 23)) & cut) | sign) : 0u;
    odd[n] = normal || magnitude == 0 ? 0u : 1u << n;
  }
  uint32_t mask = 0;
  for (int n = 0; n < kMmaN; ++n) mask |= odd[n];
  return mask;
}

SM89_NUM_INLINE void HardwareRow(const FloatOperands& ops, const Model& model, bool half, int row,
                                 uint32_t* acc) {
  const Decoder decode(half ? kFp16Format : kFp32Format);
  const int widen = half ? 13 : 0;  // FP16 accumulators get FP32's number of fraction bits
  for (int first = 0; first < ops.stored; first += model.group) {
    Parts c[kMmaN];
    for (int n = 0; n < kMmaN; ++n) {
      c[n] = decode(acc[n]);
      c[n].significand *= 1 << widen;
    }
    GroupSum sum;
    AddGroup(ops, model, row, first, c, 24 - model.fraction_bits, &sum);
    if (half) {
      for (int n = 0; n < kMmaN; ++n) acc[n] = FinishScalar(sum.total[n], sum.exponent[n], model, true);
      continue;
    }
    uint32_t odd = FinishRow(sum, model, acc);
    for (; odd != 0; odd &= odd - 1) {
      const int n = std::countr_zero(odd);
      acc[n] = FinishScalar(sum.total[n], sum.exponent[n], model, false);
    }
  }
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
    const Exact product =
        Multiply(Unpack(format_a, ops.a_bits[row][i]), Unpack(format_b, ops.b_bits[ops.columns[row][i]][n]));
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

SM89_NUM_INLINE void HardwareBody(const MmaDesc& desc, const MmaRegs& regs) {
  FloatOperands ops;
  Unpack(desc, regs, &ops);
  DenseColumns(desc, regs.e, &ops.columns);
  Accumulators acc;
  UnpackAccumulators(desc, regs.c, &acc);
  const Model model = ModelOf(desc);
  const bool half = desc.acc == MmaType::kF16;
  for (int row = 0; row < desc.m; ++row) {
    uint32_t special = 0;
    uint32_t decided[kMmaN];
    for (int n = 0; n < kMmaN; ++n) {
      if (!ops.special && !IsSpecialAcc(acc[row][n], half)) continue;
      decided[n] = acc[row][n];
      if (SpecialDot(ops, desc, row, n, &decided[n])) special |= 1u << n;
    }
    HardwareRow(ops, model, half, row, acc[row].data());
    for (; special != 0; special &= special - 1)
      acc[row][std::countr_zero(special)] = decided[std::countr_zero(special)];
  }
  PackAccumulators(desc, acc, regs.d);
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) void HardwareAvx2(const MmaDesc& desc, const MmaRegs& regs) {
  HardwareBody(desc, regs);
}
bool HasAvx2() {
  static const bool has = __builtin_cpu_supports("avx2") != 0;
  return has;
}
#endif

void HardwareBase(const MmaDesc& desc, const MmaRegs& regs) { HardwareBody(desc, regs); }

uint32_t ToFp32(const Format& format, uint32_t bits) {
  return static_cast<uint32_t>(Pack(kFp32Format, Unpack(format, bits)));
}

void FmaChain(const MmaDesc& desc, const MmaRegs& regs) {
  FloatOperands ops;
  Unpack(desc, regs, &ops);
  DenseColumns(desc, regs.e, &ops.columns);
  Accumulators acc;
  UnpackAccumulators(desc, regs.c, &acc);
  const bool half = desc.acc == MmaType::kF16;
  const Format format_a = FormatOf(desc.a);
  const Format format_b = FormatOf(desc.b);
  for (int row = 0; row < desc.m; ++row) {
    for (int n = 0; n < kMmaN; ++n) {
      uint32_t sum = half ? Fp16ToFp32(static_cast<uint16_t>(acc[row][n])) : acc[row][n];
      for (int i = 0; i < ops.stored; ++i) {
        sum = Ffma(ToFp32(format_a, ops.a_bits[row][i]), ToFp32(format_b, ops.b_bits[ops.columns[row][i]][n]),
                   sum, {});
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
