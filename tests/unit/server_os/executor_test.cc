#include "server/os/executor.h"

#include <gtest/gtest.h>

#include <atomic>
#include <vector>

namespace sm89 {
namespace {

TEST(Executor, RunsWhatItAcceptedInOrderBeforeItGoes) {
  std::vector<int> ran;
  {
    Executor executor(1, 100);
    for (int i = 0; i < 50; ++i) ASSERT_TRUE(executor.Post([&ran, i] { ran.push_back(i); }));
  }
  ASSERT_EQ(ran.size(), 50u);
  for (int i = 0; i < 50; ++i) EXPECT_EQ(ran[static_cast<size_t>(i)], i);
}

TEST(Executor, RefusesAFloodInsteadOfStoringIt) {
  Mutex mutex;
  CondVar changed;
  bool open = false;
  bool busy = false;
  std::atomic<int> ran = 0;
  Executor executor(1, 2);
  ASSERT_TRUE(executor.Post([&] {
    MutexLock lock(mutex);
    busy = true;
    changed.NotifyAll();
    while (!open) changed.Wait(mutex);
  }));
  {
    MutexLock lock(mutex);
    while (!busy) changed.Wait(mutex);
  }
  EXPECT_TRUE(executor.Post([&] { ++ran; }));
  EXPECT_TRUE(executor.Post([&] { ++ran; }));
  EXPECT_FALSE(executor.Post([&] { ++ran; }));
  MutexLock lock(mutex);
  open = true;
  changed.NotifyAll();
}

}  // namespace
}  // namespace sm89
