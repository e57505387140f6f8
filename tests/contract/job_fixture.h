// The job side of the service over real connections, with workers that the test plays itself.
#pragma once

#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "server/jobs/job_manager.h"
#include "server/jobs/session_table.h"
#include "server/jobs/ticker.h"
#include "server/os/executor.h"
#include "server/pool/local_pool.h"
#include "server/service/job_service.h"
#include "server/service/pool_service.h"
#include "server/service/worker_service.h"
#include "server/store/blob_store.h"
#include "sim/base/digest.h"
#include "sm89/v1/job.grpc.pb.h"
#include "sm89/v1/pool.grpc.pb.h"
#include "sm89/v1/worker.grpc.pb.h"
#include "tests/contract/grpc_fixture.h"
#include "tests/support/fake_process.h"
#include "tests/support/temp_dir.h"

namespace sm89::testing {

class AnyInputs final : public JobInputSource {
 public:
  absl::StatusOr<ResolvedInputs> Resolve(const JobSpec& spec) override {
    if (spec.trace == "absent") return absl::NotFoundError("there is no such trace");
    return ResolvedInputs{{"trace-digest", "blob", "t.tar", "config-digest", ""}, 10};
  }
  absl::Status Recheck(Transaction&, const JobSpec&, const JobInputs&) override { return absl::OkStatus(); }
  absl::StatusOr<InputPaths> Paths(const JobInputs&) override { return InputPaths{"/trace"}; }
};

class SilentObserver final : public JobObserver, public PoolObserver {
 public:
  void OnSubmitted(const Job&) override {}
  void OnChanged(const Job&, const Job&, double) override {}
  void OnProgress(const Job&, const JobProgress&) override {}
  void OnReattached(const Job&) override {}
  void OnWorkerStarted(bool) override {}
  void OnWorkerEnded(WorkerEnd) override {}
  void OnWorkerReattached() override {}
  void OnLeaseExpired() override {}
};

// A worker whose every call the test makes.
class ScriptedWorker {
 public:
  ScriptedWorker(const std::shared_ptr<grpc::Channel>& channel, const std::string& ticket)
      : stub_(v1::WorkerService::NewStub(channel)) {
    v1::AttachRequest request;
    request.set_ticket(ticket);
    request.set_version("v");
    v1::AttachResponse response;
    grpc::ClientContext context;
    attached_ = stub_->Attach(&context, request, &response);
    session_ = response.session();
  }

  const grpc::Status& attached() const { return attached_; }
  const std::string& session() const { return session_; }
  v1::WorkerService::Stub& stub() { return *stub_; }

  v1::PollResponse Poll() {
    v1::PollRequest request;
    request.set_session(session_);
    v1::PollResponse response;
    grpc::ClientContext context;
    const grpc::Status status = stub_->Poll(&context, request, &response);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return response;
  }
  // Polls until there is work.
  v1::RunningAttempt Take() {
    v1::PollResponse response;
    while (!response.has_assignment() && !response.stop()) response = Poll();
    v1::RunningAttempt attempt;
    attempt.set_job(response.assignment().job());
    attempt.set_attempt(response.assignment().attempt());
    attempt.set_fence(response.assignment().fence());
    return attempt;
  }
  v1::HeartbeatResponse Beat(const v1::RunningAttempt& attempt, uint64_t cycle = 0) {
    v1::Progress progress;
    progress.set_cycle(cycle);
    return Beat(attempt, progress);
  }
  v1::HeartbeatResponse Beat(const v1::RunningAttempt& attempt, const v1::Progress& progress) {
    v1::HeartbeatRequest request;
    request.set_session(session_);
    *request.mutable_running() = attempt;
    if (progress.cycle() != 0) *request.mutable_progress() = progress;
    v1::HeartbeatResponse response;
    grpc::ClientContext context;
    const grpc::Status status = stub_->Heartbeat(&context, request, &response);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return response;
  }
  grpc::Status Write(const v1::RunningAttempt& attempt, const std::string& name, const std::string& bytes,
                     bool finish = true) {
    grpc::ClientContext context;
    v1::WriteArtifactResponse response;
    const auto writer = stub_->WriteArtifact(&context, &response);
    v1::WriteArtifactRequest request;
    request.set_session(session_);
    *request.mutable_attempt() = attempt;
    request.set_name(name);
    request.set_data(bytes);
    request.set_finish(finish);
    request.set_sha256(Sha256Hex(bytes));
    writer->Write(request);
    writer->WritesDone();
    return writer->Finish();
  }
  grpc::Status Complete(const v1::CompleteRequest& partial, bool* accepted = nullptr) {
    v1::CompleteRequest request = partial;
    request.set_session(session_);
    v1::CompleteResponse response;
    grpc::ClientContext context;
    const grpc::Status status = stub_->Complete(&context, request, &response);
    if (accepted != nullptr) *accepted = response.accepted();
    return status;
  }
  // Artifacts and result of a whole run.
  void Succeed(const v1::RunningAttempt& attempt) {
    v1::Result result;
    result.set_status("complete");
    result.add_kernels()->set_kernel_name("k");
    std::string typed(1, static_cast<char>(result.ByteSizeLong()));
    typed += result.SerializeAsString();
    ASSERT_TRUE(Write(attempt, "result.bin", typed).ok());
    ASSERT_TRUE(Write(attempt, "report.json", std::string(3 << 20, 'j')).ok());
    v1::CompleteRequest request;
    *request.mutable_attempt() = attempt;
    request.mutable_result()->set_status("complete");
    bool accepted = false;
    const grpc::Status status = Complete(request, &accepted);
    ASSERT_TRUE(status.ok()) << status.error_message();
    EXPECT_TRUE(accepted);
  }

 private:
  std::unique_ptr<v1::WorkerService::Stub> stub_;
  grpc::Status attached_;
  std::string session_;
};

class JobFixture : public ::testing::Test {
 protected:
  JobFixture() {
    db_ = *Database::Open({dir_.File("db")});
    blobs_ = *BlobStore::Open(PosixFileStore(), SystemIdSource(), *db_, dir_.File("blobs"));
    store_.emplace(*JobStore::Open(*db_, *blobs_));
    sessions_ = std::make_unique<SessionTable>(*db_);
    LocalPoolOptions pool;
    pool.workers = 1;
    pool.stderr_dir = dir_.File("workers");
    pool.version = "v";
    pool_ = std::make_unique<LocalPool>(
        pool, LocalPoolDeps{SystemClock(), launcher_, SystemProcessProbe(), PosixFileStore(),
                            SystemIdSource(), *sessions_, observer_, [] {}});
    EXPECT_TRUE(pool_->Start().ok());
    JobManagerOptions options;
    options.poll_wait = std::chrono::milliseconds(200);
    manager_ = std::make_unique<JobManager>(
        options, JobManagerDeps{SystemClock(), SystemIdSource(), *store_, *pool_, inputs_, observer_});
    EXPECT_TRUE(manager_->Recover().ok());
    manager_->Tick();  // starts the worker's process
    job_service_ = MakeJobService({*manager_, *blobs_, executor_});
    PoolServiceDeps pool_deps{
        *manager_, executor_, {}, [] { return uint64_t{2}; }, [] { return uint64_t{3}; }};
    pool_deps.facts.version = "1.2.3";
    pool_service_ = MakePoolService(std::move(pool_deps));
    worker_service_ = MakeWorkerService({*manager_, *blobs_, executor_, uint64_t{8} << 20});
    clients_ =
        std::make_unique<LocalServer>(std::vector<grpc::Service*>{job_service_.get(), pool_service_.get()});
    workers_ = std::make_unique<LocalServer>(std::vector<grpc::Service*>{worker_service_.get()});
    jobs_ = v1::JobService::NewStub(clients_->channel());
    pool_stub_ = v1::PoolService::NewStub(clients_->channel());
    ticker_.Start();
  }

  std::string Ticket() {
    const std::string variable = launcher_.Started().back().environment.back();
    return variable.substr(variable.find('=') + 1);
  }
  std::unique_ptr<ScriptedWorker> NewWorker() {
    return std::make_unique<ScriptedWorker>(workers_->channel(), Ticket());
  }

  grpc::Status Submit(const v1::SubmitJobRequest& request, v1::Job* job) {
    grpc::ClientContext context;
    return jobs_->SubmitJob(&context, request, job);
  }
  v1::Job SubmitPlain(bool no_cache = true) {
    v1::SubmitJobRequest request;
    request.mutable_job()->set_trace("traces/t");
    request.mutable_job()->set_no_result_cache(no_cache);
    v1::Job job;
    const grpc::Status status = Submit(request, &job);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return job;
  }
  v1::Job Get(const std::string& name) {
    v1::GetJobRequest request;
    request.set_name(name);
    v1::Job job;
    grpc::ClientContext context;
    const grpc::Status status = jobs_->GetJob(&context, request, &job);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return job;
  }
  grpc::Status Cancel(const std::string& name, v1::Job* job) {
    v1::CancelJobRequest request;
    request.set_name(name);
    grpc::ClientContext context;
    return jobs_->CancelJob(&context, request, job);
  }

  TempDir dir_;
  FakeProcessLauncher launcher_;
  AnyInputs inputs_;
  SilentObserver observer_;
  std::unique_ptr<Database> db_;
  std::unique_ptr<BlobStore> blobs_;
  std::optional<JobStore> store_;
  std::unique_ptr<SessionTable> sessions_;
  std::unique_ptr<LocalPool> pool_;
  std::unique_ptr<JobManager> manager_;
  Ticker ticker_{std::chrono::milliseconds(20), [this] { manager_->Tick(); }};
  Executor executor_{4, 1000};
  std::unique_ptr<grpc::Service> job_service_;
  std::unique_ptr<grpc::Service> pool_service_;
  std::unique_ptr<grpc::Service> worker_service_;
  std::unique_ptr<v1::JobService::Stub> jobs_;
  std::unique_ptr<v1::PoolService::Stub> pool_stub_;
  std::unique_ptr<LocalServer> clients_;
  std::unique_ptr<LocalServer> workers_;
};

}  // namespace sm89::testing
