#include "sim/tools/cubin_command.h"

#include <memory>
#include <ostream>
#include <utility>

#include "CLI/CLI.hpp"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "sim/base/version.h"
#include "sim/tools/analysis_command.h"
#include "sim/tools/cubin_run.h"
#include "sim/tools/exit_codes.h"
#include "sim/tools/sim_errors.h"
#include "sim/tools/sim_output.h"

namespace sm89 {
namespace {

constexpr char kProgram[] = "sm89-cubin";
constexpr char kDescription[] =
    "Shows, explains and executes GPU machine code (cubins), without a GPU and without NVIDIA's tools.";
constexpr char kFooter[] =
    "Examples:\n"
    "  sm89-cubin dis gemm.cubin --function gemm\n"
    "  sm89-cubin info gemm.cubin --threads 256\n"
    "  sm89-cubin run --cubin gemm.cubin --launch gemm.json --json out.json\n"
    "  sm89-cubin trace --cubin gemm.cubin --launch gemm.json --output gemm.sm89trc\n"
    "\n"
    "Exit codes:\n"
    "  0  done\n"
    "  2  wrong usage, unreadable or refused input, a fault that the memory checker found\n"
    "  3  a limit was reached (--max-instructions, memory)\n"
    "  4  internal error\n"
    "  5  interrupted\n"
    "  7  run --reference: ran, but results differ from the reference\n";

// What the parser fills and what to do with it.
struct CommandLine {
  AnalysisRequest analysis;
  std::string arch = "sm_89";
  bool json = false;
  std::string svg;
  std::string output;
  CubinRunOptions run;
  CubinTraceOptions trace;
  std::string format = "compact";
  bool version = false;
};

// The library's own checks lead numbers through floating point and let "-1" wrap around.
std::string WholeNumber(const std::string& text) {
  uint64_t value = 0;
  return absl::SimpleAtoi(text, &value) ? "" : absl::StrCat("'", text, "' is not a whole number from 0");
}
std::string WholeNumberFrom1(const std::string& text) {
  uint64_t value = 0;
  const bool ok = absl::SimpleAtoi(text, &value) && value != 0;
  return ok ? "" : absl::StrCat("'", text, "' is not a whole number from 1");
}

void DeclareCode(CLI::App* command, CommandLine* line) {
  command->add_option("FILE", line->analysis.image_path, "cubin, fat binary, host program or library, PTX")
      ->required();
  command->add_option("--function", line->analysis.function, "one function (default all)")->type_name("NAME");
  command->add_option("--arch", line->arch, "architecture of the code to take (default sm_89)")
      ->type_name("sm_NN");
}

void DeclareAnalyses(CLI::App* app, CommandLine* line) {
  for (const AnalysisKind& kind : AnalysisKinds()) {
    CLI::App* command = app->add_subcommand(kind.name, kind.help);
    command->add_flag("--json", line->json, "JSON instead of text");
    command->add_option("--output", line->output, "where to write (default standard output)")
        ->type_name("FILE");
    if (kind.name == "mma-layout") {
      command
          ->add_option("--shape", line->analysis.shape,
                       "as m16n8k16, ldmatrix, or a whole name, as mma.m16n8k16.f16.f32 (default all)")
          ->type_name("SHAPE");
      command
          ->add_option("--type", line->analysis.type,
                       "as f16, or with the accumulator's, as f16.f32 (default all)")
          ->type_name("TYPE");
      command->add_option("--svg", line->svg, "a picture of one layout")->type_name("FILE");
      continue;
    }
    DeclareCode(command, line);
    if (kind.name == "info") {
      command->add_option("--threads", line->analysis.threads, "block size whose occupancy is wanted")
          ->type_name("N")
          ->check(CLI::Range(1, 1024));
      command
          ->add_option("--dynamic-shared", line->analysis.dynamic_shared_bytes, "its dynamic shared memory")
          ->type_name("BYTES")
          ->check(WholeNumber, "");
    }
    if (kind.name == "ptx") {
      command->add_option("--ptx", line->analysis.ptx_path, "the PTX that the code was made from")
          ->type_name("FILE");
    }
    command->add_option("--module", line->analysis.module, "module of a program package")->type_name("NAME");
  }
}

void DeclareRun(CLI::App* app, CommandLine* line) {
  CLI::App* run =
      app->add_subcommand("run", "executes launches: output digests, memory-checker findings, counts");
  AddProgramFlags(run, &line->run.program);
  run->add_option("--json", line->run.json, "write results; '-' is standard output")->type_name("FILE");
  run->add_flag("--counts", line->run.counts, "with executed counts of every instruction, in the JSON");
  run->add_option("--reference", line->run.reference,
                  "recorded results to compare with (exit code 7: differ)")
      ->type_name("R.json");
  run->add_option("--dump", line->run.dump, "write each output buffer's bytes to DIR/CASE.BUFFER.bin")
      ->type_name("DIR");
  run->add_option("--max-instructions", line->run.max_instructions, "warp instructions a launch may execute")
      ->type_name("N")
      ->check(WholeNumberFrom1, "");
  CLI::App* trace = app->add_subcommand("trace", "executes launches and stores what was executed");
  AddProgramFlags(trace, &line->trace.program);
  trace->add_option("--output", line->trace.output, "compact trace, or a new folder with --format accelsim")
      ->type_name("PATH")
      ->required();
  trace->add_option("--format", line->format, "compact (default) or accelsim (text)")
      ->check(CLI::IsMember({"compact", "accelsim"}));
  trace
      ->add_option("--max-instructions", line->trace.max_instructions,
                   "warp instructions a launch may execute")
      ->type_name("N")
      ->check(WholeNumberFrom1, "");
}

absl::Status Analyse(CommandLine* line, const SimCommandIo& io) {
  AnalysisRequest& request = line->analysis;
  ASSIGN_OR_RETURN(request.arch, ParseArch(line->arch));
  request.format = !line->svg.empty() ? "svg" : line->json ? "json" : "text";
  const std::string output = !line->svg.empty() ? line->svg : line->output.empty() ? "-" : line->output;
  ASSIGN_OR_RETURN(const std::unique_ptr<ResultOutput> out, ResultOutput::Open(output, io.out));
  ASSIGN_OR_RETURN(const std::string answer, RunAnalysis(request));
  return out->Commit(answer);
}

int Act(const CLI::App& app, CommandLine* line, const SimCommandIo& io) {
  if (line->version) {
    io.out << kProgram << " " << kProductVersion << ", model " << kModelVersion << "\n";
    return kExitOk;
  }
  if (app.got_subcommand("run")) return RunCubin(line->run, io);
  line->trace.accel_sim = line->format == "accelsim";
  if (app.got_subcommand("trace")) return TraceCubin(line->trace, io);
  for (const AnalysisKind& kind : AnalysisKinds()) {
    if (app.got_subcommand(kind.name)) line->analysis.kind = kind.name;
  }
  if (line->analysis.kind.empty()) {
    io.err << kProgram << ": error: no subcommand given\nsee " << kProgram << " --help\n";
    return kExitBadInput;
  }
  const absl::Status status = Analyse(line, io);
  if (!status.ok()) PrintError(kProgram, status, io.err);
  return ExitCodeOf(status);
}

}  // namespace

int CubinMain(const std::vector<std::string>& args, const SimCommandIo& io) {
  CommandLine line;
  CLI::App app(kDescription, kProgram);
  app.add_flag("--version", line.version, "product and model version");
  app.require_subcommand(0, 1);
  DeclareAnalyses(&app, &line);
  DeclareRun(&app, &line);
  app.footer(kFooter);
  try {
    app.parse(std::vector<std::string>(args.rbegin(), args.rend()));  // the library wants the last one first
  } catch (const CLI::CallForHelp&) {
    io.out << app.help();
    return kExitOk;
  } catch (const CLI::ParseError& error) {
    std::string command;
    for (const CLI::App* chosen : app.get_subcommands()) absl::StrAppend(&command, " ", chosen->get_name());
    io.err << kProgram << ": error: " << error.what() << RepeatHint(app, args) << "\nsee " << kProgram
           << command << " --help\n";
    return kExitBadInput;
  }
  return Act(app, &line, io);
}

}  // namespace sm89
