// Calls made of raw bytes: the standard services health and reflection, whose messages are small enough, and
// messages that no protobuf parser takes.
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>

#include "tests/integration/service_test.h"

namespace sm89::testing {
namespace {

grpc::ByteBuffer Buffer(const std::string& bytes) {
  const grpc::Slice slice(bytes);
  return grpc::ByteBuffer(&slice, 1);
}

std::string Bytes(const grpc::ByteBuffer& buffer) {
  std::vector<grpc::Slice> slices;
  std::string bytes;
  if (!buffer.Dump(&slices).ok()) return bytes;
  for (const grpc::Slice& slice : slices)
    bytes.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
  return bytes;
}

class RawCallTest : public ServiceTest {
 protected:
  // One request, the first answer.
  static grpc::Status Ask(const std::string& address, const std::string& method, const std::string& request,
                          std::string* answer) {
    grpc::GenericStub stub(grpc::CreateChannel(address, grpc::InsecureChannelCredentials()));
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(20));
    grpc::CompletionQueue queue;
    const auto call = stub.PrepareCall(&context, method, &queue);
    const auto wait = [&] {
      void* tag = nullptr;
      bool ok = false;
      return queue.Next(&tag, &ok) && ok;
    };
    call->StartCall(nullptr);
    bool ok = wait();
    if (ok) {
      call->Write(Buffer(request), nullptr);
      ok = wait();
    }
    grpc::ByteBuffer read;
    if (ok) {
      call->Read(&read, nullptr);
      ok = wait();
    }
    if (ok) *answer = Bytes(read);
    call->WritesDone(nullptr);
    wait();
    grpc::Status status;
    call->Finish(&status, nullptr);
    wait();
    return status;
  }
};

TEST_F(RawCallTest, ServesHealthForAllAndForEachService) {
  DaemonFixture daemon;
  ASSERT_TRUE(daemon.Start());
  for (const std::string& service : {std::string(), std::string("sm89.v1.JobService")}) {
    // HealthCheckRequest{service = 1}
    std::string request;
    if (!service.empty()) request = std::string("\x0a") + static_cast<char>(service.size()) + service;
    std::string answer;
    const grpc::Status status = Ask(daemon.address(), "/grpc.health.v1.Health/Check", request, &answer);
    EXPECT_TRUE(status.ok()) << service << ": " << status.error_message();
    EXPECT_EQ(answer, std::string("\x08\x01", 2)) << "SERVING";
  }
}

TEST_F(RawCallTest, ReflectionListsTheServices) {
  DaemonFixture daemon;
  ASSERT_TRUE(daemon.Start());
  std::string answer;
  // ServerReflectionRequest{list_services = ""}
  const grpc::Status status =
      Ask(daemon.address(), "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
          std::string("\x3a\x00", 2), &answer);
  EXPECT_TRUE(status.ok()) << status.error_message();
  for (const char* service : {"sm89.v1.TraceService", "sm89.v1.ConfigService", "sm89.v1.JobService",
                              "sm89.v1.PoolService", "grpc.health.v1.Health"}) {
    EXPECT_NE(answer.find(service), std::string::npos) << service;
  }
  EXPECT_EQ(answer.find("sm89.v1.WorkerService"), std::string::npos) << "workers have a socket of their own";
}

// A message that cannot be parsed looks like the end of the stream to the server: it must not count as one.
TEST_F(RawCallTest, GarbageInAnUploadStreamIsNoSuccess) {
  DaemonFixture daemon;
  ASSERT_TRUE(daemon.Start());
  std::string answer;
  const grpc::Status status =
      Ask(daemon.address(), "/sm89.v1.TraceService/WriteUpload", "\xff\xff\xff\xff", &answer);
  EXPECT_FALSE(status.ok());
  EXPECT_NE(status.error_code(), grpc::StatusCode::DEADLINE_EXCEEDED) << "the stream was left hanging";
  EXPECT_EQ(daemon.Cli({"pool"}).exit_code, 0) << daemon.log();
}

TEST_F(RawCallTest, GarbageInACallIsAnError) {
  DaemonFixture daemon;
  ASSERT_TRUE(daemon.Start());
  for (const char* method : {"/sm89.v1.JobService/SubmitJob", "/sm89.v1.JobService/WatchJob",
                             "/sm89.v1.ConfigService/ValidateConfig", "/sm89.v1.NoSuchService/Call"}) {
    std::string answer;
    EXPECT_FALSE(Ask(daemon.address(), method, "\xff\xff\xff\xff", &answer).ok()) << method;
  }
  EXPECT_EQ(daemon.Cli({"pool"}).exit_code, 0) << daemon.log();
}

}  // namespace
}  // namespace sm89::testing
