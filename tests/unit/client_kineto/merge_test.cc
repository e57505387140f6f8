// Merging into a profile that PyTorch wrote on a GPU (tests/kineto/host_profile.json.gz), into one of a
// machine without a GPU, and into small ones made here.
#include "client/kineto/merge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <map>
#include <set>

#include "absl/strings/str_cat.h"
#include "client/kineto/gz_file.h"
#include "client/kineto/host_profile.h"
#include "tests/support/gzip_file.h"
#include "tests/support/temp_dir.h"

namespace sm89::client {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string kFolder = std::string(SM89_SOURCE_DIR) + "/tests/kineto/";
const std::string kGpuProfile = kFolder + "host_profile.json.gz";
const std::string kCpuProfile = kFolder + "host_profile_cpu.json.gz";

struct SimRow {
  std::string name;
  std::vector<int> grid, block;
  double ts = 0, dur = 0;
  int stream = 0;
};

// The seven launches of tests/data/kernels, 10 us each and 2 us apart.
std::vector<SimRow> Suite() {
  std::vector<SimRow> rows = {
      {"vector_add", {782, 1, 1}, {256, 1, 1}},  {"sgemm_tiled", {10, 7, 1}, {16, 16, 1}},
      {"sgemm_register", {4, 4, 1}, {64, 1, 1}}, {"tensor_gemm", {8, 8, 1}, {128, 1, 1}},
      {"reduction", {64, 1, 1}, {256, 1, 1}},    {"divergent", {32, 1, 1}, {128, 1, 1}},
      {"histogram", {64, 1, 1}, {256, 1, 1}},
  };
  for (size_t i = 0; i < rows.size(); ++i) {
    rows[i].ts = 12.0 * static_cast<double>(i) + 2;
    rows[i].dur = 10;
  }
  return rows;
}

class MergeTest : public ::testing::Test {
 protected:
  std::string WriteJson(const std::string& name, const TraceJson& json) {
    const std::string path = folder_.File(name);
    auto file = GzOutput::Create(path);
    EXPECT_TRUE(file.ok() && (*file)->Write(json.dump()).ok() && (*file)->Commit().ok());
    return path;
  }

  std::string Timeline(const std::vector<SimRow>& rows, std::vector<TraceJson> more = {}) {
    TraceJson trace;
    trace["deviceProperties"] =
        TraceJson::array({{{"id", 0}, {"name", "RTX4090 (simulated)"}, {"numSms", 128}}});
    trace["sm89"] = {{"model_version", "test"}};
    TraceJson& events = trace["traceEvents"] = TraceJson::array();
    for (size_t i = 0; i < rows.size(); ++i) {
      TraceJson args = {{"stream", rows[i].stream}, {"correlation", i + 1}};
      args["grid"] = rows[i].grid;
      args["block"] = rows[i].block;
      events.push_back({{"ph", "X"},
                        {"cat", "kernel"},
                        {"name", rows[i].name},
                        {"pid", 0},
                        {"tid", 0},
                        {"ts", rows[i].ts},
                        {"dur", rows[i].dur},
                        {"args", args}});
    }
    for (TraceJson& event : more) events.push_back(std::move(event));
    return WriteJson("sim.json.gz", trace);
  }

  static TraceJson Counter(double ts, double value) {
    return {{"ph", "C"}, {"name", "IPC"}, {"pid", 0}, {"tid", 0}, {"ts", ts}, {"args", {{"IPC", value}}}};
  }

  // Merges and reads the result.
  void Merge(const std::string& host, const std::string& simulated, bool replace = false) {
    const auto report = MergeTraces({host, simulated, folder_.File("out.json.gz"), replace});
    ASSERT_TRUE(report.ok()) << report.status();
    report_ = *report;
    merged_ = TraceJson::parse(testing::ReadGzipFile(folder_.File("out.json.gz")), nullptr, false);
    ASSERT_FALSE(merged_.is_discarded());
    simulated_.clear();
    others_.clear();
    for (const TraceJson& event : merged_["traceEvents"]) {
      const bool ours = event.contains("args") && event["args"].contains("matched by");
      (ours ? simulated_ : others_).push_back(event);
    }
  }

  testing::TempDir folder_;
  TraceJson report_, merged_;
  std::vector<TraceJson> simulated_, others_;  // kernels of ours; every other event
};

TraceJson Json(const std::string& path) {
  return TraceJson::parse(testing::ReadGzipFile(path), nullptr, false);
}

// Events of the host, found again among `events` in their order; returns those that are not there.
std::vector<TraceJson> Missing(const TraceJson& host, const std::vector<TraceJson>& events) {
  std::vector<TraceJson> missing;
  size_t at = 0;
  for (const TraceJson& event : host["traceEvents"]) {
    if (at < events.size() && events[at] == event)
      ++at;
    else
      missing.push_back(event);
  }
  return missing;
}

TEST_F(MergeTest, RealProfileKeepsAllThatIsMeasured) {
  Merge(kGpuProfile, Timeline(Suite()));
  const TraceJson host = Json(kGpuProfile);
  EXPECT_TRUE(Missing(host, others_).empty());
  for (const auto& [key, value] : host.items()) {
    if (key != "traceEvents" && key != "deviceProperties") {
      EXPECT_EQ(merged_[key], value) << key;
    }
  }
  ASSERT_EQ(merged_["deviceProperties"].size(), 2u);
  EXPECT_EQ(merged_["deviceProperties"][1]["id"], 16) << "Kineto names the rows of 16 GPUs";
  EXPECT_EQ(merged_["deviceProperties"][1]["name"], "RTX4090 (simulated)");
}

TEST_F(MergeTest, RealProfileIsMatchedByNameInTheOrderOfLaunch) {
  Merge(kGpuProfile, Timeline(Suite()));
  EXPECT_EQ(report_["pairs"]["count"], 7);
  EXPECT_EQ(report_["matched_by"], (TraceJson{{"name, grid and block", 7}}));
  EXPECT_EQ(report_["out_of_order"], 0);
  EXPECT_EQ(report_["simulated_without_launch"]["count"], 0);
  // 80 kernels ran; the second of the two steps has no simulated counterpart.
  EXPECT_EQ(report_["host"]["kernels"], 80);
  EXPECT_EQ(report_["launches_without_simulation"]["count"], 73);
  size_t again = 0;
  for (const TraceJson& row : report_["launches_without_simulation"]["rows"]) {
    if (row["name"] == "reduction") again += row["count"].get<size_t>();
  }
  EXPECT_EQ(again, 1u);
}

// Correlation, PyTorch operation, start behind the launch call, a stream without overlaps, an arrow.
TEST_F(MergeTest, RealProfileGetsKernelsWhereTheyWereLaunched) {
  Merge(kGpuProfile, Timeline(Suite()));
  std::map<int64_t, TraceJson> launches, measured, arrow_starts, arrow_ends;
  for (const TraceJson& event : others_) {
    const bool arrow = event.value("cat", "") == "ac2g";
    if (event["name"] == "cudaLaunchKernel") launches[event["args"]["correlation"]] = event;
    if (event.value("cat", "") == "kernel") measured[event["args"]["correlation"]] = event;
    if (arrow) (event["ph"] == "s" ? arrow_starts : arrow_ends)[event["id"]] = event;
  }
  ASSERT_EQ(simulated_.size(), 7u);
  double end = 0;
  for (const TraceJson& kernel : simulated_) {
    const int64_t correlation = kernel["args"]["correlation"];
    const TraceJson& launch = launches.at(correlation);
    EXPECT_EQ(measured.at(correlation)["name"], kernel["name"]);
    EXPECT_EQ(kernel["args"]["measured dur (us)"], measured.at(correlation)["dur"]);
    EXPECT_EQ(kernel["pid"], 16);
    EXPECT_EQ(kernel["tid"], 7) << "the measured kernel's stream";
    EXPECT_EQ(kernel["dur"], 10.0);
    EXPECT_GE(kernel["ts"].get<double>(), launch["ts"].get<double>() + launch["dur"].get<double>() - 1e-3);
    EXPECT_GE(kernel["ts"].get<double>(), end - 1e-3);
    end = kernel["ts"].get<double>() + 10;
    const bool arrow = std::any_of(arrow_ends.begin(), arrow_ends.end(), [&](const auto& entry) {
      return entry.second["pid"] == 16 && entry.second["ts"] == kernel["ts"] &&
             arrow_starts.at(entry.first)["ts"] == launch["ts"];
    });
    EXPECT_TRUE(arrow) << kernel;
  }
}

TEST_F(MergeTest, ReplacedKernelsGoAndNothingElse) {
  Merge(kGpuProfile, Timeline(Suite()), /*replace=*/true);
  std::multiset<std::string> gone;
  for (const TraceJson& event : Missing(Json(kGpuProfile), others_)) {
    gone.insert(absl::StrCat(event["cat"].get<std::string>(), " ", event["ph"].get<std::string>()));
  }
  EXPECT_EQ(gone.count("kernel X"), 7u);
  EXPECT_EQ(gone.count("ac2g f"), 7u);
  EXPECT_EQ(gone.size(), 14u);
  EXPECT_EQ(report_["host"]["kernels_left_out"], 7);
  std::map<int64_t, size_t> kernels;
  for (const TraceJson& event : merged_["traceEvents"]) {
    if (event.value("cat", "") == "kernel") ++kernels[event["args"]["correlation"]];
  }
  EXPECT_EQ(kernels.size(), 80u);
  for (const auto& [correlation, count] : kernels) EXPECT_EQ(count, 1u) << correlation;
  EXPECT_THAT(MergeReportText(report_), HasSubstr("measured kernels left out, as asked: 7"));
}

TEST_F(MergeTest, WhatHasNoLaunchIsKeptBehindTheProfileAndReported) {
  std::vector<SimRow> rows = Suite();
  rows.push_back({"not_in_the_profile", {3, 2, 1}, {64, 1, 1}, 100, 5, 9});
  rows[0].grid = {783, 1, 1};
  Merge(kGpuProfile, Timeline(rows));
  EXPECT_EQ(report_["matched_by"],
            (TraceJson{{"name, other grid or block", 1}, {"name, grid and block", 6}}));
  ASSERT_EQ(report_["simulated_without_launch"]["count"], 1);
  const TraceJson& row = report_["simulated_without_launch"]["rows"][0];
  EXPECT_EQ(row["name"], "not_in_the_profile");
  EXPECT_EQ(row["grid"], (TraceJson{3, 2, 1}));
  const std::string text = MergeReportText(report_);
  EXPECT_THAT(text, HasSubstr("simulated kernels without a launch in the profile: 1\n"));
  EXPECT_THAT(text, HasSubstr("1 x not_in_the_profile, grid [3,2,1], block [64,1,1]"));
  ASSERT_EQ(simulated_.size(), 8u);
  double last = 0;
  std::set<int64_t> correlations;
  for (const TraceJson& event : others_) {
    if (event["ph"] == "X") last = std::max(last, event["ts"].get<double>() + event["dur"].get<double>());
    if (event.contains("args") && event["args"].contains("correlation")) {
      correlations.insert(event["args"]["correlation"].get<int64_t>());
    }
  }
  EXPECT_EQ(simulated_[7]["args"]["matched by"], "nothing");
  EXPECT_GE(simulated_[7]["ts"].get<double>(), last - 1e-3);
  EXPECT_NE(simulated_[7]["tid"], 7);
  EXPECT_FALSE(correlations.contains(simulated_[7]["args"]["correlation"].get<int64_t>()));
}

TEST_F(MergeTest, AProfileWithoutAGpuTakesThemAllBehindItself) {
  Merge(kCpuProfile, Timeline(Suite()));
  EXPECT_EQ(report_["host"]["launches"], 0);
  EXPECT_EQ(report_["pairs"]["count"], 0);
  EXPECT_EQ(report_["simulated_without_launch"]["count"], 7);
  ASSERT_EQ(simulated_.size(), 7u);
  // As far apart as simulated.
  EXPECT_NEAR(simulated_[6]["ts"].get<double>() - simulated_[0]["ts"].get<double>(), 72, 1e-3);
  EXPECT_TRUE(Missing(Json(kCpuProfile), others_).empty());
}

// --- small profiles
// -----------------------------------------------------------------------------------------

TraceJson Launch(int correlation, double ts, double dur) {
  return {{"ph", "X"},
          {"cat", "cuda_runtime"},
          {"name", "cudaLaunchKernel"},
          {"pid", 42},
          {"tid", 42},
          {"ts", ts},
          {"dur", dur},
          {"args", {{"correlation", correlation}, {"External id", correlation + 100}}}};
}

TraceJson Measured(int correlation, const std::string& name, double ts, double dur, int stream = 7) {
  TraceJson args = {{"correlation", correlation}, {"stream", stream}};
  args["grid"] = {1, 1, 1};
  args["block"] = {32, 1, 1};
  return {{"ph", "X"},     {"cat", "kernel"}, {"name", name}, {"pid", 0},
          {"tid", stream}, {"ts", ts},        {"dur", dur},   {"args", args}};
}

SimRow Row(const std::string& name, double ts, double dur, int stream = 0) {
  return {name, {1, 1, 1}, {32, 1, 1}, ts, dur, stream};
}

TEST_F(MergeTest, AStreamIsServedInOrderAndStreamsBesideOneAnother) {
  const TraceJson host = {{"traceEvents",
                           {Launch(1, 10, 5), Launch(2, 20, 5), Launch(3, 30, 5), Measured(1, "a", 16, 1),
                            Measured(2, "b", 26, 1), Measured(3, "c", 36, 1, 9)}}};
  Merge(WriteJson("host.json", host), Timeline({Row("a", 0, 100), Row("b", 100, 4), Row("c", 104, 4)}));
  ASSERT_EQ(simulated_.size(), 3u);
  EXPECT_EQ(simulated_[0]["ts"], 15);
  EXPECT_EQ(simulated_[1]["ts"], 115) << "behind the first";
  EXPECT_EQ(simulated_[2]["ts"], 35) << "in another stream";
  EXPECT_EQ(simulated_[2]["tid"], 9);
  EXPECT_EQ(simulated_[0]["args"]["External id"], 101);
  EXPECT_EQ(merged_["deviceProperties"].size(), 1u);
}

TEST_F(MergeTest, LaunchesWithoutKernelsAreMatchedByOrder) {
  const TraceJson host = {{"traceEvents", {Launch(5, 20, 5), Launch(4, 10, 5)}}};
  Merge(WriteJson("host.json", host), Timeline({Row("a", 0, 3, 2), Row("b", 3, 3, 2), Row("c", 6, 3, 2)}));
  EXPECT_EQ(report_["matched_by"], (TraceJson{{"order only", 2}}));
  EXPECT_EQ(simulated_[0]["args"]["correlation"], 4);
  EXPECT_EQ(simulated_[1]["args"]["correlation"], 5);
  EXPECT_EQ(simulated_[1]["tid"], 2);
  EXPECT_EQ(report_["simulated_without_launch"]["rows"][0]["name"], "c");
}

TEST_F(MergeTest, CountersMoveWithTheirKernels) {
  const TraceJson host = {
      {"traceEvents",
       {Launch(1, 1000, 5), Launch(2, 2000, 5), Measured(1, "a", 1006, 1), Measured(2, "b", 2006, 1)}}};
  // a runs from 0 to 10, b from 20 to 30; values from 0, 5, 15 and 25 on.
  Merge(WriteJson("host.json", host),
        Timeline({Row("a", 0, 10), Row("b", 20, 10)},
                 {Counter(0, 1), Counter(5, 2), Counter(15, 3), Counter(25, 4), Counter(35, 0)}));
  std::vector<std::pair<double, double>> values;
  for (const TraceJson& event : others_) {
    if (event["ph"] == "C")
      values.emplace_back(event["ts"].get<double>(), event["args"]["IPC"].get<double>());
  }
  using P = std::pair<double, double>;
  EXPECT_THAT(values, ElementsAre(P{1005, 1}, P{1010, 2}, P{1015, 0}, P{2005, 3}, P{2010, 4}, P{2015, 0}));
  EXPECT_EQ(report_["simulated"]["kernels_without_counters"], 0);
}

TEST_F(MergeTest, CountersOfKernelsThatRanTogetherHaveNoPlace) {
  const TraceJson host = {
      {"traceEvents",
       {Launch(1, 1000, 5), Launch(2, 2000, 5), Launch(3, 3000, 5), Measured(1, "a", 1006, 1),
        Measured(2, "b", 2006, 1), Measured(3, "c", 3006, 1)}}};
  Merge(WriteJson("host.json", host),
        Timeline({Row("a", 0, 10), Row("b", 5, 10, 1), Row("c", 20, 10)}, {Counter(0, 1), Counter(30, 0)}));
  size_t counters = 0;
  for (const TraceJson& event : others_) {
    if (event["ph"] != "C") continue;
    ++counters;
    EXPECT_GE(event["ts"].get<double>(), 3005);
  }
  EXPECT_EQ(counters, 2u) << "c's value and its end";
  EXPECT_EQ(report_["simulated"]["kernels_without_counters"], 2);
  EXPECT_THAT(MergeReportText(report_), HasSubstr("no counters here: 2"));
}

TEST_F(MergeTest, KernelsOfAGraphAreMatchedOneByOne) {
  TraceJson graph = Launch(1, 10, 5);
  graph["name"] = "cudaGraphLaunch";
  const TraceJson host = {
      {"traceEvents", {graph, Measured(1, "a", 16, 1), Measured(1, "b", 18, 1), Measured(1, "a", 20, 1)}}};
  Merge(WriteJson("host.json", host), Timeline({Row("a", 0, 2), Row("b", 2, 2)}), /*replace=*/true);
  EXPECT_EQ(report_["pairs"]["count"], 2);
  EXPECT_EQ(report_["launches_without_simulation"]["count"], 1);
  EXPECT_EQ(simulated_[0]["ts"], 15);
  EXPECT_EQ(simulated_[1]["ts"], 17);
}

TEST_F(MergeTest, RefusesATraceOfAnotherOrigin) {
  const std::string out = folder_.File("out.json");
  const auto swapped = MergeTraces({kGpuProfile, kGpuProfile, out, false});
  EXPECT_EQ(swapped.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(swapped.status().message()), HasSubstr("not a timeline of this simulator"));
  EXPECT_EQ(MergeTraces({folder_.File("none"), Timeline({}), out, false}).status().code(),
            absl::StatusCode::kNotFound);
  TraceJson twice = Json(Timeline({Row("a", 0, 1), Row("b", 1, 1)}));
  twice["traceEvents"][1]["args"]["correlation"] = 1;
  EXPECT_THAT(
      std::string(MergeTraces({kGpuProfile, WriteJson("twice.json", twice), out, false}).status().message()),
      HasSubstr("two kernels have the correlation 1"));
  EXPECT_FALSE(std::ifstream(out).good());
}

TEST_F(MergeTest, EndsWhenItIsAsked) {
  std::stop_source source;
  source.request_stop();
  const std::string out = folder_.File("out.json");
  const auto merged = MergeTraces({kGpuProfile, Timeline(Suite()), out, false, source.get_token()});
  EXPECT_EQ(merged.status().code(), absl::StatusCode::kCancelled);
  EXPECT_FALSE(std::ifstream(out).good());
}

TEST_F(MergeTest, ReportSaysHowManyRowsItLeavesOut) {
  std::vector<SimRow> rows;
  for (int i = 0; i < 1200; ++i) rows.push_back(Row(absl::StrCat("k", i), i, 1));
  Merge(kCpuProfile, Timeline(rows));
  const TraceJson& list = report_["simulated_without_launch"];
  EXPECT_EQ(list["count"], 1200);
  EXPECT_EQ(list["rows"].size(), 1000u);
  EXPECT_EQ(list["rows_left_out"], 200);
  EXPECT_THAT(MergeReportText(report_), HasSubstr("and 1190 other kinds"));
  EXPECT_EQ(merged_["sm89_merge"]["simulated_without_launch"], 1200);
}

}  // namespace
}  // namespace sm89::client
