// busy_metrics SECONDS: serves /metrics on a free loopback port with the traffic of a busy day, so that the
// dashboard and the alert rules can be tried against a real Prometheus without simulating anything. Prints
// the endpoint's URL, then runs until SECONDS have passed or its standard input ends.
#include <poll.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <random>
#include <string>
#include <vector>

#include "server/metrics/endpoint.h"
#include "server/metrics/metrics.h"
#include "sim/stats/sim_stats.h"

namespace {

using namespace sm89;

constexpr int kTickMs = 50;
constexpr uint32_t kRunningJobs = 3;
constexpr const char* kMethods[] = {"sm89.v1.JobService/SubmitJob", "sm89.v1.JobService/GetJob",
                                    "sm89.v1.TraceService/BeginUpload", "sm89.v1.WorkerService/Heartbeat"};

MetricsSetup BusySetup() {
  MetricsSetup setup{.version = "0.0.0-test", .model_version = "test", .build = "test"};
  for (const char* method : kMethods) setup.rpc_methods.push_back({method, false});
  setup.rpc_methods.push_back({"sm89.v1.JobService/WatchJob", true});
  setup.statistics = AllStatDefs();
  return setup;
}

// A fixed seed: every run has the same traffic.
class Traffic {
 public:
  explicit Traffic(Metrics& metrics) : metrics_(metrics) {
    for (const StatDef& def : AllStatDefs()) {
      if (def.exported == StatExport::kService) statistics_.push_back({def.name, 0});
    }
  }

  void Tick() {
    ++tick_;
    Rpcs();
    Uploads();
    Simulations();
    if (tick_ % 4 == 0) JobEnds();
    metrics_.store().Committed(Uniform(0.0002, 0.02));
    UpdateLive();
  }

  LiveState live() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return live_;
  }

 private:
  double Uniform(double low, double high) { return std::uniform_real_distribution<>(low, high)(random_); }
  uint64_t Below(uint64_t n) { return std::uniform_int_distribution<uint64_t>(0, n - 1)(random_); }

  void Rpcs() {
    for (const char* name : kMethods) {
      const auto method = metrics_.rpcs().Find(name);
      metrics_.rpcs().Started(method);
      const auto code = Below(10) == 0 ? absl::StatusCode::kInvalidArgument : absl::StatusCode::kOk;
      metrics_.rpcs().Finished(method, code, std::exp(Uniform(-7, -1)));
    }
    const auto watch = metrics_.rpcs().Find("sm89.v1.JobService/WatchJob");
    metrics_.rpcs().Started(watch);
    metrics_.rpcs().Finished(watch, absl::StatusCode::kOk, Uniform(1, 500));
  }

  void Uploads() {
    metrics_.uploads().Started();
    metrics_.uploads().Received(1 << 20);
    if (Below(8) == 0) {
      metrics_.uploads().Failed(UploadFailureLabel::kInvalidTrace);
      metrics_.uploads().TraceError(static_cast<TraceErrorKind>(Below(kNumTraceErrorKinds)));
    } else {
      metrics_.uploads().Finished(Below(3) == 0 ? UploadEndLabel::kDeduplicated : UploadEndLabel::kStored);
    }
  }

  void Simulations() {
    for (IntervalStatistic& statistic : statistics_) {
      // Hits must stay below sectors for the hit rates to be shares.
      statistic.value = statistic.name.ends_with("_hits") ? Below(600) : 600 + Below(400);
    }
    for (uint32_t job = 0; job < kRunningJobs; ++job) {
      const SimulatedAttempt attempt{"busy", job};
      metrics_.simulation().AttemptStarted(attempt);
      metrics_.simulation().AttemptProgress(attempt, {.cycles = tick_ * 10'000,
                                                      .warp_instructions = tick_ * 25'000,
                                                      .warp_instructions_per_second = 500'000,
                                                      .interval = statistics_});
    }
  }

  void JobEnds() {
    metrics_.jobs().Submitted();
    metrics_.jobs().Transition(static_cast<JobStateLabel>(Below(kNumJobStateLabels)));
    metrics_.jobs().LeftQueue(std::exp(Uniform(-2, 5)));
    const auto outcome = static_cast<JobOutcomeLabel>(Below(kNumJobOutcomeLabels));
    metrics_.jobs().Finished(outcome, std::exp(Uniform(-2, 7)));
    if (outcome == JobOutcomeLabel::kFailed) metrics_.jobs().FailedWith(absl::StatusCode::kInternal);
    if (Below(3) == 0) metrics_.jobs().AnsweredFromCache();
    if (Below(10) == 0) {
      metrics_.jobs().LostContact();
      metrics_.jobs().LeaseExpired();
      metrics_.jobs().Requeued(RequeueReasonLabel::kLostContact);
      metrics_.workers().Exited(WorkerExitLabel::kSignal);
      metrics_.workers().Started();
      metrics_.workers().Restarted();
    }
  }

  void UpdateLive() {
    const std::lock_guard<std::mutex> lock(mutex_);
    live_.jobs_in(JobStateLabel::kQueued) = 5 + Below(20);
    live_.jobs_in(JobStateLabel::kRunning) = kRunningJobs;
    live_.jobs_in(JobStateLabel::kSucceeded) = tick_;
    live_.workers_in(WorkerStateLabel::kBusy) = kRunningJobs;
    live_.workers_in(WorkerStateLabel::kIdle) = 1;
    live_.oldest_queued_age_seconds = Uniform(1, 100);
    live_.watchers = 4;
    live_.uploads_open = 1;
    live_.traces = 10;
    live_.store_bytes = uint64_t{3} << 30;
    live_.store_free_bytes = uint64_t{50} << 30;
  }

  Metrics& metrics_;
  std::mt19937_64 random_{89};
  uint64_t tick_ = 0;
  std::vector<IntervalStatistic> statistics_;
  std::mutex mutex_;  // guards live_, which the scraper's thread reads
  LiveState live_;
};

// True when standard input has ended; waits for `timeout_ms` at most.
bool InputEnded(int timeout_ms) {
  pollfd input{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
  char byte = 0;
  return poll(&input, 1, timeout_ms) > 0 && read(STDIN_FILENO, &byte, 1) <= 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2 || std::atoi(argv[1]) <= 0) {
    std::fprintf(stderr, "usage: busy_metrics SECONDS\n");
    return 2;
  }
  Metrics metrics(BusySetup());
  Traffic traffic(metrics);
  traffic.Tick();
  metrics.SetLiveStateSource([&traffic] { return traffic.live(); });
  const auto endpoint = MetricsEndpoint::Start("127.0.0.1:0", metrics);
  if (!endpoint.ok()) {
    std::fprintf(stderr, "%s\n", endpoint.status().ToString().c_str());
    return 1;
  }
  std::printf("http://%s/metrics\n", (*endpoint)->address().c_str());
  std::fflush(stdout);
  const int ticks = std::atoi(argv[1]) * 1000 / kTickMs;
  for (int i = 0; i < ticks && !InputEnded(kTickMs); ++i) traffic.Tick();
  metrics.SetLiveStateSource({});
  return 0;
}
