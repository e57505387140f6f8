// The statistics of the simulator, by unit. Each struct has its table; adding a counter is one member and
// one row.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/stats/stat.h"

namespace sm89 {

// One SM (summed over SMs and kernels by Accumulate).
struct SmStats {
  uint64_t warp_instructions = 0;
  uint64_t thread_instructions = 0;
  uint64_t masked_off_instructions = 0;
  uint64_t active_cycles = 0;
  uint64_t issue_slots = 0;
  uint64_t resident_warp_cycles = 0;
  uint64_t ctas_completed = 0;
  uint64_t warps_completed = 0;
  // Warp-cycles by state, Nsight Compute's categories in the order of WarpState (pc_profile.h); their sum is
  // resident_warp_cycles.
  uint64_t stall_selected = 0;
  uint64_t stall_not_selected = 0;
  uint64_t stall_long_scoreboard = 0;
  uint64_t stall_short_scoreboard = 0;
  uint64_t stall_wait = 0;
  uint64_t stall_math_pipe_throttle = 0;
  uint64_t stall_mio_throttle = 0;
  uint64_t stall_lg_throttle = 0;
  uint64_t stall_tex_throttle = 0;
  uint64_t stall_imc_miss = 0;
  uint64_t stall_barrier = 0;
  uint64_t stall_membar = 0;
  uint64_t stall_no_instruction = 0;
  uint64_t stall_dispatch = 0;
  uint64_t stall_branch_resolving = 0;
  uint64_t stall_sleeping = 0;
  uint64_t stall_drain = 0;
  uint64_t stall_misc = 0;
  // Issue slots: with warp_instructions less ser_merges these two add up to issue_slots.
  uint64_t issue_slots_stalled = 0;
  uint64_t issue_slots_empty = 0;
  // Instructions by unit.
  uint64_t inst_fp32 = 0;
  uint64_t inst_int = 0;
  uint64_t inst_half = 0;
  uint64_t inst_fp64 = 0;
  uint64_t inst_sfu = 0;
  uint64_t inst_tensor = 0;
  uint64_t inst_uniform = 0;
  uint64_t inst_branch = 0;
  uint64_t inst_misc = 0;
  uint64_t inst_barrier = 0;
  uint64_t inst_texture = 0;
  uint64_t inst_mem_global = 0;
  uint64_t inst_mem_local = 0;
  uint64_t inst_mem_shared = 0;
  uint64_t inst_mem_constant = 0;
  uint64_t inst_mem_other = 0;
  uint64_t tensor_busy_cycles = 0;
  uint64_t tensor_ops = 0;
  // Register file.
  uint64_t register_reads = 0;
  uint64_t register_reuse_hits = 0;
  uint64_t register_port_stall_cycles = 0;
  // Instruction and constant caches, address translation.
  uint64_t icache_l0_accesses = 0;
  uint64_t icache_l0_misses = 0;
  uint64_t icache_prefetch_hits = 0;
  uint64_t icache_l1_misses = 0;
  uint64_t constant_accesses = 0;
  uint64_t constant_l0_misses = 0;
  uint64_t constant_l1_misses = 0;
  uint64_t tlb_accesses = 0;
  uint64_t tlb_misses = 0;
  // Reordering stage.
  uint64_t ser_invocations = 0;
  uint64_t ser_merges = 0;
  uint64_t ser_redirects = 0;
  uint64_t ser_moved_threads = 0;
};

// L1 data cache and shared memory of one SM.
struct L1Stats {
  uint64_t global_load_sectors = 0;
  uint64_t global_load_hits = 0;
  uint64_t global_load_mshr_hits = 0;
  uint64_t global_store_sectors = 0;
  uint64_t global_store_hits = 0;
  uint64_t local_load_sectors = 0;
  uint64_t local_load_hits = 0;
  uint64_t local_store_sectors = 0;
  uint64_t local_store_hits = 0;
  uint64_t atomic_sectors = 0;
  uint64_t bypass_sectors = 0;
  uint64_t requests = 0;
  uint64_t shared_accesses = 0;
  uint64_t shared_passes = 0;
  uint64_t shared_bank_conflicts = 0;
};

// One L2 slice.
struct L2Stats {
  uint64_t read_sectors = 0;
  uint64_t read_hits = 0;
  uint64_t write_sectors = 0;
  uint64_t write_hits = 0;
  uint64_t atomic_sectors = 0;
  uint64_t mshr_hits = 0;
  uint64_t evictions = 0;
  uint64_t writeback_sectors = 0;
  uint64_t memcpy_fill_sectors = 0;
  uint64_t fetch_sectors = 0;
  uint64_t prefetch_sectors = 0;
  uint64_t prefetch_hits = 0;
  uint64_t prefetch_late = 0;
  uint64_t prefetch_unused = 0;
  uint64_t prefetch_dropped = 0;
  uint64_t compressed_sectors = 0;
  uint64_t compression_saved_sectors = 0;
  uint64_t compression_extra_sectors = 0;
  uint64_t queue_wait_cycles = 0;
};

// One DRAM channel.
struct DramStats {
  uint64_t read_sectors = 0;
  uint64_t write_sectors = 0;
  uint64_t row_hits = 0;
  uint64_t row_misses = 0;
  uint64_t busy_cycles = 0;
  uint64_t refreshes = 0;
  uint64_t queue_wait_cycles = 0;
};

struct NocStats {
  uint64_t request_packets = 0;
  uint64_t request_bytes = 0;
  uint64_t reply_packets = 0;
  uint64_t reply_bytes = 0;
  uint64_t request_wait_cycles = 0;
  uint64_t reply_wait_cycles = 0;
};

// All of one kernel, summed over units.
struct SimStats {
  SmStats sm;
  L1Stats l1;
  NocStats noc;
  L2Stats l2;
  DramStats dram;

  void Add(const SimStats& other);
  // Every statistic in table order: sm, l1, noc, l2, dram.
  std::vector<StatValue> Values() const;
};

// dst += src by each counter's merge rule.
void AddStats(const SmStats& src, SmStats* dst);
void AddStats(const L1Stats& src, L1Stats* dst);
void AddStats(const NocStats& src, NocStats* dst);
void AddStats(const L2Stats& src, L2Stats* dst);
void AddStats(const DramStats& src, DramStats* dst);

// Definitions of everything Values() gives, in the same order.
std::span<const StatDef> AllStatDefs();

}  // namespace sm89
