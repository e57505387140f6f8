#include "client/client.h"

#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "client/backoff.h"
#include "client/error.h"
#include "client/macros.h"
#include "sm89/v1/analysis.grpc.pb.h"
#include "sm89/v1/config.grpc.pb.h"
#include "sm89/v1/job.grpc.pb.h"
#include "sm89/v1/pool.grpc.pb.h"
#include "sm89/v1/trace.grpc.pb.h"

namespace sm89::client {
namespace {

// A result message holds up to 500 kernels with about 150 named statistics of some 40 bytes each; twice that.
constexpr int kReceiveBytesMax = 16 << 20;
// Must not be shorter than the server's least accepted ping interval.
constexpr int kKeepaliveTimeMs = 30'000;
constexpr int kKeepaliveTimeoutMs = 10'000;
constexpr int kReconnectMinMs = 100;
// What one attempt to connect may take: a busy machine or a far one needs more than a tenth of a second.
constexpr int kConnectMs = 5'000;
constexpr int kReconnectMaxMs = 2'000;
constexpr double kAnalysisSeconds = 600;  // an analysis says nothing until it is done

// What the call may be repeated for.
enum class Repeat { kNever, kWhenUnavailable };

absl::Status Convert(const grpc::Status& status) {
  return DecodeStatus(status.error_code(), status.error_message(), status.error_details());
}

// Deadlines follow the monotonic clock, so that a step of the wall clock neither ends nor prolongs a call.
gpr_timespec DeadlineIn(double seconds) {
  return gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC),
                      gpr_time_from_micros(static_cast<int64_t>(seconds * 1e6), GPR_TIMESPAN));
}

grpc::ChannelArguments ChannelArguments(const ClientOptions& options) {
  grpc::ChannelArguments args;
  args.SetMaxReceiveMessageSize(kReceiveBytesMax);
  args.SetUserAgentPrefix(options.user_agent);
  args.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, kKeepaliveTimeMs);
  args.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kKeepaliveTimeoutMs);
  args.SetInt(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 0);
  args.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, kReconnectMinMs);
  args.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, kConnectMs);  // gRPC's name for that
  args.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, kReconnectMaxMs);
  // The daemon is in the same lab; a web proxy from the environment only gets in the way.
  args.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  return args;
}

// Cancels a call that has made no progress for a while.
class IdleGuard {
 public:
  IdleGuard(grpc::ClientContext& context, double timeout_seconds)
      : context_(context), timeout_(timeout_seconds), thread_([this](std::stop_token stop) { Run(stop); }) {}

  void Fed() {
    const std::lock_guard<std::mutex> lock(mutex_);
    ++fed_;
    wake_.notify_one();
  }
  bool fired() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return fired_;
  }

 private:
  void Run(std::stop_token stop) {
    std::unique_lock<std::mutex> lock(mutex_);
    while (!stop.stop_requested()) {
      const uint64_t seen = fed_;
      if (wake_.wait_for(lock, stop, timeout_, [&] { return fed_ != seen; })) continue;
      if (stop.stop_requested()) return;
      fired_ = true;
      context_.TryCancel();
      return;
    }
  }

  grpc::ClientContext& context_;
  std::chrono::duration<double> timeout_;
  mutable std::mutex mutex_;
  std::condition_variable_any wake_;
  uint64_t fed_ = 0;
  bool fired_ = false;
  std::jthread thread_;  // last: it uses everything above
};

// The reason a stream ended, with our own cancellations named as what they are.
absl::Status StreamStatus(const grpc::Status& status, bool idle, const ClientOptions& options) {
  if (idle) {
    return absl::UnavailableError(absl::StrCat("no progress for ", options.idle_timeout_seconds, " s"));
  }
  if (options.stop.stop_requested()) return absl::CancelledError("interrupted");
  absl::Status converted = Convert(status);
  // Not by us: a server that goes away cancels the streams that are still open.
  if (absl::IsCancelled(converted)) return absl::UnavailableError("the server ended the stream");
  return converted;
}

using CancelOnStop = std::stop_callback<std::function<void()>>;

class GrpcWriteStream : public WriteStream {
 public:
  GrpcWriteStream(v1::TraceService::StubInterface& stub, const ClientOptions& options)
      : options_(options),
        writer_(stub.WriteUpload(&context_, &response_)),
        guard_(context_, options.idle_timeout_seconds),
        cancel_(options.stop, [this] { context_.TryCancel(); }) {}

  ~GrpcWriteStream() override {
    if (finished_) return;
    context_.TryCancel();
    writer_->Finish();
  }

  bool Write(const v1::WriteUploadRequest& request) override {
    const bool ok = writer_->Write(request);
    guard_.Fed();
    return ok;
  }

  absl::StatusOr<v1::WriteUploadResponse> Finish() override {
    finished_ = true;
    writer_->WritesDone();
    const grpc::Status status = writer_->Finish();
    if (!status.ok()) return StreamStatus(status, guard_.fired(), options_);
    return response_;
  }

 private:
  const ClientOptions& options_;
  grpc::ClientContext context_;
  v1::WriteUploadResponse response_;
  std::unique_ptr<grpc::ClientWriterInterface<v1::WriteUploadRequest>> writer_;
  IdleGuard guard_;
  CancelOnStop cancel_;
  bool finished_ = false;
};

// "host:port" with a port of 1..65535.
bool IsHostPort(const std::string& address) {
  const size_t colon = address.rfind(':');
  if (colon == std::string::npos || colon == 0) return false;
  uint32_t port = 0;
  if (!absl::SimpleAtoi(address.substr(colon + 1), &port) || port == 0 || port > 65535) return false;
  const std::string host = address.substr(0, colon);
  if (host.front() == '[') return host.back() == ']' && host.size() > 2;
  return host.find_first_of(":/ []") == std::string::npos;
}

}  // namespace

absl::Status CheckAddress(const std::string& address) {
  if (address.rfind("unix:", 0) == 0 && address.size() > 5) return absl::OkStatus();
  if (IsHostPort(address)) return absl::OkStatus();
  v1::Fault fault;
  fault.set_field("address");
  fault.set_value(address);
  fault.set_expected("host:port, [v6-address]:port or unix:/path, without http://");
  fault.set_message("not an address of a daemon");
  return InputError("ADDRESS_MALFORMED", "the server's address is not usable", {fault});
}

struct Client::Impl {
  explicit Impl(const ClientOptions& chosen)
      : options(chosen),
        channel(grpc::CreateCustomChannel(options.address, grpc::InsecureChannelCredentials(),
                                          ChannelArguments(options))),
        traces(v1::TraceService::NewStub(channel)),
        configs(v1::ConfigService::NewStub(channel)),
        jobs(v1::JobService::NewStub(channel)),
        pool(v1::PoolService::NewStub(channel)),
        analyses(v1::AnalysisService::NewStub(channel)) {}

  ClientOptions options;
  std::shared_ptr<grpc::Channel> channel;
  std::unique_ptr<v1::TraceService::StubInterface> traces;
  std::unique_ptr<v1::ConfigService::StubInterface> configs;
  std::unique_ptr<v1::JobService::StubInterface> jobs;
  std::unique_ptr<v1::PoolService::StubInterface> pool;
  std::unique_ptr<v1::AnalysisService::StubInterface> analyses;

  template <typename Stub, typename Request, typename Response>
  absl::StatusOr<Response> CallOnce(Stub& stub,
                                    grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&,
                                                                 Response*),
                                    const Request& request, double timeout_seconds) {
    if (options.stop.stop_requested()) return absl::CancelledError("interrupted");
    grpc::ClientContext context;
    context.set_deadline(DeadlineIn(timeout_seconds));
    const CancelOnStop cancel(options.stop, [&context] { context.TryCancel(); });
    Response response;
    const grpc::Status status = (stub.*method)(&context, request, &response);
    if (status.ok()) return response;
    if (options.stop.stop_requested()) return absl::CancelledError("interrupted");
    return Convert(status);
  }

  template <typename Stub, typename Request, typename Response>
  absl::StatusOr<Response> Call(Stub& stub,
                                grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&, Response*),
                                const Request& request, Repeat repeat, double timeout_seconds = 0) {
    if (timeout_seconds <= 0) timeout_seconds = options.call_timeout_seconds;
    Backoff backoff(options.retry_seconds);
    while (true) {
      absl::StatusOr<Response> response = CallOnce(stub, method, request, timeout_seconds);
      if (response.ok() || repeat == Repeat::kNever || !absl::IsUnavailable(response.status()))
        return response;
      if (!backoff.Wait(options.stop, RetryAfterSeconds(response.status()))) {
        if (options.stop.stop_requested()) return absl::CancelledError("interrupted");
        return response;
      }
    }
  }
};

namespace {
Repeat RepeatIf(bool safe) { return safe ? Repeat::kWhenUnavailable : Repeat::kNever; }

template <typename T>
absl::Status StatusOnly(const absl::StatusOr<T>& response) {
  return response.status();
}
}  // namespace

absl::StatusOr<std::unique_ptr<Client>> Client::Create(const ClientOptions& options) {
  const absl::Status status = CheckAddress(options.address);
  if (!status.ok()) return status;
  return std::unique_ptr<Client>(new Client(std::make_unique<Impl>(options)));
}

Client::Client(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Client::~Client() = default;
const ClientOptions& Client::options() const { return impl_->options; }

using Traces = v1::TraceService::StubInterface;
using Configs = v1::ConfigService::StubInterface;
using Jobs = v1::JobService::StubInterface;
using Pool = v1::PoolService::StubInterface;

absl::StatusOr<v1::BeginUploadResponse> Client::BeginUpload(const v1::BeginUploadRequest& request) {
  return impl_->Call(*impl_->traces, &Traces::BeginUpload, request, RepeatIf(!request.request_id().empty()));
}
absl::StatusOr<v1::QueryWriteStatusResponse> Client::QueryWriteStatus(
    const v1::QueryWriteStatusRequest& request) {
  return impl_->Call(*impl_->traces, &Traces::QueryWriteStatus, request, Repeat::kWhenUnavailable);
}
absl::StatusOr<v1::Trace> Client::FinalizeUpload(const v1::FinalizeUploadRequest& request,
                                                 double timeout_seconds) {
  return impl_->Call(*impl_->traces, &Traces::FinalizeUpload, request, Repeat::kWhenUnavailable,
                     timeout_seconds);
}
absl::Status Client::AbortUpload(const v1::AbortUploadRequest& request) {
  return StatusOnly(impl_->Call(*impl_->traces, &Traces::AbortUpload, request, Repeat::kNever));
}
absl::StatusOr<v1::Trace> Client::GetTrace(const v1::GetTraceRequest& request) {
  return impl_->Call(*impl_->traces, &Traces::GetTrace, request, Repeat::kWhenUnavailable);
}
absl::StatusOr<v1::ListTracesResponse> Client::ListTraces(const v1::ListTracesRequest& request) {
  return impl_->Call(*impl_->traces, &Traces::ListTraces, request, Repeat::kWhenUnavailable);
}
// A delete whose answer got lost would be NOT_FOUND the second time, hence only with allow_missing.
absl::Status Client::DeleteTrace(const v1::DeleteTraceRequest& request) {
  return StatusOnly(
      impl_->Call(*impl_->traces, &Traces::DeleteTrace, request, RepeatIf(request.allow_missing())));
}
std::unique_ptr<WriteStream> Client::OpenWrite() {
  return std::make_unique<GrpcWriteStream>(*impl_->traces, impl_->options);
}

absl::StatusOr<v1::ListConfigsResponse> Client::ListConfigs(const v1::ListConfigsRequest& request) {
  return impl_->Call(*impl_->configs, &Configs::ListConfigs, request, Repeat::kWhenUnavailable);
}
absl::StatusOr<v1::Config> Client::GetConfig(const v1::GetConfigRequest& request) {
  return impl_->Call(*impl_->configs, &Configs::GetConfig, request, Repeat::kWhenUnavailable);
}
absl::StatusOr<v1::GetSchemaResponse> Client::GetSchema(const v1::GetSchemaRequest& request) {
  return impl_->Call(*impl_->configs, &Configs::GetSchema, request, Repeat::kWhenUnavailable);
}
absl::StatusOr<v1::ListTensorModesResponse> Client::ListTensorModes(
    const v1::ListTensorModesRequest& request) {
  return impl_->Call(*impl_->configs, &Configs::ListTensorModes, request, Repeat::kWhenUnavailable);
}
absl::StatusOr<v1::ValidateConfigResponse> Client::ValidateConfig(const v1::ValidateConfigRequest& request) {
  return impl_->Call(*impl_->configs, &Configs::ValidateConfig, request, Repeat::kWhenUnavailable);
}
absl::StatusOr<v1::Config> Client::CreateConfig(const v1::CreateConfigRequest& request) {
  return impl_->Call(*impl_->configs, &Configs::CreateConfig, request,
                     RepeatIf(!request.request_id().empty()));
}
absl::StatusOr<v1::DiffConfigsResponse> Client::DiffConfigs(const v1::DiffConfigsRequest& request) {
  return impl_->Call(*impl_->configs, &Configs::DiffConfigs, request, Repeat::kWhenUnavailable);
}
absl::Status Client::DeleteConfig(const v1::DeleteConfigRequest& request) {
  return StatusOnly(
      impl_->Call(*impl_->configs, &Configs::DeleteConfig, request, RepeatIf(request.allow_missing())));
}

absl::StatusOr<v1::Job> Client::SubmitJob(const v1::SubmitJobRequest& request) {
  return impl_->Call(*impl_->jobs, &Jobs::SubmitJob, request, RepeatIf(!request.request_id().empty()));
}
absl::StatusOr<v1::Job> Client::GetJob(const v1::GetJobRequest& request) {
  return impl_->Call(*impl_->jobs, &Jobs::GetJob, request, Repeat::kWhenUnavailable);
}
absl::StatusOr<v1::ListJobsResponse> Client::ListJobs(const v1::ListJobsRequest& request) {
  return impl_->Call(*impl_->jobs, &Jobs::ListJobs, request, Repeat::kWhenUnavailable);
}
absl::StatusOr<v1::Job> Client::CancelJob(const v1::CancelJobRequest& request) {
  return impl_->Call(*impl_->jobs, &Jobs::CancelJob, request, Repeat::kWhenUnavailable);
}
absl::StatusOr<v1::Job> Client::UpdateJob(const v1::UpdateJobRequest& request) {
  return impl_->Call(*impl_->jobs, &Jobs::UpdateJob, request, RepeatIf(request.job().etag().empty()));
}
absl::Status Client::DeleteJob(const v1::DeleteJobRequest& request) {
  return StatusOnly(impl_->Call(*impl_->jobs, &Jobs::DeleteJob, request, RepeatIf(request.allow_missing())));
}

absl::Status Client::ReadWatch(const v1::WatchJobRequest& request,
                               const std::function<bool(const v1::JobUpdate&)>& on_update) {
  // No deadline and no idle limit: a queued job may be silent for hours; keepalive finds dead peers.
  grpc::ClientContext context;
  const CancelOnStop cancel(impl_->options.stop, [&context] { context.TryCancel(); });
  auto reader = impl_->jobs->WatchJob(&context, request);
  v1::JobUpdate update;
  bool go_on = true;
  while (go_on && reader->Read(&update)) go_on = on_update(update);
  if (!go_on) context.TryCancel();
  const grpc::Status status = reader->Finish();
  return go_on ? StreamStatus(status, false, impl_->options) : absl::OkStatus();
}

absl::Status Client::ReadResult(const v1::GetResultRequest& request,
                                const std::function<absl::Status(const v1::ResultChunk&)>& on_chunk) {
  grpc::ClientContext context;
  const CancelOnStop cancel(impl_->options.stop, [&context] { context.TryCancel(); });
  auto reader = impl_->jobs->GetResult(&context, request);
  IdleGuard guard(context, impl_->options.idle_timeout_seconds);
  v1::ResultChunk chunk;
  absl::Status handled;
  while (handled.ok() && reader->Read(&chunk)) {
    guard.Fed();
    handled = on_chunk(chunk);
  }
  if (!handled.ok()) context.TryCancel();
  const grpc::Status status = reader->Finish();
  return handled.ok() ? StreamStatus(status, guard.fired(), impl_->options) : handled;
}

absl::StatusOr<std::string> Client::Analyze(const v1::AnalyzeRequest& request) {
  grpc::ClientContext context;
  const CancelOnStop cancel(impl_->options.stop, [&context] { context.TryCancel(); });
  auto reader = impl_->analyses->Analyze(&context, request);
  IdleGuard guard(context, std::max(impl_->options.idle_timeout_seconds, kAnalysisSeconds));
  std::string answer;
  v1::AnalyzeChunk chunk;
  while (reader->Read(&chunk)) {
    guard.Fed();
    answer += chunk.data();
  }
  CLIENT_RETURN_IF_ERROR(StreamStatus(reader->Finish(), guard.fired(), impl_->options));
  return answer;
}

absl::StatusOr<v1::ListWorkersResponse> Client::ListWorkers() {
  return impl_->Call(*impl_->pool, &Pool::ListWorkers, v1::ListWorkersRequest(), Repeat::kWhenUnavailable);
}
absl::StatusOr<v1::PoolStatus> Client::Drain(const v1::DrainRequest& request) {
  return impl_->Call(*impl_->pool, &Pool::Drain, request, Repeat::kWhenUnavailable);
}
absl::StatusOr<v1::PoolStatus> Client::Resume(const v1::ResumeRequest& request) {
  return impl_->Call(*impl_->pool, &Pool::Resume, request, Repeat::kWhenUnavailable);
}
absl::StatusOr<v1::PoolStatus> Client::GetStatus() {
  return impl_->Call(*impl_->pool, &Pool::GetStatus, v1::GetStatusRequest(), Repeat::kWhenUnavailable);
}

}  // namespace sm89::client
