#include "sim/sass/print_number.h"

#include <bit>
#include <cmath>
#include <limits>

#include "absl/strings/str_format.h"

namespace sm89::sass {
namespace {

// From here on all 20 decimals are printed; observed between 134217728 (short) and 2147483648 (long).
constexpr double kLongForm = 1e9;

// `quiet`: the top bit of the fraction, for a NaN.
std::string Decimal(double value, bool negative, bool quiet) {
  const char* sign = negative ? "-" : "+";
  if (std::isinf(value)) return absl::StrFormat("%sINF ", sign);
  if (std::isnan(value)) return absl::StrFormat("%s%sNAN ", sign, quiet ? "Q" : "S");
  if (std::abs(value) >= kLongForm) return absl::StrFormat("%.20e", value);
  return absl::StrFormat("%.20g", value);
}

}  // namespace

std::string HexText(int64_t value) {
  if (value < 0) return absl::StrFormat("-0x%x", -static_cast<uint64_t>(value));
  return absl::StrFormat("0x%x", value);
}

std::string FloatText(uint32_t bits) {
  // Not through a conversion of the NaN, which would quieten it.
  const bool nan = (bits & 0x7fffffff) > 0x7f800000;
  const double value = nan ? std::numeric_limits<double>::quiet_NaN() : std::bit_cast<float>(bits);
  return Decimal(value, (bits >> 31) != 0, (bits >> 22) & 1);
}

std::string DoubleText(uint64_t bits) {
  return Decimal(std::bit_cast<double>(bits), (bits >> 63) != 0, (bits >> 51) & 1);
}

std::string HalfText(uint16_t bits) {
  const uint32_t exponent = (bits >> 10) & 31, fraction = bits & 1023;
  const bool negative = (bits >> 15) != 0;
  double value = 0;
  if (exponent == 31) {
    value =
        fraction == 0 ? std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
  } else if (exponent == 0) {
    value = std::ldexp(fraction, -24);
  } else {
    value = std::ldexp(1024 + fraction, static_cast<int>(exponent) - 25);
  }
  return Decimal(negative ? -value : value, negative, (fraction >> 9) != 0);
}

std::string Bfloat16Text(uint16_t bits) { return FloatText(static_cast<uint32_t>(bits) << 16); }

}  // namespace sm89::sass
