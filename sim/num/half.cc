#include "sim/num/half.h"

#include <bit>

#include "sim/num/softfloat.h"

namespace sm89::num {
namespace {

uint64_t Narrow(const Format& format, uint32_t single, NarrowMode mode) {
  Exact exact = Unpack(kFp32Format, single, mode.ftz);
  // NaN stays NaN under relu; every negative number, -0 included, becomes +0.
  if (mode.relu && exact.negative && exact.kind != FloatClass::kNan) exact = {};
  return Pack(format, exact, {.round = mode.round, .satfinite = mode.satfinite});
}

uint32_t Widen(const Format& format, uint64_t bits) {
  return static_cast<uint32_t>(Pack(kFp32Format, Unpack(format, bits)));
}

bool IsPlain(NarrowMode mode) {
  return mode.round == Round::kRn && !mode.ftz && !mode.relu && !mode.satfinite;
}

// The common case, without unpacking.
uint16_t NearestFp16(uint32_t single) {
  const uint32_t magnitude = single & 0x7fffffffu;
  const uint32_t sign = (single >> 16) & 0x8000u;
  if (magnitude >= 0x477ff000u) {  // 65520, from where numbers round to infinity
    return static_cast<uint16_t>(magnitude > 0x7f800000u ? kNan16 : sign | 0x7c00u);
  }
  if (magnitude < 0x38800000u) {
    // The unit of 0.5's last place is FP16's smallest subnormal: the addition rounds to a multiple of it.
    const float sum = std::bit_cast<float>(magnitude) + 0.5f;
    return static_cast<uint16_t>(sign | (std::bit_cast<uint32_t>(sum) - 0x3f000000u));
  }
  const uint32_t rounded = (magnitude + 0xfffu + ((magnitude >> 13) & 1)) >> 13;
  return static_cast<uint16_t>(sign | (rounded - (112u << 10)));
}

uint16_t NearestBf16(uint32_t single) {
  if ((single & 0x7fffffffu) > 0x7f800000u) return kNan16;
  return static_cast<uint16_t>((single + 0x7fffu + ((single >> 16) & 1)) >> 16);
}

}  // namespace

uint32_t Fp16ToFp32(uint16_t half) {
  const uint32_t sign = (half & 0x8000u) << 16;
  const uint32_t magnitude = half & 0x7fffu;
  if (magnitude >= 0x7c00u) return magnitude > 0x7c00u ? 0x7fffffffu : sign | 0x7f800000u;
  if (magnitude >= 0x0400u) return sign | ((magnitude << 13) + (112u << 23));
  if (magnitude == 0) return sign;
  const auto top = static_cast<uint32_t>(std::bit_width(magnitude)) - 1;
  return sign | (((magnitude << (23 - top)) & 0x7fffffu) + ((top + 103u) << 23));
}

uint32_t Bf16ToFp32(uint16_t bf16) {
  return (bf16 & 0x7fffu) > 0x7f80u ? 0x7fffffffu : static_cast<uint32_t>(bf16) << 16;
}

uint32_t E4m3ToFp32(uint8_t fp8) { return Widen(kE4m3Format, fp8); }

uint32_t E5m2ToFp32(uint8_t fp8) { return Widen(kE5m2Format, fp8); }

uint16_t Fp32ToFp16(uint32_t single, NarrowMode mode) {
  if (IsPlain(mode)) return NearestFp16(single);
  return static_cast<uint16_t>(Narrow(kFp16Format, single, mode));
}

uint16_t Fp32ToBf16(uint32_t single, NarrowMode mode) {
  if (IsPlain(mode)) return NearestBf16(single);
  return static_cast<uint16_t>(Narrow(kBf16Format, single, mode));
}

uint8_t Fp32ToE4m3(uint32_t single, NarrowMode mode) {
  return static_cast<uint8_t>(Narrow(kE4m3Format, single, mode));
}

uint8_t Fp32ToE5m2(uint32_t single, NarrowMode mode) {
  return static_cast<uint8_t>(Narrow(kE5m2Format, single, mode));
}

uint32_t Fp32ToTf32(uint32_t single, NarrowMode mode) {
  const uint64_t packed = Narrow(kTf32Format, single, mode);
  return packed == kTf32Format.nan ? kNanTf32 : static_cast<uint32_t>(packed << 13);
}

}  // namespace sm89::num
