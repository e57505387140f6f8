// A report with every kind of content, for the renderings' tests.
#pragma once

#include "sim/report/run_report.h"
#include "sim/stats/pc_profile.h"

namespace sm89 {

inline KernelReport SampleKernel(uint32_t index, std::string name) {
  KernelReport k;
  k.index = index;
  k.info.name = std::move(name);
  k.info.id = index + 1;
  k.info.stream_id = ~uint64_t{0};
  k.info.grid = {4, 2, 1};
  k.info.block = {256, 1, 1};
  k.start_cycle = index * 1000;
  k.end_cycle = index * 1000 + 900;
  k.cycles = 900;
  k.finished = true;
  k.ctas_launched = 8;
  k.ctas_per_sm = 6;
  k.occupancy_limiter = "threads";
  k.theoretical_occupancy = 1.0;
  k.control_bits = "synthesised";
  k.stats.sm.warp_instructions = 1800;
  k.stats.sm.thread_instructions = 57'600;
  k.stats.sm.active_cycles = 6400;
  k.stats.sm.issue_slots = 25'600;
  k.stats.sm.resident_warp_cycles = 153'600;
  k.stats.sm.stall_selected = 1800;
  k.stats.sm.stall_long_scoreboard = 76'800;
  k.stats.l1.global_load_sectors = 400;
  k.stats.l1.global_load_hits = 100;
  k.stats.l1.requests = 100;
  k.stats.l2.read_sectors = 300;
  k.stats.l2.read_hits = 150;
  k.stats.dram.read_sectors = 150;
  return k;
}

inline RunReport SampleReport() {
  RunReport run;
  run.product_version = "0.1.0";
  run.model_version = "0.1.0-test";
  run.trace_name = "sample";
  run.trace_digest = std::string(64, 'a');
  run.config_name = "RTX4090";
  run.config_digest = std::string(64, 'b');
  run.core_khz = 2'500'000;
  run.num_sms = 128;
  run.max_warps_per_sm = 48;
  run.kernels = {SampleKernel(0, "_Z3addPf"), SampleKernel(1, "void app::axpy<float, 4>(float *, \"x\")")};
  run.total_cycles = 1900;
  for (const KernelReport& k : run.kernels) run.totals.Add(k.stats);
  run.units.slices.resize(2);
  run.units.slices[1].read_sectors = 600;
  run.units.channels.resize(1);
  run.assumptions = {"DRAM refresh interval"};
  return run;
}

// Kernel 1 came from a cubin and reads clocks.
inline RunReport ClockedReport() {
  RunReport run = SampleReport();
  KernelReport& k = run.kernels[0];
  k.info.origin = KernelOrigin::kCubin;
  k.control_bits_present = true;
  k.clock_reads.warp_instructions = 6;
  k.clock_reads.pairs = {{0x20, 0x460, 2, 64, 10, 12, 15, 1}, {0x460, 0x20, 1, 32, 7, 8, 9000, 4}};
  k.clock_reads.dropped_warps = 1;
  k.clock_reads.dropped_threads = 32;
  return run;
}

// Made-up profile of kernel 2, whose sums are its statistics: one instruction issues, one waits for memory.
inline RunReport ProfiledReport() {
  RunReport run = SampleReport();
  KernelReport& k = run.kernels[1];
  PcReport load{.pc = 0x10, .opcode = "LDG.E.128", .source_line = 0, .counters = {}};
  load.counters.issued = 800;
  load.counters.threads = 25'600;
  load.counters.cycles[static_cast<size_t>(WarpState::kSelected)] = 800;
  load.counters.cycles[static_cast<size_t>(WarpState::kNotSelected)] = 75'000;
  PcReport add{.pc = 0x20, .opcode = "FADD", .source_line = 42, .counters = {}};
  add.counters.issued = 1000;
  add.counters.threads = 32'000;
  add.counters.cycles[static_cast<size_t>(WarpState::kSelected)] = 1000;
  add.counters.cycles[static_cast<size_t>(WarpState::kLongScoreboard)] = 76'800;
  k.per_pc = {load, add};
  k.stats.sm.stall_not_selected = 75'000;
  return run;
}

inline RunReport MarkedReport() {
  RunReport run = SampleReport();
  run.marks = {{"foreign_arch", "2 kernels of sm_70 were mapped to SM89.", 2},
               {"allow_partial", "Kernel 2 lacks 3 of 8 CTAs.", 3}};
  run.warnings = {{"lanes_after_exit", "kernel-2.traceg: 1 warp runs on after EXIT."}};
  run.kernels[1].info.complete = false;
  return run;
}

}  // namespace sm89
