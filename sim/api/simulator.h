// The only door into the simulator for programs: ingest or open a trace, create, advance, report.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "sim/api/machine_code.h"
#include "sim/config/config.h"
#include "sim/replay/emulation.h"
#include "sim/report/run_report.h"
#include "sim/stats/ser_record.h"
#include "sim/trace/trace_source.h"

namespace sm89 {

class Gpu;
class IssueObserver;

// Kernels to run, 1-based positions in the trace's order; empty = all. "1,3-5" -> {{1,1},{3,5}}.
struct KernelSelection {
  std::vector<std::pair<uint32_t, uint32_t>> ranges;
  bool Contains(uint32_t position) const;
};
// INVALID_ARGUMENT names the part that does not parse.
absl::StatusOr<KernelSelection> ParseKernelSelection(const std::string& text);

// Static instructions of all selected kernels x (host threads + 1) that a profile may have: about 0.2 KiB
// each.
inline constexpr uint64_t kMaxProfileRows = 2'000'000;

struct SimulatorOptions {
  Config config;
  std::string trace_path;               // a compact trace or a program package, told apart by their magic
  std::shared_ptr<TraceSource> source;  // instead of trace_path: executed instructions from anywhere
  std::shared_ptr<Emulation>
      emulation;  // instead of both: launches to execute; their outcomes get into the report
  EmulationOptions emulation_options;  // for a program package
  // Cubins and listings that give the kernels of a trace their encodings (machine_code.h).
  std::vector<MachineCodeFile> sass_files;
  KernelSelection kernels;
  uint64_t max_cycles = 0;  // 0 = no limit
  uint32_t threads = 1;     // host threads; the result does not depend on it
  bool profile = false;     // KernelReport::per_pc; bounded by kMaxProfileRows
  // Decisions of the reordering stage, by cycle and SM, in pieces; null: nobody asked. Asked for without the
  // stage being on, creation fails.
  std::function<void(std::span<const SerRecord>)> ser_sink;
  // Gets every instruction as it issues and may pause the simulation (sim/debug); null: nobody asked.
  IssueObserver* observer = nullptr;
};

// A snapshot while running.
struct SimProgress {
  bool done = false;
  uint32_t kernels_total = 0;
  uint32_t kernels_done = 0;
  uint32_t kernel_index = 0;  // place in the trace, from 0, of the oldest running kernel
  std::string kernel_name;
  uint64_t ctas_total = 0;  // of that kernel
  uint64_t ctas_done = 0;
  uint64_t cycle = 0;
  uint64_t warp_instructions = 0;  // issued so far, all kernels
  // In the selected kernels' traces; 0 = not known (a live source).
  uint64_t warp_instructions_total = 0;
  SimStats stats;  // cumulative so far, for interval statistics
};

// Where the warps of a kernel have waited so far, without what its machine code says.
struct KernelWaits {
  uint32_t kernel_index = 0;  // place in the trace, from 0
  std::string kernel_name;
  uint64_t instructions = 0;  // static ones; 0 = nothing is profiled, or no kernel has started
  PcCounters total;           // without `memory`
  std::vector<PcReport> top;  // most waited for first, then by program counter
};
// Warp-cycles in which no instruction of the warp was issued.
uint64_t WaitedCycles(const PcCounters& counters);

class Simulator {
 public:
  // Checks the configuration against every selected kernel first (occupancy limits, units): a kernel that
  // can never be placed is INVALID_ARGUMENT here, before a cycle is simulated.
  static absl::StatusOr<std::unique_ptr<Simulator>> Create(SimulatorOptions options);
  virtual ~Simulator() = default;

  // Simulates up to `cycles` more GPU cycles (idle time is skipped and counts), or to the end or a limit.
  // Bounded host work: about a millisecond a 64-cycle window at worst, so callers can poll cancellation.
  // With a live source a call ends early once it has executed about a million instructions, or one thread
  // block if that has more.
  // With an observer a call ends early where that pauses it.
  virtual absl::StatusOr<SimProgress> Advance(uint64_t cycles) = 0;
  // Ends the run where it is; Report() then says kCancelled.
  virtual void Cancel() = 0;
  virtual SimProgress Progress() const = 0;
  // Static instructions of the kernel that Progress names, and its profile up to now, `rows` of it. Changes
  // nothing. Reads all of the kernel's counters, a sizeof(PcCounters) an instruction and host thread.
  virtual uint64_t ProfiledInstructions() const = 0;
  virtual KernelWaits Waits(size_t rows) const = 0;
  // Complete after Advance said done; before that a report of the state so far.
  virtual RunReport Report() const = 0;
  // What it simulates with, for sim/debug: warps, queues, the trace's static tables; and what executes the
  // launches (null: a trace).
  virtual const Gpu& gpu() const = 0;
  virtual const Emulation* emulation() const = 0;
};

}  // namespace sm89
