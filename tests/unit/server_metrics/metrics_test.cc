#include "server/metrics/metrics.h"

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <set>
#include <sstream>
#include <thread>

#include "sim/base/fault.h"

namespace sm89 {
namespace {

constexpr std::array<StatDef, 5> kStatistics = {{
    {"l2_read_sectors", StatUnit::kSectors, "Sectors read.", "", StatExport::kService, StatMerge::kSum},
    {"l2_queue_peak", StatUnit::kEvents, "Longest queue.", "", StatExport::kService, StatMerge::kMax},
    {"dram_refreshes", StatUnit::kEvents, "Refreshes.", "", StatExport::kReport, StatMerge::kSum},
    {"stall_barrier", StatUnit::kCycles, "At a barrier.", "", StatExport::kService, StatMerge::kSum},
    {"sm_stall_wait", StatUnit::kCycles, "Fixed latency.", "", StatExport::kService, StatMerge::kSum},
}};

MetricsSetup TestSetup() {
  return {.version = "1.2.3",
          .model_version = "m1",
          .build = "test",
          .rpc_methods = {{"p.S/Unary", false}, {"p.S/Stream", true}},
          .statistics = kStatistics};
}

// Sample line -> value, without comments.
std::map<std::string, double> Samples(const Metrics& metrics) {
  std::istringstream text(metrics.Text());
  std::map<std::string, double> samples;
  for (std::string line; std::getline(text, line);) {
    if (line.empty() || line[0] == '#') continue;
    const size_t blank = line.rfind(' ');
    samples[line.substr(0, blank)] = std::stod(line.substr(blank + 1));
  }
  return samples;
}

std::set<std::string> Keys(const std::map<std::string, double>& samples) {
  std::set<std::string> keys;
  for (const auto& [key, value] : samples) keys.insert(key);
  return keys;
}

TEST(Metrics, BuildInfoNamesTheBuild) {
  const Metrics metrics(TestSetup());
  EXPECT_EQ(Samples(metrics).at(R"(sm89_build_info{build="test",model_version="m1",version="1.2.3"})"), 1);
}

TEST(Metrics, JobCallsMoveTheirCounters) {
  Metrics metrics(TestSetup());
  metrics.jobs().Submitted();
  metrics.jobs().Transition(JobStateLabel::kLostContact);
  metrics.jobs().LeftQueue(5);
  metrics.jobs().LeftQueue(-1);  // a clock that was set back
  metrics.jobs().Finished(JobOutcomeLabel::kFailed, 12);
  metrics.jobs().Finished(JobOutcomeLabel::kCancelled, -1);
  metrics.jobs().FailedWith(absl::StatusCode::kInvalidArgument);
  metrics.jobs().FailedWith(static_cast<absl::StatusCode>(99));
  metrics.jobs().Requeued(RequeueReasonLabel::kWorkerDied);
  const auto s = Samples(metrics);
  EXPECT_EQ(s.at("sm89_jobs_submitted_total"), 1);
  EXPECT_EQ(s.at(R"(sm89_job_transitions_total{state="lost_contact"})"), 1);
  EXPECT_EQ(s.at("sm89_job_queue_wait_seconds_count"), 2);
  EXPECT_EQ(s.at("sm89_job_queue_wait_seconds_sum"), 5);
  EXPECT_EQ(s.at(R"(sm89_job_duration_seconds_bucket{outcome="failed",le="10"})"), 0);
  EXPECT_EQ(s.at(R"(sm89_job_duration_seconds_bucket{outcome="failed",le="30"})"), 1);
  EXPECT_EQ(s.at(R"(sm89_job_duration_seconds_count{outcome="cancelled"})"), 0);
  EXPECT_EQ(s.at(R"(sm89_jobs_finished_total{outcome="cancelled"})"), 1);
  EXPECT_EQ(s.at(R"(sm89_job_failures_total{code="INVALID_ARGUMENT"})"), 1);
  EXPECT_EQ(s.at(R"(sm89_job_failures_total{code="UNKNOWN"})"), 1);
  EXPECT_EQ(s.at(R"(sm89_job_requeues_total{reason="worker_died"})"), 1);
}

TEST(Metrics, LiveStateIsReadAtTheScrape) {
  Metrics metrics(TestSetup());
  EXPECT_EQ(Samples(metrics).count("sm89_queue_length"), 0u);  // no source: no invented zeros
  LiveState state;
  metrics.SetLiveStateSource([&state] { return state; });
  EXPECT_EQ(Samples(metrics).at("sm89_queue_length"), 0);
  state.jobs_in(JobStateLabel::kQueued) = 7;
  state.workers_in(WorkerStateLabel::kBackoff) = 2;
  state.oldest_queued_age_seconds = 1.5;
  state.draining = true;
  const auto s = Samples(metrics);
  EXPECT_EQ(s.at("sm89_queue_length"), 7);
  EXPECT_EQ(s.at(R"(sm89_jobs{state="queued"})"), 7);
  EXPECT_EQ(s.at(R"(sm89_workers{state="backoff"})"), 2);
  EXPECT_EQ(s.at("sm89_queue_oldest_age_seconds"), 1.5);
  EXPECT_EQ(s.at("sm89_draining"), 1);
  metrics.SetLiveStateSource({});
  EXPECT_EQ(Samples(metrics).count("sm89_queue_length"), 0u);
}

TEST(Metrics, NoCallAddsASeriesExceptStatusCodes) {
  Metrics metrics(TestSetup());
  metrics.SetLiveStateSource([] { return LiveState{}; });
  const auto before = Keys(Samples(metrics));
  for (int i = 0; i < 50; ++i) {
    const SimulatedAttempt key{"job-" + std::to_string(i), 1};
    const std::array<IntervalStatistic, 2> interval = {{{"l2_read_sectors", 1}, {"no_such_statistic", 1}}};
    metrics.simulation().AttemptStarted(key);
    metrics.simulation().AttemptProgress(key, {.cycles = 1, .warp_instructions = 1, .interval = interval});
    metrics.simulation().AttemptEnded(key);
    const auto method = metrics.rpcs().Find("/some.Service/Method" + std::to_string(i));
    metrics.rpcs().Started(method);
    metrics.rpcs().Finished(method, absl::StatusCode::kOk, 0.1);
    metrics.uploads().TraceError(static_cast<TraceErrorKind>(i % kNumTraceErrorKinds));
    metrics.workers().Exited(static_cast<WorkerExitLabel>(i % kNumWorkerExitLabels));
  }
  EXPECT_EQ(Keys(Samples(metrics)), before);
  EXPECT_EQ(Samples(metrics).at(R"(sm89_rpc_requests_total{code="OK",method="unknown"})"), 50);
}

TEST(Metrics, RpcsOfStreamsStayOutOfTheLatencyHistogram) {
  Metrics metrics(TestSetup());
  const auto stream = metrics.rpcs().Find("p.S/Stream");
  metrics.rpcs().Started(stream);
  EXPECT_EQ(Samples(metrics).at(R"(sm89_rpcs_in_flight{method="p.S/Stream"})"), 1);
  metrics.rpcs().Finished(stream, static_cast<absl::StatusCode>(1234), 4000);
  const auto s = Samples(metrics);
  EXPECT_EQ(s.count(R"(sm89_rpc_duration_seconds_count{method="p.S/Stream"})"), 0u);
  EXPECT_EQ(s.at(R"(sm89_rpc_stream_duration_seconds_count{method="p.S/Stream"})"), 1);
  EXPECT_EQ(s.at(R"(sm89_rpc_requests_total{code="UNKNOWN",method="p.S/Stream"})"), 1);
}

TEST(Metrics, CallsFromManyThreadsAreAllCounted) {
  Metrics metrics(TestSetup());
  const auto method = metrics.rpcs().Find("p.S/Unary");
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&metrics, method] {
      for (int i = 0; i < 1000; ++i) {
        metrics.rpcs().Started(method);
        metrics.rpcs().Finished(method, static_cast<absl::StatusCode>(i % 17), 0.001);
        if (i % 100 == 0) metrics.Text();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  double total = 0;
  for (const auto& [key, value] : Samples(metrics)) {
    if (key.starts_with("sm89_rpc_requests_total{") && key.ends_with("\"p.S/Unary\"}")) total += value;
  }
  EXPECT_EQ(total, 4000);
}

TEST(Metrics, ProcessMetricsArePlausible) {
  const Metrics metrics(TestSetup());
  const auto s = Samples(metrics);
  EXPECT_GT(s.at("process_resident_memory_bytes"), 1e6);
  EXPECT_GT(s.at("process_open_fds"), 2);
  EXPECT_GT(s.at("process_max_fds"), s.at("process_open_fds"));
  EXPECT_GE(s.at("process_threads"), 1);
  EXPECT_GE(s.at("process_cpu_seconds_total"), 0);
  EXPECT_GT(s.at("process_start_time_seconds"), 1.5e9);
}

class SimulationMetricsTest : public ::testing::Test {
 protected:
  double Cycles() { return Samples(metrics_).at("sm89_simulated_cycles_total"); }
  double Instructions() { return Samples(metrics_).at("sm89_simulated_warp_instructions_total"); }

  Metrics metrics_{TestSetup()};
  SimulationMetrics& simulation_ = metrics_.simulation();
  const SimulatedAttempt key_{"j1", 1};
};

TEST_F(SimulationMetricsTest, OnlyServiceSumsBecomeCounters) {
  const auto s = Samples(metrics_);
  EXPECT_EQ(s.count("sm89_sim_l2_read_sectors_total"), 1u);
  EXPECT_EQ(s.count("sm89_sim_l2_queue_peak_total"), 0u);
  EXPECT_EQ(s.count("sm89_sim_dram_refreshes_total"), 0u);
  EXPECT_EQ(s.count(R"(sm89_sim_stall_warp_cycles_total{reason="barrier"})"), 1u);
  EXPECT_EQ(s.count(R"(sm89_sim_stall_warp_cycles_total{reason="wait"})"), 1u);
  EXPECT_EQ(s.count("sm89_sim_stall_barrier_total"), 0u);
}

TEST_F(SimulationMetricsTest, ReportsBecomeSteps) {
  const std::array<IntervalStatistic, 2> interval = {{{"l2_read_sectors", 4}, {"stall_barrier", 9}}};
  simulation_.AttemptStarted(key_);
  simulation_.AttemptProgress(key_, {100, 50, 10, interval});
  simulation_.AttemptProgress(key_, {300, 250, 20, interval});
  EXPECT_EQ(Cycles(), 300);
  EXPECT_EQ(Instructions(), 250);
  const auto s = Samples(metrics_);
  EXPECT_EQ(s.at("sm89_sim_l2_read_sectors_total"), 8);
  EXPECT_EQ(s.at(R"(sm89_sim_stall_warp_cycles_total{reason="barrier"})"), 18);
  EXPECT_EQ(s.at("sm89_simulation_warp_instructions_per_second"), 20);
  EXPECT_DOUBLE_EQ(s.at("sm89_simulation_ipc"), 250.0 / 300.0);
}

TEST_F(SimulationMetricsTest, RepeatedOrOlderReportAddsNothing) {
  const std::array<IntervalStatistic, 1> interval = {{{"l2_read_sectors", 4}}};
  simulation_.AttemptStarted(key_);
  simulation_.AttemptProgress(key_, {100, 50, 10, interval});
  simulation_.AttemptProgress(key_, {100, 50, 10, interval});
  simulation_.AttemptProgress(key_, {80, 40, 10, interval});
  EXPECT_EQ(Cycles(), 100);
  EXPECT_EQ(Instructions(), 50);
  EXPECT_EQ(Samples(metrics_).at("sm89_sim_l2_read_sectors_total"), 4);
}

TEST_F(SimulationMetricsTest, SecondAttemptCountsItsOwnWork) {
  simulation_.AttemptStarted(key_);
  simulation_.AttemptProgress(key_, {100, 50, 10, {}});
  simulation_.AttemptEnded(key_);
  simulation_.AttemptStarted({"j1", 2});
  simulation_.AttemptProgress({"j1", 2}, {30, 20, 10, {}});
  EXPECT_EQ(Cycles(), 130);
  EXPECT_EQ(Instructions(), 70);
  EXPECT_DOUBLE_EQ(Samples(metrics_).at("sm89_simulation_ipc"), 20.0 / 30.0);
}

TEST_F(SimulationMetricsTest, ReattachedAttemptIsNotCountedTwice) {
  simulation_.AttemptStarted(key_, /*reattached=*/true);
  simulation_.AttemptProgress(key_, {1000, 900, 10, {}});
  EXPECT_EQ(Cycles(), 0);
  simulation_.AttemptProgress(key_, {1100, 950, 10, {}});
  EXPECT_EQ(Cycles(), 100);
  EXPECT_EQ(Instructions(), 50);
}

TEST_F(SimulationMetricsTest, UnknownAndEndedAttemptsAreIgnored) {
  simulation_.AttemptProgress(key_, {100, 50, 10, {}});
  simulation_.AttemptStarted(key_);
  simulation_.AttemptEnded(key_);
  simulation_.AttemptProgress(key_, {100, 50, 10, {}});
  simulation_.AttemptEnded(key_);
  EXPECT_EQ(Cycles(), 0);
  EXPECT_EQ(Samples(metrics_).at("sm89_simulation_ipc"), 0);
  EXPECT_EQ(Samples(metrics_).at("sm89_simulation_warp_instructions_per_second"), 0);
}

TEST(ClassifyTraceError, ByCodeAndFirstFault) {
  const auto invalid = [](const Fault& fault) {
    return InputError(absl::StatusCode::kInvalidArgument, fault);
  };
  EXPECT_EQ(ClassifyTraceError(absl::NotFoundError("x")), TraceErrorKind::kMissingFile);
  EXPECT_EQ(ClassifyTraceError(absl::ResourceExhaustedError("x")), TraceErrorKind::kLimit);
  EXPECT_EQ(ClassifyTraceError(absl::InternalError("x")), TraceErrorKind::kOther);
  EXPECT_EQ(ClassifyTraceError(absl::InvalidArgumentError("x")), TraceErrorKind::kMalformed);
  EXPECT_EQ(ClassifyTraceError(invalid({.field = "nregs", .message = "m"})), TraceErrorKind::kMalformed);
  EXPECT_EQ(ClassifyTraceError(invalid({.field = "binary version", .message = "m"})),
            TraceErrorKind::kUnsupported);
  EXPECT_EQ(ClassifyTraceError(invalid({.message = "m", .facts = {{"opcodes", "QFROB"}}})),
            TraceErrorKind::kUnknownOpcode);
}

}  // namespace
}  // namespace sm89
