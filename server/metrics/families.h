// Makes families with one child for each value of an enum. Internal to server/metrics.
#pragma once

#include <prometheus/counter.h>
#include <prometheus/family.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>

#include <array>
#include <cstddef>
#include <string>
#include <vector>

namespace sm89 {

inline prometheus::Counter* MakeCounter(prometheus::Registry& registry, const std::string& name,
                                        const std::string& help) {
  return &prometheus::BuildCounter().Name(name).Help(help).Register(registry).Add({});
}

// Enum's values are 0 .. N-1 and Name(value) gives the label's value.
template <class Enum, size_t N>
std::array<prometheus::Counter*, N> MakeCounters(prometheus::Registry& registry, const std::string& name,
                                                 const std::string& help, const std::string& label) {
  auto& family = prometheus::BuildCounter().Name(name).Help(help).Register(registry);
  std::array<prometheus::Counter*, N> counters{};
  for (size_t i = 0; i < N; ++i)
    counters[i] = &family.Add({{label, std::string(Name(static_cast<Enum>(i)))}});
  return counters;
}

// From a tenth of a second to a day: waiting and running times of jobs, lengths of streams.
inline std::vector<double> JobTimeBuckets() {
  return {0.1, 0.3, 1, 3, 10, 30, 60, 180, 600, 1800, 3600, 10800, 28800, 86400};
}

}  // namespace sm89
