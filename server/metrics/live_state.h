// Values that the daemon knows at any time and that are read at the scrape instead of being kept up to date.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace sm89 {

// The states of server/jobs and server/pool as label values ("queued", "lost_contact", ...).
enum class JobStateLabel : uint8_t {
  kQueued,
  kStarting,
  kRunning,
  kLostContact,
  kCancelling,
  kSucceeded,
  kFailed,
  kCancelled,
};
inline constexpr size_t kNumJobStateLabels = 8;
std::string_view Name(JobStateLabel state);

enum class WorkerStateLabel : uint8_t {
  kStarting,
  kIdle,
  kBusy,
  kLostContact,
  kDraining,
  kStopped,
  kBackoff,
};
inline constexpr size_t kNumWorkerStateLabels = 7;
std::string_view Name(WorkerStateLabel state);

struct LiveState {
  std::array<uint64_t, kNumJobStateLabels> jobs{};        // by JobStateLabel; the finished ones: as retained
  std::array<uint64_t, kNumWorkerStateLabels> workers{};  // by WorkerStateLabel
  double oldest_queued_age_seconds = 0;                   // 0 when nothing is queued
  uint64_t watchers = 0;                                  // open WatchJob streams
  uint64_t uploads_open = 0;
  uint64_t traces = 0;
  uint64_t store_bytes = 0;       // held by the content-addressed store
  uint64_t store_free_bytes = 0;  // left to us on its file system
  bool draining = false;

  uint64_t& jobs_in(JobStateLabel state) { return jobs[static_cast<size_t>(state)]; }
  uint64_t& workers_in(WorkerStateLabel state) { return workers[static_cast<size_t>(state)]; }
};

}  // namespace sm89
