#include "server/os/child_run.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <thread>

#include "tests/support/fake_clock.h"
#include "tests/support/fake_process.h"
#include "tests/support/temp_dir.h"

namespace sm89 {
namespace {

using testing::FakeClock;
using testing::FakeProcessLauncher;

constexpr uint64_t kWallSeconds = 10;

TEST(ChildRun, GivesHowTheChildEnded) {
  FakeProcessLauncher launcher;
  FakeClock clock;
  ChildCancel cancel;
  launcher.SetBehaviour([](const ProcessSpec&) { return ProcessExit{3, 0, 0}; });
  const auto end = RunChild(launcher, clock, {}, kWallSeconds, cancel);
  ASSERT_TRUE(end.ok()) << end.status();
  EXPECT_EQ(end->kind, ChildEnd::Kind::kExited);
  EXPECT_EQ(end->exit.code, 3);
}

TEST(ChildRun, KillsAChildWhoseTimeIsOver) {
  FakeProcessLauncher launcher;
  FakeClock clock;
  ChildCancel cancel;
  std::thread time([&] {
    while (launcher.Running().empty()) std::this_thread::yield();
    while (!launcher.Running().empty()) {
      clock.Advance(std::chrono::seconds(kWallSeconds + 1));
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  });
  const auto end = RunChild(launcher, clock, {}, kWallSeconds, cancel);
  time.join();
  ASSERT_TRUE(end.ok()) << end.status();
  EXPECT_EQ(end->kind, ChildEnd::Kind::kTimedOut);
  EXPECT_EQ(end->exit.signal, SIGKILL);
}

TEST(ChildRun, KillsAChildWhenItIsCancelled) {
  FakeProcessLauncher launcher;
  FakeClock clock;
  ChildCancel cancel;
  std::thread other([&] {
    while (launcher.Running().empty()) std::this_thread::yield();
    cancel.Cancel();
  });
  const auto end = RunChild(launcher, clock, {}, kWallSeconds, cancel);
  other.join();
  ASSERT_TRUE(end.ok()) << end.status();
  EXPECT_EQ(end->kind, ChildEnd::Kind::kCancelled);
  EXPECT_TRUE(launcher.Running().empty());
}

TEST(ChildRun, SaysWhyAChildCannotBeStarted) {
  FakeProcessLauncher launcher;
  FakeClock clock;
  ChildCancel cancel;
  launcher.FailStarts(absl::NotFoundError("no such program"));
  EXPECT_EQ(RunChild(launcher, clock, {}, kWallSeconds, cancel).status().message(), "no such program");
}

TEST(ChildRun, LastWordsArePrintable) {
  testing::TempDir dir;
  EXPECT_EQ(StderrTail(PosixFileStore(), dir.File("absent")), "");
  ASSERT_TRUE(AtomicWriteFile(PosixFileStore(), dir.File("said"), "odd \x1b[31m words\n\n").ok());
  EXPECT_EQ(StderrTail(PosixFileStore(), dir.File("said")), ": odd ?[31m words");
}

}  // namespace
}  // namespace sm89
