#include "sim/tools/sim_calibrate.h"

#include <algorithm>
#include <map>
#include <ostream>

#include "absl/strings/str_cat.h"
#include "sim/base/status_macros.h"
#include "sim/base/version.h"
#include "sim/calibrate/render.h"
#include "sim/calibrate/search.h"
#include "sim/tools/exit_codes.h"
#include "sim/tools/sim_output.h"

namespace sm89 {
namespace {

// This process's simulator: one candidate after another.
class LocalOracle : public calibrate::Oracle {
 public:
  LocalOracle(const SimCommandOptions& options, const SimCommandIo& io) : options_(options), io_(io) {}

  absl::StatusOr<calibrate::Simulated> One(const calibrate::Settings& settings) const {
    SimCommandOptions options = options_;
    for (const auto& [name, value] : settings) options.overrides.push_back({name, value});
    ASSIGN_OR_RETURN(const std::string report, SimulateForReport(options, io_));
    return calibrate::FromReport(report);
  }
  absl::StatusOr<std::vector<absl::StatusOr<calibrate::Simulated>>> Simulate(
      const std::vector<calibrate::Settings>& candidates) override {
    std::vector<absl::StatusOr<calibrate::Simulated>> answers;
    for (const calibrate::Settings& settings : candidates) {
      if (io_.interrupted != nullptr && io_.interrupted->load()) return absl::CancelledError("interrupted");
      answers.push_back(One(settings));
    }
    return answers;
  }

 private:
  const SimCommandOptions& options_;
  const SimCommandIo& io_;
};

std::string FullSettingName(const std::string& name) {
  const std::string dashed = name.starts_with('-') ? name : "-" + name;
  for (const SettingInfo& row : SettingsSchema()) {
    if (std::find(row.aliases.begin(), row.aliases.end(), dashed) != row.aliases.end()) return row.name;
  }
  return dashed;
}

absl::StatusOr<std::vector<calibrate::Parameter>> ChooseParameters(const SimCommandOptions& options) {
  ASSIGN_OR_RETURN(const Config config,
                   LoadConfig(options.config, options.overrides, options.config_options));
  std::map<std::string, std::string> values;
  for (const ResolvedSetting& setting : config.settings) values[setting.name] = setting.value;
  std::vector<calibrate::SettingFact> facts;
  for (const SettingInfo& row : SettingsSchema()) {
    if (row.has_effect) facts.push_back({row.name, row.unit, row.range, row.source, values[row.name]});
  }
  std::vector<calibrate::ParameterSpec> specs;
  for (const std::string& text : options.calibrate_parameters) {
    ASSIGN_OR_RETURN(calibrate::ParameterSpec spec, calibrate::ParseParameterSpec(text));
    spec.name = FullSettingName(spec.name);
    specs.push_back(std::move(spec));
  }
  return calibrate::MakeParameters(specs, facts);
}

calibrate::Origin OriginOf(const SimCommandOptions& options, const calibrate::Simulated& start) {
  calibrate::Origin origin{.simulation = start.trace_name,
                           .product_version = std::string(kProductVersion),
                           .config = options.config,
                           .config_name = options.config};
  for (const NamedOverride& one : options.overrides)
    origin.settings.emplace_back(FullSettingName(one.name), one.value);
  return origin;
}

}  // namespace

absl::StatusOr<int> Calibrate(const SimCommandOptions& options, const SimCommandIo& io) {
  ASSIGN_OR_RETURN(const calibrate::Measured measured,
                   calibrate::ReadMeasuredFile(options.calibrate_measured));
  ASSIGN_OR_RETURN(const std::vector<calibrate::Parameter> parameters, ChooseParameters(options));
  LocalOracle oracle(options, io);
  ASSIGN_OR_RETURN(const calibrate::Simulated start, oracle.One({}));
  ASSIGN_OR_RETURN(const calibrate::SearchResult result,
                   calibrate::Search(measured, start, parameters, options.calibrate_search, &oracle));
  const calibrate::Origin origin = OriginOf(options, start);
  if (!options.calibrate_output.empty()) {
    ASSIGN_OR_RETURN(const std::unique_ptr<ResultOutput> output,
                     ResultOutput::Open(options.calibrate_output, io.out));
    RETURN_IF_ERROR(
        output->Commit(calibrate::ToOverlay(measured, parameters, options.calibrate_search, result, origin)));
  }
  io.out << calibrate::ToTable(measured, parameters, options.calibrate_search, result, origin) << std::flush;
  return kExitOk;
}

}  // namespace sm89
