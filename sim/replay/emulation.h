// A program's launches as a trace source: each CTA is executed when the timing model asks for it.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "sim/cubin/module.h"
#include "sim/emu/emulator.h"
#include "sim/launch/launch.h"
#include "sim/launch/outputs.h"
#include "sim/replay/program.h"
#include "sim/trace/live_source.h"

namespace sm89 {

// The modules and launches of a program, parsed and checked against each other.
struct LoadedProgram {
  std::vector<std::shared_ptr<const cubin::Module>> modules;  // one a launch; launches may share
  std::vector<launch::LaunchSpec> launches;                   // the selected ones, in order
};

// Everything that can be said without running: cubins, launches, kernels, arguments, bounds.
absl::StatusOr<LoadedProgram> LoadProgram(const Program& program);

// What a launch left behind.
struct LaunchOutcome {
  launch::LaunchResult result;  // empty outputs until the launch has ended
  bool finished = false;
  uint64_t warp_instructions = 0;  // executed so far
  // Of the memory checker, one sentence each, bounded; known when the launch has ended or failed.
  std::vector<std::string> findings;
  uint64_t num_findings = 0;  // with those that were not kept
};

struct EmulationOptions {
  emu::EmuOptions emu;
  RecorderLimits recorder;
  std::string keep_trace;  // path of a compact trace of what was executed; empty = none
  // Polled many times a CTA: true ends the execution with CANCELLED. May be null.
  const std::atomic<bool>* cancel = nullptr;
};

class Emulation {
 public:
  // Compiles every launch, so that whatever cannot run is said before anything runs.
  static absl::StatusOr<std::unique_ptr<Emulation>> Create(const Program& program,
                                                           const EmulationOptions& options);
  virtual ~Emulation() = default;

  // Ends a launch with RESOURCE_EXHAUSTED when a CTA executes more warp instructions. Before source() is
  // asked for a CTA.
  virtual void BoundCtas(uint64_t warp_instructions) = 0;
  virtual std::shared_ptr<LiveSource> source() const = 0;
  // One module a launch, and which of its kernels.
  virtual const LoadedProgram& program() const = 0;
  // One a launch, in order. Not while source() is asked for a CTA.
  virtual const std::vector<LaunchOutcome>& outcomes() const = 0;
};

}  // namespace sm89
