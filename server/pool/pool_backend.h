// Workers as the job manager sees them: sessions, leases, attempts, and how to be rid of one. Local processes
// today (LocalPool); tasks of a cluster's scheduler are another implementation of the same interface.
//
// Passive: no thread, no lock. The job manager calls it under its own lock and drains TakeEvents after every
// call; a backend whose sources are asynchronous (process exits) keeps an inbox that Tick reads.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace sm89 {

// One attempt of one job. The fence alone identifies it; all three must match.
struct AttemptRef {
  std::string job;
  uint32_t attempt = 0;
  uint64_t fence = 0;

  friend bool operator==(const AttemptRef&, const AttemptRef&) = default;
};

enum class WorkerState : uint8_t {
  kStarting,  // process exists, has not attached
  kIdle,
  kBusy,
  kLostContact,  // lease ran out; killed when the grace time ends
  kDraining,     // gets no new work
  kStopped,      // not wanted any more
  kBackoff,      // died; a new process starts after a while
};
inline constexpr int kWorkerStates = 7;
std::string_view Name(WorkerState state);

struct WorkerInfo {
  std::string id;
  WorkerState state = WorkerState::kBackoff;
  std::optional<AttemptRef> attempt;
  int64_t pid = 0;
  std::string host;
  std::string version;
  int64_t start_unix_nanos = 0;
  int64_t last_contact_unix_nanos = 0;
  uint64_t memory_bytes = 0;
  uint64_t attempts_completed = 0;
  uint64_t restarts = 0;
};

// What a worker says when it dials in: a ticket the first time, its session afterwards.
struct AttachClaim {
  std::string ticket;
  std::string session;
  std::string version;
  std::string host;
  int64_t pid = 0;
  std::optional<AttemptRef> running;
};
struct AttachGrant {
  std::string worker;
  std::string session;
  uint32_t heartbeat_ms = 0;
  uint32_t lease_ms = 0;
  bool keep_running = false;  // the claimed attempt is still this worker's
};

enum class WorkerOrder : uint8_t { kContinue, kCancel, kAbandon, kStop };

struct HeartbeatVerdict {
  std::string worker;
  WorkerOrder order = WorkerOrder::kContinue;
  bool current = false;  // the reported attempt is this worker's: progress and memory count
};

struct PollVerdict {
  std::string worker;
  bool stop = false;                      // the worker should exit
  std::optional<AttemptRef> undelivered;  // assigned, but the answer never arrived: answer it again
};

// Why an attempt is over without a Complete.
enum class AttemptEnd : uint8_t {
  kStopped,     // the worker confirmed an eviction, or died of it
  kWorkerDied,  // no fault of the job: killed from outside, gave up, host gone
  kSilent,      // lease and grace time ran out
  kDropped,     // the worker came back without it
  kCrashed,     // assertion, segmentation fault, unexpected exit code: the job's own doing
  kMemoryLimit,
};

struct PoolEvent {
  enum class Kind : uint8_t { kContactLost, kAttemptEnded };
  Kind kind = Kind::kContactLost;
  std::string worker;
  AttemptRef attempt;
  AttemptEnd end = AttemptEnd::kStopped;
  std::string detail;       // one sentence without a full stop
  std::string stderr_tail;  // kCrashed: the last lines the attempt wrote
};

class PoolBackend {
 public:
  virtual ~PoolBackend() = default;

  // Once, before anything else: knows the workers of an earlier daemon again.
  virtual absl::Status Start() = 0;
  // After Start: `worker` held this attempt when the daemon ended. `reported`: it had said that it runs it;
  // `cancelling`: it is to be stopped. False when that worker is known to be gone.
  virtual bool RestoreAttempt(const std::string& worker, const AttemptRef& attempt, bool reported,
                              bool cancelling) = 0;

  // From workers. UNAUTHENTICATED: unknown ticket or session. FAILED_PRECONDITION: wrong version.
  virtual absl::StatusOr<AttachGrant> Attach(const AttachClaim& claim) = 0;
  virtual absl::StatusOr<HeartbeatVerdict> Heartbeat(const std::string& session,
                                                     const std::optional<AttemptRef>& running,
                                                     uint64_t memory_bytes) = 0;
  virtual absl::StatusOr<PollVerdict> Poll(const std::string& session) = 0;
  // Whose session this is.
  virtual absl::StatusOr<std::string> WorkerOf(const std::string& session) = 0;

  // From the job manager. May `worker` take an attempt now?
  virtual bool CanTake(const std::string& worker) const = 0;
  // Requires CanTake.
  virtual void Assign(const std::string& worker, const AttemptRef& attempt) = 0;
  // The attempt completed; the worker is free.
  virtual void Release(const AttemptRef& attempt) = 0;
  // The attempt must end soon: by the heartbeat's reply first (`cancel`: complete as cancelled; else abandon
  // it), then by force. Ends in kAttemptEnded/kStopped or in Release. No-op when nobody holds it.
  virtual void Evict(const AttemptRef& attempt, bool cancel) = 0;

  virtual void Tick() = 0;
  virtual std::vector<PoolEvent> TakeEvents() = 0;

  // `worker` empty = the whole pool. NOT_FOUND.
  virtual absl::Status Drain(const std::string& worker) = 0;
  virtual absl::Status Resume(const std::string& worker) = 0;
  virtual bool draining() const = 0;
  // No new processes, idle workers are told to stop; busy ones are left as they are.
  virtual void BeginShutdown() = 0;

  virtual std::vector<WorkerInfo> Workers() const = 0;
};

}  // namespace sm89
