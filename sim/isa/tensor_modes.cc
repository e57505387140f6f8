#include "sim/isa/tensor_modes.h"

#include <algorithm>

#include "sim/base/assert.h"
#include "sim/isa/modifiers.h"

namespace sm89 {
namespace {

using A = TensorAccumulator;
using T = TensorType;

// Where a rate comes from. "whitepaper": peak rates of the RTX 4090, appendix A of NVIDIA's Ada whitepaper.
constexpr std::string_view kMeasured16 = "511.4 FMA/cycle/SM on an RTX 4090; whitepaper";
constexpr std::string_view kMeasured32 = "255.8 FMA/cycle/SM on an RTX 4090; whitepaper";
constexpr std::string_view kDense = "whitepaper; a public mma.sync benchmark agrees";
constexpr std::string_view kSparse = "whitepaper; no measurement on Ada";
constexpr std::string_view kBits = "assumption: four times INT4";
constexpr std::string_view kShape = "assumption: as the type's other shapes";
constexpr std::string_view kFp64Source = "FP64: 2 FMA/cycle/SM measured; use: assumption";
constexpr std::string_view kForeign = "assumption: shape of another architecture";

constexpr std::array<T, 2> kFp16 = {T::kF16, T::kNone};
constexpr std::array<T, 2> kBf16 = {T::kBf16, T::kNone};
constexpr std::array<T, 2> kTf32 = {T::kTf32, T::kNone};
constexpr std::array<T, 2> kFp8 = {T::kE4m3, T::kE5m2};
constexpr std::array<T, 2> kInt8 = {T::kS8, T::kU8};
constexpr std::array<T, 2> kInt4 = {T::kS4, T::kU4};
constexpr std::array<T, 2> kBit = {T::kB1, T::kNone};
constexpr std::array<T, 2> kFp64 = {T::kF64, T::kNone};
constexpr TensorUnit kCore = TensorUnit::kTensorCore;
constexpr std::string_view kFp8Name = "FP8 E4M3/E5M2";

// mnemonic, inputs, types, accumulator, m, n, k, sparse, rate, unit, source
constexpr auto kModes = std::to_array<TensorMode>({
    {"HMMA", "FP16", kFp16, A::kF16, 16, 8, 16, false, 8, kCore, kMeasured16},
    {"HMMA", "FP16", kFp16, A::kF16, 16, 8, 8, false, 8, kCore, kShape},
    {"HMMA", "FP16", kFp16, A::kF32, 16, 8, 16, false, 8, kCore, kMeasured32},
    {"HMMA", "FP16", kFp16, A::kF32, 16, 8, 8, false, 8, kCore, kShape},
    {"HMMA", "BF16", kBf16, A::kF32, 16, 8, 16, false, 8, kCore, kDense},
    {"HMMA", "BF16", kBf16, A::kF32, 16, 8, 8, false, 8, kCore, kShape},
    {"HMMA", "TF32", kTf32, A::kF32, 16, 8, 8, false, 4, kCore, kDense},
    {"HMMA", "TF32", kTf32, A::kF32, 16, 8, 4, false, 4, kCore, kShape},
    {"QMMA", kFp8Name, kFp8, A::kF16, 16, 8, 32, false, 16, kCore, kDense},
    {"QMMA", kFp8Name, kFp8, A::kF16, 16, 8, 16, false, 16, kCore, kShape},
    {"QMMA", kFp8Name, kFp8, A::kF32, 16, 8, 32, false, 16, kCore, kDense},
    {"QMMA", kFp8Name, kFp8, A::kF32, 16, 8, 16, false, 16, kCore, kShape},
    {"IMMA", "INT8", kInt8, A::kS32, 16, 8, 32, false, 16, kCore, kDense},
    {"IMMA", "INT8", kInt8, A::kS32, 16, 8, 16, false, 16, kCore, kShape},
    {"IMMA", "INT8", kInt8, A::kS32, 8, 8, 16, false, 16, kCore, kShape},
    {"IMMA", "INT4", kInt4, A::kS32, 16, 8, 64, false, 32, kCore, kDense},
    {"IMMA", "INT4", kInt4, A::kS32, 16, 8, 32, false, 32, kCore, kShape},
    {"IMMA", "INT4", kInt4, A::kS32, 8, 8, 32, false, 32, kCore, kShape},
    {"BMMA", "B1", kBit, A::kS32, 16, 8, 256, false, 128, kCore, kBits},
    {"BMMA", "B1", kBit, A::kS32, 16, 8, 128, false, 128, kCore, kBits},
    {"BMMA", "B1", kBit, A::kS32, 8, 8, 128, false, 128, kCore, kBits},
    {"DMMA", "FP64", kFp64, A::kF64, 8, 8, 4, false, 8, TensorUnit::kFp64, kFp64Source},
    // 2:4 sparse. FP8 with FP16 accumulation has no instruction on sm_89.
    {"HMMA.SP", "FP16", kFp16, A::kF16, 16, 8, 32, true, 16, kCore, kSparse},
    {"HMMA.SP", "FP16", kFp16, A::kF16, 16, 8, 16, true, 16, kCore, kShape},
    {"HMMA.SP", "FP16", kFp16, A::kF32, 16, 8, 32, true, 16, kCore, kSparse},
    {"HMMA.SP", "FP16", kFp16, A::kF32, 16, 8, 16, true, 16, kCore, kShape},
    {"HMMA.SP", "BF16", kBf16, A::kF32, 16, 8, 32, true, 16, kCore, kSparse},
    {"HMMA.SP", "BF16", kBf16, A::kF32, 16, 8, 16, true, 16, kCore, kShape},
    {"HMMA.SP", "TF32", kTf32, A::kF32, 16, 8, 16, true, 8, kCore, kSparse},
    {"HMMA.SP", "TF32", kTf32, A::kF32, 16, 8, 8, true, 8, kCore, kShape},
    {"QMMA.SP", kFp8Name, kFp8, A::kF32, 16, 8, 64, true, 32, kCore, kSparse},
    {"IMMA.SP", "INT8", kInt8, A::kS32, 16, 8, 64, true, 32, kCore, kSparse},
    {"IMMA.SP", "INT8", kInt8, A::kS32, 16, 8, 32, true, 32, kCore, kShape},
    {"IMMA.SP", "INT4", kInt4, A::kS32, 16, 8, 128, true, 64, kCore, kSparse},
    {"IMMA.SP", "INT4", kInt4, A::kS32, 16, 8, 64, true, 64, kCore, kShape},
    // Of other architectures: sm_70 (a step of a quad pair) and sm_90.
    {"HMMA", "FP16", kFp16, A::kF16, 8, 8, 4, false, 8, kCore, kForeign},
    {"HMMA", "FP16", kFp16, A::kF32, 8, 8, 4, false, 8, kCore, kForeign},
    {"DMMA", "FP64", kFp64, A::kF64, 16, 8, 4, false, 8, TensorUnit::kFp64, kForeign},
    {"DMMA", "FP64", kFp64, A::kF64, 16, 8, 8, false, 8, TensorUnit::kFp64, kForeign},
    {"DMMA", "FP64", kFp64, A::kF64, 16, 8, 16, false, 8, TensorUnit::kFp64, kForeign},
});

bool IsFloat(TensorType type) {
  switch (type) {
    case T::kF16:
    case T::kBf16:
    case T::kTf32:
    case T::kE4m3:
    case T::kE5m2:
      return true;
    default:
      return false;
  }
}

TensorAccumulator AccumulatorOf(const TensorOp& op) {
  if (op.a == T::kF64) return A::kF64;
  if (!IsFloat(op.a)) return A::kS32;
  return op.fp32_accumulate ? A::kF32 : A::kF16;
}

}  // namespace

std::string_view Name(TensorAccumulator accumulator) {
  switch (accumulator) {
    case A::kF16:
      return "FP16";
    case A::kF32:
      return "FP32";
    case A::kS32:
      return "INT32";
    case A::kF64:
      return "FP64";
  }
  SM89_ASSERT(false, "accumulator out of range");
}

std::span<const TensorMode> TensorModes() { return kModes; }

const TensorMode* FindTensorMode(const TensorOp& op) {
  const TensorAccumulator accumulator = AccumulatorOf(op);
  const auto it = std::find_if(kModes.begin(), kModes.end(), [&](const TensorMode& mode) {
    return mode.m == op.m && mode.n == op.n && mode.k == op.k && mode.sparse == op.sparse &&
           mode.accumulator == accumulator && (mode.types[0] == op.a || mode.types[1] == op.a);
  });
  return op.a == T::kNone || it == kModes.end() ? nullptr : &*it;
}

TensorOp OpOf(const TensorMode& mode) {
  return {mode.m,        mode.n,        mode.k,
          mode.types[0], mode.types[0], mode.accumulator == TensorAccumulator::kF32,
          mode.sparse};
}

bool IsHalfSize(const TensorOp& op) {
  constexpr uint32_t kHalfSizeBits = 16'384;
  const uint32_t stored_k = op.sparse ? op.k / 2u : op.k;
  return uint32_t{op.m} * op.n * stored_k * ElementBits(op.a) <= kHalfSizeBits;
}

}  // namespace sm89
