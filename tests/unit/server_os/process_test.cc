#include "server/os/process.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "server/os/file_store.h"
#include "server/os/mutex.h"
#include "tests/support/temp_dir.h"

namespace sm89 {
namespace {

using testing::TempDir;

// Waits for one exit callback.
class ExitBox {
 public:
  ExitCallback Callback() {
    return [this](const ProcessExit& exit) {
      MutexLock lock(mutex_);
      exit_ = exit;
      done_ = true;
      changed_.NotifyAll();
    };
  }
  ProcessExit Wait() {
    MutexLock lock(mutex_);
    while (!done_) changed_.Wait(mutex_);
    return exit_;
  }

 private:
  Mutex mutex_;
  CondVar changed_;
  bool done_ = false;
  ProcessExit exit_;
};

ProcessSpec Shell(const std::string& script) {
  ProcessSpec spec;
  spec.program = "/bin/sh";
  spec.args = {"-c", script};
  return spec;
}

class ProcessTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto launcher = MakeProcessLauncher();
    ASSERT_TRUE(launcher.ok()) << launcher.status();
    launcher_ = *std::move(launcher);
  }
  ProcessExit Run(const ProcessSpec& spec) {
    ExitBox box;
    auto process = launcher_->Start(spec, box.Callback());
    EXPECT_TRUE(process.ok()) << process.status();
    return box.Wait();
  }
  std::unique_ptr<ProcessLauncher> launcher_;
};

TEST_F(ProcessTest, ReportsExitCodeAndSignal) {
  EXPECT_TRUE(Run(Shell("exit 0")).success());
  const ProcessExit three = Run(Shell("exit 3"));
  EXPECT_EQ(three.code, 3);
  EXPECT_FALSE(three.success());
  EXPECT_EQ(DescribeExit(three), "exit code 3");
  const ProcessExit killed = Run(Shell("kill -SEGV $$"));
  EXPECT_EQ(killed.signal, SIGSEGV);
  EXPECT_FALSE(killed.success());
}

TEST_F(ProcessTest, AProgramThatIsNotThereIsAnError) {
  ProcessSpec spec;
  spec.program = "/nonexistent/program";
  EXPECT_EQ(launcher_->Start(spec, nullptr).status().code(), absl::StatusCode::kNotFound);
}

TEST_F(ProcessTest, ChildHasOnlyItsOwnEnvironmentDescriptorsAndOutput) {
  TempDir dir;
  ProcessSpec spec = Shell("echo \"$GIVEN:$HOME\"; ls /proc/self/fd | wc -l; echo oops >&2");
  spec.environment = {"GIVEN=yes", "PATH=/usr/bin:/bin"};
  spec.stdout_path = dir.File("out");
  spec.stderr_path = dir.File("err");
  auto leaked = PosixFileStore().Create(dir.File("leak"));
  ASSERT_TRUE(leaked.ok());
  ASSERT_TRUE(Run(spec).success());
  // ls sees 0, 1, 2 and the folder it lists.
  EXPECT_EQ(*ReadWholeFile(PosixFileStore(), dir.File("out"), 1000), "yes:\n4\n");
  EXPECT_EQ(*ReadWholeFile(PosixFileStore(), dir.File("err"), 1000), "oops\n");
}

TEST_F(ProcessTest, KillReachesTheWholeGroup) {
  TempDir dir;
  ProcessSpec spec = Shell("sleep 1000 & echo $!; wait");
  spec.environment = {"PATH=/usr/bin:/bin"};
  spec.stdout_path = dir.File("out");
  ExitBox box;
  auto process = launcher_->Start(spec, box.Callback());
  ASSERT_TRUE(process.ok());
  std::string grandchild;
  while (grandchild.empty() || grandchild.back() != '\n') {
    const auto text = ReadWholeFile(PosixFileStore(), dir.File("out"), 100);
    if (text.ok()) grandchild = *text;
  }
  (*process)->Kill();
  EXPECT_EQ(box.Wait().signal, SIGKILL);
  // The grandchild becomes a zombie or is gone; were it left running, this would hang until the test's limit.
  while (ProcessRssBytes(std::stoi(grandchild)).value_or(0) != 0) {
  }
  (*process)->Kill();  // after the end: nothing happens
}

TEST_F(ProcessTest, TerminateReachesAChildThatInheritedABlockedSignal) {
  sigset_t term;
  sigemptyset(&term);
  sigaddset(&term, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &term, nullptr);
  ProcessSpec spec = Shell("exec sleep 1000");
  spec.environment = {"PATH=/usr/bin:/bin"};
  ExitBox box;
  auto process = launcher_->Start(spec, box.Callback());
  ASSERT_TRUE(process.ok());
  (*process)->Terminate();
  EXPECT_EQ(box.Wait().signal, SIGTERM);
  pthread_sigmask(SIG_UNBLOCK, &term, nullptr);
}

TEST_F(ProcessTest, LimitsBind) {
  TempDir dir;
  ProcessSpec spec = Shell("while [ $(ulimit -v) = unlimited ]; do :; done; ulimit -v; ulimit -c");
  spec.environment = {"PATH=/usr/bin:/bin"};
  spec.stdout_path = dir.File("out");
  spec.address_space_bytes = uint64_t{512} << 20;
  ASSERT_TRUE(Run(spec).success());
  EXPECT_EQ(*ReadWholeFile(PosixFileStore(), dir.File("out"), 100), absl::StrCat(512 << 10, "\n0\n"));
}

TEST_F(ProcessTest, AnotherProcessWithTheSamePidIsNotSignalled) {
  ProcessSpec spec = Shell("exec sleep 1000");
  spec.environment = {"PATH=/usr/bin:/bin"};
  ExitBox box;
  auto process = launcher_->Start(spec, box.Callback());
  ASSERT_TRUE(process.ok());
  const pid_t pid = (*process)->pid();
  const auto ticks = ProcessStartTicks(pid);
  ASSERT_TRUE(ticks.ok()) << ticks.status();
  EXPECT_EQ(SignalProcessGroup(pid, *ticks + 1, SIGKILL).code(), absl::StatusCode::kNotFound);
  EXPECT_TRUE(SignalProcessGroup(pid, *ticks, SIGKILL).ok());
  EXPECT_EQ(box.Wait().signal, SIGKILL);
  EXPECT_EQ(ProcessStartTicks(pid).status().code(), absl::StatusCode::kNotFound);
}

TEST_F(ProcessTest, ManyChildrenAreAllReaped) {
  constexpr int kChildren = 50;
  Mutex mutex;
  CondVar changed;
  int ended = 0;
  for (int i = 0; i < kChildren; ++i) {
    auto process = launcher_->Start(Shell("exit 0"), [&](const ProcessExit& exit) {
      MutexLock lock(mutex);
      ended += exit.success() ? 1 : 0;
      changed.NotifyAll();
    });
    ASSERT_TRUE(process.ok()) << process.status();
  }
  MutexLock lock(mutex);
  while (ended < kChildren) changed.Wait(mutex);
}

}  // namespace
}  // namespace sm89
