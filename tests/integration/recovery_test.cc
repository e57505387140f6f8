// Accept 4: fifty jobs of five clients, some cancelled, a worker killed, the daemon killed and started again:
// every job is accounted for.
#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "client/checksum.h"
#include "client/result_reader.h"
#include "tests/integration/service_test.h"

namespace sm89::testing {
namespace {

constexpr int kClients = 5;
constexpr int kJobsEach = 10;
constexpr int kCancelledEach = 2;

struct Book {
  std::mutex mutex;
  std::map<std::string, std::string> request_of;  // job -> request id
  std::set<std::string> cancelled;                // CancelJob was answered
};

class RecoveryTest : public ServiceTest {
 protected:
  // One user: submits, cancels two jobs, waits for all of them, whatever happens meanwhile.
  void UseService(const DaemonFixture& daemon, const std::string& trace, Book& book,
                  std::vector<std::string>& faults) {
    const auto fault = [&](const std::string& what, const absl::Status& status) {
      const std::lock_guard<std::mutex> lock(book.mutex);
      faults.push_back(what + ": " + status.ToString());
    };
    const auto client = Connect(daemon);
    std::vector<std::string> mine;
    for (int i = 0; i < kJobsEach; ++i) {
      const std::string request_id = client::NewUuid();
      const auto job = Submit(*client, trace, request_id);
      if (!job.ok()) return fault("submit", job.status());
      mine.push_back(job->name());
      const std::lock_guard<std::mutex> lock(book.mutex);
      book.request_of[job->name()] = request_id;
    }
    for (int i = 0; i < kCancelledEach; ++i) {
      v1::CancelJobRequest request;
      request.set_name(mine[static_cast<size_t>(3 + 5 * i)]);
      request.set_reason("not needed");
      const auto job = client->CancelJob(request);
      if (!job.ok()) return fault("cancel", job.status());
      const std::lock_guard<std::mutex> lock(book.mutex);
      book.cancelled.insert(request.name());
    }
    for (const std::string& name : mine) {
      const auto job = client::WatchJob(*client, {name, 0, 0}, {});
      if (!job.ok()) return fault("watch " + name, job.status());
    }
  }

  static size_t Ended(client::Client& client) {
    v1::ListJobsRequest request;
    request.set_page_size(1000);
    const auto answer = client.ListJobs(request);
    if (!answer.ok()) return 0;
    return static_cast<size_t>(
        std::count_if(answer->jobs().begin(), answer->jobs().end(),
                      [](const v1::Job& job) { return client::IsTerminal(job.state()); }));
  }

  // SIGKILL for a worker that has a job; its name, empty when none was found.
  static std::string KillABusyWorker(client::Client& client) {
    std::string killed;
    WaitUntil(60, [&] {
      const auto answer = client.ListWorkers();
      if (!answer.ok()) return false;
      for (const v1::Worker& worker : answer->workers()) {
        if (worker.job().empty() || worker.pid() <= 1) continue;
        if (kill(static_cast<pid_t>(worker.pid()), SIGKILL) != 0) continue;
        killed = worker.name();
        return true;
      }
      return false;
    });
    return killed;
  }

  // The books of the service against ours.
  static void Account(client::Client& client, const Book& book) {
    v1::ListJobsRequest request;
    request.set_page_size(1000);
    const auto answer = client.ListJobs(request);
    ASSERT_TRUE(answer.ok()) << answer.status();
    std::set<std::string> listed;
    std::string first_report;
    int succeeded = 0;
    for (const v1::Job& listed_job : answer->jobs()) {
      EXPECT_TRUE(listed.insert(listed_job.name()).second) << listed_job.name() << " is listed twice";
      EXPECT_TRUE(book.request_of.count(listed_job.name()) == 1)
          << listed_job.name() << " was never submitted";
      const auto job = Get(client, listed_job.name());
      ASSERT_TRUE(job.ok()) << job.status();
      const auto successes =
          std::count_if(job->events().begin(), job->events().end(),
                        [](const v1::JobEvent& event) { return event.state() == v1::Job::SUCCEEDED; });
      switch (job->state()) {
        case v1::Job::SUCCEEDED: {
          ++succeeded;
          EXPECT_EQ(successes, 1) << job->name();
          client::StringSink report;
          const auto result = client::FetchResult(client, job->name(), {{"report.json", &report}});
          ASSERT_TRUE(result.ok()) << job->name() << ": " << result.status();
          if (first_report.empty()) first_report = report.text();
          EXPECT_EQ(report.text(), first_report) << job->name() << ": same question, other answer";
          break;
        }
        case v1::Job::CANCELLED:
          EXPECT_EQ(book.cancelled.count(job->name()), 1u) << job->name() << " was not cancelled by anybody";
          EXPECT_EQ(successes, 0) << job->name();
          break;
        case v1::Job::FAILED:
          EXPECT_FALSE(job->error_message().empty()) << job->name() << " failed without a reason";
          EXPECT_EQ(successes, 0) << job->name();
          break;
        default:
          ADD_FAILURE() << job->name() << " has not ended: " << v1::Job::State_Name(job->state());
      }
    }
    EXPECT_EQ(listed.size(), static_cast<size_t>(kClients * kJobsEach));
    EXPECT_GE(succeeded,
              kClients * (kJobsEach - kCancelledEach) - 2);  // a killed worker may cost a retry, not more
  }
};

TEST_F(RecoveryTest, FiftyJobsAreAllAccountedFor) {
  DaemonOptions options;
  options.environment = {{"SM89_WORKER_FAULT", "slow@0"}};  // some 0.4 s a job: kills meet work in hand
  DaemonFixture daemon(options);
  ASSERT_TRUE(daemon.Start());
  const auto client = Connect(daemon);
  const auto trace = UploadFolder(*client, MakeTrace(daemon, "trace", 12));
  ASSERT_TRUE(trace.ok()) << trace.status();

  Book book;
  std::vector<std::string> faults;
  std::vector<std::jthread> users;
  for (int i = 0; i < kClients; ++i) {
    users.emplace_back([&] { UseService(daemon, trace->name(), book, faults); });
  }
  EXPECT_TRUE(WaitUntil(120, [&] { return Ended(*client) >= 8; })) << daemon.log();
  EXPECT_NE(KillABusyWorker(*client), "") << "no worker was busy";
  EXPECT_TRUE(WaitUntil(120, [&] { return Ended(*client) >= 16; })) << daemon.log();
  daemon.KillNow();
  ASSERT_TRUE(daemon.Start());
  users.clear();  // joins: every user has seen all of its jobs end
  EXPECT_TRUE(faults.empty()) << faults.front();
  Account(*client, book);
  EXPECT_TRUE(daemon.Stop());
}

TEST_F(RecoveryTest, ARunningJobGoesOnWithTheSameAttempt) {
  DaemonOptions options;
  options.environment = {{"SM89_WORKER_FAULT", "slow@0"}};
  DaemonFixture daemon(options);
  ASSERT_TRUE(daemon.Start());
  const auto client = Connect(daemon);
  const auto trace = UploadFolder(*client, MakeTrace(daemon, "trace", 300));
  ASSERT_TRUE(trace.ok()) << trace.status();
  const auto job = Submit(*client, trace->name(), client::NewUuid());
  ASSERT_TRUE(job.ok()) << job.status();
  ASSERT_EQ(WaitForState(*client, job->name(), v1::Job::RUNNING).state(), v1::Job::RUNNING);
  daemon.KillNow();
  ASSERT_TRUE(daemon.Start());
  const auto found = Get(*client, job->name());
  ASSERT_TRUE(found.ok()) << found.status();
  ASSERT_FALSE(client::IsTerminal(found->state())) << "the job was too short for this test";
  const auto ended = client::WatchJob(*client, {job->name(), 0, 0}, {});
  ASSERT_TRUE(ended.ok()) << ended.status();
  EXPECT_EQ(ended->state(), v1::Job::SUCCEEDED) << ended->error_message() << daemon.log();
  EXPECT_EQ(ended->attempt(), 1u) << "the worker that lived on should have gone on with its work";
}

TEST_F(RecoveryTest, AJobWhoseWorkerDiesIsTriedAgainAndSaysSo) {
  DaemonOptions options;
  options.environment = {{"SM89_WORKER_FAULT", "slow@0"}};
  DaemonFixture daemon(options);
  ASSERT_TRUE(daemon.Start());
  const auto client = Connect(daemon);
  const auto trace = UploadFolder(*client, MakeTrace(daemon, "trace", 60));
  ASSERT_TRUE(trace.ok()) << trace.status();
  const auto job = Submit(*client, trace->name(), client::NewUuid());
  ASSERT_TRUE(job.ok()) << job.status();
  ASSERT_EQ(WaitForState(*client, job->name(), v1::Job::RUNNING).state(), v1::Job::RUNNING);
  ASSERT_NE(KillABusyWorker(*client), "");
  const auto ended = client::WatchJob(*client, {job->name(), 0, 0}, {});
  ASSERT_TRUE(ended.ok()) << ended.status();
  EXPECT_EQ(ended->state(), v1::Job::SUCCEEDED) << ended->error_message() << daemon.log();
  EXPECT_EQ(ended->attempt(), 2u);
  const auto shown = Get(*client, job->name());
  ASSERT_TRUE(shown.ok());
  const bool said =
      std::any_of(shown->events().begin(), shown->events().end(), [](const v1::JobEvent& event) {
        return event.state() == v1::Job::QUEUED && event.attempt() >= 1 && !event.reason().empty();
      });
  EXPECT_TRUE(said) << "the requeue is not among the events";
}

TEST_F(RecoveryTest, SigtermLetsRunningJobsEndAndWatchersComeBack) {
  DaemonOptions options;
  options.workers = 1;
  options.environment = {{"SM89_WORKER_FAULT", "slow@0"}};
  DaemonFixture daemon(options);
  ASSERT_TRUE(daemon.Start());
  const auto client = Connect(daemon);
  const auto trace = UploadFolder(*client, MakeTrace(daemon, "trace", 60));
  ASSERT_TRUE(trace.ok()) << trace.status();
  const auto running = Submit(*client, trace->name(), client::NewUuid());
  const auto waiting = Submit(*client, trace->name(), client::NewUuid());
  ASSERT_TRUE(running.ok() && waiting.ok());
  ASSERT_EQ(WaitForState(*client, running->name(), v1::Job::RUNNING).state(), v1::Job::RUNNING);
  absl::StatusOr<v1::Job> watched = absl::UnknownError("not yet");
  std::jthread watcher([&] { watched = client::WatchJob(*client, {waiting->name(), 0, 0}, {}); });
  ASSERT_TRUE(daemon.Stop());
  ASSERT_TRUE(daemon.Start());
  const auto first = Get(*client, running->name());
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_EQ(first->state(), v1::Job::SUCCEEDED) << "drained: the running job was waited for";
  EXPECT_EQ(first->attempt(), 1u);
  watcher.join();
  ASSERT_TRUE(watched.ok()) << watched.status();
  EXPECT_EQ(watched->state(), v1::Job::SUCCEEDED) << watched->error_message();
}

TEST_F(RecoveryTest, TheSameRequestIsTheSameJobAcrossRestarts) {
  DaemonFixture daemon;
  ASSERT_TRUE(daemon.Start());
  const auto client = Connect(daemon);
  const auto trace = UploadFolder(*client, MakeTrace(daemon, "trace", 1));
  ASSERT_TRUE(trace.ok()) << trace.status();
  const std::string request_id = client::NewUuid();
  const auto first = Submit(*client, trace->name(), request_id);
  ASSERT_TRUE(first.ok()) << first.status();
  daemon.KillNow();
  ASSERT_TRUE(daemon.Start());
  const auto second = Submit(*client, trace->name(), request_id);
  ASSERT_TRUE(second.ok()) << second.status();
  EXPECT_EQ(second->name(), first->name());
  const auto other = Submit(*client, trace->name(), request_id, /*no_cache=*/false);
  EXPECT_EQ(other.status().code(), absl::StatusCode::kAlreadyExists) << other.status();
}

}  // namespace
}  // namespace sm89::testing
