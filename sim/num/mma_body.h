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

SM89_NUM_BODY void Align(const I32x8& significand, int up, const I32x8& below_top, I32x8* aligned) {
  const I32x8 negative = significand < 0;
  const I32x8 magnitude = ((significand ^ negative) - negative) << up;
  const I32x8 limit = I32x8{} + 31;
  const I32x8 shift = below_top > limit ? limit : below_top;
  const U32x8 shifted = reinterpret_cast<U32x8>(magnitude) >> reinterpret_cast<U32x8>(shift);
  *aligned = (reinterpret_cast<I32x8>(shifted) ^ negative) - negative;
}

// One group: products [first, last) of a row and the accumulators (24-bit significands), aligned to the
// largest exponent, cut to fraction_bits below it, added. The sum is total * 2^(exponent - fraction_bits).
SM89_NUM_BODY void AddGroup(const FloatOperands& ops, const Model& model, int row, int first, I32x8* total,
                            I32x8* exponent) {
  const int last = first + model.group < ops.stored ? first + model.group : ops.stored;
  const uint8_t* const columns = (*ops.columns)[row].data();
  const I32x8 c_significand = *total;
  const I32x8 c_exponent = *exponent;
  I32x8 top = c_exponent;
  for (int i = first; i < last; ++i) {
    I32x8 b_exponent;
    LoadVector(ops.b_exponent[columns[i]], &b_exponent);
    const I32x8 product = b_exponent + ops.a_exponent[row][i];
    top = product > top ? product : top;
  }
  I32x8 sum;
  // 23 fraction bits; one guard bit on top, then down to fraction_bits.
  Align(c_significand, 1, top - c_exponent + (24 - model.fraction_bits), &sum);
  for (int i = first; i < last; ++i) {
    I32x8 b_exponent;
    I32x8 b_significand;
    LoadVector(ops.b_exponent[columns[i]], &b_exponent);
    LoadVector(ops.b_significand[columns[i]], &b_significand);
    I32x8 aligned;
    Align(b_significand * ops.a_significand[row][i], ops.up, top - b_exponent - ops.a_exponent[row][i],
          &aligned);
    sum += aligned;
  }
  *total = sum;
  *exponent = top;
}

// FP32 results of normal range, rounded towards zero; answers a mask of the columns that are not.
SM89_NUM_BODY uint32_t FinishVector(const I32x8& total, const I32x8& exponent, const Model& model,
                                    uint32_t* out) {
  const int32_t cut = ~((1 << (23 - model.out_fraction_bits)) - 1);
  const I32x8 negative = total < 0;
  const I32x8 magnitude = (total ^ negative) - negative;
  const F32x8 rounded = __builtin_convertvector(magnitude, F32x8);
  const I32x8 above = __builtin_convertvector(rounded, I32x8) > magnitude;  // -1 undoes rounding up
  const I32x8 bits = reinterpret_cast<I32x8>(rounded) + above;
  const I32x8 scale = exponent - model.fraction_bits;
  const I32x8 biased = (bits >> 23) + scale;
  const I32x8 zero = magnitude == 0;
  const I32x8 normal = (biased >= 1) & (biased <= 254) & ~zero;
  // Wraps where the result is not normal and thrown away.
  const U32x8 sum = reinterpret_cast<U32x8>(bits) + (reinterpret_cast<U32x8>(scale) << 23);
  const I32x8 scaled = (reinterpret_cast<I32x8>(sum) & cut) | (total & static_cast<int32_t>(0x80000000u));
  const I32x8 result = scaled & normal;
  StoreVector(result, out);
  const I32x8 weights = {1, 2, 4, 8, 16, 32, 64, 128};
  const I32x8 odd = ~(normal | zero) & weights;
  int32_t mask = 0;
  for (int n = 0; n < 8; ++n) mask |= odd[n];
  return static_cast<uint32_t>(mask);
}

// FP16 results: total * 2^(exponent - fraction_bits) is exact in double, then rounded to nearest even.
SM89_NUM_BODY void FinishHalf(const I32x8& total, const I32x8& exponent, const Model& model, uint32_t* out) {
  // Below 2^-200 (only where all terms are zero) the sum is zero anyway.
  const I32x8 floor = I32x8{} - 200;
  const I32x8 clamped = exponent > floor ? exponent : floor;
  for (int half = 0; half < 2; ++half) {
    I32x4 numbers;
    I32x4 exponents;
    std::memcpy(&numbers, reinterpret_cast<const char*>(&total) + half * sizeof(numbers), sizeof(numbers));
    std::memcpy(&exponents, reinterpret_cast<const char*>(&clamped) + half * sizeof(numbers),
                sizeof(numbers));
    const I64x4 scale = (__builtin_convertvector(exponents, I64x4) + (1023 - model.fraction_bits)) << 52;
    const F64x4 value = __builtin_convertvector(numbers, F64x4) * reinterpret_cast<F64x4>(scale);
    I32x4 result;
    DoubleToHalf<false>(value, &result);
    StoreVector(result, out + half * 4);
  }
}

SM89_NUM_BODY void HardwareRow(const FloatOperands& ops, const Model& model, bool half, int row,
                               uint32_t* acc) {
  const Decoder decode(half ? kFp16Format : kFp32Format);
  for (int first = 0; first < ops.stored; first += model.group) {
    alignas(32) int32_t significand[kMmaN];
    alignas(32) int32_t exponents[kMmaN];
    I32x8 special = {};
    DecodeVector(decode, acc, significand, exponents, &special);
    I32x8 total;
    I32x8 exponent;
    LoadVector(significand, &total);
    LoadVector(exponents, &exponent);
    if (half) total = total << 13;  // FP16 accumulators get FP32's number of fraction bits
    AddGroup(ops, model, row, first, &total, &exponent);
    if (half) {
      FinishHalf(total, exponent, model, acc);
      continue;
    }
    for (uint32_t odd = FinishVector(total, exponent, model, acc); odd != 0; odd &= odd - 1) {
      const int n = std::countr_zero(odd);
      acc[n] = FinishScalar(total[n], exponent[n], model);
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
    HardwareRow(ops, model, half, row, acc[row].data());
    for (; special != 0; special &= special - 1) {
      const int n = std::countr_zero(special);
      acc[row][n] = decided[n];
    }
  }
  PackAccumulators(desc, acc, regs.d);
}
