// The timeline: sound JSON, in the order of time, with the fields and figures of real Kineto traces.
#include "sim/timeline/timeline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "tests/support/gzip_file.h"
#include "tests/unit/sim_report/sample_report.h"

namespace sm89 {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Json = nlohmann::ordered_json;

std::string Text(const RunReport& report) {
  std::string text;
  WriteTimeline(report, [&](std::string_view piece) {
    text += piece;
    return true;
  });
  return text;
}

Json Parse(const RunReport& report) {
  Json parsed = Json::parse(Text(report), nullptr, /*allow_exceptions=*/false);
  EXPECT_FALSE(parsed.is_discarded()) << Text(report);
  return parsed;
}

std::vector<Json> EventsOf(const Json& trace, std::string_view category) {
  std::vector<Json> events;
  for (const Json& event : trace["traceEvents"]) {
    if (event.value("cat", "") == category) events.push_back(event);
  }
  return events;
}

std::vector<Json> CountersOf(const Json& trace, std::string_view name) {
  std::vector<Json> events;
  for (const Json& event : trace["traceEvents"]) {
    if (event["ph"] == "C" && event["name"] == name) events.push_back(event);
  }
  return events;
}

// Two kernels in one stream and one beside them, three copies, two samples, two SMs with tracks.
RunReport BusyReport() {
  RunReport run = SampleReport();
  run.kernels.push_back(SampleKernel(2, "late"));
  for (KernelReport& kernel : run.kernels) kernel.info.stream_id = 7;
  run.kernels[1].info.stream_id = 13;
  run.kernels[1].start_cycle = 500;
  run.kernels[1].end_cycle = 1400;
  run.kernels[2].start_cycle = 900;  // when the first has ended
  run.host_copies = {{0, 0x1000, 4096, 0}, {0, 0x2000, 64, 0}, {1900, 0x3000, 32, 3}};
  run.num_sms = 2;
  run.intervals.num_sms = 2;
  run.intervals.samples = {{1000, 500, 8000, 400, 1000, 250, 100, 50}, {2000, 100, 0, 0, 0, 0, 0, 0}};
  run.intervals.sm_issued = {500, 0, 60, 40};
  return run;
}

TEST(Timeline, IsInTheOrderOfTime) {
  const Json trace = Parse(BusyReport());
  double last = 0;
  size_t timed = 0;
  for (const Json& event : trace["traceEvents"]) {
    if (event["ph"] == "M") continue;
    EXPECT_GE(event["ts"].get<double>(), last) << event;
    last = event["ts"].get<double>();
    ++timed;
  }
  EXPECT_GE(timed, 3u + 3 + 2 * 4) << "kernels, copies, counters";
}

TEST(Timeline, KernelsOfAStreamDoNotOverlap) {
  RunReport run = BusyReport();
  run.core_khz = 2'340'001;  // no cycle ends on a nanosecond
  std::map<uint64_t, double> end;
  for (const Json& kernel : EventsOf(Parse(run), "kernel")) {
    double& before = end[kernel["tid"].get<uint64_t>()];
    EXPECT_GE(kernel["ts"].get<double>(), before) << kernel;
    EXPECT_GT(kernel["dur"].get<double>(), 0);
    before = std::round((kernel["ts"].get<double>() + kernel["dur"].get<double>()) * 1000) / 1000;
  }
  EXPECT_EQ(end.size(), 2u);
}

TEST(Timeline, TimesAreThoseOfTheCycles) {
  EXPECT_EQ(TimelineNs(0, 2'520'000), 0u);
  EXPECT_EQ(TimelineNs(2'520'000, 2'520'000), 1'000'000u);
  EXPECT_EQ(TimelineNs(1, 2'520'000), 0u);
  EXPECT_EQ(TimelineNs(2, 2'520'000), 1u);
  // A month of GPU time.
  EXPECT_EQ(TimelineNs(2'520'000'000ull * 86'400 * 30, 2'520'000), 1'000'000'000ull * 86'400 * 30);
  const Json kernel = EventsOf(Parse(BusyReport()), "kernel").at(0);
  EXPECT_EQ(kernel["ts"], 0.0);
  EXPECT_EQ(kernel["dur"], 0.36) << "900 cycles at 2.5 GHz";
  EXPECT_EQ(kernel["args"]["simulated cycles"], 900);
}

TEST(Timeline, CorrelationsCountCopiesAndKernelsInTheirOrder) {
  const Json trace = Parse(BusyReport());
  std::vector<uint64_t> kernels, copies;
  for (const Json& event : EventsOf(trace, "kernel")) kernels.push_back(event["args"]["correlation"]);
  for (const Json& event : EventsOf(trace, "gpu_memcpy")) copies.push_back(event["args"]["correlation"]);
  EXPECT_THAT(copies, ElementsAre(1, 2, 6));
  EXPECT_THAT(kernels, ElementsAre(3, 4, 5));
  EXPECT_EQ(EventsOf(trace, "gpu_memcpy")[0]["args"]["bytes"], 4096);
}

TEST(Timeline, CountersStandFromTheirIntervalsStart) {
  const Json trace = Parse(BusyReport());
  const std::vector<Json> ipc = CountersOf(trace, "IPC");
  ASSERT_EQ(ipc.size(), 3u);
  EXPECT_EQ(ipc[0]["ts"], 0.0);
  EXPECT_EQ(ipc[0]["args"]["IPC"], 0.5);
  EXPECT_EQ(ipc[1]["ts"], 0.4) << "1000 cycles at 2.5 GHz";
  EXPECT_EQ(ipc[1]["args"]["IPC"], 0.1);
  EXPECT_EQ(ipc[2]["ts"], 0.8);
  EXPECT_EQ(ipc[2]["args"]["IPC"], 0);
  EXPECT_EQ(CountersOf(trace, "L2 hit rate (%)").at(0)["args"]["hit rate"], 25.0);
  EXPECT_EQ(CountersOf(trace, "L2 hit rate (%)").at(1)["args"]["hit rate"], 0) << "no access: 0";
  const Json dram = CountersOf(trace, "DRAM bandwidth (GB/s)").at(0)["args"];
  EXPECT_EQ(dram["read"], 100 * 32 / 0.4 / 1000) << "sectors in 0.4 us";
  EXPECT_EQ(dram["write"], 50 * 32 / 0.4 / 1000);
  EXPECT_EQ(CountersOf(trace, "Tensor utilization (%)").at(0)["args"]["utilization"], 5.0);
}

TEST(Timeline, TracksOfSmsShowChangesOnly) {
  const Json trace = Parse(BusyReport());
  const std::vector<Json> first = CountersOf(trace, "SM 000 IPC");
  ASSERT_EQ(first.size(), 3u);
  EXPECT_EQ(first[0]["args"]["IPC"], 0.5);
  EXPECT_EQ(first[1]["args"]["IPC"], 0.06);
  EXPECT_EQ(first[2]["args"]["IPC"], 0);
  EXPECT_EQ(first[0]["pid"], "SMs");
  EXPECT_EQ(CountersOf(trace, "SM 001 IPC").size(), 3u);
  RunReport without = BusyReport();
  without.intervals.num_sms = 0;
  without.intervals.sm_issued.clear();
  EXPECT_TRUE(CountersOf(Parse(without), "SM 000 IPC").empty());
  without.intervals.samples.clear();
  EXPECT_TRUE(CountersOf(Parse(without), "IPC").empty());
}

TEST(Timeline, BadBytesAndHugeStreamsAreShown) {
  RunReport run = BusyReport();
  run.kernels[0].info.name = "k \"q\" \\ \x01 \xff";
  run.kernels[0].info.stream_id = 94'123'412'345'678;
  const Json trace = Parse(run);
  const Json kernel = EventsOf(trace, "kernel").at(0);
  EXPECT_EQ(kernel["name"], "k \"q\" \\ \x01 \xEF\xBF\xBD");
  EXPECT_EQ(kernel["tid"], 3) << "streams 0, 7, 13 and this one";
  EXPECT_EQ(kernel["args"]["stream"], 3);
  EXPECT_EQ(kernel["args"]["trace stream"], 94'123'412'345'678);
}

TEST(Timeline, SaysHowTheRunEnded) {
  RunReport run = BusyReport();
  run.status = RunStatus::kCycleLimit;
  run.status_detail = "the limit of 2000 cycles was reached";
  run.kernels[2].finished = false;
  const Json trace = Parse(run);
  EXPECT_THAT(trace["sm89"]["status"].get<std::string>(), HasSubstr("limit of 2000 cycles"));
  EXPECT_EQ(EventsOf(trace, "kernel")[2]["args"]["finished"], false);
  EXPECT_EQ(trace["deviceProperties"][0]["numSms"], 2);
}

TEST(Timeline, ComesInPiecesAndEndsWhenNoMoreIsWanted) {
  RunReport run = BusyReport();
  run.kernels.resize(1);
  for (uint32_t i = 1; i < 2000; ++i) run.kernels.push_back(SampleKernel(i, "k"));
  size_t largest = 0;
  size_t pieces = 0;
  WriteTimeline(run, [&](std::string_view piece) {
    largest = std::max(largest, piece.size());
    ++pieces;
    return true;
  });
  EXPECT_GT(pieces, 10u);
  EXPECT_LT(largest, 2u << 16);
  pieces = 0;
  WriteTimeline(run, [&](std::string_view) { return ++pieces < 3; });
  EXPECT_EQ(pieces, 3u);
}

TEST(Timeline, CompressedIsTheSameText) {
  const RunReport run = BusyReport();
  const std::string path = ::testing::TempDir() + "/timeline_test.json.gz";
  std::string packed;
  WriteGzipTimeline(run, [&](std::string_view piece) {
    packed += piece;
    return true;
  });
  std::ofstream(path, std::ios::binary) << packed;
  EXPECT_EQ(testing::ReadGzipFile(path), Text(run));
  EXPECT_LT(packed.size() * 3, Text(run).size());
  std::filesystem::remove(path);
}

// --- against traces that Kineto wrote
// -----------------------------------------------------------------------

// A kernel of ours with the launch of a real event, on the real event's device.
RunReport LikeReal(const Json& real, const Json& device) {
  RunReport run = SampleReport();
  run.num_sms = device["numSms"];
  run.max_warps_per_sm = device["maxThreadsPerMultiprocessor"].get<uint32_t>() / 32;
  run.kernels.resize(1);
  KernelReport& kernel = run.kernels[0];
  const Json& args = real["args"];
  kernel.info.name = real["name"];
  kernel.info.stream_id = args["stream"];
  kernel.info.grid = {args["grid"][0], args["grid"][1], args["grid"][2]};
  kernel.info.block = {args["block"][0], args["block"][1], args["block"][2]};
  kernel.info.nregs = args["registers per thread"];
  kernel.info.shmem_bytes = args["shared memory"];
  return run;
}

bool SameKind(const Json& a, const Json& b) {
  return (a.is_number() && b.is_number()) || a.type() == b.type();
}

// Every field of the real event, with the same type and, where the launch decides, the same value. Returns
// whether the occupancy could be compared: that of a large grid depends on what fits on an SM.
bool ExpectLike(const Json& real, const Json& device) {
  const Json ours = EventsOf(Parse(LikeReal(real, device)), "kernel").at(0);
  for (const auto& [key, value] : real.items()) {
    EXPECT_TRUE(ours.contains(key) && SameKind(ours[key], value)) << key;
  }
  const Json& args = real["args"];
  for (const auto& [key, value] : args.items()) {
    if (key == "External id") continue;  // of the PyTorch operation: the merge adds it
    EXPECT_TRUE(ours["args"].contains(key) && SameKind(ours["args"][key], value)) << key;
  }
  for (const char* key : {"registers per thread", "shared memory", "grid", "block", "stream", "queued"}) {
    EXPECT_EQ(ours["args"][key], args[key]) << key;
  }
  for (const char* key : {"blocks per SM", "warps per SM"}) {  // single precision there
    const double value = args[key];
    EXPECT_NEAR(ours["args"][key].get<double>(), value, 1e-6 + value * 1e-6) << key;
  }
  const bool small = args["blocks per SM"].get<double>() <= 1;
  if (small) {
    EXPECT_EQ(ours["args"]["est. achieved occupancy %"], args["est. achieved occupancy %"]);
  }
  return small;
}

// Kernels compared, of these with their occupancy.
std::pair<size_t, size_t> CompareWith(const std::string& path) {
  const Json trace = Json::parse(testing::ReadGzipFile(path), nullptr, false);
  EXPECT_FALSE(trace.is_discarded()) << path;
  std::pair<size_t, size_t> compared;
  if (trace.is_discarded() || !trace.contains("deviceProperties")) return compared;
  std::set<std::string> launches;  // one event of each
  for (const Json& event : EventsOf(trace, "kernel")) {
    const Json& device = trace["deviceProperties"][0];
    const bool nvidia = event["args"].contains("registers per thread") && device["warpSize"] == 32;
    const std::string launch = event["name"].get<std::string>() + event["args"].value("grid", Json()).dump();
    if (!nvidia || !launches.insert(launch).second) continue;
    const bool occupancy = ExpectLike(event, device);
    ++compared.first;
    compared.second += occupancy ? 1 : 0;
    if (::testing::Test::HasFailure()) {
      ADD_FAILURE() << path << ": " << event;
      return compared;
    }
  }
  return compared;
}

TEST(Kineto, FieldsAndFiguresAreThoseOfAProfileOfOurKernels) {
  const auto [kernels, occupancies] =
      CompareWith(std::string(SM89_SOURCE_DIR) + "/tests/kineto/host_profile.json.gz");
  EXPECT_GE(kernels, 30u);
  EXPECT_GE(occupancies, 20u);
}

TEST(Kineto, FieldsAndFiguresAreThoseOfPublicTraces) {
  const std::string folder = std::string(SM89_SOURCE_DIR) + "/../shared/kineto";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << folder << " is not here";
  size_t kernels = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    const std::string name = entry.path().filename();
    // Millions of bytes of one kind of event; and a list of traces instead of one.
    if (!name.ends_with(".gz") || name.starts_with("n") || entry.file_size() > 1'000'000) continue;
    kernels += CompareWith(entry.path()).first;
  }
  EXPECT_GE(kernels, 50u);
}

}  // namespace
}  // namespace sm89
