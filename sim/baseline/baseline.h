// Recorded cycle counts: the file that a lab commits, and how today's runs compare with it. Knows nothing of
// the simulator: what was simulated comes as the JSON report that sm89-sim and the daemon write. Format:
// BASELINE.md.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace sm89::baseline {

// Raised when a key changes its meaning or goes away.
inline constexpr uint64_t kSchemaVersion = 1;
// Half-width of the band that a cycle count has to stay in, in % of the recorded count.
inline constexpr double kDefaultBandPercent = 15;
inline constexpr double kBandPercentMin = 0;
inline constexpr double kBandPercentMax = 1000;
// Bounds of one file.
inline constexpr size_t kRunsMax = 1000;
inline constexpr size_t kKernelsMax = 100'000;  // of all runs together
inline constexpr size_t kFileBytesMax = 64 << 20;

// What is simulated, as its user names it. Paths are relative to the working directory here and to the
// baseline's own folder in its file (absolute ones stay as they are), so that both can be committed together.
struct Question {
  std::string trace;  // a path, or "traces/{id}" on a server; empty for machine code
  std::string cubin, launch;
  std::string suite, cubin_folder;
  std::string arch;  // of machine code: "sm_89"
  std::vector<std::string> cases;
  std::vector<std::string> sass;  // files with the encodings of a trace's kernels
  bool foreign_arch = false, allow_partial = false, unknown_as_nop = false;
  std::string config;       // a preset, or "configs/{id}" on a server; empty with `config_file`
  std::string config_file;  // a path
  std::vector<std::pair<std::string, std::string>> settings;  // on top of the configuration, in order
  std::string kernels;                                        // "1,3-5"; empty = all
};

// "deploy/example @ RTX4090 gpgpu_n_mem=12": names a run in tables and messages.
std::string LabelOf(const Question& question);

struct KernelCycles {
  std::string name;
  uint64_t cycles = 0;  // launch to the last CTA's end
};

// What a complete simulation gave.
struct Measurement {
  std::string product_version, model_version;
  std::string trace_digest, config_digest;
  std::vector<KernelCycles> kernels;  // in the order of the report
  uint64_t total_cycles = 0;
};

struct RecordedRun {
  Question question;
  double band_percent = kDefaultBandPercent;
  Measurement measured;
};

struct Baseline {
  std::vector<RecordedRun> runs;
};

// Takes what a baseline needs out of a report ("sm89-report/1"). FAILED_PRECONDITION for a run that did not
// reach its end, INVALID_ARGUMENT for a text that is no report.
absl::StatusOr<Measurement> FromReport(std::string_view report_json);

// Adds `run`, in the place of an earlier run of the same question. RESOURCE_EXHAUSTED beyond the bounds.
absl::Status Put(RecordedRun run, Baseline* baseline);

// `file` is the baseline's path: it stands in messages, and its folder is what paths are relative to. All
// faults of a text are reported together, each with the field that it is in.
absl::StatusOr<Baseline> Parse(std::string_view text, const std::string& file);
// Deterministic; one kernel a line, so that a change of one is a change of one line.
std::string ToJson(const Baseline& baseline, const std::string& file);

absl::StatusOr<Baseline> ReadFile(const std::string& file);  // NOT_FOUND when there is none
// Written beside `file` and renamed: whole or not there.
absl::Status WriteFile(const Baseline& baseline, const std::string& file);

struct CompareOptions {
  std::optional<double> band_percent;  // instead of the recorded one
  bool allow_changes = false;          // compare although the input or the configuration is another
};

struct Row {
  std::string metric;  // "1 vector_add cycles"
  uint64_t recorded = 0;
  uint64_t now = 0;
  double percent = 0;  // (now - recorded) / recorded
  bool in_band = true;
};

// A run against its record. With an `error` (the input is missing, another kernel list, another
// configuration) there are no rows.
struct Comparison {
  std::string label;
  absl::Status error;
  double band_percent = 0;
  std::vector<Row> rows;           // a kernel each, then "total cycles"
  std::vector<std::string> notes;  // another model version, changes that were allowed
  size_t out_of_band() const;
};

// `file` stands in messages.
Comparison Compare(const RecordedRun& recorded, const Measurement& now, const CompareOptions& options,
                   const std::string& file);
// The comparison of a run that could not be repeated.
Comparison Failed(const RecordedRun& recorded, const absl::Status& error);

// For people: one block a run. Of a run with more than `kRowsShown` kernels only rows outside the band (the
// first `kRowsShown`) and the total are shown.
inline constexpr size_t kRowsShown = 40;
std::string ToTable(std::span<const Comparison> comparisons);
// {"in_band": bool, "runs": [{label, error, band_percent, notes, rows}]}: every row.
std::string ToJson(std::span<const Comparison> comparisons);

// 0: all in band; 1: something is outside; 2: something could not be compared.
int ExitCodeOf(std::span<const Comparison> comparisons);

}  // namespace sm89::baseline
