// One row a kernel and a total row, for spreadsheets and data frames (RFC 4180).
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "nlohmann/json.hpp"
#include "sim/base/strings.h"
#include "sim/report/run_report.h"
#include "sim/report/text.h"
#include "sim/stats/pc_profile.h"

namespace sm89 {
namespace {

// Appends fields to one record; quotes those that need it.
class Record {
 public:
  void Text(const std::string& field) {
    Separate();
    if (field.find_first_of(",\"\r\n") == std::string::npos && !HasOuterBlank(field)) {
      line_ += field;
      return;
    }
    line_ += '"';
    for (char c : field) {
      if (c == '"') line_ += '"';
      line_ += c;
    }
    line_ += '"';
  }
  void Number(uint64_t value) {
    Separate();
    absl::StrAppend(&line_, value);
  }
  // The same text as in the JSON report.
  void Number(const DerivedValue& v) {
    Separate();
    if (v.defined) line_ += nlohmann::json(v.value).dump();
  }
  void Empty() { Separate(); }
  std::string Finish() && { return std::move(line_) + "\r\n"; }

 private:
  static bool HasOuterBlank(const std::string& s) {
    return !s.empty() && (s.front() == ' ' || s.back() == ' ');
  }
  void Separate() {
    if (started_) line_ += ',';
    started_ = true;
  }
  std::string line_;
  bool started_ = false;
};

constexpr std::string_view kLeading[] = {"kernel",
                                         "id",
                                         "name",
                                         "stream",
                                         "grid_x",
                                         "grid_y",
                                         "grid_z",
                                         "block_x",
                                         "block_y",
                                         "block_z",
                                         "start_cycle",
                                         "end_cycle",
                                         "cycles",
                                         "warp_instructions",
                                         "thread_instructions",
                                         "ctas_per_sm",
                                         "occupancy_limiter",
                                         "control_bits",
                                         "l2_slice_max_over_mean"};
// Only in runs with kernels that read a clock.
constexpr std::string_view kClockReads = "clock_reads";

bool HasClockReads(const RunReport& run) {
  return std::any_of(run.kernels.begin(), run.kernels.end(),
                     [](const KernelReport& k) { return k.clock_reads.any(); });
}

constexpr std::string_view kTrailing[] = {"finished", "status", "complete", "marks"};

void AddFigures(const SimStats& stats, uint64_t cycles, const RunReport& run, Record* record) {
  for (const StatValue& v : stats.Values()) record->Number(v.value);
  for (const DerivedValue& v : Derive(stats, cycles, run)) record->Number(v);
}

void AddTrailing(bool finished, const RunReport& run, Record* record) {
  record->Text(finished ? "true" : "false");
  record->Text(std::string(Name(run.status)));
  record->Text(IsComplete(run) ? "true" : "false");
  record->Text(ValidUtf8(MarkKinds(run)));
}

void AddDimensions(const Dim3& d, Record* record) {
  record->Number(d.x);
  record->Number(d.y);
  record->Number(d.z);
}

std::string KernelRow(const KernelReport& k, const RunReport& run) {
  Record record;
  record.Number(k.index);
  record.Number(k.info.id);
  record.Text(ValidUtf8(k.info.name));
  record.Number(k.info.stream_id);
  AddDimensions(k.info.grid, &record);
  AddDimensions(k.info.block, &record);
  record.Number(k.start_cycle);
  record.Number(k.end_cycle);
  record.Number(k.cycles);
  record.Number(k.stats.sm.warp_instructions);
  record.Number(k.stats.sm.thread_instructions);
  record.Number(k.ctas_per_sm);
  record.Text(ValidUtf8(k.occupancy_limiter));
  record.Text(ValidUtf8(k.control_bits));
  record.Number(DerivedValue{nullptr, k.slice_load.sectors != 0, k.slice_load.MaxOverMean()});
  AddFigures(k.stats, k.cycles, run, &record);
  if (HasClockReads(run)) record.Text(absl::StrJoin(ClockReadLines(k.clock_reads), "; "));
  AddTrailing(k.finished, run, &record);
  return std::move(record).Finish();
}

std::string TotalRow(const RunReport& run) {
  Record record;
  record.Empty();  // kernel
  record.Empty();  // id
  record.Text("total");
  for (int i = 0; i < 7; ++i) record.Empty();  // stream, grid, block
  record.Number(0);
  record.Number(run.total_cycles);
  record.Number(run.total_cycles);
  record.Number(run.totals.sm.warp_instructions);
  record.Number(run.totals.sm.thread_instructions);
  record.Empty();  // ctas_per_sm
  record.Empty();  // occupancy_limiter
  record.Empty();  // control_bits
  record.Empty();  // l2_slice_max_over_mean
  AddFigures(run.totals, run.total_cycles, run, &record);
  if (HasClockReads(run)) record.Empty();
  AddTrailing(run.status == RunStatus::kComplete, run, &record);
  return std::move(record).Finish();
}

// "stall_long_sb": a warp state's column in both tables.
std::string ColumnOf(WarpState state) { return absl::StrCat("stall_", Av(ShortName(state))); }

// A counter's column: its name, or its warp state's short name.
std::string ColumnOf(const StatDef& def) {
  constexpr std::string_view kPrefix = "sm_stall_";
  if (!def.name.starts_with(kPrefix)) return std::string(def.name);
  for (int i = 0; i < kNumWarpStates; ++i) {
    const auto state = static_cast<WarpState>(i);
    if (Name(state) == def.name.substr(kPrefix.size())) return ColumnOf(state);
  }
  return std::string(def.name);
}

std::string HeaderRow(const RunReport& run) {
  Record record;
  for (std::string_view name : kLeading) record.Text(std::string(name));
  for (const StatDef& def : AllStatDefs()) record.Text(ColumnOf(def));
  for (const DerivedDef& def : AllDerivedDefs()) record.Text(def.name);
  if (HasClockReads(run)) record.Text(std::string(kClockReads));
  for (std::string_view name : kTrailing) record.Text(std::string(name));
  return std::move(record).Finish();
}

constexpr std::string_view kProfileLeading[] = {"kernel",      "name",   "pc",     "opcode",
                                                "source_line", "issued", "threads"};

std::string ProfileHeader() {
  Record record;
  for (std::string_view name : kProfileLeading) record.Text(std::string(name));
  for (int i = 0; i < kNumWarpStates; ++i) record.Text(ColumnOf(static_cast<WarpState>(i)));
  for (const PcMemoryDef& def : kPcMemoryDefs) record.Text(absl::StrCat("memory_", Av(def.name)));
  return std::move(record).Finish();
}

std::string ProfileRow(uint32_t kernel, const std::string& name, const PcReport& inst) {
  Record record;
  record.Number(kernel);
  record.Text(name);
  record.Number(inst.pc);
  record.Text(ValidUtf8(inst.opcode));
  if (inst.source_line == 0) {
    record.Empty();
  } else {
    record.Number(inst.source_line);
  }
  record.Number(inst.counters.issued);
  record.Number(inst.counters.threads);
  for (uint64_t cycles : inst.counters.cycles) record.Number(cycles);
  for (const PcMemoryDef& def : kPcMemoryDefs) record.Number(inst.counters.memory.*def.counter);
  return std::move(record).Finish();
}

}  // namespace

std::string ReportToCsv(const RunReport& report) {
  std::string text = HeaderRow(report);
  for (const KernelReport& k : report.kernels) text += KernelRow(k, report);
  text += TotalRow(report);
  return text;
}

void WriteProfileCsv(const RunReport& report, const std::function<bool(std::string_view)>& write) {
  constexpr size_t kPieceBytes = 65536;
  std::string piece = ProfileHeader();
  for (const KernelReport& k : report.kernels) {
    const std::string name = ValidUtf8(k.info.name);
    for (const PcReport& inst : k.per_pc) {
      piece += ProfileRow(k.index, name, inst);
      if (piece.size() < kPieceBytes) continue;
      if (!write(piece)) return;
      piece.clear();
    }
  }
  if (!piece.empty()) write(piece);
}

}  // namespace sm89
