#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <map>
#include <memory>

#include "absl/strings/str_cat.h"
#include "client/cli/commands.h"
#include "client/cli/context.h"
#include "client/cli/format.h"
#include "client/cli/json_out.h"
#include "client/cli/table.h"
#include "client/macros.h"

namespace sm89::client {
namespace {

void PrintStatus(Context& context, const v1::PoolStatus& status) {
  Terminal& terminal = context.terminal();
  PrintFields(terminal,
              {{"version", absl::StrCat(status.version(), "  (model ", status.model_version(), ", ",
                                        status.build(), ")")},
               {"up since", TimeText(status.start_time())},
               {"state", status.draining() ? "draining: no new jobs are started" : "serving"},
               {"workers", absl::StrCat(status.workers_total(), "  (", status.workers_busy(), " busy, ",
                                        status.workers_idle(), " idle)")},
               {"jobs", absl::StrCat(status.jobs_running(), " running, ", status.jobs_queued(), " queued")},
               {"traces", absl::StrCat(status.traces())},
               {"store", HumanBytes(status.store_bytes())},
               {"metrics", status.metrics_address()}});
  const std::map<std::string, std::string> limits(status.limits().begin(), status.limits().end());
  if (limits.empty()) return;
  terminal.out() << terminal.OnOut(Style::kBold, "limits") << '\n';
  for (const auto& [name, value] : limits)
    terminal.out() << "  " << name << " = " << Printable(value) << '\n';
}

absl::StatusOr<ExitCode> ShowStatus(Context& context, const absl::StatusOr<v1::PoolStatus>& status) {
  if (!status.ok()) return status.status();
  if (context.flags.json) {
    context.PrintJson(ToJson(*status));
  } else {
    PrintStatus(context, *status);
  }
  return kExitOk;
}

absl::StatusOr<ExitCode> RunStatus(Context& context, const std::string&) {
  CLIENT_ASSIGN_OR_RETURN(Client * client, context.GetClient());
  return ShowStatus(context, client->GetStatus());
}

// Empty stays empty: the whole pool.
absl::StatusOr<std::string> WorkerName(const std::string& worker) {
  if (worker.empty()) return worker;
  return FullName("workers", worker);
}

absl::StatusOr<ExitCode> RunDrain(Context& context, const std::string& worker) {
  CLIENT_ASSIGN_OR_RETURN(Client * client, context.GetClient());
  v1::DrainRequest request;
  CLIENT_ASSIGN_OR_RETURN(*request.mutable_worker(), WorkerName(worker));
  return ShowStatus(context, client->Drain(request));
}

absl::StatusOr<ExitCode> RunResume(Context& context, const std::string& worker) {
  CLIENT_ASSIGN_OR_RETURN(Client * client, context.GetClient());
  v1::ResumeRequest request;
  CLIENT_ASSIGN_OR_RETURN(*request.mutable_worker(), WorkerName(worker));
  return ShowStatus(context, client->Resume(request));
}

absl::StatusOr<ExitCode> RunWorkers(Context& context, const std::string&) {
  CLIENT_ASSIGN_OR_RETURN(Client * client, context.GetClient());
  CLIENT_ASSIGN_OR_RETURN(const v1::ListWorkersResponse answer, client->ListWorkers());
  if (context.flags.json) {
    context.PrintJson(ToJson(answer));
    return kExitOk;
  }
  Table table({{"WORKER"},
               {"STATE"},
               {"JOB"},
               {"PID", Table::Align::kRight},
               {"HOST"},
               {"MEMORY", Table::Align::kRight},
               {"DONE", Table::Align::kRight},
               {"RESTARTS", Table::Align::kRight},
               {"HEARTBEAT", Table::Align::kRight}});
  for (const v1::Worker& worker : answer.workers()) {
    const bool known = v1::Worker::State_IsValid(worker.state());
    table.AddRow({ShortName(worker.name()), known ? v1::Worker::State_Name(worker.state()) : "?",
                  ShortName(worker.job()), absl::StrCat(worker.pid()), worker.host(),
                  HumanBytes(worker.memory_bytes()), absl::StrCat(worker.jobs_completed()),
                  absl::StrCat(worker.restarts()), HumanSeconds(AgeSeconds(worker.last_heartbeat()))});
  }
  table.Print(context.terminal());
  return kExitOk;
}

using Run = absl::StatusOr<ExitCode> (*)(Context&, const std::string&);

}  // namespace

void AddPoolCommand(CLI::App& app, Context& context) {
  auto worker = std::make_shared<std::string>();
  CLI::App* pool = app.add_subcommand("pool", "The daemon and its workers: state, drain, resume");
  pool->require_subcommand(0, 1);
  pool->callback([&context, pool] {
    if (!pool->get_subcommands().empty()) return;
    context.action = [&context] { return RunStatus(context, ""); };
  });
  const auto add = [&](const char* name, const char* help, Run run) {
    CLI::App* command = pool->add_subcommand(name, help);
    command->callback([&context, worker, run] {
      context.action = [&context, worker, run] { return run(context, *worker); };
    });
    return command;
  };
  add("status", "Version, load and limits of the daemon (the default)", RunStatus);
  add("workers", "The worker processes and what they do", RunWorkers);
  add("drain", "Give out no new jobs; running ones go on", RunDrain)
      ->add_option("WORKER", *worker, "Only this worker; the whole pool when left out");
  add("resume", "Give out jobs again", RunResume)
      ->add_option("WORKER", *worker, "Only this worker; the whole pool when left out");
}

}  // namespace sm89::client
