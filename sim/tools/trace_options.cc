#include "sim/tools/trace_options.h"

#include <limits>
#include <ostream>
#include <string_view>

#include "CLI/CLI.hpp"
#include "absl/strings/str_cat.h"
#include "sim/base/version.h"
#include "sim/ingest/text_scan.h"
#include "sim/tools/exit_codes.h"
#include "sim/tools/sim_errors.h"

namespace sm89 {
namespace {

constexpr char kDescription[] =
    "Shows what the simulator understands of a trace.\n"
    "FILE is a folder with kernelslist.g, a list file, one kernel file, an archive of a folder, or a compact "
    "trace.";

// The codes of exit_codes.h that this program gives.
constexpr std::string_view kTraceExitCodeHelp =
    "Exit codes:\n"
    "  0  the whole output was written\n"
    "  2  wrong usage, unreadable or refused input\n"
    "  3  a bound on the input was reached\n"
    "  4  internal error\n"
    "  5  interrupted\n";

// Executed instructions that a dump shows unless told otherwise.
constexpr uint64_t kDefaultLimit = 100'000;

struct RawOptions {
  std::string kernels, cta, pc, warp, limit;
  bool version = false;
};

void DeclareInput(CLI::App* command, TraceCommandOptions* options) {
  command->add_option("FILE", options->input, "trace to show")->required();
  command->add_flag("--json", options->json, "JSON instead of text");
  command->add_flag("--foreign-arch", options->ingest.foreign_arch,
                    "accept sm_70, 75, 80, 86 and 90 code through its SM89 counterparts; the output says so");
  command->add_flag("--allow-partial", options->ingest.allow_partial,
                    "accept traces that lack CTAs; the output says so");
  command->add_flag("--unknown-as-nop", options->ingest.unknown_as_nop,
                    "accept unknown opcodes; the output says so");
}

void DeclareDump(CLI::App* dump, TraceCommandOptions* options, RawOptions* raw) {
  DumpFilter* filter = &options->filter;
  dump->add_option("--kernel", raw->kernels, "kernels by position, as in 1,3-5 (default all)")
      ->type_name("LIST");
  dump->add_option("--cta", raw->cta, "one thread block: its coordinates, or its place in the file from 0")
      ->type_name("X,Y,Z|N");
  dump->add_option("--warp", raw->warp, "one warp of each thread block")->type_name("N");
  dump->add_option("--pc", raw->pc, "one instruction address, hexadecimal")->type_name("HEX");
  dump->add_flag("--all", filter->all_ctas, "every thread block (default: the first of each kernel)");
  dump->add_flag("--code-only", filter->code_only, "static instructions only");
  dump->add_option("--limit", raw->limit, "executed instructions to show; 0 = all of those selected")
      ->type_name("N")
      ->capture_default_str();
}

absl::Status Mistake(std::string option, std::string value, std::string expected) {
  return InputError(absl::StatusCode::kInvalidArgument, Fault{.field = std::move(option),
                                                              .value = std::move(value),
                                                              .expected = std::move(expected),
                                                              .message = "cannot be understood"});
}

absl::Status ParseCta(const std::string& text, DumpFilter* filter) {
  filter->cta_index = ParseUnsigned(text);
  if (filter->cta_index.has_value()) return absl::OkStatus();
  filter->cta_id = ParseTriple(text);
  if (!filter->cta_id.has_value()) return Mistake("--cta", text, "X,Y,Z or a number");
  return absl::OkStatus();
}

// Whole numbers only: the library's own conversion lets "-1" wrap around.
absl::Status Read32(const char* option, const std::string& text, const std::optional<uint64_t>& value,
                    const char* expected, std::optional<uint32_t>* out) {
  if (text.empty()) return absl::OkStatus();
  if (!value || *value > std::numeric_limits<uint32_t>::max()) return Mistake(option, text, expected);
  *out = static_cast<uint32_t>(*value);
  return absl::OkStatus();
}

absl::Status Finish(const RawOptions& raw, DumpFilter* filter) {
  if (!raw.kernels.empty()) {
    ASSIGN_OR_RETURN(filter->kernels, ParseKernelSelection(raw.kernels));
  }
  if (!raw.cta.empty()) RETURN_IF_ERROR(ParseCta(raw.cta, filter));
  RETURN_IF_ERROR(Read32("--warp", raw.warp, ParseUnsigned(raw.warp), "a whole number", &filter->warp));
  RETURN_IF_ERROR(Read32("--pc", raw.pc, ParseHex(raw.pc), "a hexadecimal number of 32 bits", &filter->pc));
  const std::optional<uint64_t> limit = ParseUnsigned(raw.limit);
  if (!limit) return Mistake("--limit", raw.limit, "a whole number");
  filter->limit = *limit;
  return absl::OkStatus();
}

}  // namespace

ParsedTraceCommandLine ParseTraceCommandLine(const std::vector<std::string>& args, std::ostream& out,
                                             std::ostream& err) {
  ParsedTraceCommandLine parsed;
  RawOptions raw;
  raw.limit = absl::StrCat(kDefaultLimit);
  CLI::App app(kDescription, "sm89-trace");
  app.add_flag("--version", raw.version, "product version");
  CLI::App* info = app.add_subcommand("info", "headers, counts, commands, marks and warnings");
  CLI::App* dump = app.add_subcommand(
      "dump", "decoded instructions by address, and what was executed: masks, lane addresses, sectors");
  for (CLI::App* command : {info, dump}) DeclareInput(command, &parsed.options);
  DeclareDump(dump, &parsed.options, &raw);
  app.footer("\n" + std::string(kTraceExitCodeHelp));
  try {
    app.parse(std::vector<std::string>(args.rbegin(), args.rend()));  // the library wants the last one first
  } catch (const CLI::CallForHelp&) {
    out << app.help();
    parsed.exit_code = kExitOk;
    return parsed;
  } catch (const CLI::ParseError& error) {
    err << "sm89-trace: error: " << error.what() << RepeatHint(app, args) << "\nsee sm89-trace --help\n";
    parsed.exit_code = kExitBadInput;
    return parsed;
  }
  if (raw.version) {
    out << "sm89-trace " << kProductVersion << "\n";
    parsed.exit_code = kExitOk;
    return parsed;
  }
  absl::Status status = Finish(raw, &parsed.options.filter);
  if (!info->parsed() && !dump->parsed()) status = absl::InvalidArgumentError("say what to do: info or dump");
  if (!status.ok()) {
    PrintError("sm89-trace", status, err);
    err << "see sm89-trace --help\n";
    parsed.exit_code = kExitBadInput;
  }
  parsed.options.dump = dump->parsed();
  return parsed;
}

}  // namespace sm89
