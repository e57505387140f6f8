#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <memory>

#include "absl/strings/str_cat.h"
#include "client/cli/commands.h"
#include "client/cli/context.h"
#include "client/cli/format.h"
#include "client/cli/json_out.h"
#include "client/cli/paging.h"
#include "client/cli/table.h"
#include "client/error.h"
#include "client/macros.h"

namespace sm89::client {
namespace {

struct TraceOptions {
  std::string filter;
  uint32_t limit = 50;
  std::vector<std::string> names;
  bool allow_missing = false;
};

std::string TraceState(const v1::Trace& trace) {
  return v1::Trace::State_IsValid(trace.state()) ? v1::Trace::State_Name(trace.state()) : "?";
}

Style StyleOf(v1::Trace::State state) {
  if (state == v1::Trace::READY) return Style::kGood;
  return state == v1::Trace::INVALID ? Style::kBad : Style::kBusy;
}

absl::StatusOr<ExitCode> ListTraces(Context& context, const TraceOptions& options) {
  CLIENT_ASSIGN_OR_RETURN(Client * client, context.GetClient());
  v1::ListTracesRequest request;
  request.set_filter(options.filter);
  v1::ListTracesResponse all;
  CLIENT_RETURN_IF_ERROR(ReadPages(
      request, options.limit, [&](const v1::ListTracesRequest& r) { return client->ListTraces(r); },
      [&](const v1::ListTracesResponse& page) {
        all.mutable_traces()->MergeFrom(page.traces());
        all.set_next_page_token(page.next_page_token());
        return page.traces_size();
      }));
  if (context.flags.json) {
    context.PrintJson(ToJson(all));
    return kExitOk;
  }
  Table table({{"TRACE"},
               {"STATE"},
               {"NAME", Table::Align::kLeft, 48},
               {"KERNELS", Table::Align::kRight},
               {"WARP INSTS", Table::Align::kRight},
               {"STORED", Table::Align::kRight},
               {"AGE", Table::Align::kRight}});
  for (const v1::Trace& trace : all.traces()) {
    table.AddRow({ShortName(trace.name()),
                  {TraceState(trace), StyleOf(trace.state())},
                  trace.display_name(),
                  absl::StrCat(trace.kernels()),
                  IsProgram(trace) || trace.options().machine_code()
                      ? "-"
                      : HumanCount(static_cast<double>(trace.warp_instructions())),
                  HumanBytes(trace.stored_bytes()),
                  HumanSeconds(AgeSeconds(trace.create_time()))});
  }
  if (!table.empty()) table.Print(context.terminal());
  if (table.empty()) context.terminal().err() << "no traces; bring one with 'sm89 upload PATH'\n";
  return kExitOk;
}

absl::StatusOr<ExitCode> ShowTrace(Context& context, const std::string& name) {
  CLIENT_ASSIGN_OR_RETURN(Client * client, context.GetClient());
  v1::GetTraceRequest request;
  CLIENT_ASSIGN_OR_RETURN(*request.mutable_name(), FullName("traces", name));
  CLIENT_ASSIGN_OR_RETURN(const v1::Trace trace, client->GetTrace(request));
  if (context.flags.json) {
    context.PrintJson(ToJson(trace));
    return kExitOk;
  }
  Terminal& terminal = context.terminal();
  // What nobody counted is left out.
  const bool code = trace.options().machine_code();
  const auto count = [&](uint64_t n) {
    if (code) return std::string();
    return IsProgram(trace) ? std::string("known after a run") : absl::StrCat(n);
  };
  PrintFields(terminal, {{"trace", trace.name()},
                         {"name", trace.display_name()},
                         {"state", TraceState(trace)},
                         {"created", TimeText(trace.create_time())},
                         {"uploaded",
                          absl::StrCat(HumanBytes(trace.upload_bytes()), "  sha256 ", trace.upload_sha256())},
                         {"stored", HumanBytes(trace.stored_bytes())},
                         {"digest", trace.digest()},
                         {code ? "functions" : "kernels", absl::StrCat(trace.kernels())},
                         {"warp instructions", count(trace.warp_instructions())},
                         {"thread instructions", count(trace.thread_instructions())},
                         {"host-to-device bytes", code ? "" : absl::StrCat(trace.memcpy_h2d_bytes())},
                         {"error", trace.error_message()}});
  for (const v1::Fault& fault : trace.error().faults())
    terminal.out() << "  " << Printable(FormatFault(fault)) << '\n';
  for (const std::string& mark : trace.marks()) terminal.out() << "marked: " << Printable(mark) << '\n';
  for (const std::string& warning : trace.warnings())
    terminal.out() << "warning: " << Printable(warning) << '\n';
  return kExitOk;
}

absl::StatusOr<ExitCode> DeleteTraces(Context& context, const TraceOptions& options) {
  CLIENT_ASSIGN_OR_RETURN(Client * client, context.GetClient());
  nlohmann::ordered_json deleted = nlohmann::ordered_json::array();
  for (const std::string& name : options.names) {
    v1::DeleteTraceRequest request;
    CLIENT_ASSIGN_OR_RETURN(*request.mutable_name(), FullName("traces", name));
    request.set_allow_missing(options.allow_missing);
    CLIENT_RETURN_IF_ERROR(client->DeleteTrace(request));
    deleted.push_back(request.name());
    if (context.talks()) context.terminal().out() << "deleted " << request.name() << '\n';
  }
  if (context.flags.json) context.PrintJson({{"deleted", deleted}});
  return kExitOk;
}

void AddListOptions(CLI::App& command, TraceOptions& options) {
  command.add_option("--filter", options.filter, "Terms joined by AND: state=READY, display_name:TEXT");
  command.add_option("--limit", options.limit, "Most rows to show")
      ->capture_default_str()
      ->check(CLI::Range(1, 1'000'000));
}

}  // namespace

void AddTracesCommand(CLI::App& app, Context& context) {
  auto options = std::make_shared<TraceOptions>();
  CLI::App* command = app.add_subcommand("traces", "List, show or delete uploaded traces");
  command->require_subcommand(0, 1);
  AddListOptions(*command, *options);
  command->callback([&context, options, command] {
    if (!command->get_subcommands().empty()) return;
    context.action = [&context, options] { return ListTraces(context, *options); };
  });
  CLI::App* list = command->add_subcommand("list", "List traces, newest first (the default)");
  AddListOptions(*list, *options);
  list->callback([&context, options] {
    context.action = [&context, options] { return ListTraces(context, *options); };
  });
  CLI::App* show = command->add_subcommand("show", "Everything about one trace");
  show->add_option("TRACE", options->names, "ID, with or without traces/")->required()->expected(1);
  show->callback([&context, options] {
    context.action = [&context, options] { return ShowTrace(context, options->names.front()); };
  });
  CLI::App* remove = command->add_subcommand("delete", "Delete traces that no unfinished job names");
  remove->add_option("TRACE", options->names, "IDs")->required();
  remove->add_flag("--allow-missing", options->allow_missing, "An absent trace is no error");
  remove->callback([&context, options] {
    context.action = [&context, options] { return DeleteTraces(context, *options); };
  });
}

}  // namespace sm89::client
