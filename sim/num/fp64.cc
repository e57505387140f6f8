#include "sim/num/fp64.h"

#include <bit>
#include <cmath>

#include "sim/num/softfloat.h"

namespace sm89::num {
namespace {

bool IsNan(uint64_t bits) { return (bits & 0x7fffffffffffffffu) > 0x7ff0000000000000u; }

uint64_t Quieted(uint64_t bits) { return bits | 0x0008000000000000u; }

uint64_t Finish(const Exact& exact, Round round) { return Pack(kFp64Format, exact, {.round = round}); }

}  // namespace

// Of several NaN operands the second factor wins, then the addend, then the first factor (measured on an
// H200: tests/silicon).
uint64_t Dadd(uint64_t a, uint64_t b, Round round) {
  if (IsNan(b)) return Quieted(b);
  if (IsNan(a)) return Quieted(a);
  if (round == Round::kRn) {
    const double sum = std::bit_cast<double>(a) + std::bit_cast<double>(b);
    return sum != sum ? kNan64 : std::bit_cast<uint64_t>(sum);
  }
  return Finish(Add(Unpack(kFp64Format, a), Unpack(kFp64Format, b), round), round);
}

uint64_t Dmul(uint64_t a, uint64_t b, Round round) {
  if (IsNan(b)) return Quieted(b);
  if (IsNan(a)) return Quieted(a);
  if (round == Round::kRn) {
    const double product = std::bit_cast<double>(a) * std::bit_cast<double>(b);
    return product != product ? kNan64 : std::bit_cast<uint64_t>(product);
  }
  return Finish(Multiply(Unpack(kFp64Format, a), Unpack(kFp64Format, b)), round);
}

uint64_t Dfma(uint64_t a, uint64_t b, uint64_t c, Round round) {
  if (IsNan(b)) return Quieted(b);
  if (IsNan(c)) return Quieted(c);
  if (IsNan(a)) return Quieted(a);
  if (round == Round::kRn) {
    // The C library's fma is exact with and without FMA hardware.
    const double sum = std::fma(std::bit_cast<double>(a), std::bit_cast<double>(b), std::bit_cast<double>(c));
    return sum != sum ? kNan64 : std::bit_cast<uint64_t>(sum);
  }
  const Exact product = Multiply(Unpack(kFp64Format, a), Unpack(kFp64Format, b));
  return Finish(Add(product, Unpack(kFp64Format, c), round), round);
}

uint64_t Dmnmx(uint64_t a, uint64_t b, MinMaxMode mode) { return MinMaxBits(kFp64Format, a, b, mode); }

Relation Dcompare(uint64_t a, uint64_t b) { return CompareBits(kFp64Format, a, b, false); }

}  // namespace sm89::num
