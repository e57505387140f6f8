// Packed-half arithmetic in double, compiled once for each instruction set (see lanes_body.h).

// The 16 bits sit in the low half of each element.
template <bool kBf16>
SM89_NUM_BODY void HalfToDouble(const I32x4& half, F64x4* out) {
  I32x4 bits;
  if constexpr (kBf16) {
    bits = half << 16;
  } else {
    const I32x4 magnitude = half & 0x7fff;
    const I32x4 normal =
        (magnitude << 13) + (magnitude >= 0x7c00 ? I32x4{} + (224 << 23) : I32x4{} + (112 << 23));
    const F32x4 subnormal = __builtin_convertvector(magnitude, F32x4) * 0x1p-24f;
    bits = (magnitude < 0x0400 ? reinterpret_cast<I32x4>(subnormal) : normal) | ((half & 0x8000) << 16);
  }
  *out = __builtin_convertvector(reinterpret_cast<F32x4>(bits), F64x4);
}

// Round to nearest even; NaN becomes 0x7fff.
template <bool kBf16>
SM89_NUM_BODY void DoubleToHalf(const F64x4& value, I32x4* out) {
  using H = HalfTraits<kBf16>;
  const U64x4 bits = reinterpret_cast<U64x4>(value);
  const U64x4 magnitude = bits & 0x7fffffffffffffffu;
  const U64x4 odd = (magnitude >> H::kDrop) & 1;
  const U64x4 rounded = (magnitude + ((uint64_t{1} << (H::kDrop - 1)) - 1) + odd) >> H::kDrop;
  const I64x4 normal = reinterpret_cast<I64x4>(rounded) - (int64_t{1023 - H::kBias} << H::kFraction);
  const I64x4 infinity = I64x4{} + H::kInfinity;
  const I64x4 capped = normal > infinity ? infinity : normal;
  const F64x4 shifted = reinterpret_cast<F64x4>(magnitude) + H::kSubnormalMagic;
  const I64x4 subnormal = reinterpret_cast<I64x4>(shifted) & 0xffff;
  const I64x4 signed_magnitude = reinterpret_cast<I64x4>(magnitude);
  const I64x4 number = signed_magnitude < std::bit_cast<int64_t>(H::kMinNormal) ? subnormal : capped;
  const U64x4 sign = (bits >> 48) & 0x8000;
  const I64x4 nan = I64x4{} + kNan16;
  const I64x4 result = signed_magnitude > 0x7ff0000000000000 ? nan : number | reinterpret_cast<I64x4>(sign);
  *out = __builtin_convertvector(result, I32x4);
}

// a * b + c rounded to odd at 53 bits (Boldo and Melquiond): with the error term of the sum known, an even
// last bit of an inexact sum is stepped towards the exact value. Any later rounding to at most 51 bits is
// then the rounding of the exact value. The product must be exact in double.
SM89_NUM_BODY void FusedOdd(const F64x4& a, const F64x4& b, const F64x4& c, F64x4* out) {
  const F64x4 product = a * b;
  const F64x4 sum = product + c;
  const F64x4 back = sum - product;
  const F64x4 error = (product - (sum - back)) + (c - back);
  const I64x4 bits = reinterpret_cast<I64x4>(sum);
  const I64x4 inexact = (error < 0.0) | (error > 0.0);  // false for the NaN error of infinities
  const I64x4 outwards = (error < 0.0) == (sum < 0.0);  // all ones or zero
  const I64x4 step = inexact & ~bits & 1;
  const I64x4 odd = bits + (outwards ? step : -step);
  *out = reinterpret_cast<F64x4>(odd);
}

template <bool kBf16>
SM89_NUM_BODY void Flush(I32x4* half) {
  *half = (*half & HalfTraits<kBf16>::kInfinity) == 0 ? *half & 0x8000 : *half;
}

template <bool kBf16>
SM89_NUM_BODY void Clamp(HalfMode mode, I32x4* half) {
  using H = HalfTraits<kBf16>;
  const I32x4 nan = (*half & 0x7fff) > H::kInfinity;
  const I32x4 negative = *half >= 0x8000;
  const I32x4 zero = {};
  if (mode.sat) {
    const I32x4 capped = *half > H::kOne ? zero + H::kOne : *half;
    *half = (nan | negative) != 0 ? zero : capped;
  } else if (mode.relu) {
    *half = (negative & ~nan) != 0 ? zero : *half;
  }
}

// Sources as doubles, flushed and with the FMZ rule applied.
template <bool kBf16>
SM89_NUM_BODY void Prepare(HalfMode mode, I32x4 (&source)[3], F64x4 (&number)[3]) {
  if (mode.ftz || mode.fmz) {
    for (I32x4& half : source) Flush<kBf16>(&half);
  }
  if (mode.fmz) {
    const I32x4 zero = ((source[0] & 0x7fff) == 0) | ((source[1] & 0x7fff) == 0);
    source[0] = source[0] & ~zero;
    source[1] = source[1] & ~zero;
  }
  for (int i = 0; i < 3; ++i) HalfToDouble<kBf16>(source[i], &number[i]);
}

template <bool kBf16>
SM89_NUM_BODY void FmaHalves(HalfMode mode, I32x4 (&source)[3], I32x4* out) {
  F64x4 number[3];
  Prepare<kBf16>(mode, source, number);
  F64x4 sum;
  FusedOdd(number[0], number[1], number[2], &sum);
  DoubleToHalf<kBf16>(sum, out);
  if (mode.ftz || mode.fmz) Flush<kBf16>(out);
  Clamp<kBf16>(mode, out);
}

template <bool kBf16>
SM89_NUM_BODY void FmaRow(const uint32_t* a, const uint32_t* b, const uint32_t* c, uint32_t* d,
                          HalfMode mode) {
  const uint32_t* const rows[3] = {a, b, c};
  for (int i = 0; i < kLanes; i += 4) {
    I32x4 low[3];
    I32x4 high[3];
    for (int operand = 0; operand < 3; ++operand) {
      U32x4 words;
      LoadVector(rows[operand] + i, &words);
      const U32x4 upper = words >> 16;
      const U32x4 lower = words & 0xffffu;
      low[operand] = reinterpret_cast<I32x4>(lower);
      high[operand] = reinterpret_cast<I32x4>(upper);
    }
    I32x4 low_out;
    I32x4 high_out;
    FmaHalves<kBf16>(mode, low, &low_out);
    FmaHalves<kBf16>(mode, high, &high_out);
    const I32x4 both = low_out | (high_out << 16);
    StoreVector(both, d + i);
  }
}

// FP32 result of the low halves of FP16 sources.
SM89_NUM_BODY void FmaToSingleRow(const uint32_t* a, const uint32_t* b, const uint32_t* c, uint32_t* d,
                                  HalfMode mode) {
  const uint32_t* const rows[3] = {a, b, c};
  for (int i = 0; i < kLanes; i += 4) {
    I32x4 source[3];
    for (int operand = 0; operand < 3; ++operand) {
      LoadVector(rows[operand] + i, &source[operand]);
      source[operand] &= 0xffff;
    }
    F64x4 number[3];
    Prepare<false>(mode, source, number);
    F64x4 sum;
    FusedOdd(number[0], number[1], number[2], &sum);
    const F32x4 single = __builtin_convertvector(sum, F32x4);
    const I32x4 bits = reinterpret_cast<I32x4>(single);
    const I32x4 nan = single != single;
    const I32x4 negative = bits < 0;
    const I32x4 zero = {};
    I32x4 result = nan != 0 ? zero + 0x7fffffff : bits;
    if (mode.sat) {
      result = (nan | negative) != 0 ? zero : (bits > 0x3f800000 ? zero + 0x3f800000 : bits);
    } else if (mode.relu) {
      result = (negative & ~nan) != 0 ? zero : result;
    }
    StoreVector(result, d + i);
  }
}

// The modes without flags get their own copy, so that the loop holds no branches.
SM89_NUM_BODY void FmaRows(const uint32_t* a, const uint32_t* b, const uint32_t* c, uint32_t* d,
                           HalfMode mode) {
  const bool plain = !mode.ftz && !mode.fmz && !mode.sat && !mode.relu;
  if (mode.out == HalfOut::kF32) {
    plain ? FmaToSingleRow(a, b, c, d, HalfMode{}) : FmaToSingleRow(a, b, c, d, mode);
  } else if (mode.out == HalfOut::kBf16) {
    plain ? FmaRow<true>(a, b, c, d, HalfMode{}) : FmaRow<true>(a, b, c, d, mode);
  } else {
    plain ? FmaRow<false>(a, b, c, d, HalfMode{}) : FmaRow<false>(a, b, c, d, mode);
  }
}
