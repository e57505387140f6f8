#include "sim/tools/program_flags.h"

#include "CLI/CLI.hpp"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "sim/base/fault.h"
#include "sim/base/status_macros.h"
#include "sim/tools/ptx_compile.h"

namespace sm89 {
namespace {

absl::Status Mistake(const std::string& option, const std::string& value, const std::string& expected,
                     const std::string& why) {
  Fault fault;
  fault.field = option;
  fault.value = value;
  fault.expected = expected;
  fault.message = why;
  return InputError(absl::StatusCode::kInvalidArgument, fault);
}

absl::Status CheckPairs(const ProgramFlags& flags) {
  const bool single = !flags.cubin.empty() || !flags.launch.empty();
  const bool suite = !flags.suite.empty() || !flags.cubin_folder.empty();
  if (single && suite) {
    return Mistake("--suite", flags.suite, "either --cubin with --launch, or --suite with --cubin-dir",
                   "two ways of naming the code");
  }
  if (single && flags.cubin.empty())
    return Mistake("--cubin", "", "the code of --launch's kernels", "not given");
  if (single && flags.launch.empty()) return Mistake("--launch", "", "a launch file", "not given");
  if (suite && flags.suite.empty()) return Mistake("--suite", "", "a manifest", "not given");
  if (suite && flags.cubin_folder.empty()) {
    return Mistake("--cubin-dir", "", "the folder of the manifest's cubins", "not given");
  }
  if (!single && !suite) {
    return Mistake("--cubin", "", "--cubin with --launch, or --suite with --cubin-dir", "no code given");
  }
  return absl::OkStatus();
}

}  // namespace

void AddProgramFlags(CLI::App* app, ProgramFlags* flags) {
  app->add_option("--cubin", flags->cubin,
                  "cubin, fat binary, host program or library with device code, or PTX (compiled by ptxas)")
      ->type_name("FILE");
  app->add_option("--launch", flags->launch, "what to launch of it (sim/launch/LAUNCH.md)")
      ->type_name("L.json");
  app->add_option("--suite", flags->suite, "manifest of launches that name their modules")
      ->type_name("M.json");
  app->add_option("--cubin-dir", flags->cubin_folder, "folder of the manifest's cubins, MODULE.sm_NN.cubin")
      ->type_name("DIR");
  app->add_option("--arch", flags->arch, "architecture of the code to take (default sm_89)")
      ->type_name("sm_NN");
  app->add_option("--case", flags->cases, "launch to run by its id; may be repeated (default all)")
      ->type_name("ID")
      ->allow_extra_args(false);
}

absl::StatusOr<uint32_t> ParseArch(const std::string& text) {
  uint32_t arch = 0;
  const absl::string_view digits = absl::StripPrefix(text, "sm_");
  const bool ok = absl::SimpleAtoi(digits, &arch);
  if (ok && (arch == 80 || arch == 86 || arch == 89 || arch == 90)) return arch;
  return Mistake("--arch", text, "sm_80, sm_86, sm_89 or sm_90", "not an architecture that is decoded");
}

absl::StatusOr<Program> LoadFlags(const ProgramFlags& flags) {
  RETURN_IF_ERROR(CheckPairs(flags));
  ProgramPaths paths;
  paths.cubin = flags.cubin;
  paths.cubin_folder = flags.cubin_folder;
  paths.launches = flags.launch.empty() ? flags.suite : flags.launch;
  paths.cases = flags.cases;
  ASSIGN_OR_RETURN(paths.arch, ParseArch(flags.arch));
  ASSIGN_OR_RETURN(Program program, CollectProgram(paths));
  for (auto& [module, bytes] : program.modules) {
    if (!LooksLikePtx(bytes)) continue;
    ASSIGN_OR_RETURN(bytes, CompilePtx(bytes, flags.cubin, paths.arch));
  }
  return program;
}

}  // namespace sm89
