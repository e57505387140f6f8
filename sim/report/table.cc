// A table for people.
#include <algorithm>
#include <array>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "sim/report/run_report.h"
#include "sim/report/text.h"
#include "sim/stats/pc_profile.h"

namespace sm89 {
namespace {

constexpr size_t kNameColumns = 22;
constexpr size_t kMaxWarnings = 20;
constexpr size_t kMaxClockLines = 16;  // of a kernel
constexpr size_t kMaxHot = 8;          // instructions shown of a profiled kernel
constexpr size_t kOpcodeColumns = 28;
constexpr size_t kControlColumns = 100;

struct Column {
  const char* title;
  const char* unit;
  int width;
};
constexpr std::array<Column, 9> kColumns = {{{"cycles", "", 6},
                                             {"time", "us", 8},
                                             {"warp inst", "", 9},
                                             {"IPC", "", 6},
                                             {"L1 hit", "%", 6},
                                             {"L2 hit", "%", 6},
                                             {"DRAM", "GB/s", 5},
                                             {"occ.", "%", 5},
                                             {"waits most for", "% of warp-cycles", 22}}};

// Cuts between UTF-8 characters and says so with two dots.
std::string Cut(const std::string& text, size_t columns) {
  size_t seen = 0;
  size_t cut = text.size();
  for (size_t i = 0; i < text.size(); ++i) {
    if ((static_cast<unsigned char>(text[i]) & 0xc0) == 0x80) continue;
    if (seen == columns - 2) cut = i;
    ++seen;
  }
  return seen <= columns ? text + std::string(columns - seen, ' ') : text.substr(0, cut) + "..";
}

std::string Fixed(const DerivedValue& v, int decimals) {
  return v.defined ? absl::StrFormat("%.*f", decimals, v.value) : "-";
}

// The reason, other than issuing, that took most warp-cycles.
std::string TopStall(const std::vector<DerivedValue>& derived) {
  constexpr std::string_view kPrefix = "stall_share_";
  const DerivedValue* top = nullptr;
  for (const DerivedValue& v : derived) {
    const std::string& name = v.def->name;
    if (!v.defined || !name.starts_with(kPrefix) || name == "stall_share_selected") continue;
    if (top == nullptr || v.value > top->value) top = &v;
  }
  if (top == nullptr || top->value == 0) return "-";
  return absl::StrFormat("%s %.0f", top->def->name.substr(kPrefix.size()), top->value);
}

std::string Row(const std::string& number, const std::string& name, const std::array<std::string, 9>& cells) {
  std::string line = absl::StrCat(absl::StrFormat("%4s ", number), Cut(name, kNameColumns));
  for (size_t i = 0; i < cells.size(); ++i) {
    const bool last = i + 1 == cells.size();
    line += last ? absl::StrCat("  ", cells[i]) : absl::StrFormat(" %*s", kColumns[i].width, cells[i]);
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

std::array<std::string, 9> Figures(const SimStats& stats, uint64_t cycles, const RunReport& run) {
  const auto derived = Derive(stats, cycles, run);
  const auto at = [&derived](std::string_view name) { return derived[DerivedIndex(name)]; };
  DerivedValue dram = at("dram_read_bandwidth");
  dram.value += at("dram_write_bandwidth").value;
  return {Compact(cycles),
          Fixed(at("time_us"), 2),
          Compact(stats.sm.warp_instructions),
          Fixed(at("ipc"), 2),
          Fixed(at("l1_hit_rate"), 1),
          Fixed(at("l2_hit_rate"), 1),
          Fixed(dram, 0),
          Fixed(at("achieved_occupancy"), 1),
          TopStall(derived)};
}

// "control  synthesised" or, when kernels differ, "control  machine code: 2 kernels, synthesised: 1 kernel".
std::string ControlBits(const RunReport& run) {
  std::vector<std::pair<std::string, size_t>> kinds;
  for (const KernelReport& k : run.kernels) {
    const auto it = std::find_if(kinds.begin(), kinds.end(),
                                 [&](const auto& kind) { return kind.first == k.control_bits; });
    if (it == kinds.end()) {
      kinds.emplace_back(k.control_bits, 1);
    } else {
      ++it->second;
    }
  }
  std::string text;
  for (const auto& [kind, count] : kinds) {
    absl::StrAppend(&text, text.empty() ? "" : ", ", Printable(kind));
    if (kinds.size() > 1) absl::StrAppend(&text, ": ", count, count == 1 ? " kernel" : " kernels");
  }
  if (text.empty()) return "";
  return absl::StrCat("control ", text.size() > kControlColumns ? Cut(text, kControlColumns) : text, "\n");
}

std::string Headline(const RunReport& run) {
  std::string text = absl::StrCat("sm89 ", run.product_version, ", model ", run.model_version, "\n");
  absl::StrAppend(&text, "trace   ", Printable(run.trace_name), "  sha256 ", run.trace_digest.substr(0, 12),
                  "\n");
  absl::StrAppend(&text, "config  ", Printable(run.config_name), "  sha256 ", run.config_digest.substr(0, 12),
                  "\n");
  absl::StrAppend(&text, "gpu     ", run.num_sms, " SMs at ", run.core_khz / 1000.0, " MHz, ",
                  run.units.slices.size(), " L2 slices, ", run.units.channels.size(), " DRAM channels\n");
  text += ControlBits(run);
  absl::StrAppend(&text, "status  ", StatusText(run), "\n");
  for (const TraceMark& mark : run.marks) {
    absl::StrAppend(&text, "MARK    ", Printable(mark.kind), ": ", Printable(mark.detail), "\n");
  }
  return text;
}

// The instructions of a profiled kernel at which warps spent most cycles.
std::string HotInstructions(const KernelReport& k) {
  uint64_t all = 0;
  std::vector<std::pair<uint64_t, size_t>> hot;  // warp-cycles, place in per_pc
  for (size_t i = 0; i < k.per_pc.size(); ++i) {
    const auto& cycles = k.per_pc[i].counters.cycles;
    const uint64_t sum = std::accumulate(cycles.begin(), cycles.end(), uint64_t{0});
    all += sum;
    if (sum != 0) hot.emplace_back(sum, i);
  }
  const size_t shown = std::min(hot.size(), kMaxHot);
  std::partial_sort(hot.begin(), hot.begin() + static_cast<ptrdiff_t>(shown), hot.end(),
                    [](const auto& a, const auto& b) {
                      return a.first != b.first ? a.first > b.first : a.second < b.second;
                    });
  std::string text;
  for (size_t i = 0; i < shown; ++i) {
    const auto& [sum, place] = hot[i];
    const PcReport& inst = k.per_pc[place];
    const auto& cycles = inst.counters.cycles;
    const auto top = std::max_element(cycles.begin(), cycles.end()) - cycles.begin();
    absl::StrAppend(
        &text, absl::StrFormat("%4d 0x%04x %s %5.1f %% of warp-cycles, most in %s %.0f %%\n", k.index + 1,
                               inst.pc, Cut(Printable(inst.opcode), kOpcodeColumns),
                               100.0 * static_cast<double>(sum) / static_cast<double>(all),
                               std::string(Name(static_cast<WarpState>(top))),
                               100.0 * static_cast<double>(cycles[top]) / static_cast<double>(sum)));
  }
  return text;
}

std::string Warnings(const RunReport& run) {
  std::string text;
  for (size_t i = 0; i < std::min(run.warnings.size(), kMaxWarnings); ++i) {
    absl::StrAppend(&text, "warning  ", Printable(run.warnings[i].message), "\n");
  }
  if (run.warnings.size() > kMaxWarnings) {
    absl::StrAppend(&text, "warning  and ", run.warnings.size() - kMaxWarnings,
                    " more, see the JSON report\n");
  }
  return text;
}

// Three figures that are easily taken for each other, of the kernels that use tensor cores.
std::string TensorCores(const RunReport& run) {
  std::string text;
  for (const KernelReport& k : run.kernels) {
    if (k.stats.sm.inst_tensor == 0) continue;
    const auto derived = Derive(k.stats, k.cycles, run);
    absl::StrAppend(
        &text, absl::StrFormat("%4d ", k.index + 1), Cut(Printable(k.info.name), kNameColumns),
        absl::StrFormat(" %12s %10s %7s\n", Compact(k.stats.sm.inst_tensor), Compact(k.stats.sm.tensor_ops),
                        Fixed(derived[DerivedIndex("tensor_utilization")], 1)));
  }
  if (text.empty()) return "";
  const std::string title =
      absl::StrCat("   # ", Cut("tensor cores", kNameColumns),
                   absl::StrFormat(" %12s %10s %7s\n", "instructions", "operations", "busy %"));
  return absl::StrCat("\n", title, text);
}

std::string Clocks(const RunReport& run) {
  std::string text;
  for (const KernelReport& k : run.kernels) {
    const std::vector<std::string> lines = ClockReadLines(k.clock_reads);
    for (size_t i = 0; i < std::min(lines.size(), kMaxClockLines); ++i) {
      absl::StrAppend(&text, absl::StrFormat("%4d ", k.index + 1), lines[i], "\n");
    }
    if (lines.size() > kMaxClockLines) {
      absl::StrAppend(&text, "     and ", lines.size() - kMaxClockLines, " more, see the JSON report\n");
    }
  }
  return text;
}

}  // namespace

std::string ReportToTable(const RunReport& report) {
  std::string text = Headline(report);
  std::array<std::string, 9> titles;
  std::array<std::string, 9> units;
  for (size_t i = 0; i < kColumns.size(); ++i) {
    titles[i] = kColumns[i].title;
    units[i] = kColumns[i].unit;
  }
  absl::StrAppend(&text, "\n", Row("#", "kernel", titles), Row("", "", units));
  for (const KernelReport& k : report.kernels) {
    const std::string name = k.finished ? k.info.name : absl::StrCat("[unfinished] ", k.info.name);
    text += Row(absl::StrCat(k.index + 1), Printable(name), Figures(k.stats, k.cycles, report));
  }
  text += Row("", "total", Figures(report.totals, report.total_cycles, report));
  text += TensorCores(report);
  const std::string clocks = Clocks(report);
  if (!clocks.empty()) {
    absl::StrAppend(&text, "\n   # clock reads: cycles from one read of a thread to its next\n", clocks);
  }
  std::string hot;
  for (const KernelReport& k : report.kernels) hot += HotInstructions(k);
  if (!hot.empty()) absl::StrAppend(&text, "\n   # instructions at which warps spent most cycles\n", hot);
  const std::string warnings = Warnings(report);
  if (!warnings.empty()) absl::StrAppend(&text, "\n", warnings);
  return text;
}

}  // namespace sm89
