#include "client/cli/cli.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/cli/commands.h"
#include "client/cli/context.h"
#include "client/error.h"

namespace sm89::client {
namespace {

constexpr char kDescription[] =
    "sm89 - client of the SM89 (RTX 4090) simulation service\n"
    "Upload traces or machine code, queue simulations, follow them, fetch results.";

constexpr char kFooter[] =
    "Examples:\n"
    "  sm89 submit --trace bfs.tar.xz --config RTX4090 --watch   upload, simulate, show progress and result\n"
    "  sm89 submit --cubin gemm.cubin --launch gemm.json --watch  the same with machine code that is "
    "executed\n"
    "  sm89 jobs --state running                                 what is going on\n"
    "  sm89 result JOB --json report.json --csv report.csv       the stored reports, byte for byte\n"
    "\n"
    "Names: 'jobs/ID' and 'ID' mean the same; so do traces/, configs/ and workers/.\n"
    "\n"
    "Server: --address, else SM89_ADDRESS, else 'address = HOST:PORT' in ~/.config/sm89/config,\n"
    "else 127.0.0.1:8989. That file may also hold 'config' (used when submit gets none) and 'timeout'\n"
    "(seconds). Another file: --settings FILE or SM89_CONFIG_FILE.\n"
    "\n"
    "Exit codes:\n"
    "  0    done; a job that was waited for succeeded\n"
    "  1    a job failed or was cancelled; 'baseline check': outside the band\n"
    "  2    usage error, invalid input, or not allowed in the present state\n"
    "  3    not found\n"
    "  4    server not reachable, overloaded, or no answer in time\n"
    "  5    incomplete result: a limit ended the simulation; 'kineto-merge': a simulated kernel has no "
    "launch\n"
    "  6    internal error\n"
    "  130  interrupted (Ctrl-C); submitted jobs go on\n"
    "\n"
    "Colours: only on a terminal; NO_COLOR or --color=never turns them off.";

void AddGlobalOptions(CLI::App& app, GlobalFlags& flags) {
  app.add_option_function<std::string>(
         "--address", [&flags](const std::string& value) { flags.address = value; },
         "The server: HOST:PORT or unix:/PATH")
      ->type_name("ADDRESS");
  app.add_option_function<double>(
         "--timeout", [&flags](const double& value) { flags.timeout_seconds = value; },
         "Longest wait for the answer to one call (default 30); uploads and watches have no limit")
      ->check(CLI::PositiveNumber)
      ->type_name("SECONDS");
  app.add_option_function<std::string>(
         "--settings", [&flags](const std::string& value) { flags.settings_file = value; },
         "Settings file instead of ~/.config/sm89/config")
      ->type_name("FILE");
  app.add_flag("--json", flags.json, "One JSON document on the output instead of text, errors included");
  app.add_flag("-q,--quiet", flags.quiet, "No progress and no hints");
  app.add_option("--color", flags.colour, "auto, always or never")
      ->capture_default_str()
      ->check(CLI::IsMember({"auto", "always", "never"}));
}

void AddCommands(CLI::App& app, Context& context) {
  AddUploadCommand(app, context);
  AddTracesCommand(app, context);
  AddConfigsCommand(app, context);
  AddSubmitCommand(app, context);
  AddWatchCommand(app, context);
  AddJobsCommands(app, context);
  AddResultCommand(app, context);
  AddKinetoCommand(app, context);
  AddProfileCommand(app, context);
  AddAnalyzeCommand(app, context);
  AddCalibrateCommand(app, context);
  AddBaselineCommand(app, context);
  AddPoolCommand(app, context);
  AddVersionCommand(app, context);
  AddCompletionCommands(app, context);
  AddHelpCommand(app, context);
}

// Global options may stand behind a command, too.
void LetGlobalsFallThrough(CLI::App& app) {
  for (CLI::App* command : app.get_subcommands(nullptr)) {
    command->fallthrough();
    LetGlobalsFallThrough(*command);
  }
}

size_t EditDistance(const std::string& a, const std::string& b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = std::exchange(row[0], i);
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t change = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = std::exchange(row[j], std::min({change, row[j] + 1, row[j - 1] + 1}));
    }
  }
  return row[b.size()];
}

// The command that a misspelt word most likely means; empty when none is near.
std::string NearestCommand(const CLI::App& app, const std::string& word) {
  constexpr size_t kWordMax = 32;  // the distance is quadratic
  if (word.size() > kWordMax) return "";
  std::string best;
  size_t best_distance = 3;  // farther is another word, not a slip
  for (const CLI::App* command : app.get_subcommands(nullptr)) {
    const size_t distance = EditDistance(word, command->get_name());
    if (distance < best_distance) {
      best = command->get_name();
      best_distance = distance;
    }
  }
  return best;
}

std::string ChosenPath(const CLI::App& app) {
  std::string path = app.get_name();
  const CLI::App* at = &app;
  while (!at->get_subcommands().empty()) {
    at = at->get_subcommands().front();
    absl::StrAppend(&path, " ", at->get_name());
  }
  return path;
}

// "--case a b": how to give an option more than one value; "; ..." or empty.
std::string RepeatHint(const CLI::App& app, const std::vector<std::string>& args) {
  const std::vector<std::string> left = app.remaining(true);
  const auto extra = left.empty() ? args.end() : std::find(args.begin(), args.end(), left.front());
  if (extra == args.end() || extra - args.begin() < 2) return "";
  const std::string& option = *(extra - 2);
  const CLI::App* command = &app;
  while (!command->get_subcommands().empty()) command = command->get_subcommands().front();
  const CLI::Option* known = option.starts_with("--") ? command->get_option_no_throw(option) : nullptr;
  if (known == nullptr || known->get_items_expected_max() == 0) return "";
  if (known->get_items_expected_max() == 1) return absl::StrCat("; ", option, " takes one value");
  return absl::StrCat("; ", option, " takes one value each time: ", option, " ", *(extra - 1), " ", option,
                      " ", *extra);
}

absl::Status UsageError(const CLI::App& app, const std::vector<std::string>& args, const std::string& what) {
  std::string text = absl::StrCat(what, RepeatHint(app, args));
  const std::vector<std::string> left = app.remaining();
  if (app.get_subcommands().empty() && !left.empty() && !left.front().starts_with("-")) {
    text = absl::StrCat("there is no command '", left.front(), "'");
    const std::string nearest = NearestCommand(app, left.front());
    if (!nearest.empty()) absl::StrAppend(&text, "; did you mean 'sm89 ", nearest, "'?");
  }
  absl::StrAppend(&text, "\n  see '", ChosenPath(app), " --help'");
  return absl::InvalidArgumentError(text);
}

// "--json" among the arguments, as the global flag: behind a command that has an option of that name it is
// that option.
bool AsksForJson(const CLI::App& app, const std::vector<std::string>& args) {
  const std::vector<const CLI::App*> commands = app.get_subcommands([](const CLI::App*) { return true; });
  bool begun = false;
  for (const std::string& arg : args) {
    if (arg == "--json") return true;
    if (begun) continue;
    const auto command = std::find_if(commands.begin(), commands.end(),
                                      [&](const CLI::App* known) { return known->get_name() == arg; });
    begun = command != commands.end();
    if (begun && (*command)->get_option_no_throw("--json") != nullptr) return false;
  }
  return false;
}

void ApplyColour(const GlobalFlags& flags, const Environment& environment, Terminal& terminal) {
  terminal.colour_forced = flags.colour == "always";
  const bool refused = flags.colour == "never" || !environment.Get("NO_COLOR").empty();
  terminal.colour_allowed = terminal.colour_forced || !refused;
}

// The parser speaks by exceptions; they end here. False: `code` is the answer already.
bool Parse(CLI::App& app, Context& context, std::vector<std::string> args, int* code) {
  const std::vector<std::string> given = args;
  try {
    std::reverse(args.begin(), args.end());  // what the parser wants
    app.parse(args);
    return true;
  } catch (const CLI::CallForHelp&) {
    context.terminal().out() << app.help();
    *code = kExitOk;
  } catch (const CLI::ParseError& error) {
    // The flag may stand behind the place where parsing ended.
    context.flags.json = context.flags.json || AsksForJson(app, given);
    ShowError(context, UsageError(app, given, error.what()));
    *code = kExitInvalid;
  }
  return false;
}

}  // namespace

int RunCli(const std::vector<std::string>& args, Terminal& terminal, const Environment& environment,
           std::stop_token stop) {
  Context context(terminal, environment, std::move(stop));
  CLI::App app(kDescription, "sm89");
  app.require_subcommand(1);
  app.get_formatter()->column_width(26);
  AddGlobalOptions(app, context.flags);
  AddCommands(app, context);
  LetGlobalsFallThrough(app);
  app.footer(kFooter);  // after the commands, which would take it over
  if (args.empty()) {
    terminal.err() << app.help();
    return kExitInvalid;
  }
  int code = kExitOk;
  if (!Parse(app, context, args, &code)) return code;
  ApplyColour(context.flags, environment, terminal);
  const absl::StatusOr<ExitCode> outcome = context.action();
  if (outcome.ok()) return *outcome;
  ShowError(context, outcome.status());
  return ExitCodeOf(outcome.status());
}

}  // namespace sm89::client
