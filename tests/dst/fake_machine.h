// Processes of the simulated machine. They outlive the daemon, as real workers do.
#pragma once

#include <csignal>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "server/os/process.h"
#include "server/pool/process_probe.h"

namespace sm89::testing {

class FakeMachine final : public ProcessProbe {
 public:
  struct Child {
    uint64_t start_ticks = 0;
    std::string ticket;
    ExitCallback on_exit;  // empty once the daemon that started it is gone
    bool ignores_term = false;
  };

  // The launcher of one daemon's life.
  class Launcher final : public ProcessLauncher {
   public:
    explicit Launcher(FakeMachine* machine) : machine_(machine) {}
    absl::StatusOr<std::unique_ptr<Process>> Start(const ProcessSpec& spec, ExitCallback on_exit) override {
      return machine_->Start(spec, std::move(on_exit));
    }

   private:
    FakeMachine* machine_;
  };

  absl::StatusOr<uint64_t> StartTicks(int64_t pid) override {
    const auto it = children_.find(pid);
    if (it == children_.end()) return absl::NotFoundError("no such process");
    return it->second.start_ticks;
  }
  bool Alive(int64_t pid, uint64_t start_ticks) override {
    const auto it = children_.find(pid);
    return it != children_.end() && it->second.start_ticks == start_ticks;
  }
  void Signal(int64_t pid, uint64_t start_ticks, int signal) override {
    if (Alive(pid, start_ticks)) SignalChild(pid, signal);
  }

  void SignalChild(int64_t pid, int signal) {
    const auto it = children_.find(pid);
    if (it == children_.end() || (signal == SIGTERM && it->second.ignores_term)) return;
    End(pid, ProcessExit{0, signal, 0});
  }
  void End(int64_t pid, const ProcessExit& exit) {
    const auto it = children_.find(pid);
    if (it == children_.end()) return;
    const ExitCallback on_exit = std::move(it->second.on_exit);
    children_.erase(it);
    if (on_exit) on_exit(exit);
  }
  void ForgetDaemon() {
    for (auto& [pid, child] : children_) child.on_exit = nullptr;
  }
  std::map<int64_t, Child>& children() { return children_; }

 private:
  class Handle final : public Process {
   public:
    Handle(FakeMachine* machine, pid_t pid) : machine_(machine), pid_(pid) {}
    pid_t pid() const override { return pid_; }
    void Terminate() override { machine_->SignalChild(pid_, SIGTERM); }
    void Kill() override { machine_->SignalChild(pid_, SIGKILL); }

   private:
    FakeMachine* machine_;
    pid_t pid_;
  };

  std::unique_ptr<Process> Start(const ProcessSpec& spec, ExitCallback on_exit) {
    const pid_t pid = next_pid_++;
    Child child;
    child.start_ticks = static_cast<uint64_t>(pid) * 7;
    for (const std::string& variable : spec.environment) {
      constexpr char kTicket[] = "SM89_WORKER_TICKET=";
      if (variable.rfind(kTicket, 0) == 0) child.ticket = variable.substr(sizeof kTicket - 1);
    }
    child.on_exit = std::move(on_exit);
    children_[pid] = std::move(child);
    return std::make_unique<Handle>(this, pid);
  }

  std::map<int64_t, Child> children_;
  pid_t next_pid_ = 1000;
};

}  // namespace sm89::testing
