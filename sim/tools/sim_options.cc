#include "sim/tools/sim_options.h"

#include <algorithm>
#include <ostream>
#include <set>

#include "CLI/CLI.hpp"
#include "absl/strings/str_cat.h"
#include "sim/base/version.h"
#include "sim/baseline/baseline.h"
#include "sim/tools/exit_codes.h"
#include "sim/tools/sim_errors.h"

namespace sm89 {
namespace {

// What the parser fills before it is checked and converted.
struct RawOptions {
  std::string threads;
  std::string help_topic;
  std::string show;
  bool version = false;
};

constexpr uint32_t kMaxThreads = 256;

constexpr char kDescription[] =
    "Simulates a trace, or machine code that it executes itself, on an SM89 (Ada) GPU and prints a table; "
    "other\n"
    "forms on request.\n"
    "TRACE is a folder with kernelslist.g, a list file, one kernel file, an archive of a folder, or a "
    "compact trace.";

// "nan" passes every comparison of a range.
std::string NotANumber(const std::string& text) {
  return text.find_first_of("nN") == std::string::npos ? "" : text + " is not a number";
}

void DeclareBaseline(CLI::App* app, SimCommandOptions* options) {
  app->add_option("--baseline-record", options->baseline_record,
                  "add this run's cycle counts to a baseline, or replace its earlier ones (sim/baseline)")
      ->type_name("FILE");
  CLI::Option* check = app->add_option("--baseline-check", options->baseline_check,
                                       "simulate all runs of a baseline and compare their cycle counts")
                           ->type_name("FILE");
  app->add_option("--baseline-band", options->baseline_band_percent,
                  "allowed difference in % (default 15; of a check: the recorded one)")
      ->check(CLI::Range(baseline::kBandPercentMin, baseline::kBandPercentMax))
      ->check(NotANumber)
      ->type_name("PERCENT");
  app->add_flag("--baseline-allow-changes", options->baseline_allow_changes,
                "with --baseline-check: compare although a configuration or an input has changed")
      ->needs(check);
}

void DeclareCalibrate(CLI::App* app, SimCommandOptions* options) {
  CLI::Option* calibrate =
      app->add_option(
             "--calibrate", options->calibrate_measured,
             "compare with a CSV of ncu or nsys stats and suggest a setting to change (sim/calibrate)")
          ->type_name("FILE");
  app->add_flag("--calibrate-auto", options->calibrate_search.iterate,
                "go on until every error is inside the tolerance or nothing improves");
  app->add_option("--calibrate-parameter", options->calibrate_parameters,
                  "setting that may change, NAME or NAME=MIN:MAX; may be repeated")
      ->type_name("NAME")
      ->allow_extra_args(false);
  app->add_option("--calibrate-hold-out", options->calibrate_search.hold_out,
                  "kernel that takes no part in the fit; may be repeated")
      ->type_name("NAME")
      ->allow_extra_args(false);
  app->add_option("--calibrate-metric", options->calibrate_search.targets,
                  "what is made to fit, by Nsight Compute's name (default cycles, else durations)")
      ->type_name("NAME")
      ->allow_extra_args(false);
  app->add_option("--calibrate-tolerance", options->calibrate_search.tolerance_percent,
                  "errors inside +/- this need no more work (default 5)")
      ->check(CLI::Range(0.0, 100.0))
      ->check(NotANumber)
      ->type_name("PERCENT");
  app->add_option("--calibrate-output", options->calibrate_output, "write an overlay configuration")
      ->type_name("FILE");
  for (CLI::Option* option :
       app->get_options([](const CLI::Option* o) { return o->get_name().starts_with("--calibrate-"); }))
    option->needs(calibrate);
}

void Declare(CLI::App* app, SimCommandOptions* options, RawOptions* raw) {
  app->set_help_flag();
  app->add_option("-h,--help", raw->help_topic,
                  "this help; with GROUP, the settings of that group ('sm89': every one that has an effect,\n"
                  "and the presets; 'all': the names without an effect too)")
      ->expected(0, 1)
      ->type_name("[GROUP]");
  app->add_flag("--version", raw->version, "product and model version");
  app->add_option("--show", raw->show,
                  "instead of a run: 'config', every setting with its value and where that comes from, or\n"
                  "'tensor', the tensor-core modes with interval, latency and peak")
      ->type_name("WHAT");
  app->add_option("--keep-trace", options->keep_trace, "with --cubin or --suite: store what was executed")
      ->type_name("FILE");
  app->add_option("--threads", raw->threads,
                  "host threads, 1 to 256; the result does not depend on them (default 1)")
      ->type_name("N");
  app->add_option("--json", options->json, "write the full report")->type_name("FILE");
  app->add_option("--csv", options->csv, "write one row a kernel")->type_name("FILE");
  app->add_option("--text", options->text, "write the lines that Accel-Sim's scripts read")
      ->type_name("FILE");
  app->add_option("--pc-csv", options->pc_csv, "profile, and write one row an instruction of each kernel")
      ->type_name("FILE");
  app->add_option(
         "--pc-json", options->pc_json,
         "profile, and write it with SASS, live registers, source lines and PTX where machine code has "
         "them")
      ->type_name("FILE");
  app->add_option("--ser-trace", options->ser_trace,
                  "decisions of the reordering stage (research model): FILE.csv, FILE.jsonl, else compact")
      ->type_name("FILE");
  app->add_option(
         "--kineto", options->kineto,
         "write the timeline as a chrome trace with the fields of PyTorch's profiler; NAME.gz: compressed")
      ->type_name("FILE");
  app->add_flag("--profile", options->profile,
                "count issues and warp states by instruction: per_pc in --json, hottest in the table");
  app->add_flag("--host-time", options->host_time,
                "add simulation time and rate to --text (varies from run to run)");
  DeclareBaseline(app, options);
  DeclareCalibrate(app, options);
  app->add_flag("--progress", options->progress, "show progress on standard error");
}

std::string Footer() {
  std::string text =
      "FILE may be '-' for standard output (one of them; the table is then left out).\n\nPresets:\n";
  for (const PresetInfo& preset : Presets())
    absl::StrAppend(&text, "  ", preset.name, "  ", preset.description, "\n");
  absl::StrAppend(&text, "\n", Av(kExitCodeHelp));
  return text;
}

// A check brings its own inputs and gives no other results.
absl::Status CheckBaselineAlone(const SimCommandOptions& options) {
  const bool other = !options.trace.empty() || options.program.any() || !options.calibrate_measured.empty() ||
                     !options.baseline_record.empty() || !options.overrides.empty() ||
                     !options.kernels.ranges.empty() || !options.json.empty() || !options.csv.empty() ||
                     !options.text.empty() || !options.pc_csv.empty() || !options.ser_trace.empty() ||
                     !options.kineto.empty() || !options.pc_json.empty() || options.profile ||
                     options.max_cycles != 0;
  if (!other) return absl::OkStatus();
  return InputError(absl::StatusCode::kInvalidArgument,
                    Fault{.field = "--baseline-check",
                          .value = options.baseline_check,
                          .expected = "no trace, program, setting or result file beside it",
                          .message = "the file says what is simulated"});
}

// A calibration simulates many times: there is not one result to write.
absl::Status CheckCalibrateAlone(const SimCommandOptions& options) {
  const bool other = !options.keep_trace.empty() || !options.baseline_record.empty() ||
                     !options.json.empty() || !options.csv.empty() || !options.text.empty() ||
                     !options.pc_csv.empty() || !options.ser_trace.empty() || !options.kineto.empty() ||
                     !options.pc_json.empty();
  if (options.calibrate_measured.empty() || !other) return absl::OkStatus();
  return InputError(absl::StatusCode::kInvalidArgument,
                    Fault{.field = "--calibrate",
                          .value = options.calibrate_measured,
                          .expected = "no result file beside it but --calibrate-output",
                          .message = "a calibration simulates many times"});
}

// Exactly one of a trace and a program.
absl::Status CheckSimInput(const SimCommandOptions& options) {
  if (!options.baseline_check.empty()) return CheckBaselineAlone(options);
  RETURN_IF_ERROR(CheckCalibrateAlone(options));
  RETURN_IF_ERROR(CheckInput(options));
  if (!options.keep_trace.empty() && !options.program.any()) {
    return InputError(absl::StatusCode::kInvalidArgument,
                      Fault{.field = "--keep-trace",
                            .value = options.keep_trace,
                            .expected = "--cubin or --suite",
                            .message = "only what is executed can be kept"});
  }
  return absl::OkStatus();
}

absl::Status ReadShow(const std::string& text, SimCommandOptions* options) {
  if (text == "config") {
    options->show = SimCommandOptions::Show::kConfig;
  } else if (text == "tensor") {
    options->show = SimCommandOptions::Show::kTensor;
  } else {
    return InputError(absl::StatusCode::kInvalidArgument, Fault{.field = "--show",
                                                                .value = text,
                                                                .expected = "config or tensor",
                                                                .message = "there is no such view"});
  }
  return absl::OkStatus();
}

absl::Status Finish(const RawOptions& raw, SimInputFlags* input, SimCommandOptions* options) {
  if (!raw.show.empty()) {
    RETURN_IF_ERROR(input->FinishConfig());
    return ReadShow(raw.show, options);
  }
  RETURN_IF_ERROR(input->Finish());
  if (!raw.threads.empty()) {
    ASSIGN_OR_RETURN(const uint64_t threads, ReadWholeNumber("--threads", raw.threads, 1, kMaxThreads));
    options->threads = static_cast<uint32_t>(threads);
  }
  RETURN_IF_ERROR(CheckSimInput(*options));
  options->profile = options->profile || !options->pc_csv.empty() || !options->pc_json.empty();
  const std::string* outputs[] = {&options->json,    &options->csv,    &options->text,     &options->pc_csv,
                                  &options->pc_json, &options->kineto, &options->ser_trace};
  if (std::count_if(std::begin(outputs), std::end(outputs), [](const auto* o) { return *o == "-"; }) > 1) {
    return absl::InvalidArgumentError(
        "only one of --json, --csv, --text, --pc-csv, --pc-json, --kineto and --ser-trace can go to standard "
        "output");
  }
  if (options->host_time && options->text.empty()) {
    return absl::InvalidArgumentError("--host-time adds lines to --text, which is not asked for");
  }
  return absl::OkStatus();
}

// A view takes a configuration and nothing else.
absl::Status CheckShowAlone(const CLI::App& app) {
  const std::set<std::string> of_a_view = {"--show", "--config", "--set", "--strict"};
  for (const CLI::Option* option : app.get_options()) {
    if (option->count() == 0 || of_a_view.contains(option->get_name())) continue;
    return InputError(absl::StatusCode::kInvalidArgument,
                      Fault{.field = "--show",
                            .expected = "--config, --set or --strict beside it",
                            .message = absl::StrCat("a view has no use for ", option->get_name())});
  }
  return absl::OkStatus();
}

// Help on settings: a group's, or all.
int PrintSettingsHelp(const std::string& topic, std::ostream& out, std::ostream& err) {
  const auto schema = SettingsSchema();
  const bool all = topic == "all";
  const bool known = topic == "sm89" || std::any_of(schema.begin(), schema.end(),
                                                    [&](const SettingInfo& s) { return s.group == topic; });
  (all || known ? out : err) << SettingsHelp(all ? std::string() : topic);
  return all || known ? kExitOk : kExitBadInput;
}

}  // namespace

ParsedCommandLine ParseSimCommandLine(const std::vector<std::string>& args, std::ostream& out,
                                      std::ostream& err) {
  ParsedCommandLine parsed;
  RawOptions raw;
  CLI::App app(kDescription, "sm89-sim");
  SimInputFlags input(&app, &parsed.options);
  Declare(&app, &parsed.options, &raw);
  app.footer(Footer());
  try {
    app.parse(std::vector<std::string>(args.rbegin(), args.rend()));  // the library wants the last one first
  } catch (const CLI::ParseError& error) {
    err << "sm89-sim: error: " << error.what() << RepeatHint(app, args) << "\nsee sm89-sim --help\n";
    parsed.exit_code = kExitBadInput;
    return parsed;
  }
  if (app.count("--help") > 0) {
    if (raw.help_topic.empty()) {
      out << app.help();
      parsed.exit_code = kExitOk;
    } else {
      parsed.exit_code = PrintSettingsHelp(raw.help_topic, out, err);
    }
    return parsed;
  }
  if (raw.version) {
    out << "sm89-sim " << kProductVersion << ", model " << kModelVersion << "\n";
    parsed.exit_code = kExitOk;
    return parsed;
  }
  absl::Status status = raw.show.empty() ? absl::OkStatus() : CheckShowAlone(app);
  if (status.ok()) status = Finish(raw, &input, &parsed.options);
  if (!status.ok()) {
    PrintError("sm89-sim", status, err);
    err << "see sm89-sim --help\n";
    parsed.exit_code = kExitBadInput;
  }
  return parsed;
}

}  // namespace sm89
