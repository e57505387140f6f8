// A launcher whose children are what the test says they are. Thread-safe.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "server/os/mutex.h"
#include "server/os/process.h"

namespace sm89::testing {

class FakeProcessLauncher final : public ProcessLauncher {
 public:
  // Runs inside Start, in place of the program. An exit = it ended at once (the callback comes before Start
  // returns); nullopt = it goes on until End, Terminate or Kill.
  using Behaviour = std::function<std::optional<ProcessExit>(const ProcessSpec&)>;

  void SetBehaviour(Behaviour behaviour) {
    MutexLock lock(mutex_);
    behaviour_ = std::move(behaviour);
  }
  // The next starts fail with this; OK = they work again.
  void FailStarts(absl::Status status) {
    MutexLock lock(mutex_);
    start_error_ = std::move(status);
  }

  absl::StatusOr<std::unique_ptr<Process>> Start(const ProcessSpec& spec, ExitCallback on_exit) override {
    Behaviour behaviour;
    pid_t pid = 0;
    {
      MutexLock lock(mutex_);
      if (!start_error_.ok()) return start_error_;
      pid = next_pid_++;
      specs_.push_back(spec);
      running_[pid] = std::move(on_exit);
      behaviour = behaviour_;
    }
    if (behaviour) {
      if (const std::optional<ProcessExit> exit = behaviour(spec); exit.has_value()) End(pid, *exit);
    }
    return std::make_unique<Handle>(this, pid);
  }

  // The child ends by itself. False when it had ended before.
  bool End(pid_t pid, const ProcessExit& exit) {
    ExitCallback callback;
    {
      MutexLock lock(mutex_);
      const auto it = running_.find(pid);
      if (it == running_.end()) return false;
      callback = std::move(it->second);
      running_.erase(it);
    }
    if (callback) callback(exit);
    return true;
  }

  std::vector<pid_t> Running() {
    MutexLock lock(mutex_);
    std::vector<pid_t> pids;
    for (const auto& [pid, callback] : running_) pids.push_back(pid);
    return pids;
  }
  // Every spec ever started, in order.
  std::vector<ProcessSpec> Started() {
    MutexLock lock(mutex_);
    return specs_;
  }

 private:
  class Handle final : public Process {
   public:
    Handle(FakeProcessLauncher* launcher, pid_t pid) : launcher_(launcher), pid_(pid) {}
    pid_t pid() const override { return pid_; }
    void Terminate() override { launcher_->End(pid_, ProcessExit{0, 15, 0}); }
    void Kill() override { launcher_->End(pid_, ProcessExit{0, 9, 0}); }

   private:
    FakeProcessLauncher* launcher_;
    pid_t pid_;
  };

  Mutex mutex_;
  Behaviour behaviour_;
  absl::Status start_error_;
  pid_t next_pid_ = 1000;
  std::map<pid_t, ExitCallback> running_;
  std::vector<ProcessSpec> specs_;
};

}  // namespace sm89::testing
