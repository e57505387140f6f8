// The command line of sm89-sim.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "sim/calibrate/search.h"
#include "sim/tools/sim_input.h"

namespace sm89 {

struct SimCommandOptions : SimInput {
  std::string keep_trace;  // with `program`: compact trace of what was executed; empty = none
  uint32_t threads = 1;
  // Where to write; "-" is standard output, empty is nowhere.
  std::string json, csv, text, pc_csv, pc_json, kineto;
  std::string ser_trace;  // decisions of the reordering stage; empty is nowhere
  // baseline_record: this run goes into the file, too. baseline_check: the runs of the file, nothing else.
  std::string baseline_record, baseline_check;
  std::optional<double> baseline_band_percent;
  bool baseline_allow_changes = false;
  // calibrate_measured: a profiler's CSV that this run is compared with; no other results then.
  std::string calibrate_measured, calibrate_output;
  std::vector<std::string> calibrate_parameters;
  calibrate::SearchOptions calibrate_search;
  bool profile = false;    // count by instruction; implied by pc_csv and pc_json
  bool host_time = false;  // add wall-clock lines to `text`
  bool progress = false;
  // Instead of a run: kNothing, the resolved configuration, or the tensor modes as it times them.
  enum class Show : uint8_t { kNothing, kConfig, kTensor } show = Show::kNothing;
};

struct ParsedCommandLine {
  // Set when there is nothing to run: --help, --version (0) or a mistake (2). The text has been printed.
  std::optional<int> exit_code;
  SimCommandOptions options;
};

// `args` without the program's name. Help goes to `out`, mistakes to `err`.
ParsedCommandLine ParseSimCommandLine(const std::vector<std::string>& args, std::ostream& out,
                                      std::ostream& err);

}  // namespace sm89
