// A result file on its way to the daemon.
#pragma once

#include <memory>
#include <string>

#include "server/worker/kept_trace.h"

namespace sm89 {

struct FinishedArtifact {
  std::string name;
  std::string bytes;                      // unless `file` is set
  std::shared_ptr<const KeptTrace> file;  // too large for memory
};

}  // namespace sm89
