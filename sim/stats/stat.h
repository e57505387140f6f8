// One definition for each statistic. A unit keeps plain uint64_t counters in a struct; a constexpr table
// beside the struct describes each member; text, JSON, CSV and Prometheus are derived from the table.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

namespace sm89 {

enum class StatUnit : uint8_t {
  kCycles,
  kWarpInstructions,
  kThreadInstructions,
  kSectors,
  kRequests,
  kBytes,
  kEvents,
  kWarps,
  kCtas,
  kOperations,
};
std::string_view Name(StatUnit unit);

// Who sees the statistic outside the full report.
enum class StatExport : uint8_t {
  kReport,   // only in reports
  kService,  // also summed over jobs as a Prometheus counter and in the live stream (bounded set)
};

// Combining values of several SMs, slices, channels or kernels.
enum class StatMerge : uint8_t { kSum, kMax };

struct StatDef {
  std::string_view name;  // snake_case, unit last where it has one: "l1_sector_hits"
  StatUnit unit = StatUnit::kEvents;
  std::string_view help;        // one sentence
  std::string_view ncu_metric;  // the Nsight Compute metric it corresponds to; "" = none
  StatExport exported = StatExport::kReport;
  StatMerge merge = StatMerge::kSum;
};

template <class T>
struct StatField {
  StatDef def;
  uint64_t T::*member;
};

// True when the table describes every counter of T (T holds uint64_t members only): use in static_assert,
// so that an undescribed counter does not compile.
template <class T, size_t N>
constexpr bool DescribesAll(const std::array<StatField<T>, N>&) {
  return sizeof(T) == N * sizeof(uint64_t);
}

// dst += src, field by field, by each field's merge rule.
template <class T, size_t N>
constexpr void Accumulate(const std::array<StatField<T>, N>& table, const T& src, T& dst) {
  for (const auto& f : table) {
    uint64_t& d = dst.*f.member;
    const uint64_t s = src.*f.member;
    if (f.def.merge == StatMerge::kMax) {
      d = d < s ? s : d;
    } else {
      d += s;
    }
  }
}

// A value with its definition, as reports carry it.
struct StatValue {
  const StatDef* def = nullptr;
  uint64_t value = 0;
};

template <class T, size_t N>
void AppendValues(const std::array<StatField<T>, N>& table, const T& block, std::vector<StatValue>& out) {
  for (const auto& f : table) out.push_back({&f.def, block.*f.member});
}

}  // namespace sm89
