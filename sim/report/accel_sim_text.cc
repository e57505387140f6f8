// The lines that Accel-Sim's scrapers (get_stats.py, job_status.py, plot-correlation.py) look for.
#include <algorithm>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "sim/report/run_report.h"
#include "sim/report/text.h"

namespace sm89 {
namespace {

class LineWriter {
 public:
  explicit LineWriter(std::string* out) : out_(out) {}
  void Count(const char* name, uint64_t value) { absl::StrAppend(out_, name, " = ", value, "\n"); }
  // Scrapers read these tables with the leading tab.
  void Breakdown(const char* table, const char* access, const char* outcome, uint64_t value) {
    absl::StrAppend(out_, "\t", table, "[", access, "][", outcome, "] = ", value, "\n");
  }
  // printf's %12.4f, as scrapers expect; absent when undefined.
  void Fixed(const char* name, const DerivedValue& v) {
    if (v.defined) absl::StrAppendFormat(out_, "%s = %12.4f\n", name, v.value);
  }
  void Percent(const char* name, const DerivedValue& v) {
    if (v.defined) absl::StrAppendFormat(out_, "%s = %.4f%%\n", name, v.value);
  }
  void Bandwidth(const char* name, const DerivedValue& v) {
    if (v.defined) absl::StrAppendFormat(out_, "%s  = %12.4f GB/Sec\n", name, v.value);
  }
  void Raw(std::string_view line) { out_->append(line).append("\n"); }

 private:
  std::string* out_;
};

// Sums over the blocks written so far.
struct Running {
  SimStats stats;
  uint64_t cycles = 0;  // of the run, when the block's kernel ended
  uint64_t ctas = 0;
};

void WriteHeadlines(const KernelReport& k, const Running& total, const RunReport& run, LineWriter* out) {
  const auto own = Derive(k.stats, k.cycles, run);
  const auto all = Derive(total.stats, total.cycles, run);
  const size_t ipc = DerivedIndex("thread_ipc");
  const size_t occupancy = DerivedIndex("achieved_occupancy");
  const size_t l2_bandwidth = DerivedIndex("l2_bandwidth");
  out->Count("gpu_sim_cycle", k.cycles);
  out->Count("gpu_sim_insn", k.stats.sm.thread_instructions);
  out->Fixed("gpu_ipc", own[ipc]);
  out->Count("gpu_tot_sim_cycle", total.cycles);
  out->Count("gpu_tot_sim_insn", total.stats.sm.thread_instructions);
  out->Fixed("gpu_tot_ipc", all[ipc]);
  out->Count("gpu_tot_issued_cta", total.ctas);
  out->Percent("gpu_occupancy", own[occupancy]);
  out->Percent("gpu_tot_occupancy", all[occupancy]);
  out->Bandwidth("L2_BW", own[l2_bandwidth]);
  out->Bandwidth("L2_BW_total", all[l2_bandwidth]);
}

void WriteCore(const SimStats& s, LineWriter* out) {
  constexpr const char* kTable = "Total_core_cache_stats_breakdown";
  out->Raw("Total_core_cache_stats:");
  out->Breakdown(kTable, "GLOBAL_ACC_R", "HIT", s.l1.global_load_hits);
  out->Breakdown(kTable, "GLOBAL_ACC_R", "MSHR_HIT", s.l1.global_load_mshr_hits);
  out->Breakdown(kTable, "GLOBAL_ACC_R", "TOTAL_ACCESS", s.l1.global_load_sectors);
  out->Breakdown(kTable, "LOCAL_ACC_R", "HIT", s.l1.local_load_hits);
  out->Breakdown(kTable, "LOCAL_ACC_R", "TOTAL_ACCESS", s.l1.local_load_sectors);
  out->Breakdown(kTable, "GLOBAL_ACC_W", "HIT", s.l1.global_store_hits);
  out->Breakdown(kTable, "GLOBAL_ACC_W", "TOTAL_ACCESS", s.l1.global_store_sectors);
  out->Breakdown(kTable, "LOCAL_ACC_W", "HIT", s.l1.local_store_hits);
  out->Breakdown(kTable, "LOCAL_ACC_W", "TOTAL_ACCESS", s.l1.local_store_sectors);
  out->Count("ctas_completed", s.sm.ctas_completed);
  out->Count("gpgpu_n_tot_thrd_icount", s.sm.thread_instructions);
  out->Count("gpgpu_n_tot_w_icount", s.sm.warp_instructions);
  out->Count("gpgpu_n_shmem_bkconflict", s.l1.shared_bank_conflicts);
}

void WriteMemory(const SimStats& s, LineWriter* out) {
  constexpr const char* kTable = "L2_cache_stats_breakdown";
  out->Count("total dram reads", s.dram.read_sectors);
  out->Count("total dram writes", s.dram.write_sectors);
  out->Raw("L2_cache_stats:");
  out->Count("L2_total_cache_accesses", s.l2.read_sectors + s.l2.write_sectors + s.l2.atomic_sectors);
  out->Raw("L2_total_cache_breakdown:");
  out->Breakdown(kTable, "GLOBAL_ACC_R", "HIT", s.l2.read_hits);
  out->Breakdown(kTable, "GLOBAL_ACC_R", "TOTAL_ACCESS", s.l2.read_sectors);
  out->Breakdown(kTable, "GLOBAL_ACC_W", "HIT", s.l2.write_hits);
  out->Breakdown(kTable, "GLOBAL_ACC_W", "TOTAL_ACCESS", s.l2.write_sectors);
  out->Raw(absl::StrCat("icnt_total_pkts_mem_to_simt=", s.noc.reply_packets));
  out->Raw(absl::StrCat("icnt_total_pkts_simt_to_mem=", s.noc.request_packets));
}

void WriteKernel(const KernelReport& k, const Running& total, const RunReport& run, LineWriter* out) {
  out->Raw(absl::StrCat("kernel_name = ", Printable(k.info.name), " "));
  // Launches are numbered from 1; the id that the trace gives may repeat.
  out->Raw(absl::StrCat("kernel_launch_uid = ", uint64_t{k.index} + 1, " "));
  out->Count("kernel_stream_id", k.info.stream_id);
  out->Count("sm89_kernel_id", k.info.id);
  if (!k.finished) out->Raw("sm89_kernel_unfinished = 1");
  WriteHeadlines(k, total, run, out);
  WriteCore(total.stats, out);
  WriteMemory(total.stats, out);
  for (const std::string& line : ClockReadLines(k.clock_reads)) {
    out->Raw(absl::StrCat("sm89_clock_reads = ", line));
  }
  out->Raw("");
}

void WriteMarks(const RunReport& run, LineWriter* out) {
  out->Raw(absl::StrCat("sm89_status = ", StatusText(run)));
  for (const TraceMark& mark : run.marks) {
    out->Raw(absl::StrCat("sm89_mark = ", Printable(mark.kind), ": ", Printable(mark.detail)));
  }
  for (const TraceWarning& w : run.warnings) {
    out->Raw(absl::StrCat("sm89_warning = ", Printable(w.kind), ": ", Printable(w.message)));
  }
}

}  // namespace

std::string ReportToAccelSimText(const RunReport& report) {
  std::string text;
  LineWriter out(&text);
  out.Raw(absl::StrCat("Accel-Sim compatible statistics of sm89 ", report.product_version, " [build ",
                       report.model_version, "]"));
  WriteMarks(report, &out);
  out.Raw("");

  std::vector<const KernelReport*> order(report.kernels.size());
  std::transform(report.kernels.begin(), report.kernels.end(), order.begin(),
                 [](const auto& k) { return &k; });
  std::stable_sort(order.begin(), order.end(),
                   [](const KernelReport* a, const KernelReport* b) { return a->end_cycle < b->end_cycle; });
  Running total;
  for (const KernelReport* k : order) {
    total.stats.Add(k->stats);
    total.cycles = std::max(total.cycles, k->end_cycle);
    total.ctas += k->ctas_launched;
    WriteKernel(*k, total, report, &out);
  }
  out.Raw("GPGPU-Sim: *** simulation thread exiting ***");
  if (IsComplete(report)) out.Raw("GPGPU-Sim: *** exit detected ***");
  return text;
}

}  // namespace sm89
