#include "sim/num/fp32.h"

#include "sim/num/softfloat.h"

namespace sm89::num {
namespace {

uint32_t Saturate(uint32_t bits) {
  if ((bits & 0x7fffffffu) > 0x7f800000u || (bits & 0x80000000u) != 0) return 0;
  return bits > 0x3f800000u ? 0x3f800000u : bits;
}

uint32_t Finish(const Exact& exact, FpMode mode) {
  const auto bits =
      static_cast<uint32_t>(Pack(kFp32Format, exact, {.round = mode.round, .ftz = mode.Flushes()}));
  return mode.sat ? Saturate(bits) : bits;
}

Exact Source(uint32_t bits, FpMode mode) { return Unpack(kFp32Format, bits, mode.Flushes()); }

// The product under the FMZ rule: a zero factor wins over infinity and NaN, and gives +0.
Exact Product(const Exact& a, const Exact& b, FpMode mode) {
  if (mode.fmz && (a.kind == FloatClass::kZero || b.kind == FloatClass::kZero)) return {};
  return Multiply(a, b);
}

}  // namespace

uint32_t Fadd(uint32_t a, uint32_t b, FpMode mode) {
  return Finish(Add(Source(a, mode), Source(b, mode), mode.round), mode);
}

uint32_t Fmul(uint32_t a, uint32_t b, FpMode mode, int scale_log2) {
  Exact product = Product(Source(a, mode), Source(b, mode), mode);
  product.exponent += scale_log2;
  return Finish(product, mode);
}

uint32_t Ffma(uint32_t a, uint32_t b, uint32_t c, FpMode mode) {
  const Exact product = Product(Source(a, mode), Source(b, mode), mode);
  return Finish(Add(product, Source(c, mode), mode.round), mode);
}

uint32_t Fmnmx(uint32_t a, uint32_t b, MinMaxMode mode) {
  return static_cast<uint32_t>(MinMaxBits(kFp32Format, a, b, mode));
}

Relation Fcompare(uint32_t a, uint32_t b, bool ftz) { return CompareBits(kFp32Format, a, b, ftz); }

bool FchkDivide(uint32_t a, uint32_t b) {
  // The fast path of ptxas' division needs a normal divisor and a quotient, reciprocal and remainder that
  // stay normal. The exact limits are not public; these are safe ones (assumption): the slow path gives the
  // same rounded quotient.
  const int exponent_a = static_cast<int>((a >> 23) & 0xff);
  const int exponent_b = static_cast<int>((b >> 23) & 0xff);
  if (exponent_b == 0 || exponent_b >= 253 || exponent_a == 255) return true;
  if (exponent_a == 0) return true;
  const int quotient = exponent_a - exponent_b;
  return quotient >= 126 || quotient <= -126 || exponent_a <= 24;
}

}  // namespace sm89::num
