#include "server/os/process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/os/errno_status.h"
#include "server/os/mutex.h"
#include "server/os/unique_fd.h"
#include "sim/base/assert.h"
#include "sim/base/status_macros.h"

namespace sm89 {
namespace {

// What handle and reaper share. `reaped` guards every signal: once set, the pid may belong to another
// process.
struct Child {
  pid_t pid = -1;
  Mutex mutex;
  bool reaped SM89_GUARDED_BY(mutex) = false;
};

class ChildHandle final : public Process {
 public:
  explicit ChildHandle(std::shared_ptr<Child> child) : child_(std::move(child)) {}
  pid_t pid() const override { return child_->pid; }
  void Terminate() override { Signal(SIGTERM); }
  void Kill() override { Signal(SIGKILL); }

 private:
  void Signal(int signal) {
    MutexLock lock(child_->mutex);
    if (!child_->reaped) kill(-child_->pid, signal);
  }
  std::shared_ptr<Child> child_;
};

// posix_spawn's two option objects, freed on every path.
class SpawnOptions {
 public:
  SpawnOptions() {
    SM89_ASSERT(posix_spawnattr_init(&attributes) == 0, "posix_spawnattr_init");
    SM89_ASSERT(posix_spawn_file_actions_init(&actions) == 0, "posix_spawn_file_actions_init");
  }
  ~SpawnOptions() {
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
  }
  SpawnOptions(const SpawnOptions&) = delete;
  SpawnOptions& operator=(const SpawnOptions&) = delete;

  // 0 or an error number.
  int Set(const ProcessSpec& spec) {
    sigset_t all;
    sigset_t none;
    sigfillset(&all);
    sigemptyset(&none);
    const short flags = POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK;
    int error = posix_spawnattr_setflags(&attributes, flags);
    if (error == 0) error = posix_spawnattr_setpgroup(&attributes, 0);
    if (error == 0) error = posix_spawnattr_setsigdefault(&attributes, &all);
    if (error == 0) error = posix_spawnattr_setsigmask(&attributes, &none);
    if (error == 0) {
      error = posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    }
    if (error == 0) error = AddOutput(STDOUT_FILENO, spec.stdout_path);
    if (error == 0) error = AddOutput(STDERR_FILENO, spec.stderr_path);
    if (error == 0) error = posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);
    return error;
  }

  posix_spawnattr_t attributes;
  posix_spawn_file_actions_t actions;

 private:
  int AddOutput(int fd, const std::string& path) {
    if (path.empty()) return posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", O_WRONLY, 0);
    return posix_spawn_file_actions_addopen(&actions, fd, path.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  }
};

std::vector<char*> Pointers(const std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  pointers.reserve(strings.size() + 1);
  for (const std::string& s : strings) pointers.push_back(const_cast<char*>(s.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

// posix_spawn cannot set limits, so they are set from outside once the program is in place: what it maps in
// those microseconds is its own text, and the limits bind everything after.
int SetLimits(pid_t pid, const ProcessSpec& spec) {
  const auto set = [pid](__rlimit_resource resource, uint64_t value) {
    const rlimit64 limit{value, value};
    return prlimit64(pid, resource, &limit, nullptr) == 0 ? 0 : errno;
  };
  int error = set(RLIMIT_CORE, 0);
  if (error == 0 && spec.address_space_bytes != 0) error = set(RLIMIT_AS, spec.address_space_bytes);
  if (error == 0 && spec.file_bytes != 0) error = set(RLIMIT_FSIZE, spec.file_bytes);
  if (error == 0 && spec.cpu_seconds != 0) error = set(RLIMIT_CPU, spec.cpu_seconds);
  return error == ESRCH ? 0 : error;  // it has ended already: its exit tells the rest
}

class PidfdLauncher final : public ProcessLauncher {
 public:
  explicit PidfdLauncher(UniqueFd wake) : wake_(std::move(wake)), thread_([this] { Reap(); }) {}

  ~PidfdLauncher() override {
    stopping_ = true;
    Wake();
    thread_.join();
  }

  absl::StatusOr<std::unique_ptr<Process>> Start(const ProcessSpec& spec, ExitCallback on_exit) override {
    SpawnOptions options;
    if (const int error = options.Set(spec); error != 0)
      return ErrnoStatus(error, "cannot prepare a process");
    std::vector<std::string> argv = {spec.program};
    argv.insert(argv.end(), spec.args.begin(), spec.args.end());
    auto child = std::make_shared<Child>();
    const int error = posix_spawn(&child->pid, spec.program.c_str(), &options.actions, &options.attributes,
                                  Pointers(argv).data(), Pointers(spec.environment).data());
    if (error != 0) return ErrnoStatus(error, absl::StrCat("cannot start ", spec.program));
    UniqueFd pidfd(static_cast<int>(syscall(SYS_pidfd_open, child->pid, 0)));
    const int pidfd_error = pidfd.valid() ? 0 : errno;
    const int limit_error = pidfd_error != 0 ? pidfd_error : SetLimits(child->pid, spec);
    if (limit_error != 0) {
      // Not watched yet, so nobody else reaps it: a child without its limits must not run.
      kill(-child->pid, SIGKILL);
      while (waitpid(child->pid, nullptr, 0) < 0 && errno == EINTR) {
      }
      return ErrnoStatus(limit_error, absl::StrCat("cannot watch or limit ", spec.program));
    }
    auto handle = std::make_unique<ChildHandle>(child);
    {
      MutexLock lock(mutex_);
      watched_.push_back(Watched{std::move(child), std::move(pidfd), std::move(on_exit)});
    }
    Wake();
    return handle;
  }

 private:
  struct Watched {
    std::shared_ptr<Child> child;
    UniqueFd pidfd;
    ExitCallback on_exit;
  };

  void Wake() {
    const uint64_t one = 1;
    // Can only fail when the counter is full, and then the thread is awake anyway.
    [[maybe_unused]] const ssize_t n = write(wake_.get(), &one, sizeof one);
  }

  void Reap() {
    while (!stopping_) {
      std::vector<pollfd> fds = {pollfd{wake_.get(), POLLIN, 0}};
      {
        MutexLock lock(mutex_);
        for (const Watched& w : watched_) fds.push_back(pollfd{w.pidfd.get(), POLLIN, 0});
      }
      if (poll(fds.data(), fds.size(), -1) < 0) continue;
      if (fds[0].revents != 0) {
        uint64_t drained = 0;
        [[maybe_unused]] const ssize_t n = read(wake_.get(), &drained, sizeof drained);
      }
      ReapEnded();
    }
  }

  void ReapEnded() {
    std::vector<std::pair<ExitCallback, ProcessExit>> ended;
    {
      MutexLock lock(mutex_);
      for (size_t i = 0; i < watched_.size();) {
        ProcessExit exit;
        if (!TryReap(*watched_[i].child, &exit)) {
          ++i;
          continue;
        }
        ended.emplace_back(std::move(watched_[i].on_exit), exit);
        watched_.erase(watched_.begin() + static_cast<std::ptrdiff_t>(i));
      }
    }
    for (const auto& [callback, exit] : ended) {
      if (callback) callback(exit);
    }
  }

  static bool TryReap(Child& child, ProcessExit* exit) {
    MutexLock lock(child.mutex);
    siginfo_t info{};
    const int waited = waitid(P_PID, static_cast<id_t>(child.pid), &info, WEXITED | WNOHANG | WNOWAIT);
    if (waited != 0 || info.si_pid != child.pid) return false;
    // Whatever it left behind in its group goes with it. Before the zombie is reaped: until then its number
    // cannot belong to anybody else.
    kill(-child.pid, SIGKILL);
    int status = 0;
    rusage usage{};
    SM89_ASSERT(wait4(child.pid, &status, 0, &usage) == child.pid, "a child that has ended can be reaped");
    child.reaped = true;
    exit->code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
    exit->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    exit->max_rss_bytes = static_cast<uint64_t>(usage.ru_maxrss) * 1024;
    return true;
  }

  UniqueFd wake_;
  std::atomic<bool> stopping_ = false;
  Mutex mutex_;
  std::vector<Watched> watched_ SM89_GUARDED_BY(mutex_);
  std::thread thread_;  // last: starts when everything above is there
};

}  // namespace

std::string DescribeExit(const ProcessExit& exit) {
  if (exit.signal == 0) return absl::StrCat("exit code ", exit.code);
  return absl::StrCat("killed by signal ", exit.signal, " (", sigdescr_np(exit.signal), ")");
}

absl::StatusOr<std::unique_ptr<ProcessLauncher>> MakeProcessLauncher() {
  UniqueFd wake(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!wake.valid()) return ErrnoStatus(errno, "cannot make an eventfd");
  return std::make_unique<PidfdLauncher>(std::move(wake));
}

}  // namespace sm89
