// Makers of bindings. A member is named by its path of member pointers from GpuConfig, e.g.
// Uint<&GpuConfig::sm, &SmConfig::registers>(256, 1 << 20).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "sim/config/cache_string.h"
#include "sim/config/setting_row.h"

namespace sm89::settings {

// The member at the end of a path of member pointers.
template <auto First, auto... Rest, class T>
constexpr auto& Reach(T& object) {
  if constexpr (sizeof...(Rest) == 0) {
    return object.*First;
  } else {
    return Reach<Rest...>(object.*First);
  }
}

template <auto... Path>
std::vector<const void*> MemberAt(const GpuConfig& gpu) {
  return {&Reach<Path...>(gpu)};
}

std::string UintRange(uint64_t min, uint64_t max);
std::string DecimalRangeText(const DecimalRange& range);

// A number that is a whole multiple of a power of two, or a power of two itself.
Outcome CheckPowerOfTwo(uint64_t value);

template <auto... Path>
Binding Uint(uint64_t min, uint64_t max) {
  using Member = std::remove_reference_t<decltype(Reach<Path...>(std::declval<GpuConfig&>()))>;
  const auto read = [min, max](std::string_view text, GpuConfig* gpu) -> Outcome {
    uint64_t value = 0;
    if (Outcome bad = ReadUint(text, min, max, &value)) return bad;
    Reach<Path...>(*gpu) = static_cast<Member>(value);
    return {};
  };
  const auto write = [](const GpuConfig& gpu) { return std::to_string(Reach<Path...>(gpu)); };
  return {SettingType::kUint, UintRange(min, max), read, write, MemberAt<Path...>};
}

template <auto... Path>
Binding PowerOfTwo(uint64_t min, uint64_t max) {
  Binding binding = Uint<Path...>(min, max);
  binding.range += ", a power of two";
  binding.read = [plain = binding.read](std::string_view text, GpuConfig* gpu) -> Outcome {
    GpuConfig trial = *gpu;
    if (Outcome bad = plain(text, &trial)) return bad;
    if (Outcome bad = CheckPowerOfTwo(Reach<Path...>(trial))) return bad;
    Reach<Path...>(*gpu) = Reach<Path...>(trial);
    return {};
  };
  return binding;
}

// A number the user gives in `scale` units of the member, e.g. bytes for a member in bits.
template <auto... Path>
Binding Scaled(uint32_t scale, uint64_t min, uint64_t max) {
  const auto read = [scale, min, max](std::string_view text, GpuConfig* gpu) -> Outcome {
    uint64_t value = 0;
    if (Outcome bad = ReadUint(text, min, max, &value)) return bad;
    Reach<Path...>(*gpu) = static_cast<uint32_t>(value * scale);
    return {};
  };
  const auto write = [scale](const GpuConfig& gpu) { return std::to_string(Reach<Path...>(gpu) / scale); };
  return {SettingType::kUint, UintRange(min, max), read, write, MemberAt<Path...>};
}

// Fixed-point decimal; the member holds the value times 10^digits.
template <auto... Path>
Binding Decimal(DecimalRange range) {
  const auto read = [range](std::string_view text, GpuConfig* gpu) -> Outcome {
    uint64_t value = 0;
    if (Outcome bad = ReadDecimal(text, range, &value)) return bad;
    Reach<Path...>(*gpu) = static_cast<uint32_t>(value);
    return {};
  };
  const auto write = [range](const GpuConfig& gpu) {
    return WriteDecimal(Reach<Path...>(gpu), range.digits);
  };
  return {SettingType::kDouble, DecimalRangeText(range), read, write, MemberAt<Path...>};
}

template <auto... Path>
Binding Bool() {
  const auto read = [](std::string_view text, GpuConfig* gpu) {
    return ReadBool(text, &Reach<Path...>(*gpu));
  };
  const auto write = [](const GpuConfig& gpu) -> std::string { return Reach<Path...>(gpu) ? "1" : "0"; };
  return {SettingType::kBool, "0 or 1", read, write, MemberAt<Path...>};
}

// A word that stands for a member's value. Of several words for one value the first is canonical.
struct Choice {
  std::string_view word;
  uint32_t value;
  std::string_view meaning;
};
std::string ChoiceRange(const std::vector<Choice>& choices);
Outcome ReadChoice(std::string_view text, const std::vector<Choice>& choices, uint32_t* out);
std::string WriteChoice(uint32_t value, const std::vector<Choice>& choices);

template <auto... Path>
Binding Enum(std::vector<Choice> choices) {
  std::string range = ChoiceRange(choices);
  const auto read = [choices](std::string_view text, GpuConfig* gpu) {
    return ReadChoice(text, choices, &Reach<Path...>(*gpu));
  };
  const auto write = [choices](const GpuConfig& gpu) { return WriteChoice(Reach<Path...>(gpu), choices); };
  return {SettingType::kEnum, std::move(range), read, write, MemberAt<Path...>};
}

template <auto... Path>
Binding Cache() {
  const auto read = [](std::string_view text, GpuConfig* gpu) {
    return ReadCacheString(text, &Reach<Path...>(*gpu));
  };
  const auto write = [](const GpuConfig& gpu) { return WriteCacheString(Reach<Path...>(gpu)); };
  const auto members = [](const GpuConfig& gpu) { return CacheMembers(Reach<Path...>(gpu)); };
  return {SettingType::kCacheString, std::string(kCachePattern), read, write, members};
}

// "latency,interval" of one execution unit.
Binding Timing(UnitTiming ExecConfig::*unit);

// Settings whose text stands for several members.
Binding NameBinding();         // 1..64 letters, digits, '.', '_' or '-'
Binding ClockDomains();        // core:noc:l2:dram in MHz
Binding ThreadsAndWarpSize();  // threads an SM:32
Binding Carveouts();           // KiB, rising
Binding CompressedRanges();    // addresses FIRST-LAST, with commas between, or none
Binding DramTiming();          // nbk=16:CCD=4:... or the same 14 numbers in order

}  // namespace sm89::settings
