#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/cli/commands.h"
#include "client/cli/context.h"
#include "client/cli/format.h"
#include "client/cli/job_view.h"
#include "client/cli/profile_view.h"
#include "client/cli/target_option.h"
#include "client/error.h"
#include "client/macros.h"
#include "client/result_reader.h"
#include "client/watcher.h"

namespace sm89::client {
namespace {

constexpr char kJsonArtifact[] = "profile.json";
constexpr char kCsvArtifact[] = "profile.csv";
constexpr size_t kTopDefault = 20;
// A profile that is shown is read whole, about eight times its size.
constexpr uint64_t kShownBytesMax = uint64_t{256} << 20;

struct ProfileOptions {
  std::string job;
  std::string from;
  std::string json, csv;  // "-" for the output, empty for not asked
  std::string sort = "stalls";
  std::optional<size_t> top;
  bool lines = false;
  std::vector<uint64_t> kernels;
};

absl::Status TooLarge(const std::string& what, const std::string& instead) {
  return absl::ResourceExhaustedError(
      absl::StrCat(what, " is larger than ", kShownBytesMax >> 20, " MiB, too large for a table; ", instead));
}

absl::StatusOr<std::string> ReadProfileFile(const std::string& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": it is a folder"));
  }
  std::ifstream in(path, std::ios::binary);
  if (!in) return absl::NotFoundError(absl::StrCat(path, ": cannot be read"));
  std::string text;
  std::vector<char> piece(size_t{1} << 16);
  while (in.read(piece.data(), static_cast<std::streamsize>(piece.size())), in.gcount() > 0) {
    text.append(piece.data(), static_cast<size_t>(in.gcount()));
    if (text.size() > kShownBytesMax) return TooLarge(path, "choose kernels with sm89-sim --kernels");
  }
  return text;
}

// A profile that the server gave must parse; a file is what the user says.
absl::Status NotAProfile(const std::string& file, const absl::Status& why) {
  if (file.empty()) {
    return absl::Status(why.code(), absl::StrCat("the profile does not parse: ", std::string(why.message())));
  }
  v1::Fault fault;
  fault.set_file(file);
  fault.set_message(absl::StrCat("not a profile that sm89-sim --pc-json or 'sm89 profile --json' wrote: ",
                                 std::string(why.message())));
  return InputError("NOT_A_PROFILE", FormatFault(fault), {fault});
}

// Keeps a stored profile in memory as long as it is of a size to be shown.
class ShownSink final : public StringSink {
 public:
  absl::Status Append(const std::string& data) override {
    if (text().size() + data.size() > kShownBytesMax) {
      return TooLarge("the profile", "fetch it with --json FILE or --csv FILE");
    }
    return StringSink::Append(data);
  }
};

// One artifact of the job; says how to get one when the job was submitted without.
absl::Status Fetch(Context& context, const std::string& job, const std::string& artifact,
                   ArtifactSink* sink) {
  CLIENT_ASSIGN_OR_RETURN(Client * client, context.GetClient());
  CLIENT_ASSIGN_OR_RETURN(const std::string name, FullName("jobs", job));
  CLIENT_ASSIGN_OR_RETURN(const v1::Job known, GetJob(context, name));
  if (!known.spec().profile()) {
    return absl::FailedPreconditionError(absl::StrCat(
        "job ", ShortName(name), " was submitted without --profile: nothing was counted by instruction"));
  }
  if (!IsTerminal(known.state())) {
    return absl::FailedPreconditionError(
        absl::StrCat("job ", ShortName(name), " is ", StateName(known.state()),
                     ": its profile is whole when it has ended; 'sm89 watch ", ShortName(name),
                     " --profile' shows it so far"));
  }
  return FetchResult(*client, name, std::vector<WantedArtifact>{{artifact, sink}}).status();
}

absl::Status Write(Context& context, const ProfileOptions& options, const std::string& artifact,
                   const std::string& target) {
  if (target != kToOutput) {
    FileSink file(target);
    CLIENT_RETURN_IF_ERROR(Fetch(context, options.job, artifact, &file));
    if (!context.flags.quiet) context.terminal().err() << artifact << " -> " << target << '\n';
    return absl::OkStatus();
  }
  StringSink sink;
  CLIENT_RETURN_IF_ERROR(Fetch(context, options.job, artifact, &sink));
  context.terminal().out() << sink.text();
  return absl::OkStatus();
}

absl::StatusOr<ProfileViewOptions> ViewOf(const ProfileOptions& options) {
  ProfileViewOptions view;
  view.program_order = options.sort == "program";
  view.lines = options.lines;
  view.kernels = options.kernels;
  view.top = view.program_order ? 0 : kTopDefault;
  if (options.top.has_value()) view.top = *options.top;
  return view;
}

absl::StatusOr<ExitCode> RunProfile(Context& context, const ProfileOptions& options) {
  for (const auto& [option, file] : {std::pair("--json", &options.json), std::pair("--csv", &options.csv)}) {
    if (!options.job.empty() || !options.from.empty() || file->empty() || *file == kToOutput) continue;
    return absl::InvalidArgumentError(absl::StrCat("there is no JOB: ", option, " took '", *file,
                                                   "' as its FILE; write 'sm89 profile JOB ", option,
                                                   "', or ", option, "=FILE"));
  }
  if (options.job.empty() == options.from.empty()) {
    return absl::InvalidArgumentError("give either JOB or --from FILE");
  }
  const bool to_files = !options.json.empty() || !options.csv.empty();
  if (to_files && !options.from.empty()) {
    return absl::InvalidArgumentError("--from shows a file; --json and --csv fetch them from a job");
  }
  if (options.json == kToOutput && options.csv == kToOutput) {
    return absl::InvalidArgumentError("only one of --json and --csv can go to the output; give a FILE");
  }
  if (!options.json.empty() && !options.csv.empty() && IsOneFile(options.json, options.csv)) {
    return absl::InvalidArgumentError(absl::StrCat("JSON and CSV cannot both go to ", options.json));
  }
  if (!options.json.empty()) CLIENT_RETURN_IF_ERROR(Write(context, options, kJsonArtifact, options.json));
  if (!options.csv.empty()) CLIENT_RETURN_IF_ERROR(Write(context, options, kCsvArtifact, options.csv));
  if (to_files) return kExitOk;
  if (context.flags.json && !options.from.empty()) {
    return absl::InvalidArgumentError("--from shows a file, which is JSON already");
  }
  if (context.flags.json) {
    CLIENT_RETURN_IF_ERROR(Write(context, options, kJsonArtifact, kToOutput));
    return kExitOk;
  }
  ShownSink sink;
  std::string text;
  if (options.from.empty()) {
    CLIENT_RETURN_IF_ERROR(Fetch(context, options.job, kJsonArtifact, &sink));
    text = sink.text();
  } else {
    CLIENT_ASSIGN_OR_RETURN(text, ReadProfileFile(options.from));
  }
  const absl::StatusOr<Profile> profile = ParseProfile(text);
  if (!profile.ok()) return NotAProfile(options.from, profile.status());
  CLIENT_ASSIGN_OR_RETURN(const ProfileViewOptions view, ViewOf(options));
  CLIENT_RETURN_IF_ERROR(PrintProfile(*profile, view, context.terminal()));
  return kExitOk;
}

}  // namespace

void AddProfileCommand(CLI::App& app, Context& context) {
  auto options = std::make_shared<ProfileOptions>();
  CLI::App* command =
      app.add_subcommand("profile", "Where a job's warps spent their cycles, instruction by instruction");
  command->add_option("JOB", options->job, "ID of a job that was submitted with --profile");
  command->add_option("--from", options->from, "Show a profile.json (sm89-sim --pc-json) instead of a job's")
      ->type_name("FILE");
  command->add_option("--sort", options->sort, "stalls: most waited for first; program: by program counter")
      ->check(CLI::IsMember({"stalls", "program"}))
      ->capture_default_str();
  command->add_option("--top", options->top, "Rows a kernel, 0 = all (default 20, all with --sort program)")
      ->check(CLI::Range(0, 100'000'000))
      ->type_name("N");
  command->add_flag("--lines", options->lines, "Totals by source line");
  command
      ->add_option("--kernel", options->kernels, "Only this kernel, by its position from 1; may be repeated")
      ->type_name("N")
      ->allow_extra_args(false);
  AddTarget(command, "--json", &options->json,
            "Write the stored profile as JSON; '-' or no FILE: to the output");
  AddTarget(command, "--csv", &options->csv, "The same as CSV, one row an instruction");
  command->footer(
      "waits %: share of the kernel's warp-cycles in which warps waited at this instruction. Columns that no "
      "row has\nanything for are left out; SASS, live registers, lines and PTX come from machine code.");
  command->callback([&context, options] {
    context.action = [&context, options] { return RunProfile(context, *options); };
  });
}

}  // namespace sm89::client
