#include "client/client.h"

#include <gtest/gtest.h>

#include <thread>

#include "client/error.h"
#include "tests/unit/client/fake_server.h"

namespace sm89::client {
namespace {

class ClientTest : public ::testing::Test {
 protected:
  std::unique_ptr<Client> Connect(std::stop_token stop = {}) {
    ClientOptions options;
    options.address = server_.address();
    options.call_timeout_seconds = 10;
    options.retry_seconds = 10;
    options.stop = stop;
    return Client::Create(options).value();
  }

  FakeServer server_;
};

TEST_F(ClientTest, RepeatsReadsWhileUnavailable) {
  server_.state().unavailable_calls = 2;
  const auto client = Connect();
  const auto status = client->GetStatus();
  ASSERT_TRUE(status.ok()) << status.status();
  EXPECT_EQ(status->version(), "9.9.9");
  EXPECT_EQ(server_.state().calls, 3);
}

TEST_F(ClientTest, RepeatsSubmissionOnlyWithARequestId) {
  const auto client = Connect();
  v1::SubmitJobRequest request;
  server_.state().unavailable_calls = 1;
  EXPECT_TRUE(absl::IsUnavailable(client->SubmitJob(request).status()));
  EXPECT_EQ(server_.state().calls, 1);

  request.set_request_id("11111111-1111-4111-8111-111111111111");
  server_.state().unavailable_calls = 1;
  EXPECT_TRUE(client->SubmitJob(request).ok());
  EXPECT_EQ(server_.state().calls, 3);
  EXPECT_EQ(server_.state().submits.size(), 1u);
}

TEST_F(ClientTest, DoesNotRepeatOtherErrors) {
  const auto client = Connect();
  v1::GetJobRequest request;
  request.set_name("jobs/none");
  EXPECT_TRUE(absl::IsNotFound(client->GetJob(request).status()));
  EXPECT_EQ(server_.state().calls, 1);
}

TEST_F(ClientTest, DeleteIsRepeatedOnlyWhenAnAbsentOneIsFine) {
  const auto client = Connect();
  v1::DeleteTraceRequest request;
  request.set_name("traces/x");
  server_.state().unavailable_calls = 1;
  EXPECT_TRUE(absl::IsUnavailable(client->DeleteTrace(request)));
  request.set_allow_missing(true);
  server_.state().unavailable_calls = 1;
  EXPECT_TRUE(absl::IsNotFound(client->DeleteTrace(request)));  // the fake knows no allow_missing
  EXPECT_EQ(server_.state().calls, 3);
}

TEST_F(ClientTest, BringsTheDetailOfErrors) {
  v1::ErrorDetail detail;
  detail.set_reason("CONFIG_INVALID");
  detail.add_faults()->set_line(3);
  server_.state().submit_error = WithDetail(absl::InvalidArgumentError("bad override"), detail);
  const absl::Status status = Connect()->SubmitJob(v1::SubmitJobRequest()).status();
  EXPECT_EQ(status.message(), "bad override");
  ASSERT_TRUE(DetailOf(status).has_value());
  EXPECT_EQ(DetailOf(status)->faults(0).line(), 3u);
}

TEST_F(ClientTest, UnreachableServerIsUnavailableAfterTheRetryTime) {
  const auto client = [&] {
    ClientOptions options;
    options.address = server_.address();
    options.retry_seconds = 0.3;
    return Client::Create(options).value();
  }();
  server_.Stop();
  EXPECT_TRUE(absl::IsUnavailable(client->GetStatus().status()));
  server_.Start();
  EXPECT_TRUE(Connect()->GetStatus().ok());
}

TEST_F(ClientTest, StopEndsWaitingForAServer) {
  std::stop_source stop;
  ClientOptions options;
  options.address = server_.address();
  options.retry_seconds = 1e6;
  options.stop = stop.get_token();
  const auto client = Client::Create(options).value();
  server_.Stop();
  std::jthread interrupt([&] { stop.request_stop(); });
  EXPECT_TRUE(absl::IsCancelled(client->GetStatus().status()));
}

TEST(AddressTest, AcceptsHostPortAndUnixSockets) {
  for (const char* good :
       {"127.0.0.1:8989", "lab-host:1", "[::1]:8989", "unix:/run/sm89.sock", "h.example:65535"}) {
    EXPECT_TRUE(CheckAddress(good).ok()) << good;
  }
}

TEST(AddressTest, RefusesWhatIsNoAddress) {
  for (const char* bad : {"", "host", "host:", ":8989", "host:0", "host:65536", "http://host:80", "::1:8989",
                          "host:80x", "unix:", "a b:1"}) {
    const absl::Status status = CheckAddress(bad);
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << bad;
    ASSERT_TRUE(DetailOf(status).has_value());
    EXPECT_EQ(DetailOf(status)->faults(0).field(), "address");
  }
}

}  // namespace
}  // namespace sm89::client
