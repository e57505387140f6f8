#include <gtest/gtest.h>

#include <map>
#include <string>
#include <thread>
#include <vector>

#include "tests/contract/job_fixture.h"

namespace sm89 {
namespace {

constexpr char kRequestId[] = "123e4567-e89b-12d3-a456-426614174000";

using JobServiceTest = testing::JobFixture;

TEST_F(JobServiceTest, ARunFromSubmitToResult) {
  const v1::Job job = SubmitPlain();
  EXPECT_EQ(job.state(), v1::Job::QUEUED);
  EXPECT_FALSE(job.state_reason().empty());
  EXPECT_EQ(job.spec().config(), "configs/RTX4090");

  const auto worker = NewWorker();
  ASSERT_TRUE(worker->attached().ok());
  const v1::RunningAttempt attempt = worker->Take();
  EXPECT_EQ(attempt.job(), job.name());
  EXPECT_EQ(Get(job.name()).state(), v1::Job::STARTING);
  EXPECT_EQ(worker->Beat(attempt, 77).action(), v1::HeartbeatResponse::CONTINUE);
  const v1::Job running = Get(job.name());
  EXPECT_EQ(running.state(), v1::Job::RUNNING);
  EXPECT_EQ(running.progress().cycle(), 77U);
  EXPECT_EQ(running.worker(), "workers/local-0");
  worker->Succeed(attempt);

  const v1::Job done = Get(job.name());
  EXPECT_EQ(done.state(), v1::Job::SUCCEEDED);
  ASSERT_EQ(done.events_size(), 4);
  EXPECT_EQ(done.events(3).state(), v1::Job::SUCCEEDED);

  v1::GetResultRequest request;
  request.set_name(job.name());
  request.add_artifacts("report.json");
  grpc::ClientContext context;
  const auto reader = jobs_->GetResult(&context, request);
  v1::ResultChunk chunk;
  ASSERT_TRUE(reader->Read(&chunk));
  EXPECT_EQ(chunk.result().job(), job.name());
  EXPECT_EQ(chunk.result().kernels(0).kernel_name(), "k");
  ASSERT_EQ(chunk.result().artifacts_size(), 1);
  EXPECT_EQ(chunk.result().artifacts(0).name(), "report.json");
  std::string bytes;
  bool last = false;
  while (reader->Read(&chunk)) {
    EXPECT_EQ(chunk.artifact().offset(), bytes.size());
    bytes += chunk.artifact().data();
    last = chunk.artifact().last();
  }
  EXPECT_TRUE(reader->Finish().ok());
  EXPECT_TRUE(last);
  EXPECT_EQ(bytes, std::string(3 << 20, 'j'));
}

TEST_F(JobServiceTest, TheSameQuestionIsAnsweredFromTheCache) {
  const v1::Job first = SubmitPlain(false);
  const auto worker = NewWorker();
  worker->Succeed(worker->Take());
  const v1::Job second = SubmitPlain(false);
  EXPECT_EQ(second.state(), v1::Job::SUCCEEDED);
  EXPECT_TRUE(second.result_from_cache());
  EXPECT_EQ(SubmitPlain(true).state(), v1::Job::QUEUED);

  // The result outlives the job that made it.
  v1::DeleteJobRequest remove;
  remove.set_name(first.name());
  v1::DeleteJobResponse removed;
  grpc::ClientContext context;
  ASSERT_TRUE(jobs_->DeleteJob(&context, remove, &removed).ok());
  v1::GetResultRequest request;
  request.set_name(second.name());
  grpc::ClientContext result_context;
  const auto reader = jobs_->GetResult(&result_context, request);
  v1::ResultChunk chunk;
  ASSERT_TRUE(reader->Read(&chunk));
  EXPECT_EQ(chunk.result().job(), second.name());
}

TEST_F(JobServiceTest, SubmitIsIdempotentByRequestId) {
  v1::SubmitJobRequest request;
  request.mutable_job()->set_trace("traces/t");
  request.set_request_id(kRequestId);
  std::vector<v1::Job> jobs(8);
  std::vector<std::thread> threads;
  for (v1::Job& job : jobs) threads.emplace_back([&] { EXPECT_TRUE(Submit(request, &job).ok()); });
  for (std::thread& thread : threads) thread.join();
  for (const v1::Job& job : jobs) EXPECT_EQ(job.name(), jobs[0].name());

  request.mutable_job()->set_priority(1);
  v1::Job other;
  const grpc::Status status = Submit(request, &other);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::ALREADY_EXISTS);
  EXPECT_EQ(testing::DetailOf(status).faults(0).field(), "request_id");
}

TEST_F(JobServiceTest, RefusalsNameTheField) {
  const auto refused = [&](const std::string& field, void (*change)(v1::SubmitJobRequest*)) {
    v1::SubmitJobRequest request;
    request.mutable_job()->set_trace("traces/t");
    change(&request);
    v1::Job job;
    const grpc::Status status = Submit(request, &job);
    EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT) << field;
    const v1::ErrorDetail detail = testing::DetailOf(status);
    ASSERT_GE(detail.faults_size(), 1) << field;
    EXPECT_EQ(detail.faults(0).field(), field);
  };
  refused("trace", [](v1::SubmitJobRequest* r) { r->mutable_job()->set_trace("../x"); });
  refused("config", [](v1::SubmitJobRequest* r) { r->mutable_job()->set_config("traces/x"); });
  refused("kernels", [](v1::SubmitJobRequest* r) { r->mutable_job()->set_kernels("11"); });
  refused("priority", [](v1::SubmitJobRequest* r) { r->mutable_job()->set_priority(11); });
  refused("threads", [](v1::SubmitJobRequest* r) { r->mutable_job()->set_threads(1000); });
  refused("request_id", [](v1::SubmitJobRequest* r) { r->set_request_id("x"); });
  v1::SubmitJobRequest absent;
  absent.mutable_job()->set_trace("traces/absent");
  v1::Job job;
  EXPECT_EQ(Submit(absent, &job).error_code(), grpc::StatusCode::NOT_FOUND);
}

TEST_F(JobServiceTest, ValidateOnlyMakesNoJob) {
  v1::SubmitJobRequest request;
  request.mutable_job()->set_trace("traces/t");
  request.mutable_job()->set_kernels("3-1");
  request.set_validate_only(true);
  v1::Job job;
  EXPECT_EQ(Submit(request, &job).error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  request.mutable_job()->set_kernels("1-3");
  EXPECT_TRUE(Submit(request, &job).ok());
  EXPECT_EQ(job.name(), "");
  v1::ListJobsResponse list;
  grpc::ClientContext context;
  ASSERT_TRUE(jobs_->ListJobs(&context, {}, &list).ok());
  EXPECT_EQ(list.total(), 0U);
}

TEST_F(JobServiceTest, CancelOfAQueuedJobIsImmediateAndRepeatable) {
  const v1::Job job = SubmitPlain();
  v1::Job cancelled;
  ASSERT_TRUE(Cancel(job.name(), &cancelled).ok());
  EXPECT_EQ(cancelled.state(), v1::Job::CANCELLED);
  EXPECT_TRUE(Cancel(job.name(), &cancelled).ok());
  EXPECT_EQ(Cancel("jobs/absent", &cancelled).error_code(), grpc::StatusCode::NOT_FOUND);
}

TEST_F(JobServiceTest, CancelOfARunningJobWaitsForTheWorker) {
  const v1::Job job = SubmitPlain();
  const auto worker = NewWorker();
  const v1::RunningAttempt attempt = worker->Take();
  worker->Beat(attempt);
  v1::Job cancelled;
  ASSERT_TRUE(Cancel(job.name(), &cancelled).ok());
  EXPECT_EQ(cancelled.state(), v1::Job::CANCELLING);
  EXPECT_EQ(worker->Beat(attempt).action(), v1::HeartbeatResponse::CANCEL);
  v1::CompleteRequest complete;
  *complete.mutable_attempt() = attempt;
  complete.mutable_failure()->set_cancelled(true);
  complete.mutable_failure()->set_code("CANCELLED");
  ASSERT_TRUE(worker->Complete(complete).ok());
  EXPECT_EQ(Get(job.name()).state(), v1::Job::CANCELLED);
}

TEST_F(JobServiceTest, WatchFollowsAJobToItsEnd) {
  const v1::Job job = SubmitPlain();
  v1::WatchJobRequest request;
  request.set_name(job.name());
  grpc::ClientContext context;
  const auto reader = jobs_->WatchJob(&context, request);
  v1::JobUpdate update;
  ASSERT_TRUE(reader->Read(&update));
  EXPECT_EQ(update.kind(), v1::JobUpdate::SNAPSHOT);
  EXPECT_EQ(update.job().state(), v1::Job::QUEUED);
  uint64_t sequence = update.sequence();
  const auto worker = NewWorker();
  const v1::RunningAttempt attempt = worker->Take();
  worker->Beat(attempt, 1);
  worker->Succeed(attempt);
  v1::Job::State last = v1::Job::QUEUED;
  while (reader->Read(&update)) {
    EXPECT_GT(update.sequence(), sequence);
    sequence = update.sequence();
    if (update.has_job()) last = update.job().state();
  }
  EXPECT_TRUE(reader->Finish().ok());
  EXPECT_EQ(last, v1::Job::SUCCEEDED);

  request.set_from_sequence(sequence);
  grpc::ClientContext again;
  const auto nothing = jobs_->WatchJob(&again, request);
  EXPECT_FALSE(nothing->Read(&update));
  EXPECT_TRUE(nothing->Finish().ok());
}

TEST_F(JobServiceTest, AWatcherGetsSoMuchOfTheProfileAsItAsksFor) {
  const v1::Job job = SubmitPlain();
  const auto worker = NewWorker();
  const v1::RunningAttempt attempt = worker->Take();
  v1::Progress progress;
  progress.set_cycle(5);
  v1::LiveProfile& profile = *progress.mutable_profile();
  profile.set_kernel_name("k");
  profile.set_instructions(100);
  profile.set_issued(7);
  profile.set_warp_cycles(90);
  profile.set_waited(80);
  for (uint64_t i = 0; i < 100; ++i) {  // more than a worker sends
    v1::LiveProfileRow* row = profile.add_rows();
    row->set_pc(16 * i);
    row->set_opcode("LDG.E");
    row->set_issued(3);
    row->set_threads(96);
    row->set_waited(100 - i);
    for (int r = 0; r < 5; ++r) row->add_reasons()->set_name("wait");
  }
  worker->Beat(attempt, progress);
  for (const uint32_t rows : {0u, 3u, 64u}) {
    v1::WatchJobRequest request;
    request.set_name(job.name());
    request.set_profile_rows(rows);
    grpc::ClientContext context;
    const auto reader = jobs_->WatchJob(&context, request);
    v1::JobUpdate update;
    ASSERT_TRUE(reader->Read(&update));
    const v1::Progress& seen = update.job().progress();
    EXPECT_EQ(seen.cycle(), 5u);
    EXPECT_EQ(seen.has_profile(), rows != 0);
    ASSERT_EQ(seen.profile().rows_size(), static_cast<int>(rows));
    context.TryCancel();
    if (rows == 0) continue;
    EXPECT_EQ(seen.profile().waited(), 80u);
    EXPECT_EQ(seen.profile().rows(2).pc(), 32u);
    EXPECT_EQ(seen.profile().rows(2).waited(), 98u);
    EXPECT_EQ(seen.profile().rows(2).reasons_size(), 3);
  }
  EXPECT_FALSE(Get(job.name()).progress().has_profile()) << "watchers only";
  v1::WatchJobRequest request;
  request.set_name(job.name());
  request.set_profile_rows(65);
  grpc::ClientContext context;
  const auto reader = jobs_->WatchJob(&context, request);
  v1::JobUpdate update;
  EXPECT_FALSE(reader->Read(&update));
  const grpc::Status status = reader->Finish();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(testing::DetailOf(status).faults(0).field(), "profile_rows");
}

TEST_F(JobServiceTest, AProfileStaysUntilTheNextOneOfItsKernel) {
  const v1::Job job = SubmitPlain();
  const auto worker = NewWorker();
  const v1::RunningAttempt attempt = worker->Take();
  const auto beat = [&](uint64_t cycle, uint32_t kernel, uint64_t waited) {
    v1::Progress progress;
    progress.set_cycle(cycle);
    progress.set_kernel_index(kernel);
    if (waited != 0) {
      progress.mutable_profile()->set_kernel_index(kernel);
      progress.mutable_profile()->set_waited(waited);
    }
    worker->Beat(attempt, progress);
    v1::WatchJobRequest request;
    request.set_name(job.name());
    request.set_profile_rows(5);
    grpc::ClientContext context;
    const auto reader = jobs_->WatchJob(&context, request);
    v1::JobUpdate update;
    EXPECT_TRUE(reader->Read(&update));
    context.TryCancel();
    EXPECT_EQ(update.job().progress().cycle(), cycle);
    return update.job().progress().profile().waited();  // 0 = none
  };
  EXPECT_EQ(beat(1, 2, 0), 0u);
  EXPECT_EQ(beat(2, 2, 80), 80u);
  EXPECT_EQ(beat(3, 2, 0), 80u);
  EXPECT_EQ(beat(4, 2, 0), 80u);
  EXPECT_EQ(beat(5, 2, 90), 90u);
  EXPECT_EQ(beat(6, 3, 0), 0u);
  EXPECT_EQ(beat(7, 2, 0), 0u);
}

TEST_F(JobServiceTest, AWatcherThatGoesAwayAndOneOfNoJob) {
  const v1::Job job = SubmitPlain();
  v1::WatchJobRequest request;
  request.set_name(job.name());
  {
    grpc::ClientContext context;
    const auto reader = jobs_->WatchJob(&context, request);
    v1::JobUpdate update;
    ASSERT_TRUE(reader->Read(&update));
    context.TryCancel();
    EXPECT_EQ(reader->Finish().error_code(), grpc::StatusCode::CANCELLED);
  }
  request.set_name("jobs/absent");
  grpc::ClientContext context;
  const auto reader = jobs_->WatchJob(&context, request);
  v1::JobUpdate update;
  EXPECT_FALSE(reader->Read(&update));
  const grpc::Status status = reader->Finish();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_EQ(testing::DetailOf(status).reason(), "JOB_NOT_FOUND");
}

TEST_F(JobServiceTest, WatchersAreToldOfTheDrainAndSubmitsAreRefused) {
  const v1::Job job = SubmitPlain();
  v1::WatchJobRequest request;
  request.set_name(job.name());
  grpc::ClientContext context;
  const auto reader = jobs_->WatchJob(&context, request);
  v1::JobUpdate update;
  ASSERT_TRUE(reader->Read(&update));
  manager_->BeginShutdown();
  ASSERT_TRUE(reader->Read(&update));
  EXPECT_EQ(update.kind(), v1::JobUpdate::SERVER_DRAINING);
  EXPECT_FALSE(reader->Read(&update));
  EXPECT_TRUE(reader->Finish().ok());
  v1::SubmitJobRequest submit;
  submit.mutable_job()->set_trace("traces/t");
  v1::Job refused;
  EXPECT_EQ(Submit(submit, &refused).error_code(), grpc::StatusCode::UNAVAILABLE);
}

TEST_F(JobServiceTest, ListPagesAndFilters) {
  for (int i = 0; i < 5; ++i) {
    v1::SubmitJobRequest request;
    request.mutable_job()->set_trace("traces/t");
    (*request.mutable_job()->mutable_labels())["run"] = i % 2 == 0 ? "even" : "odd";
    v1::Job job;
    ASSERT_TRUE(Submit(request, &job).ok());
  }
  v1::ListJobsRequest request;
  request.set_page_size(2);
  request.set_filter("label.run=even");
  std::vector<std::string> names;
  do {
    v1::ListJobsResponse page;
    grpc::ClientContext context;
    ASSERT_TRUE(jobs_->ListJobs(&context, request, &page).ok());
    EXPECT_EQ(page.total(), 3U);
    for (const v1::Job& job : page.jobs()) names.push_back(job.name());
    request.set_page_token(page.next_page_token());
  } while (!request.page_token().empty());
  EXPECT_EQ(names.size(), 3U);

  request.set_page_token("1.2.x");
  v1::ListJobsResponse page;
  grpc::ClientContext context;
  EXPECT_EQ(jobs_->ListJobs(&context, request, &page).error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  request.set_page_token("");
  request.set_page_size(-1);
  grpc::ClientContext negative;
  EXPECT_EQ(jobs_->ListJobs(&negative, request, &page).error_code(), grpc::StatusCode::INVALID_ARGUMENT);
}

TEST_F(JobServiceTest, UpdateTakesLabelsAndPriorityOfAQueuedJobOnly) {
  const v1::Job job = SubmitPlain();
  v1::UpdateJobRequest request;
  request.mutable_job()->set_name(job.name());
  request.mutable_job()->mutable_spec()->set_priority(5);
  request.mutable_update_mask()->add_paths("spec.priority");
  v1::Job updated;
  const auto update = [&] {
    grpc::ClientContext context;
    return jobs_->UpdateJob(&context, request, &updated).error_code();
  };
  EXPECT_EQ(update(), grpc::StatusCode::OK);
  EXPECT_EQ(updated.spec().priority(), 5);
  request.mutable_job()->set_etag(job.etag());
  EXPECT_EQ(update(), grpc::StatusCode::ABORTED);
  request.mutable_job()->clear_etag();
  request.mutable_update_mask()->add_paths("state");
  EXPECT_EQ(update(), grpc::StatusCode::INVALID_ARGUMENT);
  request.mutable_update_mask()->clear_paths();
  EXPECT_EQ(update(), grpc::StatusCode::INVALID_ARGUMENT);
  request.mutable_update_mask()->add_paths("spec.priority");
  v1::Job cancelled;
  ASSERT_TRUE(Cancel(job.name(), &cancelled).ok());
  EXPECT_EQ(update(), grpc::StatusCode::FAILED_PRECONDITION);
}

TEST_F(JobServiceTest, DeleteIsForEndedJobs) {
  const v1::Job job = SubmitPlain();
  v1::DeleteJobRequest request;
  request.set_name(job.name());
  v1::DeleteJobResponse response;
  const auto remove = [&] {
    grpc::ClientContext context;
    return jobs_->DeleteJob(&context, request, &response).error_code();
  };
  EXPECT_EQ(remove(), grpc::StatusCode::FAILED_PRECONDITION);
  v1::Job cancelled;
  ASSERT_TRUE(Cancel(job.name(), &cancelled).ok());
  EXPECT_EQ(remove(), grpc::StatusCode::OK);
  EXPECT_EQ(remove(), grpc::StatusCode::NOT_FOUND);
  request.set_allow_missing(true);
  EXPECT_EQ(remove(), grpc::StatusCode::OK);
}

TEST_F(JobServiceTest, ResultsThatAreNotThere) {
  const v1::Job job = SubmitPlain();
  v1::GetResultRequest request;
  request.set_name(job.name());
  const auto fetch = [&] {
    grpc::ClientContext context;
    const auto reader = jobs_->GetResult(&context, request);
    v1::ResultChunk chunk;
    while (reader->Read(&chunk)) {
    }
    return reader->Finish().error_code();
  };
  EXPECT_EQ(fetch(), grpc::StatusCode::FAILED_PRECONDITION);
  const auto worker = NewWorker();
  worker->Succeed(worker->Take());
  request.add_artifacts("report.pdf");
  EXPECT_EQ(fetch(), grpc::StatusCode::NOT_FOUND);
  request.set_artifacts(0, "result.bin");  // internal
  EXPECT_EQ(fetch(), grpc::StatusCode::NOT_FOUND);
}

}  // namespace
}  // namespace sm89
