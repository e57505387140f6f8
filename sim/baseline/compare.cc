// Today's cycle counts against recorded ones, and the table of it.
#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "nlohmann/json.hpp"
#include "sim/base/fault.h"
#include "sim/base/strings.h"
#include "sim/baseline/baseline.h"

namespace sm89::baseline {
namespace {

using Json = nlohmann::ordered_json;

// Names come from inputs: nothing in them may steer a terminal.
std::string Clean(std::string text) {
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  }
  return text;
}

Fault Changed(const std::string& file, const std::string& label, const std::string& field) {
  Fault fault;
  fault.file = file;
  fault.field = field;
  fault.message = absl::StrCat("run '", label, "': ");
  return fault;
}

absl::Status KernelListError(Fault fault, std::string value, std::string expected) {
  absl::StrAppend(&fault.message, "the kernel list has changed; record this run anew");
  fault.value = std::move(value);
  fault.expected = std::move(expected);
  return InputError(absl::StatusCode::kFailedPrecondition, fault);
}

absl::Status CheckKernels(const RecordedRun& recorded, const Measurement& now, const Fault& fault) {
  const std::vector<KernelCycles>& was = recorded.measured.kernels;
  const size_t common = std::min(was.size(), now.kernels.size());
  for (size_t i = 0; i < common; ++i) {
    if (was[i].name == now.kernels[i].name) continue;
    return KernelListError(fault, absl::StrCat("kernel ", i + 1, " ", Clean(now.kernels[i].name)),
                           Clean(was[i].name));
  }
  if (was.size() == now.kernels.size()) return absl::OkStatus();
  return KernelListError(fault, absl::StrCat(now.kernels.size(), " kernels"),
                         absl::StrCat(was.size(), " kernels"));
}

// An error, or a note where the change is allowed.
absl::Status CheckDigest(const std::string& what, const std::string& was, const std::string& now,
                         const CompareOptions& options, Fault fault, std::vector<std::string>* notes) {
  if (was == now) return absl::OkStatus();
  if (options.allow_changes) {
    notes->push_back(absl::StrCat("the ", what, " is another than the recorded one"));
    return absl::OkStatus();
  }
  fault.value = now;
  fault.expected = was;
  absl::StrAppend(&fault.message, "the ", what,
                  " is another than the recorded one; record this run anew, or compare with allowed changes");
  return InputError(absl::StatusCode::kFailedPrecondition, fault);
}

Row MakeRow(std::string metric, uint64_t recorded, uint64_t now, double band_percent) {
  Row row{.metric = std::move(metric), .recorded = recorded, .now = now};
  const double was = static_cast<double>(recorded);
  row.percent = 100.0 * (static_cast<double>(now) - was) / was;
  row.in_band = std::abs(row.percent) <= band_percent;
  return row;
}

void AddRow(const Row& row, std::string* text) {
  absl::StrAppendFormat(text, "  %-56s %14u %14u %+9.2f%s\n", row.metric, row.recorded, row.now, row.percent,
                        row.in_band ? "" : "  OUT");
}

void AddBlock(const Comparison& comparison, std::string* text) {
  if (!comparison.error.ok()) {
    absl::StrAppend(text, comparison.label, ": not compared\n  ", comparison.error.message(), "\n");
    return;
  }
  const size_t out = comparison.out_of_band();
  const size_t kernels = comparison.rows.size() - 1;  // the last row is the total
  absl::StrAppend(text, comparison.label, ": ", kernels, kernels == 1 ? " kernel, " : " kernels, ",
                  out == 0 ? "all in" : absl::StrCat(out, " outside"),
                  absl::StrFormat(" +/-%g %%\n", comparison.band_percent));
  for (const std::string& note : comparison.notes) absl::StrAppend(text, "  note: ", note, "\n");
  absl::StrAppendFormat(text, "  %-56s %14s %14s %9s\n", "metric", "recorded", "now", "%");
  const bool all = comparison.rows.size() <= kRowsShown + 1;
  size_t shown = 0, left_out = 0;
  for (size_t i = 0; i + 1 < comparison.rows.size(); ++i) {
    const Row& row = comparison.rows[i];
    if (!all && row.in_band) continue;
    if (shown == kRowsShown) {
      ++left_out;
    } else {
      AddRow(row, text);
      ++shown;
    }
  }
  if (left_out > 0) absl::StrAppend(text, "  and ", left_out, " more outside\n");
  AddRow(comparison.rows.back(), text);
}

}  // namespace

size_t Comparison::out_of_band() const {
  return static_cast<size_t>(
      std::count_if(rows.begin(), rows.end(), [](const Row& row) { return !row.in_band; }));
}

Comparison Failed(const RecordedRun& recorded, const absl::Status& error) {
  return {.label = Clean(LabelOf(recorded.question)), .error = error};
}

Comparison Compare(const RecordedRun& recorded, const Measurement& now, const CompareOptions& options,
                   const std::string& file) {
  Comparison result{.label = Clean(LabelOf(recorded.question)),
                    .band_percent = options.band_percent.value_or(recorded.band_percent)};
  result.error = CheckKernels(recorded, now, Changed(file, result.label, "kernels"));
  if (!result.error.ok()) return result;
  result.error = CheckDigest("input", recorded.measured.trace_digest, now.trace_digest, options,
                             Changed(file, result.label, "trace_digest"), &result.notes);
  if (!result.error.ok()) return result;
  result.error = CheckDigest("configuration", recorded.measured.config_digest, now.config_digest, options,
                             Changed(file, result.label, "config_digest"), &result.notes);
  if (!result.error.ok()) return result;
  if (recorded.measured.model_version != now.model_version) {
    result.notes.push_back(
        absl::StrCat("recorded by model ", recorded.measured.model_version, ", now ", now.model_version));
  }
  for (size_t i = 0; i < now.kernels.size(); ++i) {
    const KernelCycles& was = recorded.measured.kernels[i];
    result.rows.push_back(MakeRow(absl::StrCat(i + 1, " ", Clean(was.name), " cycles"), was.cycles,
                                  now.kernels[i].cycles, result.band_percent));
  }
  result.rows.push_back(
      MakeRow("total cycles", recorded.measured.total_cycles, now.total_cycles, result.band_percent));
  return result;
}

std::string ToTable(std::span<const Comparison> comparisons) {
  std::string text;
  for (const Comparison& comparison : comparisons) AddBlock(comparison, &text);
  return text;
}

std::string ToJson(std::span<const Comparison> comparisons) {
  Json root;
  root["in_band"] = ExitCodeOf(comparisons) == 0;
  Json& runs = root["runs"] = Json::array();
  for (const Comparison& comparison : comparisons) {
    Json run = {{"label", comparison.label},
                {"error", comparison.error.ok() ? Json(nullptr) : Json(comparison.error.ToString())},
                {"band_percent", comparison.band_percent},
                {"notes", comparison.notes},
                {"rows", Json::array()}};
    for (const Row& row : comparison.rows) {
      run["rows"].push_back({{"metric", row.metric},
                             {"recorded", row.recorded},
                             {"now", row.now},
                             {"percent", row.percent},
                             {"in_band", row.in_band}});
    }
    runs.push_back(std::move(run));
  }
  return absl::StrCat(root.dump(1, ' ', false, Json::error_handler_t::replace), "\n");
}

int ExitCodeOf(std::span<const Comparison> comparisons) {
  int code = 0;
  for (const Comparison& comparison : comparisons) {
    if (!comparison.error.ok()) return 2;
    if (comparison.out_of_band() > 0) code = 1;
  }
  return code;
}

}  // namespace sm89::baseline
