// Numbers of a DataType as bytes: the only place that knows how each is stored (little-endian).
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>
#include <variant>

#include "sim/launch/launch.h"
#include "sim/num/convert.h"

namespace sm89::launch {

std::optional<DataType> DataTypeFromName(std::string_view name);
// "i8, u8, ... f64", for messages.
std::string_view AllDataTypes();

// Range of an integer type.
int64_t LeastInteger(DataType type);
uint64_t MostInteger(DataType type);

// f32, f16 and bf16 round once, to nearest even; out of range becomes infinity.
inline void StoreReal(DataType type, double value, uint8_t* to) {
  uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(bits));
  if (type == DataType::kF32) {
    const float single = static_cast<float>(value);
    std::memcpy(to, &single, sizeof(single));
    return;
  }
  if (type != DataType::kF64) {
    const auto half = type == DataType::kF16 ? num::FloatType::kF16 : num::FloatType::kBf16;
    bits = num::F2f(bits, num::FloatType::kF64, half, num::Round::kRn, false);
  }
  std::memcpy(to, &bits, SizeBytes(type));
}

// `V` is int64_t or uint64_t. Integers keep their low bits; 16-bit floats go through f32, as the suite's
// generators do.
template <typename V>
void StoreInteger(DataType type, V value, uint8_t* to) {
  if (!IsFloat(type)) {
    std::memcpy(to, &value, SizeBytes(type));
  } else if (type == DataType::kF64) {
    StoreReal(type, static_cast<double>(value), to);
  } else {
    StoreReal(type, static_cast<double>(static_cast<float>(value)), to);
  }
}

// Floats as double, u64 as uint64_t, every other integer as int64_t.
std::variant<int64_t, uint64_t, double> LoadNumber(DataType type, const uint8_t* from);

}  // namespace sm89::launch
