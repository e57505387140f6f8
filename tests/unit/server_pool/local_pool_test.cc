#include "server/pool/local_pool.h"

#include <gtest/gtest.h>

#include <csignal>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "tests/support/fake_clock.h"
#include "tests/support/fake_process.h"
#include "tests/support/temp_dir.h"

namespace sm89 {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr char kVersion[] = "1/1";

class MapSessions final : public SessionStore {
 public:
  absl::Status Save(const WorkerSession& s) override {
    records[s.worker] = s;
    return absl::OkStatus();
  }
  absl::Status Erase(const std::string& worker) override {
    records.erase(worker);
    return absl::OkStatus();
  }
  absl::StatusOr<std::vector<WorkerSession>> Load() override {
    std::vector<WorkerSession> all;
    for (const auto& [id, record] : records) all.push_back(record);
    return all;
  }
  std::map<std::string, WorkerSession> records;
};

// Processes are alive while the launcher runs them, or while `orphans` says so.
class Probe final : public ProcessProbe {
 public:
  absl::StatusOr<uint64_t> StartTicks(int64_t pid) override { return static_cast<uint64_t>(pid) * 3; }
  bool Alive(int64_t pid, uint64_t ticks) override {
    return orphans.contains(pid) && ticks == static_cast<uint64_t>(pid) * 3;
  }
  void Signal(int64_t pid, uint64_t /*ticks*/, int signal) override {
    signals.push_back(signal);
    if (signal == SIGKILL) orphans.erase(pid);
  }
  std::set<int64_t> orphans;
  std::vector<int> signals;
};

class Counter final : public PoolObserver {
 public:
  void OnWorkerStarted(bool) override { ++started; }
  void OnWorkerEnded(WorkerEnd how) override { ended.push_back(how); }
  void OnWorkerReattached() override {}
  void OnLeaseExpired() override { ++leases; }
  int started = 0;
  int leases = 0;
  std::vector<WorkerEnd> ended;
};

class LocalPoolTest : public ::testing::Test {
 protected:
  LocalPoolTest() { Restart(1); }

  // A new daemon over the same sessions and processes.
  void Restart(uint32_t workers) {
    LocalPoolOptions options;
    options.workers = workers;
    options.program = "/bin/worker";
    options.connect = "unix:/s";
    options.stderr_dir = dir_.File("workers");
    options.version = kVersion;
    pool_ = std::make_unique<LocalPool>(options, LocalPoolDeps{clock_, launcher_, probe_, PosixFileStore(),
                                                               SystemIdSource(), sessions_, counter_, [] {}});
    ASSERT_TRUE(pool_->Start().ok());
  }
  void Pass(Duration time) {
    for (Duration done{}; done < time; done += milliseconds(50)) {
      clock_.Advance(milliseconds(50));
      pool_->Tick();
    }
  }
  std::string Ticket() {
    const std::string variable = launcher_.Started().back().environment.back();
    return variable.substr(variable.find('=') + 1);
  }
  std::string AttachNew() {
    pool_->Tick();
    const auto grant = pool_->Attach({Ticket(), "", kVersion, "h", 1, std::nullopt});
    EXPECT_TRUE(grant.ok()) << grant.status();
    return grant->session;
  }
  WorkerState State() { return pool_->Workers().at(0).state; }
  std::vector<PoolEvent> Events() { return pool_->TakeEvents(); }

  testing::TempDir dir_;
  testing::FakeClock clock_;
  testing::FakeProcessLauncher launcher_;
  Probe probe_;
  MapSessions sessions_;
  Counter counter_;
  std::unique_ptr<LocalPool> pool_;
  const AttemptRef attempt_{"j", 1, 7};
};

TEST_F(LocalPoolTest, StartsAttachesAndTakesWork) {
  const std::string session = AttachNew();
  EXPECT_EQ(State(), WorkerState::kIdle);
  ASSERT_TRUE(pool_->CanTake("local-0"));
  pool_->Assign("local-0", attempt_);
  EXPECT_EQ(State(), WorkerState::kBusy);
  EXPECT_FALSE(pool_->CanTake("local-0"));
  const auto verdict = pool_->Heartbeat(session, attempt_, 5);
  EXPECT_TRUE(verdict->current);
  pool_->Release(attempt_);
  EXPECT_TRUE(pool_->CanTake("local-0"));
}

TEST_F(LocalPoolTest, TheTicketIsNotOnTheCommandLineAndNotInTheStore) {
  pool_->Tick();
  const std::string ticket = Ticket();
  EXPECT_GE(ticket.size(), 32U);
  const ProcessSpec spec = launcher_.Started().back();
  for (const std::string& arg : spec.args) EXPECT_EQ(arg.find(ticket), std::string::npos);
  EXPECT_NE(sessions_.records["local-0"].ticket_sha256, ticket);
}

TEST_F(LocalPoolTest, ATicketIsSpentByTheFirstUseOfItsSession) {
  pool_->Tick();
  const std::string ticket = Ticket();
  ASSERT_TRUE(pool_->Attach({ticket, "", kVersion, "h", 1, std::nullopt}).ok());
  const auto again =
      pool_->Attach({ticket, "", kVersion, "h", 1, std::nullopt});  // the first answer was lost
  ASSERT_TRUE(again.ok());
  ASSERT_TRUE(pool_->Poll(again->session).ok());
  EXPECT_TRUE(absl::IsUnauthenticated(pool_->Attach({ticket, "", kVersion, "h", 1, std::nullopt}).status()));
}

TEST_F(LocalPoolTest, RefusesStrangersAndOtherVersions) {
  pool_->Tick();
  EXPECT_TRUE(absl::IsUnauthenticated(pool_->Attach({"x", "", kVersion, "h", 1, std::nullopt}).status()));
  EXPECT_TRUE(absl::IsUnauthenticated(pool_->Attach({"", "", kVersion, "h", 1, std::nullopt}).status()));
  EXPECT_TRUE(
      absl::IsFailedPrecondition(pool_->Attach({Ticket(), "", "old", "h", 1, std::nullopt}).status()));
  EXPECT_TRUE(absl::IsUnauthenticated(pool_->Poll("x").status()));
  EXPECT_TRUE(absl::IsUnauthenticated(pool_->Heartbeat("", std::nullopt, 0).status()));
}

TEST_F(LocalPoolTest, AnEvictionAsksThenTermsThenKills) {
  const std::string session = AttachNew();
  pool_->Assign("local-0", attempt_);
  pool_->Evict(attempt_, true);
  EXPECT_EQ(pool_->Heartbeat(session, attempt_, 0)->order, WorkerOrder::kCancel);
  Pass(milliseconds(350));
  EXPECT_EQ(launcher_.Running().size(), 1U);
  Pass(milliseconds(100));  // SIGTERM ends this fake
  EXPECT_TRUE(launcher_.Running().empty() || counter_.started == 2);
  const std::vector<PoolEvent> events = Events();
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0].end, AttemptEnd::kStopped);
}

TEST_F(LocalPoolTest, ASlotIsFreeOnlyWhenTheWorkerConfirmed) {
  const std::string session = AttachNew();
  pool_->Assign("local-0", attempt_);
  ASSERT_TRUE(pool_->Heartbeat(session, attempt_, 0).ok());
  pool_->Evict(attempt_, false);
  EXPECT_EQ(pool_->Heartbeat(session, attempt_, 0)->order, WorkerOrder::kAbandon);
  EXPECT_FALSE(pool_->CanTake("local-0"));
  ASSERT_TRUE(pool_->Poll(session).ok());
  EXPECT_EQ(Events().at(0).end, AttemptEnd::kStopped);
  EXPECT_TRUE(pool_->CanTake("local-0"));
}

TEST_F(LocalPoolTest, ADeadWorkerEndsItsAttemptAndIsReplaced) {
  AttachNew();
  pool_->Assign("local-0", attempt_);
  Pass(seconds(1));
  launcher_.End(launcher_.Running().at(0), ProcessExit{0, SIGKILL, 0});
  pool_->Tick();
  const std::vector<PoolEvent> events = Events();
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0].end, AttemptEnd::kWorkerDied);
  EXPECT_EQ(events[0].attempt, attempt_);
  Pass(seconds(1));
  EXPECT_EQ(counter_.started, 2);
}

TEST_F(LocalPoolTest, AWorkerThatKeepsDyingIsStartedLessAndLessOften) {
  launcher_.SetBehaviour([](const ProcessSpec&) { return ProcessExit{1, 0, 0}; });
  Pass(seconds(60));
  const int first_minute = counter_.started;
  EXPECT_LT(first_minute, 12);
  EXPECT_GT(first_minute, 3);
  EXPECT_EQ(State(), WorkerState::kBackoff);
}

TEST_F(LocalPoolTest, ASilentWorkerIsLostThenKilled) {
  const std::string session = AttachNew();
  pool_->Assign("local-0", attempt_);
  Pass(seconds(11));
  EXPECT_EQ(State(), WorkerState::kLostContact);
  EXPECT_EQ(Events().at(0).kind, PoolEvent::Kind::kContactLost);
  Pass(seconds(30));
  EXPECT_EQ(Events().at(0).end, AttemptEnd::kSilent);
  EXPECT_EQ(counter_.leases, 1);
  EXPECT_TRUE(absl::IsUnauthenticated(pool_->Heartbeat(session, attempt_, 0).status()));
}

TEST_F(LocalPoolTest, AWorkerThatSpeaksAgainInTimeKeepsItsAttempt) {
  const std::string session = AttachNew();
  pool_->Assign("local-0", attempt_);
  Pass(seconds(20));
  Events();
  EXPECT_TRUE(pool_->Heartbeat(session, attempt_, 0)->current);
  EXPECT_EQ(State(), WorkerState::kBusy);
  Pass(seconds(5));
  EXPECT_TRUE(Events().empty());
}

TEST_F(LocalPoolTest, TheNextDaemonWaitsForTheWorkerItKnows) {
  const std::string session = AttachNew();
  pool_->Assign("local-0", attempt_);
  probe_.orphans.insert(sessions_.records["local-0"].pid);
  Restart(1);
  ASSERT_TRUE(pool_->RestoreAttempt("local-0", attempt_, true, false));
  Pass(seconds(20));
  EXPECT_EQ(counter_.started, 1) << "no second process for the slot";
  const auto grant = pool_->Attach({"", session, kVersion, "h", 1, attempt_});
  ASSERT_TRUE(grant.ok());
  EXPECT_TRUE(grant->keep_running);
  EXPECT_EQ(State(), WorkerState::kBusy);
  Pass(seconds(5));
  EXPECT_TRUE(Events().empty());
}

TEST_F(LocalPoolTest, PastTheGraceTimeTheOldWorkerIsKilledAndReplaced) {
  AttachNew();
  pool_->Assign("local-0", attempt_);
  probe_.orphans.insert(sessions_.records["local-0"].pid);
  Restart(1);
  ASSERT_TRUE(pool_->RestoreAttempt("local-0", attempt_, true, false));
  Pass(seconds(32));
  EXPECT_EQ(probe_.signals, std::vector<int>{SIGKILL});
  EXPECT_EQ(Events().at(0).end, AttemptEnd::kSilent);
  EXPECT_EQ(counter_.started, 2);
}

TEST_F(LocalPoolTest, AWorkerThatDiedMeanwhileIsReplacedAtOnce) {
  AttachNew();
  pool_->Assign("local-0", attempt_);
  Restart(1);  // the probe knows no such process
  EXPECT_FALSE(pool_->RestoreAttempt("local-0", attempt_, true, false));
  pool_->Tick();
  EXPECT_EQ(counter_.started, 2);
}

TEST_F(LocalPoolTest, AWorkerBeyondTheConfiguredNumberIsSentHome) {
  const std::string session = AttachNew();
  probe_.orphans.insert(sessions_.records["local-0"].pid);
  Restart(0);
  ASSERT_TRUE(pool_->Attach({"", session, kVersion, "h", 1, std::nullopt}).ok());
  EXPECT_FALSE(pool_->CanTake("local-0"));
  EXPECT_TRUE(pool_->Poll(session)->stop);
}

TEST_F(LocalPoolTest, AnAnswerThatWasLostIsGivenAgain) {
  const std::string session = AttachNew();
  pool_->Assign("local-0", attempt_);
  EXPECT_EQ(pool_->Poll(session)->undelivered, attempt_);
  ASSERT_TRUE(pool_->Heartbeat(session, attempt_, 0).ok());
  EXPECT_FALSE(pool_->Poll(session)->undelivered.has_value());
  EXPECT_EQ(Events().at(0).end, AttemptEnd::kDropped);
}

TEST_F(LocalPoolTest, DrainKeepsWorkAwayAndResumeBringsItBack) {
  AttachNew();
  ASSERT_TRUE(pool_->Drain("").ok());
  EXPECT_FALSE(pool_->CanTake("local-0"));
  EXPECT_EQ(State(), WorkerState::kDraining);
  ASSERT_TRUE(pool_->Resume("").ok());
  ASSERT_TRUE(pool_->Drain("local-0").ok());
  EXPECT_FALSE(pool_->CanTake("local-0"));
  ASSERT_TRUE(pool_->Resume("local-0").ok());
  EXPECT_TRUE(pool_->CanTake("local-0"));
  EXPECT_TRUE(absl::IsNotFound(pool_->Drain("local-9")));
}

}  // namespace
}  // namespace sm89
