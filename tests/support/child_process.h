// Programs under test: started with their output in files, watched, signalled, waited for. Every wait is
// bounded.
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

extern char** environ;

namespace sm89::testing {

inline std::string ReadFileText(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

// Polls until `done` is true; false when `seconds` are over.
inline bool WaitUntil(double seconds, const std::function<bool()>& done) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  while (!done()) {
    if (std::chrono::steady_clock::now() >= end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return true;
}

class ChildProcess {
 public:
  struct Spec {
    std::vector<std::string> argv;                   // [0] is the program's path
    std::string out_path;                            // appended to
    std::string err_path;                            // may be the same
    std::map<std::string, std::string> environment;  // on top of ours; "" removes
  };

  explicit ChildProcess(const Spec& spec) {
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    constexpr int kAppend = O_WRONLY | O_CREAT | O_APPEND;
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, spec.out_path.c_str(), kAppend, 0600);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, spec.err_path.c_str(), kAppend, 0600);
    std::vector<std::string> variables = Environment(spec.environment);
    std::vector<char*> argv = Pointers(spec.argv);
    std::vector<char*> envp = Pointers(variables);
    if (posix_spawn(&pid_, argv[0], &actions, nullptr, argv.data(), envp.data()) != 0) pid_ = -1;
    posix_spawn_file_actions_destroy(&actions);
  }
  ~ChildProcess() {
    if (pid_ <= 0 || status_.has_value()) return;
    Signal(SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  bool started() const { return pid_ > 0; }
  pid_t pid() const { return pid_; }
  void Signal(int signal) const {
    if (pid_ > 0 && !status_.has_value()) kill(pid_, signal);
  }
  bool Ended() {
    if (pid_ <= 0 || status_.has_value()) return true;
    int status = 0;
    if (waitpid(pid_, &status, WNOHANG) == pid_) status_ = status;
    return status_.has_value();
  }
  bool WaitEnded(double seconds) {
    return WaitUntil(seconds, [this] { return Ended(); });
  }
  // Exit code; 128 + signal as shells say it; -1 while it runs or when it never started.
  int exit_code() const {
    if (!status_.has_value()) return -1;
    return WIFEXITED(*status_) ? WEXITSTATUS(*status_) : 128 + WTERMSIG(*status_);
  }

 private:
  static std::vector<std::string> Environment(const std::map<std::string, std::string>& changes) {
    std::map<std::string, std::string> all;
    for (char** entry = environ; *entry != nullptr; ++entry) {
      const std::string text(*entry);
      const size_t equals = text.find('=');
      if (equals != std::string::npos) all[text.substr(0, equals)] = text.substr(equals + 1);
    }
    for (const auto& [name, value] : changes) {
      if (value.empty()) {
        all.erase(name);
      } else {
        all[name] = value;
      }
    }
    std::vector<std::string> variables;
    for (const auto& [name, value] : all) {
      std::string variable = name;
      variable.append("=").append(value);
      variables.push_back(std::move(variable));
    }
    return variables;
  }
  static std::vector<char*> Pointers(const std::vector<std::string>& texts) {
    std::vector<char*> pointers;
    for (const std::string& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
    pointers.push_back(nullptr);
    return pointers;
  }

  pid_t pid_ = -1;
  std::optional<int> status_;
};

struct ProgramResult {
  int exit_code = -1;  // -1: did not end in time (and was killed)
  std::string out;
  std::string err;
};

// Runs a program to its end. `scratch`: a folder for its output.
inline ProgramResult RunProgram(const std::vector<std::string>& argv, const std::string& scratch,
                                const std::map<std::string, std::string>& environment = {},
                                double timeout_seconds = 120) {
  static std::atomic<int> count = 0;  // tests run programs from several threads
  const std::string base = scratch + "/run-" + std::to_string(getpid()) + "-" + std::to_string(++count);
  ProgramResult result;
  {
    ChildProcess child({argv, base + ".out", base + ".err", environment});
    child.WaitEnded(timeout_seconds);
    result.exit_code = child.exit_code();
  }
  result.out = ReadFileText(base + ".out");
  result.err = ReadFileText(base + ".err");
  return result;
}

}  // namespace sm89::testing
