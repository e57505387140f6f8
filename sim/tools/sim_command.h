// sm89-sim without its main: reads the command line, runs one simulation, writes the results.
#pragma once

#include <atomic>
#include <iosfwd>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "sim/report/run_report.h"
#include "sim/tools/sim_options.h"

namespace sm89 {

// The world as the command sees it.
struct SimCommandIo {
  std::ostream& out;
  std::ostream& err;
  bool err_is_terminal = false;
  const std::atomic<bool>* interrupted = nullptr;  // may be null
  const std::atomic<bool>* insisted = nullptr;     // a second time; may be null
  std::istream* in = nullptr;                      // may be null: nothing to read
  bool in_is_terminal = false;
};

// Runs the whole command; the value is the exit code (exit_codes.h).
int SimMain(const std::vector<std::string>& args, const SimCommandIo& io);

// The part after the command line.
int RunSimCommand(const SimCommandOptions& options, const SimCommandIo& io);

int ExitCodeOfRun(const RunReport& report);

// One simulation without outputs: the JSON report, of an ended or interrupted run.
absl::StatusOr<std::string> SimulateForReport(const SimCommandOptions& options, const SimCommandIo& io);

// Accel-Sim text with the lines that name wall-clock time, before its closing lines.
std::string WithHostTime(std::string text, uint64_t thread_instructions, uint64_t cycles, double seconds);

}  // namespace sm89
