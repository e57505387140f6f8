#include "server/service/rpc_metrics.h"

#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <set>

#include "server/metrics/metrics.h"
#include "sm89/v1/pool.grpc.pb.h"

namespace sm89 {
namespace {

// Answers GetStatus with OK, Drain with an error, and never answers Resume by itself.
class FakePool : public v1::PoolService::CallbackService {
 public:
  grpc::ServerUnaryReactor* GetStatus(grpc::CallbackServerContext* context, const v1::GetStatusRequest*,
                                      v1::PoolStatus*) override {
    auto* reactor = context->DefaultReactor();
    reactor->Finish(grpc::Status::OK);
    return reactor;
  }
  grpc::ServerUnaryReactor* Drain(grpc::CallbackServerContext* context, const v1::DrainRequest*,
                                  v1::PoolStatus*) override {
    auto* reactor = context->DefaultReactor();
    reactor->Finish({grpc::StatusCode::FAILED_PRECONDITION, "already draining"});
    return reactor;
  }
  grpc::ServerUnaryReactor* Resume(grpc::CallbackServerContext*, const v1::ResumeRequest*,
                                   v1::PoolStatus*) override {
    class WaitForCancel : public grpc::ServerUnaryReactor {
      void OnCancel() override { Finish(grpc::Status::CANCELLED); }
      void OnDone() override { delete this; }
    };
    return new WaitForCancel;
  }
};

class RpcMetricsTest : public ::testing::Test {
 protected:
  RpcMetricsTest() : metrics_({.version = "1", .rpc_methods = ServedRpcMethods()}) {
    grpc::EnableDefaultHealthCheckService(true);
    grpc::ServerBuilder builder;
    builder.RegisterService(&pool_);
    MeasureRpcs(builder, metrics_.rpcs());
    server_ = builder.BuildAndStart();
    channel_ = server_->InProcessChannel({});
    stub_ = v1::PoolService::NewStub(channel_);
  }
  // Waits until every RPC is over on the server too.
  std::string TextAfterShutdown() {
    server_->Shutdown();
    server_->Wait();
    server_.reset();
    return metrics_.Text();
  }

  Metrics metrics_;
  FakePool pool_;
  std::unique_ptr<grpc::Server> server_;
  std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<v1::PoolService::Stub> stub_;
};

testing::AssertionResult HasSample(const std::string& text, const std::string& sample) {
  if (text.find("\n" + sample + "\n") != std::string::npos) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "no line '" << sample << "' in\n" << text;
}

TEST_F(RpcMetricsTest, CountsByMethodAndCode) {
  v1::PoolStatus status;
  for (int i = 0; i < 3; ++i) {
    grpc::ClientContext context;
    ASSERT_TRUE(stub_->GetStatus(&context, {}, &status).ok());
  }
  grpc::ClientContext drain;
  ASSERT_EQ(stub_->Drain(&drain, {}, &status).error_code(), grpc::StatusCode::FAILED_PRECONDITION);
  const std::string text = TextAfterShutdown();
  EXPECT_TRUE(
      HasSample(text, R"(sm89_rpc_requests_total{code="OK",method="sm89.v1.PoolService/GetStatus"} 3)"));
  EXPECT_TRUE(HasSample(
      text, R"(sm89_rpc_requests_total{code="FAILED_PRECONDITION",method="sm89.v1.PoolService/Drain"} 1)"));
  EXPECT_TRUE(
      HasSample(text, R"(sm89_rpc_duration_seconds_count{method="sm89.v1.PoolService/GetStatus"} 3)"));
  EXPECT_TRUE(HasSample(text, R"(sm89_rpcs_in_flight{method="sm89.v1.PoolService/GetStatus"} 0)"));
}

TEST_F(RpcMetricsTest, CountsTheCodeOfACancelledCall) {
  v1::PoolStatus status;
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::milliseconds(20));
  EXPECT_FALSE(stub_->Resume(&context, {}, &status).ok());
  const std::string text = TextAfterShutdown();
  EXPECT_TRUE(
      HasSample(text, R"(sm89_rpc_requests_total{code="CANCELLED",method="sm89.v1.PoolService/Resume"} 1)"));
  EXPECT_TRUE(HasSample(text, R"(sm89_rpcs_in_flight{method="sm89.v1.PoolService/Resume"} 0)"));
}

TEST_F(RpcMetricsTest, MethodWithoutHandlerCountsAsUnimplemented) {
  v1::ListWorkersResponse response;
  grpc::ClientContext context;
  EXPECT_EQ(stub_->ListWorkers(&context, {}, &response).error_code(), grpc::StatusCode::UNIMPLEMENTED);
  EXPECT_TRUE(HasSample(
      TextAfterShutdown(),
      R"(sm89_rpc_requests_total{code="UNIMPLEMENTED",method="sm89.v1.PoolService/ListWorkers"} 1)"));
}

TEST(ServedRpcMethods, NamesAreUniqueAndStreamsAreLongLived) {
  std::set<std::string> names;
  for (const RpcMethod& method : ServedRpcMethods()) {
    EXPECT_TRUE(names.insert(method.name).second) << method.name;
    if (method.name == "sm89.v1.JobService/WatchJob" || method.name == "sm89.v1.WorkerService/Poll" ||
        method.name == "sm89.v1.TraceService/WriteUpload") {
      EXPECT_TRUE(method.long_lived) << method.name;
    }
    if (method.name == "sm89.v1.JobService/SubmitJob" || method.name == "sm89.v1.WorkerService/Heartbeat") {
      EXPECT_FALSE(method.long_lived) << method.name;
    }
  }
  for (const char* name :
       {"sm89.v1.JobService/SubmitJob", "sm89.v1.TraceService/BeginUpload", "sm89.v1.ConfigService/GetConfig",
        "sm89.v1.PoolService/Drain", "sm89.v1.WorkerService/Complete", "grpc.health.v1.Health/Check"}) {
    EXPECT_TRUE(names.count(name)) << name;
  }
}

}  // namespace
}  // namespace sm89
