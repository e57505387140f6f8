// What every command works with.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/cli/exit_code.h"
#include "client/cli/settings.h"
#include "client/cli/terminal.h"
#include "client/client.h"
#include "nlohmann/json.hpp"

namespace sm89::client {

class Context {
 public:
  Context(Terminal& terminal, const Environment& environment, std::stop_token stop)
      : terminal_(terminal), environment_(environment), stop_(std::move(stop)) {}

  GlobalFlags flags;  // as typed; filled by the parser

  // What the chosen command does; set by the parser, run afterwards. A status is an error to be shown.
  std::function<absl::StatusOr<ExitCode>()> action;

  Terminal& terminal() { return terminal_; }
  const Environment& environment() const { return environment_; }
  std::stop_token stop() const { return stop_; }

  absl::StatusOr<const Settings*> GetSettings();
  // Connects at the first call.
  absl::StatusOr<Client*> GetClient();

  // The one JSON document of this run.
  void PrintJson(const nlohmann::ordered_json& value);
  // For people; not in JSON mode and not with --quiet.
  bool talks() const { return !flags.json && !flags.quiet; }

 private:
  Terminal& terminal_;
  const Environment& environment_;
  std::stop_token stop_;
  std::optional<Settings> settings_;
  std::unique_ptr<Client> client_;
};

// Shows an error: for people on the error stream (every fault on its line, then what to do next), and in JSON
// mode also as the document on the output stream.
void ShowError(Context& context, const absl::Status& status);

// The lines for people, without colours: message, faults, advice.
std::string ErrorText(const absl::Status& status, const Settings& settings);

}  // namespace sm89::client
