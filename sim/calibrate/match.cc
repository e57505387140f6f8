#include "sim/calibrate/match.h"

#include <algorithm>
#include <deque>

#include "absl/strings/str_cat.h"
#include "sim/calibrate/kernel_name.h"

namespace sm89::calibrate {
namespace {

std::string DimensionsKey(const Dimensions& grid, const Dimensions& block) {
  std::string key;
  for (const Dimensions* d : {&grid, &block}) {
    for (const uint64_t extent : *d) absl::StrAppend(&key, "/", extent);
  }
  return key;
}

enum class Names { kEqual, kEqualBase };

// The simulated launches that are still to be paired, found by keys.
class Pool {
 public:
  explicit Pool(const std::vector<SimulatedKernel>& simulated) : taken_(simulated.size()) {
    for (size_t i = 0; i < simulated.size(); ++i) {
      const SimulatedKernel& s = simulated[i];
      const std::string& name = names_.emplace_back(CanonicalName(s.name));
      const std::string shape = DimensionsKey(s.grid, s.block);
      by_key_[name].push_back(i);
      by_key_[name + shape].push_back(i);
      if (BaseName(name) == name) continue;  // a bare name is its base
      by_key_[BaseName(name)].push_back(i);
      by_key_[BaseName(name) + shape].push_back(i);
    }
  }

  // The first free launch under `key` that a launch of the canonical `name` may be paired with: of the same
  // name, or, where one of the two is bare, of the same base.
  std::optional<size_t> Take(const std::string& key, const std::string& name, Names names) {
    const auto found = by_key_.find(key);
    if (found == by_key_.end()) return std::nullopt;
    std::deque<size_t>& queue = found->second;
    while (!queue.empty() && taken_[queue.front()]) queue.pop_front();
    for (const size_t i : queue) {
      const bool fits =
          names == Names::kEqual ? names_[i] == name : IsBareName(names_[i]) || IsBareName(name);
      if (taken_[i] || !fits) continue;
      taken_[i] = true;
      return i;
    }
    return std::nullopt;
  }
  std::vector<size_t> TakeAll(const std::string& key, const std::string& name, Names names) {
    std::vector<size_t> all;
    while (const std::optional<size_t> one = Take(key, name, names)) all.push_back(*one);
    return all;
  }
  std::vector<size_t> Free() const {
    std::vector<size_t> free;
    for (size_t i = 0; i < taken_.size(); ++i) {
      if (!taken_[i]) free.push_back(i);
    }
    return free;
  }

 private:
  std::vector<std::string> names_;
  std::vector<bool> taken_;
  std::map<std::string, std::deque<size_t>> by_key_;
};

// All simulated launches that a summary's row stands for.
std::vector<size_t> TakeSummary(const MeasuredKernel& m, const std::string& name, Pool* pool, Matching* out) {
  std::vector<size_t> found = pool->TakeAll(name, name, Names::kEqual);
  if (found.empty()) found = pool->TakeAll(BaseName(name), name, Names::kEqualBase);
  if (!found.empty() && found.size() != m.instances) {
    out->notes.push_back(absl::StrCat(m.name, ": a mean over ", m.instances, " launches against ",
                                      found.size(), " simulated ones"));
  }
  return found;
}

}  // namespace

Matching Match(const std::vector<MeasuredKernel>& measured, const std::vector<SimulatedKernel>& simulated) {
  Matching out;
  Pool pool(simulated);
  std::vector<std::vector<size_t>> partners(measured.size());
  std::vector<std::string> names;
  // Exact names first, so that a bare one takes nothing from a launch that has its own.
  for (size_t i = 0; i < measured.size(); ++i) {
    const MeasuredKernel& m = measured[i];
    const std::string& name = names.emplace_back(CanonicalName(m.name));
    if (m.instances > 0) {
      partners[i] = TakeSummary(m, name, &pool, &out);
    } else if (m.grid.has_value() && m.block.has_value()) {
      if (const auto one = pool.Take(name + DimensionsKey(*m.grid, *m.block), name, Names::kEqual))
        partners[i].push_back(*one);
    }
  }
  bool by_base = false;
  for (size_t i = 0; i < measured.size(); ++i) {
    const MeasuredKernel& m = measured[i];
    if (partners[i].empty() && m.instances == 0 && m.grid.has_value() && m.block.has_value()) {
      const auto one =
          pool.Take(BaseName(names[i]) + DimensionsKey(*m.grid, *m.block), names[i], Names::kEqualBase);
      if (one.has_value()) partners[i].push_back(*one);
      by_base = by_base || one.has_value();
    }
    if (partners[i].empty()) {
      out.unpaired_measured.push_back(i);
    } else {
      out.pairs.push_back({i, std::move(partners[i])});
    }
  }
  if (by_base) out.notes.push_back("some names were paired without their parameters: one side has none");
  out.unpaired_simulated = pool.Free();
  std::sort(out.pairs.begin(), out.pairs.end(),
            [](const Pair& a, const Pair& b) { return a.simulated.front() < b.simulated.front(); });
  return out;
}

bool IsPercentage(std::string_view metric) {
  return metric.ends_with(".pct") || metric.find(".pct_of_") != std::string_view::npos ||
         metric.find(" Rate") != std::string_view::npos;
}

std::optional<double> SimulatedValue(const Pair& pair, const std::vector<SimulatedKernel>& simulated,
                                     const std::string& metric) {
  double sum = 0;
  for (const size_t i : pair.simulated) {
    const auto found = simulated[i].metrics.find(metric);
    if (found == simulated[i].metrics.end()) return std::nullopt;
    sum += found->second;
  }
  return sum / static_cast<double>(pair.simulated.size());
}

std::optional<double> ErrorPercent(std::string_view metric, double measured, double simulated) {
  if (IsPercentage(metric)) return simulated - measured;
  if (measured == 0) return simulated == 0 ? std::optional<double>(0) : std::nullopt;
  return 100.0 * (simulated - measured) / measured;
}

std::vector<Comparison> Compare(const Matching& matching, const Measured& measured,
                                const Simulated& simulated) {
  std::vector<Comparison> rows;
  for (size_t p = 0; p < matching.pairs.size(); ++p) {
    const Pair& pair = matching.pairs[p];
    for (const auto& [metric, value] : measured.kernels[pair.measured].metrics) {
      const std::optional<double> other = SimulatedValue(pair, simulated.kernels, metric);
      if (!other.has_value()) continue;
      rows.push_back({p, metric, value, *other, ErrorPercent(metric, value, *other)});
    }
  }
  return rows;
}

}  // namespace sm89::calibrate
