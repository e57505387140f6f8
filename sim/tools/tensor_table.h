// The registry of tensor-core modes as a configuration times it.
#pragma once

#include <string>

#include "sim/config/gpu_config.h"

namespace sm89 {

// One line a mode of sim/isa/tensor_modes.h, at most 120 columns: inputs and accumulator, shape,
// multiply-adds an instruction, interval and latency in cycles, peak of the whole GPU in 10^12 operations/s
// (two a multiply-add, dense-equivalent), source of
// the rate relative to dense FP16, which holds for Ada whatever the preset.
std::string TensorModeTable(const GpuConfig& gpu);

}  // namespace sm89
