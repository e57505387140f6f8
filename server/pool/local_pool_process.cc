// The half of LocalPool that deals with processes: start, watch, signal, know again.
#include <algorithm>
#include <csignal>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "server/log/log.h"
#include "server/pool/exit_class.h"
#include "server/pool/local_pool.h"
#include "sim/base/assert.h"
#include "sim/base/digest.h"
#include "sim/base/status_macros.h"

namespace sm89 {
namespace {

constexpr absl::string_view kWorkerPrefix = "local-";
constexpr Duration kProbeInterval = std::chrono::milliseconds(200);

WorkerEnd EndOf(const std::optional<ProcessExit>& exit, AttemptEnd end, bool by_us) {
  if (by_us) return WorkerEnd::kKilledByUs;
  if (end == AttemptEnd::kMemoryLimit) return WorkerEnd::kOutOfMemory;
  if (!exit.has_value() || exit->signal != 0) return WorkerEnd::kSignal;
  return exit->code == 0 ? WorkerEnd::kNormal : WorkerEnd::kError;
}

std::string WorkerId(size_t index) { return absl::StrCat(kWorkerPrefix, index); }

// The slot number in a stored worker id; false for anything else.
bool ParseWorkerId(absl::string_view id, uint32_t* index) {
  return absl::ConsumePrefix(&id, kWorkerPrefix) && absl::SimpleAtoi(id, index) && *index < kLocalWorkersMax;
}

}  // namespace

absl::Status LocalPool::Start() {
  SM89_ASSERT(slots_.empty(), "Start is called once");
  RETURN_IF_ERROR(deps_.files.MakeDirs(options_.stderr_dir));
  ASSIGN_OR_RETURN(const std::vector<WorkerSession> records, deps_.sessions.Load());
  const SteadyTime now = deps_.clock.SteadyNow();
  for (uint32_t i = 0; i < options_.workers; ++i) {
    slots_.push_back(std::make_unique<Slot>());
    slots_.back()->record.worker = WorkerId(i);
    slots_.back()->health.not_before = now;
  }
  for (const WorkerSession& record : records) Restore(record);
  return absl::OkStatus();
}

void LocalPool::Restore(const WorkerSession& record) {
  uint32_t index = 0;
  const bool alive = deps_.probe.Alive(record.pid, record.start_ticks);
  if (!ParseWorkerId(record.worker, &index) || (!alive && FindWorker(record.worker) == nullptr)) {
    const absl::Status erased = deps_.sessions.Erase(record.worker);
    if (!erased.ok()) Log(LogLevel::kWarn, "worker_session_not_erased", {{"error", erased.message()}});
    return;
  }
  Slot* slot = FindWorker(record.worker);
  if (slot == nullptr) {
    slots_.push_back(std::make_unique<Slot>());
    slot = slots_.back().get();
    slot->retiring = true;
  }
  slot->record = record;
  if (!alive) return;
  const SteadyTime now = deps_.clock.SteadyNow();
  slot->phase = record.session_sha256.empty() ? Phase::kSpawned : Phase::kAttached;
  slot->ticket_spent = !record.session_sha256.empty();
  slot->health.spawned = now;
  // It is silent until it attaches again: the grace time runs from here.
  slot->health.lost = slot->phase == Phase::kAttached;
  slot->health.last_contact = now - options_.timing.lease;
  Log(LogLevel::kInfo, "worker_awaited", {{"worker_id", record.worker}, {"pid", record.pid}});
}

bool LocalPool::RestoreAttempt(const std::string& worker, const AttemptRef& attempt, bool reported,
                               bool cancelling) {
  Slot* slot = FindWorker(worker);
  if (slot == nullptr || slot->phase != Phase::kAttached || slot->held.has_value()) return false;
  Held held;
  held.key = attempt;
  held.reported = reported;
  if (cancelling) held.eviction = Eviction{true, deps_.clock.SteadyNow(), false};
  slot->held = std::move(held);
  return true;
}

void LocalPool::Tick() {
  TakeExits();
  for (const auto& slot : slots_) TickSlot(*slot);
}

void LocalPool::TakeExits() {
  std::vector<Inbox::Notice> notices;
  {
    MutexLock lock(inbox_->mutex);
    notices.swap(inbox_->notices);
  }
  for (const Inbox::Notice& notice : notices) {
    Slot& slot = *slots_[notice.slot];
    if (slot.generation == notice.generation && slot.phase != Phase::kEmpty) OnGone(slot, notice.exit);
  }
}

void LocalPool::TickSlot(Slot& slot) {
  const SteadyTime now = deps_.clock.SteadyNow();
  if (slot.phase == Phase::kEmpty) {
    if (!slot.retiring && !shutting_down_ && now >= slot.health.not_before) Spawn(slot);
    return;
  }
  if (slot.process == nullptr && now >= slot.health.next_probe) {
    slot.health.next_probe = now + kProbeInterval;
    if (!deps_.probe.Alive(slot.record.pid, slot.record.start_ticks)) {
      OnGone(slot, std::nullopt);
      return;
    }
  }
  if (slot.health.killed) return;  // only its end is awaited
  if (slot.phase == Phase::kSpawned) {
    if (now - slot.health.spawned < options_.timing.start_timeout) return;
    Log(LogLevel::kWarn, "worker_start_timeout", {{"worker_id", slot.record.worker}});
    Signal(slot, SIGKILL);
    return;
  }
  TickLease(slot);
  TickEviction(slot);
}

void LocalPool::TickLease(Slot& slot) {
  const Duration silence = deps_.clock.SteadyNow() - slot.health.last_contact;
  if (silence >= options_.timing.lease && !slot.health.lost) {
    slot.health.lost = true;
    Log(LogLevel::kWarn, "worker_lost_contact",
        {{"worker_id", slot.record.worker},
         {"job_id", slot.held.has_value() ? slot.held->key.job : std::string()}});
    if (slot.held.has_value()) {
      PoolEvent event;
      event.worker = slot.record.worker;
      event.attempt = slot.held->key;
      event.detail = absl::StrCat("workers/", slot.record.worker, " is silent");
      events_.push_back(std::move(event));
    }
  }
  if (silence < options_.timing.lease + options_.timing.grace) return;
  Log(LogLevel::kWarn, "worker_killed_silent", {{"worker_id", slot.record.worker}});
  deps_.observer.OnLeaseExpired();
  if (slot.held.has_value()) {
    EndAttempt(slot, AttemptEnd::kSilent,
               absl::StrCat("workers/", slot.record.worker, " did not report again within the grace time"),
               "");
  }
  Signal(slot, SIGKILL);
}

void LocalPool::TickEviction(Slot& slot) {
  if (!slot.held.has_value() || !slot.held->eviction.has_value()) return;
  Eviction& eviction = *slot.held->eviction;
  const Duration waited = deps_.clock.SteadyNow() - eviction.since;
  if (waited >= options_.timing.evict_kill) {
    Signal(slot, SIGKILL);
  } else if (waited >= options_.timing.evict_term && !eviction.term_sent) {
    eviction.term_sent = true;
    Signal(slot, SIGTERM);
  }
}

void LocalPool::Spawn(Slot& slot) {
  const std::string ticket = deps_.ids.NewId() + deps_.ids.NewId();  // 160 random bits
  const absl::Status removed = deps_.files.Remove(StderrPath(slot));
  if (!removed.ok()) Log(LogLevel::kWarn, "worker_stderr_not_removed", {{"error", removed.message()}});
  const uint64_t generation = ++slot.generation;
  absl::StatusOr<std::unique_ptr<Process>> process = deps_.launcher.Start(
      SpecFor(slot, ticket), [inbox = inbox_, index = IndexOf(slot), generation](const ProcessExit& exit) {
        MutexLock lock(inbox->mutex);
        inbox->notices.push_back({index, generation, exit});
        if (inbox->wake) inbox->wake();
      });
  if (!process.ok()) {
    Log(LogLevel::kError, "worker_not_started",
        {{"worker_id", slot.record.worker}, {"error", process.status().message()}});
    BackOff(slot);
    return;
  }
  const bool first = slot.record.pid == 0;
  WorkerSession record;
  record.worker = slot.record.worker;
  record.draining = slot.record.draining;
  record.restarts = first ? 0 : slot.record.restarts + 1;
  record.ticket_sha256 = Sha256Hex(ticket);
  record.pid = (*process)->pid();
  // A process that has ended already has no start time; its exit notice is on its way.
  const absl::StatusOr<uint64_t> ticks = deps_.probe.StartTicks(record.pid);
  record.start_ticks = ticks.ok() ? *ticks : 0;
  record.start_unix_nanos = deps_.clock.WallUnixNanos();
  slot.record = std::move(record);
  slot.process = std::move(*process);
  slot.phase = Phase::kSpawned;
  slot.ticket_spent = false;
  slot.memory_bytes = 0;
  slot.health.spawned = deps_.clock.SteadyNow();
  slot.health.lost = false;
  slot.health.killed = false;
  SaveRecord(slot);
  deps_.observer.OnWorkerStarted(!first);
  Log(LogLevel::kInfo, "worker_started", {{"worker_id", slot.record.worker}, {"pid", slot.record.pid}});
}

ProcessSpec LocalPool::SpecFor(const Slot& slot, const std::string& ticket) const {
  ProcessSpec spec;
  spec.program = options_.program;
  const auto give_up = std::chrono::duration_cast<std::chrono::seconds>(options_.give_up).count();
  spec.args = {"run", "--connect", options_.connect, "--give-up-seconds", absl::StrCat(give_up)};
  spec.environment = options_.environment;
  // Not on the command line, which every user of the machine can read.
  spec.environment.push_back(absl::StrCat("SM89_WORKER_TICKET=", ticket));
  spec.stdout_path = StderrPath(slot);
  spec.stderr_path = StderrPath(slot);
  spec.file_bytes = options_.file_bytes_max;
  return spec;
}

void LocalPool::Signal(Slot& slot, int signal) {
  SM89_ASSERT(signal == SIGTERM || signal == SIGKILL, "workers get no other signals");
  if (signal == SIGKILL) slot.health.killed = true;
  if (slot.process == nullptr) {
    deps_.probe.Signal(slot.record.pid, slot.record.start_ticks, signal);
  } else if (signal == SIGKILL) {
    slot.process->Kill();
  } else {
    slot.process->Terminate();
  }
}

void LocalPool::OnGone(Slot& slot, const std::optional<ProcessExit>& exit) {
  SM89_ASSERT(slot.phase != Phase::kEmpty, "only a process ends");
  const std::string tail = StderrTail(slot, slot.held.has_value() ? slot.held->stderr_offset : 0);
  const ExitClass end = ClassifyExit(exit, tail);
  Log(LogLevel::kInfo, "worker_ended",
      {{"worker_id", slot.record.worker},
       {"pid", slot.record.pid},
       {"job_id", slot.held.has_value() ? slot.held->key.job : std::string()},
       {"detail", end.detail}});
  const bool stopped = slot.held.has_value() && slot.held->eviction.has_value();
  deps_.observer.OnWorkerEnded(EndOf(exit, end.end, stopped || slot.health.killed));
  if (slot.held.has_value()) EndAttempt(slot, end.end, end.detail, tail);
  const bool healthy = slot.phase == Phase::kAttached &&
                       deps_.clock.SteadyNow() - slot.health.spawned >= options_.timing.healthy;
  slot.phase = Phase::kEmpty;
  slot.process = nullptr;
  slot.memory_bytes = 0;
  if (stopped || healthy || slot.health.killed) {
    slot.health.quick_deaths = 0;
    slot.health.not_before = deps_.clock.SteadyNow();
  } else {
    BackOff(slot);
  }
  slot.health.lost = false;
  slot.health.killed = false;
  if (!slot.retiring) return;
  const absl::Status erased = deps_.sessions.Erase(slot.record.worker);
  if (!erased.ok()) Log(LogLevel::kWarn, "worker_session_not_erased", {{"error", erased.message()}});
}

void LocalPool::BackOff(Slot& slot) {
  constexpr uint32_t kDoublingsMax = 20;
  const uint32_t doublings = std::min(slot.health.quick_deaths, kDoublingsMax);
  const Duration wait = std::min<Duration>(options_.timing.backoff_min * (uint64_t{1} << doublings),
                                           options_.timing.backoff_max);
  ++slot.health.quick_deaths;
  slot.health.not_before = deps_.clock.SteadyNow() + wait;
}

std::string LocalPool::StderrTail(const Slot& slot, uint64_t from) const {
  const absl::StatusOr<std::unique_ptr<ReadableFile>> file = deps_.files.OpenRead(StderrPath(slot));
  if (!file.ok()) return "";
  const uint64_t size = (*file)->size();
  const uint64_t last = size > kStderrTailBytes ? size - kStderrTailBytes : 0;
  const absl::StatusOr<std::string> text = (*file)->Read(std::max(from, last), kStderrTailBytes);
  return text.ok() ? *text : "";
}

std::string LocalPool::StderrPath(const Slot& slot) const {
  return absl::StrCat(options_.stderr_dir, "/", slot.record.worker, ".log");
}

size_t LocalPool::IndexOf(const Slot& slot) const {
  const auto it = std::find_if(slots_.begin(), slots_.end(),
                               [&](const std::unique_ptr<Slot>& s) { return s.get() == &slot; });
  SM89_ASSERT(it != slots_.end(), "a slot of this pool");
  return static_cast<size_t>(it - slots_.begin());
}

}  // namespace sm89
