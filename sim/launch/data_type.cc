#include "sim/launch/data_type.h"

#include <array>
#include <bit>
#include <limits>

#include "sim/base/assert.h"

namespace sm89::launch {
namespace {

static_assert(std::endian::native == std::endian::little, "device memory is little-endian, copied as it is");

struct TypeRow {
  DataType type;
  std::string_view name;
  uint32_t size_bytes;
};

constexpr std::array<TypeRow, 12> kTypes = {{{DataType::kI8, "i8", 1},
                                             {DataType::kU8, "u8", 1},
                                             {DataType::kI16, "i16", 2},
                                             {DataType::kU16, "u16", 2},
                                             {DataType::kI32, "i32", 4},
                                             {DataType::kU32, "u32", 4},
                                             {DataType::kI64, "i64", 8},
                                             {DataType::kU64, "u64", 8},
                                             {DataType::kF16, "f16", 2},
                                             {DataType::kBf16, "bf16", 2},
                                             {DataType::kF32, "f32", 4},
                                             {DataType::kF64, "f64", 8}}};

const TypeRow& RowOf(DataType type) {
  const auto index = static_cast<size_t>(type);
  SM89_ASSERT(index < kTypes.size() && kTypes[index].type == type, "the type table follows the enum");
  return kTypes[index];
}

bool IsSigned(DataType type) {
  return type == DataType::kI8 || type == DataType::kI16 || type == DataType::kI32 || type == DataType::kI64;
}

template <typename T>
T Load(const uint8_t* from) {
  T value;
  std::memcpy(&value, from, sizeof(value));
  return value;
}

double HalfToDouble(num::FloatType type, uint16_t bits) {
  const uint64_t wide = num::F2f(bits, type, num::FloatType::kF64, num::Round::kRn, false);
  return std::bit_cast<double>(wide);
}

}  // namespace

uint32_t SizeBytes(DataType type) { return RowOf(type).size_bytes; }
std::string_view Name(DataType type) { return RowOf(type).name; }
bool IsFloat(DataType type) { return type >= DataType::kF16; }

std::optional<DataType> DataTypeFromName(std::string_view name) {
  for (const TypeRow& row : kTypes) {
    if (row.name == name) return row.type;
  }
  return std::nullopt;
}

std::string_view AllDataTypes() { return "i8, u8, i16, u16, i32, u32, i64, u64, f16, bf16, f32, f64"; }

int64_t LeastInteger(DataType type) {
  if (!IsSigned(type)) return 0;
  return std::numeric_limits<int64_t>::min() >> (64 - 8 * SizeBytes(type));
}

uint64_t MostInteger(DataType type) {
  const uint64_t all = ~uint64_t{0} >> (64 - 8 * SizeBytes(type));
  return IsSigned(type) ? all >> 1 : all;
}

std::variant<int64_t, uint64_t, double> LoadNumber(DataType type, const uint8_t* from) {
  switch (type) {
    case DataType::kI8:
      return int64_t{Load<int8_t>(from)};
    case DataType::kU8:
      return int64_t{Load<uint8_t>(from)};
    case DataType::kI16:
      return int64_t{Load<int16_t>(from)};
    case DataType::kU16:
      return int64_t{Load<uint16_t>(from)};
    case DataType::kI32:
      return int64_t{Load<int32_t>(from)};
    case DataType::kU32:
      return int64_t{Load<uint32_t>(from)};
    case DataType::kI64:
      return Load<int64_t>(from);
    case DataType::kU64:
      return Load<uint64_t>(from);
    case DataType::kF16:
      return HalfToDouble(num::FloatType::kF16, Load<uint16_t>(from));
    case DataType::kBf16:
      return HalfToDouble(num::FloatType::kBf16, Load<uint16_t>(from));
    case DataType::kF32:
      return double{Load<float>(from)};
    case DataType::kF64:
      return Load<double>(from);
  }
  SM89_ASSERT(false, "an element type without a reader");
}

}  // namespace sm89::launch
