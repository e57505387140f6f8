#include "sim/tools/cubin_run.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string_view>
#include <system_error>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "sim/base/status_macros.h"
#include "sim/base/version.h"
#include "sim/emu/emulator.h"
#include "sim/launch/outputs.h"
#include "sim/replay/emulation.h"
#include "sim/sass/decode.h"
#include "sim/tools/exit_codes.h"
#include "sim/tools/findings_text.h"
#include "sim/tools/sim_errors.h"
#include "sim/tools/sim_output.h"

namespace sm89 {
namespace {

using Json = nlohmann::ordered_json;

constexpr char kProgram[] = "sm89-cubin";

// One launch that was run, or why it could not be.
struct CaseRun {
  launch::LaunchResult result;
  uint32_t arch = 0;
  absl::Status status;
  absl::Status comparison;
  std::string verdict;  // one word or two
  uint64_t warp_instructions = 0;
  bool reads_clock = false;
  std::vector<std::string> findings;
  uint64_t num_findings = 0;
  Json counts;  // null unless asked for
};

Json CountsOf(const emu::Emulator& emulator) {
  Json rows = Json::array();
  const std::span<const emu::PcCount> counts = emulator.counts();
  for (uint32_t i = 0; i < emulator.instructions().size(); ++i) {
    const emu::CodeLine where = emulator.Where(i);
    Json row;
    row["pc"] = where.pc;
    row["function"] = where.function->name;
    row["offset"] = where.function_offset;
    row["opcode"] = sass::PrintOpcode(emulator.instructions()[i]);
    if (where.line != 0) row["source"] = absl::StrCat(where.file, ":", where.line);
    row["warps"] = counts[i].warps;
    row["threads"] = counts[i].threads;
    row["predicated_on"] = counts[i].predicated_on;
    rows.push_back(std::move(row));
  }
  return rows;
}

bool Interrupted(const SimCommandIo& io) { return io.interrupted != nullptr && io.interrupted->load(); }

absl::Status RunCtas(emu::Emulator* emulator, bool cooperative, const SimCommandIo& io) {
  if (cooperative) return emulator->RunAll(nullptr);
  for (uint64_t i = 0; i < emulator->num_ctas(); ++i) {
    if (Interrupted(io)) return absl::CancelledError("interrupted");
    RETURN_IF_ERROR(emulator->RunCta(i, nullptr));
  }
  return absl::OkStatus();
}

absl::Status Dump(const std::string& folder, const std::string& id, const std::string& buffer,
                  std::span<const uint8_t> bytes, const SimCommandIo& io) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return absl::UnavailableError(absl::StrCat("cannot make ", folder, ": ", error.message()));
  std::string name = absl::StrCat(id, ".", buffer, ".bin");
  std::replace(name.begin(), name.end(), '/', '_');
  ASSIGN_OR_RETURN(const std::unique_ptr<ResultOutput> out, ResultOutput::Open(folder + "/" + name, io.out));
  return out->Commit(std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
}

absl::Status Execute(const cubin::Module& module, const launch::LaunchSpec& spec,
                     const CubinRunOptions& options, const SimCommandIo& io, CaseRun* run) {
  emu::EmuOptions emu_options;
  emu_options.max_warp_instructions = options.max_instructions;
  emu_options.cancel = io.interrupted;
  ASSIGN_OR_RETURN(const std::unique_ptr<emu::Emulator> emulator,
                   emu::Emulator::Create(module, spec, emu_options));
  const absl::Status status = RunCtas(emulator.get(), spec.cooperative, io);
  run->warp_instructions = emulator->executed_warp_instructions();
  run->reads_clock = emulator->reads_clock();
  for (const emu::Finding& finding : emulator->findings()) run->findings.push_back(finding.message);
  run->num_findings = emulator->num_findings();
  if (options.counts) run->counts = CountsOf(*emulator);
  RETURN_IF_ERROR(status);
  for (size_t i = 0; i < spec.buffers.size(); ++i) {
    if (!spec.buffers[i].output) continue;
    const std::span<const uint8_t> bytes = emulator->buffer(i);
    if (!options.dump.empty()) RETURN_IF_ERROR(Dump(options.dump, spec.id, spec.buffers[i].name, bytes, io));
    run->result.outputs.push_back(
        launch::Summarise(spec.buffers[i], std::vector<uint8_t>(bytes.begin(), bytes.end())));
  }
  return absl::OkStatus();
}

Json ToJson(const CaseRun& run) {
  Json object;
  object["id"] = run.result.id;
  object["kernel"] = run.result.kernel;
  object["arch"] = run.arch;
  object["ok"] = run.status.ok();
  object["result"] = run.verdict;
  if (!run.status.ok()) object["error"] = Json::parse(StatusToJson(run.status), nullptr, false);
  object["warp_instructions"] = run.warp_instructions;
  object["reads_clock"] = run.reads_clock;
  Json& outputs = object["outputs"] = Json::object();
  for (const launch::OutputSummary& output : run.result.outputs) {
    outputs[output.name] = Json::parse(launch::OutputToJson(output), nullptr, false);
  }
  object["findings"] = run.findings;
  object["findings_total"] = run.num_findings;
  if (!run.counts.is_null()) object["counts"] = run.counts;
  return object;
}

// The table: its columns are as wide as the launches' names.
class Table {
 public:
  explicit Table(const std::vector<launch::LaunchSpec>& launches) {
    for (const launch::LaunchSpec& spec : launches) {
      id_width_ = std::max(id_width_, static_cast<int>(spec.id.size()));
      kernel_width_ = std::max(kernel_width_, static_cast<int>(spec.kernel.size()));
    }
  }
  std::string Header() const { return Row("case", "kernel", "warp instructions", "result"); }
  std::string Rows(const CaseRun& run) const {
    std::string text =
        Row(run.result.id, run.result.kernel, absl::StrCat(run.warp_instructions), run.verdict);
    for (const launch::OutputSummary& output : run.result.outputs) {
      const std::string sum = std::visit([](auto value) { return absl::StrCat(value); }, output.sum);
      absl::StrAppendFormat(&text, "  %s: %s x %d, sum %s, sha256 %s\n", output.name, Name(output.type),
                            output.count, sum, output.sha256);
    }
    return text;
  }

 private:
  static constexpr int kCountWidth = 17;
  std::string Row(const std::string& id, const std::string& kernel, const std::string& count,
                  const std::string& result) const {
    return absl::StrFormat("%-*s  %-*s  %*s  %s\n", id_width_, id, kernel_width_, kernel, kCountWidth, count,
                           result);
  }

  int id_width_ = 4;
  int kernel_width_ = 6;
};

// Prints what is wrong with a case and gives the code for it.
int Judge(const launch::LaunchSpec& spec, const CubinRunOptions& options,
          const std::map<std::string, launch::ReferenceCase>& references, CaseRun* run, std::ostream& err) {
  int code = kExitOk;
  const auto reference = references.find(spec.id);
  if (!run->status.ok()) {
    run->verdict = "FAILED";
    PrintError(absl::StrCat(kProgram, ": ", spec.id), run->status, err);
    code = ExitCodeOf(run->status);
  } else if (options.reference.empty()) {
    run->verdict = "ran";
  } else if (spec.compare == launch::Compare::kNone) {
    run->verdict = "ran; its launch asks for no comparison";
  } else {
    if (reference == references.end()) {
      run->comparison = absl::NotFoundError(absl::StrCat(options.reference, ": no results of this case"));
    } else {
      run->comparison = CompareWithReference(run->result, spec.compare, reference->second);
    }
    const bool same = run->comparison.ok();
    run->verdict = !same                                     ? "DIFFERS"
                   : spec.compare == launch::Compare::kExact ? "equal bytes"
                                                             : "equal within 1e-3";
    if (!same) PrintError(absl::StrCat(kProgram, ": ", spec.id), run->comparison, err);
    code = same ? kExitOk : kExitDiffers;
  }
  PrintFindings(kProgram, spec.id, run->findings, run->num_findings, run->status, err);
  return code;
}

absl::StatusOr<std::map<std::string, launch::ReferenceCase>> ReadReference(const std::string& path) {
  std::map<std::string, launch::ReferenceCase> cases;
  if (path.empty()) return cases;
  std::ifstream in(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  if (!in) return absl::NotFoundError(absl::StrCat(path, ": cannot be read"));
  ASSIGN_OR_RETURN(const std::vector<launch::ReferenceCase> parsed, launch::ParseReference(text, path));
  for (const launch::ReferenceCase& one : parsed) cases.emplace(one.id, one);
  return cases;
}

// Of two cases' codes: what could not be run outweighs what differs.
int Worse(int a, int b) {
  if (a == kExitOk || b == kExitOk) return std::max(a, b);
  return a == kExitDiffers ? b : a;
}

absl::StatusOr<int> RunAll(const CubinRunOptions& options, const SimCommandIo& io) {
  ASSIGN_OR_RETURN(const Program program, LoadFlags(options.program));
  ASSIGN_OR_RETURN(const LoadedProgram loaded, LoadProgram(program));
  ASSIGN_OR_RETURN(const auto references, ReadReference(options.reference));
  std::unique_ptr<ResultOutput> json;
  if (!options.json.empty()) {
    ASSIGN_OR_RETURN(json, ResultOutput::Open(options.json, io.out));
  }
  Json cases = Json::array();
  int code = kExitOk;
  const Table table(loaded.launches);
  const bool shown = options.json != "-";
  if (shown) io.out << table.Header();
  for (size_t i = 0; i < loaded.launches.size(); ++i) {
    const launch::LaunchSpec& spec = loaded.launches[i];
    CaseRun run;
    run.result.id = spec.id;
    run.result.kernel = spec.kernel;
    run.arch = loaded.modules[i]->arch;
    run.status = Execute(*loaded.modules[i], spec, options, io, &run);
    if (absl::IsCancelled(run.status)) return run.status;
    code = Worse(code, Judge(spec, options, references, &run, io.err));
    if (shown) io.out << table.Rows(run) << std::flush;
    cases.push_back(ToJson(run));
  }
  if (json != nullptr) {
    const Json root = {
        {"format", "sm89-cubin-run"}, {"product_version", kProductVersion}, {"cases", std::move(cases)}};
    RETURN_IF_ERROR(
        json->Commit(absl::StrCat(root.dump(1, ' ', false, Json::error_handler_t::replace), "\n")));
  }
  return code;
}

}  // namespace

int RunCubin(const CubinRunOptions& options, const SimCommandIo& io) {
  const absl::StatusOr<int> code = RunAll(options, io);
  if (code.ok()) return *code;
  PrintError(kProgram, code.status(), io.err);
  return ExitCodeOf(code.status());
}

}  // namespace sm89
