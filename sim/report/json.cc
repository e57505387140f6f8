// The complete report as JSON.
#include "nlohmann/json.hpp"

#include "absl/strings/str_cat.h"
#include "sim/report/run_report.h"
#include "sim/stats/pc_profile.h"

namespace sm89 {
namespace {

using Json = nlohmann::ordered_json;

// Raised when a key changes its meaning or goes away; new keys do not raise it.
constexpr std::string_view kFormat = "sm89-report/1";

Json Dimensions(const Dim3& d) { return Json::array({d.x, d.y, d.z}); }

// {"sm": {"warp_instructions": ...}, "l1": {...}}: a statistic's name is its group, '_', its key.
Json Statistics(const std::vector<StatValue>& values) {
  Json groups = Json::object();
  for (const StatValue& v : values) {
    const size_t split = v.def->name.find('_');
    groups[std::string(v.def->name.substr(0, split))][std::string(v.def->name.substr(split + 1))] = v.value;
  }
  return groups;
}

Json Derived(const std::vector<DerivedValue>& values) {
  Json object = Json::object();
  for (const DerivedValue& v : values) object[v.def->name] = v.defined ? Json(v.value) : Json(nullptr);
  return object;
}

// The figures that a kernel and the totals share.
void AddFigures(const SimStats& stats, uint64_t cycles, const RunReport& run, Json* object) {
  (*object)["statistics"] = Statistics(stats.Values());
  (*object)["derived"] = Derived(Derive(stats, cycles, run));
}

// Program counters as numbers: bytes from the kernel's start.
Json Clocks(const ClockReadSummary& reads) {
  Json pairs = Json::array();
  for (const ClockPairSummary& p : reads.pairs) {
    pairs.push_back({{"pc_first", p.pc_first},
                     {"pc_second", p.pc_second},
                     {"warps", p.warps},
                     {"threads", p.threads},
                     {"min_cycles", p.min_cycles},
                     {"median_cycles", p.median_cycles},
                     {"max_cycles", p.max_cycles},
                     {"resolution_cycles", p.resolution_cycles}});
  }
  return {{"warp_instructions", reads.warp_instructions},
          {"pairs", std::move(pairs)},
          {"dropped_warps", reads.dropped_warps},
          {"dropped_threads", reads.dropped_threads}};
}

// One object an instruction; warp-cycles by state in the order of the states.
Json PerPc(const std::vector<PcReport>& insts) {
  Json rows = Json::array();
  for (const PcReport& inst : insts) {
    Json row;
    row["pc"] = inst.pc;
    row["opcode"] = inst.opcode;
    row["source_line"] = inst.source_line == 0 ? Json(nullptr) : Json(inst.source_line);
    row["issued"] = inst.counters.issued;
    row["threads"] = inst.counters.threads;
    Json& cycles = row["warp_cycles"];
    for (int i = 0; i < kNumWarpStates; ++i) {
      cycles[std::string(Name(static_cast<WarpState>(i)))] = inst.counters.cycles[i];
    }
    Json& memory = row["memory"];
    for (const PcMemoryDef& def : kPcMemoryDefs) {
      memory[std::string(def.name)] = inst.counters.memory.*def.counter;
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

void AddLaunch(const EmulatedLaunch& launch, Json* object) {
  (*object)["case"] = launch.case_id;
  (*object)["executed"] = launch.executed;
  Json& outputs = (*object)["outputs"] = Json::object();
  for (const auto& [buffer, summary] : launch.outputs) outputs[buffer] = Json::parse(summary, nullptr, false);
  (*object)["findings"] = launch.findings;
  (*object)["findings_total"] = launch.num_findings;
}

Json Kernel(const KernelReport& k, const RunReport& run) {
  Json object;
  object["name"] = k.info.name;
  object["id"] = k.info.id;
  object["index"] = k.index;
  object["stream"] = k.info.stream_id;
  object["binary_version"] = k.info.binary_version;
  object["grid"] = Dimensions(k.info.grid);
  object["block"] = Dimensions(k.info.block);
  object["registers_per_thread"] = k.info.nregs;
  object["shared_memory_bytes"] = k.info.shmem_bytes;
  object["finished"] = k.finished;
  object["trace_complete"] = k.info.complete;
  object["start_cycle"] = k.start_cycle;
  object["end_cycle"] = k.end_cycle;
  object["cycles"] = k.cycles;
  object["warp_instructions"] = k.stats.sm.warp_instructions;
  object["thread_instructions"] = k.stats.sm.thread_instructions;
  object["ctas_launched"] = k.ctas_launched;
  object["occupancy"] = {{"ctas_per_sm", k.ctas_per_sm},
                         {"limiter", k.occupancy_limiter},
                         {"theoretical_percent", 100.0 * k.theoretical_occupancy}};
  object["control_bits"] = k.control_bits;
  Json guessed = Json::array();
  for (const auto& [opcode, count] : k.guessed_opcodes) {
    guessed.push_back({{"opcode", opcode}, {"warp_instructions", count}});
  }
  object["guessed_opcodes"] = std::move(guessed);
  // Keys of kernels that a cubin gave: text traces have neither.
  if (k.info.origin == KernelOrigin::kCubin) {
    object["source"] = "cubin";
    object["control_bits_present"] = k.control_bits_present;
  }
  if (k.launch.has_value()) AddLaunch(*k.launch, &object);
  if (k.clock_reads.any()) object["clock_reads"] = Clocks(k.clock_reads);
  AddFigures(k.stats, k.cycles, run, &object);
  const SliceLoad& load = k.slice_load;
  object["l2_slice_load"] = {{"slices", load.slices},
                             {"sectors", load.sectors},
                             {"max_sectors", load.max_sectors},
                             {"min_sectors", load.min_sectors},
                             {"max_over_mean", load.sectors == 0 ? Json() : Json(load.MaxOverMean())}};
  if (!k.per_pc.empty()) object["per_pc"] = PerPc(k.per_pc);
  return object;
}

Json Totals(const RunReport& run) {
  Json object;
  object["name"] = "total";
  object["kernels"] = run.kernels.size();
  object["cycles"] = run.total_cycles;
  object["warp_instructions"] = run.totals.sm.warp_instructions;
  object["thread_instructions"] = run.totals.sm.thread_instructions;
  AddFigures(run.totals, run.total_cycles, run, &object);
  return object;
}

// Slices and channels: rows of one table, so that the column names stand once.
template <class Block, class Wrap>
Json UnitTable(const std::vector<Block>& blocks, std::string_view prefix, Wrap wrap) {
  Json columns = Json::array();
  Json rows = Json::array();
  for (size_t i = 0; i < blocks.size(); ++i) {
    Json row = Json::array();
    for (const StatValue& v : wrap(blocks[i]).Values()) {
      if (!v.def->name.starts_with(prefix)) continue;
      if (i == 0) columns.push_back(std::string(v.def->name.substr(prefix.size())));
      row.push_back(v.value);
    }
    rows.push_back(std::move(row));
  }
  return {{"columns", std::move(columns)}, {"rows", std::move(rows)}};
}

Json Units(const UnitReport& units) {
  return {{"l2_slices", UnitTable(units.slices, "l2_", [](const L2Stats& s) { return SimStats{.l2 = s}; })},
          {"dram_channels",
           UnitTable(units.channels, "dram_", [](const DramStats& s) { return SimStats{.dram = s}; })}};
}

// Unit, meaning and Nsight Compute counterpart of every figure.
Json Definitions() {
  Json object = Json::object();
  const auto add = [&object](std::string_view name, std::string_view unit, std::string_view help,
                             std::string_view ncu) {
    Json& row = object[std::string(name)];
    row["unit"] = unit;
    row["help"] = help;
    row["ncu_metric"] = ncu.empty() ? Json(nullptr) : Json(ncu);
  };
  for (const StatDef& def : AllStatDefs()) add(def.name, Name(def.unit), def.help, def.ncu_metric);
  for (const DerivedDef& def : AllDerivedDefs()) add(def.name, def.unit, def.help, def.ncu_metric);
  return object;
}

Json Trace(const RunReport& run) {
  Json marks = Json::array();
  for (const TraceMark& mark : run.marks) {
    marks.push_back({{"kind", mark.kind}, {"detail", mark.detail}, {"count", mark.count}});
  }
  Json trace = {{"name", run.trace_name},
                {"digest", run.trace_digest},
                {"kernels", run.trace_kernels == 0 ? Json(nullptr) : Json(run.trace_kernels)},
                {"marks", std::move(marks)}};
  if (!run.machine_code.empty()) {
    Json& files = trace["machine_code"] = Json::array();
    for (const CodeFileReport& code : run.machine_code) {
      files.push_back({{"file", code.file}, {"digest", code.digest}});
    }
  }
  return trace;
}

}  // namespace

std::string ReportToJson(const RunReport& report) {
  Json root;
  root["format"] = kFormat;
  root["model_version"] = report.model_version;
  root["product_version"] = report.product_version;
  root["status"] = Name(report.status);
  root["status_detail"] = report.status_detail;
  root["complete"] = IsComplete(report);
  root["trace"] = Trace(report);
  root["config"] = {{"name", report.config_name},
                    {"digest", report.config_digest},
                    {"core_khz", report.core_khz},
                    {"num_sms", report.num_sms},
                    {"l2_slices", report.units.slices.size()},
                    {"dram_channels", report.units.channels.size()},
                    {"max_warps_per_sm", report.max_warps_per_sm}};
  root["kernels"] = Json::array();
  for (const KernelReport& k : report.kernels) root["kernels"].push_back(Kernel(k, report));
  root["totals"] = Totals(report);
  root["units"] = Units(report.units);
  root["warnings"] = Json::array();
  for (const TraceWarning& w : report.warnings) {
    root["warnings"].push_back({{"kind", w.kind}, {"message", w.message}});
  }
  root["assumptions"] = report.assumptions;
  root["memcpy"] = {{"host_to_device_count", report.memcpy_h2d_count},
                    {"host_to_device_bytes", report.memcpy_h2d_bytes},
                    {"device_to_host_count", report.memcpy_d2h_count}};
  root["ignored_commands"] = report.ignored_commands;
  root["definitions"] = Definitions();
  return absl::StrCat(root.dump(1, ' ', false, Json::error_handler_t::replace), "\n");
}

}  // namespace sm89
