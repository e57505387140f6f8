#include <gtest/gtest.h>

#include <string>
#include <thread>

#include "tests/contract/job_fixture.h"

namespace sm89 {
namespace {

using WorkerServiceTest = testing::JobFixture;

TEST_F(WorkerServiceTest, ClientsCannotReachIt) {
  const auto stub = v1::WorkerService::NewStub(clients_->channel());
  v1::AttachResponse response;
  grpc::ClientContext context;
  EXPECT_EQ(stub->Attach(&context, {}, &response).error_code(), grpc::StatusCode::UNIMPLEMENTED);
}

TEST_F(WorkerServiceTest, StrangersAreRefused) {
  const testing::ScriptedWorker stranger(workers_->channel(), "guess");
  EXPECT_EQ(stranger.attached().error_code(), grpc::StatusCode::UNAUTHENTICATED);
  const auto stub = v1::WorkerService::NewStub(workers_->channel());
  v1::PollRequest poll;
  poll.set_session("guess");
  v1::PollResponse response;
  grpc::ClientContext context;
  EXPECT_EQ(stub->Poll(&context, poll, &response).error_code(), grpc::StatusCode::UNAUTHENTICATED);
}

TEST_F(WorkerServiceTest, AnIdlePollEndsWithNothing) {
  const auto worker = NewWorker();
  const v1::PollResponse response = worker->Poll();
  EXPECT_FALSE(response.has_assignment());
  EXPECT_FALSE(response.stop());
}

TEST_F(WorkerServiceTest, APollWhoseCallerIsGoneTakesNoWork) {
  const auto worker = NewWorker();
  {
    v1::PollRequest poll;
    poll.set_session(worker->session());
    v1::PollResponse response;
    grpc::ClientContext context;
    std::thread cancel([&] { context.TryCancel(); });
    EXPECT_NE(worker->stub().Poll(&context, poll, &response).error_code(), grpc::StatusCode::UNAUTHENTICATED);
    cancel.join();
  }
  const v1::Job job = SubmitPlain();
  EXPECT_EQ(worker->Take().job(), job.name());
}

TEST_F(WorkerServiceTest, ResultsNeedTheTypedArtifactFirst) {
  SubmitPlain();
  const auto worker = NewWorker();
  v1::CompleteRequest complete;
  *complete.mutable_attempt() = worker->Take();
  complete.mutable_result()->set_status("complete");
  EXPECT_EQ(worker->Complete(complete).error_code(), grpc::StatusCode::FAILED_PRECONDITION);
  complete.clear_outcome();
  EXPECT_EQ(worker->Complete(complete).error_code(), grpc::StatusCode::INVALID_ARGUMENT);
}

TEST_F(WorkerServiceTest, ResultsNeedWhatTheJobAskedFor) {
  v1::SubmitJobRequest request;
  request.mutable_job()->set_trace("traces/t");
  request.mutable_job()->set_profile(true);
  request.mutable_job()->set_keep_trace(true);
  request.mutable_job()->set_ser_trace(v1::SER_TRACE_CSV);
  v1::Job job;
  ASSERT_TRUE(Submit(request, &job).ok());
  const auto worker = NewWorker();
  v1::CompleteRequest complete;
  *complete.mutable_attempt() = worker->Take();
  complete.mutable_result()->set_status("complete");
  for (const char* name : {"result.bin", "trace.sm89t", "profile.json", "profile.csv", "ser_trace.csv"}) {
    const grpc::Status status = worker->Complete(complete);
    EXPECT_EQ(status.error_code(), grpc::StatusCode::FAILED_PRECONDITION);
    EXPECT_NE(status.error_message().find(name), std::string::npos) << status.error_message();
    ASSERT_TRUE(worker->Write(complete.attempt(), name, "x").ok());
  }
  v1::Job twin;
  ASSERT_TRUE(Submit(request, &twin).ok());
  EXPECT_EQ(twin.state(), v1::Job::QUEUED) << "nothing is cached yet";
  EXPECT_TRUE(worker->Complete(complete).ok());
  EXPECT_EQ(Get(job.name()).state(), v1::Job::SUCCEEDED);
  ASSERT_TRUE(Submit(request, &twin).ok());
  EXPECT_TRUE(twin.result_from_cache());
  request.mutable_job()->set_ser_trace(v1::SER_TRACE_JSONL);
  ASSERT_TRUE(Submit(request, &twin).ok());
  EXPECT_FALSE(twin.result_from_cache()) << "another form is another question";
}

TEST_F(WorkerServiceTest, CompleteIsIdempotentAndOldFencesAreAborted) {
  const v1::Job job = SubmitPlain();
  const auto worker = NewWorker();
  const v1::RunningAttempt attempt = worker->Take();
  worker->Succeed(attempt);
  v1::CompleteRequest again;
  *again.mutable_attempt() = attempt;
  again.mutable_result()->set_status("complete");
  bool accepted = false;
  EXPECT_TRUE(worker->Complete(again, &accepted).ok());
  EXPECT_TRUE(accepted);
  again.mutable_attempt()->set_fence(attempt.fence() - 1);
  EXPECT_EQ(worker->Complete(again).error_code(), grpc::StatusCode::ABORTED);
  EXPECT_EQ(Get(job.name()).state(), v1::Job::SUCCEEDED);
}

TEST_F(WorkerServiceTest, AnArtifactStreamWithoutItsEndStoresNothing) {
  SubmitPlain();
  const auto worker = NewWorker();
  const v1::RunningAttempt attempt = worker->Take();
  EXPECT_EQ(worker->Write(attempt, "result.bin", "x", false).error_code(), grpc::StatusCode::DATA_LOSS);
  EXPECT_EQ(worker->Write(attempt, "../x", "x").error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  v1::RunningAttempt other = attempt;
  other.set_fence(attempt.fence() + 1);
  EXPECT_EQ(worker->Write(other, "result.bin", "x").error_code(), grpc::StatusCode::ABORTED);
  EXPECT_EQ(blobs_->total_bytes(), 0U);
}

TEST_F(WorkerServiceTest, AFailureOfTheInputReachesTheJobWithItsFaults) {
  const v1::Job job = SubmitPlain();
  const auto worker = NewWorker();
  v1::CompleteRequest complete;
  *complete.mutable_attempt() = worker->Take();
  complete.mutable_failure()->set_code("INVALID_ARGUMENT");
  complete.mutable_failure()->set_message("kernel 3 does not fit");
  complete.mutable_failure()->mutable_detail()->add_faults()->set_message("kernel 3 does not fit");
  ASSERT_TRUE(worker->Complete(complete).ok());
  const v1::Job failed = Get(job.name());
  EXPECT_EQ(failed.state(), v1::Job::FAILED);
  EXPECT_EQ(failed.error_code(), "INVALID_ARGUMENT");
  EXPECT_EQ(failed.error().faults(0).message(), "kernel 3 does not fit");
  EXPECT_EQ(failed.attempt(), 1U);
}

TEST_F(WorkerServiceTest, AKilledWorkerCostsOneAttemptAndSaysSo) {
  const v1::Job job = SubmitPlain();
  const auto first = NewWorker();
  const v1::RunningAttempt attempt = first->Take();
  first->Beat(attempt);
  launcher_.End(launcher_.Running().at(0), ProcessExit{0, 9, 0});
  while (launcher_.Started().size() < 2) std::this_thread::yield();
  const auto second = NewWorker();
  const v1::RunningAttempt retried = second->Take();
  EXPECT_EQ(retried.job(), job.name());
  EXPECT_EQ(retried.attempt(), 2U);
  EXPECT_GT(retried.fence(), attempt.fence());
  bool said = false;
  const v1::Job now = Get(job.name());
  for (const v1::JobEvent& event : now.events()) {
    said = said || event.reason().find("killed by signal 9") != std::string::npos;
  }
  EXPECT_TRUE(said);
}

TEST_F(WorkerServiceTest, AnAssertionFailsTheJobWithoutARetry) {
  const v1::Job job = SubmitPlain();
  const auto worker = NewWorker();
  worker->Beat(worker->Take());
  launcher_.End(launcher_.Running().at(0), ProcessExit{0, 6, 0});
  while (Get(job.name()).state() != v1::Job::FAILED) std::this_thread::yield();
  EXPECT_EQ(Get(job.name()).error_code(), "INTERNAL");
  EXPECT_EQ(Get(job.name()).error().reason(), "WORKER_CRASHED");
}

TEST_F(WorkerServiceTest, AJobOverItsMemoryLimitIsStopped) {
  const v1::Job job = SubmitPlain();
  const auto worker = NewWorker();
  v1::HeartbeatRequest beat;
  beat.set_session(worker->session());
  *beat.mutable_running() = worker->Take();
  beat.set_memory_bytes(uint64_t{1} << 50);
  v1::HeartbeatResponse response;
  grpc::ClientContext context;
  ASSERT_TRUE(worker->stub().Heartbeat(&context, beat, &response).ok());
  EXPECT_EQ(response.action(), v1::HeartbeatResponse::ABANDON);
  EXPECT_EQ(Get(job.name()).error_code(), "RESOURCE_EXHAUSTED");
}

}  // namespace
}  // namespace sm89
