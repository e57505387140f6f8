#include "sim/calibrate/render.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "nlohmann/json.hpp"
#include "sim/calibrate/kernel_name.h"
#include "sim/calibrate/match.h"

namespace sm89::calibrate {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kNamesShown = 10;
constexpr size_t kNameColumns = 40;
// Beyond this the two sides did not execute the same code.
constexpr double kInstructionTolerancePercent = 1;
// Hit rates that differ by more than this are hardly those of another timing.
constexpr double kL2StatePoints = 20;
constexpr char kL2HitMetric[] = "lts__t_sector_hit_rate.pct";
constexpr char kInstructionsMetric[] = "smsp__inst_executed.sum";

// Metrics that tables show beside the targets, where both sides have them.
constexpr const char* kShown[] = {kCyclesMetric,
                                  kDurationMetric,
                                  kInstructionsMetric,
                                  "sm__inst_executed.avg.per_cycle_active",
                                  "sm__warps_active.avg.pct_of_peak_sustained_active",
                                  "l1tex__t_sector_hit_rate.pct",
                                  "lts__t_sector_hit_rate.pct",
                                  "dram__bytes_read.sum",
                                  "dram__bytes_write.sum"};

// Names come from inputs: nothing in them may steer a terminal or end a comment.
std::string Clean(std::string text, size_t most = 200) {
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  }
  return text.size() > most ? text.substr(0, most - 3) + "..." : text;
}

std::string FitText(const Fit& fit) {
  return absl::StrFormat("worst %.2f %%, rms %.2f %% over %u values", fit.worst_percent, fit.rms_percent,
                         fit.values);
}

std::string ErrorText(const Comparison& row) {
  if (!row.error_percent.has_value()) return "-";
  return absl::StrFormat(IsPercentage(row.metric) ? "%+.2f pts" : "%+.2f %%", *row.error_percent);
}

std::string KernelLabel(const SearchResult& result, size_t pair) {
  const size_t first = result.matching.pairs[pair].simulated.front();
  return absl::StrCat(first + 1, " ", result.start.kernels[first].name);
}

bool IsTarget(const SearchResult& result, const std::string& metric) {
  return std::find(result.targets.begin(), result.targets.end(), metric) != result.targets.end();
}
bool IsShown(const SearchResult& result, const std::string& metric) {
  return IsTarget(result, metric) ||
         std::find(std::begin(kShown), std::end(kShown), metric) != std::end(kShown);
}

// Pairs to show: all, or those with the largest errors of a target.
std::set<size_t> PairsToShow(const SearchResult& result, const std::vector<Comparison>& rows) {
  std::map<size_t, double> worst;
  for (size_t p = 0; p < result.matching.pairs.size(); ++p) worst[p] = 0;
  for (const Comparison& row : rows) {
    if (IsTarget(result, row.metric) && row.error_percent.has_value())
      worst[row.pair] = std::max(worst[row.pair], std::abs(*row.error_percent));
  }
  std::vector<std::pair<size_t, double>> order(worst.begin(), worst.end());
  std::stable_sort(order.begin(), order.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  std::set<size_t> shown;
  for (size_t i = 0; i < std::min(order.size(), kKernelsShown); ++i) shown.insert(order[i].first);
  return shown;
}

void AddRows(const SearchResult& result, const std::vector<Comparison>& rows, bool held_out,
             std::string* text) {
  const std::set<size_t> shown = PairsToShow(result, rows);
  absl::StrAppendFormat(text, "  %-40s %-52s %14s %14s %12s\n", "kernel", "metric (* fitted)", "measured",
                        "simulated", "error");
  for (const Comparison& row : rows) {
    if (result.held_out_pairs.contains(row.pair) != held_out || !shown.contains(row.pair) ||
        !IsShown(result, row.metric)) {
      continue;
    }
    absl::StrAppendFormat(text, "  %-40s %-52s %14.6g %14.6g %12s\n",
                          Clean(KernelLabel(result, row.pair), kNameColumns),
                          absl::StrCat(IsTarget(result, row.metric) ? "* " : "  ", Clean(row.metric, 50)),
                          row.measured, row.simulated, ErrorText(row));
  }
  if (shown.size() < result.matching.pairs.size())
    absl::StrAppend(text, "  (the ", shown.size(), " kernels that are furthest off)\n");
}

void AddNames(const std::string& what, const std::vector<std::string>& names, std::string* text) {
  if (names.empty()) return;
  absl::StrAppend(text, what, " ", names.size(), ": ");
  for (size_t i = 0; i < std::min(names.size(), kNamesShown); ++i)
    absl::StrAppend(text, i == 0 ? "" : "; ", Clean(names[i], 80));
  absl::StrAppend(text, names.size() > kNamesShown ? "; ...\n" : "\n");
}

std::vector<std::string> UnpairedMeasured(const Measured& measured, const SearchResult& result) {
  std::vector<std::string> names;
  for (const size_t i : result.matching.unpaired_measured)
    names.push_back(absl::StrCat(measured.kernels[i].name, " (line ", measured.kernels[i].line, ")"));
  return names;
}
std::vector<std::string> UnpairedSimulated(const SearchResult& result) {
  std::vector<std::string> names;
  for (const size_t i : result.matching.unpaired_simulated)
    names.push_back(absl::StrCat(i + 1, " ", result.start.kernels[i].name));
  return names;
}

std::vector<std::string> Notes(const Measured& measured, const SearchResult& result) {
  std::vector<std::string> notes = measured.notes;
  notes.insert(notes.end(), result.matching.notes.begin(), result.matching.notes.end());
  if (IsTarget(result, kDurationMetric)) {
    notes.push_back(absl::StrFormat("simulated durations are at the configured core clock, %.1f MHz",
                                    static_cast<double>(result.start.core_khz) / 1000));
  }
  size_t other_code = 0, other_state = 0;
  for (const Comparison& row : Compare(result.matching, measured, result.start)) {
    const bool off = row.metric == kInstructionsMetric &&
                     std::abs(row.error_percent.value_or(100)) > kInstructionTolerancePercent;
    if (off) ++other_code;
    if (row.metric == kL2HitMetric && std::abs(row.error_percent.value_or(0)) > kL2StatePoints) ++other_state;
  }
  if (other_code > 0) {
    notes.push_back(absl::StrCat(other_code,
                                 " kernels executed another number of instructions than was simulated: "
                                 "their errors are not those of the timing"));
  }
  if (other_state > 0) {
    notes.push_back(absl::StrFormat(
        "%u kernels hit the L2 at another rate, by more than %g points: ncu empties the caches before each "
        "kernel, launches of one job follow one another; jobs of one launch each are the fair counterpart",
        other_state, kL2StatePoints));
  }
  return notes;
}

std::string SourceText(const Parameter& p) {
  return p.assumed ? "no source other than calibration: " + p.source : p.source;
}

void AddSuggestion(std::span<const Parameter> parameters, const SearchResult& result, std::string* text) {
  absl::StrAppend(text, "\nsuggested next change: ");
  const Sensitivity* best = result.sensitivities.empty() ? nullptr : &result.sensitivities.front();
  const Parameter* p = best == nullptr ? nullptr : &parameters[best->parameter];
  if (p == nullptr || best->suggested == p->start) {
    absl::StrAppend(text, "none: no parameter has an effect that would improve the fit\n");
    return;
  }
  absl::StrAppend(text, best->suggested > p->start ? "raise " : "lower ", p->label(), " from ",
                  p->ValueText(p->start), " to ", p->ValueText(best->suggested), p->unit.empty() ? "" : " ",
                  p->unit,
                  absl::StrFormat(" (rms %.2f %% -> %.2f %% by a line through the two simulations)\n",
                                  result.start_fit.rms_percent, best->predicted_rms_percent));
}

void AddSensitivities(std::span<const Parameter> parameters, const SearchResult& result, std::string* text) {
  absl::StrAppendFormat(
      text, "\nsensitivities at the start, one parameter at a time:\n  %-46s %10s %8s %12s %10s %9s  %s\n",
      "parameter", "value", "step", "mean change", "suggested", "rms then", "source");
  for (const Sensitivity& s : result.sensitivities) {
    const Parameter& p = parameters[s.parameter];
    const std::string step = absl::StrCat(s.step > 0 ? "+" : "", p.ValueText(s.step));
    absl::StrAppendFormat(text, "  %-46s %10s %8s %+9.3f %%  %10s %7.2f %%  %s\n", p.label(),
                          p.ValueText(p.start), step, s.mean_change_percent,
                          s.suggested == p.start ? "-" : p.ValueText(s.suggested), s.predicted_rms_percent,
                          Clean(SourceText(p), 100));
  }
  for (const Excluded& e : result.excluded)
    absl::StrAppend(text, "  left out: ", e.parameter, ": ", Clean(e.why, 300), "\n");
}

std::string HistoryText(std::span<const Parameter> parameters, const SearchResult& result,
                        const HistoryEntry& entry) {
  const Parameter& p = parameters[entry.parameter];
  std::string text = absl::StrCat(p.label(), " ", p.ValueText(entry.from), " -> ", p.ValueText(entry.to),
                                  ": ", FitText(entry.fit));
  if (!result.held_out_pairs.empty()) absl::StrAppend(&text, "; held out: ", FitText(entry.held_out));
  return text;
}

void AddHistory(std::span<const Parameter> parameters, const SearchResult& result, std::string* text) {
  absl::StrAppend(text, "\nhistory, ", result.simulations, " simulations:\n");
  for (size_t i = 0; i < result.history.size(); ++i)
    absl::StrAppend(text, "  ", i + 1, ". ", HistoryText(parameters, result, result.history[i]), "\n");
  absl::StrAppend(text, "stopped: ", result.stopped, "\n");
}

Json FitJson(const Fit& fit) {
  return {{"values", fit.values}, {"worst_percent", fit.worst_percent}, {"rms_percent", fit.rms_percent}};
}

Json RowsJson(const Measured& measured, const SearchResult& result, const Simulated& simulated) {
  Json rows = Json::array();
  for (const Comparison& row : Compare(result.matching, measured, simulated)) {
    const Pair& pair = result.matching.pairs[row.pair];
    rows.push_back({{"kernel", pair.simulated.front() + 1},
                    {"name", result.start.kernels[pair.simulated.front()].name},
                    {"measured_line", measured.kernels[pair.measured].line},
                    {"held_out", result.held_out_pairs.contains(row.pair)},
                    {"metric", row.metric},
                    {"fitted", IsTarget(result, row.metric)},
                    {"measured", row.measured},
                    {"simulated", row.simulated},
                    {IsPercentage(row.metric) ? "error_points" : "error_percent",
                     row.error_percent.has_value() ? Json(*row.error_percent) : Json(nullptr)}});
  }
  return rows;
}

Json SensitivitiesJson(std::span<const Parameter> parameters, const SearchResult& result) {
  Json rows = Json::array();
  for (const Sensitivity& s : result.sensitivities) {
    const Parameter& p = parameters[s.parameter];
    rows.push_back({{"parameter", p.label()},
                    {"unit", p.unit},
                    {"value", p.ValueText(p.start)},
                    {"min", p.ValueText(p.min)},
                    {"max", p.ValueText(p.max)},
                    {"step", p.ValueText(s.step)},
                    {"mean_change_percent", s.mean_change_percent},
                    {"suggested", p.ValueText(s.suggested)},
                    {"predicted_rms_percent", s.predicted_rms_percent},
                    {"calibration_is_only_source", p.assumed},
                    {"source", p.source}});
  }
  return rows;
}

Json HistoryJson(std::span<const Parameter> parameters, const SearchResult& result) {
  Json rows = Json::array();
  for (const HistoryEntry& entry : result.history) {
    const Parameter& p = parameters[entry.parameter];
    rows.push_back({{"parameter", p.label()},
                    {"from", p.ValueText(entry.from)},
                    {"to", p.ValueText(entry.to)},
                    {"fit", FitJson(entry.fit)},
                    {"held_out", FitJson(entry.held_out)}});
  }
  return rows;
}

}  // namespace

std::string ToTable(const Measured& measured, std::span<const Parameter> parameters,
                    const SearchOptions& options, const SearchResult& result, const Origin& origin) {
  std::string text =
      absl::StrCat("measured   ", Clean(measured.file), ": ", measured.format, ", ", measured.kernels.size(),
                   " launches\nsimulated  ", Clean(origin.simulation), ": ", Clean(origin.config_name),
                   ", model ", result.start.model_version, ", ", result.start.kernels.size(),
                   " kernels\npaired     ", result.matching.pairs.size(), "\n");
  AddNames("measured only", UnpairedMeasured(measured, result), &text);
  AddNames("simulated only", UnpairedSimulated(result), &text);
  for (const std::string& note : Notes(measured, result))
    absl::StrAppend(&text, "note: ", Clean(note, 400), "\n");
  const bool changed = !result.history.empty();
  const std::vector<Comparison> rows = Compare(result.matching, measured, result.final);
  absl::StrAppend(&text, changed ? "\nafter the calibration:\n" : "\n");
  AddRows(result, rows, /*held_out=*/false, &text);
  if (changed) absl::StrAppend(&text, "fit before: ", FitText(result.start_fit), "\n");
  absl::StrAppend(&text, "fit: ", FitText(result.final_fit), "\n");
  if (!result.held_out_pairs.empty()) {
    absl::StrAppend(&text, "\nheld out, no part of the fit:\n");
    AddRows(result, rows, /*held_out=*/true, &text);
    if (changed) absl::StrAppend(&text, "held out before: ", FitText(result.start_held_out), "\n");
    absl::StrAppend(&text, "held out: ", FitText(result.final_held_out), "\n");
  }
  if (!options.iterate) AddSuggestion(parameters, result, &text);
  AddSensitivities(parameters, result, &text);
  if (options.iterate) AddHistory(parameters, result, &text);
  return text;
}

std::string ToJson(const Measured& measured, std::span<const Parameter> parameters,
                   const SearchOptions& options, const SearchResult& result, const Origin& origin) {
  Json root;
  root["measured"] = {
      {"file", measured.file}, {"format", measured.format}, {"launches", measured.kernels.size()}};
  root["simulated"] = {{"simulation", origin.simulation},
                       {"config", origin.config_name},
                       {"model_version", result.start.model_version},
                       {"kernels", result.start.kernels.size()}};
  root["targets"] = result.targets;
  root["tolerance_percent"] = options.tolerance_percent;
  root["notes"] = Notes(measured, result);
  root["measured_only"] = UnpairedMeasured(measured, result);
  root["simulated_only"] = UnpairedSimulated(result);
  root["start"] = {{"fit", FitJson(result.start_fit)},
                   {"held_out", FitJson(result.start_held_out)},
                   {"rows", RowsJson(measured, result, result.start)}};
  root["sensitivities"] = SensitivitiesJson(parameters, result);
  Json& excluded = root["excluded"] = Json::array();
  for (const Excluded& e : result.excluded) excluded.push_back({{"parameter", e.parameter}, {"why", e.why}});
  root["history"] = HistoryJson(parameters, result);
  root["stopped"] = result.stopped;
  root["simulations"] = result.simulations;
  Json& settings = root["settings"] = Json::array();
  for (const auto& [name, value] : SettingsFor(parameters, result.values))
    settings.push_back({{"name", name}, {"value", value}});
  root["end"] = {{"fit", FitJson(result.final_fit)},
                 {"held_out", FitJson(result.final_held_out)},
                 {"rows", RowsJson(measured, result, result.final)}};
  return absl::StrCat(root.dump(1, ' ', false, Json::error_handler_t::replace), "\n");
}

std::string ToOverlay(const Measured& measured, std::span<const Parameter> parameters,
                      const SearchOptions& options, const SearchResult& result, const Origin& origin) {
  std::string text = absl::StrCat(
      "# Calibration of ", Clean(origin.config_name), " by sm89 ", origin.product_version, ", model ",
      result.start.model_version, "\n# measured: ", Clean(measured.file), " (", measured.format,
      "), simulated: ", Clean(origin.simulation), "\n# fitted: ", absl::StrJoin(result.targets, ", "),
      absl::StrFormat(", until every error is inside +/-%g %%", options.tolerance_percent),
      "\n# start: ", FitText(result.start_fit), "\n");
  if (!result.held_out_pairs.empty())
    absl::StrAppend(&text, "# held out at the start: ", FitText(result.start_held_out), "\n");
  for (size_t i = 0; i < result.history.size(); ++i)
    absl::StrAppend(&text, "# ", i + 1, ". ", HistoryText(parameters, result, result.history[i]), "\n");
  if (!result.stopped.empty())
    absl::StrAppend(&text, "# stopped after ", result.simulations, " simulations: ", result.stopped, "\n");
  if (origin.config.empty()) {
    absl::StrAppend(&text, "# Give these settings on top of ", Clean(origin.config_name), ".\n");
  } else {
    absl::StrAppend(&text, "-include ", origin.config, "\n");
  }
  const Settings changed = SettingsFor(parameters, result.values);
  for (const auto& [name, value] : origin.settings) {
    const std::string full = name.starts_with('-') ? name : "-" + name;
    const bool replaced =
        std::any_of(changed.begin(), changed.end(), [&](const auto& s) { return s.first == full; });
    if (!replaced) absl::StrAppend(&text, "# as it was simulated before\n", full, " ", value, "\n");
  }
  for (const auto& [name, value] : changed) {
    const auto p = std::find_if(parameters.begin(), parameters.end(),
                                [&, &setting = name](const Parameter& one) { return one.name == setting; });
    absl::StrAppend(&text, "# was ", p->text, "; ", Clean(SourceText(*p)), "\n", name, " ", value, "\n");
  }
  return text;
}

}  // namespace sm89::calibrate
