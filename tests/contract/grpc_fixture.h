// A real gRPC server on a port of its own, in this process, and a channel to it.
#pragma once

#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "server/service/status_conversion.h"
#include "sim/base/fault.h"
#include "sm89/v1/common.pb.h"
#include "sm89/v1/rpc_status.pb.h"

namespace sm89::testing {

class LocalServer {
 public:
  explicit LocalServer(const std::vector<grpc::Service*>& services) {
    grpc::ServerBuilder builder;
    int port = 0;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
    builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
    for (grpc::Service* service : services) builder.RegisterService(service);
    server_ = builder.BuildAndStart();
    channel_ = grpc::CreateChannel("127.0.0.1:" + std::to_string(port), grpc::InsecureChannelCredentials());
  }
  ~LocalServer() {
    channel_.reset();
    server_->Shutdown(std::chrono::system_clock::now());
    server_->Wait();
  }

  const std::shared_ptr<grpc::Channel>& channel() const { return channel_; }

 private:
  std::unique_ptr<grpc::Server> server_;
  std::shared_ptr<grpc::Channel> channel_;
};

// The typed part of an error; fails the test when there is none.
inline v1::ErrorDetail DetailOf(const grpc::Status& status) {
  v1::RpcStatus rpc;
  v1::ErrorDetail detail;
  EXPECT_TRUE(rpc.ParseFromString(status.error_details()));
  EXPECT_EQ(rpc.code(), static_cast<int>(status.error_code()));
  EXPECT_EQ(rpc.details_size(), 1);
  if (rpc.details_size() == 1) {
    EXPECT_EQ(rpc.details(0).type_url(), "type.googleapis.com/sm89.v1.ErrorDetail");
    EXPECT_TRUE(rpc.details(0).UnpackTo(&detail));
  }
  EXPECT_EQ(detail.domain(), "sm89");
  return detail;
}

}  // namespace sm89::testing
