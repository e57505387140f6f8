#include "sim/tensor/tensor_timing.h"

#include <algorithm>

#include "sim/base/types.h"

namespace sm89 {
namespace {

// Multiply-adds of the mode whose interval the configuration gives: dense FP16 m16n8k16, FP16 accumulation.
constexpr uint64_t kReferenceMacs = 16 * 8 * 16;
constexpr uint64_t kReferenceEighths = 8;

// Multiply-adds over the rate; FP32 accumulation takes a factor longer on GeForce.
class TensorCore final : public TensorStrategy {
 public:
  ExecUnit unit() const override { return ExecUnit::kTensor; }
  UnitTiming Timing(const TensorMode& mode, const ExecConfig& exec) const override {
    const bool slowed = mode.accumulator == TensorAccumulator::kF32;
    const uint64_t factor = slowed ? exec.tensor_fp32_accumulate_factor : 1;
    const uint64_t work = mode.macs() * kReferenceEighths * factor * exec.tensor.interval_cycles;
    const uint64_t rate = kReferenceMacs * mode.rate_eighths;
    const auto interval =
        static_cast<uint32_t>(std::max<uint64_t>((work + rate - 1) / rate, exec.tensor_min_interval_cycles));
    const uint32_t unloaded =
        IsHalfSize(OpOf(mode)) ? exec.tensor_short_latency_cycles : exec.tensor.latency_cycles;
    return {std::max(unloaded, interval + 1), interval};
  }
};

// FP64 units take a warp's worth of multiply-adds each interval of theirs.
class Fp64Units final : public TensorStrategy {
 public:
  ExecUnit unit() const override { return ExecUnit::kFp64; }
  UnitTiming Timing(const TensorMode& mode, const ExecConfig& exec) const override {
    const uint32_t interval = mode.macs() / kWarpSize * exec.fp64.interval_cycles;
    return {exec.fp64.latency_cycles + interval, interval};
  }
};

}  // namespace

const TensorStrategy& StrategyOf(const TensorMode& mode) {
  static const TensorCore& core = *new TensorCore;
  static const Fp64Units& fp64 = *new Fp64Units;
  return mode.unit == TensorUnit::kFp64 ? static_cast<const TensorStrategy&>(fp64) : core;
}

double MacsPerCycle(const TensorMode& mode, const GpuConfig& gpu) {
  const TensorStrategy& strategy = StrategyOf(mode);
  const bool one_an_sm = strategy.unit() == ExecUnit::kFp64 && gpu.exec.fp64_shared;
  const uint32_t units = one_an_sm ? 1 : gpu.sm.sub_cores;
  return static_cast<double>(mode.macs()) * units / strategy.Timing(mode, gpu.exec).interval_cycles;
}

double PeakTops(const TensorMode& mode, const GpuConfig& gpu) {
  return 2e-12 * MacsPerCycle(mode, gpu) * gpu.sm.num_sms * gpu.clocks.core_khz * 1e3;
}

std::string SourceOf(const TensorMode& mode, const ExecConfig& exec) {
  static const ExecConfig ada;  // the defaults are the RTX 4090's
  if (mode.unit == TensorUnit::kFp64) {
    const bool same =
        exec.fp64.interval_cycles == ada.fp64.interval_cycles && exec.fp64_shared == ada.fp64_shared;
    return same ? std::string(mode.source) : "-trace_opcode_latency_initiation_dp; use: assumption";
  }
  const bool same = exec.tensor.interval_cycles == ada.tensor.interval_cycles &&
                    exec.tensor_fp32_accumulate_factor == ada.tensor_fp32_accumulate_factor;
  return same ? std::string(mode.source) : "-trace_opcode_latency_initiation_tensor; ratio: Ada's";
}

std::string_view DisablingSetting(const TensorMode& mode, const ExecConfig& exec) {
  if (mode.fp8() && !exec.tensor_fp8_enabled) return "-gpgpu_sm89_tc_fp8_enabled";
  if (mode.sparse && !exec.tensor_sparse_enabled) return "-gpgpu_sm89_tc_sparse_enabled";
  return {};
}

}  // namespace sm89
