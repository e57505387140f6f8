// What the kernels of tests/data/kernels compute, on the host: an independent reading of their definitions in
// that folder's README, with the same order of float additions where results are compared byte by byte.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "sim/launch/launch.h"
#include "sim/num/half.h"

namespace sm89::launch::host_kernels {

// By buffer name: initial contents in, results out.
using Buffers = std::map<std::string, std::vector<uint8_t>>;

template <typename T>
std::vector<T> As(const std::vector<uint8_t>& bytes) {
  std::vector<T> out(bytes.size() / sizeof(T));
  std::memcpy(out.data(), bytes.data(), out.size() * sizeof(T));
  return out;
}

template <typename T>
void Set(std::vector<uint8_t>& bytes, const std::vector<T>& values) {
  std::memcpy(bytes.data(), values.data(), std::min(bytes.size(), values.size() * sizeof(T)));
}

// The last arguments of a kernel are its sizes: argument `from_end` places before the end, 0 = the last.
inline size_t SizeArgument(const LaunchSpec& launch, size_t from_end) {
  int32_t value = 0;
  std::memcpy(&value, launch.args.at(launch.args.size() - 1 - from_end).bytes.data(), sizeof(value));
  return static_cast<size_t>(value);
}

inline void VectorAdd(const LaunchSpec& launch, Buffers& b) {
  const auto x = As<float>(b.at("a"));
  const auto y = As<float>(b.at("b"));
  std::vector<float> sum(SizeArgument(launch, 0));
  for (size_t i = 0; i < sum.size(); ++i) sum[i] = x[i] + y[i];
  Set(b.at("c"), sum);
}

// Rows times columns, one fused multiply-add after another along k.
inline void Sgemm(const LaunchSpec& launch, Buffers& b) {
  const size_t m = SizeArgument(launch, 2);
  const size_t n = SizeArgument(launch, 1);
  const size_t k = SizeArgument(launch, 0);
  const auto x = As<float>(b.at("a"));
  const auto y = As<float>(b.at("b"));
  std::vector<float> c(m * n);
  for (size_t row = 0; row < m; ++row) {
    for (size_t i = 0; i < k; ++i) {
      for (size_t column = 0; column < n; ++column) {
        c[row * n + column] = std::fma(x[row * k + i], y[i * n + column], c[row * n + column]);
      }
    }
  }
  Set(b.at("c"), c);
}

inline void TensorGemm(const LaunchSpec& launch, Buffers& b) {
  const size_t m = SizeArgument(launch, 2);
  const size_t n = SizeArgument(launch, 1);
  const size_t k = SizeArgument(launch, 0);
  const auto widened = [](const std::vector<uint8_t>& bytes) {
    std::vector<double> out;
    for (const uint16_t half : As<uint16_t>(bytes))
      out.push_back(std::bit_cast<float>(num::Fp16ToFp32(half)));
    return out;
  };
  const std::vector<double> x = widened(b.at("a"));
  const std::vector<double> y = widened(b.at("b"));
  std::vector<double> sums(m * n);
  for (size_t row = 0; row < m; ++row) {
    for (size_t i = 0; i < k; ++i) {
      const double factor = x[row * k + i];
      for (size_t column = 0; column < n; ++column) sums[row * n + column] += factor * y[i * n + column];
    }
  }
  Set(b.at("c"), std::vector<float>(sums.begin(), sums.end()));
}

constexpr size_t kReductionThreads = 256;

// 32 values by halving distances: what the first lane of a chain of shuffles holds.
inline float WarpSum(std::array<float, 32> values) {
  for (size_t distance = 16; distance > 0; distance /= 2) {
    for (size_t lane = 0; lane < distance; ++lane) values[lane] += values[lane + distance];
  }
  return values[0];
}

// 256 values: eight warps, then their sums with zeros in the other lanes.
inline float BlockSum(const std::vector<float>& values) {
  std::array<float, 32> of_warps{};
  for (size_t warp = 0; warp < values.size() / 32; ++warp) {
    std::array<float, 32> lanes{};
    std::copy_n(values.begin() + static_cast<std::ptrdiff_t>(32 * warp), 32, lanes.begin());
    of_warps[warp] = WarpSum(lanes);
  }
  return WarpSum(of_warps);
}

// Thread t of `threads` adds elements t, t + threads, ... of x.
inline std::vector<float> StridedSums(const std::vector<float>& x, size_t count, size_t threads) {
  std::vector<float> sums(threads);
  for (size_t i = 0; i < count; ++i) sums[i % threads] += x[i];
  return sums;
}

inline void Reduction(const LaunchSpec& launch, Buffers& b) {
  const size_t blocks = launch.grid.x;
  const std::vector<float> sums =
      StridedSums(As<float>(b.at("x")), SizeArgument(launch, 0), blocks * kReductionThreads);
  std::vector<float> partial;
  for (size_t block = 0; block < blocks; ++block) {
    const auto first = sums.begin() + static_cast<std::ptrdiff_t>(block * kReductionThreads);
    partial.push_back(BlockSum({first, first + kReductionThreads}));
  }
  Set(b.at("partial"), partial);
  Set(b.at("arrived"), std::vector<uint32_t>{static_cast<uint32_t>(blocks)});
  Set(b.at("total"), std::vector<float>{BlockSum(StridedSums(partial, blocks, kReductionThreads))});
}

inline uint32_t ReversedBits(uint32_t x) {
  uint32_t out = 0;
  for (int bit = 0; bit < 32; ++bit) out |= ((x >> bit) & 1u) << (31 - bit);
  return out;
}

inline uint32_t DivergentResult(uint32_t start, uint32_t steps, uint32_t peak) {
  switch (steps % 6) {
    case 0:
      return start * 2654435761u + steps;
    case 1:
      return static_cast<uint32_t>(std::popcount(peak));
    case 2:
      return ReversedBits(start) ^ peak;
    case 3:
      return peak / (start + 1);
    case 4:
      return std::gcd(start, peak);
    default:
      return peak - start;
  }
}

inline void Divergent(const LaunchSpec& launch, Buffers& b) {
  const auto start = As<uint32_t>(b.at("start"));
  std::vector<uint32_t> steps;
  std::vector<uint32_t> result;
  for (size_t i = 0; i < SizeArgument(launch, 0); ++i) {
    uint32_t rounds = 0;
    uint32_t peak = start[i] + 1;
    for (uint32_t x = start[i] + 1; x != 1; ++rounds) {
      x = x % 2 == 0 ? x / 2 : 3 * x + 1;
      peak = std::max(peak, x);
    }
    steps.push_back(rounds);
    result.push_back(DivergentResult(start[i] + 1, rounds, peak));
  }
  Set(b.at("steps"), steps);
  Set(b.at("result"), result);
}

inline void Histogram(const LaunchSpec& launch, Buffers& b) {
  std::vector<uint32_t> bins(256);
  for (size_t i = 0; i < 4 * SizeArgument(launch, 0); ++i) ++bins[b.at("data")[i]];
  Set(b.at("bins"), bins);
}

using HostKernel = std::function<void(const LaunchSpec&, Buffers&)>;

// By kernel name.
inline const std::map<std::string, HostKernel>& All() {
  static const std::map<std::string, HostKernel> kKernels = {
      {"vector_add", VectorAdd},   {"sgemm_tiled", Sgemm},   {"sgemm_register", Sgemm},
      {"tensor_gemm", TensorGemm}, {"reduction", Reduction}, {"divergent", Divergent},
      {"histogram", Histogram}};
  return kKernels;
}

}  // namespace sm89::launch::host_kernels
