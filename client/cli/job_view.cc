#include "client/cli/job_view.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "client/cli/format.h"
#include "client/cli/json_out.h"
#include "client/cli/live_profile.h"
#include "client/error.h"
#include "client/macros.h"
#include "client/watcher.h"

namespace sm89::client {
namespace {

constexpr size_t kKernelNameColumns = 32;
constexpr uint32_t kPlainProfileMs = 2000;  // between two tables that are not drawn in place

std::string LabelsText(const v1::JobSpec& spec) {
  // Protobuf maps have no order; people and tests want one.
  std::map<std::string, std::string> sorted(spec.labels().begin(), spec.labels().end());
  std::string text;
  for (const auto& [key, value] : sorted) absl::StrAppend(&text, text.empty() ? "" : " ", key, "=", value);
  return text;
}

// What the job has beside its reports.
std::string KeptText(const v1::JobSpec& spec) {
  std::vector<std::string> kept;
  if (spec.profile()) kept.emplace_back("profile");
  if (spec.keep_trace()) kept.emplace_back("trace");
  if (spec.ser_trace() == v1::SER_TRACE_COMPACT) kept.emplace_back("reordering decisions");
  if (spec.ser_trace() == v1::SER_TRACE_CSV) kept.emplace_back("reordering decisions (CSV)");
  if (spec.ser_trace() == v1::SER_TRACE_JSONL) kept.emplace_back("reordering decisions (JSON lines)");
  return absl::StrJoin(kept, ", ");
}

// One JSON object a line.
void PrintEvent(Context& context, const v1::JobUpdate& update) {
  context.terminal().out() << ToJson(update).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)
                           << '\n'
                           << std::flush;
}

void ShowUpdate(Terminal& terminal, ProgressLine& line, LiveProfileView* profile, const v1::JobUpdate& update,
                v1::Job::State& shown) {
  if (update.has_job() && update.job().state() != shown) {
    shown = update.job().state();
    std::string text =
        absl::StrCat(ShortName(update.job().name()), "  ", terminal.OnErr(StyleOf(shown), StateName(shown)));
    const std::string& reason = update.job().state_reason();
    if (!reason.empty()) absl::StrAppend(&text, "  ", Printable(reason));
    line.Note(text);
    if (profile != nullptr) profile->Keep();
  }
  const v1::Progress& progress = update.has_progress() ? update.progress() : update.job().progress();
  const bool running = shown == v1::Job::RUNNING || shown == v1::Job::CANCELLING;
  if (running && profile != nullptr && progress.has_profile()) profile->Show(progress.profile(), line);
  if (running && progress.elapsed_seconds() > 0)
    line.Update(ProgressText(progress), ProgressFraction(progress));
}

void SayHowToGoOn(Terminal& terminal, const std::string& job) {
  const std::string id = ShortName(job);
  terminal.err() << "the job goes on; follow it with 'sm89 watch " << id << "', end it with 'sm89 cancel "
                 << id << "'\n"
                 << std::flush;
}

std::string AttemptText(const v1::Job& job) {
  if (job.attempt() <= 1) return "";
  return absl::StrCat(job.attempt(), " (earlier ones were lost; see the events)");
}

// Those that the message does not say: it lists the first ones.
void PrintFaults(Terminal& terminal, const v1::Job& job) {
  for (const v1::Fault& fault : job.error().faults()) {
    const std::string text = FormatFault(fault);
    if (job.error_message().find(text) != std::string::npos) continue;
    terminal.out() << "  " << Printable(text) << '\n';
  }
}

void PrintEvents(Terminal& terminal, const v1::Job& job) {
  if (job.events().empty()) return;
  terminal.out() << terminal.OnOut(Style::kBold, "events") << '\n';
  for (const v1::JobEvent& event : job.events()) {
    terminal.out() << "  " << TimeText(event.time()) << "  " << StateName(event.state());
    if (event.attempt() > 1) terminal.out() << "  attempt " << event.attempt();
    if (!event.reason().empty()) terminal.out() << "  " << Printable(event.reason());
    terminal.out() << '\n';
  }
}

}  // namespace

absl::StatusOr<v1::Job> GetJob(Context& context, const std::string& name) {
  CLIENT_ASSIGN_OR_RETURN(Client * client, context.GetClient());
  v1::GetJobRequest request;
  request.set_name(name);
  return client->GetJob(request);
}

std::string ProgressText(const v1::Progress& p) {
  std::string text;
  if (p.kernels_total() > 0) {
    const uint32_t at = std::min(p.kernels_done() + 1, p.kernels_total());
    absl::StrAppend(&text, "kernel ", at, "/", p.kernels_total(), " ",
                    Shorten(p.kernel_name(), kKernelNameColumns), "  ");
  }
  absl::StrAppend(&text, "cycle ", HumanCount(static_cast<double>(p.cycle())));
  if (p.ipc() > 0) absl::StrAppend(&text, absl::StrFormat("  IPC %.2f", p.ipc()));
  if (p.warp_instructions_per_second() > 0) {
    absl::StrAppend(&text, "  ", HumanCount(p.warp_instructions_per_second()), " warp insts/s");
  }
  if (p.eta_seconds() > 0) absl::StrAppend(&text, "  ETA ", HumanSeconds(p.eta_seconds()));
  return text;
}

double ProgressFraction(const v1::Progress& p) {
  if (p.warp_instructions_total() > 0) {
    return static_cast<double>(p.warp_instructions()) / static_cast<double>(p.warp_instructions_total());
  }
  if (p.kernels_total() > 0) {
    const double of_kernel =
        p.ctas_total() > 0 ? static_cast<double>(p.ctas_done()) / static_cast<double>(p.ctas_total()) : 0;
    const double done =
        p.kernels_done() < p.kernels_total() ? p.kernels_done() + of_kernel : p.kernels_done();
    return done / p.kernels_total();
  }
  return -1;
}

std::string ConfigText(const v1::JobSpec& spec) {
  std::string text = spec.config().empty() ? "RTX4090" : ShortName(spec.config());
  for (const v1::Override& one : spec.overrides()) absl::StrAppend(&text, " ", one.name(), "=", one.value());
  return text;
}

std::string ReasonText(const v1::Job& job) {
  if (!job.error_message().empty()) return job.error_message();
  if (job.state() == v1::Job::RUNNING) {
    const double fraction = ProgressFraction(job.progress());
    return fraction < 0 ? "" : absl::StrFormat("%.0f%%", std::min(fraction, 1.0) * 100);
  }
  if (job.incomplete()) return absl::StrCat("incomplete: ", job.state_reason());
  return job.state_reason();
}

void PrintJobEnd(Context& context, const v1::Job& job) {
  Terminal& terminal = context.terminal();
  const v1::Progress& progress = job.progress();
  terminal.out() << ShortName(job.name()) << "  "
                 << terminal.OnOut(StyleOf(job.state()), StateName(job.state()));
  if (job.incomplete()) terminal.out() << " (incomplete)";
  if (job.result_from_cache()) terminal.out() << " (from the result cache)";
  if (progress.cycle() > 0) {
    terminal.out() << "  " << progress.cycle() << " cycles  " << progress.warp_instructions()
                   << " warp instructions" << absl::StrFormat("  IPC %.3f", progress.ipc());
  }
  if (const double seconds = DurationSeconds(job); seconds >= 0)
    terminal.out() << "  in " << HumanSeconds(seconds);
  terminal.out() << '\n';
  if (job.state() == v1::Job::SUCCEEDED && !job.incomplete()) return;
  if (!job.state_reason().empty()) terminal.out() << "  " << Printable(job.state_reason()) << '\n';
  if (!job.error_message().empty() && job.error_message() != job.state_reason()) {
    terminal.out() << "  " << job.error_code() << ": " << Printable(job.error_message()) << '\n';
  }
  PrintFaults(terminal, job);
}

void PrintJob(Context& context, const v1::Job& job) {
  Terminal& terminal = context.terminal();
  const v1::JobSpec& spec = job.spec();
  const double seconds = DurationSeconds(job);
  PrintFields(
      terminal,
      {{"job", job.name()},
       {"name", spec.display_name()},
       {"state", StateName(job.state()) + (job.incomplete() ? " (incomplete)" : "")},
       {"reason", job.state_reason()},
       {"trace", spec.trace()},
       {"config", ConfigText(spec)},
       {"kernels", spec.kernels()},
       {"cycles at most", spec.max_cycles() > 0 ? absl::StrCat(spec.max_cycles()) : ""},
       {"instructions at most",
        spec.limits().max_instructions() > 0 ? absl::StrCat(spec.limits().max_instructions()) : ""},
       {"threads", spec.threads() > 0 ? absl::StrCat(spec.threads()) : ""},
       {"machine code", absl::StrJoin(spec.sass(), " ")},
       {"kept too", KeptText(spec)},
       {"labels", LabelsText(spec)},
       {"priority", spec.priority() != 0 ? absl::StrCat(spec.priority()) : ""},
       {"worker", job.worker()},
       {"attempt", AttemptText(job)},
       {"created", TimeText(job.create_time())},
       {"started", job.start_time().unix_nanos() > 0 ? TimeText(job.start_time()) : ""},
       {"ended", job.end_time().unix_nanos() > 0 ? TimeText(job.end_time()) : ""},
       {"ran for", seconds >= 0 ? HumanSeconds(seconds) : ""},
       {"progress", job.progress().elapsed_seconds() > 0 ? ProgressText(job.progress()) : ""},
       {"result", job.result_from_cache() ? "from the result cache" : ""},
       {"trace digest", job.trace_digest()},
       {"config digest", job.config_digest()},
       {"error",
        job.error_message().empty() ? "" : absl::StrCat(job.error_code(), ": ", job.error_message())}});
  PrintFaults(terminal, job);
  PrintEvents(terminal, job);
}

absl::StatusOr<v1::Job> FollowJob(Context& context, const std::string& name, const FollowOptions& options) {
  const absl::StatusOr<Client*> client = context.GetClient();
  if (!client.ok()) return client.status();
  ProgressLine line(context.terminal(), context.flags.quiet || !options.show_progress);
  const bool in_place = context.terminal().draws_in_place();
  LiveProfileView profile(context.terminal());
  const bool draws = options.profile_rows > 0 && !options.events && !context.flags.quiet;
  v1::Job::State shown = v1::Job::STATE_UNSPECIFIED;
  WatchSettings settings;
  settings.job = name;
  settings.from_sequence = options.from_sequence;
  settings.profile_rows = options.profile_rows;
  if (draws && !in_place) settings.min_interval_ms = kPlainProfileMs;
  WatchCallbacks callbacks;
  callbacks.on_update = [&](const v1::JobUpdate& update) {
    if (options.events) PrintEvent(context, update);
    ShowUpdate(context.terminal(), line, draws ? &profile : nullptr, update, shown);
    return true;
  };
  callbacks.on_reconnect = [&](const absl::Status& why) {
    line.Update(absl::StrCat("connection lost, trying again: ", std::string(why.message())), -1);
  };
  absl::StatusOr<v1::Job> job = WatchJob(**client, settings, callbacks);
  line.Clear();
  const bool left = absl::IsCancelled(job.status()) || absl::IsUnavailable(job.status());
  if (left && shown != v1::Job::STATE_UNSPECIFIED) SayHowToGoOn(context.terminal(), name);
  return job;
}

}  // namespace sm89::client
