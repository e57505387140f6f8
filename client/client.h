// One connection to a daemon: every RPC of the public services, with deadlines, retries and decoded errors.
// Thread-safe. Only client.cc includes gRPC.
//
// Retries: UNAVAILABLE only, and only for calls that are safe to repeat (reads, idempotent verbs, and
// creations that carry a request id). Nothing else is repeated.
#pragma once

#include <functional>
#include <memory>
#include <stop_token>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "sm89/v1/analysis.pb.h"
#include "sm89/v1/config.pb.h"
#include "sm89/v1/job.pb.h"
#include "sm89/v1/pool.pb.h"
#include "sm89/v1/trace.pb.h"

namespace sm89::client {

struct ClientOptions {
  std::string address = "127.0.0.1:8989";  // "host:port", "[v6]:port" or "unix:/path"
  double call_timeout_seconds = 30;        // deadline of one try of a unary call
  double retry_seconds = 3;                // how long UNAVAILABLE is retried in unary calls
  double reconnect_seconds = 120;          // the same for uploads, watches and result streams
  double idle_timeout_seconds = 60;        // a data stream without any progress for so long is given up
  std::string user_agent = "sm89-client";
  std::stop_token stop;  // ends every call and every wait with CANCELLED
};

// The sending half of one WriteUpload stream. Not thread-safe.
class WriteStream {
 public:
  virtual ~WriteStream() = default;
  // False: the stream is broken; Finish says why.
  virtual bool Write(const v1::WriteUploadRequest& request) = 0;
  virtual absl::StatusOr<v1::WriteUploadResponse> Finish() = 0;
};

class Client {
 public:
  // Checks the form of the address only; the connection is made by the first call.
  static absl::StatusOr<std::unique_ptr<Client>> Create(const ClientOptions& options);
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  const ClientOptions& options() const;

  // Traces.
  absl::StatusOr<v1::BeginUploadResponse> BeginUpload(const v1::BeginUploadRequest& request);
  absl::StatusOr<v1::QueryWriteStatusResponse> QueryWriteStatus(const v1::QueryWriteStatusRequest& request);
  // Holds for up to `timeout_seconds`; DEADLINE_EXCEEDED means "not done yet, ask again".
  absl::StatusOr<v1::Trace> FinalizeUpload(const v1::FinalizeUploadRequest& request, double timeout_seconds);
  absl::Status AbortUpload(const v1::AbortUploadRequest& request);
  absl::StatusOr<v1::Trace> GetTrace(const v1::GetTraceRequest& request);
  absl::StatusOr<v1::ListTracesResponse> ListTraces(const v1::ListTracesRequest& request);
  absl::Status DeleteTrace(const v1::DeleteTraceRequest& request);
  std::unique_ptr<WriteStream> OpenWrite();

  // Configurations.
  absl::StatusOr<v1::ListConfigsResponse> ListConfigs(const v1::ListConfigsRequest& request);
  absl::StatusOr<v1::Config> GetConfig(const v1::GetConfigRequest& request);
  absl::StatusOr<v1::GetSchemaResponse> GetSchema(const v1::GetSchemaRequest& request);
  absl::StatusOr<v1::ListTensorModesResponse> ListTensorModes(const v1::ListTensorModesRequest& request);
  absl::StatusOr<v1::ValidateConfigResponse> ValidateConfig(const v1::ValidateConfigRequest& request);
  absl::StatusOr<v1::Config> CreateConfig(const v1::CreateConfigRequest& request);
  absl::StatusOr<v1::DiffConfigsResponse> DiffConfigs(const v1::DiffConfigsRequest& request);
  absl::Status DeleteConfig(const v1::DeleteConfigRequest& request);

  // Jobs.
  absl::StatusOr<v1::Job> SubmitJob(const v1::SubmitJobRequest& request);
  absl::StatusOr<v1::Job> GetJob(const v1::GetJobRequest& request);
  absl::StatusOr<v1::ListJobsResponse> ListJobs(const v1::ListJobsRequest& request);
  absl::StatusOr<v1::Job> CancelJob(const v1::CancelJobRequest& request);
  absl::StatusOr<v1::Job> UpdateJob(const v1::UpdateJobRequest& request);
  absl::Status DeleteJob(const v1::DeleteJobRequest& request);
  // One stream, from its first message to its end, without reconnecting (watcher.h and result_reader.h do
  // that). The callback answers false, or an error, to end the stream early.
  absl::Status ReadWatch(const v1::WatchJobRequest& request,
                         const std::function<bool(const v1::JobUpdate&)>& on_update);
  absl::Status ReadResult(const v1::GetResultRequest& request,
                          const std::function<absl::Status(const v1::ResultChunk&)>& on_chunk);

  // Machine code: the whole answer. Not repeated; waits as long as the server's own limit may be.
  absl::StatusOr<std::string> Analyze(const v1::AnalyzeRequest& request);

  // Pool.
  absl::StatusOr<v1::ListWorkersResponse> ListWorkers();
  absl::StatusOr<v1::PoolStatus> Drain(const v1::DrainRequest& request);
  absl::StatusOr<v1::PoolStatus> Resume(const v1::ResumeRequest& request);
  absl::StatusOr<v1::PoolStatus> GetStatus();

 private:
  struct Impl;
  explicit Client(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// INVALID_ARGUMENT saying what an address looks like, or OK.
absl::Status CheckAddress(const std::string& address);

}  // namespace sm89::client
