#include <gtest/gtest.h>

#include <string>

#include "tests/contract/job_fixture.h"

namespace sm89 {
namespace {

class PoolServiceTest : public testing::JobFixture {
 protected:
  v1::Worker Worker() {
    v1::ListWorkersResponse list;
    grpc::ClientContext context;
    EXPECT_TRUE(pool_stub_->ListWorkers(&context, {}, &list).ok());
    EXPECT_EQ(list.workers_size(), 1);
    return list.workers_size() == 1 ? list.workers(0) : v1::Worker();
  }
  grpc::StatusCode Drain(const std::string& worker, v1::PoolStatus* status) {
    v1::DrainRequest request;
    request.set_worker(worker);
    grpc::ClientContext context;
    return pool_stub_->Drain(&context, request, status).error_code();
  }
  grpc::StatusCode Resume(const std::string& worker, v1::PoolStatus* status) {
    v1::ResumeRequest request;
    request.set_worker(worker);
    grpc::ClientContext context;
    return pool_stub_->Resume(&context, request, status).error_code();
  }
};

TEST_F(PoolServiceTest, ShowsWorkersAndTheirWork) {
  EXPECT_EQ(Worker().state(), v1::Worker::STARTING);
  const auto worker = NewWorker();
  EXPECT_EQ(Worker().state(), v1::Worker::IDLE);
  const v1::Job job = SubmitPlain();
  worker->Beat(worker->Take());
  const v1::Worker busy = Worker();
  EXPECT_EQ(busy.state(), v1::Worker::BUSY);
  EXPECT_EQ(busy.job(), job.name());
  EXPECT_EQ(busy.name(), "workers/local-0");
}

TEST_F(PoolServiceTest, StatusCountsAndNamesTheVersion) {
  SubmitPlain();
  v1::PoolStatus status;
  grpc::ClientContext context;
  ASSERT_TRUE(pool_stub_->GetStatus(&context, {}, &status).ok());
  EXPECT_EQ(status.version(), "1.2.3");
  EXPECT_EQ(status.workers_total(), 1U);
  EXPECT_EQ(status.jobs_queued(), 1U);
  EXPECT_EQ(status.jobs_running(), 0U);
  EXPECT_EQ(status.traces(), 2U);
  EXPECT_EQ(status.store_bytes(), 3U);
}

TEST_F(PoolServiceTest, ADrainedPoolStartsNothingUntilResumed) {
  const auto worker = NewWorker();
  v1::PoolStatus status;
  ASSERT_EQ(Drain("", &status), grpc::StatusCode::OK);
  EXPECT_TRUE(status.draining());
  const v1::Job job = SubmitPlain();
  EXPECT_NE(job.state_reason().find("draining"), std::string::npos);
  EXPECT_FALSE(worker->Poll().has_assignment());
  ASSERT_EQ(Resume("", &status), grpc::StatusCode::OK);
  EXPECT_EQ(worker->Take().job(), job.name());
}

TEST_F(PoolServiceTest, OneWorkerCanBeDrained) {
  const auto worker = NewWorker();
  v1::PoolStatus status;
  ASSERT_EQ(Drain("workers/local-0", &status), grpc::StatusCode::OK);
  EXPECT_FALSE(status.draining());
  EXPECT_EQ(Worker().state(), v1::Worker::DRAINING);
  ASSERT_EQ(Resume("workers/local-0", &status), grpc::StatusCode::OK);
  EXPECT_EQ(Worker().state(), v1::Worker::IDLE);
  EXPECT_EQ(Drain("workers/none", &status), grpc::StatusCode::NOT_FOUND);
  EXPECT_EQ(Drain("local-0", &status), grpc::StatusCode::INVALID_ARGUMENT);
}

}  // namespace
}  // namespace sm89
