// The profile by instruction as JSON.
#include <map>

#include "nlohmann/json.hpp"
#include "sim/report/run_report.h"
#include "sim/stats/pc_profile.h"

namespace sm89 {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kFormat = "sm89-profile/1";

// Issue counts, warp-cycles by state, memory: the same columns for instructions, lines and totals.
Json CounterColumns() {
  Json columns = Json::array({"issued", "threads"});
  for (int i = 0; i < kNumWarpStates; ++i) columns.push_back(std::string(Name(static_cast<WarpState>(i))));
  for (const PcMemoryDef& def : kPcMemoryDefs) columns.push_back(std::string(def.name));
  return columns;
}

void AppendCounters(const PcCounters& counters, Json* row) {
  row->push_back(counters.issued);
  row->push_back(counters.threads);
  for (const uint64_t cycles : counters.cycles) row->push_back(cycles);
  for (const PcMemoryDef& def : kPcMemoryDefs) row->push_back(counters.memory.*def.counter);
}

Json OrNull(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }
Json OrNull(uint32_t number) { return number == 0 ? Json(nullptr) : Json(number); }

Json Row(const PcReport& inst) {
  const PcNote& note = inst.note;
  Json row =
      Json::array({inst.pc, inst.opcode, OrNull(note.sass), OrNull(note.file), OrNull(inst.source_line),
                   OrNull(note.ptx), note.live_registers < 0 ? Json(nullptr) : Json(note.live_registers)});
  AppendCounters(inst.counters, &row);
  return row;
}

// Of instructions without a line in the first row, if there are any; [null, null, ...].
Json Lines(const std::vector<PcReport>& insts) {
  std::map<std::pair<uint32_t, uint32_t>, PcProfile> lines;
  for (const PcReport& inst : insts) {
    AddProfile({inst.counters}, &lines[{inst.source_line == 0 ? 0 : inst.note.file, inst.source_line}]);
  }
  Json rows = Json::array();
  for (const auto& [place, counters] : lines) {
    Json row = Json::array({OrNull(place.first), OrNull(place.second)});
    AppendCounters(counters[0], &row);
    rows.push_back(std::move(row));
  }
  return rows;
}

Json Kernel(const KernelReport& k) {
  PcProfile total(1);
  Json rows = Json::array();
  for (const PcReport& inst : k.per_pc) {
    rows.push_back(Row(inst));
    AddProfile({inst.counters}, &total);
  }
  Json object;
  object["index"] = k.index;
  object["name"] = k.info.name;
  object["case"] = k.launch.has_value() ? Json(k.launch->case_id) : Json(nullptr);
  object["cycles"] = k.cycles;
  object["finished"] = k.finished;
  object["control_bits"] = k.control_bits;
  object["files"] = k.source_files;
  object["total"] = Json::array();
  AppendCounters(total[0], &object["total"]);
  object["lines"] = Lines(k.per_pc);
  object["rows"] = std::move(rows);
  return object;
}

}  // namespace

std::string ProfileToJson(const RunReport& report) {
  Json root;
  root["format"] = kFormat;
  root["model_version"] = report.model_version;
  root["trace"] = report.trace_name;
  root["config"] = report.config_name;
  root["status"] = Name(report.status);
  root["complete"] = IsComplete(report);
  root["row_columns"] = Json::array({"pc", "opcode", "sass", "file", "line", "ptx", "live_registers"});
  root["line_columns"] = Json::array({"file", "line"});
  root["counter_columns"] = CounterColumns();
  root["kernels"] = Json::array();
  for (const KernelReport& k : report.kernels) root["kernels"].push_back(Kernel(k));
  return root.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace sm89
