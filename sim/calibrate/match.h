// Which measured launch stands against which simulated one, and how far apart they are.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "sim/calibrate/measured.h"
#include "sim/calibrate/simulated.h"

namespace sm89::calibrate {

struct Pair {
  size_t measured = 0;
  std::vector<size_t>
      simulated;  // one; all launches of a kernel where the measured one is a mean over launches
};

struct Matching {
  std::vector<Pair> pairs;  // in the order of the simulation
  std::vector<size_t> unpaired_measured, unpaired_simulated;
  std::vector<std::string> notes;
};

// Pairs by canonical name, grid and block, then by occurrence, never by position. Where one side has no
// parameters in its names, the names without template arguments and parameters decide; a summary without grid
// and block pairs with all launches of its name.
Matching Match(const std::vector<MeasuredKernel>& measured, const std::vector<SimulatedKernel>& simulated);

// Percentages are compared by their difference in points, amounts by their ratio.
bool IsPercentage(std::string_view metric);

// A metric of a pair on both sides.
struct Comparison {
  size_t pair = 0;
  std::string metric;
  double measured = 0;
  double simulated = 0;
  // (simulated - measured) / measured in %, or points. Nothing when the measured amount is 0 and the other is
  // not.
  std::optional<double> error_percent;
};

// The mean over a pair's launches; nothing when one lacks the metric.
std::optional<double> SimulatedValue(const Pair& pair, const std::vector<SimulatedKernel>& simulated,
                                     const std::string& metric);
std::optional<double> ErrorPercent(std::string_view metric, double measured, double simulated);

// Every metric that both sides of a pair have; pairs in order, metrics by name.
std::vector<Comparison> Compare(const Matching& matching, const Measured& measured,
                                const Simulated& simulated);

}  // namespace sm89::calibrate
