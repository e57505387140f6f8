#include "sim/tools/debug_command.h"

#include <fstream>
#include <istream>
#include <memory>
#include <ostream>
#include <sstream>
#include <utility>

#include "CLI/CLI.hpp"
#include "absl/strings/str_cat.h"
#include "sim/base/fault.h"
#include "sim/base/version.h"
#include "sim/debug/debugger.h"
#include "sim/tools/exit_codes.h"
#include "sim/tools/findings_text.h"
#include "sim/tools/sim_errors.h"
#include "sim/tools/sim_input.h"
#include "sim/tools/sim_interrupt.h"
#include "sim/tools/sim_output.h"

namespace sm89 {
namespace {

using debug::Debugger;

constexpr char kProgram[] = "sm89-debug";
constexpr char kPrompt[] = "(sm89) ";
constexpr char kDescription[] =
    "Steps a simulation of a trace, or of machine code that it executes itself: breakpoints, watches, "
    "warps,\n"
    "registers, queues, bank conflicts (sim/debug/DEBUG.md). The results are those of sm89-sim.";
constexpr char kFooter[] =
    "Commands come from --command, --script, or standard input; 'help' lists them. At a terminal an empty "
    "line\n"
    "repeats the last one and Ctrl-C stops what runs, once the thread block that is being executed is\n"
    "through; a second Ctrl-C breaks that off, which ends the simulation, a third the program. Anywhere\n"
    "else the first mistake ends the program.\n"
    "\n"
    "Exit codes:\n"
    "  0  done, whether or not the simulation has ended\n"
    "  2  wrong usage, unreadable or refused input, a command that is wrong or makes no sense there\n"
    "  3  a limit was reached: --max-cycles, --history-mib, a bound on the input\n"
    "  4  internal error, or a simulation in which nothing moved any more\n"
    "  5  interrupted\n"
    "  6  ran to the end of a partial trace (--allow-partial)\n";
constexpr uint64_t kMaxHistoryMib = uint64_t{1} << 20;

struct DebugOptions {
  SimInput input;
  std::vector<std::string> commands;
  std::string script;  // "-": standard input; empty: none
  std::string json;    // full report when the program ends; "-": standard output; empty: none
  uint64_t history_mib = 1024;
};

absl::Status UnreadableScript(const std::string& name) {
  return InputError(absl::StatusCode::kNotFound, Fault{.field = "--script",
                                                       .value = name,
                                                       .expected = "a file that can be read",
                                                       .message = "the commands cannot be read"});
}

// One line after the other, and what to call it in a message.
class LineSource {
 public:
  virtual ~LineSource() = default;
  virtual bool Next(std::string* line) = 0;
  virtual std::string Where() const = 0;
  // Not OK when lines could not be read to their end.
  virtual absl::Status status() const { return absl::OkStatus(); }
};

class CommandLines final : public LineSource {
 public:
  explicit CommandLines(const std::vector<std::string>& lines) : lines_(lines) {}
  bool Next(std::string* line) override {
    if (at_ == lines_.size()) return false;
    *line = lines_[at_++];
    return true;
  }
  std::string Where() const override { return absl::StrCat("--command ", at_); }

 private:
  const std::vector<std::string>& lines_;
  size_t at_ = 0;
};

class StreamLines final : public LineSource {
 public:
  StreamLines(std::istream& in, std::string name) : in_(in), name_(std::move(name)) {}
  // A line of any length is read, one longer than a command may be is cut behind that: it is refused.
  bool Next(std::string* line) override {
    line->clear();
    ++number_;
    bool any = false;
    for (int c = in_.get(); c != std::istream::traits_type::eof(); c = in_.get()) {
      any = true;
      if (c == '\n') return true;
      if (line->size() <= Debugger::kMaxLineBytes) line->push_back(static_cast<char>(c));
    }
    return any;
  }
  std::string Where() const override { return absl::StrCat(name_, ":", number_); }
  absl::Status status() const override { return in_.bad() ? UnreadableScript(name_) : absl::OkStatus(); }

 private:
  std::istream& in_;
  const std::string name_;
  uint64_t number_ = 0;
};

// Lines of a script, as a transcript: prompt, command, answer. The exit code of the first mistake, or 0.
int RunScript(LineSource* source, Debugger* debugger, const SimCommandIo& io) {
  for (std::string line; !debugger->quit() && source->Next(&line);) {
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    io.out << kPrompt << line << "\n";
    const absl::StatusOr<std::string> text = debugger->Execute(line);
    if (text.ok()) {
      io.out << *text << std::flush;
      continue;
    }
    io.out << std::flush;
    PrintError(absl::StrCat(kProgram, ": ", source->Where()), text.status(), io.err);
    return ExitCodeOf(text.status());
  }
  if (source->status().ok()) return kExitOk;
  PrintError(kProgram, source->status(), io.err);
  return ExitCodeOf(source->status());
}

// A mistake ends nothing; an empty line repeats the last command.
void RunTerminal(LineSource* source, Debugger* debugger, const SimCommandIo& io) {
  std::string last;
  io.out << debugger->Greeting();
  while (!debugger->quit()) {
    io.out << kPrompt << std::flush;
    std::string line;
    if (!source->Next(&line)) {
      io.out << "\n";
      return;
    }
    if (line.empty()) line = last;
    last = line;
    if (io.interrupted != nullptr && io.interrupted->load()) RearmInterruptFlag();
    const absl::StatusOr<std::string> text = debugger->Execute(line);
    if (text.ok()) {
      io.out << *text;
    } else {
      io.out << std::flush;
      PrintError(kProgram, text.status(), io.err);
    }
  }
}

bool ReadsTerminal(const DebugOptions& options, const SimCommandIo& io) {
  return io.in_is_terminal && options.script.empty() && options.commands.empty();
}

// Null: no file is named. A folder can be opened, only reading tells.
absl::StatusOr<std::unique_ptr<std::ifstream>> OpenScript(const std::string& path) {
  if (path.empty() || path == "-") return nullptr;
  auto file = std::make_unique<std::ifstream>(path, std::ios::binary);
  if (file->is_open()) file->peek();
  if (!file->is_open() || file->bad()) return UnreadableScript(path);
  file->clear();  // an empty one is at its end already
  return file;
}

int RunCommands(const DebugOptions& options, std::ifstream* script, Debugger* debugger,
                const SimCommandIo& io) {
  int code = kExitOk;
  if (!options.commands.empty()) {
    CommandLines lines(options.commands);
    code = RunScript(&lines, debugger, io);
  }
  const bool from_input = options.script == "-" || (options.script.empty() && options.commands.empty());
  if (code != kExitOk || debugger->quit()) return code;
  if (script != nullptr) {
    StreamLines lines(*script, options.script);
    return RunScript(&lines, debugger, io);
  }
  if (!from_input || io.in == nullptr) return code;
  StreamLines lines(*io.in, "standard input");
  if (!ReadsTerminal(options, io)) return RunScript(&lines, debugger, io);
  RunTerminal(&lines, debugger, io);
  return code;
}

void PrintEmulationFindings(const Emulation* emulation, const absl::Status& status, std::ostream& err) {
  if (emulation == nullptr) return;
  for (const LaunchOutcome& outcome : emulation->outcomes()) {
    PrintFindings(kProgram, outcome.result.id, outcome.findings, outcome.num_findings, status, err);
  }
}

absl::StatusOr<int> Run(const DebugOptions& options, const SimCommandIo& io) {
  ASSIGN_OR_RETURN(Config config,
                   LoadConfig(options.input.config, options.input.overrides, options.input.config_options));
  PrintConfigWarnings(kProgram, config, io.err);
  ASSIGN_OR_RETURN(const std::unique_ptr<std::ifstream> script, OpenScript(options.script));
  std::unique_ptr<ResultOutput> json;
  if (!options.json.empty()) {
    ASSIGN_OR_RETURN(json, ResultOutput::Open(options.json, io.out));
  }
  debug::DebuggerOptions debugger_options;
  debugger_options.history_bytes = options.history_mib << 20;
  debugger_options.emu.max_warp_instructions = options.input.max_instructions;
  debugger_options.emu.cancel = io.interrupted;
  debugger_options.interrupted = io.interrupted;
  Debugger debugger(debugger_options);
  SimulatorOptions run;
  run.config = std::move(config);
  run.observer = debugger.observer();
  OpenInputOptions open;
  open.program_name = kProgram;
  // At a terminal Ctrl-C is there to look around and go on; an execution that is broken off cannot.
  open.insist_to_cancel = ReadsTerminal(options, io);
  if (open.insist_to_cancel) KeepInterruptsForTerminal();
  std::shared_ptr<Emulation> emulation;
  ASSIGN_OR_RETURN(std::unique_ptr<Simulator> simulator,
                   OpenInput(options.input, std::move(run), open, io, &emulation));
  debugger.Attach(std::move(simulator));
  const int code = RunCommands(options, script.get(), &debugger, io);
  PrintEmulationFindings(debugger.simulator().emulation(), debugger.failure(), io.err);
  if (!debugger.failure().ok()) return ExitCodeOf(debugger.failure());  // said where it came up
  const RunReport report = debugger.simulator().Report();
  if (json != nullptr) RETURN_IF_ERROR(json->Commit(ReportToJson(report)));
  return code == kExitOk && debugger.done() ? ExitCodeOfRun(report) : code;
}

absl::Status Finish(const std::string& history, SimInputFlags* input, DebugOptions* options) {
  RETURN_IF_ERROR(input->Finish());
  RETURN_IF_ERROR(CheckInput(options->input));
  if (history.empty()) return absl::OkStatus();
  ASSIGN_OR_RETURN(options->history_mib, ReadWholeNumber("--history-mib", history, 1, kMaxHistoryMib));
  return absl::OkStatus();
}

}  // namespace

int DebugMain(const std::vector<std::string>& args, const SimCommandIo& io) {
  DebugOptions options;
  bool version = false;
  std::string history;
  CLI::App app(kDescription, kProgram);
  app.add_flag("--version", version, "product and model version");
  SimInputFlags input(&app, &options.input);
  app.add_option("-c,--command", options.commands, "run this command first; may be repeated")
      ->type_name("COMMAND")
      ->allow_extra_args(false);
  app.add_option("--script", options.script, "run the commands of a file, a line each; '-' is standard input")
      ->type_name("FILE");
  app.add_option("--json", options.json, "write the full report, as sm89-sim does, when the program ends")
      ->type_name("FILE");
  app.add_option("--history-mib", history, "memory for the register values of CTAs (default 1024)")
      ->type_name("N");
  app.footer(kFooter);
  try {
    app.parse(std::vector<std::string>(args.rbegin(), args.rend()));  // the library wants the last one first
  } catch (const CLI::CallForHelp&) {
    io.out << app.help();
    return kExitOk;
  } catch (const CLI::ParseError& error) {
    io.err << kProgram << ": error: " << error.what() << RepeatHint(app, args) << "\nsee " << kProgram
           << " --help\n";
    return kExitBadInput;
  }
  if (version) {
    io.out << kProgram << " " << kProductVersion << ", model " << kModelVersion << "\n";
    return kExitOk;
  }
  const absl::Status status = Finish(history, &input, &options);
  const absl::StatusOr<int> code = status.ok() ? Run(options, io) : status;
  if (code.ok()) return *code;
  PrintError(kProgram, code.status(), io.err);
  return ExitCodeOf(code.status());
}

}  // namespace sm89
