#include "client/watcher.h"

#include <chrono>

#include "client/backoff.h"

namespace sm89::client {
namespace {

// A stream that gave more than its snapshot, or lasted this long, was a working one: the time allowed for
// reconnecting starts anew after it.
constexpr std::chrono::seconds kGoodStream{5};

// Folds updates into the newest known job.
class Follower {
 public:
  Follower(const WatchSettings& settings, const WatchCallbacks& callbacks)
      : callbacks_(callbacks), sequence_(settings.from_sequence) {}

  // Answers whether to go on reading.
  bool Take(const v1::JobUpdate& update) {
    ++taken_;
    if (update.kind() == v1::JobUpdate::SERVER_DRAINING) return true;  // the stream's end follows
    // A snapshot is the state at hand, not an event: it may carry the number we already have.
    const bool snapshot = update.kind() == v1::JobUpdate::SNAPSHOT;
    const bool is_new = update.sequence() > sequence_ || !shown_any_;
    if (!snapshot && !is_new) return true;
    if (update.sequence() > sequence_) sequence_ = update.sequence();
    if (update.has_job()) job_ = update.job();
    if (update.has_progress()) *job_.mutable_progress() = update.progress();
    if (!is_new && !IsTerminal(job_.state())) return true;
    shown_any_ = true;
    go_on_ = callbacks_.on_update ? callbacks_.on_update(update) : true;
    return go_on_;
  }

  bool done() const { return !go_on_ || IsTerminal(job_.state()); }
  uint64_t sequence() const { return sequence_; }
  uint64_t taken() const { return taken_; }
  const v1::Job& job() const { return job_; }

 private:
  const WatchCallbacks& callbacks_;
  uint64_t sequence_;
  uint64_t taken_ = 0;
  v1::Job job_;
  bool shown_any_ = false;
  bool go_on_ = true;
};

}  // namespace

bool IsTerminal(v1::Job::State state) {
  return state == v1::Job::SUCCEEDED || state == v1::Job::FAILED || state == v1::Job::CANCELLED;
}

absl::StatusOr<v1::Job> WatchJob(Client& client, const WatchSettings& settings,
                                 const WatchCallbacks& callbacks) {
  Follower follower(settings, callbacks);
  // A server that was never there is given up sooner than one that went away.
  Backoff first_contact(client.options().retry_seconds);
  Backoff backoff(client.options().reconnect_seconds);
  while (true) {
    v1::WatchJobRequest request;
    request.set_name(settings.job);
    request.set_from_sequence(follower.sequence());
    request.set_min_interval_ms(settings.min_interval_ms);
    request.set_profile_rows(settings.profile_rows);
    const uint64_t taken_before = follower.taken();
    const auto opened = std::chrono::steady_clock::now();
    absl::Status status = client.ReadWatch(request, [&](const v1::JobUpdate& u) { return follower.Take(u); });
    if (follower.done()) return follower.job();
    if (client.options().stop.stop_requested()) return absl::CancelledError("interrupted");
    // An OK end before the terminal state is a server that is going away.
    if (status.ok()) status = absl::UnavailableError("the server ended the stream before the job ended");
    if (!absl::IsUnavailable(status)) return status;
    const bool lasted = std::chrono::steady_clock::now() - opened >= kGoodStream;
    if (lasted || follower.taken() > taken_before + 1) backoff.Reset();
    if (callbacks.on_reconnect) callbacks.on_reconnect(status);
    Backoff& waiting = follower.taken() == 0 ? first_contact : backoff;
    if (!waiting.Wait(client.options().stop)) {
      if (client.options().stop.stop_requested()) return absl::CancelledError("interrupted");
      return status;
    }
  }
}

}  // namespace sm89::client
