// The standard services: health and reflection. Their messages are so small that they are written as bytes.
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

class HealthTest : public ServiceTest {
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

TEST_F(HealthTest, ServesHealthForAllAndForEachService) {
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

TEST_F(HealthTest, ReflectionListsTheServices) {
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

}  // namespace
}  // namespace sm89::testing
