// A real daemon with real workers in a temporary folder, on ports that the system chooses.
#pragma once

#include <dirent.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/child_process.h"
#include "tests/support/temp_dir.h"

namespace sm89::testing {

struct DaemonOptions {
  int workers = 2;
  std::vector<std::string> flags;                  // "--lease-ms=1000"
  std::map<std::string, std::string> environment;  // {"SM89_WORKER_FAULT", "slow@0"}
  std::string data_dir;                            // empty = in the fixture's own folder
};

class DaemonFixture {
 public:
  explicit DaemonFixture(DaemonOptions options = {}) : options_(std::move(options)) {
    if (options_.data_dir.empty()) options_.data_dir = temp_.File("data");
  }
  ~DaemonFixture() {
    if (process_ != nullptr) KillNow();
    KillWorkers();
  }
  DaemonFixture(const DaemonFixture&) = delete;
  DaemonFixture& operator=(const DaemonFixture&) = delete;

  static std::string Program(const std::string& name) { return std::string(SM89_BIN_DIR) + "/" + name; }
  // Integration tests need the programs; a build of the tests alone has none.
  static bool Available() {
    for (const char* name : {"sm89d", "sm89-worker", "sm89"}) {
      if (access(Program(name).c_str(), X_OK) != 0) return false;
    }
    return true;
  }

  // Starts it and waits until it serves. After the first time at the same addresses.
  ::testing::AssertionResult Start() {
    Launch();
    if (!process_->started()) return ::testing::AssertionFailure() << "sm89d cannot be started";
    const bool ready = WaitUntil(kStartSeconds, [this] { return process_->Ended() || ReadReady(); });
    if (ready && !process_->Ended()) return ::testing::AssertionSuccess();
    return ::testing::AssertionFailure() << "sm89d is not ready (exit code " << process_->exit_code() << ")\n"
                                         << log();
  }
  // Starts it without waiting, for tests in which it must refuse to start.
  void Launch() {
    std::remove(ReadyPath().c_str());
    process_ = std::make_unique<ChildProcess>(Spec());
  }
  // SIGTERM and wait for the end.
  ::testing::AssertionResult Stop(double seconds = 60) {
    process_->Signal(SIGTERM);
    if (!process_->WaitEnded(seconds))
      return ::testing::AssertionFailure() << "sm89d does not end\n" << log();
    const int code = process_->exit_code();
    process_.reset();
    if (code == 0) return ::testing::AssertionSuccess();
    return ::testing::AssertionFailure() << "sm89d ended with " << code << "\n" << log();
  }
  // SIGKILL. The workers live on.
  void KillNow() {
    process_->Signal(SIGKILL);
    process_->WaitEnded(kStartSeconds);
    process_.reset();
  }
  void Signal(int signal) { process_->Signal(signal); }
  ChildProcess& process() { return *process_; }

  const std::string& address() const { return grpc_; }
  const std::string& metrics_address() const { return metrics_; }
  const std::string& data_dir() const { return options_.data_dir; }
  // A folder for the test's own files, gone at the end.
  std::string File(const std::string& name) const { return temp_.File(name); }
  std::string log() const { return ReadFileText(LogPath()); }

  // The command line client against this daemon.
  ProgramResult Cli(std::vector<std::string> args, double timeout_seconds = 120) const {
    args.insert(args.begin(), Program("sm89"));
    return RunProgram(
        args, temp_.path(),
        {{"SM89_ADDRESS", grpc_}, {"HOME", temp_.path()}, {"XDG_CONFIG_HOME", ""}, {"XDG_STATE_HOME", ""}},
        timeout_seconds);
  }

 private:
  static constexpr double kStartSeconds = 60;

  ChildProcess::Spec Spec() const {
    std::vector<std::string> argv = {Program("sm89d")};
    argv.insert(argv.end(), options_.flags.begin(), options_.flags.end());
    // The test's own flag wins.
    const auto add = [&](const std::string& flag, const std::string& value) {
      for (const std::string& given : options_.flags) {
        if (given.rfind(flag + "=", 0) == 0) return;
      }
      argv.push_back(flag + "=" + value);
    };
    add("--data-dir", options_.data_dir);
    add("--listen-address", grpc_.empty() ? "127.0.0.1:0" : grpc_);
    add("--metrics-address", metrics_.empty() ? "127.0.0.1:0" : metrics_);
    add("--workers", std::to_string(options_.workers));
    add("--min-free-bytes", "0");
    return {argv, LogPath(), LogPath(), options_.environment};
  }
  std::string LogPath() const { return temp_.File("sm89d.log"); }
  std::string ReadyPath() const { return options_.data_dir + "/ready.json"; }

  bool ReadReady() {
    const auto ready = nlohmann::json::parse(ReadFileText(ReadyPath()), nullptr, /*allow_exceptions=*/false);
    if (!ready.is_object() || ready.value("pid", 0) != process_->pid()) return false;
    grpc_ = ready.value("grpc", "");
    metrics_ = ready.value("metrics", "");
    return true;
  }

  // Workers of a killed daemon wait for the next one; after the test there is none. Ours are those whose
  // command line or environment names our data folder.
  void KillWorkers() const {
    DIR* proc = opendir("/proc");
    if (proc == nullptr) return;
    while (const dirent* entry = readdir(proc)) {
      const pid_t pid = std::atoi(entry->d_name);
      if (pid <= 1 || pid == getpid()) continue;
      const std::string base = std::string("/proc/") + entry->d_name;
      const bool is_worker = ReadFileText(base + "/comm").rfind("sm89-worker", 0) == 0;
      const std::string words = ReadFileText(base + "/cmdline") + ReadFileText(base + "/environ");
      if (is_worker && words.find(options_.data_dir) != std::string::npos) kill(pid, SIGKILL);
    }
    closedir(proc);
  }

  TempDir temp_;
  DaemonOptions options_;
  std::unique_ptr<ChildProcess> process_;
  std::string grpc_;
  std::string metrics_;
};

}  // namespace sm89::testing
