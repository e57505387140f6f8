// The baseline file and the comparison with it.
#include "sim/baseline/baseline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "nlohmann/json.hpp"
#include "sim/base/fault.h"
#include "tests/support/temp_dir.h"

namespace sm89::baseline {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

RecordedRun MakeRun(const std::string& trace, std::vector<KernelCycles> kernels) {
  RecordedRun run;
  run.question.trace = trace;
  run.question.config = "RTX4090";
  run.measured = {.product_version = "1.0",
                  .model_version = "m1",
                  .trace_digest = "aaaa",
                  .config_digest = "cccc",
                  .kernels = std::move(kernels)};
  for (const KernelCycles& kernel : run.measured.kernels) run.measured.total_cycles += kernel.cycles;
  return run;
}

std::string Report(const std::string& status, const std::string& kernels) {
  return absl::StrCat(
      R"({"format": "sm89-report/1", "model_version": "m1", "product_version": "1.0", "status": ")", status,
      R"(", "status_detail": "", "trace": {"digest": "aaaa"}, "config": {"digest": "cccc"},
                      "kernels": [)",
      kernels, R"(], "totals": {"cycles": 300, "statistics": {"sm": {"cycles": 7}}}})");
}

TEST(Report, GivesVersionsDigestsAndCycles) {
  const auto measured = FromReport(Report(
      "complete", R"({"name": "a", "cycles": 100, "derived": {"ipc": null}}, {"name": "b", "cycles": 200})"));
  ASSERT_TRUE(measured.ok()) << measured.status();
  EXPECT_EQ(measured->model_version, "m1");
  EXPECT_EQ(measured->trace_digest, "aaaa");
  EXPECT_EQ(measured->config_digest, "cccc");
  ASSERT_EQ(measured->kernels.size(), 2u);
  EXPECT_EQ(measured->kernels[1].name, "b");
  EXPECT_EQ(measured->kernels[1].cycles, 200u);
  EXPECT_EQ(measured->total_cycles, 300u);
}

// Cycles depend on the control bits that the machine code beside a trace gives.
TEST(Report, OtherMachineCodeIsAnotherInput) {
  const auto digest = [](const std::string& code) {
    std::string report = Report("complete", R"({"name": "a", "cycles": 100})");
    const std::string place = "\"digest\": \"aaaa\"";
    report.insert(report.find(place) + place.size(), absl::StrCat(", \"machine_code\": [", code, "]"));
    const auto measured = FromReport(report);
    return measured.ok() ? measured->trace_digest : std::string(measured.status().message());
  };
  const std::string one = R"({"file": "k.cubin", "digest": "1111"})";
  EXPECT_EQ(digest(""), "aaaa");
  EXPECT_EQ(digest(one).size(), 64u);
  EXPECT_EQ(digest(one), digest(R"({"file": "renamed.cubin", "digest": "1111"})"));
  EXPECT_NE(digest(one), digest(R"({"file": "k.cubin", "digest": "2222"})"));
  EXPECT_NE(digest(one), digest(one + "," + one));
}

TEST(Report, OfARunThatDidNotEndIsRefused) {
  const auto cut = FromReport(Report("cycle_limit", R"({"name": "a", "cycles": 100})"));
  EXPECT_EQ(cut.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(cut.status().message()), HasSubstr("cycle_limit"));
  EXPECT_FALSE(FromReport(Report("complete", "")).ok());
  EXPECT_FALSE(FromReport(Report("complete", R"({"name": "a", "cycles": 0})")).ok());
  EXPECT_FALSE(FromReport("{}").ok());
  EXPECT_FALSE(FromReport("no json").ok());
}

TEST(File, ReadsBackWhatItWrote) {
  Baseline baseline;
  RecordedRun run = MakeRun("t", {{"k \"1\"", 100}, {"k2", 250}});
  run.question.settings = {{"gpgpu_n_mem", "12"}, {"-gpgpu_l1_latency", "30"}};
  run.question.kernels = "1-2";
  run.question.unknown_as_nop = true;
  run.band_percent = 2.5;
  ASSERT_TRUE(Put(run, &baseline).ok());
  RecordedRun program = MakeRun("", {{"k", 7}});
  program.question.cubin = "a.cubin";
  program.question.launch = "a.json";
  program.question.arch = "sm_89";
  program.question.cases = {"one", "two"};
  program.question.config = "";
  program.question.config_file = "my.cfg";
  ASSERT_TRUE(Put(program, &baseline).ok());
  RecordedRun served = MakeRun("traces/0123", {{"k", 7}});
  ASSERT_TRUE(Put(served, &baseline).ok());
  const std::string text = ToJson(baseline, "b.json");
  const auto read = Parse(text, "b.json");
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(ToJson(*read, "b.json"), text);
  ASSERT_EQ(read->runs.size(), 3u);
  EXPECT_EQ(read->runs[0].question.trace, "t");
  EXPECT_EQ(read->runs[0].question.settings, run.question.settings);
  EXPECT_EQ(read->runs[0].band_percent, 2.5);
  EXPECT_EQ(read->runs[0].measured.kernels[0].name, "k \"1\"");
  EXPECT_THAT(read->runs[1].question.cases, ElementsAre("one", "two"));
  EXPECT_EQ(read->runs[2].question.trace, "traces/0123");
  // One kernel a line.
  EXPECT_THAT(text, HasSubstr("\n    {\"name\":\"k2\",\"cycles\":250}\n"));
}

TEST(File, HoldsPathsRelativeToItself) {
  Baseline baseline;
  RecordedRun run = MakeRun("lab/traces/a", {{"k", 7}});
  ASSERT_TRUE(Put(run, &baseline).ok());
  RecordedRun outside = MakeRun("/data/b", {{"k", 7}});
  ASSERT_TRUE(Put(outside, &baseline).ok());
  const std::string text = ToJson(baseline, "lab/baseline.json");
  EXPECT_THAT(text, HasSubstr(R"("trace":"traces/a")"));
  EXPECT_THAT(text, HasSubstr(R"("trace":"/data/b")"));
  EXPECT_EQ(Parse(text, "lab/baseline.json")->runs[0].question.trace, "lab/traces/a");
  // Beside the file "traces/a" is a folder, not a name on a server.
  EXPECT_EQ(Parse(text, "baseline.json")->runs[0].question.trace, "./traces/a");
}

TEST(File, ARunOfTheSameQuestionIsReplaced) {
  Baseline baseline;
  ASSERT_TRUE(Put(MakeRun("t", {{"k", 100}}), &baseline).ok());
  ASSERT_TRUE(Put(MakeRun("u", {{"k", 100}}), &baseline).ok());
  ASSERT_TRUE(Put(MakeRun("./t", {{"k", 120}}), &baseline).ok());
  ASSERT_EQ(baseline.runs.size(), 2u);
  EXPECT_EQ(baseline.runs[0].measured.kernels[0].cycles, 120u);
}

TEST(File, EveryFaultIsReportedWithItsField) {
  const auto bad = Parse(R"({"schema": "sm89-baseline", "schema_version": 1, "extra": 1, "runs": [
      {"question": {"trace": "t", "cubin": "c", "config": "X"}, "band_percent": -1, "sm89_version": "1",
       "model_version": "m", "trace_digest": "a", "config_digest": 5, "total_cycles": 10,
       "kernels": [{"name": "k", "cycles": 0}]}]})",
                         "b.json");
  std::vector<std::string> fields;
  for (const Fault& fault : FaultsOf(bad.status())) {
    EXPECT_EQ(fault.file, "b.json");
    fields.push_back(fault.field);
  }
  EXPECT_THAT(fields, ElementsAre("runs[0].question.trace", "runs[0].band_percent", "runs[0].config_digest",
                                  "runs[0].kernels[0].cycles", "extra"));
}

TEST(File, OtherFilesAreRefused) {
  const auto other = Parse(R"({"schema": "sm89-baseline", "schema_version": 2, "runs": []})", "b.json");
  ASSERT_EQ(FaultsOf(other.status()).size(), 1u);
  EXPECT_EQ(FaultsOf(other.status())[0].field, "schema_version");
  EXPECT_EQ(FaultsOf(other.status())[0].expected, "1");
  const auto cut = Parse("{\n \"schema\": \"sm89-baseline\",\n", "b.json");
  ASSERT_EQ(FaultsOf(cut.status()).size(), 1u);
  EXPECT_GE(FaultsOf(cut.status())[0].line, 2u);
  EXPECT_FALSE(Parse("[]", "b.json").ok());
  EXPECT_FALSE(Parse(R"({"schema": "sm89-baseline", "schema_version": 1, "runs": []})", "b.json").ok());
  EXPECT_EQ(ReadFile("no/such/file.json").status().code(), absl::StatusCode::kNotFound);
}

TEST(File, IsWrittenWholeOrNotAtAll) {
  const testing::TempDir folder;
  Baseline baseline;
  ASSERT_TRUE(Put(MakeRun("t", {{"k", 100}}), &baseline).ok());
  const std::string path = folder.File("b.json");
  ASSERT_TRUE(WriteFile(baseline, path).ok());
  EXPECT_EQ(ReadFile(path)->runs.size(), 1u);
  EXPECT_FALSE(WriteFile(baseline, folder.File("absent/b.json")).ok());
  size_t entries = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
    EXPECT_EQ(entry.path().filename(), "b.json");
    ++entries;
  }
  EXPECT_EQ(entries, 1u);
}

TEST(Compare, TheBandIncludesItsBorders) {
  const RecordedRun recorded = MakeRun("t", {{"a", 1000}, {"b", 1000}, {"c", 1000}, {"d", 1000}});
  Measurement now = recorded.measured;
  const uint64_t cycles[] = {1150, 850, 1151, 849};
  for (size_t i = 0; i < 4; ++i) now.kernels[i].cycles = cycles[i];
  const Comparison comparison = Compare(recorded, now, {}, "b.json");
  ASSERT_TRUE(comparison.error.ok()) << comparison.error;
  ASSERT_EQ(comparison.rows.size(), 5u);
  EXPECT_TRUE(comparison.rows[0].in_band);
  EXPECT_TRUE(comparison.rows[1].in_band);
  EXPECT_FALSE(comparison.rows[2].in_band);
  EXPECT_FALSE(comparison.rows[3].in_band);
  EXPECT_DOUBLE_EQ(comparison.rows[1].percent, -15.0);
  EXPECT_EQ(comparison.rows[4].metric, "total cycles");
  EXPECT_EQ(ExitCodeOf({&comparison, 1}), 1);
  const Comparison wider = Compare(recorded, now, {.band_percent = 16}, "b.json");
  EXPECT_EQ(wider.out_of_band(), 0u);
  EXPECT_EQ(ExitCodeOf({&wider, 1}), 0);
}

TEST(Compare, AnotherKernelListIsAlwaysAnError) {
  const RecordedRun recorded = MakeRun("t", {{"a", 1000}, {"b", 1000}});
  Measurement renamed = recorded.measured;
  renamed.kernels[1].name = "z";
  Measurement fewer = recorded.measured;
  fewer.kernels.pop_back();
  for (const Measurement* now : {&renamed, &fewer}) {
    const Comparison comparison = Compare(recorded, *now, {.allow_changes = true}, "b.json");
    EXPECT_EQ(comparison.error.code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_THAT(std::string(comparison.error.message()), HasSubstr("kernel list has changed"));
    EXPECT_THAT(comparison.rows, IsEmpty());
    EXPECT_EQ(ExitCodeOf({&comparison, 1}), 2);
  }
  EXPECT_EQ(FaultsOf(Compare(recorded, renamed, {}, "b.json").error)[0].expected, "b");
}

TEST(Compare, AnotherConfigurationOrInputIsAnErrorUnlessAllowed) {
  const RecordedRun recorded = MakeRun("t", {{"a", 1000}});
  Measurement config = recorded.measured;
  config.config_digest = "dddd";
  Measurement input = recorded.measured;
  input.trace_digest = "bbbb";
  const std::pair<const Measurement*, const char*> rows[] = {{&config, "config_digest"},
                                                             {&input, "trace_digest"}};
  for (const auto& [now, field] : rows) {
    const Comparison refused = Compare(recorded, *now, {}, "b.json");
    ASSERT_EQ(FaultsOf(refused.error).size(), 1u);
    EXPECT_EQ(FaultsOf(refused.error)[0].field, field);
    EXPECT_EQ(FaultsOf(refused.error)[0].file, "b.json");
    const Comparison allowed = Compare(recorded, *now, {.allow_changes = true}, "b.json");
    EXPECT_TRUE(allowed.error.ok());
    EXPECT_EQ(allowed.notes.size(), 1u);
  }
}

TEST(Table, NamesWhatIsOutsideAndWhatWasNotCompared) {
  const RecordedRun recorded = MakeRun("t", {{"a\x1b[31m", 1000}, {"b", 1000}});
  Measurement now = recorded.measured;
  now.kernels[1].cycles = 2000;
  now.total_cycles = 3000;
  now.model_version = "m2";
  const Comparison comparisons[] = {
      Compare(recorded, now, {}, "b.json"),
      Failed(MakeRun("u", {{"c", 5}}), absl::NotFoundError("the trace u is missing"))};
  const std::string table = ToTable(comparisons);
  EXPECT_THAT(table, HasSubstr("t @ RTX4090: 2 kernels, 2 outside +/-15 %"));
  EXPECT_THAT(table, ::testing::ContainsRegex("2 b cycles +1000 +2000 +\\+100.00  OUT"));
  EXPECT_THAT(table, ::testing::ContainsRegex("total cycles +2000 +3000 +\\+50.00  OUT"));
  EXPECT_THAT(table, HasSubstr("recorded by model m1, now m2"));
  EXPECT_THAT(table, HasSubstr("u @ RTX4090: not compared\n  the trace u is missing"));
  EXPECT_THAT(table, Not(HasSubstr("\x1b")));
  EXPECT_EQ(ExitCodeOf(comparisons), 2);
  const auto json = nlohmann::json::parse(ToJson(comparisons));
  EXPECT_EQ(json["in_band"], false);
  EXPECT_EQ(json["runs"][0]["rows"][1]["percent"], 100.0);
  EXPECT_TRUE(json["runs"][0]["error"].is_null());
  EXPECT_FALSE(json["runs"][1]["error"].is_null());
}

TEST(Table, OfManyKernelsShowsThoseOutside) {
  std::vector<KernelCycles> kernels;
  for (int i = 0; i < 200; ++i) kernels.push_back({"k", 1000});
  const RecordedRun recorded = MakeRun("t", kernels);
  Measurement now = recorded.measured;
  for (int i = 0; i < 50; ++i) now.kernels[i].cycles = 5000;
  const Comparison comparison = Compare(recorded, now, {}, "b.json");
  const std::string table = ToTable({&comparison, 1});
  EXPECT_EQ(std::count(table.begin(), table.end(), '\n'), 2 + 40 + 1 + 1);
  EXPECT_THAT(table, HasSubstr("and 10 more outside"));
}

}  // namespace
}  // namespace sm89::baseline
