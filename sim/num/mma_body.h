// The hardware model of floating-point MMA, compiled once for each instruction set (see lanes_body.h). Works
// on integers, significands and exponents apart, the eight columns of a row at a time.

// Words of a fragment to one element each: A to [row][k], B to [k][n].
template <int kBits>
SM89_NUM_BODY void SpreadA(const MmaDesc& desc, const MmaRegs& regs, int drop, FloatOperands* ops) {
  constexpr int kPerLane = 32 / kBits;
  constexpr uint32_t kMask = kBits == 32 ? ~uint32_t{0} : (1u << (kBits % 32)) - 1;
  const int row_tiles = desc.m / 8;
  const int tiles = row_tiles * (ops->stored / (4 * kPerLane));
  for (int tile = 0; tile < tiles; ++tile) {
    const int row = (tile % row_tiles) * 8;
    const int col = (tile / row_tiles) * 4 * kPerLane;
    for (int lane = 0; lane < kLanes; ++lane) {
      const uint32_t word = regs.a[tile][lane];
      uint32_t* const out = &ops->a_bits[row + lane / 4][col + (lane % 4) * kPerLane];
      for (int i = 0; i < kPerLane; ++i) out[i] = ((word >> (i * kBits)) & kMask) >> drop;
    }
  }
}

template <int kBits>
SM89_NUM_BODY void SpreadB(const MmaDesc& desc, const MmaRegs& regs, int drop, FloatOperands* ops) {
  constexpr int kPerLane = 32 / kBits;
  constexpr uint32_t kMask = kBits == 32 ? ~uint32_t{0} : (1u << (kBits % 32)) - 1;
  const int tiles = desc.k / (4 * kPerLane);
  for (int tile = 0; tile < tiles; ++tile) {
    for (int lane = 0; lane < kLanes; ++lane) {
      const uint32_t word = regs.b[tile][lane];
      const int k = (tile * 4 + lane % 4) * kPerLane;
      for (int i = 0; i < kPerLane; ++i) {
        ops->b_bits[k + i][lane / 4] = ((word >> (i * kBits)) & kMask) >> drop;
      }
    }
  }
}

// Signed significand and exponent of eight numbers: value = significand * 2^(exponent - fraction bits of the
// type). Subnormals keep the smallest exponent, unnormalised. Gathers in `special` whether one is infinite or
// NaN.
SM89_NUM_BODY void DecodeVector(const Decoder& decode, const uint32_t* bits, int32_t* significand,
                                int32_t* exponent, I32x8* special) {
  I32x8 number;
  LoadVector(bits, &number);
  const I32x8 magnitude = number & decode.MagnitudeMask();
  const I32x8 biased = magnitude >> decode.fraction;
  const I32x8 low = magnitude & ((1 << decode.fraction) - 1);
  const I32x8 subnormal = biased == 0;
  const I32x8 unsigned_significand = low | (~subnormal & (1 << decode.fraction));
  const I32x8 negative = (number & decode.sign_bit) != 0;
  const I32x8 signed_significand = (unsigned_significand ^ negative) - negative;
  const I32x8 unbiased = biased - decode.bias - subnormal;
  const I32x8 zero = magnitude == 0;
  const I32x8 zero_exponent = I32x8{} + kZeroExponent;
  const I32x8 final_exponent = zero != 0 ? zero_exponent : unbiased;
  StoreVector(signed_significand, significand);
  StoreVector(final_exponent, exponent);
  *special |= magnitude >= decode.special_from;
}

SM89_NUM_BODY void Unpack(const MmaDesc& desc, const MmaRegs& regs, FloatOperands* ops) {
  const Decoder decode_a(FormatOf(desc.a));
  const Decoder decode_b(FormatOf(desc.b));
  switch (BitsOf(desc.a)) {
    case 8:
      SpreadA<8>(desc, regs, 0, ops);
      SpreadB<8>(desc, regs, 0, ops);
      break;
    case 32:
      // The hardware ignores what TF32 has no bits for.
      SpreadA<32>(desc, regs, 13, ops);
      SpreadB<32>(desc, regs, 13, ops);
      break;
    default:
      SpreadA<16>(desc, regs, 0, ops);
      SpreadB<16>(desc, regs, 0, ops);
      break;
  }
  I32x8 special = {};
  for (int row = 0; row < desc.m; ++row) {
    for (int i = 0; i < ops->stored; i += 8) {
      DecodeVector(decode_a, &ops->a_bits[row][i], &ops->a_significand[row][i], &ops->a_exponent[row][i],
                   &special);
    }
  }
  for (int k = 0; k < desc.k; ++k) {
    DecodeVector(decode_b, ops->b_bits[k], ops->b_significand[k], ops->b_exponent[k], &special);
  }
  int32_t any = 0;
  for (int n = 0; n < 8; ++n) any |= special[n];
  ops->special = any != 0;
}

// |significand| << up, cut to what is left `below_top` places down; `negative` is all ones where the number
// was below zero.
SM89_NUM_BODY void Align(const I32x8& significand, int up, const I32x8& below_top, U32x8* aligned,
                         I32x8* negative) {
  *negative = significand < 0;
  const I32x8 magnitude = ((significand ^ *negative) - *negative) << up;
  const I32x8 limit = I32x8{} + 31;
  const I32x8 shift = below_top > limit ? limit : below_top;
  *aligned = reinterpret_cast<U32x8>(magnitude) >> reinterpret_cast<U32x8>(shift);
}

// Signed sums of at most 31 bits; wide ones keep the two signs apart, because 17 terms of 27 bits need 32.
template <bool kWide>
struct Sum {
  I32x8 total;
  U32x8 positive;
  U32x8 negative;

  SM89_NUM_BODY void Add(const U32x8& magnitude, const I32x8& below_zero) {
    if constexpr (kWide) {
      positive += magnitude & ~reinterpret_cast<U32x8>(below_zero);
      negative += magnitude & reinterpret_cast<U32x8>(below_zero);
    } else {
      total += (reinterpret_cast<I32x8>(magnitude) ^ below_zero) - below_zero;
    }
  }
  SM89_NUM_BODY void Get(U32x8* magnitude, I32x8* below_zero) const {
    if constexpr (kWide) {
      const I32x8 less = positive < negative;
      *magnitude = less != 0 ? negative - positive : positive - negative;
      *below_zero = less;
    } else {
      *below_zero = total < 0;
      *magnitude = reinterpret_cast<U32x8>((total ^ *below_zero) - *below_zero);
    }
  }
};

// +-magnitude * 2^(exponent - fraction_bits), eight columns.
struct Sums {
  U32x8 magnitude;
  I32x8 negative;
  I32x8 exponent;
};

// One group: products [first, last) of a row and the accumulators (24-bit significands), aligned to the
// largest exponent, cut to fraction_bits below it, added.
template <bool kWide>
SM89_NUM_BODY void AddGroup(const FloatOperands& ops, const Model& model, int row, int first,
                            const I32x8& c_significand, const I32x8& c_exponent, Sums* out) {
  const int last = first + model.group < ops.stored ? first + model.group : ops.stored;
  const uint8_t* const columns = (*ops.columns)[row].data();
  I32x8 top = c_exponent;
  for (int i = first; i < last; ++i) {
    I32x8 b_exponent;
    LoadVector(ops.b_exponent[columns[i]], &b_exponent);
    const I32x8 product = b_exponent + ops.a_exponent[row][i];
    top = product > top ? product : top;
  }
  const int extra = model.fraction_bits - 23;  // what C's significand lacks of fraction bits
  Sum<kWide> sum = {};
  U32x8 aligned;
  I32x8 negative;
  Align(c_significand, extra > 0 ? extra : 0, top - c_exponent - (extra < 0 ? extra : 0), &aligned,
        &negative);
  sum.Add(aligned, negative);
  for (int i = first; i < last; ++i) {
    I32x8 b_exponent;
    I32x8 b_significand;
    LoadVector(ops.b_exponent[columns[i]], &b_exponent);
    LoadVector(ops.b_significand[columns[i]], &b_significand);
    Align(b_significand * ops.a_significand[row][i], ops.up, top - b_exponent - ops.a_exponent[row][i],
          &aligned, &negative);
    sum.Add(aligned, negative);
  }
  sum.Get(&out->magnitude, &out->negative);
  out->exponent = top;
}

// FP32 results of normal range, rounded towards zero; answers a mask of the columns that are not.
template <bool kWide>
SM89_NUM_BODY uint32_t FinishVector(const Sums& sums, const Model& model, uint32_t* out) {
  const int32_t cut = ~((1 << (23 - model.out_fraction_bits)) - 1);
  F32x8 rounded;
  I32x8 above;  // -1 undoes rounding up
  if constexpr (kWide) {
    rounded = __builtin_convertvector(sums.magnitude, F32x8);
    above = __builtin_convertvector(rounded, U32x8) > sums.magnitude;
  } else {
    rounded = __builtin_convertvector(reinterpret_cast<I32x8>(sums.magnitude), F32x8);
    above = __builtin_convertvector(rounded, I32x8) > reinterpret_cast<I32x8>(sums.magnitude);
  }
  const I32x8 bits = reinterpret_cast<I32x8>(rounded) + above;
  const I32x8 scale = sums.exponent - model.fraction_bits;
  const I32x8 biased = (bits >> 23) + scale;
  const I32x8 zero = sums.magnitude == 0;
  const I32x8 normal = (biased >= 1) & (biased <= 254) & ~zero;
  // Wraps where the result is not normal and thrown away.
  const U32x8 scaled = reinterpret_cast<U32x8>(bits) + (reinterpret_cast<U32x8>(scale) << 23);
  const I32x8 sign = sums.negative & static_cast<int32_t>(0x80000000u);
  const I32x8 result = ((reinterpret_cast<I32x8>(scaled) & cut) | sign) & normal;
  StoreVector(result, out);
  const I32x8 weights = {1, 2, 4, 8, 16, 32, 64, 128};
  const I32x8 odd = ~(normal | zero) & weights;
  int32_t mask = 0;
  for (int n = 0; n < 8; ++n) mask |= odd[n];
  return static_cast<uint32_t>(mask);
}

// FP16 results: the sum is exact in double, then rounded to nearest even.
SM89_NUM_BODY void FinishHalf(const Sums& sums, const Model& model, uint32_t* out) {
  // Below 2^-200 (only where all terms are zero) the sum is zero anyway.
  const I32x8 floor = I32x8{} - 200;
  const I32x8 exponent = sums.exponent > floor ? sums.exponent : floor;
  for (int half = 0; half < 2; ++half) {
    U32x4 magnitudes;
    I32x4 exponents;
    std::memcpy(&magnitudes, reinterpret_cast<const char*>(&sums.magnitude) + half * sizeof(magnitudes),
                sizeof(magnitudes));
    std::memcpy(&exponents, reinterpret_cast<const char*>(&exponent) + half * sizeof(exponents),
                sizeof(exponents));
    const I64x4 scale = (__builtin_convertvector(exponents, I64x4) + (1023 - model.fraction_bits)) << 52;
    // Integers below 2^52 to double by the bits of 2^52 + n.
    const I64x4 shifted = __builtin_convertvector(magnitudes, I64x4) | 0x4330000000000000;
    const F64x4 value = (reinterpret_cast<F64x4>(shifted) - 0x1p52) * reinterpret_cast<F64x4>(scale);
    I32x4 result;
    DoubleToHalf<false>(value, &result);
    StoreVector(result, out + half * 4);
  }
  for (int n = 0; n < kMmaN; ++n) {
    if (sums.negative[n] != 0 && sums.magnitude[n] != 0) out[n] |= 0x8000u;
  }
}

template <bool kWide>
SM89_NUM_BODY void HardwareRow(const FloatOperands& ops, const Model& model, bool half, int row,
                               uint32_t* acc) {
  const Decoder decode(half ? kFp16Format : kFp32Format);
  for (int first = 0; first < ops.stored; first += model.group) {
    alignas(32) int32_t significands[kMmaN];
    alignas(32) int32_t exponents[kMmaN];
    I32x8 special = {};
    DecodeVector(decode, acc, significands, exponents, &special);
    I32x8 significand;
    I32x8 exponent;
    LoadVector(significands, &significand);
    LoadVector(exponents, &exponent);
    if (half) significand = significand * (1 << 13);  // FP16 accumulators get FP32's number of fraction bits
    Sums sums;
    AddGroup<kWide>(ops, model, row, first, significand, exponent, &sums);
    if (half) {
      FinishHalf(sums, model, acc);
      continue;
    }
    for (uint32_t odd = FinishVector<kWide>(sums, model, acc); odd != 0; odd &= odd - 1) {
      const int n = std::countr_zero(odd);
      acc[n] = FinishScalar(sums.magnitude[n], sums.negative[n] != 0, sums.exponent[n], model);
    }
  }
}

SM89_NUM_BODY void Hardware(const MmaDesc& desc, const MmaRegs& regs) {
  FloatOperands ops;
  Prepare(desc, regs, &ops);
  Unpack(desc, regs, &ops);
  Accumulators acc;
  UnpackAccumulators(desc, regs.c, &acc);
  const Model model = ModelOf(desc);
  const bool half = desc.acc == MmaType::kF16;
  for (int row = 0; row < desc.m; ++row) {
    std::array<uint32_t, kMmaN> decided = acc[row];
    uint32_t special = SpecialColumns(ops, desc, row, decided.data());
    if (model.wide) {
      HardwareRow<true>(ops, model, half, row, acc[row].data());
    } else {
      HardwareRow<false>(ops, model, half, row, acc[row].data());
    }
    for (; special != 0; special &= special - 1) {
      const int n = std::countr_zero(special);
      acc[row][n] = decided[n];
    }
  }
  PackAccumulators(desc, acc, regs.d);
}
