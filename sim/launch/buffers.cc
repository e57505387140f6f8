#include "sim/launch/buffers.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "sim/base/fault.h"
#include "sim/base/round_up.h"
#include "sim/launch/data_type.h"

namespace sm89::launch {
namespace {

// Buffers start on this many bytes at least: what cudaMalloc promises (CUDA C++ programming guide).
constexpr uint64_t kAlignBytes = 256;
constexpr uint64_t kAddressBytes = 8;
constexpr uint32_t kLevelPeriod = 64;  // one vertex in 64 is a source, as in the silicon suite

// The suite's hash: a 32-bit finaliser over the element's number and the seed.
constexpr uint32_t Mix(uint64_t index, uint64_t seed) {
  uint32_t x = static_cast<uint32_t>(index) * 0x9E3779B9u + static_cast<uint32_t>(seed) * 0x85EBCA6Bu;
  x ^= x >> 16;
  x *= 0x7FEB352Du;
  x ^= x >> 15;
  x *= 0x846CA68Bu;
  x ^= x >> 16;
  return x;
}

class Filler {
 public:
  explicit Filler(const BufferSpec& buffer)
      : buffer_(buffer), g_(buffer.generator), bytes_(buffer.size_bytes()) {}

  // `value` of an element's number: int64_t or uint64_t.
  template <typename F>
  void Integers(F value) {
    const uint32_t size = SizeBytes(buffer_.type);
    for (uint64_t i = 0; i < buffer_.count; ++i) StoreInteger(buffer_.type, value(i), &bytes_[i * size]);
  }

  // float32 arithmetic. Each step is computed in double and rounded: the products and sums of two floats
  // round the same either way, and no compiler can fuse them.
  void Uniform() {
    const auto lo = static_cast<float>(g_.lo);
    const auto width = static_cast<float>(g_.hi - g_.lo);
    const uint32_t size = SizeBytes(buffer_.type);
    for (uint64_t i = 0; i < buffer_.count; ++i) {
      const double unit = static_cast<double>(Mix(i, g_.seed) >> 8) * 0x1p-24;
      const auto scaled = static_cast<float>(width * unit);
      const auto value = static_cast<float>(double{lo} + double{scaled});
      StoreReal(buffer_.type, double{value}, &bytes_[i * size]);
    }
  }

  void Hash() {
    const bool as_signed = buffer_.type == DataType::kI32;
    Integers([&](uint64_t i) {
      const uint32_t mixed = Mix(i, g_.seed);
      const auto value = g_.mod == 0 ? mixed : static_cast<uint32_t>(mixed % g_.mod);
      return as_signed ? int64_t{static_cast<int32_t>(value)} : int64_t{value};
    });
  }

  void CsrRows() {
    int64_t sum = 0;
    Integers([&](uint64_t i) {
      if (i > 0) sum += static_cast<int64_t>(g_.min + Mix(i - 1, g_.seed) % g_.span);
      return sum;
    });
  }

  // An address in the first word of every stride; words between them stay zero.
  void Addresses(uint64_t device_address, bool of_next) {
    const uint64_t step = g_.stride_bytes / kAddressBytes;
    for (uint64_t i = 0; i < buffer_.count; i += step) {
      const uint64_t target = of_next ? (i + step) % buffer_.count : i;
      const uint64_t address = device_address + target * kAddressBytes;
      StoreInteger(DataType::kU64, address, &bytes_[i * kAddressBytes]);
    }
  }

  absl::Status ReadFile();

  void Fill(uint64_t device_address) {
    switch (g_.init) {
      case Init::kZero:
      case Init::kFile:
        return;
      case Init::kIota:
        return Integers([](uint64_t i) { return i; });
      case Init::kUniform:
        return Uniform();
      case Init::kHash:
        return Hash();
      case Init::kCsrRows:
        return CsrRows();
      case Init::kAffine:
        return Integers([&](uint64_t i) { return (i * g_.mul + g_.add) % g_.mod; });
      case Init::kChase:
        return Addresses(device_address, true);
      case Init::kSelf:
        return Addresses(device_address, false);
      case Init::kLevel:
        return Integers(
            [&](uint64_t i) { return Mix(i, g_.seed) % kLevelPeriod == 0 ? int64_t{0} : int64_t{-1}; });
    }
  }

  std::vector<uint8_t>& bytes() { return bytes_; }

 private:
  const BufferSpec& buffer_;
  const Generator& g_;
  std::vector<uint8_t> bytes_;
};

absl::Status Filler::ReadFile() {
  const auto fault = [&](absl::StatusCode code, const std::string& value, const std::string& expected,
                         const std::string& message) {
    return InputError(
        code,
        {.file = g_.file, .field = buffer_.name, .value = value, .expected = expected, .message = message});
  };
  const auto wrong_size = [&](const std::string& value) {
    return fault(absl::StatusCode::kInvalidArgument, value, absl::StrCat(bytes_.size(), " bytes"),
                 "the raw file's size differs from the buffer's");
  };
  if (g_.content != nullptr) {
    if (g_.content->size() != bytes_.size()) return wrong_size(absl::StrCat(g_.content->size(), " bytes"));
    std::copy(g_.content->begin(), g_.content->end(), bytes_.begin());
    return absl::OkStatus();
  }
  std::error_code error;
  if (!std::filesystem::is_regular_file(g_.file, error)) {
    return fault(absl::StatusCode::kNotFound, "", "a regular file", "the buffer's raw file is not there");
  }
  const uint64_t size = std::filesystem::file_size(g_.file, error);
  if (error || size != bytes_.size()) {
    return wrong_size(error ? error.message() : absl::StrCat(size, " bytes"));
  }
  std::ifstream in(g_.file, std::ios::binary);
  in.read(reinterpret_cast<char*>(bytes_.data()), static_cast<std::streamsize>(bytes_.size()));
  if (!in || in.gcount() != static_cast<std::streamsize>(bytes_.size())) {
    return fault(absl::StatusCode::kPermissionDenied, "", "", "the buffer's raw file cannot be read");
  }
  return absl::OkStatus();
}

}  // namespace

AddressPlan PlanAddresses(const LaunchSpec& spec) {
  AddressPlan plan;
  uint64_t next = kBufferBase + kGuardBytes;
  for (const BufferSpec& buffer : spec.buffers) {
    const uint64_t address = RoundUp<uint64_t>(next, std::max<uint64_t>(kAlignBytes, buffer.align_bytes));
    plan.buffers.push_back({address, buffer.size_bytes()});
    next = address + buffer.size_bytes() + kGuardBytes;
  }
  plan.end = next;
  return plan;
}

absl::StatusOr<std::vector<uint8_t>> MakeBuffer(const BufferSpec& buffer, uint64_t device_address) {
  Filler filler(buffer);
  if (buffer.generator.init == Init::kFile) {
    const absl::Status status = filler.ReadFile();
    if (!status.ok()) return status;
  } else {
    filler.Fill(device_address);
  }
  return std::move(filler.bytes());
}

}  // namespace sm89::launch
