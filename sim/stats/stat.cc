#include "sim/stats/stat.h"

namespace sm89 {

std::string_view Name(StatUnit unit) {
  switch (unit) {
    case StatUnit::kCycles:
      return "cycles";
    case StatUnit::kWarpInstructions:
      return "warp instructions";
    case StatUnit::kThreadInstructions:
      return "thread instructions";
    case StatUnit::kSectors:
      return "sectors";
    case StatUnit::kRequests:
      return "requests";
    case StatUnit::kBytes:
      return "bytes";
    case StatUnit::kEvents:
      return "events";
    case StatUnit::kWarps:
      return "warps";
    case StatUnit::kCtas:
      return "CTAs";
    case StatUnit::kOperations:
      return "operations";
  }
  return "?";
}

}  // namespace sm89
