#include "server/pool/local_pool.h"

#include <algorithm>
#include <array>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/log/log.h"
#include "sim/base/assert.h"
#include "sim/base/digest.h"
#include "sim/base/status_macros.h"

namespace sm89 {
namespace {

constexpr std::array<std::string_view, kWorkerStates> kWorkerStateNames = {
    "STARTING", "IDLE", "BUSY", "LOST_CONTACT", "DRAINING", "STOPPED", "BACKOFF"};

uint32_t Millis(Duration d) {
  return static_cast<uint32_t>(std::chrono::duration_cast<std::chrono::milliseconds>(d).count());
}

absl::Status UnknownSession() {
  return absl::UnauthenticatedError("unknown worker session: attach with a ticket of this daemon");
}

}  // namespace

std::string_view Name(WorkerState state) { return kWorkerStateNames[static_cast<size_t>(state)]; }

LocalPool::LocalPool(LocalPoolOptions options, LocalPoolDeps deps)
    : options_(std::move(options)), deps_(std::move(deps)), inbox_(std::make_shared<Inbox>()) {
  SM89_ASSERT(options_.workers <= kLocalWorkersMax, "checked with the server's configuration");
  MutexLock lock(inbox_->mutex);
  inbox_->wake = deps_.wake;
}

LocalPool::~LocalPool() {
  MutexLock lock(inbox_->mutex);
  inbox_->wake = nullptr;
}

absl::StatusOr<AttachGrant> LocalPool::Attach(const AttachClaim& claim) {
  if (claim.version != options_.version) {
    return absl::FailedPreconditionError(
        absl::StrCat("worker version '", claim.version, "' is not the daemon's '", options_.version, "'"));
  }
  return claim.session.empty() ? AttachByTicket(claim) : AttachBySession(claim);
}

absl::StatusOr<AttachGrant> LocalPool::AttachByTicket(const AttachClaim& claim) {
  const std::string hash = Sha256Hex(claim.ticket);
  const auto it = std::find_if(slots_.begin(), slots_.end(), [&](const std::unique_ptr<Slot>& s) {
    return s->phase != Phase::kEmpty && !s->ticket_spent && s->record.ticket_sha256 == hash;
  });
  if (claim.ticket.empty() || it == slots_.end()) {
    return absl::UnauthenticatedError("unknown or used worker ticket");
  }
  Slot& slot = **it;
  // The ticket stays good until the session is used: the answer to this call may be lost on its way.
  const std::string session = deps_.ids.NewId() + deps_.ids.NewId();
  slot.phase = Phase::kAttached;
  slot.record.session_sha256 = Sha256Hex(session);
  slot.record.host = claim.host;
  slot.record.version = claim.version;
  Contact(slot);
  SaveRecord(slot);
  Log(LogLevel::kInfo, "worker_attached", {{"worker_id", slot.record.worker}, {"pid", slot.record.pid}});
  AttachGrant grant = Grant(slot);
  grant.session = session;
  return grant;
}

absl::StatusOr<AttachGrant> LocalPool::AttachBySession(const AttachClaim& claim) {
  Slot* slot = FindSession(claim.session);
  if (slot == nullptr) return UnknownSession();
  Contact(*slot);
  slot->ticket_spent = true;
  AttachGrant grant = Grant(*slot);
  grant.session = claim.session;
  if (slot->held.has_value()) {
    if (claim.running == slot->held->key) {
      slot->held->reported = true;
      grant.keep_running = !slot->held->eviction.has_value() || slot->held->eviction->cancel;
    } else if (slot->held->reported) {
      EndAttempt(*slot, AttemptEnd::kDropped, "the worker attached again without the attempt", "");
    }
  }
  deps_.observer.OnWorkerReattached();
  Log(LogLevel::kInfo, "worker_reattached",
      {{"worker_id", slot->record.worker},
       {"job_id", slot->held.has_value() ? slot->held->key.job : std::string()},
       {"keep_running", grant.keep_running}});
  return grant;
}

AttachGrant LocalPool::Grant(const Slot& slot) const {
  AttachGrant grant;
  grant.worker = slot.record.worker;
  grant.heartbeat_ms = Millis(options_.timing.heartbeat);
  grant.lease_ms = Millis(options_.timing.lease);
  return grant;
}

absl::StatusOr<HeartbeatVerdict> LocalPool::Heartbeat(const std::string& session,
                                                      const std::optional<AttemptRef>& running,
                                                      uint64_t memory_bytes) {
  Slot* slot = FindSession(session);
  if (slot == nullptr) return UnknownSession();
  Contact(*slot);
  slot->ticket_spent = true;
  slot->memory_bytes = memory_bytes;
  HeartbeatVerdict verdict;
  verdict.worker = slot->record.worker;
  if (!running.has_value()) {
    // Between the poll's answer and the start of the work a worker still reports idle.
    if (slot->held.has_value() && slot->held->eviction.has_value()) {
      EndAttempt(*slot, AttemptEnd::kStopped, "the worker stopped", "");
    }
    if (shutting_down_ || slot->retiring) verdict.order = WorkerOrder::kStop;
    return verdict;
  }
  if (!slot->held.has_value() || slot->held->key != *running) {
    verdict.order = WorkerOrder::kAbandon;
    return verdict;
  }
  slot->held->reported = true;
  verdict.current = true;
  if (slot->held->eviction.has_value()) {
    verdict.order = slot->held->eviction->cancel ? WorkerOrder::kCancel : WorkerOrder::kAbandon;
  }
  return verdict;
}

absl::StatusOr<PollVerdict> LocalPool::Poll(const std::string& session) {
  Slot* slot = FindSession(session);
  if (slot == nullptr) return UnknownSession();
  Contact(*slot);
  slot->ticket_spent = true;
  PollVerdict verdict;
  verdict.worker = slot->record.worker;
  if (slot->held.has_value()) {
    if (slot->held->eviction.has_value()) {
      EndAttempt(*slot, AttemptEnd::kStopped, "the worker stopped", "");
    } else if (slot->held->reported) {
      EndAttempt(*slot, AttemptEnd::kDropped, "the worker asked for new work without completing", "");
    } else {
      verdict.undelivered = slot->held->key;
    }
  }
  verdict.stop = !slot->held.has_value() && (shutting_down_ || slot->retiring);
  return verdict;
}

absl::StatusOr<std::string> LocalPool::WorkerOf(const std::string& session) {
  const Slot* slot = FindSession(session);
  if (slot == nullptr) return UnknownSession();
  return slot->record.worker;
}

bool LocalPool::CanTake(const std::string& worker) const {
  const Slot* slot = FindWorker(worker);
  return slot != nullptr && StateOf(*slot) == WorkerState::kIdle && !draining_ && !shutting_down_;
}

void LocalPool::Assign(const std::string& worker, const AttemptRef& attempt) {
  SM89_ASSERT(CanTake(worker), "only an idle worker takes an attempt");
  Slot* slot = FindWorker(worker);
  Held held;
  held.key = attempt;
  const absl::StatusOr<uint64_t> size = deps_.files.Size(StderrPath(*slot));
  held.stderr_offset = size.ok() ? *size : 0;
  slot->held = std::move(held);
  // The lease of the attempt starts now, whatever came before.
  slot->health.last_contact = deps_.clock.SteadyNow();
}

void LocalPool::Release(const AttemptRef& attempt) {
  Slot* slot = FindAttempt(attempt);
  if (slot == nullptr) return;
  Contact(*slot);
  slot->held.reset();
  ++slot->attempts_completed;
}

void LocalPool::Evict(const AttemptRef& attempt, bool cancel) {
  Slot* slot = FindAttempt(attempt);
  if (slot == nullptr) return;
  if (slot->held->eviction.has_value()) {
    slot->held->eviction->cancel = slot->held->eviction->cancel && cancel;
    return;
  }
  slot->held->eviction = Eviction{cancel, deps_.clock.SteadyNow(), false};
}

absl::Status LocalPool::Drain(const std::string& worker) {
  if (worker.empty()) {
    draining_ = true;
    return absl::OkStatus();
  }
  Slot* slot = FindWorker(worker);
  if (slot == nullptr) return absl::NotFoundError(absl::StrCat("no workers/", worker));
  slot->record.draining = true;
  SaveRecord(*slot);
  return absl::OkStatus();
}

absl::Status LocalPool::Resume(const std::string& worker) {
  if (worker.empty()) {
    draining_ = false;
    return absl::OkStatus();
  }
  Slot* slot = FindWorker(worker);
  if (slot == nullptr) return absl::NotFoundError(absl::StrCat("no workers/", worker));
  slot->record.draining = false;
  SaveRecord(*slot);
  return absl::OkStatus();
}

std::vector<WorkerInfo> LocalPool::Workers() const {
  std::vector<WorkerInfo> workers;
  for (const auto& slot : slots_) {
    WorkerInfo info;
    info.id = slot->record.worker;
    info.state = StateOf(*slot);
    if (slot->held.has_value()) info.attempt = slot->held->key;
    info.pid = slot->phase == Phase::kEmpty ? 0 : slot->record.pid;
    info.host = slot->record.host;
    info.version = slot->record.version;
    info.start_unix_nanos = slot->record.start_unix_nanos;
    info.last_contact_unix_nanos = slot->health.last_contact_unix_nanos;
    info.memory_bytes = slot->memory_bytes;
    info.attempts_completed = slot->attempts_completed;
    info.restarts = slot->record.restarts;
    workers.push_back(std::move(info));
  }
  return workers;
}

WorkerState LocalPool::StateOf(const Slot& slot) const {
  if (slot.phase == Phase::kEmpty) {
    return slot.retiring || shutting_down_ ? WorkerState::kStopped : WorkerState::kBackoff;
  }
  if (slot.health.lost || slot.health.killed) return WorkerState::kLostContact;
  if (slot.phase == Phase::kSpawned) return WorkerState::kStarting;
  if (draining_ || slot.record.draining || slot.retiring) return WorkerState::kDraining;
  return slot.held.has_value() ? WorkerState::kBusy : WorkerState::kIdle;
}

LocalPool::Slot* LocalPool::FindSession(const std::string& session) {
  if (session.empty()) return nullptr;
  const std::string hash = Sha256Hex(session);
  for (const auto& slot : slots_) {
    if (slot->phase == Phase::kAttached && slot->record.session_sha256 == hash) return slot.get();
  }
  return nullptr;
}

LocalPool::Slot* LocalPool::FindAttempt(const AttemptRef& attempt) {
  for (const auto& slot : slots_) {
    if (slot->held.has_value() && slot->held->key == attempt) return slot.get();
  }
  return nullptr;
}

LocalPool::Slot* LocalPool::FindWorker(const std::string& worker) {
  return const_cast<Slot*>(std::as_const(*this).FindWorker(worker));
}

const LocalPool::Slot* LocalPool::FindWorker(const std::string& worker) const {
  for (const auto& slot : slots_) {
    if (slot->record.worker == worker) return slot.get();
  }
  return nullptr;
}

void LocalPool::Contact(Slot& slot) {
  slot.health.last_contact = deps_.clock.SteadyNow();
  slot.health.last_contact_unix_nanos = deps_.clock.WallUnixNanos();
  slot.health.lost = false;
}

void LocalPool::EndAttempt(Slot& slot, AttemptEnd end, std::string detail, std::string stderr_tail) {
  SM89_ASSERT(slot.held.has_value(), "only a held attempt ends");
  PoolEvent event;
  event.kind = PoolEvent::Kind::kAttemptEnded;
  event.worker = slot.record.worker;
  event.attempt = slot.held->key;
  // An attempt that was to be stopped is stopped, however its worker went about it.
  event.end = slot.held->eviction.has_value() ? AttemptEnd::kStopped : end;
  event.detail = std::move(detail);
  event.stderr_tail = std::move(stderr_tail);
  events_.push_back(std::move(event));
  slot.held.reset();
}

void LocalPool::SaveRecord(const Slot& slot) {
  const absl::Status saved = deps_.sessions.Save(slot.record);
  if (saved.ok()) return;
  // The worker is good as long as this daemon lives; the next one will not know it and refuse it.
  Log(LogLevel::kError, "worker_session_not_saved",
      {{"worker_id", slot.record.worker}, {"error", saved.message()}});
}

}  // namespace sm89
