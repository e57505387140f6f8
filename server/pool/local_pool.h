// Workers as processes on this machine, one a slot. A worker outlives the daemon: the next daemon knows it
// again by its stored session and waits the grace time for it before it starts another one in its slot.
//
// An attempt that must end (Evict) is asked to by the heartbeat's reply, then by SIGTERM, then by SIGKILL;
// its slot is free only when the worker confirmed or its process is gone.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "server/os/clock.h"
#include "server/os/file_store.h"
#include "server/os/id_source.h"
#include "server/os/mutex.h"
#include "server/os/process.h"
#include "server/pool/pool_backend.h"
#include "server/pool/process_probe.h"
#include "server/pool/session_store.h"

namespace sm89 {

struct PoolTiming {
  Duration heartbeat = std::chrono::milliseconds(250);
  Duration lease = std::chrono::seconds(10);          // silence after which contact counts as lost
  Duration grace = std::chrono::seconds(30);          // from then until the worker is killed
  Duration start_timeout = std::chrono::seconds(30);  // from the process to its attach
  Duration evict_term = std::chrono::milliseconds(400);
  Duration evict_kill = std::chrono::milliseconds(700);
  Duration backoff_min = std::chrono::milliseconds(200);
  Duration backoff_max = std::chrono::seconds(30);
  Duration healthy = std::chrono::seconds(10);  // a worker that lived so long restarts without back-off
};

struct LocalPoolOptions {
  uint32_t workers = 1;
  std::string program;                           // sm89-worker
  std::string connect;                           // "unix:/path/worker.sock"
  std::string stderr_dir;                        // one file a slot, of its present process
  std::string version;                           // what Attach requires
  uint64_t file_bytes_max = uint64_t{64} << 20;  // of a file that a worker writes: messages, large results
  Duration give_up = std::chrono::seconds(120);  // what a worker waits for a daemon that is away
  std::vector<std::string> environment;          // added to the worker's clean environment
  PoolTiming timing;
};

// How a worker process ended, for metrics.
enum class WorkerEnd : uint8_t { kNormal, kError, kSignal, kOutOfMemory, kKilledByUs };

// Called under the job manager's lock: quick, and no call back.
class PoolObserver {
 public:
  virtual ~PoolObserver() = default;
  virtual void OnWorkerStarted(bool replaces_another) = 0;
  virtual void OnWorkerEnded(WorkerEnd how) = 0;
  virtual void OnWorkerReattached() = 0;
  virtual void OnLeaseExpired() = 0;
};

struct LocalPoolDeps {
  const Clock& clock;
  ProcessLauncher& launcher;
  ProcessProbe& probe;
  FileStore& files;
  IdSource& ids;
  SessionStore& sessions;
  PoolObserver& observer;
  std::function<void()> wake;  // from any thread: Tick has something to do
};

inline constexpr uint32_t kLocalWorkersMax = 1024;
inline constexpr uint64_t kStderrTailBytes = 4096;

class LocalPool final : public PoolBackend {
 public:
  LocalPool(LocalPoolOptions options, LocalPoolDeps deps);
  ~LocalPool() override;

  absl::Status Start() override;
  bool RestoreAttempt(const std::string& worker, const AttemptRef& attempt, bool reported,
                      bool cancelling) override;
  absl::StatusOr<AttachGrant> Attach(const AttachClaim& claim) override;
  absl::StatusOr<HeartbeatVerdict> Heartbeat(const std::string& session,
                                             const std::optional<AttemptRef>& running,
                                             uint64_t memory_bytes) override;
  absl::StatusOr<PollVerdict> Poll(const std::string& session) override;
  absl::StatusOr<std::string> WorkerOf(const std::string& session) override;
  bool CanTake(const std::string& worker) const override;
  void Assign(const std::string& worker, const AttemptRef& attempt) override;
  void Release(const AttemptRef& attempt) override;
  void Evict(const AttemptRef& attempt, bool cancel) override;
  void Tick() override;
  std::vector<PoolEvent> TakeEvents() override { return std::exchange(events_, {}); }
  absl::Status Drain(const std::string& worker) override;
  absl::Status Resume(const std::string& worker) override;
  bool draining() const override { return draining_; }
  void BeginShutdown() override { shutting_down_ = true; }
  std::vector<WorkerInfo> Workers() const override;

 private:
  struct Eviction {
    bool cancel = false;
    SteadyTime since;
    bool term_sent = false;
  };
  struct Held {  // the attempt a slot holds
    AttemptRef key;
    bool reported = false;  // the worker has said that it runs it
    uint64_t stderr_offset = 0;
    std::optional<Eviction> eviction;
  };
  struct Health {
    SteadyTime spawned;
    SteadyTime last_contact;
    int64_t last_contact_unix_nanos = 0;
    SteadyTime not_before;  // kEmpty: no new process earlier
    SteadyTime next_probe;  // of a process that is no child of ours
    uint32_t quick_deaths = 0;
    bool lost = false;
    bool killed = false;  // by us; its exit is no failure of its own
  };
  enum class Phase : uint8_t { kEmpty, kSpawned, kAttached };
  struct Slot {
    WorkerSession record;
    Phase phase = Phase::kEmpty;
    std::unique_ptr<Process> process;  // null: not our child
    uint64_t generation = 0;           // of the process; notices about older ones are void
    bool ticket_spent = false;
    bool retiring = false;  // beyond options_.workers: ends when idle
    std::optional<Held> held;
    Health health;
    uint64_t memory_bytes = 0;
    uint64_t attempts_completed = 0;
  };
  // Written by the launcher's thread; outlives the pool when a callback is late.
  struct Inbox {
    struct Notice {
      size_t slot = 0;
      uint64_t generation = 0;
      ProcessExit exit;
    };
    Mutex mutex;
    std::vector<Notice> notices SM89_GUARDED_BY(mutex);
    std::function<void()> wake SM89_GUARDED_BY(mutex);
  };

  Slot* FindSession(const std::string& session);
  Slot* FindAttempt(const AttemptRef& attempt);
  Slot* FindWorker(const std::string& worker);
  const Slot* FindWorker(const std::string& worker) const;
  size_t IndexOf(const Slot& slot) const;
  std::string StderrPath(const Slot& slot) const;
  WorkerState StateOf(const Slot& slot) const;

  void Contact(Slot& slot);
  void EndAttempt(Slot& slot, AttemptEnd end, std::string detail, std::string stderr_tail);
  absl::StatusOr<AttachGrant> AttachByTicket(const AttachClaim& claim);
  absl::StatusOr<AttachGrant> AttachBySession(const AttachClaim& claim);
  AttachGrant Grant(const Slot& slot) const;
  void SaveRecord(const Slot& slot);

  void Restore(const WorkerSession& record);
  void TakeExits();
  void TickSlot(Slot& slot);
  void TickLease(Slot& slot);
  void TickEviction(Slot& slot);
  void Spawn(Slot& slot);
  ProcessSpec SpecFor(const Slot& slot, const std::string& ticket) const;
  void Signal(Slot& slot, int signal);
  void OnGone(Slot& slot, const std::optional<ProcessExit>& exit);
  void BackOff(Slot& slot);
  std::string StderrTail(const Slot& slot, uint64_t from) const;

  const LocalPoolOptions options_;
  const LocalPoolDeps deps_;
  std::vector<std::unique_ptr<Slot>> slots_;
  std::shared_ptr<Inbox> inbox_;
  std::vector<PoolEvent> events_;
  bool draining_ = false;
  bool shutting_down_ = false;
};

}  // namespace sm89
