#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <memory>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "client/cli/commands.h"
#include "client/cli/context.h"
#include "client/cli/format.h"
#include "client/cli/job_view.h"
#include "client/cli/json_out.h"
#include "client/cli/paging.h"
#include "client/cli/table.h"
#include "client/error.h"
#include "client/macros.h"
#include "client/watcher.h"

namespace sm89::client {
namespace {

constexpr uint32_t kProfileRowsMax = 64;  // the server gives no more

struct JobOptions {
  std::string filter;
  std::string state;
  uint32_t limit = 50;
  std::vector<std::string> names;
  std::string reason;
  bool wait = false;
  bool events = false;
  uint64_t from_sequence = 0;
  uint32_t profile_rows = 0;
};

std::string FilterText(const JobOptions& options) {
  std::string filter = options.filter;
  if (options.state.empty()) return filter;
  if (!filter.empty()) filter += " AND ";
  return filter + "state=" + absl::AsciiStrToUpper(options.state);
}

absl::StatusOr<ExitCode> ListJobs(Context& context, const JobOptions& options) {
  CLIENT_ASSIGN_OR_RETURN(Client * client, context.GetClient());
  v1::ListJobsRequest request;
  request.set_filter(FilterText(options));
  v1::ListJobsResponse all;
  CLIENT_RETURN_IF_ERROR(ReadPages(
      request, options.limit, [&](const v1::ListJobsRequest& r) { return client->ListJobs(r); },
      [&](const v1::ListJobsResponse& page) {
        all.mutable_jobs()->MergeFrom(page.jobs());
        all.set_next_page_token(page.next_page_token());
        all.set_total(page.total());
        return page.jobs_size();
      }));
  if (context.flags.json) {
    context.PrintJson(ToJson(all));
    return kExitOk;
  }
  Table table({{"JOB"},
               {"STATE"},
               {"TRACE", Table::Align::kLeft, 30},
               {"CONFIG", Table::Align::kLeft, 40},
               {"AGE", Table::Align::kRight},
               {"RAN", Table::Align::kRight},
               {"NAME", Table::Align::kLeft, 24},
               {"", Table::Align::kLeft, 60}});
  for (const v1::Job& job : all.jobs()) {
    table.AddRow({ShortName(job.name()),
                  {StateName(job.state()), StyleOf(job.state())},
                  ShortName(job.spec().trace()),
                  ConfigText(job.spec()),
                  HumanSeconds(AgeSeconds(job.create_time())),
                  HumanSeconds(DurationSeconds(job)),
                  job.spec().display_name(),
                  ReasonText(job)});
  }
  if (!table.empty()) table.Print(context.terminal());
  if (table.empty())
    context.terminal().err() << "no jobs" << (request.filter().empty() ? "" : " match") << '\n';
  const auto shown = static_cast<uint32_t>(all.jobs_size());
  if (all.total() > shown && !context.flags.quiet) {
    context.terminal().err() << shown << " of " << all.total() << " jobs; more with --limit\n";
  }
  return kExitOk;
}

absl::StatusOr<ExitCode> ShowJob(Context& context, const JobOptions& options) {
  CLIENT_ASSIGN_OR_RETURN(const std::string name, FullName("jobs", options.names.front()));
  CLIENT_ASSIGN_OR_RETURN(const v1::Job job, GetJob(context, name));
  if (context.flags.json) {
    context.PrintJson(ToJson(job));
  } else {
    PrintJob(context, job);
  }
  return kExitOk;
}

absl::StatusOr<v1::Job> CancelOne(Context& context, const std::string& name, const JobOptions& options) {
  CLIENT_ASSIGN_OR_RETURN(Client * client, context.GetClient());
  v1::CancelJobRequest request;
  CLIENT_ASSIGN_OR_RETURN(*request.mutable_name(), FullName("jobs", name));
  request.set_reason(options.reason);
  CLIENT_ASSIGN_OR_RETURN(v1::Job job, client->CancelJob(request));
  if (!options.wait || IsTerminal(job.state())) return job;
  FollowOptions follow;
  follow.show_progress = false;
  return FollowJob(context, request.name(), follow);
}

// Goes through all names even when some fail; the first failure decides the exit code.
absl::StatusOr<ExitCode> CancelJobs(Context& context, const JobOptions& options) {
  ExitCode code = kExitOk;
  nlohmann::ordered_json jobs = nlohmann::ordered_json::array();
  nlohmann::ordered_json errors = nlohmann::ordered_json::array();
  for (const std::string& name : options.names) {
    const absl::StatusOr<v1::Job> job = CancelOne(context, name, options);
    if (!job.ok()) {
      if (options.names.size() == 1) return job.status();
      if (absl::IsUnavailable(job.status()) || absl::IsCancelled(job.status())) return job.status();
      if (code == kExitOk) code = ExitCodeOf(job.status());
      nlohmann::ordered_json error = ErrorToJson(job.status());
      error["name"] = name;
      errors.push_back(error);
      context.terminal().err() << "error: " << Printable(name) << ": "
                               << Printable(std::string(job.status().message())) << '\n';
      continue;
    }
    jobs.push_back(ToJson(*job));
    if (context.talks()) {
      context.terminal().out() << ShortName(job->name()) << "  " << StateName(job->state()) << '\n';
    }
  }
  if (context.flags.json) context.PrintJson({{"jobs", jobs}, {"errors", errors}});
  return code;
}

absl::Status CheckProfiled(Context& context, const std::string& name) {
  CLIENT_ASSIGN_OR_RETURN(const v1::Job job, GetJob(context, name));
  if (job.spec().profile()) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      "job ", ShortName(name), " was submitted without --profile: nothing is counted by instruction"));
}

absl::StatusOr<ExitCode> Watch(Context& context, const JobOptions& options) {
  CLIENT_ASSIGN_OR_RETURN(const std::string name, FullName("jobs", options.names.front()));
  FollowOptions follow;
  follow.from_sequence = options.from_sequence;
  follow.events = options.events;
  follow.profile_rows = options.profile_rows;
  if (options.profile_rows > 0) CLIENT_RETURN_IF_ERROR(CheckProfiled(context, name));
  CLIENT_ASSIGN_OR_RETURN(const v1::Job job, FollowJob(context, name, follow));
  if (context.flags.json && !options.events) context.PrintJson(ToJson(job));
  if (context.talks() && !options.events) PrintJobEnd(context, job);
  return ExitCodeOf(job);
}

void AddListCommand(CLI::App& app, Context& context) {
  auto options = std::make_shared<JobOptions>();
  CLI::App* list = app.add_subcommand("jobs", "List jobs, newest first");
  list->add_option("--filter", options->filter,
                   "Terms joined by AND: state=RUNNING, trace=traces/x, config=configs/y, label.KEY=VALUE");
  list->add_option("--state", options->state, "Only jobs in this state, e.g. running")
      ->check(CLI::IsMember(
          {"QUEUED", "STARTING", "RUNNING", "LOST_CONTACT", "CANCELLING", "SUCCEEDED", "FAILED", "CANCELLED"},
          CLI::ignore_case));
  list->add_option("--limit", options->limit, "Most rows to show")
      ->capture_default_str()
      ->check(CLI::Range(1, 1'000'000));
  list->callback(
      [&context, options] { context.action = [&context, options] { return ListJobs(context, *options); }; });
}

}  // namespace

void AddJobsCommands(CLI::App& app, Context& context) {
  AddListCommand(app, context);
  auto options = std::make_shared<JobOptions>();
  CLI::App* show = app.add_subcommand("show", "Everything about one job: state, limits, events, errors");
  show->add_option("JOB", options->names, "ID, with or without jobs/")->required()->expected(1);
  show->callback(
      [&context, options] { context.action = [&context, options] { return ShowJob(context, *options); }; });
  CLI::App* cancel = app.add_subcommand("cancel", "End jobs; those that have ended stay as they are");
  cancel->add_option("JOB", options->names, "IDs")->required();
  cancel->add_option("--reason", options->reason, "Shown with the job");
  cancel->add_flag("--wait", options->wait, "Wait until they have ended");
  cancel->callback([&context, options] {
    context.action = [&context, options] { return CancelJobs(context, *options); };
  });
}

void AddWatchCommand(CLI::App& app, Context& context) {
  auto options = std::make_shared<JobOptions>();
  CLI::App* watch = app.add_subcommand("watch", "Follow a job to its end; the exit code says how it ended");
  watch->add_option("JOB", options->names, "ID, with or without jobs/")->required()->expected(1);
  watch->add_flag("--events", options->events, "Every update as one line of JSON on the output");
  watch
      ->add_option_function<std::vector<std::string>>(
          "--profile",
          [options](const std::vector<std::string>& rows) {
            const bool given = !rows.empty() && absl::SimpleAtoi(rows.front(), &options->profile_rows);
            if (!given) options->profile_rows = kProfileRowsDefault;
          },
          "Of a job submitted with --profile: the N instructions of the running kernel that were waited for "
          "most (default 10)")
      ->expected(0, 1)
      ->check(CLI::Range(1u, kProfileRowsMax))
      ->type_name("[N]");
  watch->add_option("--from", options->from_sequence, "Only what comes after this sequence number");
  watch->callback(
      [&context, options] { context.action = [&context, options] { return Watch(context, *options); }; });
}

}  // namespace sm89::client
