// The 32-lane loops, compiled once for each instruction set: the includer defines SM89_NUM_BODY (how a
// function is declared) and the namespace around this text. Vector code has to be written inside a function
// that has the target attribute, because GCC splits wide vectors before it inlines.

SM89_NUM_BODY void FlushVector(I32x8* bits) {
  *bits = (*bits & 0x7f800000) == 0 ? *bits & static_cast<int32_t>(0x80000000u) : *bits;
}

SM89_NUM_BODY void LoadSource(const uint32_t* from, bool flush, F32x8* to) {
  I32x8 bits;
  LoadVector(from, &bits);
  if (flush) FlushVector(&bits);
  *to = reinterpret_cast<F32x8>(bits);
}

// Results that rounded up to the smallest normal number only because a subnormal has fewer bits count as zero
// (see PackMode::ftz). `scaled` is the same result times 2^64, far from any subnormal.
SM89_NUM_BODY void FlushRoundedUp(const F32x8& scaled, F32x8* value) {
  const I32x8 bits = reinterpret_cast<I32x8>(*value);
  const I32x8 scaled_magnitude = reinterpret_cast<I32x8>(scaled) & 0x7fffffff;
  const I32x8 smallest = (bits & 0x7fffffff) == 0x00800000;
  const I32x8 tiny = smallest & (scaled_magnitude < ((127 - 62) << 23));
  *value = reinterpret_cast<F32x8>(tiny != 0 ? bits & static_cast<int32_t>(0x80000000u) : bits);
}

// Canonical NaN, flush, saturate.
SM89_NUM_BODY void Finish(const F32x8& value, FpMode mode, uint32_t* to) {
  const I32x8 nan = value != value;
  I32x8 bits = nan != 0 ? I32x8{} + static_cast<int32_t>(kNan32) : reinterpret_cast<I32x8>(value);
  if (mode.ftz) FlushVector(&bits);
  if (mode.sat) {
    const I32x8 zero = {};
    const I32x8 capped = bits > 0x3f800000 ? zero + 0x3f800000 : bits;
    bits = (nan | (bits < 0)) != 0 ? zero : capped;
  }
  StoreVector(bits, to);
}

enum class BinaryOp { kAdd, kMul };

template <BinaryOp kOp>
SM89_NUM_BODY void BinaryLoop(const uint32_t* a, const uint32_t* b, uint32_t* d, FpMode mode) {
  for (int i = 0; i < kLanes; i += 8) {
    F32x8 x;
    F32x8 y;
    LoadSource(a + i, mode.ftz, &x);
    LoadSource(b + i, mode.ftz, &y);
    F32x8 value = kOp == BinaryOp::kAdd ? x + y : x * y;
    if (kOp == BinaryOp::kMul && mode.ftz) FlushRoundedUp(x * 0x1p64f * y, &value);
    Finish(value, mode, d + i);
  }
}

// The mode that matters gets a loop without branches.
template <BinaryOp kOp>
SM89_NUM_BODY void Binary(const uint32_t* a, const uint32_t* b, uint32_t* d, FpMode mode) {
  if (!mode.ftz && !mode.sat) {
    BinaryLoop<kOp>(a, b, d, FpMode{});
  } else {
    BinaryLoop<kOp>(a, b, d, mode);
  }
}

// Signed numbers in the order of the floats, with -0 below +0.
SM89_NUM_BODY void ToOrder(const I32x8& bits, I32x8* order) { *order = bits ^ ((bits >> 31) & 0x7fffffff); }

SM89_NUM_BODY void MinMaxBody(const uint32_t* a, const uint32_t* b, uint32_t* d, MinMaxMode mode) {
  const int32_t flip = mode.max ? -1 : 0;
  for (int i = 0; i < kLanes; i += 8) {
    I32x8 x;
    I32x8 y;
    LoadVector(a + i, &x);
    LoadVector(b + i, &y);
    if (mode.ftz) {
      FlushVector(&x);
      FlushVector(&y);
    }
    I32x8 x_order;
    I32x8 y_order;
    ToOrder(x, &x_order);
    ToOrder(y, &y_order);
    const I32x8 x_nan = (x & 0x7fffffff) > 0x7f800000;
    const I32x8 y_nan = (y & 0x7fffffff) > 0x7f800000;
    const I32x8 take_x = (((x_order ^ flip) < (y_order ^ flip)) | y_nan) & ~x_nan;
    const I32x8 nan = mode.nan ? x_nan | y_nan : x_nan & y_nan;
    const I32x8 picked = take_x != 0 ? x : y;
    const I32x8 result = nan != 0 ? I32x8{} + static_cast<int32_t>(kNan32) : picked;
    StoreVector(result, d + i);
  }
}

SM89_NUM_BODY uint32_t CompareBody(const uint32_t* a, const uint32_t* b, uint32_t code, bool ftz) {
  const int32_t less = (code & 1) != 0 ? -1 : 0;
  const int32_t equal = (code & 2) != 0 ? -1 : 0;
  const int32_t greater = (code & 4) != 0 ? -1 : 0;
  const int32_t unordered = (code & 8) != 0 ? -1 : 0;
  const I32x8 weights = {1, 2, 4, 8, 16, 32, 64, 128};
  uint32_t mask = 0;
  for (int i = 0; i < kLanes; i += 8) {
    F32x8 x;
    F32x8 y;
    LoadSource(a + i, ftz, &x);
    LoadSource(b + i, ftz, &y);
    const I32x8 holds =
        ((x < y) & less) | ((x == y) & equal) | ((x > y) & greater) | (((x != x) | (y != y)) & unordered);
    const I32x8 bits = holds & weights;
    int32_t eight = 0;
    for (int n = 0; n < 8; ++n) eight |= bits[n];
    mask |= static_cast<uint32_t>(eight) << i;
  }
  return mask;
}
