// A result file on its way to the daemon.
#pragma once

#include <memory>
#include <string>

#include "server/worker/attempt_file.h"

namespace sm89 {

struct FinishedArtifact {
  std::string name;
  std::string bytes;                        // unless `file` is set
  std::shared_ptr<const AttemptFile> file;  // too large for memory
};

}  // namespace sm89
