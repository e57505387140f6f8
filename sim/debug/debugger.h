// A debugger of a simulation: commands that step it, stop it and show warps, queues and registers (DEBUG.md).
//
//   Debugger debugger({});
//   options.observer = debugger.observer();
//   debugger.Attach(Simulator::Create(options));
//   absl::StatusOr<std::string> text = debugger.Execute("break op BAR");
//
// The results of the simulation are those of one without a debugger. Not thread-safe.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "sim/api/simulator.h"
#include "sim/debug/history.h"
#include "sim/debug/stop_finder.h"
#include "sim/debug/words.h"
#include "sim/emu/emulator.h"

namespace sm89::debug {

struct DebuggerOptions {
  // Of the registers of a CTA behind each of its instructions, and of all such histories that are kept.
  uint64_t history_bytes = uint64_t{1} << 30;
  emu::EmuOptions emu;  // of the executions that registers are read from: those of the simulated one
  // True: what runs stops where it is. May be null.
  const std::atomic<bool>* interrupted = nullptr;
};

class Debugger {
 public:
  static constexpr size_t kMaxLineBytes = 4096;
  using Text = absl::StatusOr<std::string>;

  explicit Debugger(const DebuggerOptions& options) : options_(options), finder_(options.interrupted) {}
  Debugger(const Debugger&) = delete;
  Debugger& operator=(const Debugger&) = delete;

  IssueObserver* observer() { return &finder_; }
  void Attach(std::unique_ptr<Simulator> simulator);

  // Runs a command; what it has to say, whole lines. Errors: INVALID_ARGUMENT names the word and what was
  // expected; FAILED_PRECONDITION: the command makes no sense now; RESOURCE_EXHAUSTED: a bound; those of the
  // trace or of the executed code; CANCELLED: interrupted, the simulation can go on.
  absl::StatusOr<std::string> Execute(std::string_view line);

  // What is simulated, in a few lines.
  std::string Greeting() const;
  bool quit() const { return quit_; }
  bool done() const;  // the simulation has ended
  // Why the simulation cannot go on: OK unless the trace or the executed code failed.
  const absl::Status& failure() const { return failed_; }
  const Simulator& simulator() const { return *simulator_; }

 private:
  friend struct CommandTable;

  // Commands; each takes the words behind its name.
  Text Break(Words words);
  Text Tbreak(Words words);
  Text Watch(Words words);
  Text Delete(Words words);
  Text Stops(Words words);
  Text Continue(Words words);
  Text Cycles(Words words);
  Text Step(Words words);
  Text Kernels(Words words);
  Text Warps(Words words);
  Text ShowWarp(Words words);
  Text Registers(Words words);
  Text Predicates(Words words);
  Text Access(Words words);
  Text Banks(Words words);
  Text Queues(Words words);
  Text List(Words words);
  Text Buffers(Words words);
  Text Report(Words words);
  Text Help(Words words);
  Text Quit(Words words);

  // debugger_run.cc
  Text AddBreak(Words words, bool temporary);
  absl::StatusOr<Stop> WatchMemory(Words* words);
  absl::StatusOr<Stop> WatchRegister(Words* words);
  absl::Status NameWarp(const Place& place, RegisterWatch* watch) const;
  Text AddStop(Stop stop);
  uint64_t WatchBytes() const;  // of the changes that register watches know
  absl::Status CheckPlace(const Place& place) const;
  // Sets the address of a watch of global memory; a buffer's name is that of place.kernel, else of the
  // selected warp's kernel, else of the first one, and the watch is of that kernel only.
  absl::Status ResolveGlobal(const std::string& text, Stop* stop) const;
  uint32_t FirstKernel() const;  // that is simulated
  absl::Status CheckCanRun() const;
  // Advances until cycle `until`, a stop or the end.
  absl::Status RunTo(Cycle until);
  // What stopped the last run, and the selection that goes with it.
  std::string DescribeStop();
  std::string DescribeHits();
  std::string DescribeEnd() const;
  Cycle NextCycleBreak() const;

  // debugger_show.cc
  const Gpu& gpu() const { return simulator_->gpu(); }
  uint32_t KernelOf(uint32_t run) const;  // place in the trace, from 0
  const StaticInst& StaticOf(uint32_t run, uint32_t static_id) const;
  // "0x0070 LDG.E R2, [R2.64]".
  const std::string& CodeText(uint32_t run, uint32_t static_id);
  std::string IssueText(const KeptIssue& issue);
  std::string WarpText(const WarpId& id) const;  // "kernel 1 CTA (0,0,0) warp 3"
  std::string WarpLine(const WarpView& view, uint32_t sm) const;
  std::string DetailsText(const WarpView& view, const WarpId& id);
  absl::StatusOr<WarpId> Selected() const;
  absl::StatusOr<WarpView> ViewOfSelected() const;
  absl::StatusOr<WarpId> FindWarp(const Place& place) const;
  // An instruction of the selected warp with addresses.
  struct Looked {
    DynInst inst;                     // its shape: kept's or the cursor's
    const KeptIssue* kept = nullptr;  // null: the next instruction
    const SmInst* code = nullptr;
    const KernelCode* kernel_code = nullptr;
  };
  absl::StatusOr<Looked> LookAt(Words* words, std::string_view command) const;
  std::string LookedText(const Looked& looked);
  std::string MemoryCycleText() const;
  // The last words of a command: a kernel (of all in the trace), or none.
  absl::StatusOr<std::optional<uint32_t>> TakeKernel(Words* words, const std::string& command) const;

  // debugger_values.cc
  absl::StatusOr<const CtaHistory*> HistoryOf(uint32_t kernel, const Dim3& cta);
  // Of the selected warp: instructions that it has issued, those of an ended one included.
  absl::StatusOr<uint64_t> InstructionsOf(const WarpId& id, const CtaHistory& history) const;
  std::string ChangeText(const RegisterWatch& watch, uint64_t number);

  const DebuggerOptions options_;
  std::unique_ptr<Simulator> simulator_;
  StopFinder finder_;
  std::unique_ptr<Histories> histories_;  // null: a trace
  std::optional<WarpId> selected_;
  uint32_t next_stop_ = 1;
  Cycle run_from_ = 0;   // where the last run began
  absl::Status failed_;  // of the simulation
  bool quit_ = false;
  std::vector<std::vector<std::string>> texts_;  // by kernel and static id
};

}  // namespace sm89::debug
