// The table of derived figures: each one fraction of counters.
#include <array>
#include <vector>

#include "absl/strings/str_cat.h"
#include "sim/base/strings.h"
#include "sim/report/run_report.h"
#include "sim/stats/pc_profile.h"

namespace sm89 {
namespace {

struct Inputs {
  const SimStats& s;
  uint64_t cycles;
  const RunReport& run;
};

struct Fraction {
  double numerator = 0;
  double denominator = 0;  // 0: the figure is undefined
};

Fraction Of(uint64_t numerator, uint64_t denominator) {
  return {static_cast<double>(numerator), static_cast<double>(denominator)};
}
Fraction Percent(uint64_t numerator, uint64_t denominator) {
  return {100.0 * static_cast<double>(numerator), static_cast<double>(denominator)};
}
// Units of 10^9 a second; a cycle lasts 1/core_khz milliseconds.
Fraction GigaPerSecond(uint64_t amount, const Inputs& in) {
  return {static_cast<double>(amount) * in.run.core_khz, static_cast<double>(in.cycles) * 1e6};
}

struct DerivedRow {
  std::string_view name, unit, help, ncu_metric;
  Fraction (*compute)(const Inputs&);
};

uint64_t LoadSectors(const L1Stats& l1) { return l1.global_load_sectors + l1.local_load_sectors; }
uint64_t StoreSectors(const L1Stats& l1) { return l1.global_store_sectors + l1.local_store_sectors; }
uint64_t LoadHits(const L1Stats& l1) { return l1.global_load_hits + l1.local_load_hits; }
uint64_t StoreHits(const L1Stats& l1) { return l1.global_store_hits + l1.local_store_hits; }

constexpr auto kRows = std::to_array<DerivedRow>({
    {"time_us", "us", "Duration at the configured core clock.", "gpu__time_duration.sum",
     [](const Inputs& in) {
       return Fraction{1e3 * static_cast<double>(in.cycles), 1.0 * in.run.core_khz};
     }},
    {"ipc", "warp instructions/cycle", "Warp instructions a cycle, whole GPU.",
     "sm__inst_executed.sum.per_cycle_elapsed",
     [](const Inputs& in) { return Of(in.s.sm.warp_instructions, in.cycles); }},
    {"thread_ipc", "thread instructions/cycle", "Thread instructions a cycle, whole GPU.",
     "smsp__thread_inst_executed_pred_on.sum.per_cycle_elapsed",
     [](const Inputs& in) { return Of(in.s.sm.thread_instructions, in.cycles); }},
    {"sm_ipc", "warp instructions/cycle", "Warp instructions a cycle of an SM while it has warps.",
     "sm__inst_executed.avg.per_cycle_active",
     [](const Inputs& in) { return Of(in.s.sm.warp_instructions, in.s.sm.active_cycles); }},
    {"threads_per_instruction", "threads", "Lanes that executed a warp instruction, on average.",
     "smsp__thread_inst_executed_pred_on_per_inst_executed.ratio",
     [](const Inputs& in) { return Of(in.s.sm.thread_instructions, in.s.sm.warp_instructions); }},
    {"masked_off_share", "%", "Warp instructions issued with no lane active.", "",
     [](const Inputs& in) { return Percent(in.s.sm.masked_off_instructions, in.s.sm.warp_instructions); }},
    {"sm_activity", "%", "Time that an SM had at least one warp, on average over SMs.", "",
     [](const Inputs& in) { return Percent(in.s.sm.active_cycles, in.cycles * in.run.num_sms); }},
    {"achieved_occupancy", "%", "Warps resident in an active SM, of the most that fit.",
     "sm__warps_active.avg.pct_of_peak_sustained_active",
     [](const Inputs& in) {
       return Percent(in.s.sm.resident_warp_cycles, in.s.sm.active_cycles * in.run.max_warps_per_sm);
     }},
    {"issue_slot_utilization", "%", "Issue slots that issued an instruction.",
     "smsp__issue_active.avg.pct_of_peak_sustained_active",
     [](const Inputs& in) { return Percent(in.s.sm.warp_instructions, in.s.sm.issue_slots); }},
    {"issue_slot_stalled_share", "%", "Issue slots of sub-cores with a warp in which none could issue.", "",
     [](const Inputs& in) { return Percent(in.s.sm.issue_slots_stalled, in.s.sm.issue_slots); }},
    {"issue_slot_empty_share", "%", "Issue slots of sub-cores without a warp.", "",
     [](const Inputs& in) { return Percent(in.s.sm.issue_slots_empty, in.s.sm.issue_slots); }},
    {"register_reuse_hit_rate", "%", "Reads of general registers that the reuse cache served.", "",
     [](const Inputs& in) {
       return Percent(in.s.sm.register_reuse_hits, in.s.sm.register_reads + in.s.sm.register_reuse_hits);
     }},
    {"icache_l0_miss_rate", "%", "Lines that were not in the L0 instruction cache, of those asked.", "",
     [](const Inputs& in) { return Percent(in.s.sm.icache_l0_misses, in.s.sm.icache_l0_accesses); }},
    {"icache_prefetch_coverage", "%", "L0 instruction misses that the stream buffer served.", "",
     [](const Inputs& in) { return Percent(in.s.sm.icache_prefetch_hits, in.s.sm.icache_l0_misses); }},
    {"constant_l0_miss_rate", "%", "Constant operands that missed the sub-core's cache.", "",
     [](const Inputs& in) { return Percent(in.s.sm.constant_l0_misses, in.s.sm.constant_accesses); }},
    {"constant_l1_miss_rate", "%", "Constant operands and LDC that missed the SM's cache too.", "",
     [](const Inputs& in) {
       return Percent(in.s.sm.constant_l1_misses, in.s.sm.constant_accesses + in.s.sm.inst_mem_constant);
     }},
    {"tlb_miss_rate", "%", "Pages that were not in the SM's translation buffer, of those asked.", "",
     [](const Inputs& in) { return Percent(in.s.sm.tlb_misses, in.s.sm.tlb_accesses); }},
    {"tensor_utilization", "%",
     "Tensor busy time: cycles that a tensor core was occupied, of those that its SM had warps.",
     "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active",
     [](const Inputs& in) { return Percent(in.s.sm.tensor_busy_cycles, in.s.sm.issue_slots); }},
    {"tensor_instruction_share", "%", "Tensor instructions, of all warp instructions.", "",
     [](const Inputs& in) { return Percent(in.s.sm.inst_tensor, in.s.sm.warp_instructions); }},
    {"tensor_gops_per_second", "10^9 operations/s", "Tensor operations a second, dense-equivalent.", "",
     [](const Inputs& in) { return GigaPerSecond(in.s.sm.tensor_ops, in); }},
    {"l1_hit_rate", "%", "Sectors of global and local loads and stores found in L1.",
     "l1tex__t_sector_hit_rate.pct",
     [](const Inputs& in) {
       return Percent(LoadHits(in.s.l1) + StoreHits(in.s.l1), LoadSectors(in.s.l1) + StoreSectors(in.s.l1));
     }},
    {"l1_load_hit_rate", "%", "Sectors of global and local loads found in L1.", "",
     [](const Inputs& in) { return Percent(LoadHits(in.s.l1), LoadSectors(in.s.l1)); }},
    {"sectors_per_request", "sectors", "Sectors that one global or local memory instruction touches.",
     "l1tex__average_t_sectors_per_request.ratio",
     [](const Inputs& in) {
       return Of(LoadSectors(in.s.l1) + StoreSectors(in.s.l1) + in.s.l1.atomic_sectors, in.s.l1.requests);
     }},
    {"shared_bank_conflict_rate", "%", "Passes through the shared-memory banks caused by conflicts.", "",
     [](const Inputs& in) { return Percent(in.s.l1.shared_bank_conflicts, in.s.l1.shared_passes); }},
    {"l2_hit_rate", "%", "Sectors read or written by SMs found in L2.", "lts__t_sector_hit_rate.pct",
     [](const Inputs& in) {
       return Percent(in.s.l2.read_hits + in.s.l2.write_hits, in.s.l2.read_sectors + in.s.l2.write_sectors);
     }},
    {"l2_read_hit_rate", "%", "Sectors read by SMs found in L2.", "lts__t_sector_op_read_hit_rate.pct",
     [](const Inputs& in) { return Percent(in.s.l2.read_hits, in.s.l2.read_sectors); }},
    {"l2_write_hit_rate", "%", "Sectors written by SMs found in L2.", "lts__t_sector_op_write_hit_rate.pct",
     [](const Inputs& in) { return Percent(in.s.l2.write_hits, in.s.l2.write_sectors); }},
    {"l2_bandwidth", "GB/s", "Sectors that SMs read from and wrote to L2, as bytes a second.", "",
     [](const Inputs& in) {
       return GigaPerSecond((in.s.l2.read_sectors + in.s.l2.write_sectors) * kSectorBytes, in);
     }},
    {"l2_prefetch_accuracy", "%",
     "Prefetched sectors that somebody asked for, in time or not. Of a kernel: what it asked for over what it had "
     "fetched; sectors that an earlier kernel fetched may make it exceed 100.",
     "",
     [](const Inputs& in) {
       return Percent(in.s.l2.prefetch_hits + in.s.l2.prefetch_late, in.s.l2.prefetch_sectors);
     }},
    {"l2_prefetch_coverage", "%", "Sectors that a prefetch spared a demand the fetch of.", "",
     [](const Inputs& in) {
       const uint64_t spared = in.s.l2.prefetch_hits + in.s.l2.prefetch_late;
       return Percent(spared, spared == 0 ? in.s.l2.prefetch_sectors : spared + in.s.l2.fetch_sectors);
     }},
    {"l2_compression_saving", "%",
     "Sectors that DRAM moved less because of compression, of those that it would have moved; negative when "
     "whole lines were read for a part of them.",
     "",
     [](const Inputs& in) {
       const auto saved = static_cast<double>(in.s.l2.compression_saved_sectors);
       const auto extra = static_cast<double>(in.s.l2.compression_extra_sectors);
       const auto moved = static_cast<double>(in.s.dram.read_sectors + in.s.dram.write_sectors);
       return saved + extra == 0 ? Fraction{} : Fraction{100.0 * (saved - extra), moved + saved - extra};
     }},
    {"dram_read_bandwidth", "GB/s", "Bytes read from DRAM a second.", "dram__bytes_read.sum.per_second",
     [](const Inputs& in) { return GigaPerSecond(in.s.dram.read_sectors * kSectorBytes, in); }},
    {"dram_write_bandwidth", "GB/s", "Bytes written to DRAM a second.", "dram__bytes_write.sum.per_second",
     [](const Inputs& in) { return GigaPerSecond(in.s.dram.write_sectors * kSectorBytes, in); }},
    {"dram_utilization", "%", "Time that a DRAM channel was transferring.", "",
     [](const Inputs&
            in) { return Percent(in.s.dram.busy_cycles, in.cycles * in.run.units.channels.size()); }},
    {"dram_row_hit_rate", "%", "DRAM accesses to an open row.", "",
     [](const Inputs& in) { return Percent(in.s.dram.row_hits, in.s.dram.row_hits + in.s.dram.row_misses); }},
});

// Nsight Compute's spelling of a state: the same but for one.
std::string_view NcuName(WarpState state) {
  return state == WarpState::kDispatch ? "dispatch_stall" : Name(state);
}

std::vector<DerivedDef> MakeDefs() {
  std::vector<DerivedDef> defs;
  defs.reserve(kRows.size() + kNumWarpStates);
  for (const DerivedRow& row : kRows) {
    defs.push_back(
        {std::string(row.name), std::string(row.unit), std::string(row.help), std::string(row.ncu_metric)});
  }
  for (int i = 0; i < kNumWarpStates; ++i) {
    const auto state = static_cast<WarpState>(i);
    defs.push_back({absl::StrCat("stall_share_", Av(Name(state))), "%",
                    absl::StrCat("Warp-cycles spent in state ", Av(Name(state)), "."),
                    absl::StrCat("smsp__warp_issue_stalled_", Av(NcuName(state)), "_per_warp_active.pct")});
  }
  return defs;
}

const std::vector<DerivedDef>& Defs() {
  static const std::vector<DerivedDef>* const defs = new std::vector<DerivedDef>(MakeDefs());
  return *defs;
}

DerivedValue Evaluate(const DerivedDef& def, const Fraction& fraction) {
  if (fraction.denominator == 0) return {&def, false, 0};
  return {&def, true, fraction.numerator / fraction.denominator};
}

}  // namespace

std::span<const DerivedDef> AllDerivedDefs() { return Defs(); }

std::vector<DerivedValue> Derive(const SimStats& stats, uint64_t cycles, const RunReport& run) {
  const std::vector<DerivedDef>& defs = Defs();
  const Inputs in{stats, cycles, run};
  std::vector<DerivedValue> values;
  values.reserve(defs.size());
  size_t i = 0;
  for (const DerivedRow& row : kRows) values.push_back(Evaluate(defs[i++], row.compute(in)));
  for (uint64_t SmStats::*counter : kWarpStateCounters) {
    values.push_back(Evaluate(defs[i++], Percent(stats.sm.*counter, stats.sm.resident_warp_cycles)));
  }
  return values;
}

}  // namespace sm89
