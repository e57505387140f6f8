#include "client/watcher.h"

#include <gtest/gtest.h>

#include "tests/unit/client/fake_server.h"

namespace sm89::client {
namespace {

v1::JobUpdate StateUpdate(uint64_t sequence, v1::Job::State state,
                          v1::JobUpdate::Kind kind = v1::JobUpdate::STATE_CHANGE) {
  v1::JobUpdate update;
  update.set_sequence(sequence);
  update.set_kind(kind);
  update.mutable_job()->set_name("jobs/a");
  update.mutable_job()->set_state(state);
  return update;
}

v1::JobUpdate ProgressUpdate(uint64_t sequence, uint64_t cycle) {
  v1::JobUpdate update;
  update.set_sequence(sequence);
  update.set_kind(v1::JobUpdate::PROGRESS);
  update.mutable_progress()->set_cycle(cycle);
  return update;
}

class WatcherTest : public ::testing::Test {
 protected:
  WatcherTest() {
    ClientOptions options;
    options.address = server_.address();
    options.reconnect_seconds = 20;
    client_ = Client::Create(options).value();
    settings_.job = "jobs/a";
    callbacks_.on_update = [this](const v1::JobUpdate& update) {
      seen_.push_back(update.sequence());
      return seen_.size() < stop_after_;
    };
    callbacks_.on_reconnect = [this](const absl::Status&) { ++reconnects_; };
  }

  FakeServer server_;
  std::unique_ptr<Client> client_;
  WatchSettings settings_;
  WatchCallbacks callbacks_;
  std::vector<uint64_t> seen_;
  size_t stop_after_ = 1000;
  int reconnects_ = 0;
};

TEST_F(WatcherTest, FollowsToTheTerminalState) {
  server_.state().watches = {
      {{StateUpdate(1, v1::Job::QUEUED, v1::JobUpdate::SNAPSHOT), StateUpdate(2, v1::Job::RUNNING),
        ProgressUpdate(3, 500), StateUpdate(4, v1::Job::SUCCEEDED)},
       absl::OkStatus()}};
  const auto job = WatchJob(*client_, settings_, callbacks_);
  ASSERT_TRUE(job.ok()) << job.status();
  EXPECT_EQ(job->state(), v1::Job::SUCCEEDED);
  EXPECT_EQ(seen_, (std::vector<uint64_t>{1, 2, 3, 4}));
  EXPECT_EQ(reconnects_, 0);
}

TEST_F(WatcherTest, ResumesFromTheLastSequenceWithoutRepeating) {
  server_.state().watches = {
      {{StateUpdate(1, v1::Job::QUEUED, v1::JobUpdate::SNAPSHOT), StateUpdate(5, v1::Job::RUNNING)},
       absl::UnavailableError("gone")},
      {{StateUpdate(5, v1::Job::RUNNING, v1::JobUpdate::SNAPSHOT), StateUpdate(5, v1::Job::RUNNING),
        ProgressUpdate(6, 10), StateUpdate(7, v1::Job::FAILED)},
       absl::OkStatus()}};
  const auto job = WatchJob(*client_, settings_, callbacks_);
  ASSERT_TRUE(job.ok()) << job.status();
  EXPECT_EQ(job->state(), v1::Job::FAILED);
  EXPECT_EQ(seen_, (std::vector<uint64_t>{1, 5, 6, 7}));
  EXPECT_EQ(reconnects_, 1);
  ASSERT_EQ(server_.state().watch_requests.size(), 2u);
  EXPECT_EQ(server_.state().watch_requests[1].from_sequence(), 5u);
}

TEST_F(WatcherTest, AStreamThatEndsEarlyIsOpenedAgain) {
  v1::JobUpdate draining;
  draining.set_kind(v1::JobUpdate::SERVER_DRAINING);
  server_.state().watches = {
      {{StateUpdate(1, v1::Job::RUNNING, v1::JobUpdate::SNAPSHOT), draining}, absl::OkStatus()},
      {{StateUpdate(2, v1::Job::CANCELLED, v1::JobUpdate::SNAPSHOT)}, absl::OkStatus()}};
  const auto job = WatchJob(*client_, settings_, callbacks_);
  ASSERT_TRUE(job.ok()) << job.status();
  EXPECT_EQ(job->state(), v1::Job::CANCELLED);
  EXPECT_EQ(reconnects_, 1);
}

TEST_F(WatcherTest, AStreamThatTheServerCancelsIsOpenedAgain) {
  server_.state().watches = {
      {{StateUpdate(1, v1::Job::RUNNING, v1::JobUpdate::SNAPSHOT)}, absl::CancelledError("shutting down")},
      {{StateUpdate(2, v1::Job::SUCCEEDED, v1::JobUpdate::SNAPSHOT)}, absl::OkStatus()}};
  const auto job = WatchJob(*client_, settings_, callbacks_);
  ASSERT_TRUE(job.ok()) << job.status();
  EXPECT_EQ(job->state(), v1::Job::SUCCEEDED);
  EXPECT_EQ(reconnects_, 1);
}

TEST_F(WatcherTest, AJobThatHasEndedAlreadyIsShownOnce) {
  settings_.from_sequence = 9;
  server_.state().watches = {
      {{StateUpdate(9, v1::Job::SUCCEEDED, v1::JobUpdate::SNAPSHOT)}, absl::OkStatus()}};
  const auto job = WatchJob(*client_, settings_, callbacks_);
  ASSERT_TRUE(job.ok()) << job.status();
  EXPECT_EQ(job->state(), v1::Job::SUCCEEDED);
  EXPECT_EQ(seen_.size(), 1u);
}

TEST_F(WatcherTest, OtherErrorsEndTheWatch) {
  const auto job = WatchJob(*client_, settings_, callbacks_);  // the fake knows no watch: NOT_FOUND
  EXPECT_TRUE(absl::IsNotFound(job.status()));
  EXPECT_EQ(reconnects_, 0);
}

TEST_F(WatcherTest, TheCallbackCanEndIt) {
  stop_after_ = 1;
  server_.state().watches = {
      {{StateUpdate(1, v1::Job::RUNNING, v1::JobUpdate::SNAPSHOT), ProgressUpdate(2, 1)}, absl::OkStatus()}};
  const auto job = WatchJob(*client_, settings_, callbacks_);
  ASSERT_TRUE(job.ok());
  EXPECT_EQ(job->state(), v1::Job::RUNNING);
  EXPECT_EQ(seen_.size(), 1u);
}

}  // namespace
}  // namespace sm89::client
