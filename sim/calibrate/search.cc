#include "sim/calibrate/search.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "sim/base/assert.h"
#include "sim/base/status_macros.h"
#include "sim/calibrate/kernel_name.h"

namespace sm89::calibrate {
namespace {

// A step of a tenth is large enough to show over the rounding of single cycles.
constexpr double kStepFraction = 0.1;
// Suggestions that are tried in one iteration, each whole and half.
constexpr size_t kTried = 3;
// An improvement of less than a thousandth is none.
constexpr double kWorthwhile = 1e-3;

using Point = std::vector<int64_t>;  // values of the parameters

// Errors of the target metrics in %, in the order of pairs and targets.
struct Errors {
  std::vector<double> fit, held_out;
};

Fit FitOf(const std::vector<double>& errors) {
  Fit fit{.values = errors.size()};
  double squares = 0;
  for (const double e : errors) {
    fit.worst_percent = std::max(fit.worst_percent, std::abs(e));
    squares += e * e;
  }
  if (!errors.empty()) fit.rms_percent = std::sqrt(squares / static_cast<double>(errors.size()));
  return fit;
}

// What stays the same over all simulations of a search.
struct Problem {
  const Measured& measured;
  Matching matching;
  std::vector<std::string> targets;
  std::set<size_t> held_out;  // places in matching.pairs
};

bool HasTarget(const Measured& measured, const Matching& matching, const Simulated& simulated,
               const std::string& metric) {
  return std::any_of(matching.pairs.begin(), matching.pairs.end(), [&](const Pair& pair) {
    return measured.kernels[pair.measured].metrics.contains(metric) &&
           SimulatedValue(pair, simulated.kernels, metric).has_value();
  });
}

absl::StatusOr<std::vector<std::string>> ChooseTargets(const Measured& measured, const Matching& matching,
                                                       const Simulated& start,
                                                       std::vector<std::string> wanted) {
  for (const std::string& metric : wanted) {
    if (HasTarget(measured, matching, start, metric)) continue;
    return absl::NotFoundError(absl::StrCat("no paired kernel has ", metric, " on both sides"));
  }
  if (!wanted.empty()) return wanted;
  for (const char* metric : {kCyclesMetric, kDurationMetric}) {
    if (HasTarget(measured, matching, start, metric)) return std::vector<std::string>{metric};
  }
  return absl::InvalidArgumentError(absl::StrCat(measured.file, ": no paired kernel was measured by ",
                                                 kCyclesMetric, " or ", kDurationMetric,
                                                 "; name other metrics to fit"));
}

bool IsNamed(const std::string& kernel, const std::string& name) {
  const std::string canonical = CanonicalName(kernel);
  return kernel == name || canonical == CanonicalName(name) || BaseName(canonical) == name;
}

absl::StatusOr<std::set<size_t>> ChooseHeldOut(const Matching& matching, const Simulated& start,
                                               const std::vector<std::string>& names) {
  std::set<size_t> held_out;
  for (const std::string& name : names) {
    const size_t before = held_out.size();
    for (size_t p = 0; p < matching.pairs.size(); ++p) {
      if (IsNamed(start.kernels[matching.pairs[p].simulated.front()].name, name)) held_out.insert(p);
    }
    if (held_out.size() == before)
      return absl::InvalidArgumentError(
          absl::StrCat("no paired kernel is called ", name, ", which is to be held out"));
  }
  if (held_out.size() == matching.pairs.size())
    return absl::InvalidArgumentError("every paired kernel is held out: there is nothing to fit");
  return held_out;
}

absl::StatusOr<Problem> Pose(const Measured& measured, const Simulated& start, const SearchOptions& options) {
  Problem problem{.measured = measured, .matching = Match(measured.kernels, start.kernels)};
  if (problem.matching.pairs.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat(measured.file, ": none of its ", measured.kernels.size(),
                     " launches has the name, grid and block of a simulated one; measured ",
                     measured.kernels.front().name, ", simulated ", start.kernels.front().name));
  }
  ASSIGN_OR_RETURN(problem.targets, ChooseTargets(measured, problem.matching, start, options.targets));
  ASSIGN_OR_RETURN(problem.held_out, ChooseHeldOut(problem.matching, start, options.hold_out));
  return problem;
}

absl::StatusOr<Errors> ErrorsOf(const Problem& problem, const Simulated& simulated) {
  Errors errors;
  for (size_t p = 0; p < problem.matching.pairs.size(); ++p) {
    const Pair& pair = problem.matching.pairs[p];
    if (pair.simulated.back() >= simulated.kernels.size())
      return absl::InternalError("a simulation with another configuration has other kernels");
    const auto& metrics = problem.measured.kernels[pair.measured].metrics;
    for (const std::string& target : problem.targets) {
      const auto value = metrics.find(target);
      // An amount of 0 has no relative error.
      if (value == metrics.end() || (value->second == 0 && !IsPercentage(target))) continue;
      const std::optional<double> now = SimulatedValue(pair, simulated.kernels, target);
      const std::optional<double> error =
          now.has_value() ? ErrorPercent(target, value->second, *now) : std::nullopt;
      if (!error.has_value()) continue;
      (problem.held_out.contains(p) ? errors.held_out : errors.fit).push_back(*error);
    }
  }
  if (errors.fit.empty())
    return absl::InvalidArgumentError("no kernel that takes part in the fit has a value to be fitted");
  return errors;
}

// One candidate's outcome.
struct Outcome {
  absl::Status status;
  std::shared_ptr<const Simulated> simulated;
  Errors errors;
};

// Simulations by point, none twice, no more than allowed.
class Evaluator {
 public:
  Evaluator(const Problem& problem, std::span<const Parameter> parameters, uint32_t most, Oracle* oracle)
      : problem_(problem), parameters_(parameters), most_(most), oracle_(oracle) {}

  // The start: how many errors every other point must have.
  void Know(const Point& point, Outcome outcome) {
    values_ = outcome.errors.fit.size();
    known_[point] = std::move(outcome);
  }

  // False: the new ones among `points` would be more than are left.
  bool Affords(const std::vector<Point>& points) const { return used_ + New(points).size() <= most_; }

  absl::Status Evaluate(const std::vector<Point>& points) {
    const std::vector<Point> fresh = New(points);
    if (fresh.empty()) return absl::OkStatus();
    std::vector<Settings> candidates;
    for (const Point& point : fresh) candidates.push_back(SettingsFor(parameters_, point));
    used_ += static_cast<uint32_t>(fresh.size());
    ASSIGN_OR_RETURN(std::vector<absl::StatusOr<Simulated>> answers, oracle_->Simulate(candidates));
    SM89_ASSERT(answers.size() == fresh.size(), "the oracle answers every candidate");
    for (size_t i = 0; i < fresh.size(); ++i) {
      Outcome outcome{.status = answers[i].status()};
      if (answers[i].ok()) {
        ASSIGN_OR_RETURN(outcome.errors, ErrorsOf(problem_, *answers[i]));
        outcome.simulated = std::make_shared<const Simulated>(*std::move(answers[i]));
        // Errors are compared one by one.
        if (outcome.errors.fit.size() != values_)
          outcome.status = absl::FailedPreconditionError("a target metric is not defined any more");
      }
      known_[fresh[i]] = std::move(outcome);
    }
    return absl::OkStatus();
  }

  const Outcome& At(const Point& point) const { return known_.at(point); }
  // Reports are large: only the errors are needed of all but one.
  void ForgetReports(const Point& keep) {
    for (auto& [point, outcome] : known_) {
      if (point != keep) outcome.simulated.reset();
    }
  }
  uint32_t used() const { return used_; }

 private:
  std::vector<Point> New(const std::vector<Point>& points) const {
    std::vector<Point> fresh;
    for (const Point& point : points) {
      if (!known_.contains(point) && std::find(fresh.begin(), fresh.end(), point) == fresh.end())
        fresh.push_back(point);
    }
    return fresh;
  }

  const Problem& problem_;
  std::span<const Parameter> parameters_;
  uint32_t most_;
  Oracle* oracle_;
  std::map<Point, Outcome> known_;
  uint32_t used_ = 0;
  size_t values_ = 0;
};

// The value to try for a sensitivity; nothing where the bounds leave no room.
std::optional<int64_t> StepFrom(const Parameter& p, int64_t value) {
  if (p.power_of_two) {
    if (value * 2 <= p.max) return value * 2;
    return value / 2 >= std::max<int64_t>(p.min, 1) ? std::optional<int64_t>(value / 2) : std::nullopt;
  }
  const int64_t step =
      std::max<int64_t>(1, std::llround(kStepFraction * static_cast<double>(std::abs(value))));
  if (value + step <= p.max) return value + step;
  if (value - step >= p.min) return value - step;
  if (value < p.max) return p.max;
  return value > p.min ? std::optional<int64_t>(p.min) : std::nullopt;
}

// The allowed value nearest to `wanted`, at least one step from `from` towards it.
int64_t Nearest(const Parameter& p, int64_t from, double wanted) {
  if (p.power_of_two) {
    const double exponent = std::log2(std::max(wanted, 1.0));
    int64_t value = int64_t{1} << std::clamp<int64_t>(std::llround(exponent), 0, 40);
    if (value == from) value = wanted > static_cast<double>(from) ? from * 2 : from / 2;
    return value < p.min || value > p.max ? from : value;
  }
  const double bounded = std::clamp(wanted, static_cast<double>(p.min), static_cast<double>(p.max));
  int64_t value = std::llround(bounded);
  if (value == from && wanted != static_cast<double>(from))
    value += wanted > static_cast<double>(from) ? 1 : -1;
  return std::clamp(value, p.min, p.max);
}

// Least squares along a line: errors + slope * change.
Sensitivity Judge(size_t index, const Parameter& p, int64_t value, int64_t stepped,
                  const std::vector<double>& at, const std::vector<double>& there) {
  Sensitivity s{.parameter = index, .step = stepped - value, .suggested = value};
  const double step = static_cast<double>(s.step);
  double along = 0, squared = 0;
  for (size_t i = 0; i < at.size(); ++i) {
    const double slope = (there[i] - at[i]) / step;
    along += at[i] * slope;
    squared += slope * slope;
    s.mean_change_percent += (there[i] - at[i]) / static_cast<double>(at.size());
  }
  s.predicted_rms_percent = FitOf(at).rms_percent;
  if (squared == 0) return s;
  s.suggested = Nearest(p, value, static_cast<double>(value) - along / squared);
  std::vector<double> predicted;
  for (size_t i = 0; i < at.size(); ++i) {
    predicted.push_back(at[i] + (there[i] - at[i]) / step * static_cast<double>(s.suggested - value));
  }
  s.predicted_rms_percent = FitOf(predicted).rms_percent;
  return s;
}

// A search under way.
class Searcher {
 public:
  Searcher(std::span<const Parameter> parameters, Evaluator* evaluator, SearchResult* result)
      : parameters_(parameters), evaluator_(evaluator), result_(result) {
    for (const Parameter& p : parameters) point_.push_back(p.start);
    usable_.assign(parameters.size(), true);
  }

  const Point& point() const { return point_; }
  const Outcome& here() const { return evaluator_->At(point_); }

  // The best suggestion first; equal ones in the order of the parameters.
  absl::StatusOr<std::vector<Sensitivity>> Sensitivities() {
    std::vector<Point> points;
    std::vector<size_t> indices;
    for (size_t i = 0; i < parameters_.size(); ++i) {
      if (!usable_[i]) continue;
      const std::optional<int64_t> stepped = StepFrom(parameters_[i], point_[i]);
      if (!stepped.has_value()) {
        Exclude(i, "its bounds leave no room");
        continue;
      }
      Point& point = points.emplace_back(point_);
      point[i] = *stepped;
      indices.push_back(i);
    }
    if (!evaluator_->Affords(points)) return absl::ResourceExhaustedError("simulations");
    RETURN_IF_ERROR(evaluator_->Evaluate(points));
    std::vector<Sensitivity> all;
    for (size_t k = 0; k < points.size(); ++k) {
      const size_t i = indices[k];
      const Outcome& outcome = evaluator_->At(points[k]);
      if (!outcome.status.ok()) {
        Exclude(i, absl::StrCat("with ", parameters_[i].ValueText(points[k][i]), ": ",
                                std::string(outcome.status.message())));
        continue;
      }
      all.push_back(Judge(i, parameters_[i], point_[i], points[k][i], here().errors.fit, outcome.errors.fit));
    }
    std::stable_sort(all.begin(), all.end(), [](const Sensitivity& a, const Sensitivity& b) {
      return a.predicted_rms_percent < b.predicted_rms_percent;
    });
    return all;
  }

  // Tries the best suggestions and goes to the best outcome. False: none is better.
  absl::StatusOr<bool> Improve(const std::vector<Sensitivity>& sensitivities) {
    std::vector<std::pair<size_t, Point>> tried;
    std::vector<Point> points;
    for (size_t k = 0; k < std::min(kTried, sensitivities.size()); ++k) {
      const Sensitivity& s = sensitivities[k];
      const int64_t from = point_[s.parameter];
      for (const int64_t to : {s.suggested, Nearest(parameters_[s.parameter], from,
                                                    static_cast<double>(from + s.suggested) / 2)}) {
        if (to == from) continue;
        Point& point = points.emplace_back(point_);
        point[s.parameter] = to;
        tried.emplace_back(s.parameter, point);
      }
    }
    // The steps of the sensitivities are simulated already, so that they count as tries too.
    for (const Sensitivity& s : sensitivities) {
      Point point = point_;
      point[s.parameter] += s.step;
      tried.emplace_back(s.parameter, std::move(point));
    }
    if (!evaluator_->Affords(points)) return absl::ResourceExhaustedError("simulations");
    RETURN_IF_ERROR(evaluator_->Evaluate(points));
    double best = FitOf(here().errors.fit).rms_percent * (1 - kWorthwhile);
    const std::pair<size_t, Point>* chosen = nullptr;
    for (const auto& one : tried) {
      const Outcome& outcome = evaluator_->At(one.second);
      if (!outcome.status.ok() || FitOf(outcome.errors.fit).rms_percent >= best) continue;
      best = FitOf(outcome.errors.fit).rms_percent;
      chosen = &one;
    }
    if (chosen == nullptr) return false;
    Go(chosen->first, chosen->second);
    return true;
  }

 private:
  void Go(size_t parameter, const Point& to) {
    HistoryEntry entry{.parameter = parameter, .from = point_[parameter], .to = to[parameter]};
    point_ = to;
    entry.fit = FitOf(here().errors.fit);
    entry.held_out = FitOf(here().errors.held_out);
    result_->history.push_back(entry);
    evaluator_->ForgetReports(point_);
  }
  void Exclude(size_t i, std::string why) {
    usable_[i] = false;
    result_->excluded.push_back({parameters_[i].label(), std::move(why)});
  }

  std::span<const Parameter> parameters_;
  Evaluator* evaluator_;
  SearchResult* result_;
  Point point_;
  std::vector<bool> usable_;
};

std::string OutOfSimulations(uint32_t most) {
  return absl::StrCat("the next step needs more than the ", most, " simulations that are allowed");
}

absl::Status Iterate(const SearchOptions& options, Searcher* searcher, SearchResult* result) {
  for (uint32_t iteration = 0;; ++iteration) {
    const bool inside = FitOf(searcher->here().errors.fit).worst_percent <= options.tolerance_percent;
    if (inside && (iteration > 0 || options.iterate)) {
      result->stopped = absl::StrCat("every error is inside +/-", options.tolerance_percent, " %");
    }
    if (iteration > 0 && inside) return absl::OkStatus();
    if (iteration == options.iterations_max) {
      result->stopped = absl::StrCat(iteration, " iterations are over");
      return absl::OkStatus();
    }
    absl::StatusOr<std::vector<Sensitivity>> sensitivities = searcher->Sensitivities();
    if (absl::IsResourceExhausted(sensitivities.status())) {
      result->stopped = OutOfSimulations(options.simulations_max);
      return absl::OkStatus();
    }
    RETURN_IF_ERROR(sensitivities.status());
    if (iteration == 0) result->sensitivities = *sensitivities;
    if (!options.iterate || inside) return absl::OkStatus();
    const absl::StatusOr<bool> improved = searcher->Improve(*sensitivities);
    if (absl::IsResourceExhausted(improved.status())) {
      result->stopped = OutOfSimulations(options.simulations_max);
      return absl::OkStatus();
    }
    RETURN_IF_ERROR(improved.status());
    if (!*improved) {
      result->stopped = "no change of one parameter improves the fit";
      return absl::OkStatus();
    }
  }
}

}  // namespace

absl::StatusOr<SearchResult> Search(const Measured& measured, const Simulated& start,
                                    std::span<const Parameter> parameters, const SearchOptions& options,
                                    Oracle* oracle) {
  ASSIGN_OR_RETURN(const Problem problem, Pose(measured, start, options));
  SearchResult result{.targets = problem.targets,
                      .matching = problem.matching,
                      .held_out_pairs = problem.held_out,
                      .start = start};
  Evaluator evaluator(problem, parameters, options.simulations_max, oracle);
  Outcome first;
  ASSIGN_OR_RETURN(first.errors, ErrorsOf(problem, start));
  first.simulated = std::make_shared<const Simulated>(start);
  result.start_fit = FitOf(first.errors.fit);
  result.start_held_out = FitOf(first.errors.held_out);
  Searcher searcher(parameters, &evaluator, &result);
  evaluator.Know(searcher.point(), std::move(first));
  RETURN_IF_ERROR(Iterate(options, &searcher, &result));
  const Outcome& end = searcher.here();
  SM89_ASSERT(end.simulated != nullptr, "the report of the point that the search is at is kept");
  result.final = *end.simulated;
  result.final_fit = FitOf(end.errors.fit);
  result.final_held_out = FitOf(end.errors.held_out);
  result.values = searcher.point();
  result.simulations = evaluator.used();
  return result;
}

}  // namespace sm89::calibrate
