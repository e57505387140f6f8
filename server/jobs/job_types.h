// Values of the job domain. Plain data: no lock, no clock, no transport.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/fault.h"
#include "sim/config/config.h"
#include "sim/stats/ser_trace_format.h"

namespace sm89 {

enum class JobState : uint8_t {
  kQueued,
  kStarting,  // given to a worker that has not reported yet
  kRunning,
  kLostContact,  // the worker went silent (or the daemon restarted); it may come back
  kCancelling,   // the worker has not confirmed yet that it stopped
  kSucceeded,
  kFailed,
  kCancelled,
};
inline constexpr int kJobStates = 8;
// "QUEUED", ... as the API and the database spell them.
std::string_view Name(JobState state);
std::optional<JobState> ParseJobState(std::string_view text);

constexpr bool IsTerminal(JobState s) {
  return s == JobState::kSucceeded || s == JobState::kFailed || s == JobState::kCancelled;
}
// A worker holds (or may hold) the attempt.
constexpr bool IsActive(JobState s) { return s != JobState::kQueued && !IsTerminal(s); }

// What the user asked for. Zero limits were replaced by the server's defaults before a job is stored.
struct JobSpec {
  std::string trace;   // id without "traces/"
  std::string config;  // id without "configs/"
  std::vector<NamedOverride> overrides;
  std::string kernels;  // canonical selection; empty = all
  uint64_t max_cycles = 0;
  uint32_t threads = 0;
  uint64_t memory_bytes = 0;
  uint32_t wall_seconds = 0;
  std::map<std::string, std::string> labels;
  int32_t priority = 0;  // -10..10, higher first
  bool no_result_cache = false;
  std::string display_name;
  bool keep_trace = false;        // of a program: what was executed becomes an artifact
  std::vector<std::string> sass;  // ids of machine code for the trace's kernels, without "traces/"
  bool profile = false;           // counts by instruction become part of the result
  SerTraceFormat ser_trace = SerTraceFormat::kNone;  // decisions of the reordering stage become an artifact
  uint64_t max_instructions = 0;        // of a program: warp instructions that a launch may execute; 0 = any
  std::vector<std::string> sass_names;  // none, or one for each of `sass`; "" = the upload's display name
};

// Machine code that a job names beside its trace.
struct CodeInput {
  std::string digest;
  std::string blob;
  std::string display_name;
};

// Identity of the inputs at submit time: what the attempt gets and what the result cache is keyed by.
struct JobInputs {
  std::string trace_digest;  // of the content
  std::string trace_blob;    // of the compact file in the blob store
  std::string trace_display_name;
  std::string config_digest;
  std::string config_text;           // as it was at submit time; empty = the preset named by the spec
  std::vector<CodeInput> sass = {};  // of JobSpec::sass, in its order
};

// Which attempt runs where. The fence grows over all attempts of all jobs and is never reused.
struct JobPlace {
  uint32_t attempt = 0;        // 1-based; 0 = never dispatched
  uint64_t fence = 0;          // of the current or last attempt
  std::string worker;          // empty unless IsActive
  uint32_t lost_attempts = 0;  // ended by the death or silence of a worker, not by the job itself
};

struct JobError {
  std::string code;    // canonical status name, "INTERNAL"; empty = no error
  std::string reason;  // UPPER_SNAKE_CASE, stable: "WORKER_CRASHED", "WALL_LIMIT", ...
  std::string message;
  std::vector<Fault> faults;
};

struct JobEnding {
  JobError error;
  std::string result_id;  // row of the results table; set for kSucceeded
  bool from_cache = false;
  bool incomplete = false;  // a limit ended the run: statistics so far
};

struct JobTimes {
  int64_t create_unix_nanos = 0;
  int64_t start_unix_nanos = 0;  // of the current or last attempt
  int64_t end_unix_nanos = 0;
};

struct Job {
  std::string id;
  uint64_t number = 0;    // submission order, unique
  uint64_t revision = 0;  // raised by every stored change; the etag
  JobState state = JobState::kQueued;
  std::string reason;  // why pending, why failed; one sentence
  JobSpec spec;
  JobInputs inputs;
  JobPlace place;
  JobEnding outcome;
  JobTimes times;
};

// A watcher's position. State changes and progress share it and it grows across daemon restarts: every
// stored change raises the upper half, progress between two changes the lower one (which is not stored).
constexpr uint64_t SequenceOf(uint64_t revision, uint32_t progress_count) {
  return (revision << 32) | progress_count;
}

struct JobHistoryEntry {
  uint64_t sequence = 0;
  int64_t unix_nanos = 0;
  JobState state = JobState::kQueued;
  std::string reason;
  uint32_t attempt = 0;
};
inline constexpr size_t kHistoryEntriesMax = 64;

struct NamedCount {
  std::string name, unit;
  uint64_t value = 0;
};
struct NamedFigure {
  std::string name, unit;
  bool defined = false;
  double value = 0;
};

struct KernelProgress {
  uint32_t kernels_total = 0, kernels_done = 0, kernel_index = 0;
  std::string kernel_name;
  uint64_t ctas_total = 0, ctas_done = 0;
};

// Where the warps of the running kernel have waited so far; the fields are those of job.proto.
struct WaitReason {
  std::string name;
  uint64_t cycles = 0;
};
struct LiveProfileRow {
  uint64_t pc = 0;
  std::string opcode;
  uint64_t issued = 0;
  uint64_t threads = 0;
  uint64_t waited = 0;
  std::vector<WaitReason> reasons;
};
struct LiveProfile {
  uint32_t kernel_index = 0;
  std::string kernel_name;
  uint64_t instructions = 0;
  uint64_t issued = 0;
  uint64_t warp_cycles = 0;
  uint64_t waited = 0;
  std::vector<LiveProfileRow> rows;
};
inline constexpr size_t kLiveProfileRowsMax = 64;
inline constexpr size_t kWaitReasonsMax = 3;

// What a worker reports while it runs.
struct JobProgress {
  KernelProgress kernel;
  uint64_t cycle = 0;
  uint64_t warp_instructions = 0;
  uint64_t warp_instructions_total = 0;
  double ipc = 0;
  double warp_instructions_per_second = 0;
  double cycles_per_second = 0;
  double eta_seconds = -1;  // negative = unknown
  double elapsed_seconds = 0;
  uint64_t memory_bytes = 0;
  std::vector<NamedCount> interval;  // since the last report
  std::vector<NamedFigure> interval_derived;
  std::optional<LiveProfile> profile;
};
inline constexpr size_t kProgressStatisticsMax = 512;

struct ArtifactRef {
  std::string name;
  std::string sha256;  // name in the blob store
  uint64_t size_bytes = 0;
};

// A finished run. Jobs that ask the same question share it.
struct JobResult {
  std::string id;
  std::string summary;  // opaque to this layer: the serialized typed result without its kernels
  std::vector<ArtifactRef> artifacts;
  bool incomplete = false;
};
// The artifact that holds the whole typed result (see WorkerService.Complete); not shown to users.
inline constexpr std::string_view kTypedResultArtifact = "result.bin";
inline constexpr size_t kArtifactsMax = 16;
// Artifacts without which a result does not answer the job: the result cache promises them to later jobs of
// the same question.
std::vector<std::string> PromisedArtifacts(const JobSpec& spec);

}  // namespace sm89
