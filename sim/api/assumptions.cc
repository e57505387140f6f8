#include "sim/api/assumptions.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "sim/base/types.h"

namespace sm89 {
namespace {

void AddControlBits(const RunReport& report, std::vector<std::string>* assumptions) {
  const auto any_synthesised = [&](bool machine_code) {
    return std::any_of(report.kernels.begin(), report.kernels.end(), [&](const KernelReport& k) {
      return k.control_bits == kSynthesisedControlBits && k.control_bits_present == machine_code;
    });
  };
  if (any_synthesised(false)) {
    assumptions->push_back(
        "kernels without machine code: stall counts, dependence counters and reuse bits are synthesised from "
        "a table of latencies; predicates, uniform registers and constant operands are not known, so none "
        "of these delays anything beyond that table");
  }
  if (any_synthesised(true)) {
    assumptions->push_back(
        "kernels with machine code whose control bits are set aside: synthesised ones stand in");
  }
}

void AddL2(const L2Config& l2, std::vector<std::string>* assumptions) {
  // SliceHash of sim/mem/address_map.h.
  const std::string hash = l2.hash == 0   ? "even over all slices"
                           : l2.hash == 1 ? "line number modulo slices, as configured"
                                          : "exclusive-or of the address, as configured";
  assumptions->push_back(absl::StrCat("L2 slice hash: ", hash, "; NVIDIA's is not published"));
  if (l2.slice_gb_per_s_x10 == 0) return;
  assumptions->push_back(absl::StrCat("L2 slices: at most ", l2.slice_gb_per_s_x10 / 10.0,
                                      " GB/s each, as configured; no measurement shows such a bound"));
}

void AddSwitches(const GpuConfig& config, std::vector<std::string>* assumptions) {
  if (config.front.perfect_icache) assumptions->push_back("L0 instruction caches always hit");
  if (config.constant.perfect_l0) assumptions->push_back("constant operands always hit");
  if (!config.registers.reuse_cache) assumptions->push_back("reuse bits are not looked at");
  if (config.tlb.entries == 0) assumptions->push_back("address translation takes no time");
}

// Options that no public source describes as an Ada GPU's.
void AddResearchOptions(const GpuConfig& config, std::vector<std::string>* assumptions) {
  if (config.ser.enabled) {
    assumptions->push_back(
        "research model: a reordering stage moves instructions of diverged warps; nothing public says that "
        "hardware regroups warps of compute kernels");
  } else {
    assumptions->push_back("no shader execution reordering: code of CUDA does not ask for it");
  }
  const L2FeatureConfig& l2 = config.l2.features;
  if (l2.prefetch_distance != 0) {
    assumptions->push_back(absl::StrCat("research option: L2 slices prefetch up to ", l2.prefetch_distance,
                                        " of their lines ahead of a stream; nothing public says that an Ada "
                                        "GPU does"));
  }
  if (l2.num_compressed != 0) {
    assumptions->push_back(absl::StrCat("research option: lines of ", l2.num_compressed,
                                        " address range(s) are stored compressed, ", l2.compression_ratio,
                                        " to 1 whatever they hold"));
  }
  if (l2.interleave_bytes != kLineBytes) {
    assumptions->push_back(
        absl::StrCat("research option: ", l2.interleave_bytes, " neighbouring bytes lie in one L2 slice"));
  }
}

}  // namespace

std::vector<std::string> AssumptionsOf(const RunReport& report, const GpuConfig& config) {
  std::vector<std::string> assumptions;
  AddControlBits(report, &assumptions);
  const std::vector<std::string> always = {
      "issue (greedy, then the youngest warp), register file, instruction supply, constant caches and memory "
      "queues: after a published model of an RTX A6000 (sm_86); none of it is measured on Ada",
      "units, ports and queues are reserved ahead in the order of issue",
      "L2 latency: additive over SM and slice, spread as measured on an L40 (the same die); each die has its "
      "own map",
      "DRAM timing: that of GDDR6 in nanoseconds; GDDR6X's is not published",
      "address translation: one buffer an SM; what lies behind it is one delay",
      "generic address windows of shared and local memory: 16 MiB each",
      "host copies run after all kernels listed before them and leave their data dirty in the L2",
  };
  assumptions.insert(assumptions.end(), always.begin(), always.end());
  AddL2(config.l2, &assumptions);
  AddSwitches(config, &assumptions);
  AddResearchOptions(config, &assumptions);
  if (std::any_of(report.kernels.begin(), report.kernels.end(),
                  [](const KernelReport& k) { return k.clock_reads.any(); })) {
    assumptions.push_back("the value of a clock read is the cycle of its issue");
  }
  return assumptions;
}

}  // namespace sm89
