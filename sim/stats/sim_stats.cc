#include "sim/stats/sim_stats.h"

#include <array>

namespace sm89 {
namespace {

using U = StatUnit;
constexpr StatExport kService = StatExport::kService;

constexpr auto kSmStats = std::to_array<StatField<SmStats>>({
    {{"sm_warp_instructions", U::kWarpInstructions,
      "Warp instructions issued, those with an empty mask included.", "smsp__inst_executed.sum", kService},
     &SmStats::warp_instructions},
    {{"sm_thread_instructions", U::kThreadInstructions,
      "Instructions summed over the lanes that executed them.", "smsp__thread_inst_executed_pred_on.sum",
      kService},
     &SmStats::thread_instructions},
    {{"sm_masked_off_instructions", U::kWarpInstructions, "Warp instructions issued with no lane active."},
     &SmStats::masked_off_instructions},
    {{"sm_active_cycles", U::kCycles,
      "Cycles with a CTA of the kernel resident, summed over SMs and kernels.", "sm__cycles_active.sum",
      kService},
     &SmStats::active_cycles},
    {{"sm_issue_slots", U::kEvents, "Issue slots offered: sub-cores times active cycles, summed over SMs.",
      "", kService},
     &SmStats::issue_slots},
    {{"sm_resident_warp_cycles", U::kCycles, "Warps resident in each cycle, summed over cycles and SMs.",
      "sm__warps_active.sum"},
     &SmStats::resident_warp_cycles},
    {{"sm_ctas_completed", U::kCtas, "CTAs that ran to their end."}, &SmStats::ctas_completed},
    {{"sm_warps_completed", U::kWarps, "Warps that ran to their end."}, &SmStats::warps_completed},
    {{"sm_stall_selected", U::kCycles, "Warp-cycles in which the warp issued an instruction.", "", kService},
     &SmStats::stall_selected},
    {{"sm_stall_not_selected", U::kCycles, "Warp-cycles ready to issue while another warp was chosen.", "",
      kService},
     &SmStats::stall_not_selected},
    {{"sm_stall_long_scoreboard", U::kCycles,
      "Warp-cycles waiting for global, local, generic or texture memory.", "", kService},
     &SmStats::stall_long_scoreboard},
    {{"sm_stall_short_scoreboard", U::kCycles,
      "Warp-cycles waiting for shared memory, constants, special functions or other short variable "
      "latencies.",
      "", kService},
     &SmStats::stall_short_scoreboard},
    {{"sm_stall_wait", U::kCycles, "Warp-cycles waiting for a fixed latency.", "", kService},
     &SmStats::stall_wait},
    {{"sm_stall_math_pipe_throttle", U::kCycles, "Warp-cycles waiting for a busy execution unit.", "",
      kService},
     &SmStats::stall_math_pipe_throttle},
    {{"sm_stall_mio_throttle", U::kCycles,
      "Warp-cycles waiting for room in the queue of shared memory and other shared units.", "", kService},
     &SmStats::stall_mio_throttle},
    {{"sm_stall_lg_throttle", U::kCycles,
      "Warp-cycles waiting for room in the queue of local and global memory.", "", kService},
     &SmStats::stall_lg_throttle},
    {{"sm_stall_tex_throttle", U::kCycles, "Warp-cycles waiting for room in the queue of the texture unit.",
      "", kService},
     &SmStats::stall_tex_throttle},
    {{"sm_stall_imc_miss", U::kCycles,
      "Warp-cycles waiting for a constant operand that missed the immediate constant cache.", "", kService},
     &SmStats::stall_imc_miss},
    {{"sm_stall_barrier", U::kCycles, "Warp-cycles waiting at a CTA barrier.", "", kService},
     &SmStats::stall_barrier},
    {{"sm_stall_membar", U::kCycles, "Warp-cycles waiting for a memory fence.", "", kService},
     &SmStats::stall_membar},
    {{"sm_stall_no_instruction", U::kCycles,
      "Warp-cycles with an empty instruction buffer: a cache miss or a taken branch.", "", kService},
     &SmStats::stall_no_instruction},
    {{"sm_stall_dispatch", U::kCycles,
      "Warp-cycles held back by the dispatch stage: register read ports, a held issue port.", "", kService},
     &SmStats::stall_dispatch},
    {{"sm_stall_branch_resolving", U::kCycles, "Warp-cycles waiting for a branch target.", "", kService},
     &SmStats::stall_branch_resolving},
    {{"sm_stall_sleeping", U::kCycles, "Warp-cycles spent in NANOSLEEP.", "", kService},
     &SmStats::stall_sleeping},
    {{"sm_stall_drain", U::kCycles, "Warp-cycles after EXIT until the warp's stores have left.", "",
      kService},
     &SmStats::stall_drain},
    {{"sm_stall_misc", U::kCycles, "Warp-cycles for any other reason: convergence barriers.", "", kService},
     &SmStats::stall_misc},
    {{"sm_issue_slots_stalled", U::kEvents,
      "Issue slots of sub-cores with a warp in which no warp could issue."},
     &SmStats::issue_slots_stalled},
    {{"sm_issue_slots_empty", U::kEvents, "Issue slots of sub-cores without a warp."},
     &SmStats::issue_slots_empty},
    {{"sm_inst_fp32", U::kWarpInstructions, "Warp instructions of the FP32 units."}, &SmStats::inst_fp32},
    {{"sm_inst_int", U::kWarpInstructions,
      "Warp instructions of the integer units, integer multiply-add included."},
     &SmStats::inst_int},
    {{"sm_inst_half", U::kWarpInstructions, "Warp instructions of packed half precision."},
     &SmStats::inst_half},
    {{"sm_inst_fp64", U::kWarpInstructions, "Warp instructions of the FP64 unit.",
      "smsp__inst_executed_pipe_fp64.sum"},
     &SmStats::inst_fp64},
    {{"sm_inst_sfu", U::kWarpInstructions, "Warp instructions of the special function units.",
      "smsp__inst_executed_pipe_xu.sum"},
     &SmStats::inst_sfu},
    {{"sm_inst_tensor", U::kWarpInstructions,
      "Tensor instructions: warp instructions HMMA, IMMA, BMMA, QMMA and DMMA, sparse ones included.",
      "sm__inst_executed_pipe_tensor.sum", kService},
     &SmStats::inst_tensor},
    {{"sm_inst_uniform", U::kWarpInstructions, "Warp instructions of the uniform datapath.",
      "smsp__inst_executed_pipe_uniform.sum"},
     &SmStats::inst_uniform},
    {{"sm_inst_branch", U::kWarpInstructions, "Warp instructions of the branch unit."},
     &SmStats::inst_branch},
    {{"sm_inst_misc", U::kWarpInstructions,
      "Warp instructions that read special registers, vote, or do nothing."},
     &SmStats::inst_misc},
    {{"sm_inst_barrier", U::kWarpInstructions, "Barriers, fences and dependence barriers."},
     &SmStats::inst_barrier},
    {{"sm_inst_texture", U::kWarpInstructions, "Texture and surface instructions.",
      "smsp__inst_executed_pipe_tex.sum"},
     &SmStats::inst_texture},
    {{"sm_inst_mem_global", U::kWarpInstructions, "Memory instructions on global or generic addresses."},
     &SmStats::inst_mem_global},
    {{"sm_inst_mem_local", U::kWarpInstructions, "Memory instructions on local memory (LDL, STL)."},
     &SmStats::inst_mem_local},
    {{"sm_inst_mem_shared", U::kWarpInstructions,
      "Memory instructions on shared memory (LDS, STS, LDSM ...)."},
     &SmStats::inst_mem_shared},
    {{"sm_inst_mem_constant", U::kWarpInstructions, "Loads from constant memory (LDC)."},
     &SmStats::inst_mem_constant},
    {{"sm_inst_mem_other", U::kWarpInstructions, "Shuffles and cache control."}, &SmStats::inst_mem_other},
    {{"sm_tensor_busy_cycles", U::kCycles,
      "Tensor busy time: cycles in which a tensor core was occupied, summed over sub-cores. Of the issue "
      "slots: its utilisation. DMMA occupies FP64 units instead.",
      "", kService},
     &SmStats::tensor_busy_cycles},
    {{"sm_tensor_ops", U::kOperations,
      "Tensor operations: multiplications and additions, dense-equivalent (2 x m x n x k an instruction).",
      "", kService},
     &SmStats::tensor_ops},
    {{"sm_register_reads", U::kEvents, "Warp-wide reads of general registers through a bank's port."},
     &SmStats::register_reads},
    {{"sm_register_reuse_hits", U::kEvents,
      "Warp-wide reads of general registers that the reuse cache served."},
     &SmStats::register_reuse_hits},
    {{"sm_register_port_stall_cycles", U::kCycles,
      "Cycles that instructions waited for register read ports, summed over sub-cores."},
     &SmStats::register_port_stall_cycles},
    {{"sm_icache_l0_accesses", U::kEvents, "Lines asked of the L0 instruction caches."},
     &SmStats::icache_l0_accesses},
    {{"sm_icache_l0_misses", U::kEvents, "Lines that were not in the L0 instruction cache."},
     &SmStats::icache_l0_misses},
    {{"sm_icache_prefetch_hits", U::kEvents,
      "L0 misses served by the stream buffer, lines still on their way included."},
     &SmStats::icache_prefetch_hits},
    {{"sm_icache_l1_misses", U::kEvents, "Lines that were not in the L1 instruction cache."},
     &SmStats::icache_l1_misses},
    {{"sm_constant_accesses", U::kEvents, "Constant operands of fixed-latency instructions."},
     &SmStats::constant_accesses},
    {{"sm_constant_l0_misses", U::kEvents, "Constant operands that missed the sub-core's cache."},
     &SmStats::constant_l0_misses},
    {{"sm_constant_l1_misses", U::kEvents, "Constant lines that missed the SM's cache."},
     &SmStats::constant_l1_misses},
    {{"sm_tlb_accesses", U::kEvents, "Pages asked of the SM's address translation."}, &SmStats::tlb_accesses},
    {{"sm_tlb_misses", U::kEvents, "Pages that were not in the SM's translation buffer."},
     &SmStats::tlb_misses},
    {{"sm_ser_invocations", U::kEvents, "Decisions of the reordering stage (research model)."},
     &SmStats::ser_invocations},
    {{"sm_ser_merges", U::kWarpInstructions,
      "Warp instructions that shared the issue slot of another warp's (research model)."},
     &SmStats::ser_merges},
    {{"sm_ser_redirects", U::kWarpInstructions,
      "Warp instructions issued by another sub-core than their warp's (research model)."},
     &SmStats::ser_redirects},
    {{"sm_ser_moved_threads", U::kThreadInstructions,
      "Thread instructions that the reordering stage moved (research model)."},
     &SmStats::ser_moved_threads},
});
static_assert(DescribesAll(kSmStats), "a counter of SmStats has no row");

constexpr auto kL1Stats = std::to_array<StatField<L1Stats>>({
    {{"l1_global_load_sectors", U::kSectors, "Sectors of global loads looked up.",
      "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", kService},
     &L1Stats::global_load_sectors},
    {{"l1_global_load_hits", U::kSectors, "Sectors of global loads found valid.",
      "l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum", kService},
     &L1Stats::global_load_hits},
    {{"l1_global_load_mshr_hits", U::kSectors, "Sectors of global loads that joined a miss under way."},
     &L1Stats::global_load_mshr_hits},
    {{"l1_global_store_sectors", U::kSectors, "Sectors of global stores.",
      "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"},
     &L1Stats::global_store_sectors},
    {{"l1_global_store_hits", U::kSectors, "Sectors of global stores that were present.",
      "l1tex__t_sectors_pipe_lsu_mem_global_op_st_lookup_hit.sum"},
     &L1Stats::global_store_hits},
    {{"l1_local_load_sectors", U::kSectors, "Sectors of local loads looked up.",
      "l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum"},
     &L1Stats::local_load_sectors},
    {{"l1_local_load_hits", U::kSectors, "Sectors of local loads found valid.",
      "l1tex__t_sectors_pipe_lsu_mem_local_op_ld_lookup_hit.sum"},
     &L1Stats::local_load_hits},
    {{"l1_local_store_sectors", U::kSectors, "Sectors of local stores.",
      "l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum"},
     &L1Stats::local_store_sectors},
    {{"l1_local_store_hits", U::kSectors, "Sectors of local stores that were present.",
      "l1tex__t_sectors_pipe_lsu_mem_local_op_st_lookup_hit.sum"},
     &L1Stats::local_store_hits},
    {{"l1_atomic_sectors", U::kSectors, "Sectors of global atomics and reductions, sent on to L2."},
     &L1Stats::atomic_sectors},
    {{"l1_bypass_sectors", U::kSectors, "Sectors of loads that skip L1 by their scope or modifier."},
     &L1Stats::bypass_sectors},
    {{"l1_requests", U::kRequests, "Memory instructions taken in by the global and local path.",
      "l1tex__t_requests_pipe_lsu.sum"},
     &L1Stats::requests},
    {{"l1_shared_accesses", U::kRequests, "Instructions that accessed shared memory."},
     &L1Stats::shared_accesses},
    {{"l1_shared_passes", U::kEvents, "Passes through the shared-memory banks.",
      "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum"},
     &L1Stats::shared_passes},
    {{"l1_shared_bank_conflicts", U::kEvents, "Passes beyond those that the access width needs.",
      "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum", kService},
     &L1Stats::shared_bank_conflicts},
});
static_assert(DescribesAll(kL1Stats), "a counter of L1Stats has no row");

constexpr auto kNocStats = std::to_array<StatField<NocStats>>({
    {{"noc_request_packets", U::kRequests, "Packets from SMs to L2 slices."}, &NocStats::request_packets},
    {{"noc_request_bytes", U::kBytes, "Bytes from SMs to L2 slices: data, or 8 for a packet without."},
     &NocStats::request_bytes},
    {{"noc_reply_packets", U::kRequests, "Packets from L2 slices to SMs."}, &NocStats::reply_packets},
    {{"noc_reply_bytes", U::kBytes, "Bytes from L2 slices to SMs: data, or 8 for a packet without."},
     &NocStats::reply_bytes},
    {{"noc_request_wait_cycles", U::kCycles, "Cycles that requests waited for a port, summed over packets."},
     &NocStats::request_wait_cycles},
    {{"noc_reply_wait_cycles", U::kCycles, "Cycles that replies waited for a port, summed over packets."},
     &NocStats::reply_wait_cycles},
});
static_assert(DescribesAll(kNocStats), "a counter of NocStats has no row");

constexpr auto kL2Stats = std::to_array<StatField<L2Stats>>({
    {{"l2_read_sectors", U::kSectors, "Sectors read by SMs.", "lts__t_sectors_srcunit_tex_op_read.sum",
      kService},
     &L2Stats::read_sectors},
    {{"l2_read_hits", U::kSectors, "Sectors read by SMs that were present.",
      "lts__t_sectors_srcunit_tex_op_read_lookup_hit.sum", kService},
     &L2Stats::read_hits},
    {{"l2_write_sectors", U::kSectors, "Sectors written by SMs.", "lts__t_sectors_srcunit_tex_op_write.sum",
      kService},
     &L2Stats::write_sectors},
    {{"l2_write_hits", U::kSectors, "Sectors written by SMs that were present.",
      "lts__t_sectors_srcunit_tex_op_write_lookup_hit.sum"},
     &L2Stats::write_hits},
    {{"l2_atomic_sectors", U::kSectors, "Sectors of atomics and reductions."}, &L2Stats::atomic_sectors},
    {{"l2_mshr_hits", U::kSectors, "Sectors that joined a miss under way."}, &L2Stats::mshr_hits},
    {{"l2_evictions", U::kEvents, "Lines evicted."}, &L2Stats::evictions},
    {{"l2_writeback_sectors", U::kSectors, "Sectors written back to DRAM."}, &L2Stats::writeback_sectors},
    {{"l2_memcpy_fill_sectors", U::kSectors, "Sectors that copies from the host left in L2."},
     &L2Stats::memcpy_fill_sectors},
    {{"l2_fetch_sectors", U::kSectors, "Sectors read from DRAM because a request asked for them."},
     &L2Stats::fetch_sectors},
    {{"l2_prefetch_sectors", U::kSectors, "Sectors that a slice's prefetcher read from DRAM."},
     &L2Stats::prefetch_sectors},
    {{"l2_prefetch_hits", U::kSectors, "Prefetched sectors that were there when first asked for."},
     &L2Stats::prefetch_hits},
    {{"l2_prefetch_late", U::kSectors, "Prefetched sectors that were under way when first asked for."},
     &L2Stats::prefetch_late},
    {{"l2_prefetch_unused", U::kSectors, "Prefetched sectors evicted before anybody asked for them."},
     &L2Stats::prefetch_unused},
    {{"l2_prefetch_dropped", U::kEvents, "Lines not prefetched for want of an MSHR, a way or room in DRAM."},
     &L2Stats::prefetch_dropped},
    {{"l2_compressed_sectors", U::kSectors, "Sectors read from lines that are stored compressed."},
     &L2Stats::compressed_sectors},
    {{"l2_compression_saved_sectors", U::kSectors,
      "Sectors that DRAM would have moved without compression, and did not."},
     &L2Stats::compression_saved_sectors},
    {{"l2_compression_extra_sectors", U::kSectors,
      "Sectors that DRAM moved although nobody asked for them: compressed lines are read whole."},
     &L2Stats::compression_extra_sectors},
    {{"l2_queue_wait_cycles", U::kCycles,
      "Cycles that requests waited in the slice's queue, summed over requests."},
     &L2Stats::queue_wait_cycles},
});
static_assert(DescribesAll(kL2Stats), "a counter of L2Stats has no row");

constexpr auto kDramStats = std::to_array<StatField<DramStats>>({
    {{"dram_read_sectors", U::kSectors, "Sectors read.", "dram__sectors_read.sum", kService},
     &DramStats::read_sectors},
    {{"dram_write_sectors", U::kSectors, "Sectors written.", "dram__sectors_write.sum", kService},
     &DramStats::write_sectors},
    {{"dram_row_hits", U::kEvents, "Accesses to an open row."}, &DramStats::row_hits},
    {{"dram_row_misses", U::kEvents, "Accesses that had to open a row."}, &DramStats::row_misses},
    {{"dram_busy_cycles", U::kCycles,
      "Core cycles in which the channel's data bus was transferring, summed over channels."},
     &DramStats::busy_cycles},
    {{"dram_refreshes", U::kEvents, "Refresh commands."}, &DramStats::refreshes},
    {{"dram_queue_wait_cycles", U::kCycles,
      "Core cycles that requests waited for the channel, summed over requests."},
     &DramStats::queue_wait_cycles},
});
static_assert(DescribesAll(kDramStats), "a counter of DramStats has no row");

// Every table, in the order of SimStats' members.
template <class Visitor>
constexpr void ForEachTable(Visitor visit) {
  visit(kSmStats, &SimStats::sm);
  visit(kL1Stats, &SimStats::l1);
  visit(kNocStats, &SimStats::noc);
  visit(kL2Stats, &SimStats::l2);
  visit(kDramStats, &SimStats::dram);
}

constexpr size_t kNumStats =
    kSmStats.size() + kL1Stats.size() + kNocStats.size() + kL2Stats.size() + kDramStats.size();
static_assert(sizeof(SimStats) == kNumStats * sizeof(uint64_t), "SimStats has a part without a table");

constexpr auto CollectDefs() {
  std::array<StatDef, kNumStats> defs;
  size_t i = 0;
  ForEachTable([&](const auto& table, auto) {
    for (const auto& field : table) defs[i++] = field.def;
  });
  return defs;
}
constexpr std::array<StatDef, kNumStats> kAllDefs = CollectDefs();

constexpr size_t CountService() {
  size_t count = 0;
  for (const StatDef& def : kAllDefs) count += def.exported == StatExport::kService ? 1 : 0;
  return count;
}
// 18 warp states, which are one metric with a label, and a dozen others.
static_assert(CountService() <= 36, "statistics in the live stream and in Prometheus are few on purpose");

}  // namespace

void SimStats::Add(const SimStats& other) {
  ForEachTable([&](const auto& table, auto part) { Accumulate(table, other.*part, this->*part); });
}

std::vector<StatValue> SimStats::Values() const {
  std::vector<StatValue> values;
  values.reserve(kNumStats);
  ForEachTable([&](const auto& table, auto part) { AppendValues(table, this->*part, values); });
  // Definitions have one address each, whether met here or in AllStatDefs().
  for (size_t i = 0; i < values.size(); ++i) values[i].def = &kAllDefs[i];
  return values;
}

void AddStats(const SmStats& src, SmStats* dst) { Accumulate(kSmStats, src, *dst); }
void AddStats(const L1Stats& src, L1Stats* dst) { Accumulate(kL1Stats, src, *dst); }
void AddStats(const NocStats& src, NocStats* dst) { Accumulate(kNocStats, src, *dst); }
void AddStats(const L2Stats& src, L2Stats* dst) { Accumulate(kL2Stats, src, *dst); }
void AddStats(const DramStats& src, DramStats* dst) { Accumulate(kDramStats, src, *dst); }

std::span<const StatDef> AllStatDefs() { return kAllDefs; }

}  // namespace sm89
