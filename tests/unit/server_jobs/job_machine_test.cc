#include "server/jobs/job_machine.h"

#include <gtest/gtest.h>

#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace sm89 {
namespace {

constexpr RetryPolicy kPolicy{3};
constexpr int64_t kNow = 1'000;

Job Queued() {
  Job job;
  job.id = "j";
  job.revision = 1;
  return job;
}

JobError SomeError() { return {"INTERNAL", "WORKER_CRASHED", "it crashed", {}}; }

// Everything that can happen to a job, by name; an empty answer means that nothing changed.
using Signal = std::function<std::optional<Job>(const Job&)>;
const std::vector<std::pair<std::string, Signal>>& Signals() {
  static const std::vector<std::pair<std::string, Signal>> signals = {
      {"dispatch",
       [](const Job& j) -> std::optional<Job> {
         if (j.state != JobState::kQueued) return std::nullopt;
         return Dispatched(j, "local-0", j.place.fence + 1, kNow);
       }},
      {"report", [](const Job& j) { return Reported(j); }},
      {"lose", [](const Job& j) { return ContactLost(j, "silent"); }},
      {"cancel", [](const Job& j) { return CancelAsked(j, "cancelled", kNow); }},
      {"succeed", [](const Job& j) { return Succeeded(j, "r", false, kNow); }},
      {"fail", [](const Job& j) { return Failed(j, SomeError(), kNow); }},
      {"gone", [](const Job& j) { return AttemptLost(j, "killed", kPolicy, kNow); }},
      {"stopped", [](const Job& j) { return StopConfirmed(j, kNow); }},
  };
  return signals;
}

void CheckInvariants(const Job& before, const Job& after, const std::string& path) {
  EXPECT_TRUE(TransitionAllowed(before.state, after.state)) << path;
  EXPECT_EQ(after.revision, before.revision + 1) << path;
  EXPECT_FALSE(IsTerminal(before.state)) << path;
  EXPECT_EQ(after.place.worker.empty(), !IsActive(after.state)) << path;
  EXPECT_EQ(after.times.end_unix_nanos != 0, IsTerminal(after.state)) << path;
  EXPECT_EQ(!after.outcome.error.code.empty(), after.state == JobState::kFailed) << path;
  EXPECT_EQ(!after.outcome.result_id.empty(), after.state == JobState::kSucceeded) << path;
  EXPECT_LE(after.place.attempt, kPolicy.attempts_max) << path;
  EXPECT_GE(after.place.fence, before.place.fence) << path;
}

void Explore(const Job& job, int depth, const std::string& path, std::set<JobState>* met) {
  met->insert(job.state);
  if (depth == 0) return;
  for (const auto& [name, signal] : Signals()) {
    const std::optional<Job> next = signal(job);
    if (!next.has_value()) continue;
    const std::string here = path + " " + name;
    CheckInvariants(job, *next, here);
    Explore(*next, depth - 1, here, met);
  }
}

TEST(JobMachine, EveryInterleavingOfSignalsKeepsTheInvariants) {
  std::set<JobState> met;
  Explore(Queued(), 9, "", &met);
  EXPECT_EQ(met.size(), static_cast<size_t>(kJobStates));
}

TEST(JobMachine, TerminalStatesIgnoreEverything) {
  for (const JobState state : {JobState::kSucceeded, JobState::kFailed, JobState::kCancelled}) {
    Job job = Queued();
    job.state = state;
    for (const auto& [name, signal] : Signals()) EXPECT_FALSE(signal(job).has_value()) << Name(state) << name;
  }
}

TEST(JobMachine, WorkerLossQueuesAgainAndSaysSoThenGivesUp) {
  Job job = Queued();
  for (uint32_t attempt = 1; attempt <= 2; ++attempt) {
    job = Dispatched(job, "local-0", attempt, kNow);
    job = *AttemptLost(job, "killed by signal 9 (Killed)", kPolicy, kNow);
    EXPECT_EQ(job.state, JobState::kQueued);
    EXPECT_NE(job.reason.find("killed by signal 9"), std::string::npos);
  }
  job = Dispatched(job, "local-0", 3, kNow);
  job = *AttemptLost(job, "killed by signal 9 (Killed)", kPolicy, kNow);
  EXPECT_EQ(job.state, JobState::kFailed);
  EXPECT_EQ(job.outcome.error.reason, "WORKER_LOST_REPEATEDLY");
  EXPECT_EQ(job.place.lost_attempts, 3U);
}

TEST(JobMachine, ACrashIsNeverTriedAgain) {
  const Job running = *Reported(Dispatched(Queued(), "local-0", 1, kNow));
  const Job failed = *Failed(running, SomeError(), kNow);
  EXPECT_EQ(failed.state, JobState::kFailed);
  EXPECT_EQ(failed.outcome.error.code, "INTERNAL");
}

TEST(JobMachine, ACancelledJobEndsCancelledHoweverItsWorkerEnds) {
  const Job cancelling = *CancelAsked(Dispatched(Queued(), "local-0", 1, kNow), "cancelled", kNow);
  ASSERT_EQ(cancelling.state, JobState::kCancelling);
  EXPECT_EQ(Failed(cancelling, SomeError(), kNow)->state, JobState::kCancelled);
  EXPECT_EQ(AttemptLost(cancelling, "killed", kPolicy, kNow)->state, JobState::kCancelled);
  EXPECT_EQ(StopConfirmed(cancelling, kNow)->state, JobState::kCancelled);
  EXPECT_FALSE(Reported(cancelling).has_value());
  EXPECT_FALSE(ContactLost(cancelling, "silent").has_value());
}

TEST(JobMachine, AResultThatBeatsTheCancelIsKept) {
  const Job cancelling = *CancelAsked(Dispatched(Queued(), "local-0", 1, kNow), "cancelled", kNow);
  const Job done = *Succeeded(cancelling, "r", false, kNow);
  EXPECT_EQ(done.state, JobState::kSucceeded);
  EXPECT_EQ(done.reason, "finished before the cancel took effect");
}

TEST(JobMachine, StateNamesParseBack) {
  for (int i = 0; i < kJobStates; ++i) {
    const auto state = static_cast<JobState>(i);
    EXPECT_EQ(ParseJobState(Name(state)), state);
  }
  EXPECT_FALSE(ParseJobState("queued").has_value());
}

}  // namespace
}  // namespace sm89
