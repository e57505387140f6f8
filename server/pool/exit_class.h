// What the end of a worker process means for the attempt it held.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "server/os/process.h"
#include "server/pool/pool_backend.h"

namespace sm89 {

struct ExitClass {
  AttemptEnd end = AttemptEnd::kWorkerDied;
  std::string detail;
};

// `exit` is absent for a process that is not our child: then only what it wrote can tell a crash from a kill.
ExitClass ClassifyExit(const std::optional<ProcessExit>& exit, std::string_view stderr_tail);

}  // namespace sm89
