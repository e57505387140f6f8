#include "sim/tools/tensor_table.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "sim/base/strings.h"
#include "sim/isa/tensor_modes.h"
#include "sim/tensor/tensor_timing.h"

namespace sm89 {
namespace {

std::string Line(const TensorMode& mode, const GpuConfig& gpu) {
  const UnitTiming timing = StrategyOf(mode).Timing(mode, gpu.exec);
  const std::string shape = absl::StrCat("m", mode.m, "n", mode.n, "k", mode.k, mode.sparse ? " sparse" : "");
  const std::string_view off = DisablingSetting(mode, gpu.exec);
  const std::string source = off.empty() ? SourceOf(mode, gpu.exec) : absl::StrCat("OFF: ", Av(off), " 0");
  return absl::StrFormat("%-7s %-14s %-5s %-16s %5d %4d %4d %8.1f  %s\n", Av(mode.mnemonic), Av(mode.inputs),
                         Av(Name(mode.accumulator)), shape, mode.macs(), timing.interval_cycles,
                         timing.latency_cycles, PeakTops(mode, gpu), source);
}

}  // namespace

std::string TensorModeTable(const GpuConfig& gpu) {
  std::string text = absl::StrCat(gpu.name, ": ", gpu.sm.num_sms, " SMs at ", gpu.clocks.core_khz / 1000.0,
                                  " MHz; scale: dense FP16 m16n8k16 with FP16 accumulation every ",
                                  gpu.exec.tensor.interval_cycles, " cycles\n");
  absl::StrAppend(
      &text, absl::StrFormat("%-7s %-14s %-5s %-16s %5s %4s %4s %8s  %s\n", "code", "inputs", "acc.", "shape",
                             "MACs", "int.", "lat.", "TOP/s", "source of the rate"));
  for (const TensorMode& mode : TensorModes()) text += Line(mode, gpu);
  return text;
}

}  // namespace sm89
