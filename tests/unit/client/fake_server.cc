#include "tests/unit/client/fake_server.h"

#include <grpcpp/grpcpp.h>

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "client/checksum.h"
#include "client/error.h"
#include "sm89/v1/analysis.grpc.pb.h"
#include "sm89/v1/config.grpc.pb.h"
#include "sm89/v1/job.grpc.pb.h"
#include "sm89/v1/pool.grpc.pb.h"
#include "sm89/v1/rpc_status.pb.h"
#include "sm89/v1/trace.grpc.pb.h"

namespace sm89::client {
namespace {

using grpc::ServerContext;
using grpc::Status;
using Lock = std::lock_guard<std::mutex>;

Status ToGrpc(const absl::Status& status) {
  if (status.ok()) return Status::OK;
  const std::string message(status.message());
  v1::RpcStatus rpc;
  rpc.set_code(static_cast<int>(status.code()));
  rpc.set_message(message);
  if (const auto detail = DetailOf(status)) rpc.add_details()->PackFrom(*detail);
  return Status(static_cast<grpc::StatusCode>(status.code()), message, rpc.SerializeAsString());
}

// Counts a unary call and says whether it is to fail.
Status Enter(FakeState& state) {
  ++state.calls;
  if (state.unavailable_calls <= 0) return Status::OK;
  --state.unavailable_calls;
  return Status(grpc::StatusCode::UNAVAILABLE, "not now");
}

#define FAKE_ENTER(state)         \
  const Lock lock((state).mutex); \
  if (const Status entered = Enter(state); !entered.ok()) return entered

class FakeTraces : public v1::TraceService::Service {
 public:
  explicit FakeTraces(FakeState& state) : state_(state) {}

  Status BeginUpload(ServerContext*, const v1::BeginUploadRequest* request,
                     v1::BeginUploadResponse* response) override {
    FAKE_ENTER(state_);
    state_.begins.push_back(*request);
    response->set_max_chunk_bytes(1000);
    for (const auto& [name, trace] : state_.traces) {
      if (trace.upload_sha256() == request->sha256()) {
        *response->mutable_existing() = trace;
        return Status::OK;
      }
    }
    for (auto& [name, upload] : state_.uploads) {
      if (upload.begin.request_id() != request->request_id()) continue;
      response->set_upload(name);
      response->set_committed_bytes(upload.data.size());
      return Status::OK;
    }
    const std::string name = absl::StrCat("uploads/", state_.uploads.size() + 1);
    state_.uploads[name].begin = *request;
    response->set_upload(name);
    return Status::OK;
  }

  Status WriteUpload(ServerContext*, grpc::ServerReader<v1::WriteUploadRequest>* reader,
                     v1::WriteUploadResponse* response) override {
    v1::WriteUploadRequest request;
    std::string name;
    bool finished = false;
    while (!finished && reader->Read(&request)) {
      const Lock lock(state_.mutex);
      if (name.empty()) {
        ++state_.write_streams;
        name = request.upload();
      }
      const Status taken = Take(name, request);
      if (!taken.ok()) return taken;
      finished = request.finish();
    }
    if (!finished) return Status(grpc::StatusCode::ABORTED, "the stream ended without finish");
    const Lock lock(state_.mutex);
    FakeUpload& upload = state_.uploads[name];
    upload.complete = true;
    response->set_committed_bytes(upload.data.size());
    return Status::OK;
  }

  Status QueryWriteStatus(ServerContext*, const v1::QueryWriteStatusRequest* request,
                          v1::QueryWriteStatusResponse* response) override {
    FAKE_ENTER(state_);
    const auto found = state_.uploads.find(request->upload());
    if (found == state_.uploads.end()) return Status(grpc::StatusCode::NOT_FOUND, "no such upload");
    response->set_committed_bytes(found->second.data.size());
    response->set_size_bytes(found->second.begin.size_bytes());
    response->set_complete(found->second.complete);
    return Status::OK;
  }

  Status FinalizeUpload(ServerContext*, const v1::FinalizeUploadRequest* request,
                        v1::Trace* response) override {
    FAKE_ENTER(state_);
    if (state_.finalize_deadline_misses > 0) {
      --state_.finalize_deadline_misses;
      return Status(grpc::StatusCode::DEADLINE_EXCEEDED, "still validating");
    }
    if (state_.finalize_error.has_value()) return ToGrpc(*state_.finalize_error);
    const auto found = state_.uploads.find(request->upload());
    if (found == state_.uploads.end()) return Status(grpc::StatusCode::NOT_FOUND, "no such upload");
    const FakeUpload& upload = found->second;
    if (upload.data.size() != upload.begin.size_bytes() || Sha256Hex(upload.data) != upload.begin.sha256()) {
      return Status(grpc::StatusCode::INVALID_ARGUMENT, "size or digest differ");
    }
    v1::Trace& trace = state_.traces["traces/t1"];
    trace.set_name("traces/t1");
    trace.set_display_name(upload.begin.display_name());
    trace.set_state(v1::Trace::READY);
    trace.set_upload_sha256(upload.begin.sha256());
    trace.set_kernels(2);
    trace.set_warp_instructions(1234);
    *response = trace;
    return Status::OK;
  }

  Status GetTrace(ServerContext*, const v1::GetTraceRequest* request, v1::Trace* response) override {
    FAKE_ENTER(state_);
    const auto found = state_.traces.find(request->name());
    if (found == state_.traces.end())
      return Status(grpc::StatusCode::NOT_FOUND, "no trace " + request->name());
    *response = found->second;
    return Status::OK;
  }

  // Pages of two, to have more than one.
  Status ListTraces(ServerContext*, const v1::ListTracesRequest* request,
                    v1::ListTracesResponse* response) override {
    FAKE_ENTER(state_);
    size_t at = request->page_token().empty() ? 0 : std::stoul(request->page_token());
    const size_t rows = std::min<size_t>(2, static_cast<size_t>(request->page_size()));
    auto it = std::next(state_.traces.begin(), static_cast<std::ptrdiff_t>(at));
    for (size_t i = 0; i < rows && it != state_.traces.end(); ++i, ++it, ++at)
      *response->add_traces() = it->second;
    if (it != state_.traces.end()) response->set_next_page_token(std::to_string(at));
    return Status::OK;
  }

  Status DeleteTrace(ServerContext*, const v1::DeleteTraceRequest* request,
                     v1::DeleteTraceResponse*) override {
    FAKE_ENTER(state_);
    if (state_.traces.erase(request->name()) > 0) return Status::OK;
    return Status(grpc::StatusCode::NOT_FOUND, "no trace " + request->name());
  }

 private:
  Status Take(const std::string& name, const v1::WriteUploadRequest& request) {
    if (state_.forget_uploads_once) {
      state_.forget_uploads_once = false;
      state_.uploads.clear();
    }
    const auto found = state_.uploads.find(name);
    if (found == state_.uploads.end()) return Status(grpc::StatusCode::NOT_FOUND, "no such upload");
    std::string& data = found->second.data;
    if (request.offset() != data.size()) return Status(grpc::StatusCode::OUT_OF_RANGE, "wrong offset");
    if (Crc32(request.data().data(), request.data().size()) != request.crc32() || state_.damage_next_chunk) {
      state_.damage_next_chunk = false;
      return Status(grpc::StatusCode::DATA_LOSS, "the chunk is damaged");
    }
    data += request.data();
    if (!state_.break_write_at.empty() && data.size() >= state_.break_write_at.front()) {
      state_.break_write_at.erase(state_.break_write_at.begin());
      return Status(grpc::StatusCode::UNAVAILABLE, "connection lost");
    }
    return Status::OK;
  }

  FakeState& state_;
};

class FakeConfigs : public v1::ConfigService::Service {
 public:
  explicit FakeConfigs(FakeState& state) : state_(state) {}

  Status ListConfigs(ServerContext*, const v1::ListConfigsRequest*,
                     v1::ListConfigsResponse* response) override {
    FAKE_ENTER(state_);
    for (const auto& [name, config] : state_.configs) *response->add_configs() = config;
    return Status::OK;
  }
  Status GetConfig(ServerContext*, const v1::GetConfigRequest* request, v1::Config* response) override {
    FAKE_ENTER(state_);
    const auto found = state_.configs.find(request->name());
    if (found == state_.configs.end())
      return Status(grpc::StatusCode::NOT_FOUND, "no config " + request->name());
    *response = found->second;
    return Status::OK;
  }
  Status ValidateConfig(ServerContext*, const v1::ValidateConfigRequest*,
                        v1::ValidateConfigResponse* response) override {
    FAKE_ENTER(state_);
    *response = state_.validation;
    return Status::OK;
  }
  Status CreateConfig(ServerContext*, const v1::CreateConfigRequest* request, v1::Config* response) override {
    FAKE_ENTER(state_);
    const std::string name = "configs/" + request->config_id();
    if (state_.configs.count(name) > 0) return Status(grpc::StatusCode::ALREADY_EXISTS, name + " exists");
    v1::Config& config = state_.configs[name];
    config.set_name(name);
    config.set_text(request->text());
    *response = config;
    return Status::OK;
  }

 private:
  FakeState& state_;
};

class FakeJobs : public v1::JobService::Service {
 public:
  explicit FakeJobs(FakeState& state) : state_(state) {}

  Status SubmitJob(ServerContext*, const v1::SubmitJobRequest* request, v1::Job* response) override {
    FAKE_ENTER(state_);
    state_.submits.push_back(*request);
    if (state_.submit_error.has_value()) return ToGrpc(*state_.submit_error);
    *response->mutable_spec() = request->job();
    response->set_state(v1::Job::QUEUED);
    if (request->validate_only()) return Status::OK;
    response->set_name(absl::StrCat("jobs/j", state_.jobs.size() + 1));
    v1::Job& kept = state_.jobs[response->name()];
    kept = *response;
    kept.set_state(v1::Job::SUCCEEDED);  // by the time anybody looks again
    return Status::OK;
  }
  Status GetJob(ServerContext*, const v1::GetJobRequest* request, v1::Job* response) override {
    FAKE_ENTER(state_);
    const auto found = state_.jobs.find(request->name());
    if (found == state_.jobs.end()) return Status(grpc::StatusCode::NOT_FOUND, "no job " + request->name());
    *response = found->second;
    return Status::OK;
  }
  Status ListJobs(ServerContext*, const v1::ListJobsRequest* request,
                  v1::ListJobsResponse* response) override {
    FAKE_ENTER(state_);
    state_.list_requests.push_back(*request);
    for (const auto& [name, job] : state_.jobs) *response->add_jobs() = job;
    response->set_total(static_cast<uint32_t>(state_.jobs.size()));
    return Status::OK;
  }
  Status CancelJob(ServerContext*, const v1::CancelJobRequest* request, v1::Job* response) override {
    FAKE_ENTER(state_);
    state_.cancels.push_back(*request);
    const auto found = state_.jobs.find(request->name());
    if (found == state_.jobs.end()) return Status(grpc::StatusCode::NOT_FOUND, "no job " + request->name());
    found->second.set_state(v1::Job::CANCELLED);
    *response = found->second;
    return Status::OK;
  }
  Status WatchJob(ServerContext*, const v1::WatchJobRequest* request,
                  grpc::ServerWriter<v1::JobUpdate>* writer) override {
    FakeWatch watch;
    {
      const Lock lock(state_.mutex);
      state_.watch_requests.push_back(*request);
      if (state_.watches.empty()) return Status(grpc::StatusCode::NOT_FOUND, "no job " + request->name());
      watch = state_.watches.front();
      if (state_.watches.size() > 1) state_.watches.erase(state_.watches.begin());
    }
    for (const v1::JobUpdate& update : watch.updates) writer->Write(update);
    return ToGrpc(watch.end);
  }
  Status GetResult(ServerContext*, const v1::GetResultRequest* request,
                   grpc::ServerWriter<v1::ResultChunk>* writer) override {
    const Lock lock(state_.mutex);
    if (state_.result_parts.empty()) return Status(grpc::StatusCode::FAILED_PRECONDITION, "not finished");
    for (size_t i = 0; i < state_.result_parts.size(); ++i) {
      v1::ResultChunk chunk;
      *chunk.mutable_result() = state_.result_parts[i];
      if (i == 0) Describe(chunk.mutable_result());
      writer->Write(chunk);
    }
    for (const std::string& name : request->artifacts()) {
      const auto found = state_.artifacts.find(name);
      if (found != state_.artifacts.end()) Send(name, found->second, writer);
    }
    return Status::OK;
  }

 private:
  void Describe(v1::Result* result) const {
    for (const auto& [name, text] : state_.artifacts) {
      v1::ArtifactInfo& info = *result->add_artifacts();
      info.set_name(name);
      info.set_size_bytes(text.size());
      info.set_sha256(Sha256Hex(text));
    }
  }
  void Send(const std::string& name, std::string text, grpc::ServerWriter<v1::ResultChunk>* writer) const {
    constexpr size_t kPiece = 7;
    if (state_.flip_artifact_byte == name) text[0] = static_cast<char>(text[0] ^ 1);
    for (size_t at = 0; at < text.size(); at += kPiece) {
      v1::ResultChunk chunk;
      v1::ArtifactChunk& piece = *chunk.mutable_artifact();
      piece.set_name(name);
      piece.set_offset(at);
      piece.set_data(text.substr(at, kPiece));
      piece.set_last(at + kPiece >= text.size());
      writer->Write(chunk);
    }
  }

  FakeState& state_;
};

class FakePool : public v1::PoolService::Service {
 public:
  explicit FakePool(FakeState& state) : state_(state) {}
  Status GetStatus(ServerContext*, const v1::GetStatusRequest*, v1::PoolStatus* response) override {
    FAKE_ENTER(state_);
    response->set_version("9.9.9");
    response->set_workers_total(2);
    return Status::OK;
  }
  Status ListWorkers(ServerContext*, const v1::ListWorkersRequest*,
                     v1::ListWorkersResponse* response) override {
    FAKE_ENTER(state_);
    response->add_workers()->set_name("workers/w1");
    return Status::OK;
  }

 private:
  FakeState& state_;
};

class FakeAnalyses : public v1::AnalysisService::Service {
 public:
  explicit FakeAnalyses(FakeState& state) : state_(state) {}
  Status Analyze(ServerContext*, const v1::AnalyzeRequest* request,
                 grpc::ServerWriter<v1::AnalyzeChunk>* writer) override {
    const Lock lock(state_.mutex);
    state_.analyses.push_back(*request);
    for (const std::string& piece : state_.analysis) {
      v1::AnalyzeChunk chunk;
      chunk.set_data(piece);
      writer->Write(chunk);
    }
    return ToGrpc(state_.analysis_error);
  }

 private:
  FakeState& state_;
};

}  // namespace

struct FakeServer::Services {
  explicit Services(FakeState& state)
      : traces(state), configs(state), jobs(state), pool(state), analyses(state) {}
  FakeTraces traces;
  FakeConfigs configs;
  FakeJobs jobs;
  FakePool pool;
  FakeAnalyses analyses;
  std::unique_ptr<grpc::Server> server;
};

FakeServer::FakeServer() : address_("127.0.0.1:0"), services_(std::make_unique<Services>(state_)) { Start(); }
FakeServer::~FakeServer() { Stop(); }

void FakeServer::Start() {
  int port = 0;
  grpc::ServerBuilder builder;
  builder.AddListeningPort(address_, grpc::InsecureServerCredentials(), &port);
  builder.RegisterService(&services_->traces);
  builder.RegisterService(&services_->configs);
  builder.RegisterService(&services_->jobs);
  builder.RegisterService(&services_->pool);
  builder.RegisterService(&services_->analyses);
  services_->server = builder.BuildAndStart();
  address_ = absl::StrCat("127.0.0.1:", port);
}

void FakeServer::Stop() {
  if (services_->server == nullptr) return;
  services_->server->Shutdown(std::chrono::system_clock::now());
  services_->server->Wait();
  services_->server.reset();
}

}  // namespace sm89::client
