// The immutable result of a run and its renderings. Everything shown anywhere is derived from this value,
// so stand-alone program and daemon give the same bytes.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/base/types.h"
#include "sim/stats/clock_reads.h"
#include "sim/stats/interval_sampler.h"
#include "sim/stats/pc_counters.h"
#include "sim/stats/sim_stats.h"
#include "sim/stats/slice_load.h"
#include "sim/trace/trace_types.h"

namespace sm89 {

enum class RunStatus : uint8_t {
  kComplete,
  kCycleLimit,  // --max-cycles reached: statistics so far
  kCancelled,
  kDeadlock,  // watchdog: nothing moved
  kRunning,   // asked for before the end: statistics so far
};
std::string_view Name(RunStatus status);

// What executing a launch (of a cubin) gave beside its timing.
struct EmulatedLaunch {
  std::string case_id;
  bool executed = false;                                     // to its end; without it there are no outputs
  std::vector<std::pair<std::string, std::string>> outputs;  // buffer, JSON object of its summary
  std::vector<std::string> findings;                         // of the memory checker, the first ones
  uint64_t num_findings = 0;
};

// What the machine code says of an instruction; empty where there is none.
struct PcNote {
  std::string sass;             // as the vendor's disassembler prints it
  uint32_t file = 0;            // place in KernelReport::source_files, from 1; 0 = not known
  std::string ptx;              // PTX of the line it was assembled from; several instructions by "; "
  int32_t live_registers = -1;  // general ones, as sm89-cubin dis counts them; -1 = not known
};

// One static instruction of a kernel that was profiled.
struct PcReport {
  uint32_t pc = 0;           // bytes from the kernel's start
  std::string opcode;        // with its modifiers: "LDG.E.128"
  uint32_t source_line = 0;  // 0 = not known
  PcCounters counters;
  PcNote note = {};
};

// The rows of a kernel: `profile` by static id of `code`, in the order of program counters. Instructions that
// the profile does not reach (none was issued) have zeros.
std::vector<PcReport> PcReports(std::span<const StaticInst> code, const PcProfile& profile);

struct KernelReport {
  KernelInfo info;
  uint32_t index = 0;        // position among the kernels simulated
  uint64_t start_cycle = 0;  // run time of the first CTA's launch
  uint64_t end_cycle = 0;
  uint64_t cycles = 0;  // launch to last CTA's end, launch latency included
  bool finished = false;
  uint64_t ctas_launched = 0;
  uint32_t ctas_per_sm = 0;           // occupancy limit
  std::string occupancy_limiter;      // "registers", "shared memory", "threads", "CTAs", "warps"
  double theoretical_occupancy = 0;   // warps resident at the limit / warps an SM has
  std::string control_bits;           // "machine code", "machine code of FILE", "synthesised"
  bool control_bits_present = false;  // the input is machine code; `control_bits` says what the model used
  SimStats stats;
  SliceLoad slice_load;
  ClockReadSummary clock_reads;
  std::optional<EmulatedLaunch> launch;
  std::vector<std::pair<std::string, uint64_t>> guessed_opcodes;  // text, executed warp instructions
  std::vector<PcReport> per_pc;           // by program counter; empty unless the run was profiled
  std::vector<std::string> source_files;  // that per_pc's notes name
};

// A copy from the host that was carried out.
struct HostCopyReport {
  uint64_t cycle = 0;  // it takes none
  uint64_t address = 0;
  uint64_t bytes = 0;
  uint32_t kernels_before = 0;  // of the trace, in its order
};

// What the configuration says of an SM.
struct SmReport {
  uint32_t registers = 0;                // 32 bits each
  uint64_t shared_memory_bytes = 0;      // the largest carve-out
  uint64_t cta_shared_memory_bytes = 0;  // of these, the most that one CTA may have
};

// A file of machine code whose encodings a trace's kernels got.
struct CodeFileReport {
  std::string file;    // without its folder
  std::string digest;  // SHA-256, lower-case hex
};

struct UnitReport {  // per slice / per channel figures
  std::vector<L2Stats> slices;
  std::vector<DramStats> channels;
};

struct RunReport {
  std::string product_version;
  std::string model_version;
  std::string trace_name;
  std::string trace_digest;
  std::vector<CodeFileReport> machine_code;  // given beside the trace, in order
  std::string config_name;
  std::string config_digest;
  uint32_t core_khz = 0;
  uint32_t num_sms = 0;
  uint32_t max_warps_per_sm = 0;
  SmReport sm;
  RunStatus status = RunStatus::kComplete;
  std::string status_detail;  // why it ended early; the watchdog's dump
  uint64_t total_cycles = 0;
  std::vector<KernelReport> kernels;
  SimStats totals;
  UnitReport units;
  std::vector<TraceMark> marks;  // partial, guessed, foreign: shown in every rendering
  std::vector<TraceWarning> warnings;
  std::vector<std::string> assumptions;  // hardware behaviour that the model assumes
  uint32_t trace_kernels = 0;  // in the trace; 0 = not told. More than `kernels` holds after --kernels
  std::vector<HostCopyReport> host_copies;
  uint64_t memcpy_h2d_count = 0, memcpy_h2d_bytes = 0, memcpy_d2h_count = 0, ignored_commands = 0;
  IntervalSamples intervals;  // empty unless the configuration asks for them
};

// True when every selected kernel ran to its end on a trace that is whole: no limit, no cancellation, no
// missing CTA. Guesses that the user asked for (foreign architecture, unknown opcodes as NOP) do not change
// this; they are marks.
bool IsComplete(const RunReport& report);

// Derived figures have one definition too.
struct DerivedDef {
  std::string name;  // "ipc", "l1_hit_rate", ...
  std::string unit;
  std::string help;
  std::string ncu_metric;
};
struct DerivedValue {
  const DerivedDef* def = nullptr;
  bool defined = false;  // false: denominator 0 (shown as null, "-" or an empty field, never as 0 or NaN)
  double value = 0;
};
// Every definition, in the order of Derive's result.
std::span<const DerivedDef> AllDerivedDefs();
// `cycles` of the kernel or run the statistics belong to.
std::vector<DerivedValue> Derive(const SimStats& stats, uint64_t cycles, const RunReport& run);

// Deterministic bytes: keys in fixed order, integers exact, doubles as the shortest text that reads back to
// the same double; invalid UTF-8 becomes U+FFFD.
std::string ReportToJson(const RunReport& report);
// One row a kernel plus a total row; RFC 4180 quoting and line ends; first line the column names. Warp-cycles
// by state are stall_selected, stall_long_sb and so on; other statistics have their own names. The last
// columns repeat status and marks on every row.
std::string ReportToCsv(const RunReport& report);
// The profile: one row a static instruction of each kernel, warp-cycles by state in the columns that
// ReportToCsv has for them. Given to `write` in pieces of about 64 KiB; ends early when it says false.
void WriteProfileCsv(const RunReport& report, const std::function<bool(std::string_view)>& write);
// The profile with what the machine code says beside it, "sm89-profile/1": a row an instruction, totals by
// source line, totals of the kernel. Columns are named once.
std::string ProfileToJson(const RunReport& report);
// The names that Accel-Sim's scrapers look for, one block a kernel in the order in which they ended. As
// there, gpu_sim_*, gpu_ipc, gpu_occupancy and L2_BW belong to the kernel and everything else is cumulative
// over the blocks so far. A figure that the model does not compute is absent, never 0. Its L2 lines put every
// read (write) of the SMs under GLOBAL_ACC_R (_W). "GPGPU-Sim: *** exit detected ***", the scrapers' mark of
// success, ends the text of a complete run only.
std::string ReportToAccelSimText(const RunReport& report);
// A table for people, at most 110 columns.
std::string ReportToTable(const RunReport& report);

}  // namespace sm89
