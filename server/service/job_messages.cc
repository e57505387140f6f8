#include "server/service/job_messages.h"

#include <algorithm>
#include <array>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/jobs/text.h"
#include "server/os/file_store.h"
#include "server/store/config_store.h"
#include "sim/base/fault.h"
#include "sim/base/status_macros.h"
#include "sim/base/strings.h"

namespace sm89 {
namespace {

constexpr size_t kIdBytesMax = 64;
constexpr size_t kErrorFaultsMax = 100;
constexpr size_t kFailureTextBytesMax = 16'384;

// JobState and v1::Job::State agree but for the protocol's zero.
v1::Job::State MessageOf(JobState state) { return static_cast<v1::Job::State>(static_cast<int>(state) + 1); }
static_assert(v1::Job::QUEUED == static_cast<int>(JobState::kQueued) + 1);
static_assert(v1::Job::CANCELLED == static_cast<int>(JobState::kCancelled) + 1);

// SerTraceFormat and v1::SerTrace agree.
v1::SerTrace MessageOf(SerTraceFormat format) { return static_cast<v1::SerTrace>(format); }
static_assert(v1::SER_TRACE_UNSPECIFIED == static_cast<int>(SerTraceFormat::kNone));
static_assert(v1::SER_TRACE_COMPACT == static_cast<int>(SerTraceFormat::kCompact));
static_assert(v1::SER_TRACE_CSV == static_cast<int>(SerTraceFormat::kCsv));
static_assert(v1::SER_TRACE_JSONL == static_cast<int>(SerTraceFormat::kJsonLines));
static_assert(v1::SerTrace_ARRAYSIZE == 4);

void SetTime(int64_t unix_nanos, v1::Timestamp* (v1::Job::*mutable_time)(), v1::Job* job) {
  if (unix_nanos != 0) (job->*mutable_time)()->set_unix_nanos(unix_nanos);
}

v1::Fault MessageOf(const Fault& fault) {
  v1::Fault message;
  message.set_file(fault.file);
  message.set_line(fault.line);
  message.set_field(fault.field);
  message.set_value(fault.value);
  message.set_expected(fault.expected);
  message.set_message(fault.message);
  for (const auto& [key, value] : fault.facts) (*message.mutable_facts())[key] = value;
  return message;
}

Fault FaultFrom(const v1::Fault& message) {
  Fault fault;
  fault.file = message.file();
  fault.line = message.line();
  fault.field = message.field();
  fault.value = message.value();
  fault.expected = message.expected();
  fault.message = message.message();
  for (const auto& [key, value] : message.facts()) fault.facts.emplace_back(key, value);
  std::sort(fault.facts.begin(), fault.facts.end());  // a protobuf map has no order
  return fault;
}

v1::JobSpec MessageOf(const JobSpec& spec) {
  v1::JobSpec message;
  message.set_trace(absl::StrCat("traces/", spec.trace));
  message.set_config(absl::StrCat("configs/", spec.config));
  for (const NamedOverride& o : spec.overrides) {
    v1::Override* override_message = message.add_overrides();
    override_message->set_name(o.name);
    override_message->set_value(o.value);
  }
  message.set_kernels(spec.kernels);
  message.set_max_cycles(spec.max_cycles);
  message.set_threads(spec.threads);
  message.mutable_limits()->set_memory_bytes(spec.memory_bytes);
  message.mutable_limits()->set_wall_seconds(spec.wall_seconds);
  message.mutable_limits()->set_max_instructions(spec.max_instructions);
  for (const auto& [key, value] : spec.labels) (*message.mutable_labels())[key] = value;
  message.set_priority(spec.priority);
  message.set_no_result_cache(spec.no_result_cache);
  message.set_display_name(spec.display_name);
  message.set_keep_trace(spec.keep_trace);
  for (const std::string& code : spec.sass) message.add_sass(absl::StrCat("traces/", code));
  for (const std::string& name : spec.sass_names) message.add_sass_names(name);
  message.set_profile(spec.profile);
  message.set_ser_trace(MessageOf(spec.ser_trace));
  return message;
}

void SetError(const JobError& error, v1::Job* job) {
  if (error.code.empty()) return;
  job->set_error_code(error.code);
  job->set_error_message(error.message);
  job->mutable_error()->set_domain("sm89");
  job->mutable_error()->set_reason(error.reason);
  for (const Fault& fault : error.faults) *job->mutable_error()->add_faults() = MessageOf(fault);
}

v1::Job JobMessage(const Job& job) {
  v1::Job message;
  if (!job.id.empty()) message.set_name(absl::StrCat("jobs/", job.id));
  *message.mutable_spec() = MessageOf(job.spec);
  message.set_state(MessageOf(job.state));
  message.set_state_reason(job.reason);
  message.set_attempt(job.place.attempt);
  if (!job.place.worker.empty()) message.set_worker(absl::StrCat("workers/", job.place.worker));
  message.set_result_from_cache(job.outcome.from_cache);
  SetError(job.outcome.error, &message);
  SetTime(job.times.create_unix_nanos, &v1::Job::mutable_create_time, &message);
  SetTime(job.times.start_unix_nanos, &v1::Job::mutable_start_time, &message);
  SetTime(job.times.end_unix_nanos, &v1::Job::mutable_end_time, &message);
  message.set_config_digest(job.inputs.config_digest);
  message.set_trace_digest(job.inputs.trace_digest);
  message.set_etag(EtagOf(job));
  message.set_last_sequence(SequenceOf(job.revision, 0));
  message.set_incomplete(job.outcome.incomplete);
  return message;
}

v1::LiveProfile MessageOf(const LiveProfile& profile, size_t rows) {
  v1::LiveProfile message;
  message.set_kernel_index(profile.kernel_index);
  message.set_kernel_name(profile.kernel_name);
  message.set_instructions(profile.instructions);
  message.set_issued(profile.issued);
  message.set_warp_cycles(profile.warp_cycles);
  message.set_waited(profile.waited);
  for (const LiveProfileRow& row : profile.rows) {
    if (static_cast<size_t>(message.rows_size()) == rows) break;
    v1::LiveProfileRow* out = message.add_rows();
    out->set_pc(row.pc);
    out->set_opcode(row.opcode);
    out->set_issued(row.issued);
    out->set_threads(row.threads);
    out->set_waited(row.waited);
    for (const WaitReason& reason : row.reasons) {
      v1::WaitReason* part = out->add_reasons();
      part->set_name(reason.name);
      part->set_cycles(reason.cycles);
    }
  }
  return message;
}

LiveProfile ProfileFromMessage(const v1::LiveProfile& message) {
  LiveProfile profile;
  profile.kernel_index = message.kernel_index();
  profile.kernel_name = message.kernel_name();
  profile.instructions = message.instructions();
  profile.issued = message.issued();
  profile.warp_cycles = message.warp_cycles();
  profile.waited = message.waited();
  for (const v1::LiveProfileRow& row : message.rows()) {
    if (profile.rows.size() == kLiveProfileRowsMax) break;
    LiveProfileRow& out = profile.rows.emplace_back();
    out.pc = row.pc();
    out.opcode = row.opcode();
    out.issued = row.issued();
    out.threads = row.threads();
    out.waited = row.waited();
    for (const v1::WaitReason& reason : row.reasons()) {
      if (out.reasons.size() == kWaitReasonsMax) break;
      out.reasons.push_back({reason.name(), reason.cycles()});
    }
  }
  return profile;
}

absl::StatusOr<SerTraceFormat> FormatFromMessage(v1::SerTrace format) {
  if (v1::SerTrace_IsValid(format)) return static_cast<SerTraceFormat>(format);
  return InputError(absl::StatusCode::kInvalidArgument,
                    Fault{.field = "ser_trace",
                          .value = absl::StrCat(static_cast<int>(format)),
                          .expected = "SER_TRACE_COMPACT, SER_TRACE_CSV or SER_TRACE_JSONL",
                          .message = "not a form of the reordering stage's decisions"});
}

}  // namespace

absl::StatusOr<std::string> IdFromName(std::string_view collection, const std::string& name,
                                       const std::string& field) {
  const std::string prefix = absl::StrCat(Av(collection), "/");
  const std::string id = name.size() > prefix.size() && name.compare(0, prefix.size(), prefix) == 0
                             ? name.substr(prefix.size())
                             : std::string();
  if (!id.empty() && id.size() <= kIdBytesMax && IsSafeFileName(id)) return id;
  Fault fault;
  fault.field = field;
  fault.value = name.substr(0, kIdBytesMax * 2);
  fault.expected = absl::StrCat(prefix, "ID");
  fault.message = "not a resource name";
  return InputError(absl::StatusCode::kInvalidArgument, fault);
}

absl::StatusOr<JobSpec> SpecFromMessage(const v1::JobSpec& message) {
  JobSpec spec;
  ASSIGN_OR_RETURN(spec.trace, IdFromName("traces", message.trace(), "trace"));
  spec.config = std::string(kDefaultConfig);
  if (!message.config().empty()) {
    ASSIGN_OR_RETURN(spec.config, IdFromName("configs", message.config(), "config"));
  }
  for (const v1::Override& o : message.overrides()) spec.overrides.push_back({o.name(), o.value()});
  spec.kernels = message.kernels();
  spec.max_cycles = message.max_cycles();
  spec.threads = message.threads();
  spec.memory_bytes = message.limits().memory_bytes();
  spec.wall_seconds = message.limits().wall_seconds();
  spec.max_instructions = message.limits().max_instructions();
  spec.labels.insert(message.labels().begin(), message.labels().end());
  spec.priority = message.priority();
  spec.no_result_cache = message.no_result_cache();
  spec.display_name = message.display_name();
  spec.keep_trace = message.keep_trace();
  for (const std::string& code : message.sass()) {
    ASSIGN_OR_RETURN(spec.sass.emplace_back(), IdFromName("traces", code, "sass"));
  }
  spec.sass_names.assign(message.sass_names().begin(), message.sass_names().end());
  spec.profile = message.profile();
  ASSIGN_OR_RETURN(spec.ser_trace, FormatFromMessage(message.ser_trace()));
  return spec;
}

v1::Job MessageOf(const JobView& view) {
  v1::Job message = JobMessage(view.job);
  message.set_state_reason(view.reason);
  message.set_last_sequence(view.last_sequence);
  if (view.progress != nullptr) *message.mutable_progress() = MessageOf(*view.progress);
  for (const JobHistoryEntry& entry : view.history) {
    v1::JobEvent* event = message.add_events();
    event->set_sequence(entry.sequence);
    event->mutable_time()->set_unix_nanos(entry.unix_nanos);
    event->set_state(MessageOf(entry.state));
    event->set_reason(entry.reason);
    event->set_attempt(entry.attempt);
  }
  return message;
}

v1::Progress MessageOf(const JobProgress& progress) {
  v1::Progress message;
  message.set_kernels_total(progress.kernel.kernels_total);
  message.set_kernels_done(progress.kernel.kernels_done);
  message.set_kernel_index(progress.kernel.kernel_index);
  message.set_kernel_name(progress.kernel.kernel_name);
  message.set_ctas_total(progress.kernel.ctas_total);
  message.set_ctas_done(progress.kernel.ctas_done);
  message.set_cycle(progress.cycle);
  message.set_warp_instructions(progress.warp_instructions);
  message.set_warp_instructions_total(progress.warp_instructions_total);
  message.set_ipc(progress.ipc);
  message.set_warp_instructions_per_second(progress.warp_instructions_per_second);
  message.set_cycles_per_second(progress.cycles_per_second);
  message.set_eta_seconds(progress.eta_seconds);
  message.set_elapsed_seconds(progress.elapsed_seconds);
  message.set_memory_bytes(progress.memory_bytes);
  for (const NamedCount& count : progress.interval) {
    v1::Statistic* s = message.add_interval();
    s->set_name(count.name);
    s->set_unit(count.unit);
    s->set_value(count.value);
  }
  for (const NamedFigure& figure : progress.interval_derived) {
    v1::DerivedStatistic* s = message.add_interval_derived();
    s->set_name(figure.name);
    s->set_unit(figure.unit);
    s->set_defined(figure.defined);
    s->set_value(figure.value);
  }
  return message;
}

v1::JobUpdate MessageOf(const WatchUpdate& update, size_t profile_rows) {
  constexpr std::array<v1::JobUpdate::Kind, 4> kKinds = {v1::JobUpdate::SNAPSHOT, v1::JobUpdate::STATE_CHANGE,
                                                         v1::JobUpdate::PROGRESS,
                                                         v1::JobUpdate::SERVER_DRAINING};
  v1::JobUpdate message;
  message.set_sequence(update.sequence);
  message.set_kind(kKinds[static_cast<size_t>(update.kind)]);
  message.set_coalesced(update.coalesced);
  if (update.job != nullptr) {
    *message.mutable_job() = JobMessage(*update.job);
    message.mutable_job()->set_last_sequence(update.sequence);
  }
  if (update.progress == nullptr) return message;
  v1::Progress* progress =
      update.job != nullptr ? message.mutable_job()->mutable_progress() : message.mutable_progress();
  *progress = MessageOf(*update.progress);
  if (profile_rows != 0 && update.progress->profile.has_value()) {
    *progress->mutable_profile() = MessageOf(*update.progress->profile, profile_rows);
  }
  return message;
}

JobProgress ProgressFromMessage(const v1::Progress& message) {
  JobProgress progress;
  progress.kernel = {message.kernels_total(), message.kernels_done(), message.kernel_index(),
                     message.kernel_name(),   message.ctas_total(),   message.ctas_done()};
  progress.cycle = message.cycle();
  progress.warp_instructions = message.warp_instructions();
  progress.warp_instructions_total = message.warp_instructions_total();
  progress.ipc = message.ipc();
  progress.warp_instructions_per_second = message.warp_instructions_per_second();
  progress.cycles_per_second = message.cycles_per_second();
  progress.eta_seconds = message.eta_seconds();
  progress.elapsed_seconds = message.elapsed_seconds();
  progress.memory_bytes = message.memory_bytes();
  for (const v1::Statistic& s : message.interval()) {
    if (progress.interval.size() == kProgressStatisticsMax) break;
    progress.interval.push_back({s.name(), s.unit(), s.value()});
  }
  for (const v1::DerivedStatistic& s : message.interval_derived()) {
    if (progress.interval_derived.size() == kProgressStatisticsMax) break;
    progress.interval_derived.push_back({s.name(), s.unit(), s.defined(), s.value()});
  }
  if (message.has_profile()) progress.profile = ProfileFromMessage(message.profile());
  return progress;
}

AttemptRef AttemptFromMessage(const v1::RunningAttempt& message) {
  // Names cross the protocol, ids the domain. A name of another form matches no attempt.
  const absl::StatusOr<std::string> id = IdFromName("jobs", message.job(), "job");
  return {id.ok() ? *id : std::string(), message.attempt(), message.fence()};
}

v1::Assignment MessageOf(const Assignment& assignment) {
  v1::Assignment message;
  message.set_job(absl::StrCat("jobs/", assignment.attempt.job));
  message.set_attempt(assignment.attempt.attempt);
  message.set_fence(assignment.attempt.fence);
  message.set_trace_digest(assignment.inputs.trace_digest);
  message.set_trace_path(assignment.paths.trace);
  message.set_trace_display_name(assignment.inputs.trace_display_name);
  message.set_config_name(assignment.spec.config);
  message.set_config_text(assignment.inputs.config_text);
  message.set_config_digest(assignment.inputs.config_digest);
  for (const NamedOverride& o : assignment.spec.overrides) {
    v1::Override* override_message = message.add_overrides();
    override_message->set_name(o.name);
    override_message->set_value(o.value);
  }
  message.set_kernels(assignment.spec.kernels);
  message.set_max_cycles(assignment.spec.max_cycles);
  message.set_threads(assignment.spec.threads);
  message.set_memory_bytes(assignment.spec.memory_bytes);
  message.set_wall_seconds(assignment.spec.wall_seconds);
  message.set_progress_interval_ms(assignment.progress_interval_ms);
  message.set_keep_trace(assignment.spec.keep_trace);
  message.set_max_instructions(assignment.spec.max_instructions);
  message.set_ser_trace(MessageOf(assignment.spec.ser_trace));
  message.set_scratch_dir(assignment.scratch_dir);
  message.set_artifact_bytes_max(assignment.artifact_bytes_max);
  for (size_t i = 0; i < assignment.inputs.sass.size(); ++i) {
    v1::MachineCode* code = message.add_sass();
    code->set_digest(assignment.inputs.sass[i].digest);
    code->set_path(assignment.paths.sass[i]);
    code->set_display_name(assignment.inputs.sass[i].display_name);
  }
  message.set_profile(assignment.spec.profile);
  return message;
}

absl::StatusOr<Completion> CompletionFromMessage(const v1::CompleteRequest& request) {
  Completion completion;
  switch (request.outcome_case()) {
    case v1::CompleteRequest::kResult:
      completion.success = true;
      completion.incomplete = request.result().status() != "complete";
      completion.summary = request.result().SerializeAsString();
      return completion;
    case v1::CompleteRequest::kFailure:
      completion.cancelled = request.failure().cancelled();
      completion.error.code = request.failure().code().empty() ? "UNKNOWN" : request.failure().code();
      completion.error.reason = request.failure().detail().reason();
      completion.error.message = CutText(request.failure().message(), kFailureTextBytesMax);
      for (const v1::Fault& fault : request.failure().detail().faults()) {
        if (completion.error.faults.size() == kErrorFaultsMax) break;
        completion.error.faults.push_back(FaultFrom(fault));
      }
      return completion;
    case v1::CompleteRequest::OUTCOME_NOT_SET:
      break;
  }
  return absl::InvalidArgumentError("Complete without a result and without a failure");
}

}  // namespace sm89
