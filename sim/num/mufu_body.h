// EX2 of four lanes, compiled once for each instruction set (see lanes_body.h). The same operations in the
// same order as PowerOfTwo in mufu.cc, hence the same bits.

SM89_NUM_BODY void Ex2Vector(const uint32_t* src, uint32_t* dst) {
  F32x4 single;
  LoadVector(src, &single);
  const F64x4 limit = F64x4{} + 200.0;
  F64x4 x = __builtin_convertvector(single, F64x4);
  x = x > limit ? limit : x;
  x = x < -limit ? -limit : x;
  const F64x4 shifted = x + kRoundMagic;
  const F64x4 y = (x - (shifted - kRoundMagic)) * kLn2;
  F64x4 sum = F64x4{} + kInverseFactorial[13];
  for (int k = 12; k >= 0; --k) sum = sum * y + kInverseFactorial[k];
  const U64x4 exponent =
      (reinterpret_cast<U64x4>(shifted) - std::bit_cast<uint64_t>(kRoundMagic) + uint64_t{1023}) << 52;
  const F32x4 rounded = __builtin_convertvector(sum * reinterpret_cast<F64x4>(exponent), F32x4);
  const I32x4 bits = reinterpret_cast<I32x4>(rounded);
  const I32x4 flushed = (bits & 0x7f800000) == 0 ? I32x4{} : bits;
  const I32x4 nan = single != single;
  const I32x4 result = nan != 0 ? I32x4{} + static_cast<int32_t>(kNan) : flushed;
  StoreVector(result, dst);
}

SM89_NUM_BODY void Ex2Row(const uint32_t* src, uint32_t* dst) {
  for (int i = 0; i < kLanes; i += 4) Ex2Vector(src + i, dst + i);
}
