#include "sim/tools/cubin_run.h"

#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <ostream>
#include <utility>
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

absl::Status Execute(const cubin::Module& module, const launch::LaunchSpec& spec,
                     const CubinRunOptions& options, CaseRun* run) {
  emu::EmuOptions emu_options;
  emu_options.max_warp_instructions = options.max_instructions;
  ASSIGN_OR_RETURN(const std::unique_ptr<emu::Emulator> emulator,
                   emu::Emulator::Create(module, spec, emu_options));
  const absl::Status status = emulator->RunAll(nullptr);
  run->warp_instructions = emulator->executed_warp_instructions();
  run->reads_clock = emulator->reads_clock();
  for (const emu::Finding& finding : emulator->findings()) run->findings.push_back(finding.message);
  run->num_findings = emulator->num_findings();
  if (options.counts) run->counts = CountsOf(*emulator);
  RETURN_IF_ERROR(status);
  for (size_t i = 0; i < spec.buffers.size(); ++i) {
    if (!spec.buffers[i].output) continue;
    const std::span<const uint8_t> bytes = emulator->buffer(i);
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

std::string Verdict(const CaseRun& run, launch::Compare compare, bool compared) {
  if (!run.status.ok()) return "FAILED";
  if (!compared) return "ran";
  if (!run.comparison.ok()) return "DIFFERS";
  return compare == launch::Compare::kExact    ? "equal bytes"
         : compare == launch::Compare::kApprox ? "within 1e-3"
                                               : "ran, not compared";
}

void PrintRow(const CaseRun& run, const std::string& verdict, std::ostream& out) {
  out << absl::StrFormat("%-24s %-24s %14d  %s\n", run.result.id, run.result.kernel, run.warp_instructions,
                         verdict);
  for (const launch::OutputSummary& output : run.result.outputs) {
    out << absl::StrFormat("  %-22s %s  %d x %s\n", output.name, output.sha256, output.count,
                           Name(output.type));
  }
}

void PrintFindings(const CaseRun& run, std::ostream& err) {
  for (const std::string& finding : run.findings)
    err << kProgram << ": " << run.result.id << ": " << finding << "\n";
  if (run.num_findings > run.findings.size()) {
    err << kProgram << ": " << run.result.id << ": " << run.num_findings - run.findings.size()
        << " more findings of the memory checker\n";
  }
}

absl::StatusOr<std::map<std::string, launch::ReferenceCase>> ReadReference(const std::string& path) {
  std::map<std::string, launch::ReferenceCase> cases;
  if (path.empty()) return cases;
  std::ifstream in(path, std::ios::binary);
  if (!in) return absl::NotFoundError(absl::StrCat(path, ": cannot be read"));
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  ASSIGN_OR_RETURN(const std::vector<launch::ReferenceCase> parsed, launch::ParseReference(text, path));
  for (const launch::ReferenceCase& one : parsed) cases.emplace(one.id, one);
  return cases;
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
  for (size_t i = 0; i < loaded.launches.size(); ++i) {
    if (io.interrupted != nullptr && io.interrupted->load()) return absl::CancelledError("interrupted");
    const launch::LaunchSpec& spec = loaded.launches[i];
    CaseRun run;
    run.result.id = spec.id;
    run.result.kernel = spec.kernel;
    run.arch = loaded.modules[i]->arch;
    run.status = Execute(*loaded.modules[i], spec, options, &run);
    const auto reference = references.find(spec.id);
    const bool compared = run.status.ok() && reference != references.end();
    if (compared) run.comparison = CompareWithReference(run.result, spec.compare, reference->second);
    if (!run.status.ok()) {
      PrintError(kProgram, run.status, io.err);
      code = ExitCodeOf(run.status);
    } else if (!run.comparison.ok()) {
      PrintError(kProgram, run.comparison, io.err);
      if (code == kExitOk) code = kExitDiffers;
    }
    PrintFindings(run, io.err);
    if (options.json != "-") PrintRow(run, Verdict(run, spec.compare, compared), io.out);
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
