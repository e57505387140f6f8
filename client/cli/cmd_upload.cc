#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <filesystem>
#include <memory>

#include "absl/strings/str_cat.h"
#include "client/cli/commands.h"
#include "client/cli/format.h"
#include "client/cli/json_out.h"
#include "client/cli/progress.h"
#include "client/cli/table.h"
#include "client/cli/upload_job.h"
#include "client/error.h"
#include "client/macros.h"
#include "client/program_pack.h"
#include "client/trace_pack.h"

namespace sm89::client {
namespace {

// The longest packing suffix of a file name (".traceg.xz", ".tar.zst"), as the server tells packings by it.
std::string PackingSuffix(const std::string& name) {
  constexpr const char* kSuffixes[] = {".traceg.xz", ".traceg.gz", ".traceg.zst", ".trace.xz", ".trace.gz",
                                       ".trace.zst", ".tar.xz",    ".tar.gz",     ".tar.zst",  ".tar.bz2",
                                       ".tgz",       ".txz",       ".tar",        ".zip",      ".traceg",
                                       ".tracez",    ".trace"};
  for (const char* suffix : kSuffixes) {
    if (name.ends_with(suffix)) return suffix;
  }
  return "";
}

// The name that the server shows: the user's, with the packing suffix kept.
std::string DisplayName(const std::string& chosen, const std::string& file_name) {
  if (chosen.empty()) return file_name;
  const std::string suffix = PackingSuffix(file_name);
  return chosen.ends_with(suffix) ? chosen : chosen + suffix;
}

absl::StatusOr<LocalFile> OpenOrPack(Context& context, const std::string& path, const UploadFlags& flags,
                                     ProgressLine& line) {
  std::filesystem::path named = std::filesystem::path(path).lexically_normal();
  if (!NeedsPacking(path)) return LocalFile::Open(path, DisplayName(flags.name, named.filename().string()));
  const auto on_progress = [&](uint64_t done, uint64_t total) {
    line.Update(absl::StrCat("packing ", path, "  ", HumanBytes(done), " of ", HumanBytes(total)),
                total > 0 ? static_cast<double>(done) / static_cast<double>(total) : 0);
    return !context.stop().stop_requested();
  };
  CLIENT_ASSIGN_OR_RETURN(LocalFile packed, PackTrace(path, PackLimits(), on_progress));
  if (!flags.name.empty()) packed.Rename(DisplayName(flags.name, packed.display_name()));
  return packed;
}

void ShowProgress(ProgressLine& line, const std::string& name, const UploadProgress& progress) {
  const double total = static_cast<double>(progress.total_bytes);
  const double fraction = total > 0 ? static_cast<double>(progress.done_bytes) / total : 0;
  const std::string amount =
      absl::StrCat(HumanBytes(progress.done_bytes), " of ", HumanBytes(progress.total_bytes));
  switch (progress.stage) {
    case UploadProgress::Stage::kHashing:
      line.Update(absl::StrCat("hashing ", name, "  ", amount), fraction);
      break;
    case UploadProgress::Stage::kSending:
      line.Update(absl::StrCat("uploading ", name, "  ", amount), fraction);
      break;
    case UploadProgress::Stage::kValidating:
      line.Update(absl::StrCat("validating ", name, " (", HumanBytes(progress.total_bytes), ")"), -1);
      break;
  }
}

std::string TraceSummary(const v1::Trace& trace) {
  const std::string kernels = absl::StrCat(trace.kernels(), trace.kernels() == 1 ? " kernel" : " kernels");
  if (IsProgram(trace)) return absl::StrCat(kernels, ", to be executed");
  if (trace.options().machine_code()) {
    return absl::StrCat("machine code of ", trace.kernels(),
                        trace.kernels() == 1 ? " function" : " functions");
  }
  return absl::StrCat(kernels, ", ", HumanCount(static_cast<double>(trace.warp_instructions())),
                      " warp instructions");
}

void PrintOutcome(Context& context, const UploadOutcome& outcome) {
  Terminal& terminal = context.terminal();
  const v1::Trace& trace = outcome.trace;
  std::string how = absl::StrCat("uploaded ", HumanBytes(outcome.sent_bytes));
  if (outcome.known_already) how = "the server had it already, nothing sent";
  if (outcome.resumed_from > 0) absl::StrAppend(&how, ", resumed at ", HumanBytes(outcome.resumed_from));
  terminal.out() << terminal.OnOut(Style::kBold, trace.name()) << "  " << Printable(trace.display_name())
                 << "  " << TraceSummary(trace) << "  (" << how << ")\n";
  for (const std::string& mark : trace.marks()) terminal.out() << "  marked: " << Printable(mark) << '\n';
  for (const std::string& warning : trace.warnings())
    terminal.out() << "  warning: " << Printable(warning) << '\n';
}

v1::IngestOptions IngestOptionsOf(const UploadFlags& flags) {
  v1::IngestOptions options;
  options.set_foreign_arch(flags.foreign_arch);
  options.set_allow_partial(flags.allow_partial);
  options.set_unknown_as_nop(flags.unknown_as_nop);
  return options;
}

// Sends an open file and waits for the server's judgement.
absl::StatusOr<UploadOutcome> Send(Context& context, const LocalFile& file, const v1::IngestOptions& options,
                                   ProgressLine& line) {
  CLIENT_ASSIGN_OR_RETURN(Client * client, context.GetClient());
  UploadSettings settings;
  settings.options = options;
  settings.journal_directory = UploadJournalPath(context.environment());
  settings.on_progress = [&](const UploadProgress& progress) {
    ShowProgress(line, file.display_name(), progress);
  };
  settings.on_retry = [&](const absl::Status& why, uint64_t committed) {
    line.Update(absl::StrCat("connection lost at ", HumanBytes(committed),
                             ", trying again: ", std::string(why.message())),
                -1);
  };
  absl::StatusOr<UploadOutcome> outcome = Upload(*client, file, settings);
  line.Clear();
  if (!outcome.ok() && (absl::IsUnavailable(outcome.status()) || absl::IsCancelled(outcome.status()))) {
    context.terminal().err() << "the upload can be resumed: run the same command again\n";
  }
  return outcome;
}

std::string PlainFileName(const std::string& path) {
  return std::filesystem::path(path).lexically_normal().filename().string();
}

absl::Status TooMuchCode(const std::string& path, uint64_t bytes) {
  v1::Fault fault;
  fault.set_file(path);
  fault.set_field("--sass");
  fault.set_value(absl::StrCat(bytes, " bytes"));
  fault.set_expected(absl::StrCat("at most ", kMachineCodeBytesMax, " bytes"));
  fault.set_message("the file is too large for machine code");
  return InputError("MACHINE_CODE_TOO_LARGE", absl::StrCat("cannot upload ", path), {fault});
}

// The name on the server of what --sass gave and is no file here.
absl::StatusOr<std::string> StoredCode(Context& context, const std::string& text) {
  CLIENT_ASSIGN_OR_RETURN(Client * client, context.GetClient());
  CLIENT_ASSIGN_OR_RETURN(const std::string name, FullName("traces", text));
  v1::GetTraceRequest request;
  request.set_name(name);
  const absl::Status known = client->GetTrace(request).status();
  if (known.ok()) return name;
  // What cannot be an ID at all is refused as such.
  if (!absl::IsNotFound(known) && !absl::IsInvalidArgument(known)) return known;
  v1::ErrorDetail detail;
  detail.set_reason("TRACE_NOT_FOUND");
  detail.set_domain("sm89");
  const std::string file = text == name ? "" : "neither a file of that name here nor ";
  return WithDetail(
      absl::NotFoundError(absl::StrCat("--sass ", text, ": there is ", file, file.empty() ? "no" : "an",
                                       " upload ", name, " on the server")),
      detail);
}

struct UploadOptions {
  std::string path;
  std::string sass;
  ProgramFlags program;
  UploadFlags flags;
};

absl::StatusOr<UploadOutcome> UploadChosen(Context& context, const UploadOptions& options) {
  const int given = !options.path.empty() + options.program.any() + !options.sass.empty();
  if (given != 1) {
    return absl::InvalidArgumentError(
        "give either PATH, or --cubin with --launch (or --suite with --cubin-dir), or --sass");
  }
  if (!options.sass.empty()) {
    for (const auto& [option, set] : {std::pair("--foreign-arch", options.flags.foreign_arch),
                                      std::pair("--allow-partial", options.flags.allow_partial),
                                      std::pair("--unknown-as-nop", options.flags.unknown_as_nop)}) {
      if (set) return absl::InvalidArgumentError(absl::StrCat(option, " is for traces, not for --sass"));
    }
    return UploadSass(context, options.sass, options.flags.name);
  }
  return options.program.any() ? UploadProgram(context, options.program, options.flags)
                               : UploadPath(context, options.path, options.flags);
}

absl::StatusOr<ExitCode> RunUpload(Context& context, const UploadOptions& options) {
  CLIENT_ASSIGN_OR_RETURN(const UploadOutcome outcome, UploadChosen(context, options));
  if (context.flags.json) {
    nlohmann::ordered_json document;
    document["trace"] = ToJson(outcome.trace);
    document["known_already"] = outcome.known_already;
    document["sent_bytes"] = std::to_string(outcome.sent_bytes);
    document["resumed_from"] = std::to_string(outcome.resumed_from);
    context.PrintJson(document);
  } else {
    PrintOutcome(context, outcome);
  }
  return kExitOk;
}

}  // namespace

void AddIngestOptions(CLI::App& command, UploadFlags& flags) {
  command.add_flag(
      "--foreign-arch", flags.foreign_arch,
      "Accept traces of SM 70, 75, 80, 86 or 90 by mapping their opcodes to SM 89; the result says so");
  command.add_flag("--allow-partial", flags.allow_partial,
                   "Accept missing CTAs and truncated kernels; the result says so");
  command.add_flag("--unknown-as-nop", flags.unknown_as_nop,
                   "Run opcodes that the model does not know as NOP; the result names them");
}

bool IsLocalPath(const std::string& text) {
  if (text.starts_with("traces/")) return false;
  std::error_code ignored;
  return text.find('/') != std::string::npos || std::filesystem::exists(text, ignored);
}

absl::StatusOr<UploadOutcome> UploadPath(Context& context, const std::string& path,
                                         const UploadFlags& flags) {
  ProgressLine line(context.terminal(), context.flags.quiet);
  CLIENT_ASSIGN_OR_RETURN(const LocalFile file, OpenOrPack(context, path, flags, line));
  return Send(context, file, IngestOptionsOf(flags), line);
}

absl::StatusOr<UploadOutcome> UploadSass(Context& context, const std::string& path, const std::string& name) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) {
    return absl::InvalidArgumentError(
        absl::StrCat("--sass ", path, ": it is a folder; name the files in it"));
  }
  CLIENT_ASSIGN_OR_RETURN(const LocalFile file,
                          LocalFile::Open(path, name.empty() ? PlainFileName(path) : name));
  if (file.size_bytes() > kMachineCodeBytesMax) return TooMuchCode(path, file.size_bytes());
  v1::IngestOptions options;
  options.set_machine_code(true);
  ProgressLine line(context.terminal(), context.flags.quiet);
  return Send(context, file, options, line);
}

absl::Status CheckSass(const std::vector<std::string>& sass, const ProgramFlags& program) {
  if (sass.empty() || !program.any()) return absl::OkStatus();
  return absl::InvalidArgumentError("--sass is for traces: what is executed has its machine code");
}

absl::Status AddSass(Context& context, const std::vector<std::string>& given, v1::JobSpec* spec) {
  bool files = false;
  for (const std::string& text : given) {
    if (!IsLocalPath(text)) {
      CLIENT_ASSIGN_OR_RETURN(*spec->add_sass(), StoredCode(context, text));
      spec->add_sass_names("");
      continue;
    }
    CLIENT_ASSIGN_OR_RETURN(const UploadOutcome sent, UploadSass(context, text, ""));
    spec->add_sass(sent.trace.name());
    spec->add_sass_names(PlainFileName(text));
    files = true;
  }
  if (!files) spec->clear_sass_names();
  return absl::OkStatus();
}

void AddProgramOptions(CLI::App& command, ProgramFlags& flags) {
  constexpr char kGroup[] = "Machine code";
  command
      .add_option(
          "--cubin", flags.cubin,
          "Code to execute: a cubin, a fat binary, a host program or library with device code, or PTX "
          "(the server compiles it if it has ptxas)")
      ->type_name("FILE")
      ->group(kGroup);
  command.add_option("--launch", flags.launch, "What to launch of it: a launch file")
      ->type_name("FILE")
      ->group(kGroup);
  command.add_option("--suite", flags.suite, "A manifest of launches that name their modules")
      ->type_name("FILE")
      ->group(kGroup);
  command
      .add_option("--cubin-dir", flags.cubin_folder, "Folder of the manifest's modules, MODULE.sm_NN.cubin")
      ->type_name("DIR")
      ->group(kGroup);
  command.add_option("--arch", flags.arch, "Which code of the files to take")
      ->type_name("sm_NN")
      ->capture_default_str()
      ->group(kGroup);
  command.add_option("--case", flags.cases, "Only this launch, by its id; may be repeated")
      ->type_name("ID")
      ->allow_extra_args(false)
      ->group(kGroup);
}

absl::StatusOr<UploadOutcome> UploadProgram(Context& context, const ProgramFlags& program,
                                            const UploadFlags& flags) {
  ProgramFiles files;
  files.cubin = program.cubin;
  files.launch = program.launch;
  files.suite = program.suite;
  files.cubin_folder = program.cubin_folder;
  files.cases = program.cases;
  files.name = flags.name;
  CLIENT_ASSIGN_OR_RETURN(files.arch, ParseArch(program.arch));
  CLIENT_ASSIGN_OR_RETURN(const LocalFile file, PackProgram(files));
  ProgressLine line(context.terminal(), context.flags.quiet);
  return Send(context, file, IngestOptionsOf(flags), line);
}

absl::StatusOr<std::string> TraceNameFor(Context& context, const std::string& text,
                                         const UploadFlags& flags) {
  if (!IsLocalPath(text)) return FullName("traces", text);
  CLIENT_ASSIGN_OR_RETURN(const UploadOutcome outcome, UploadPath(context, text, flags));
  for (const std::string& warning : outcome.trace.warnings()) {
    if (!context.flags.quiet) context.terminal().err() << "warning: " << Printable(warning) << '\n';
  }
  return outcome.trace.name();
}

void AddUploadCommand(CLI::App& app, Context& context) {
  auto options = std::make_shared<UploadOptions>();
  CLI::App* command =
      app.add_subcommand("upload", "Send a trace or a program to the server and have it validated");
  command->add_option(
      "PATH", options->path,
      "An archive (.tar.xz, .tar.zst, .zip, ...), one kernel (.traceg[.xz|.gz|.zst], .tracez), a "
      "folder with kernelslist.g, or such a list");
  AddProgramOptions(*command, options->program);
  command
      ->add_option("--sass", options->sass,
                   "Machine code for traces of its kernels: a cubin, or text of cuobjdump -sass or nvdisasm "
                   "-hex; 'submit --sass' names it")
      ->type_name("FILE");
  command->add_option("--name", options->flags.name, "Name to show instead of the file's");
  AddIngestOptions(*command, options->flags);
  command->footer(
      "Examples:\n"
      "  sm89 upload bfs.tar.xz\n"
      "  sm89 upload --cubin gemm.cubin --launch gemm.json");
  command->callback(
      [&context, options] { context.action = [&context, options] { return RunUpload(context, *options); }; });
}

}  // namespace sm89::client
