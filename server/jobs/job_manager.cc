// The clients' half of JobManager.
#include "server/jobs/job_manager.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "server/jobs/job_json.h"
#include "server/jobs/kernel_selection.h"
#include "server/jobs/text.h"
#include "server/log/log.h"
#include "sim/base/assert.h"
#include "sim/base/digest.h"
#include "sim/base/fault.h"
#include "sim/base/status_macros.h"

namespace sm89 {
namespace {

constexpr uint32_t kPageSizeDefault = 50;
constexpr uint32_t kPageSizeMax = 1000;
constexpr size_t kReasonBytesMax = 500;

absl::Status JobFault(absl::StatusCode code, const std::string& id, const std::string& message) {
  Fault fault;
  fault.field = "name";
  fault.value = absl::StrCat("jobs/", id);
  fault.message = message;
  return InputError(code, fault);
}

absl::Status NoSuchJob(const std::string& id) {
  return JobFault(absl::StatusCode::kNotFound, id, "there is no such job");
}

absl::Status CheckEtag(const Job& job, const std::string& etag) {
  if (etag.empty() || etag == EtagOf(job)) return absl::OkStatus();
  return JobFault(absl::StatusCode::kAborted, job.id, "the job has changed since this etag was read");
}

double Seconds(Duration d) { return std::chrono::duration<double>(d).count(); }

}  // namespace

std::string EtagOf(const Job& job) { return absl::StrCat("r", job.revision); }

JobManager::Guard::Guard(JobManager& manager) : manager_(manager) { manager_.mutex_.Lock(); }

JobManager::Guard::~Guard() {
  const std::vector<std::function<void()>> deferred = std::exchange(manager_.deferred_, {});
  manager_.mutex_.Unlock();
  for (const auto& action : deferred) action();
}

JobManager::JobManager(JobManagerOptions options, JobManagerDeps deps)
    : options_(std::move(options)),
      deps_(deps),
      hub_(deps.clock, options_.watchers_max,
           [this](std::function<void()> action)
               SM89_NO_THREAD_SAFETY_ANALYSIS { deferred_.push_back(std::move(action)); }) {}

JobManager::~JobManager() = default;

absl::StatusOr<JobView> JobManager::Submit(const SubmitRequest& request) {
  RETURN_IF_ERROR(CheckRequestId(request.request_id));
  const std::string body_sha256 = Sha256Hex(SpecToJson(request.spec));
  ASSIGN_OR_RETURN(const std::optional<JobView> repeat, RepeatOf(request, body_sha256));
  if (repeat.has_value()) return *repeat;

  Job job;
  job.spec = request.spec;
  RETURN_IF_ERROR(CheckAndCompleteSpec(options_.limits, &job.spec));
  ASSIGN_OR_RETURN(ResolvedInputs resolved, deps_.inputs.Resolve(job.spec));
  ASSIGN_OR_RETURN(job.spec.kernels, CanonicalKernelSelection(job.spec.kernels, resolved.kernel_count));
  job.inputs = std::move(resolved.inputs);
  job.times.create_unix_nanos = deps_.clock.WallUnixNanos();
  job.revision = 1;
  if (request.validate_only) return JobView{std::move(job), "", nullptr, 0, {}};
  job.id = deps_.ids.NewId();

  absl::StatusOr<JobView> view = absl::UnavailableError("");
  {
    Guard guard(*this);
    view = Admit(std::move(job), {request.request_id, body_sha256});
  }
  if (!absl::IsAlreadyExists(view.status())) return view;
  // The same request came in twice at the same moment and the other one won.
  ASSIGN_OR_RETURN(const std::optional<JobView> twin, RepeatOf(request, body_sha256));
  if (twin.has_value()) return *twin;
  return view;
}

absl::StatusOr<std::optional<JobView>> JobManager::RepeatOf(const SubmitRequest& request,
                                                            const std::string& body_sha256) {
  if (request.request_id.empty()) return std::nullopt;
  ASSIGN_OR_RETURN(std::optional<StoredSubmit> stored, deps_.store.FindByRequest(request.request_id));
  if (!stored.has_value()) return std::nullopt;
  if (stored->body_sha256 != body_sha256) {
    Fault fault;
    fault.field = "request_id";
    fault.value = request.request_id;
    fault.message = absl::StrCat("this request id was used for another job (jobs/", stored->job.id, ")");
    return InputError(absl::StatusCode::kAlreadyExists, fault);
  }
  ASSIGN_OR_RETURN(JobView view, Get(stored->job.id));
  return std::optional<JobView>(std::move(view));
}

absl::StatusOr<JobView> JobManager::Admit(Job job, const SubmitKey& key) {
  if (shutting_down_) return absl::UnavailableError("the server is draining: submit again later");
  uint64_t stored = 0;
  for (const uint64_t count : counts_) stored += count;
  if (stored >= options_.stored_max) {
    return absl::ResourceExhaustedError(
        absl::StrCat("the server keeps its limit of ", options_.stored_max, " jobs: delete ended ones"));
  }
  std::optional<JobResult> cached;
  if (!job.spec.no_result_cache) {
    ASSIGN_OR_RETURN(cached, deps_.store.FindCached(CacheKeyOf(job)));
  }
  const int64_t now = job.times.create_unix_nanos;
  if (cached.has_value()) {
    job = AnsweredFromCache(job, cached->id, cached->incomplete, now);
  } else if (queue_.size() >= options_.queued_max) {
    return absl::ResourceExhaustedError(
        absl::StrCat("the queue holds its limit of ", options_.queued_max, " jobs: submit again later"));
  }
  const auto recheck = [&](Transaction& tx) { return deps_.inputs.Recheck(tx, job.spec, job.inputs); };
  RETURN_IF_ERROR(deps_.store.Insert(&job, key, recheck, now));
  Log(LogLevel::kInfo, "job_submitted",
      {{"job_id", job.id}, {"trace_id", job.spec.trace}, {"from_cache", job.outcome.from_cache}});
  ++counts_[static_cast<size_t>(job.state)];
  deps_.observer.OnSubmitted(job);
  if (IsTerminal(job.state)) {
    return JobView{job, job.reason, nullptr, SequenceOf(job.revision, 0), {}};
  }
  const std::string id = job.id;
  AddLive(std::move(job));
  Dispatch();
  const LiveJob* live = FindLive(id);
  if (live != nullptr) return ViewOf(*live);
  // It failed in the queue at once (its trace was deleted meanwhile).
  ASSIGN_OR_RETURN(const Job ended, FindEnded(id));
  return JobView{ended, ended.reason, nullptr, SequenceOf(ended.revision, 0), {}};
}

std::string JobManager::CacheKeyOf(const Job& job) const {
  // Names are part of it because they are part of the report's bytes.
  std::vector<std::string> parts = {
      job.inputs.trace_digest, job.inputs.trace_display_name,     job.inputs.config_digest, job.spec.config,
      job.spec.kernels,        absl::StrCat(job.spec.max_cycles), options_.model_version};
  for (const CodeInput& code : job.inputs.sass) {
    parts.push_back(absl::StrCat("sass ", code.digest, " ", code.display_name));
  }
  if (job.spec.profile) parts.emplace_back("profile");
  if (job.spec.ser_trace != SerTraceFormat::kNone) parts.push_back("ser trace " + NameOf(job.spec.ser_trace));
  if (job.spec.keep_trace) parts.emplace_back("trace kept");  // a result without it answers less
  if (job.spec.max_instructions != 0)
    parts.push_back(absl::StrCat("instructions ", job.spec.max_instructions));
  return Sha256Hex(absl::StrJoin(parts, "\n"));
}

JobManager::LiveJob& JobManager::AddLive(Job job) {
  const std::string id = job.id;
  LiveJob live;
  live.job = std::move(job);
  live.queued_since = deps_.clock.SteadyNow();
  const auto [it, added] = live_.emplace(id, std::move(live));
  SM89_ASSERT(added, "job ids are unique");
  if (it->second.job.state == JobState::kQueued) queue_.Add(it->second.job);
  return it->second;
}

JobManager::LiveJob* JobManager::FindLive(const std::string& id) {
  const auto it = live_.find(id);
  return it == live_.end() ? nullptr : &it->second;
}

absl::StatusOr<Job> JobManager::FindEnded(const std::string& id) {
  ASSIGN_OR_RETURN(std::optional<Job> job, deps_.store.Find(id));
  if (!job.has_value()) return NoSuchJob(id);
  return *std::move(job);
}

absl::StatusOr<JobView> JobManager::Get(const std::string& id) {
  std::optional<JobView> view;
  {
    Guard guard(*this);
    const LiveJob* live = FindLive(id);
    if (live != nullptr) view = ViewOf(*live);
  }
  if (!view.has_value()) {
    ASSIGN_OR_RETURN(Job job, FindEnded(id));
    view = JobView{job, job.reason, nullptr, SequenceOf(job.revision, 0), {}};
  }
  ASSIGN_OR_RETURN(view->history, deps_.store.History(id));
  return *std::move(view);
}

JobView JobManager::ViewOf(const LiveJob& live) {
  JobView view{
      live.job, live.job.reason, live.progress, SequenceOf(live.job.revision, live.progress_count), {}};
  if (live.job.state == JobState::kQueued) {
    view.reason = live.job.reason.empty() ? WhyPending(live.job)
                                          : absl::StrCat(live.job.reason, "; ", WhyPending(live.job));
  }
  return view;
}

std::string JobManager::WhyPending(const Job& job) {
  if (shutting_down_ || deps_.pool.draining()) return "the pool is draining: nothing is started";
  uint64_t usable = 0;
  const std::vector<WorkerInfo> workers = deps_.pool.Workers();
  for (const WorkerInfo& w : workers) {
    if (w.state == WorkerState::kBusy || w.state == WorkerState::kIdle) ++usable;
  }
  if (usable == 0) return absl::StrCat("no worker is up (", workers.size(), " configured)");
  return absl::StrCat(queue_.Ahead(job), " jobs ahead in the queue, ", usable, " workers up");
}

absl::StatusOr<JobListPage> JobManager::List(const JobListQuery& query) {
  ASSIGN_OR_RETURN(const JobFilter filter, ParseJobFilter(query.filter));
  uint64_t before = ~uint64_t{0} >> 1;  // SQLite's integers are signed
  if (!query.page_token.empty()) {
    ASSIGN_OR_RETURN(before, ParsePageToken(query.page_token, query.filter));
  }
  const uint32_t size = query.page_size == 0 ? kPageSizeDefault : std::min(query.page_size, kPageSizeMax);
  ASSIGN_OR_RETURN(JobPage stored, deps_.store.List(filter, before, size));
  JobListPage page;
  page.total = stored.total;
  if (stored.more) page.next_page_token = MakePageToken(stored.jobs.back().number, query.filter);
  Guard guard(*this);
  for (Job& job : stored.jobs) {
    // Progress is not stored; the state may have moved on since the snapshot, but then so might the filter.
    const LiveJob* live = FindLive(job.id);
    const bool same = live != nullptr && live->job.revision == job.revision;
    const uint32_t count = same ? live->progress_count : 0;
    page.jobs.push_back(
        {job, job.reason, same ? live->progress : nullptr, SequenceOf(job.revision, count), {}});
  }
  return page;
}

absl::StatusOr<JobView> JobManager::Cancel(const std::string& id, const std::string& reason) {
  {
    Guard guard(*this);
    LiveJob* live = FindLive(id);
    if (live != nullptr) {
      const std::string why = reason.empty() ? "cancelled by request"
                                             : absl::StrCat("cancelled: ", CutText(reason, kReasonBytesMax));
      const std::optional<Job> next = CancelAsked(live->job, why, deps_.clock.WallUnixNanos());
      if (!next.has_value()) return ViewOf(*live);  // it is being cancelled already
      const AttemptRef attempt{id, live->job.place.attempt, live->job.place.fence};
      const bool active = IsActive(live->job.state);
      RETURN_IF_ERROR(Commit(*live, *next));
      Log(LogLevel::kInfo, "job_cancel", {{"job_id", id}, {"state", Name(next->state)}});
      if (active) deps_.pool.Evict(attempt, true);
      return JobView{*next, next->reason, nullptr, SequenceOf(next->revision, 0), {}};
    }
  }
  ASSIGN_OR_RETURN(Job job, FindEnded(id));
  if (job.state != JobState::kCancelled) {
    return JobFault(absl::StatusCode::kFailedPrecondition, id,
                    absl::StrCat("the job has ended already: ", std::string(Name(job.state))));
  }
  return JobView{job, job.reason, nullptr, SequenceOf(job.revision, 0), {}};
}

absl::StatusOr<JobView> JobManager::Update(const std::string& id, const JobPatch& patch) {
  Guard guard(*this);
  LiveJob* live = FindLive(id);
  if (live == nullptr) {
    RETURN_IF_ERROR(FindEnded(id).status());
    return JobFault(absl::StatusCode::kFailedPrecondition, id, "the job has ended");
  }
  RETURN_IF_ERROR(CheckEtag(live->job, patch.etag));
  if (live->job.state != JobState::kQueued) {
    return JobFault(absl::StatusCode::kFailedPrecondition, id, "only a queued job can be changed");
  }
  Job next = live->job;
  ++next.revision;
  if (patch.labels.has_value()) next.spec.labels = *patch.labels;
  if (patch.priority.has_value()) next.spec.priority = *patch.priority;
  RETURN_IF_ERROR(CheckLabelsAndPriority(next.spec));
  RETURN_IF_ERROR(Commit(*live, next));
  return ViewOf(*live);
}

absl::Status JobManager::Delete(const std::string& id, const std::string& etag, bool allow_missing) {
  Guard guard(*this);
  const LiveJob* live = FindLive(id);
  if (live != nullptr) {
    return JobFault(absl::StatusCode::kFailedPrecondition, id, "the job has not ended: cancel it first");
  }
  const absl::StatusOr<Job> job = FindEnded(id);
  if (absl::IsNotFound(job.status()) && allow_missing) return absl::OkStatus();
  RETURN_IF_ERROR(job.status());
  RETURN_IF_ERROR(CheckEtag(*job, etag));
  RETURN_IF_ERROR(deps_.store.Delete(*job));
  --counts_[static_cast<size_t>(job->state)];
  return absl::OkStatus();
}

absl::StatusOr<std::shared_ptr<Watcher>> JobManager::Watch(const std::string& id, const WatchOptions& options,
                                                           std::function<void()> wake) {
  Guard guard(*this);
  const LiveJob* live = FindLive(id);
  if (live != nullptr) {
    return hub_.Subscribe(live->job, live->progress, SequenceOf(live->job.revision, live->progress_count),
                          options, std::move(wake));
  }
  ASSIGN_OR_RETURN(const Job job, FindEnded(id));
  return hub_.Subscribe(job, nullptr, SequenceOf(job.revision, 0), options, std::move(wake));
}

absl::StatusOr<JobResult> JobManager::Result(const std::string& id) {
  ASSIGN_OR_RETURN(const Job job, FindEnded(id));
  if (job.state != JobState::kSucceeded) {
    return JobFault(absl::StatusCode::kFailedPrecondition, id,
                    absl::StrCat("the job has no result: it is ", std::string(Name(job.state)),
                                 job.reason.empty() ? "" : " - ", job.reason));
  }
  ASSIGN_OR_RETURN(std::optional<JobResult> result, deps_.store.FindResult(job.outcome.result_id));
  if (!result.has_value()) return absl::DataLossError(absl::StrCat("the result of jobs/", id, " is gone"));
  return *std::move(result);
}

JobCounts JobManager::Counts() {
  Guard guard(*this);
  JobCounts counts;
  counts.by_state = counts_;
  counts.watchers = hub_.watchers();
  const SteadyTime now = deps_.clock.SteadyNow();
  for (const auto& [id, live] : live_) {
    if (live.job.state != JobState::kQueued) continue;
    counts.oldest_queued_seconds = std::max(counts.oldest_queued_seconds, Seconds(now - live.queued_since));
  }
  return counts;
}

}  // namespace sm89
