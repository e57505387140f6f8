#include "server/worker/daemon_link.h"

#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "server/os/file_store.h"
#include "server/os/mutex.h"
#include "sim/base/digest.h"
#include "sim/base/status_macros.h"
#include "sm89/v1/worker.grpc.pb.h"

namespace sm89 {
namespace {

constexpr std::chrono::seconds kCallDeadline{20};
// The daemon answers a poll within 30 s.
constexpr std::chrono::seconds kPollDeadline{60};
// By how much an artifact may take: 1 s a MiB on top.
constexpr size_t kChunkBytes = size_t{1} << 20;
constexpr int kReconnectMsMin = 100;
// What one attempt to connect may take on a busy machine.
constexpr int kConnectMs = 5'000;
constexpr int kReconnectMsMax = 250;

absl::Status FromGrpc(const grpc::Status& status) {
  return absl::Status(static_cast<absl::StatusCode>(status.error_code()), status.error_message());
}

std::chrono::system_clock::time_point After(std::chrono::seconds wait) {
  return std::chrono::system_clock::now() + wait;
}

class GrpcDaemonLink final : public DaemonLink {
 public:
  explicit GrpcDaemonLink(const std::string& address) {
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, kReconnectMsMin);
    arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, kConnectMs);  // gRPC's name for that
    arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, kReconnectMsMax);
    arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
    stub_ = v1::WorkerService::NewStub(
        grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), arguments));
  }

  absl::StatusOr<v1::AttachResponse> Attach(const v1::AttachRequest& request) override {
    return Call<v1::AttachResponse>(&v1::WorkerService::Stub::Attach, request);
  }
  absl::StatusOr<v1::HeartbeatResponse> Heartbeat(const v1::HeartbeatRequest& request) override {
    return Call<v1::HeartbeatResponse>(&v1::WorkerService::Stub::Heartbeat, request);
  }
  absl::StatusOr<v1::CompleteResponse> Complete(const v1::CompleteRequest& request) override {
    return Call<v1::CompleteResponse>(&v1::WorkerService::Stub::Complete, request);
  }

  absl::StatusOr<v1::PollResponse> Poll(const v1::PollRequest& request) override {
    grpc::ClientContext context;
    context.set_deadline(After(kPollDeadline));
    {
      MutexLock lock(mutex_);
      if (stopped_) return absl::CancelledError("polling was stopped");
      polling_ = &context;
    }
    v1::PollResponse response;
    const grpc::Status status = stub_->Poll(&context, request, &response);
    {
      MutexLock lock(mutex_);
      polling_ = nullptr;
    }
    if (!status.ok()) return FromGrpc(status);
    return response;
  }

  absl::Status WriteArtifact(const v1::WriteArtifactRequest& first,
                             const FinishedArtifact& artifact) override {
    std::unique_ptr<ReadableFile> file;
    if (artifact.file != nullptr) {
      ASSIGN_OR_RETURN(file, PosixFileStore().OpenRead(artifact.file->path()));
    }
    const uint64_t size = file != nullptr ? file->size() : artifact.bytes.size();
    grpc::ClientContext context;
    context.set_deadline(After(kCallDeadline + std::chrono::seconds(size / kChunkBytes)));
    v1::WriteArtifactResponse response;
    const auto writer = stub_->WriteArtifact(&context, &response);
    v1::WriteArtifactRequest message = first;
    Sha256 digest;
    uint64_t offset = 0;
    bool open = true;
    do {
      absl::StatusOr<std::string> data =
          file != nullptr ? file->Read(offset, kChunkBytes) : artifact.bytes.substr(offset, kChunkBytes);
      if (!data.ok()) {
        context.TryCancel();
        writer->Finish();
        return data.status();
      }
      message.set_data(*std::move(data));
      digest.Update(message.data());
      offset += message.data().size();
      message.set_finish(offset == size || message.data().empty());
      if (message.finish()) message.set_sha256(digest.FinishHex());
      open = writer->Write(message) && !message.finish();
      message.Clear();
    } while (open);
    writer->WritesDone();
    return FromGrpc(writer->Finish());
  }

  void StopPolling() override {
    MutexLock lock(mutex_);
    stopped_ = true;
    if (polling_ != nullptr) polling_->TryCancel();
  }

 private:
  template <class Response, class Request, class Method>
  absl::StatusOr<Response> Call(Method method, const Request& request) {
    grpc::ClientContext context;
    context.set_deadline(After(kCallDeadline));
    Response response;
    const grpc::Status status = (stub_.get()->*method)(&context, request, &response);
    if (!status.ok()) return FromGrpc(status);
    return response;
  }

  std::unique_ptr<v1::WorkerService::Stub> stub_;
  Mutex mutex_;
  grpc::ClientContext* polling_ SM89_GUARDED_BY(mutex_) = nullptr;
  bool stopped_ SM89_GUARDED_BY(mutex_) = false;
};

}  // namespace

std::unique_ptr<DaemonLink> DialDaemon(const std::string& address) {
  return std::make_unique<GrpcDaemonLink>(address);
}

}  // namespace sm89
