#include "server/jobs/watch_hub.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "tests/support/fake_clock.h"

namespace sm89 {
namespace {

class WatchHubTest : public ::testing::Test {
 protected:
  std::shared_ptr<Watcher> Watch(uint64_t from = 0, Duration interval = std::chrono::seconds(1)) {
    return *hub_.Subscribe(job_, nullptr, SequenceOf(job_.revision, count_), {from, interval},
                           [this] { ++wakes_; });
  }
  void Move(JobState state) {
    job_.state = state;
    ++job_.revision;
    count_ = 0;
    hub_.StateChanged(job_);
  }
  void Report(uint64_t cycle) {
    auto progress = std::make_shared<JobProgress>();
    progress->cycle = cycle;
    hub_.Progress(job_.id, SequenceOf(job_.revision, ++count_), std::move(progress));
  }

  testing::FakeClock clock_;
  int wakes_ = 0;
  WatchHub hub_{clock_, 3, [](const std::function<void()>& action) { action(); }};
  Job job_ = [] {
    Job job;
    job.id = "j";
    job.revision = 1;
    return job;
  }();
  uint32_t count_ = 0;
};

TEST_F(WatchHubTest, FirstTheWholeStateThenChangesThenTheEnd) {
  const auto watcher = Watch();
  EXPECT_EQ(watcher->Next()->kind, WatchUpdate::Kind::kSnapshot);
  EXPECT_FALSE(watcher->Next().has_value());
  Move(JobState::kRunning);
  EXPECT_EQ(wakes_, 1);
  EXPECT_EQ(watcher->Next()->job->state, JobState::kRunning);
  Move(JobState::kSucceeded);
  EXPECT_FALSE(watcher->finished());
  EXPECT_EQ(watcher->Next()->job->state, JobState::kSucceeded);
  EXPECT_TRUE(watcher->finished());
  EXPECT_EQ(hub_.watchers(), 0U);
}

TEST_F(WatchHubTest, ASlowReaderGetsTheLatestProgressOnly) {
  const auto watcher = Watch();
  watcher->Next();
  for (uint64_t cycle = 1; cycle <= 1000; ++cycle) Report(cycle);
  const auto update = watcher->Next();
  ASSERT_TRUE(update.has_value());
  EXPECT_EQ(update->progress->cycle, 1000U);
  EXPECT_EQ(update->coalesced, 999U);
  EXPECT_FALSE(watcher->Next().has_value());
}

TEST_F(WatchHubTest, ProgressKeepsItsDistance) {
  const auto watcher = Watch();
  watcher->Next();
  Report(1);
  EXPECT_TRUE(watcher->Next().has_value());
  Report(2);
  EXPECT_FALSE(watcher->Next().has_value());
  clock_.Advance(std::chrono::seconds(1));
  wakes_ = 0;
  hub_.Tick();
  EXPECT_EQ(wakes_, 1);
  EXPECT_EQ(watcher->Next()->progress->cycle, 2U);
}

TEST_F(WatchHubTest, ManyStateChangesFoldIntoOneSnapshot) {
  const auto watcher = Watch();
  for (int i = 0; i < 100; ++i) Move(i % 2 == 0 ? JobState::kRunning : JobState::kLostContact);
  size_t updates = 0;
  uint64_t accounted = 0;
  while (const auto update = watcher->Next()) {
    ++updates;
    accounted += 1 + update->coalesced;
  }
  EXPECT_LE(updates, 8U);
  EXPECT_EQ(accounted, 101U);
}

TEST_F(WatchHubTest, ResumesFromASequence) {
  Move(JobState::kRunning);
  const uint64_t seen = SequenceOf(job_.revision, 0);
  EXPECT_FALSE(Watch(seen)->Next().has_value());
  Move(JobState::kLostContact);
  const auto watcher = Watch(seen);
  EXPECT_EQ(watcher->Next()->job->state, JobState::kLostContact);
}

TEST_F(WatchHubTest, ATerminalJobThatWasSeenEndsAtOnce) {
  Move(JobState::kFailed);
  EXPECT_TRUE(Watch(SequenceOf(job_.revision, 0))->finished());
  const auto fresh = Watch();
  EXPECT_FALSE(fresh->finished());
  fresh->Next();
  EXPECT_TRUE(fresh->finished());
}

TEST_F(WatchHubTest, DrainIsTheLastUpdate) {
  const auto watcher = Watch();
  watcher->Next();
  Report(1);
  hub_.Drain();
  EXPECT_EQ(watcher->Next()->kind, WatchUpdate::Kind::kServerDraining);
  EXPECT_TRUE(watcher->finished());
  EXPECT_TRUE(absl::IsUnavailable(hub_.Subscribe(job_, nullptr, 1, {}, [] {}).status()));
}

TEST_F(WatchHubTest, WatchersAreBoundedAndDeadOnesDoNotCount) {
  std::vector<std::shared_ptr<Watcher>> watchers = {Watch(), Watch(), Watch()};
  EXPECT_TRUE(absl::IsResourceExhausted(hub_.Subscribe(job_, nullptr, 1, {}, [] {}).status()));
  watchers.pop_back();
  EXPECT_TRUE(hub_.Subscribe(job_, nullptr, 1, {}, [] {}).ok());
}

}  // namespace
}  // namespace sm89
