// The whole GPU: kernels from the launch queue, CTAs to SMs, windows of SMs in parallel and beside them the
// memory side with what the window before sent, the watchdog. Time advances from window border to window
// border; idle time is skipped.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "sim/config/gpu_config.h"
#include "sim/gpu/launch_queue.h"
#include "sim/gpu/memory_side.h"
#include "sim/gpu/occupancy.h"
#include "sim/gpu/window_pool.h"
#include "sim/isa/barrier_use.h"
#include "sim/isa/decoded_inst.h"
#include "sim/report/run_report.h"
#include "sim/sm/sm.h"
#include "sim/stats/clock_reads.h"
#include "sim/stats/interval_sampler.h"
#include "sim/stats/pc_counters.h"
#include "sim/trace/trace_source.h"

namespace sm89 {

struct GpuOptions {
  GpuConfig config;
  std::shared_ptr<TraceSource> trace;
  std::vector<bool> selected;   // one flag a kernel of the trace
  bool unknown_as_nop = false;  // the trace was ingested with it
  uint64_t max_cycles = 0;      // 0 = no limit
  uint32_t threads = 1;
  bool profile = false;  // counters by instruction
  // Decisions of the reordering stage, by cycle and SM, a window's at a time; null: nobody asked.
  std::function<void(std::span<const SerRecord>)> ser_sink;
  // Gets every instruction as it issues and may pause the simulation behind any cycle. The SMs then advance
  // cycle by cycle on one host thread; the results stay what they are. Null: nobody asked.
  IssueObserver* observer = nullptr;
};

// One kernel that has been launched.
struct KernelRun {
  uint32_t trace_kernel = 0;
  Occupancy occupancy;
  KernelCode code;
  Cycle launch = 0;  // leaves the queue
  Cycle ready = 0;   // first CTA may start
  Cycle end = 0;
  uint64_t ctas_total = 0;
  uint64_t ctas_launched = 0;
  uint64_t ctas_done = 0;
  bool finished = false;
  bool offered = false;  // its CTAs have been offered to the SMs
  SimStats sm_stats;     // of the SMs, once finished
  ClockReads clock_reads;
  ControlSource control_source = ControlSource::kSynthesised;
  BarrierUse barriers;
  std::vector<uint32_t> guessed;           // static ids
  std::vector<uint64_t> guessed_executed;  // warp instructions of each, once finished
};

class Gpu {
 public:
  // Checks every selected kernel against the configuration before anything runs.
  static absl::StatusOr<std::unique_ptr<Gpu>> Create(GpuOptions options);

  // Runs windows until `cycles` have passed or the run ends. Errors: DATA_LOSS from the trace.
  // With an observer: until exactly so many have passed (but idle time, which is skipped as a whole) or the
  // observer pauses it; the next call goes on from there.
  absl::Status Advance(uint64_t cycles);
  bool done() const { return done_; }
  void Cancel();

  RunStatus status() const { return status_; }
  const std::string& status_detail() const { return status_detail_; }
  Cycle now() const { return window_open_ ? stepped_to_ : now_; }
  const std::vector<std::unique_ptr<KernelRun>>& runs() const { return runs_; }
  const MemorySide& memory() const { return memory_; }
  // Between calls of Advance memory() is as it will be at the begin of cycle memory_as_of(), at or behind
  // now(), but for what SMs sent from memory_has_until() on: that is handed over at the end of a window.
  Cycle memory_as_of() const { return std::max(memory_run_to_, now()); }
  Cycle memory_has_until() const { return now_; }
  const TraceSource& trace() const { return *options_.trace; }
  const std::vector<bool>& selected() const { return options_.selected; }
  uint32_t num_sms() const { return static_cast<uint32_t>(sms_.size()); }
  const Sm& sm(uint32_t index) const { return *sms_[index]; }
  uint64_t issued() const;
  uint32_t num_finished() const { return num_finished_; }
  // Launched and not finished, oldest first.
  const std::vector<uint32_t>& active() const { return active_; }
  // Sum over all kernels so far, host copies included; cost independent of the number of finished kernels.
  SimStats TotalsSoFar() const;
  // Statistics of launched kernel `run` up to now.
  SimStats StatsOf(uint32_t run) const;
  // Counters by static instruction up to now; empty without GpuOptions::profile.
  PcProfile ProfileOf(uint32_t run) const;
  // Executed warp instructions of guessed opcodes, by text.
  std::vector<std::pair<std::string, uint64_t>> GuessedOf(uint32_t run) const;
  // Copies from the host so far, in the order of the trace.
  const std::vector<HostCopyReport>& host_copies() const { return copies_; }
  // Counters by interval up to now; empty when the configuration asks for none.
  IntervalSamples SamplesSoFar() const;

 private:
  explicit Gpu(GpuOptions options);
  absl::Status CheckKernels();
  absl::Status CheckOpcodes(uint32_t trace_kernel) const;
  absl::Status CheckTensorModes(const DecodedKernel& decoded, const KernelInfo& info,
                                std::span<const StaticInst> code) const;
  absl::Status StartCommands();
  absl::Status StartKernel(uint32_t trace_kernel);
  absl::Status DispatchCtas();
  absl::StatusOr<bool> DispatchOne(uint32_t sm);
  absl::Status RunWindows(uint64_t cycles);
  // A window: which SMs have something to do in it, the SMs, and what they left.
  void OpenWindow(Cycle end);
  // False: paused inside it.
  bool RunSms(Cycle until);
  bool StepSms(Cycle until);
  void CloseWindow();
  // Next cycle in the open window at which an SM does anything.
  Cycle NextStep() const;
  void RunSm(uint32_t sm) { sms_[sm]->Run(now_, window_end_, &inboxes_[sm]); }
  // Work item of the pool: an SM, or with profiles a thread's share of the SMs.
  void RunItem(uint32_t item);
  void CollectFinished();
  void CollectClockSamples();
  void CollectSerRecords();
  void FinishKernel(uint32_t run);
  // What the SMs sent in the last window, and the memory side up to where that tells all: left to run beside
  // the SMs' next window.
  void RunMemory();
  void TakeReplies();
  // Both at once, if they are still to be done: for whoever looks at the memory side.
  void SettleMemory();
  // Next window border at which anything happens; kNever: nothing ever will.
  Cycle NextWindow();
  void CheckProgress();
  // Idle time is skipped up to `next`.
  void SkipTo(Cycle next);
  void Sample();
  std::vector<uint64_t> IssuedBySm() const;
  void End(RunStatus status, std::string detail);
  // stuck.cc: one line on what the warps wait for and how that may come, behind `what`; then every line of
  // kernels, warps and queues.
  std::string DescribeStuck(std::string what) const;
  std::string BarrierHint() const;

  GpuOptions options_;
  uint32_t window_ = 0;
  MemorySide memory_;
  std::vector<std::unique_ptr<Sm>> sms_;
  // By host thread and run, when profiles are asked for: a thread counts for the SMs that are its own then.
  std::vector<std::vector<std::unique_ptr<PcProfile>>> profiles_;
  LaunchQueue queue_;
  std::vector<uint32_t> shares_;  // 0..threads-1, with profiles
  std::unique_ptr<WindowPool> pool_;
  std::vector<std::vector<MemReply>> inboxes_;
  std::vector<std::vector<MemReply>> replies_;     // by SM, found while the SMs ran
  std::vector<std::vector<MemRequest>> outboxes_;  // by SM, of the last window
  std::vector<uint32_t> senders_;                  // SMs with something in outboxes_
  Cycle memory_horizon_ = 0;    // the memory side has still to run until here; 0: nothing to do
  Cycle memory_run_to_ = 0;     // it has run until here
  bool memory_beside_ = false;  // the SMs' next window needs nothing of it
  std::vector<std::unique_ptr<KernelRun>> runs_;
  std::vector<uint32_t> active_;   // runs not finished, by launch
  std::vector<bool> sm_may_host_;  // worth trying to place a CTA
  std::vector<Cycle> sm_last_finish_;
  std::vector<uint32_t> busy_sms_;
  std::vector<SerRecord> ser_records_;  // of this window
  Cycle now_ = 0;
  Cycle window_end_ = 0;
  bool window_open_ = false;
  Cycle stepped_to_ = 0;  // in the open window, with an observer
  Cycle last_progress_ = 0;
  uint64_t last_events_ = 0;  // instructions and replies
  std::vector<HostCopyReport> copies_;
  std::unique_ptr<IntervalSampler> sampler_;  // null: no samples are asked for
  SimStats finished_;                         // SM, L1 and network statistics of finished kernels
  uint32_t num_finished_ = 0;
  bool commands_pending_ = false;  // host copies are left for the next call
  // CTA dispatch at this cycle: the pass may go on in the next call.
  bool dispatch_pending_ = false;
  bool dispatch_placed_ = false;  // in this pass
  uint32_t dispatch_sm_ = 0;
  uint64_t launch_free_hundredths_ = 0;  // of a cycle: the next CTA may leave the distributor
  uint64_t executed_ = 0;                // instructions of CTAs that a live source executed in this call
  bool done_ = false;
  RunStatus status_ = RunStatus::kComplete;
  std::string status_detail_;
};

}  // namespace sm89
