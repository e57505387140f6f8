#include "client/cli/sweep.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/backoff.h"
#include "client/cli/config_source.h"
#include "client/cli/format.h"
#include "client/cli/job_view.h"
#include "client/cli/paging.h"
#include "client/cli/progress.h"
#include "client/cli/table.h"
#include "client/macros.h"
#include "client/result_reader.h"
#include "client/watcher.h"

namespace sm89::client {
namespace {

// Short jobs end between the first two looks; long ones are asked about once a second.
constexpr double kPollSecondsFirst = 0.1;
constexpr double kPollSecondsMax = 1.0;

// The present state of every job of the sweep.
absl::Status ReadStates(Client& client, const std::string& id, std::map<std::string, v1::Job>& jobs) {
  v1::ListJobsRequest request;
  request.set_filter(absl::StrCat("label.sweep=", id));
  return ReadPages(
      request, static_cast<uint32_t>(jobs.size()),
      [&](const v1::ListJobsRequest& r) { return client.ListJobs(r); },
      [&](const v1::ListJobsResponse& page) {
        for (const v1::Job& job : page.jobs()) {
          if (const auto found = jobs.find(job.name()); found != jobs.end()) found->second = job;
        }
        return page.jobs_size();
      });
}

struct Tally {
  size_t ended = 0, running = 0, failed = 0;
};

Tally Count(const std::map<std::string, v1::Job>& jobs) {
  Tally tally;
  for (const auto& [name, job] : jobs) {
    if (IsTerminal(job.state())) ++tally.ended;
    if (job.state() == v1::Job::RUNNING || job.state() == v1::Job::STARTING) ++tally.running;
    if (job.state() == v1::Job::FAILED) ++tally.failed;
  }
  return tally;
}

std::string TallyText(const Tally& tally, size_t total) {
  std::string text = absl::StrCat(tally.ended, " of ", total, " jobs done, ", tally.running, " running");
  if (tally.failed > 0) absl::StrAppend(&text, ", ", tally.failed, " failed");
  return text;
}

void SayHowToGoOn(Context& context, const std::string& id) {
  context.terminal().err() << "the jobs go on; see them with 'sm89 jobs --filter label.sweep=" << id << "'\n"
                           << std::flush;
}

}  // namespace

absl::StatusOr<std::vector<SweepAxis>> ParseAxes(const std::vector<std::string>& pairs) {
  CLIENT_ASSIGN_OR_RETURN(const std::vector<v1::Override> parsed, ParseOverrides("--vary", pairs));
  std::vector<SweepAxis> axes;
  for (const v1::Override& one : parsed) {
    auto axis =
        std::find_if(axes.begin(), axes.end(), [&](const SweepAxis& a) { return a.name == one.name(); });
    if (axis == axes.end()) axis = axes.insert(axes.end(), SweepAxis{one.name(), {}});
    axis->values.push_back(one.value());
  }
  return axes;
}

absl::StatusOr<std::vector<v1::JobSpec>> Combine(const v1::JobSpec& base, const SweepInputs& inputs,
                                                 size_t jobs_max) {
  std::vector<v1::JobSpec> specs;
  const auto too_many = [&] {
    return absl::ResourceExhaustedError(absl::StrCat("more than ", jobs_max, " jobs in one call; split it"));
  };
  for (const std::string& trace : inputs.traces) {
    for (const std::string& config : inputs.configs) {
      if (specs.size() >= jobs_max) return too_many();
      v1::JobSpec& spec = specs.emplace_back(base);
      spec.set_trace(trace);
      spec.set_config(config);
    }
  }
  for (const SweepAxis& axis : inputs.axes) {
    if (specs.size() > jobs_max / axis.values.size()) return too_many();
    std::vector<v1::JobSpec> wider;
    for (const v1::JobSpec& spec : specs) {
      for (const std::string& value : axis.values) {
        v1::Override& one = *wider.emplace_back(spec).add_overrides();
        one.set_name(axis.name);
        one.set_value(value);
      }
    }
    specs = std::move(wider);
  }
  return specs;
}

absl::StatusOr<std::vector<v1::Job>> FollowSweep(Context& context, const std::string& id,
                                                 const std::vector<std::string>& names) {
  CLIENT_ASSIGN_OR_RETURN(Client * client, context.GetClient());
  std::map<std::string, v1::Job> jobs;
  for (const std::string& name : names) jobs[name].set_name(name);
  ProgressLine line(context.terminal(), context.flags.quiet);
  Backoff backoff(client->options().reconnect_seconds);
  double poll_seconds = kPollSecondsFirst;
  while (true) {
    const absl::Status status = ReadStates(*client, id, jobs);
    const Tally tally = Count(jobs);
    if (status.ok()) {
      backoff.Reset();
      line.Update(TallyText(tally, names.size()),
                  static_cast<double>(tally.ended) / static_cast<double>(names.size()));
      if (tally.ended == names.size()) break;
    } else if (!absl::IsUnavailable(status) || !backoff.Wait(context.stop())) {
      line.Clear();
      SayHowToGoOn(context, id);
      return status;
    }
    if (!SleepUnlessStopped(std::exchange(poll_seconds, std::min(2 * poll_seconds, kPollSecondsMax)),
                            context.stop())) {
      line.Clear();
      SayHowToGoOn(context, id);
      return absl::CancelledError("interrupted");
    }
  }
  std::vector<v1::Job> ordered;
  for (const std::string& name : names) ordered.push_back(jobs[name]);
  return ordered;
}

absl::StatusOr<SweepResult> FetchSweepResult(Client& client, const v1::Job& job) {
  SweepResult row;
  if (job.state() != v1::Job::SUCCEEDED) return row;
  CLIENT_ASSIGN_OR_RETURN(row.result, FetchResult(client, job.name(), {}));
  row.present = true;
  for (const v1::KernelResult& kernel : row.result.kernels())
    row.warp_instructions += kernel.warp_instructions();
  if (row.result.total_cycles() > 0) {
    row.ipc = static_cast<double>(row.warp_instructions) / static_cast<double>(row.result.total_cycles());
  }
  row.result.clear_kernels();
  return row;
}

void PrintSweep(Context& context, const std::vector<SweepRow>& rows) {
  Table table({{"TRACE", Table::Align::kLeft, 30},
               {"CONFIG", Table::Align::kLeft, 60},
               {"STATE"},
               {"CYCLES", Table::Align::kRight},
               {"WARP INSTS", Table::Align::kRight},
               {"IPC", Table::Align::kRight},
               {"RAN", Table::Align::kRight},
               {"JOB"},
               {"", Table::Align::kLeft, 80}});
  for (const SweepRow& row : rows) {
    const bool shown = row.result.present;
    table.AddRow({row.trace_label,
                  ConfigText(row.job.spec()),
                  {StateName(row.job.state()), StyleOf(row.job.state())},
                  shown ? absl::StrCat(row.result.result.total_cycles()) : "-",
                  shown ? absl::StrCat(row.result.warp_instructions) : "-",
                  shown ? absl::StrFormat("%.3f", row.result.ipc) : "-",
                  HumanSeconds(DurationSeconds(row.job)),
                  ShortName(row.job.name()),
                  row.job.state() == v1::Job::SUCCEEDED && !row.job.incomplete() ? "" : ReasonText(row.job)});
  }
  table.Print(context.terminal());
}

}  // namespace sm89::client
