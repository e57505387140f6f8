// The user's settings and where they come from: flag before environment before file before default.
#pragma once

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/cli/terminal.h"

namespace sm89::client {

struct GlobalFlags {
  std::optional<std::string> address;
  std::optional<double> timeout_seconds;
  std::optional<std::string> settings_file;
  std::string colour = "auto";
  bool json = false;
  bool quiet = false;
};

struct Settings {
  std::string address = "127.0.0.1:8989";
  std::string address_origin = "default";  // "--address", "SM89_ADDRESS", the file's path, or "default"
  std::string config = "configs/RTX4090";  // used by submit when no --config is given
  double timeout_seconds = 30;             // deadline of one call
};

// ~/.config/sm89/config, by the XDG rules; empty without a home.
std::string DefaultSettingsPath(const Environment& environment);
// Where unfinished uploads are remembered; empty without a home.
std::string UploadJournalPath(const Environment& environment);

// Unknown keys and unreadable values are errors that name the file. The default file may be absent; one that
// was named by flag or environment may not.
absl::StatusOr<Settings> ResolveSettings(const GlobalFlags& flags, const Environment& environment);

}  // namespace sm89::client
