#include "server/main/daemon.h"

#include <grpcpp/impl/service_type.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <thread>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "server/analysis/analysis_runner.h"
#include "server/jobs/job_manager.h"
#include "server/jobs/session_table.h"
#include "server/jobs/ticker.h"
#include "server/log/log.h"
#include "server/metrics/endpoint.h"
#include "server/metrics/metrics.h"
#include "server/os/executor.h"
#include "server/os/process.h"
#include "server/pool/local_pool.h"
#include "server/service/analysis_service.h"
#include "server/service/config_service.h"
#include "server/service/grpc_server.h"
#include "server/service/job_service.h"
#include "server/service/metrics_bridge.h"
#include "server/service/pool_service.h"
#include "server/service/rpc_metrics.h"
#include "server/service/stored_inputs.h"
#include "server/service/trace_service.h"
#include "server/service/worker_service.h"
#include "server/store/blob_store.h"
#include "server/store/config_store.h"
#include "server/store/data_dir.h"
#include "sim/base/status_macros.h"
#include "sim/base/strings.h"
#include "sim/base/version.h"
#include "sim/stats/sim_stats.h"

namespace sm89 {
namespace {

constexpr Duration kTick = std::chrono::milliseconds(50);
constexpr size_t kClientThreads = 8;
constexpr size_t kWorkerThreads = 4;
constexpr size_t kWaitingCallsMax = 4096;
constexpr Duration kEvictKillMax = std::chrono::milliseconds(750);
constexpr Duration kWorkerCallsEnd = std::chrono::seconds(1);
constexpr char kWorkerProgram[] = "sm89-worker";

#if defined(NDEBUG)
constexpr char kBuildType[] = "release";
#else
constexpr char kBuildType[] = "debug";
#endif

std::string BuildText() { return absl::StrCat("g++ ", __VERSION__, " ", kBuildType); }

Duration Milliseconds(uint64_t ms) { return std::chrono::milliseconds(ms); }
Duration Seconds(uint64_t s) { return std::chrono::seconds(s); }

PoolTiming TimingOf(const PoolSettings& pool) {
  PoolTiming timing;
  timing.heartbeat = Milliseconds(pool.heartbeat_ms);
  timing.lease = Milliseconds(pool.lease_ms);
  timing.grace = Seconds(pool.reattach_grace_seconds);
  timing.start_timeout = Seconds(pool.start_timeout_seconds);
  timing.backoff_max = Seconds(pool.backoff_max_seconds);
  // A cancel frees the worker within a second, so a longer grace is cut.
  timing.evict_kill = std::min(timing.evict_term + Milliseconds(pool.kill_grace_ms), kEvictKillMax);
  return timing;
}

JobManagerOptions JobOptionsOf(const JobSettings& jobs) {
  JobManagerOptions options;
  options.limits = {jobs.default_cycles,
                    jobs.max_cycles,
                    jobs.default_memory_bytes,
                    jobs.max_memory_bytes,
                    static_cast<uint32_t>(jobs.default_wall_seconds),
                    static_cast<uint32_t>(jobs.max_wall_seconds),
                    static_cast<uint32_t>(jobs.max_threads)};
  options.retry.attempts_max = static_cast<uint32_t>(jobs.max_attempts);
  options.queued_max = jobs.max_queued;
  options.stored_max = jobs.max_stored;
  options.watchers_max = jobs.max_watchers;
  options.progress_interval_ms = static_cast<uint32_t>(jobs.progress_interval_ms);
  options.model_version = std::string(kModelVersion);
  return options;
}

MetricsSetup MetricsSetupOf() {
  MetricsSetup setup;
  setup.version = std::string(kProductVersion);
  setup.model_version = std::string(kModelVersion);
  setup.build = BuildText();
  setup.rpc_methods = ServedRpcMethods();
  setup.statistics = AllStatDefs();
  return setup;
}

// Path of the first program called `name` on PATH; empty when there is none.
std::string FindOnPath(const std::string& name) {
  const char* path = std::getenv("PATH");
  for (const absl::string_view folder : absl::StrSplit(path != nullptr ? path : "", ':')) {
    if (!absl::StartsWith(folder, "/")) continue;  // a relative one depends on where the daemon stands
    std::string program = absl::StrCat(folder, "/", name);
    if (access(program.c_str(), X_OK) == 0) return program;
  }
  return "";
}

// Members are destroyed from the bottom up: servers first, then what their calls use.
class DaemonImpl final : public Daemon {
 public:
  explicit DaemonImpl(const DaemonOptions& options)
      : options_(options),
        config_(options.config),
        metrics_(MetricsSetupOf()),
        bridge_(metrics_),
        trace_bridge_(metrics_) {}

  ~DaemonImpl() override {
    metrics_.SetLiveStateSource(nullptr);
    if (servers_ != nullptr) {
      servers_->ShutdownPublic(Duration::zero());
      servers_->ShutdownWorkers(Duration::zero());
    }
    // Tasks that were accepted may still use the managers, and those of the analyses the clients' executor.
    analysis_executor_ = nullptr;
    client_executor_ = nullptr;
    worker_executor_ = nullptr;
    if (ticker_ != nullptr) ticker_->Stop();
  }

  absl::Status Open() {
    RETURN_IF_ERROR(OpenStores());
    RETURN_IF_ERROR(OpenJobs());
    RETURN_IF_ERROR(OpenServers());
    RETURN_IF_ERROR(OpenMetrics());
    return WriteReadyFile();
  }

  const DaemonAddresses& addresses() const override { return addresses_; }

  void BeginDrain() override {
    servers_->SetServing(false);
    jobs_->BeginShutdown();
  }

  bool Drained() override { return jobs_->NothingRuns(); }

  void EndCalls() override {
    servers_->ShutdownPublic(Seconds(config_.listen.shutdown_seconds));
    servers_->ShutdownWorkers(kWorkerCallsEnd);
  }

 private:
  absl::Status OpenStores();
  absl::Status OpenJobs();
  absl::Status OpenAnalyses();
  absl::Status OpenServers();
  absl::Status OpenMetrics();
  absl::Status WriteReadyFile();
  absl::StatusOr<std::string> WorkerProgram() const;
  absl::StatusOr<std::string> PtxCompiler() const;
  LiveState Live();

  std::string WorkerSocket() const { return absl::StrCat(dir_->path(), "/worker.sock"); }

  const DaemonOptions options_;
  const ServerConfig config_;
  DaemonAddresses addresses_;
  Metrics metrics_;
  MetricsBridge bridge_;
  TraceMetricsBridge trace_bridge_;
  std::unique_ptr<DataDir> dir_;
  std::unique_ptr<Database> db_;
  std::unique_ptr<BlobStore> blobs_;
  std::unique_ptr<ConfigStore> configs_;
  std::unique_ptr<ProcessLauncher> launcher_;
  std::unique_ptr<TraceManager> traces_;
  std::optional<JobStore> job_store_;
  std::unique_ptr<SessionTable> sessions_;
  std::unique_ptr<Ticker> ticker_;  // before the pool, which wakes it from the launcher's thread
  std::unique_ptr<LocalPool> pool_;
  std::unique_ptr<StoredInputs> inputs_;
  std::unique_ptr<JobManager> jobs_;
  std::unique_ptr<AnalysisRunner> analysis_runner_;
  std::unique_ptr<Executor> client_executor_;
  std::unique_ptr<Executor> worker_executor_;
  std::unique_ptr<Executor> analysis_executor_;  // its tasks post to the clients' one
  std::vector<std::unique_ptr<grpc::Service>> services_;
  std::unique_ptr<grpc::Service> worker_service_;
  std::unique_ptr<GrpcServers> servers_;
  std::unique_ptr<MetricsEndpoint> endpoint_;
};

absl::StatusOr<std::string> DaemonImpl::WorkerProgram() const {
  const std::string path = config_.pool.worker_program.empty()
                               ? absl::StrCat(options_.program_dir, "/", kWorkerProgram)
                               : config_.pool.worker_program;
  if (access(path.c_str(), X_OK) == 0) return path;
  return absl::FailedPreconditionError(
      absl::StrCat("the worker program ", path, " is not there or not executable"));
}

absl::StatusOr<std::string> DaemonImpl::PtxCompiler() const {
  const std::string& chosen = config_.uploads.ptxas;
  if (chosen == "none") return "";
  if (chosen.empty()) return FindOnPath("ptxas");
  if (access(chosen.c_str(), X_OK) == 0) return chosen;
  return absl::FailedPreconditionError(
      absl::StrCat("the PTX compiler ", chosen, " (setting ptxas) is not there or not executable"));
}

absl::Status DaemonImpl::OpenStores() {
  FileStore& files = PosixFileStore();
  ASSIGN_OR_RETURN(dir_, DataDir::Open(files, config_.data_dir));
  DatabaseOptions database;
  database.path = dir_->database();
  database.clock = &SystemClock();
  database.on_write = [this](double seconds, const absl::Status& status) {
    if (status.ok()) {
      metrics_.store().Committed(seconds);
    } else if (absl::IsUnavailable(status) || absl::IsDataLoss(status) || absl::IsInternal(status) ||
               absl::IsResourceExhausted(status)) {
      metrics_.store().CommitFailed();
    }
  };
  ASSIGN_OR_RETURN(db_, Database::Open(database));
  ASSIGN_OR_RETURN(blobs_, BlobStore::Open(files, SystemIdSource(), *db_, dir_->blobs()));
  ASSIGN_OR_RETURN(configs_,
                   ConfigStore::Open(*db_, SystemClock(),
                                     {config_.uploads.max_configs, config_.uploads.max_config_bytes}));
  ASSIGN_OR_RETURN(launcher_, MakeProcessLauncher());
  TraceManagerOptions traces;
  traces.limits = config_.uploads;
  traces.uploads_dir = dir_->uploads();
  traces.scratch_dir = dir_->scratch();
  ASSIGN_OR_RETURN(traces.worker_program, WorkerProgram());
  ASSIGN_OR_RETURN(traces.ptxas, PtxCompiler());
  ASSIGN_OR_RETURN(traces_, TraceManager::Create({&files, &SystemClock(), &SystemIdSource(), launcher_.get(),
                                                  db_.get(), blobs_.get(), &trace_bridge_},
                                                 traces));
  traces_->SetInUseCheck(&JobStore::TraceInUse);
  return absl::OkStatus();
}

absl::Status DaemonImpl::OpenJobs() {
  ASSIGN_OR_RETURN(job_store_, JobStore::Open(*db_, *blobs_));
  sessions_ = std::make_unique<SessionTable>(*db_);
  ticker_ = std::make_unique<Ticker>(kTick, [this] { jobs_->Tick(); });
  LocalPoolOptions pool;
  pool.workers = config_.pool.workers != 0 ? static_cast<uint32_t>(config_.pool.workers)
                                           : std::max(1U, std::thread::hardware_concurrency());
  ASSIGN_OR_RETURN(pool.program, WorkerProgram());
  ASSIGN_OR_RETURN(pool.connect, UnixAddress(WorkerSocket()));
  pool.stderr_dir = absl::StrCat(dir_->path(), "/workers");
  pool.file_bytes_max = std::max(pool.file_bytes_max, config_.jobs.max_artifact_bytes);
  pool.version = absl::StrCat(Av(kProductVersion), "/", Av(kModelVersion));
  pool.environment = options_.worker_environment;
  pool.give_up = Seconds(config_.pool.reattach_grace_seconds) * 2 + std::chrono::seconds(60);
  pool.timing = TimingOf(config_.pool);
  pool_ = std::make_unique<LocalPool>(
      pool, LocalPoolDeps{SystemClock(), *launcher_, SystemProcessProbe(), PosixFileStore(), SystemIdSource(),
                          *sessions_, bridge_, [this] { ticker_->Wake(); }});
  RETURN_IF_ERROR(pool_->Start());
  inputs_ = std::make_unique<StoredInputs>(*traces_, *configs_, *blobs_);
  JobManagerOptions jobs = JobOptionsOf(config_.jobs);
  jobs.scratch_dir = pool.stderr_dir;
  jobs.artifact_bytes_max = config_.jobs.max_artifact_bytes;
  jobs_ = std::make_unique<JobManager>(
      std::move(jobs),
      JobManagerDeps{SystemClock(), SystemIdSource(), *job_store_, *pool_, *inputs_, bridge_});
  bridge_.SetRecovering(true);
  RETURN_IF_ERROR(jobs_->Recover());
  bridge_.SetRecovering(false);
  return absl::OkStatus();
}

absl::Status DaemonImpl::OpenAnalyses() {
  const AnalysisSettings& limits = config_.analyses;
  AnalysisRunnerOptions options;
  ASSIGN_OR_RETURN(options.worker_program, WorkerProgram());
  ASSIGN_OR_RETURN(options.ptxas, PtxCompiler());
  options.scratch_dir = dir_->scratch();
  options.memory_bytes = limits.memory_bytes;
  options.wall_seconds = limits.wall_seconds;
  options.answer_bytes_max = limits.answer_bytes;
  analysis_runner_ = std::make_unique<AnalysisRunner>(PosixFileStore(), SystemClock(), SystemIdSource(),
                                                      *launcher_, std::move(options));
  analysis_executor_ = std::make_unique<Executor>(limits.running, limits.max_waiting);
  return absl::OkStatus();
}

absl::Status DaemonImpl::OpenServers() {
  client_executor_ = std::make_unique<Executor>(kClientThreads, kWaitingCallsMax);
  worker_executor_ = std::make_unique<Executor>(kWorkerThreads, kWaitingCallsMax);
  RETURN_IF_ERROR(OpenAnalyses());
  // Before the services, so that GetStatus can name the actual port.
  if (!config_.listen.metrics_address.empty()) {
    ASSIGN_OR_RETURN(endpoint_, MetricsEndpoint::Start(config_.listen.metrics_address, metrics_));
    addresses_.metrics = endpoint_->address();
  }
  DaemonFacts facts{std::string(kProductVersion),  std::string(kModelVersion), BuildText(),
                    SystemClock().WallUnixNanos(), addresses_.metrics,         ServerLimits(config_)};
  services_.push_back(
      MakeTraceService(*traces_, *client_executor_, SystemClock(),
                       {config_.uploads.max_chunk_bytes, Seconds(config_.uploads.idle_seconds)}));
  services_.push_back(MakeConfigService(*configs_, *client_executor_));
  services_.push_back(MakeJobService({*jobs_, *blobs_, *client_executor_}));
  services_.push_back(
      MakeAnalysisService({*traces_, *blobs_, *analysis_runner_, *analysis_executor_, *client_executor_}));
  services_.push_back(MakePoolService({*jobs_, *client_executor_, std::move(facts),
                                       [this] { return traces_->counts().traces; },
                                       [this] { return blobs_->total_bytes(); }}));
  worker_service_ = MakeWorkerService({*jobs_, *blobs_, *worker_executor_, config_.jobs.max_artifact_bytes});
  std::vector<grpc::Service*> services;
  for (const auto& service : services_) services.push_back(service.get());
  addresses_.unix_socket = config_.UnixSocketPath();
  ASSIGN_OR_RETURN(servers_, GrpcServers::Start({config_.listen, addresses_.unix_socket, WorkerSocket()},
                                                services, worker_service_.get(), metrics_.rpcs()));
  addresses_.grpc = servers_->address();
  ticker_->Start();
  return absl::OkStatus();
}

absl::Status DaemonImpl::OpenMetrics() {
  metrics_.SetLiveStateSource([this] { return Live(); });
  return absl::OkStatus();
}

LiveState DaemonImpl::Live() {
  LiveState live;
  const JobCounts counts = jobs_->Counts();
  for (size_t i = 0; i < counts.by_state.size(); ++i) live.jobs[i] = counts.by_state[i];
  for (const WorkerInfo& worker : jobs_->Workers()) ++live.workers[static_cast<size_t>(worker.state)];
  live.oldest_queued_age_seconds = counts.oldest_queued_seconds;
  live.watchers = counts.watchers;
  const TraceManager::Counts traces = traces_->counts();
  live.uploads_open = traces.uploads_open;
  live.traces = traces.traces;
  live.store_bytes = blobs_->total_bytes();
  const absl::StatusOr<uint64_t> free = blobs_->FreeBytes();
  live.store_free_bytes = free.ok() ? *free : 0;
  live.draining = jobs_->draining();
  return live;
}

// For scripts that start a daemon on port 0.
absl::Status DaemonImpl::WriteReadyFile() {
  const nlohmann::ordered_json ready = {{"pid", getpid()},
                                        {"grpc", addresses_.grpc},
                                        {"unix_socket", addresses_.unix_socket},
                                        {"metrics", addresses_.metrics},
                                        {"version", std::string(kProductVersion)}};
  return AtomicWriteFile(PosixFileStore(), absl::StrCat(dir_->path(), "/ready.json"), ready.dump() + "\n");
}

}  // namespace

absl::StatusOr<std::unique_ptr<Daemon>> Daemon::Start(const DaemonOptions& options) {
  auto daemon = std::make_unique<DaemonImpl>(options);
  RETURN_IF_ERROR(daemon->Open());
  return daemon;
}

}  // namespace sm89
