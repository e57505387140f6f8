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

template <bool kBf16, typename Vector>
SM89_NUM_BODY void Flush(Vector* half) {
  *half = (*half & HalfTraits<kBf16>::kInfinity) == 0 ? *half & 0x8000 : *half;
}

template <bool kBf16, typename Vector>
SM89_NUM_BODY void Clamp(HalfMode mode, Vector* half) {
  using H = HalfTraits<kBf16>;
  const Vector nan = (*half & 0x7fff) > H::kInfinity;
  const Vector negative = *half >= 0x8000;
  const Vector zero = {};
  if (mode.sat) {
    const Vector capped = *half > H::kOne ? zero + H::kOne : *half;
    *half = (nan | negative) != 0 ? zero : capped;
  } else if (mode.relu) {
    *half = (negative & ~nan) != 0 ? zero : *half;
  }
}

// Flushes the sources and applies the FMZ rule to them.
template <bool kBf16, typename Vector>
SM89_NUM_BODY void Prepare(HalfMode mode, Vector (&source)[3]) {
  if (mode.ftz || mode.fmz) {
    for (Vector& half : source) Flush<kBf16>(&half);
  }
  if (mode.fmz) {
    const Vector zero = ((source[0] & 0x7fff) == 0) | ((source[1] & 0x7fff) == 0);
    source[0] = source[0] & ~zero;
    source[1] = source[1] & ~zero;
  }
}

// BF16 has FP32's exponents, so its products need double.
SM89_NUM_BODY void FmaBf16(HalfMode mode, I32x4 (&source)[3], I32x4* out) {
  Prepare<true>(mode, source);
  F64x4 number[3];
  for (int i = 0; i < 3; ++i) HalfToDouble<true>(source[i], &number[i]);
  F64x4 sum;
  FusedOdd(number[0], number[1], number[2], &sum);
  DoubleToHalf<true>(sum, out);
  if (mode.ftz || mode.fmz) Flush<true>(out);
  Clamp<true>(mode, out);
}

SM89_NUM_BODY void Fp16ToSingle(const I32x8& half, F32x8* out) {
  const I32x8 magnitude = half & 0x7fff;
  const I32x8 bias = magnitude >= 0x7c00 ? I32x8{} + (224 << 23) : I32x8{} + (112 << 23);
  const F32x8 subnormal = __builtin_convertvector(magnitude, F32x8) * 0x1p-24f;
  const I32x8 number = magnitude < 0x0400 ? reinterpret_cast<I32x8>(subnormal) : (magnitude << 13) + bias;
  *out = reinterpret_cast<F32x8>(number | ((half & 0x8000) << 16));
}

// As NearestFp16 in half.cc.
SM89_NUM_BODY void SingleToFp16(const F32x8& value, I32x8* out) {
  const U32x8 bits = reinterpret_cast<U32x8>(value);
  const I32x8 magnitude = reinterpret_cast<I32x8>(bits & 0x7fffffffu);
  const I32x8 normal = ((magnitude + 0xfff + ((magnitude >> 13) & 1)) >> 13) - (112 << 10);
  const F32x8 shifted = reinterpret_cast<F32x8>(magnitude) + 0.5f;
  const I32x8 subnormal = reinterpret_cast<I32x8>(shifted) - 0x3f000000;
  const I32x8 infinity = I32x8{} + 0x7c00;
  const I32x8 finite = magnitude < 0x38800000 ? subnormal : normal;
  const I32x8 number = magnitude >= 0x477ff000 ? infinity : finite;
  const I32x8 sign = reinterpret_cast<I32x8>((bits >> 16) & 0x8000u);
  *out = magnitude > 0x7f800000 ? I32x8{} + int32_t{kNan16} : number | sign;
}

// FP16 fits FP32: the product is exact there, the sum is rounded to odd as in FusedOdd (24 bits, then 11 or
// fewer).
SM89_NUM_BODY void FmaFp16(HalfMode mode, I32x8 (&source)[3], I32x8* out) {
  Prepare<false>(mode, source);
  F32x8 number[3];
  for (int i = 0; i < 3; ++i) Fp16ToSingle(source[i], &number[i]);
  const F32x8 product = number[0] * number[1];
  const F32x8 sum = product + number[2];
  const F32x8 back = sum - product;
  const F32x8 error = (product - (sum - back)) + (number[2] - back);
  const I32x8 bits = reinterpret_cast<I32x8>(sum);
  const I32x8 inexact = (error < 0.0f) | (error > 0.0f);
  const I32x8 outwards = (error < 0.0f) == (sum < 0.0f);
  const I32x8 step = inexact & ~bits & 1;
  const I32x8 odd = bits + (outwards != 0 ? step : -step);
  SingleToFp16(reinterpret_cast<F32x8>(odd), out);
  if (mode.ftz || mode.fmz) {
    // Below 2^-14 once rounded to 11 bits (PackMode::ftz), the tie at 2^-14 - 2^-26 going up.
    constexpr int32_t kRoundsToNormal = 0x387ff000;
    *out = (odd & 0x7fffffff) < kRoundsToNormal ? *out & 0x8000 : *out;
  }
  Clamp<false>(mode, out);
}

SM89_NUM_BODY void FmaBf16Row(const uint32_t* const (&rows)[3], uint32_t* d, HalfMode mode) {
  for (int i = 0; i < kLanes; i += 4) {
    I32x4 low[3];
    I32x4 high[3];
    for (int operand = 0; operand < 3; ++operand) {
      U32x4 words;
      LoadVector(rows[operand] + i, &words);
      low[operand] = reinterpret_cast<I32x4>(words & 0xffffu);
      high[operand] = reinterpret_cast<I32x4>(words >> 16);
    }
    I32x4 low_out;
    I32x4 high_out;
    FmaBf16(mode, low, &low_out);
    FmaBf16(mode, high, &high_out);
    const I32x4 both = low_out | (high_out << 16);
    StoreVector(both, d + i);
  }
}

SM89_NUM_BODY void FmaFp16Row(const uint32_t* const (&rows)[3], uint32_t* d, HalfMode mode) {
  for (int i = 0; i < kLanes; i += 8) {
    I32x8 low[3];
    I32x8 high[3];
    for (int operand = 0; operand < 3; ++operand) {
      U32x8 words;
      LoadVector(rows[operand] + i, &words);
      low[operand] = reinterpret_cast<I32x8>(words & 0xffffu);
      high[operand] = reinterpret_cast<I32x8>(words >> 16);
    }
    I32x8 low_out;
    I32x8 high_out;
    FmaFp16(mode, low, &low_out);
    FmaFp16(mode, high, &high_out);
    const I32x8 both = low_out | (high_out << 16);
    StoreVector(both, d + i);
  }
}

// FP32 result of the low halves of FP16 sources: the product is exact in FP32, one addition rounds.
SM89_NUM_BODY void FmaSingleRow(const uint32_t* const (&rows)[3], uint32_t* d, HalfMode mode) {
  for (int i = 0; i < kLanes; i += 8) {
    I32x8 source[3];
    for (int operand = 0; operand < 3; ++operand) {
      LoadVector(rows[operand] + i, &source[operand]);
      source[operand] &= 0xffff;
    }
    Prepare<false>(mode, source);
    F32x8 number[3];
    for (int k = 0; k < 3; ++k) Fp16ToSingle(source[k], &number[k]);
    const F32x8 sum = number[0] * number[1] + number[2];
    const I32x8 bits = reinterpret_cast<I32x8>(sum);
    const I32x8 nan = sum != sum;
    const I32x8 negative = bits < 0;
    const I32x8 zero = {};
    I32x8 result = nan != 0 ? zero + 0x7fffffff : bits;
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
  const uint32_t* const rows[3] = {a, b, c};
  const bool plain = !mode.ftz && !mode.fmz && !mode.sat && !mode.relu;
  if (mode.out == HalfOut::kF32) {
    plain ? FmaSingleRow(rows, d, HalfMode{}) : FmaSingleRow(rows, d, mode);
  } else if (mode.out == HalfOut::kBf16) {
    plain ? FmaBf16Row(rows, d, HalfMode{}) : FmaBf16Row(rows, d, mode);
  } else {
    plain ? FmaFp16Row(rows, d, HalfMode{}) : FmaFp16Row(rows, d, mode);
  }
}
