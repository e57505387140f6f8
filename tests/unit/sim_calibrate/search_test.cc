// Parameters, sensitivities and the search, with formulas in the place of the simulator.
#include "sim/calibrate/search.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <functional>
#include <iterator>
#include <set>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "nlohmann/json.hpp"
#include "sim/base/strings.h"
#include "sim/calibrate/render.h"
#include "sim/config/config.h"

namespace sm89::calibrate {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Pair;

const std::vector<SettingFact> kFacts = {
    {"-l2", "cycles", "1..10000", "assumption", "100"},
    {"-l1", "cycles", "1..1000", "a paper", "30"},
    {"-dram", "ns", "0..1000, at most 1 place(s) behind the dot", "derived", "86.5"},
    {"-sfu", "cycles,cycles", "latency,interval, each 1..10000", "a guide; latency: assumption", "17,8"},
    {"-banks", "banks", "1..64, a power of two", "a paper", "8"},
    {"-policy", "", "one of lrr, gto", "a paper", "gto"}};

Parameter Make(const std::string& text) {
  const auto spec = ParseParameterSpec(text);
  const auto parameter = MakeParameter(*spec, kFacts);
  EXPECT_TRUE(parameter.ok()) << parameter.status();
  return parameter.ok() ? *parameter : Parameter();
}

TEST(Parameters, TakeBoundsFromTheRangeAndTheUser) {
  const Parameter l2 = Make("l2");
  EXPECT_EQ(l2.label(), "-l2");
  EXPECT_EQ(l2.start, 100);
  EXPECT_EQ(l2.min, 25);  // a quarter
  EXPECT_EQ(l2.max, 400);
  EXPECT_TRUE(l2.assumed);
  EXPECT_FALSE(Make("-l1").assumed);
  EXPECT_TRUE(Make("sfu:latency").assumed);
  EXPECT_FALSE(Make("sfu:interval").assumed);
  EXPECT_EQ(Make("l2=90:110").max, 110);
  const Parameter dram = Make("dram=80:90.5");
  EXPECT_EQ(dram.start, 865);
  EXPECT_EQ(dram.max, 905);
  EXPECT_EQ(dram.ValueText(870), "87.0");
  const Parameter sfu = Make("sfu:interval");
  EXPECT_EQ(sfu.start, 8);
  EXPECT_EQ(sfu.label(), "-sfu:interval");
  EXPECT_TRUE(Make("banks").power_of_two);
}

TEST(Parameters, MistakesAreNamed) {
  const std::pair<const char*, const char*> rows[] = {
      {"absent", "no such setting"}, {"policy", "number"}, {"l2=0:100", "does not allow"},
      {"l2=200:300", "outside"},     {"sfu", "two parts"}, {"l2:latency", "no parts"}};
  for (const auto& [text, message] : rows) {
    const auto spec = ParseParameterSpec(text);
    ASSERT_TRUE(spec.ok());
    EXPECT_THAT(std::string(MakeParameter(*spec, kFacts).status().message()), HasSubstr(message)) << text;
  }
  for (const char* text : {"", "=1:2", "l2=1", "l2=5:1", "l2=a:b"})
    EXPECT_FALSE(ParseParameterSpec(text).ok()) << text;
  const std::vector<ParameterSpec> twice = {{.name = "-l2"}, {.name = "-l2"}};
  EXPECT_EQ(MakeParameters(twice, kFacts).status().code(), absl::StatusCode::kAlreadyExists);
}

TEST(Parameters, BothPartsOfASettingAreOneText) {
  const std::vector<Parameter> parameters = {Make("sfu:latency"), Make("l2"), Make("sfu:interval"),
                                             Make("dram")};
  const std::vector<int64_t> values = {20, 100, 4, 900};
  EXPECT_THAT(SettingsFor(parameters, values), ElementsAre(Pair("-sfu", "20,4"), Pair("-dram", "90.0")));
}

// The offered list against the table of settings and the presets.
TEST(Parameters, EveryOfferedOneIsASettingWithRoomInEveryPreset) {
  std::set<std::string> labels;
  for (const PresetInfo& preset : Presets()) {
    const auto config = LoadConfig(preset.name, {}, {});
    ASSERT_TRUE(config.ok());
    std::vector<SettingFact> facts;
    for (const SettingInfo& row : SettingsSchema()) {
      for (const ResolvedSetting& value : config->settings) {
        if (value.name == row.name) facts.push_back({row.name, row.unit, row.range, row.source, value.value});
      }
    }
    for (const OfferedParameter& offered : OfferedParameters()) {
      const auto made = MakeParameter({.name = std::string(offered.name), .part = offered.part}, facts);
      EXPECT_TRUE(made.ok()) << preset.name << ": " << made.status();
      if (!made.ok()) continue;
      EXPECT_LE(made->min, made->start);
      EXPECT_GE(made->max, made->start);
      labels.insert(made->label());
    }
  }
  EXPECT_EQ(labels.size(), OfferedParameters().size());
}

TEST(Parameters, ThePageListsThoseThatAreOffered) {
  std::ifstream in(SM89_SOURCE_DIR "/sim/calibrate/CALIBRATE.md");
  const std::string page{std::istreambuf_iterator<char>(in), {}};
  for (const OfferedParameter& offered : OfferedParameters()) {
    const std::string part = offered.part < 0 ? "" : offered.part == 0 ? ":latency" : ":interval";
    EXPECT_THAT(page,
                HasSubstr(absl::StrCat("| `", Av(offered.name), part, "` | ", Av(offered.moves), " |\n")));
  }
}

// Kernels whose cycles follow from settings by a formula.
class Formula : public Oracle {
 public:
  using Values = std::map<std::string, double>;
  using Cycles = std::function<absl::StatusOr<std::vector<double>>(const Values&)>;
  explicit Formula(Cycles cycles) : cycles_(std::move(cycles)) {}

  absl::StatusOr<Simulated> One(const Settings& settings) const {
    Values values;
    for (const SettingFact& fact : kFacts) absl::SimpleAtod(fact.value, &values[fact.name]);
    for (const auto& [name, value] : settings) absl::SimpleAtod(value, &values[name]);
    const auto cycles = cycles_(values);
    if (!cycles.ok()) return cycles.status();
    Simulated simulated;
    for (size_t i = 0; i < cycles->size(); ++i) {
      SimulatedKernel& kernel = simulated.kernels.emplace_back();
      kernel.name = absl::StrCat("k", i);
      kernel.grid = kernel.block = {1, 1, 1};
      kernel.metrics[kCyclesMetric] = (*cycles)[i];
    }
    return simulated;
  }
  absl::StatusOr<std::vector<absl::StatusOr<Simulated>>> Simulate(
      const std::vector<Settings>& candidates) override {
    std::vector<absl::StatusOr<Simulated>> answers;
    for (const Settings& settings : candidates) {
      answers.push_back(One(settings));
      ++count;
      EXPECT_TRUE(seen_.insert(settings).second) << "simulated twice";
    }
    return answers;
  }
  // What a profiler would measure of a machine with these settings.
  Measured Silicon(const Settings& settings) const {
    Measured measured{.file = "ncu.csv", .format = "ncu metrics"};
    const auto simulated = One(settings);
    for (const SimulatedKernel& kernel : simulated->kernels) {
      measured.kernels.push_back(
          {.name = kernel.name, .grid = kernel.grid, .block = kernel.block, .metrics = kernel.metrics});
    }
    return measured;
  }

  uint32_t count = 0;

 private:
  Cycles cycles_;
  std::set<Settings> seen_;
};

absl::StatusOr<std::vector<double>> Linear(const Formula::Values& v) {
  return std::vector<double>{1000 + 50 * v.at("-l2"), 2000 + 40 * v.at("-l1") + 10 * v.at("-l2"),
                             3000 + 90 * v.at("-l1")};
}

TEST(Search, SuggestsTheParameterTheDirectionAndTheAmount) {
  Formula formula(&Linear);
  const Measured measured = formula.Silicon({{"-l2", "140"}});
  const std::vector<Parameter> parameters = {Make("l1"), Make("l2"), Make("dram")};
  const auto result = Search(measured, *formula.One({}), parameters, {}, &formula);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->simulations, 3u);
  EXPECT_THAT(result->history, ::testing::IsEmpty());
  ASSERT_EQ(result->sensitivities.size(), 3u);
  const Sensitivity& best = result->sensitivities.front();
  EXPECT_EQ(best.parameter, 1u);
  EXPECT_EQ(best.suggested, 140);
  EXPECT_EQ(best.step, 10);
  EXPECT_NEAR(best.predicted_rms_percent, 0, 1e-9);
  // The first kernel's 500 of 8000 cycles, the second's 100 of 4600, the third's none.
  EXPECT_NEAR(best.mean_change_percent, (500 / 80.0 + 100 / 46.0) / 3, 1e-9);
  EXPECT_EQ(result->sensitivities.back().mean_change_percent, 0);  // -dram
  const std::string text = ToTable(measured, parameters, {}, *result, {.config_name = "X"});
  EXPECT_THAT(text, HasSubstr("suggested next change: raise -l2 from 100 to 140 cycles"));
  EXPECT_THAT(text, HasSubstr("no source other than calibration: assumption"));
}

TEST(Search, AutoFindsTwoChangedParametersBack) {
  Formula formula(&Linear);
  const Measured measured = formula.Silicon({{"-l2", "140"}, {"-l1", "45"}});
  const std::vector<Parameter> parameters = {Make("l1"), Make("l2"), Make("dram")};
  const SearchOptions options{.tolerance_percent = 0.5, .iterate = true};
  const auto result = Search(measured, *formula.One({}), parameters, options, &formula);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_LE(result->final_fit.worst_percent, 0.5);
  EXPECT_NEAR(static_cast<double>(result->values[1]), 140, 2);
  EXPECT_NEAR(static_cast<double>(result->values[0]), 45, 1);
  EXPECT_EQ(result->values[2], 865);
  EXPECT_EQ(result->simulations, formula.count);
  EXPECT_THAT(result->stopped, HasSubstr("inside +/-0.5 %"));
  double rms = result->start_fit.rms_percent;
  for (const HistoryEntry& entry : result->history) {
    EXPECT_LT(entry.fit.rms_percent, rms);
    rms = entry.fit.rms_percent;
  }
}

TEST(Search, IsDeterministic) {
  std::string texts[2];
  for (std::string& text : texts) {
    Formula formula(&Linear);
    const Measured measured = formula.Silicon({{"-l2", "170"}, {"-l1", "21"}});
    const std::vector<Parameter> parameters = {Make("l1"), Make("l2"), Make("dram"), Make("sfu:latency")};
    const SearchOptions options{.iterate = true};
    const auto result = Search(measured, *formula.One({}), parameters, options, &formula);
    ASSERT_TRUE(result.ok()) << result.status();
    text = ToTable(measured, parameters, options, *result, {}) +
           ToJson(measured, parameters, options, *result, {}) +
           ToOverlay(measured, parameters, options, *result, {});
  }
  EXPECT_EQ(texts[0], texts[1]);
}

TEST(Search, KeepsToBounds) {
  Formula formula(&Linear);
  const Measured measured = formula.Silicon({{"-l2", "140"}});
  const std::vector<Parameter> parameters = {Make("l2=95:120")};
  const auto result =
      Search(measured, *formula.One({}), parameters, {.tolerance_percent = 0, .iterate = true}, &formula);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->values[0], 120);
  EXPECT_THAT(result->stopped, HasSubstr("no change of one parameter improves"));
}

TEST(Search, HeldOutKernelsTakeNoPartAndShowOverfitting) {
  Formula formula(&Linear);
  Measured measured = formula.Silicon({{"-l2", "140"}});
  // The third kernel depends on -l1 only, and is measured far off: held out, it changes nothing of the fit.
  measured.kernels[2].metrics[kCyclesMetric] *= 2;
  const std::vector<Parameter> parameters = {Make("l1"), Make("l2")};
  const SearchOptions options{.iterate = true, .hold_out = {"k2"}};
  const auto result = Search(measured, *formula.One({}), parameters, options, &formula);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_THAT(result->held_out_pairs, ElementsAre(2));
  EXPECT_LE(result->final_fit.worst_percent, 5);
  EXPECT_EQ(result->final_fit.values, 2u);
  EXPECT_NEAR(result->final_held_out.worst_percent, 50, 1);
  EXPECT_THAT(ToTable(measured, parameters, options, *result, {}), HasSubstr("held out, no part of the fit"));
  const auto unknown = Search(measured, *formula.One({}), parameters, {.hold_out = {"k9"}}, &formula);
  EXPECT_THAT(std::string(unknown.status().message()), HasSubstr("k9"));
  const auto all = Search(measured, *formula.One({}), parameters, {.hold_out = {"k0", "k1", "k2"}}, &formula);
  EXPECT_THAT(std::string(all.status().message()), HasSubstr("nothing to fit"));
}

TEST(Search, ARefusedCandidateIsLeftOutWithItsReason) {
  Formula formula([](const Formula::Values& v) -> absl::StatusOr<std::vector<double>> {
    if (v.at("-l1") != 30) return absl::InvalidArgumentError("l1 may not change");
    return Linear(v);
  });
  const Measured measured = formula.Silicon({{"-l2", "140"}});
  const std::vector<Parameter> parameters = {Make("l1"), Make("l2")};
  const SearchOptions options{.iterate = true};
  const auto result = Search(measured, *formula.One({}), parameters, options, &formula);
  ASSERT_TRUE(result.ok()) << result.status();
  ASSERT_EQ(result->excluded.size(), 1u);
  EXPECT_EQ(result->excluded[0].parameter, "-l1");
  EXPECT_THAT(result->excluded[0].why, HasSubstr("l1 may not change"));
  EXPECT_EQ(result->values[1], 140);
}

TEST(Search, IsBounded) {
  Formula formula(&Linear);
  const Measured measured = formula.Silicon({{"-l2", "390"}, {"-l1", "100"}});
  const std::vector<Parameter> parameters = {Make("l1"), Make("l2"), Make("dram")};
  const auto few = Search(measured, *formula.One({}), parameters,
                          {.tolerance_percent = 0, .iterate = true, .simulations_max = 5}, &formula);
  ASSERT_TRUE(few.ok()) << few.status();
  EXPECT_LE(few->simulations, 5u);
  EXPECT_THAT(few->stopped, HasSubstr("5 simulations"));
  Formula again(&Linear);
  const auto one = Search(measured, *again.One({}), parameters,
                          {.tolerance_percent = 0, .iterate = true, .iterations_max = 1}, &again);
  ASSERT_TRUE(one.ok()) << one.status();
  EXPECT_EQ(one->history.size(), 1u);
  EXPECT_THAT(one->stopped, HasSubstr("1 iterations"));
}

TEST(Search, NothingToCompareIsAnError) {
  Formula formula(&Linear);
  Measured measured = formula.Silicon({});
  const std::vector<Parameter> parameters = {Make("l2")};
  const auto metric = Search(measured, *formula.One({}), parameters, {.targets = {"absent"}}, &formula);
  EXPECT_EQ(metric.status().code(), absl::StatusCode::kNotFound);
  for (MeasuredKernel& kernel : measured.kernels) kernel.name = "other";
  const auto names = Search(measured, *formula.One({}), parameters, {}, &formula);
  EXPECT_THAT(std::string(names.status().message()), HasSubstr("other"));
}

TEST(Search, APowerOfTwoStaysOne) {
  Formula formula([](const Formula::Values& v) -> absl::StatusOr<std::vector<double>> {
    return std::vector<double>{1000 + 64000 / v.at("-banks")};
  });
  const Measured measured = formula.Silicon({{"-banks", "32"}});
  const std::vector<Parameter> parameters = {Make("banks")};
  const auto result =
      Search(measured, *formula.One({}), parameters, {.tolerance_percent = 1, .iterate = true}, &formula);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->values[0], 32);
}

TEST(Table, NotesWhatIsNotTheTimings) {
  Formula formula(&Linear);
  Measured measured = formula.Silicon({});
  Simulated start = *formula.One({});
  measured.kernels[0].metrics["smsp__inst_executed.sum"] = 100;
  start.kernels[0].metrics["smsp__inst_executed.sum"] = 102;
  measured.kernels[1].metrics["lts__t_sector_hit_rate.pct"] = 30;
  start.kernels[1].metrics["lts__t_sector_hit_rate.pct"] = 90;
  measured.kernels[2].metrics["lts__t_sector_hit_rate.pct"] = 85;
  start.kernels[2].metrics["lts__t_sector_hit_rate.pct"] = 90;
  const std::vector<Parameter> parameters = {Make("l2")};
  const auto result = Search(measured, start, parameters, {}, &formula);
  ASSERT_TRUE(result.ok()) << result.status();
  const std::string text = ToTable(measured, parameters, {}, *result, {});
  EXPECT_THAT(text, HasSubstr("note: 1 kernels executed another number of instructions"));
  EXPECT_THAT(text, HasSubstr("note: 1 kernels hit the L2 at another rate"));
}

TEST(Overlay, IncludesTheBaseAndTellsTheHistory) {
  Formula formula(&Linear);
  Measured measured = formula.Silicon({{"-l2", "140"}});
  measured.file = "a\nb.csv";
  const std::vector<Parameter> parameters = {Make("l1"), Make("l2")};
  const SearchOptions options{.iterate = true};
  const auto result = Search(measured, *formula.One({}), parameters, options, &formula);
  ASSERT_TRUE(result.ok()) << result.status();
  const Origin origin{.simulation = "job 12",
                      .product_version = "0.1.0",
                      .config = "RTX4090",
                      .config_name = "RTX4090",
                      .settings = {{"l2", "100"}, {"-gpgpu_n_mem", "12"}}};
  const std::string text = ToOverlay(measured, parameters, options, *result, origin);
  EXPECT_THAT(text, HasSubstr("\n# 1. -l2 100 -> 140: worst 0.00 %"));
  EXPECT_THAT(text, HasSubstr("\n-include RTX4090\n# as it was simulated before\n-gpgpu_n_mem 12\n"));
  EXPECT_THAT(text, HasSubstr("\n# was 100; no source other than calibration: assumption\n-l2 140\n"));
  EXPECT_THAT(text, Not(HasSubstr("-l2 100\n")));
  EXPECT_THAT(text, HasSubstr("a?b.csv"));
  const auto json = nlohmann::json::parse(ToJson(measured, parameters, options, *result, origin));
  EXPECT_EQ(json["settings"][0]["value"], "140");
  EXPECT_EQ(json["start"]["rows"].size(), 3u);
  EXPECT_EQ(json["history"][0]["to"], "140");
}

}  // namespace
}  // namespace sm89::calibrate
