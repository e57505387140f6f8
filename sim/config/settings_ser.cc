// Rows of the settings table: the reordering stage, a research model.
#include "sim/config/binding.h"
#include "sim/config/setting_row.h"
#include "sim/config/setting_sources.h"

namespace sm89::settings {

std::vector<RowSpec> SerRows() {
  using S = SerConfig;
  constexpr std::string_view kDescription =
      "the project's description; research model: nothing public says that hardware regroups compute warps";
  return {
      {.name = "-gpgpu_sm89_ser_enabled",
       .help =
           "Research model: a stage in front of the warp schedulers moves instructions of diverged warps.",
       .source = kDescription,
       .binding = Bool<&GpuConfig::ser, &S::enabled>()},
      {.name = "-gpgpu_sm89_ser_latency",
       .unit = "cycles",
       .help =
           "Research model: what an instruction that the stage moves takes longer, its operands' transfer "
           "not counted.",
       .source = kDescription,
       .binding = Uint<&GpuConfig::ser, &S::latency_cycles>(0, 10'000)},
      {.name = "-gpgpu_sm89_ser_transfer_cycles",
       .unit = "cycles",
       .help =
           "Research model: transfer of a moved instruction's operands to other lanes or another sub-core.",
       .source = kAssumption,
       .binding = Uint<&GpuConfig::ser, &S::transfer_cycles>(0, 10'000)},
      {.name = "-gpgpu_sm89_ser_max_reorder_depth",
       .unit = "warps",
       .help = "Research model: ready warps that one decision looks at.",
       .source = kDescription,
       .binding = Uint<&GpuConfig::ser, &S::max_reorder_depth>(1, 64)},
      {.name = "-gpgpu_sm89_ser_policy",
       .help = "Research model: how the aggressiveness is chosen.",
       .source = kDescription,
       .binding = Enum<&GpuConfig::ser, &S::policy>(
           {{"static", 0, "as set"},
            {"profile", 1,
             "twice the share of diverged instructions of the last interval, at most as set"}})},
      {.name = "-gpgpu_sm89_ser_aggressiveness",
       .unit = "%",
       .help =
           "Research model: an instruction may move when at most so much of a warp's 32 lanes execute it, "
           "and not all that the warp has.",
       .source = kAssumption,
       .binding = Uint<&GpuConfig::ser, &S::aggressiveness_percent>(0, 100)},
      {.name = "-gpgpu_sm89_ser_profile_interval",
       .unit = "cycles",
       .help =
           "Research model: after so long the policy looks at the last 1,024 issued instructions of an SM.",
       .source = "10 kHz of simulated time at 2520 MHz, the project's description",
       .binding = Uint<&GpuConfig::ser, &S::profile_interval_cycles>(1, 1'000'000'000)},
  };
}

}  // namespace sm89::settings
