// A small server of the public services for tests of the client: it keeps uploads and jobs in memory and can
// be told to misbehave.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "sm89/v1/analysis.pb.h"
#include "sm89/v1/common.pb.h"
#include "sm89/v1/config.pb.h"
#include "sm89/v1/job.pb.h"
#include "sm89/v1/pool.pb.h"
#include "sm89/v1/trace.pb.h"

namespace sm89::client {

struct FakeUpload {
  v1::BeginUploadRequest begin;
  std::string data;
  bool complete = false;
};

// What one WatchJob stream sends, and how it ends.
struct FakeWatch {
  std::vector<v1::JobUpdate> updates;
  absl::Status end;
};

// Guarded by `mutex`; tests set it up before they call and look at it afterwards.
struct FakeState {
  std::mutex mutex;

  // Misbehaviour.
  int unavailable_calls = 0;                   // so many unary calls are answered UNAVAILABLE
  std::vector<uint64_t> break_write_at;        // a write stream ends UNAVAILABLE once it committed so much
  bool damage_next_chunk = false;              // the next chunk is found to be damaged (DATA_LOSS)
  bool forget_uploads_once = false;            // the next QueryWriteStatus or write is NOT_FOUND
  std::optional<absl::Status> finalize_error;  // with its detail
  int finalize_deadline_misses = 0;            // so many FinalizeUpload calls end DEADLINE_EXCEEDED
  std::optional<absl::Status> submit_error;
  std::string flip_artifact_byte;  // name of the artifact whose bytes are sent wrong

  // Content.
  std::map<std::string, FakeUpload> uploads;  // by name
  std::map<std::string, v1::Trace> traces;
  std::map<std::string, v1::Job> jobs;
  std::map<std::string, v1::Config> configs;
  std::vector<FakeWatch> watches;  // one for each WatchJob call, the last one repeats
  std::vector<v1::Result> result_parts;
  std::map<std::string, std::string> artifacts;
  v1::ValidateConfigResponse validation;
  std::vector<std::string> analysis;  // the answer of every analysis, in its pieces
  absl::Status analysis_error;        // how it ends

  // What was asked.
  int calls = 0;
  int write_streams = 0;
  std::vector<v1::SubmitJobRequest> submits;
  std::vector<v1::WatchJobRequest> watch_requests;
  std::vector<v1::ListJobsRequest> list_requests;
  std::vector<v1::BeginUploadRequest> begins;
  std::vector<v1::CancelJobRequest> cancels;
  std::vector<v1::AnalyzeRequest> analyses;
};

class FakeServer {
 public:
  FakeServer();
  ~FakeServer();

  const std::string& address() const { return address_; }
  FakeState& state() { return state_; }

  // Gone, and back at the same address with the same state.
  void Stop();
  void Start();

 private:
  struct Services;
  FakeState state_;
  std::string address_;
  std::unique_ptr<Services> services_;
};

}  // namespace sm89::client
