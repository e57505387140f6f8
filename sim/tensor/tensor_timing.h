// How long a tensor instruction takes: a strategy for each unit that executes modes of the registry
// (sim/isa/tensor_modes.h). The scheduler knows neither types nor shapes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "sim/config/gpu_config.h"
#include "sim/isa/tensor_modes.h"

namespace sm89 {

class TensorStrategy {
 public:
  virtual ~TensorStrategy() = default;
  // Unit that the mode keeps busy.
  virtual ExecUnit unit() const = 0;
  // Cycles to dependent issue, and between two instructions of the mode on one unit.
  virtual UnitTiming Timing(const TensorMode& mode, const ExecConfig& exec) const = 0;
};

// Stateless, one for the process.
const TensorStrategy& StrategyOf(const TensorMode& mode);

// Dense-equivalent multiply-adds a cycle of one SM at the mode's interval.
double MacsPerCycle(const TensorMode& mode, const GpuConfig& gpu);

// Peak of the whole GPU, 10^12 operations a second; two a multiply-add, dense-equivalent.
double PeakTops(const TensorMode& mode, const GpuConfig& gpu);

// Where the mode's figures come from in this configuration: the row's source where tensor cores (FP64 units)
// are timed as the RTX 4090's, else which setting gives the scale, and that the ratio to it is Ada's.
std::string SourceOf(const TensorMode& mode, const ExecConfig& exec);

// The setting that switches the mode off in this configuration; empty when none does.
std::string_view DisablingSetting(const TensorMode& mode, const ExecConfig& exec);

}  // namespace sm89
