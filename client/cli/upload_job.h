// Bringing a trace to the server: shared by `upload` and `submit --trace PATH`.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "client/cli/context.h"
#include "client/uploader.h"

namespace CLI {
class App;
}

namespace sm89::client {

struct UploadFlags {
  std::string name;
  bool foreign_arch = false;
  bool allow_partial = false;
  bool unknown_as_nop = false;
};

// --foreign-arch, --allow-partial, --unknown-as-nop.
void AddIngestOptions(CLI::App& command, UploadFlags& flags);

// Packs (a folder or list), uploads with a progress line, waits for the validation.
absl::StatusOr<UploadOutcome> UploadPath(Context& context, const std::string& path, const UploadFlags& flags);

// "traces/x" is always a name, another text with a '/' always a path; a bare word is a path if something is
// there.
bool IsLocalPath(const std::string& text);

}  // namespace sm89::client
