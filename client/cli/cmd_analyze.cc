#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <filesystem>
#include <memory>
#include <optional>

#include "absl/strings/str_cat.h"
#include "client/cli/commands.h"
#include "client/cli/context.h"
#include "client/cli/format.h"
#include "client/error.h"
#include "client/local_file.h"
#include "client/macros.h"
#include "client/program_pack.h"

namespace sm89::client {
namespace {

constexpr uint64_t kFileBytesMax = uint64_t{3} << 20;  // of one message; the server's bound

struct Kind {
  const char* name;
  v1::AnalyzeRequest::Kind kind;
};
constexpr Kind kKinds[] = {
    {"info", v1::AnalyzeRequest::INFO},
    {"dis", v1::AnalyzeRequest::DIS},
    {"live", v1::AnalyzeRequest::LIVE},
    {"spills", v1::AnalyzeRequest::SPILLS},
    {"mix", v1::AnalyzeRequest::MIX},
    {"banks", v1::AnalyzeRequest::BANKS},
    {"stalls", v1::AnalyzeRequest::STALLS},
    {"ptx", v1::AnalyzeRequest::PTX},
    {"mma-layout", v1::AnalyzeRequest::MMA_LAYOUT},
};

struct AnalyzeOptions {
  std::string kind;
  std::string trace;
  std::string cubin, ptx;
  std::string module, function;
  std::string arch;
  uint32_t threads = 0;
  uint64_t shared_bytes = 0;
  std::string shape, type;
  bool svg = false;
};

v1::AnalyzeRequest::Kind KindOf(const std::string& name) {
  for (const Kind& kind : kKinds) {
    if (name == kind.name) return kind.kind;
  }
  return v1::AnalyzeRequest::KIND_UNSPECIFIED;
}

absl::StatusOr<std::string> ReadFile(const std::string& path) {
  CLIENT_ASSIGN_OR_RETURN(const LocalFile file, LocalFile::Open(path, path));
  if (file.size_bytes() <= kFileBytesMax) return file.Read(0, static_cast<size_t>(file.size_bytes()));
  v1::Fault fault;
  fault.set_file(path);
  fault.set_value(HumanBytes(file.size_bytes()));
  fault.set_expected(absl::StrCat("at most ", HumanBytes(kFileBytesMax)));
  fault.set_message(
      "too large for one message; upload it with 'sm89 upload --cubin ...' and name the upload");
  return InputError("FILE_TOO_LARGE", absl::StrCat("cannot send ", path), {fault});
}

absl::StatusOr<v1::AnalyzeRequest> RequestOf(const Context& context, const AnalyzeOptions& options) {
  v1::AnalyzeRequest request;
  request.set_kind(KindOf(options.kind));
  request.set_format(v1::AnalyzeRequest::TEXT);
  if (options.svg && context.flags.json) return absl::InvalidArgumentError("either --json or --svg");
  if (context.flags.json) request.set_format(v1::AnalyzeRequest::JSON);
  if (options.svg) request.set_format(v1::AnalyzeRequest::SVG);
  const bool needs_code = request.kind() != v1::AnalyzeRequest::MMA_LAYOUT;
  const int named = static_cast<int>(!options.trace.empty()) + static_cast<int>(!options.cubin.empty());
  if (named != (needs_code ? 1 : 0)) {
    return absl::InvalidArgumentError(
        needs_code ? "name the code: either --cubin FILE or an uploaded PROGRAM"
                   : "mma-layout is about the instructions: it takes neither --cubin nor a PROGRAM");
  }
  if (!options.cubin.empty()) {
    CLIENT_ASSIGN_OR_RETURN(*request.mutable_image(), ReadFile(options.cubin));
  }
  if (!options.trace.empty()) {
    CLIENT_ASSIGN_OR_RETURN(*request.mutable_trace(), FullName("traces", options.trace));
  }
  if (!options.ptx.empty()) {
    CLIENT_ASSIGN_OR_RETURN(*request.mutable_ptx(), ReadFile(options.ptx));
  }
  request.set_module(options.module);
  request.set_function(options.function);
  if (!options.arch.empty()) {
    CLIENT_ASSIGN_OR_RETURN(const uint32_t arch, ParseArch(options.arch));
    request.set_arch(arch);
  }
  if (options.threads != 0) {
    request.mutable_launch()->set_threads(options.threads);
    request.mutable_launch()->set_dynamic_shared_bytes(options.shared_bytes);
  }
  request.set_shape(options.shape);
  request.set_type(options.type);
  return request;
}

// The server knows what was sent by names of its own, "image" and "ptx", and parts of it as "image[2] sm_89".
absl::Status InUsersNames(const AnalyzeOptions& options, const absl::Status& status) {
  std::optional<v1::ErrorDetail> detail = DetailOf(status);
  if (!detail.has_value() || detail->faults().empty()) return status;
  const auto rename = [](v1::Fault& fault, const std::string& label, const std::string& path) {
    if (path.empty() || !fault.file().starts_with(label)) return;
    const std::string rest = fault.file().substr(label.size());
    if (rest.empty() || rest.front() == '[' || rest.front() == ' ') fault.set_file(path + rest);
  };
  for (v1::Fault& fault : *detail->mutable_faults()) {
    rename(fault, "image", options.cubin);
    rename(fault, "ptx", options.ptx);
  }
  return WithDetail(absl::Status(status.code(), "the code cannot be analysed"), *detail);
}

absl::StatusOr<ExitCode> RunAnalyze(Context& context, const AnalyzeOptions& options) {
  CLIENT_ASSIGN_OR_RETURN(const v1::AnalyzeRequest request, RequestOf(context, options));
  CLIENT_ASSIGN_OR_RETURN(Client * client, context.GetClient());
  const absl::StatusOr<std::string> answer = client->Analyze(request);
  if (!answer.ok()) return InUsersNames(options, answer.status());
  context.terminal().out() << *answer;
  if (!answer->empty() && answer->back() != '\n') context.terminal().out() << '\n';
  context.terminal().out() << std::flush;
  return kExitOk;
}

void AddOptions(CLI::App& command, AnalyzeOptions& options) {
  command.add_option("PROGRAM", options.trace, "An uploaded program: its name on the server");
  command
      .add_option("--cubin", options.cubin,
                  "A cubin, fat binary, host program or library with device code, or PTX; sent along")
      ->type_name("FILE");
  command.add_option("--function", options.function, "Only this function")->type_name("NAME");
  command.add_option("--module", options.module, "Of a program with several modules")->type_name("NAME");
  command
      .add_option("--arch", options.arch, "Which code to take (default: the program's own; of a file sm_89)")
      ->type_name("sm_NN");
  command.add_option("--threads", options.threads, "info: the occupancy of CTAs of so many threads")
      ->check(CLI::Range(1, 1024));
  command.add_option("--shared", options.shared_bytes, "info: with so many bytes of dynamic shared memory")
      ->type_name("BYTES");
  command.add_option("--ptx", options.ptx, "ptx: the PTX text to lay beside the code")->type_name("FILE");
  command.add_option("--shape", options.shape, "mma-layout: only this shape, e.g. m16n8k16");
  command.add_option("--type", options.type, "mma-layout: only this type, e.g. f16.f32");
  command.add_flag("--svg", options.svg, "mma-layout: a drawing");
}

}  // namespace

void AddAnalyzeCommand(CLI::App& app, Context& context) {
  auto options = std::make_shared<AnalyzeOptions>();
  CLI::App* command =
      app.add_subcommand("analyze", "Static analysis of machine code: registers, spills, stalls, PTX, ...");
  std::vector<std::string> kinds;
  for (const Kind& kind : kKinds) kinds.emplace_back(kind.name);
  command
      ->add_option(
          "KIND", options->kind,
          "info: kernels, resources, occupancy; dis: listing; live: live registers; spills: spill loads "
          "and stores; mix: instruction mix; banks: register-bank conflicts; stalls: dependence stalls; "
          "ptx: PTX beside SASS; mma-layout: lanes and registers of matrix fragments")
      ->required()
      ->check(CLI::IsMember(kinds));
  AddOptions(*command, *options);
  command->footer(
      "With --json the answer is JSON.\n"
      "Examples:\n"
      "  sm89 analyze live --cubin gemm.cubin --function gemm\n"
      "  sm89 analyze info --cubin gemm.cubin --threads 256\n"
      "  sm89 analyze mma-layout --shape m16n8k8 --type bf16.f32 --svg > layout.svg");
  command->callback([&context, options] {
    context.action = [&context, options] { return RunAnalyze(context, *options); };
  });
}

}  // namespace sm89::client
