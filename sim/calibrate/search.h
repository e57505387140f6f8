// Sensitivities measured by simulating, the change that they suggest, and the search that repeats it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "sim/calibrate/match.h"
#include "sim/calibrate/measured.h"
#include "sim/calibrate/parameter.h"
#include "sim/calibrate/simulated.h"

namespace sm89::calibrate {

// name, value: on top of the configuration that is calibrated.
using Settings = std::vector<std::pair<std::string, std::string>>;

// Where simulations come from: jobs of a daemon, the simulator in this process, a test's formula.
class Oracle {
 public:
  virtual ~Oracle() = default;
  // One answer for each of `candidates`, in order; they may run at the same time. An error of one candidate
  // (a configuration that is refused, a simulation that fails) is in its place; an error of all ends the
  // calibration.
  virtual absl::StatusOr<std::vector<absl::StatusOr<Simulated>>> Simulate(
      const std::vector<Settings>& candidates) = 0;
};

inline constexpr double kTolerancePercent = 5;
inline constexpr uint32_t kIterationsMax = 20;
inline constexpr uint32_t kSimulationsMax = 1000;

struct SearchOptions {
  double tolerance_percent = kTolerancePercent;
  bool iterate = false;  // else: sensitivities and a suggestion only
  uint32_t iterations_max = kIterationsMax;
  uint32_t simulations_max = kSimulationsMax;
  // What is made to fit, by Nsight Compute's names; empty = cycles, where nobody measured them durations.
  std::vector<std::string> targets;
  std::vector<std::string> hold_out;  // names of kernels that do not take part in the fit
};

// How far the target metrics of a group of kernels are off.
struct Fit {
  size_t values = 0;
  double worst_percent = 0;  // largest |error|
  double rms_percent = 0;
};

// What one step of one parameter did.
struct Sensitivity {
  size_t parameter = 0;  // place in the list of parameters
  int64_t step = 0;
  double mean_change_percent = 0;  // of the target metrics' errors, on average over kernels, by that step
  // The best value by a line through both simulations, inside the bounds; the present one when it has no
  // effect.
  int64_t suggested = 0;
  double predicted_rms_percent = 0;
};

struct HistoryEntry {
  size_t parameter = 0;
  int64_t from = 0, to = 0;
  Fit fit, held_out;  // after the change
};

struct Excluded {
  std::string parameter;
  std::string why;
};

struct SearchResult {
  std::vector<std::string> targets;
  Matching matching;
  std::set<size_t> held_out_pairs;
  Simulated start, final;
  Fit start_fit, start_held_out, final_fit, final_held_out;
  std::vector<Sensitivity> sensitivities;  // at the start, the best suggestion first
  std::vector<HistoryEntry> history;
  std::vector<int64_t> values;  // of the parameters, at the end
  std::vector<Excluded> excluded;
  std::string stopped;  // why the search ended
  uint32_t simulations = 0;
};

// `start`: the simulation of the configuration as it is. INVALID_ARGUMENT when no kernel of both sides has
// the target metrics, or a held-out name fits none; NOT_FOUND for a target that nobody measured.
absl::StatusOr<SearchResult> Search(const Measured& measured, const Simulated& start,
                                    std::span<const Parameter> parameters, const SearchOptions& options,
                                    Oracle* oracle);

}  // namespace sm89::calibrate
