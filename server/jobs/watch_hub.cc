#include "server/jobs/watch_hub.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "sim/base/assert.h"

namespace sm89 {
namespace {

// State changes a watcher may be behind before they are folded into one snapshot.
constexpr size_t kStatesMax = 8;

}  // namespace

Watcher::Watcher(const Clock& clock, WatchOptions options, std::function<void()> wake)
    : clock_(clock), options_(options), wake_(std::move(wake)) {}

bool Watcher::ProgressDue() const {
  return progress_.has_value() && clock_.SteadyNow() - progress_sent_ >= options_.min_interval;
}

std::optional<WatchUpdate> Watcher::Next() {
  MutexLock lock(mutex_);
  if (!states_.empty()) {
    WatchUpdate update = std::move(states_.front());
    states_.pop_front();
    const bool ends = update.kind == WatchUpdate::Kind::kServerDraining || IsTerminal(update.job->state);
    last_taken_ = last_taken_ || ends;
    return update;
  }
  if (last_taken_ || !ProgressDue()) return std::nullopt;
  std::optional<WatchUpdate> update = std::move(progress_);
  progress_.reset();
  progress_sent_ = clock_.SteadyNow();
  return update;
}

bool Watcher::finished() const {
  MutexLock lock(mutex_);
  return last_taken_ && states_.empty();
}

void Watcher::PushState(WatchUpdate update) {
  // Progress from before a change of state is stale by then; the count tells that it was there.
  if (progress_.has_value()) {
    update.coalesced += progress_->coalesced + 1;
    progress_.reset();
  }
  if (states_.size() >= kStatesMax) {
    for (const WatchUpdate& skipped : states_) update.coalesced += skipped.coalesced + 1;
    states_.clear();
    if (update.kind == WatchUpdate::Kind::kStateChange) update.kind = WatchUpdate::Kind::kSnapshot;
  }
  states_.push_back(std::move(update));
}

WatchHub::WatchHub(const Clock& clock, size_t watchers_max, Defer defer)
    : clock_(clock), watchers_max_(watchers_max), defer_(std::move(defer)) {}

absl::StatusOr<std::shared_ptr<Watcher>> WatchHub::Subscribe(
    const Job& job, const std::shared_ptr<const JobProgress>& progress, uint64_t sequence,
    const WatchOptions& options, std::function<void()> wake) {
  if (draining_) return absl::UnavailableError("the server is draining: watch again later");
  if (count_ >= watchers_max_) Tick();
  if (count_ >= watchers_max_) {
    return absl::ResourceExhaustedError(
        absl::StrCat("the server has its limit of ", watchers_max_, " watchers"));
  }
  std::shared_ptr<Watcher> watcher(new Watcher(clock_, options, std::move(wake)));
  {
    MutexLock lock(watcher->mutex_);
    const bool seen = options.from_sequence != 0 && options.from_sequence >= sequence;
    if (!seen) {
      WatchUpdate first;
      first.sequence = sequence;
      first.job = std::make_shared<const Job>(job);
      first.progress = progress;
      watcher->states_.push_back(std::move(first));
    }
    watcher->last_taken_ = seen && IsTerminal(job.state);
  }
  if (!IsTerminal(job.state)) {
    by_job_[job.id].push_back(watcher);
    ++count_;
  }
  return watcher;
}

void WatchHub::StateChanged(const Job& job) {
  const auto it = by_job_.find(job.id);
  if (it == by_job_.end()) return;
  const auto shared = std::make_shared<const Job>(job);
  for (const auto& watcher : Living(it->second)) {
    {
      MutexLock lock(watcher->mutex_);
      WatchUpdate update;
      update.kind = WatchUpdate::Kind::kStateChange;
      update.sequence = SequenceOf(job.revision, 0);
      update.job = shared;
      watcher->PushState(std::move(update));
    }
    Wake(watcher);
  }
  if (!IsTerminal(job.state)) return;
  count_ -= it->second.size();
  by_job_.erase(it);
}

void WatchHub::Progress(const std::string& job_id, uint64_t sequence,
                        std::shared_ptr<const JobProgress> progress) {
  SM89_ASSERT(progress != nullptr, "a report");
  const auto it = by_job_.find(job_id);
  if (it == by_job_.end()) return;
  for (const auto& watcher : Living(it->second)) {
    bool due = false;
    {
      MutexLock lock(watcher->mutex_);
      WatchUpdate update;
      update.kind = WatchUpdate::Kind::kProgress;
      update.sequence = sequence;
      update.progress = progress;
      if (watcher->progress_.has_value()) update.coalesced = watcher->progress_->coalesced + 1;
      watcher->progress_ = std::move(update);
      due = watcher->ProgressDue();
    }
    if (due) Wake(watcher);
  }
}

void WatchHub::Tick() {
  for (auto it = by_job_.begin(); it != by_job_.end();) {
    for (const auto& watcher : Living(it->second)) {
      bool due = false;
      {
        MutexLock lock(watcher->mutex_);
        due = watcher->ProgressDue();
      }
      if (due) Wake(watcher);
    }
    it = it->second.empty() ? by_job_.erase(it) : std::next(it);
  }
}

void WatchHub::Drain() {
  draining_ = true;
  for (auto& [job_id, list] : by_job_) {
    for (const auto& watcher : Living(list)) {
      {
        MutexLock lock(watcher->mutex_);
        WatchUpdate update;
        update.kind = WatchUpdate::Kind::kServerDraining;
        watcher->PushState(std::move(update));
      }
      Wake(watcher);
    }
  }
  by_job_.clear();
  count_ = 0;
}

void WatchHub::Wake(const std::shared_ptr<Watcher>& watcher) {
  defer_([watcher] { watcher->wake_(); });
}

std::vector<std::shared_ptr<Watcher>> WatchHub::Living(std::vector<std::weak_ptr<Watcher>>& list) {
  const size_t before = list.size();
  std::vector<std::shared_ptr<Watcher>> living;
  std::erase_if(list, [&living](const std::weak_ptr<Watcher>& entry) {
    std::shared_ptr<Watcher> watcher = entry.lock();
    if (watcher == nullptr) return true;
    living.push_back(std::move(watcher));
    return false;
  });
  count_ -= before - list.size();
  return living;
}

}  // namespace sm89
