// Following one job to its end, across lost connections and daemon restarts.
#pragma once

#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/client.h"

namespace sm89::client {

struct WatchCallbacks {
  // Every update, in order, each sequence number at most once. False ends the watch.
  std::function<bool(const v1::JobUpdate&)> on_update;
  // The stream broke and is opened again (may be empty).
  std::function<void(const absl::Status&)> on_reconnect;
};

struct WatchSettings {
  std::string job;               // "jobs/{id}"
  uint64_t from_sequence = 0;    // resume after this one
  uint32_t min_interval_ms = 0;  // 0 = the server's default
  uint32_t profile_rows = 0;     // of Progress.profile; 0 = without
};

// Returns the job in its terminal state, or the last state seen when a callback ended the watch (then
// IsTerminal tells). UNAVAILABLE when the server stayed away longer than the client's reconnect_seconds (or,
// before the first update, its retry_seconds).
absl::StatusOr<v1::Job> WatchJob(Client& client, const WatchSettings& settings,
                                 const WatchCallbacks& callbacks);

bool IsTerminal(v1::Job::State state);

}  // namespace sm89::client
