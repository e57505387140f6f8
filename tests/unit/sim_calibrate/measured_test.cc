// Profilers' CSV files: the cases 50 to 54, the silicon suite's pages, numbers and units.
#include "sim/calibrate/measured.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "sim/base/fault.h"
#include "sim/calibrate/csv_records.h"
#include "sim/calibrate/numbers.h"
#include "tests/support/expect_file.h"
#include "tests/support/xz_file.h"

namespace sm89::calibrate {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::ReadExpect;
using testing::SplitFact;

const std::string kShared = SM89_SOURCE_DIR "/../shared";

class MeasuredCase : public ::testing::Test {
 protected:
  void Load(const std::string& folder, const std::string& file) {
    const std::string path = kShared + "/cases/" + folder;
    if (!std::filesystem::exists(path)) GTEST_SKIP() << path << " is absent";
    expect_ = ReadExpect(path + "/expect.txt");
    ASSERT_TRUE(expect_.count("verdict"));
    result_ = ReadMeasuredFile(path + "/" + file);
    ASSERT_EQ(result_.ok(), expect_["verdict"].starts_with("accept")) << result_.status();
    if (result_.ok() && expect_.count("launches")) {
      EXPECT_EQ(std::to_string(result_->kernels.size()), expect_["launches"]);
    }
  }
  // Values of all launches in the form of the facts: "1234567,9876"; absent ones as "absent", or left out.
  std::string Values(const std::string& metric, bool name_absent = true) const {
    std::vector<std::string> values;
    for (const MeasuredKernel& kernel : result_->kernels) {
      const auto found = kernel.metrics.find(metric);
      if (found != kernel.metrics.end()) {
        values.push_back(absl::StrCat(static_cast<int64_t>(found->second) == found->second
                                          ? absl::StrCat(static_cast<int64_t>(found->second))
                                          : absl::StrCat(found->second)));
      } else if (name_absent) {
        values.emplace_back("absent");
      }
    }
    return absl::StrJoin(values, ",");
  }

  std::map<std::string, std::string> expect_;
  absl::StatusOr<Measured> result_ = absl::UnknownError("not loaded");
};

TEST_F(MeasuredCase, NcuThousands50) {
  Load("50-ncu-thousands", "ncu.csv");
  if (IsSkipped()) return;
  EXPECT_EQ(Values("gpc__cycles_elapsed.max"), expect_["gpc__cycles_elapsed.max"]);
  EXPECT_EQ(Values("smsp__inst_executed.sum", false), expect_["smsp__inst_executed.sum"]);
  EXPECT_EQ(Values("dram__bytes_read.sum"), expect_["dram__bytes_read.sum"]);
  EXPECT_EQ(Values("gpu__time_duration.sum", false), expect_["gpu__time_duration.sum_ns"]);
  EXPECT_EQ(result_->kernels[0].name, "void axpy<float, 4>(float *, const float *, int)");
  EXPECT_THAT(*result_->kernels[0].grid, ElementsAre(4096, 1, 1));
  EXPECT_THAT(*result_->kernels[0].block, ElementsAre(256, 1, 1));
}

TEST_F(MeasuredCase, NcuUnitsRow51) {
  Load("51-ncu-units-row", "ncu_raw.csv");
  if (IsSkipped()) return;
  EXPECT_EQ(Values("gpc__cycles_elapsed.max"), expect_["gpc__cycles_elapsed.max"]);
  EXPECT_EQ(Values("dram__bytes.sum.per_second"), expect_["dram_bytes_per_second"]);
  EXPECT_EQ(Values("l1tex__t_sector_hit_rate.pct"), expect_["hit_rate"]);
}

TEST_F(MeasuredCase, NcuDecimalComma52) {
  Load("52-ncu-decimal-comma", "ncu_de.csv");
  if (IsSkipped()) return;
  EXPECT_EQ(Values("gpc__cycles_elapsed.max"), expect_["gpc__cycles_elapsed.max"]);
  EXPECT_EQ(Values("sm__throughput.avg.pct_of_peak_sustained_elapsed"), expect_["sm__throughput"]);
  EXPECT_EQ(result_->kernels[0].metrics.at(kDurationMetric), std::stod(expect_["gpu__time_duration.sum_ns"]));
  ASSERT_EQ(result_->notes.size(), 1u);
  EXPECT_THAT(result_->notes[0], HasSubstr("decimal comma"));
}

TEST_F(MeasuredCase, NsysQuotedNames53) {
  Load("53-nsys-quoted-names", "nsys.csv");
  if (IsSkipped()) return;
  EXPECT_EQ(std::to_string(result_->kernels.size()), expect_["kernels"]);
  EXPECT_EQ(std::to_string(result_->copies), expect_["copies"]);
  EXPECT_EQ(Values(kDurationMetric), expect_["durations_ns"]);
  std::vector<std::string> names;
  for (const MeasuredKernel& kernel : result_->kernels) names.push_back(kernel.name);
  EXPECT_EQ(absl::StrJoin(names, "|"), expect_["names"]);
  EXPECT_THAT(*result_->kernels[1].block, ElementsAre(128, 1, 1));
}

TEST_F(MeasuredCase, NcuNoPermission54) {
  Load("54-ncu-no-permission", "ncu.csv");
  if (IsSkipped()) return;
  EXPECT_THAT(std::string(result_.status().message()), HasSubstr("no measurements"));
  EXPECT_THAT(std::string(result_.status().message()), HasSubstr(expect_["reason"]));
}

class SiliconPages : public ::testing::Test {
 protected:
  static absl::StatusOr<Measured> Read(const std::string& name) {
    return ReadMeasured(test::ReadXz(kShared + "/silicon/measured/" + name), name);
  }
};

TEST_F(SiliconPages, RawPageOfTheH200) {
  if (!std::filesystem::exists(kShared + "/silicon/measured"))
    GTEST_SKIP() << "no silicon data in " << kShared;
  const auto raw = Read("h200_ncu_raw.csv.xz");
  ASSERT_TRUE(raw.ok()) << raw.status();
  EXPECT_EQ(raw->format, "ncu raw page");
  ASSERT_EQ(raw->kernels.size(), 45u);
  EXPECT_THAT(raw->notes, IsEmpty());
  const MeasuredKernel& first = raw->kernels[0];
  EXPECT_EQ(first.name, "vector_add");
  EXPECT_EQ(first.metrics.at("gpc__cycles_elapsed.max"), 12495);
  EXPECT_EQ(first.metrics.at("gpu__time_duration.sum"), 6368);
  EXPECT_EQ(first.metrics.at("smsp__inst_executed.sum"), 655360);
  EXPECT_NEAR(first.metrics.at("dram__bytes_read.sum"), 8391168, 0.5);
  EXPECT_NEAR(first.metrics.at("dram__bytes.sum.per_second"), 1.317709e12, 1e6);
}

TEST_F(SiliconPages, SecondRawPageOfTheH200) {
  if (!std::filesystem::exists(kShared + "/silicon/measured"))
    GTEST_SKIP() << "no silicon data in " << kShared;
  const auto raw = Read("h200_micro2_ncu_raw.csv.xz");
  ASSERT_TRUE(raw.ok()) << raw.status();
  EXPECT_EQ(raw->kernels.size(), 13u);
  for (const MeasuredKernel& kernel : raw->kernels)
    EXPECT_GT(kernel.metrics.at(kCyclesMetric), 0) << kernel.line;
}

// The details page prints the same launches with fewer digits and other names.
TEST_F(SiliconPages, DetailsPageSaysTheSame) {
  if (!std::filesystem::exists(kShared + "/silicon/measured"))
    GTEST_SKIP() << "no silicon data in " << kShared;
  const auto raw = Read("h200_ncu_raw.csv.xz");
  const auto details = Read("h200_ncu_details.csv.xz");
  ASSERT_TRUE(details.ok()) << details.status();
  ASSERT_EQ(details->kernels.size(), raw->kernels.size());
  for (const char* metric :
       {"gpc__cycles_elapsed.max", "gpu__time_duration.sum", "l1tex__t_sector_hit_rate.pct",
        "lts__t_sector_hit_rate.pct", "dram__bytes.sum.per_second", "sm__inst_executed.avg.per_cycle_active",
        "smsp__inst_executed.sum", "sm__warps_active.avg.pct_of_peak_sustained_active",
        "sm__cycles_active.avg"}) {
    size_t compared = 0;
    for (size_t i = 0; i < raw->kernels.size(); ++i) {
      const auto one = raw->kernels[i].metrics.find(metric);
      const auto other = details->kernels[i].metrics.find(metric);
      if (one == raw->kernels[i].metrics.end() || other == details->kernels[i].metrics.end()) continue;
      // Details have two places behind the point.
      EXPECT_NEAR(other->second, one->second, std::max(0.0051, std::abs(one->second) * 0.006))
          << metric << " " << i;
      ++compared;
    }
    EXPECT_GE(compared, 40u) << metric;
  }
}

TEST(Csv, LinesThatAreNoRowsAreSkippedWhereverTheyStand) {
  const auto measured = ReadMeasured(
      "epoch 1, \"unbalanced\n==PROF== Connected\n"
      "\"ID\",\"Kernel Name\",\"Block Size\",\"Grid Size\",\"Metric Name\",\"Metric Unit\",\"Metric "
      "Value\"\r\n"
      "\"0\",\"k(int)\",\"(1, 1, 1)\",\"(2, 1, 1)\",\"gpc__cycles_elapsed.max\",\"cycle\",\"1,000\"\r\n"
      "loss, \"0.25\n==PROF== half way\n"
      "\"1\",\"k(int)\",\"(1, 1, 1)\",\"(2, 1, 1)\",\"gpc__cycles_elapsed.max\",\"cycle\",\"2,000\"\r\n"
      "==WARNING== one metric could not be had\n",
      "x.csv");
  ASSERT_TRUE(measured.ok()) << measured.status();
  ASSERT_EQ(measured->kernels.size(), 2u);
  EXPECT_EQ(measured->kernels[1].metrics.at(kCyclesMetric), 2000);
  EXPECT_EQ(measured->kernels[1].line, 7u);
  EXPECT_THAT(measured->notes, ElementsAre(HasSubstr("1 lines"), HasSubstr("one metric could not be had")));
}

TEST(Csv, FaultsNameTheirLine) {
  const std::string header = "\"ID\",\"Kernel Name\",\"Block Size\",\"Grid Size\",\"a__b.sum\"\n";
  const std::pair<const char*, uint64_t> rows[] = {
      {"\"0\",\"k\",\"(1, 1)\",\"(2, 1, 1)\",\"5\"\n", 2},
      {"\"0\",\"k\",\"(1, 1, 1)\",\"(2, 1, 1)\",\"5\"\n\"1\",\"k\",\"(1, 1, 1)\",\"x\",\"5\"\n", 3},
      {"\"0\",\"k\",\"(1, 1, 1)\",\"(2, 1, 1)\",\"5\",\"6\"\n", 2},
      {"\"0\",\"k\",\"(1, 1, 1)\",\"(2, 1, 1)\",\"1.25\"\n\"1\",\"k\",\"(1, 1, 1)\",\"(2, 1, 1)\",\"1,25\"\n",
       3},
      {"\"0\",\"never ends,\n", 2}};
  for (const auto& [text, line] : rows) {
    const auto bad = ReadMeasured(header + text, "x.csv");
    ASSERT_EQ(FaultsOf(bad.status()).size(), 1u) << text;
    EXPECT_EQ(FaultsOf(bad.status())[0].line, line) << text;
    EXPECT_EQ(FaultsOf(bad.status())[0].file, "x.csv");
  }
  EXPECT_FALSE(ReadMeasured(header, "x.csv").ok());
  EXPECT_FALSE(ReadMeasured("", "x.csv").ok());
  EXPECT_EQ(ReadMeasuredFile("no/such.csv").status().code(), absl::StatusCode::kNotFound);
}

TEST(Csv, IsBounded) {
  std::string wide = "\"ID\",\"Kernel Name\",\"Block Size\",\"Grid Size\"";
  for (size_t i = 0; i < kColumnsMax; ++i) wide += ",\"a__b\"";
  EXPECT_EQ(ReadMeasured(wide + "\n", "x.csv").status().code(), absl::StatusCode::kResourceExhausted);
  // A quote that is never closed does not take the rest of a large file.
  std::string open = "\"ID\",\"Kernel Name\",\"Block Size\",\"Grid Size\",\"a__b\"\n\"0\",\"k\n";
  for (size_t i = 0; i < 3 * (kRowBytesMax >> 16); ++i) open += std::string(65536, 'x') + "\n";
  const auto bad = ReadMeasured(open, "x.csv");
  ASSERT_EQ(FaultsOf(bad.status()).size(), 1u);
  EXPECT_EQ(FaultsOf(bad.status())[0].line, 2u);
}

TEST(Csv, NsysSummaryAndOtherUnits) {
  const auto summary = ReadMeasured(
      "Time (%),Total Time (us),Instances,Avg (us),Med (us),Min (us),Max (us),StdDev (us),Name\n"
      "75.0,30.0,10,3.0,3.0,2.9,3.1,0.1,\"k(float *, int)\"\n",
      "x.csv");
  ASSERT_TRUE(summary.ok()) << summary.status();
  EXPECT_EQ(summary->kernels[0].instances, 10u);
  EXPECT_EQ(summary->kernels[0].metrics.at(kDurationMetric), 3000);
  EXPECT_FALSE(summary->kernels[0].grid.has_value());
}

constexpr char kRowsHead[] =
    "\"ID\",\"Kernel Name\",\"Block Size\",\"Grid Size\",\"Metric Name\",\"Metric Unit\",\"Metric Value\"\n";
std::string OneMetric(const std::string& metric, const std::string& unit, const std::string& value) {
  return absl::StrCat(kRowsHead, "\"0\",\"k(int)\",\"(32, 1, 1)\",\"(8, 1, 1)\",\"", metric, "\",\"", unit,
                      "\",\"", value, "\"\n");
}

TEST(Measured, ACellWithAUnitThatIsNoNumberIsAFault) {
  const auto bad = ReadMeasured(OneMetric("gpc__cycles_elapsed.max", "cycle", "12x34"), "x.csv");
  ASSERT_FALSE(bad.ok());
  EXPECT_EQ(bad.status().code(), absl::StatusCode::kInvalidArgument);
  for (const char* part : {"x.csv", "2", "gpc__cycles_elapsed.max", "12x34", "a number, n/a or nothing"})
    EXPECT_NE(bad.status().message().find(part), std::string_view::npos) << part << bad.status();
  const auto raw = ReadMeasured(
      "\"ID\",\"Kernel Name\",\"Block Size\",\"Grid "
      "Size\",\"dram__bytes_read.sum\"\n\"\",\"\",\"\",\"\",\"Mbyte\"\n"
      "\"0\",\"k(int)\",\"(32, 1, 1)\",\"(8, 1, 1)\",\"one\"\n",
      "x.csv");
  ASSERT_FALSE(raw.ok());
  EXPECT_NE(raw.status().message().find("dram__bytes_read.sum"), std::string_view::npos) << raw.status();
}

TEST(Measured, WordsForNoFigureAndTextsWithoutAUnitAreAbsent) {
  for (const char* none : {"n/a", "no data", "nan", "", "(!) n/a"}) {
    const auto read = ReadMeasured(OneMetric("dram__bytes_read.sum", "byte", none), "x.csv");
    ASSERT_TRUE(read.ok()) << none << read.status();
    EXPECT_TRUE(read->kernels[0].metrics.empty()) << none;
  }
  const auto text = ReadMeasured(OneMetric("Cluster Scheduling Policy", "", "PolicySpread"), "x.csv");
  ASSERT_TRUE(text.ok()) << text.status();
  EXPECT_TRUE(text->kernels[0].metrics.empty());
}

TEST(Measured, ImpossibleNumbersAreFaults) {
  for (const char* cell : {"-5", "0", "7.5", "78,5,4", "7,85", "1234,567", ",785"}) {
    const auto read = ReadMeasured(OneMetric("gpc__cycles_elapsed.max", "cycle", cell), "x.csv");
    ASSERT_FALSE(read.ok()) << cell;
    EXPECT_NE(read.status().message().find(cell), std::string_view::npos) << read.status();
  }
  EXPECT_FALSE(ReadMeasured(OneMetric("dram__bytes_read.sum", "byte", "-1"), "x.csv").ok());
  const auto good = ReadMeasured(OneMetric("gpc__cycles_elapsed.max", "cycle", "1,234,567"), "x.csv");
  ASSERT_TRUE(good.ok()) << good.status();
  EXPECT_EQ(good->kernels[0].metrics.at(kCyclesMetric), 1'234'567);
}

// Wherever a file is cut: a fault, or a row less.
TEST(Measured, ACutRowIsAFault) {
  const std::string whole = OneMetric("gpc__cycles_elapsed.max", "cycle", "7854");
  const size_t row = std::string(kRowsHead).size();
  for (size_t end = row + 1; end + 2 < whole.size(); ++end) {
    const auto cut = ReadMeasured(whole.substr(0, end), "x.csv");
    if (whole[end - 1] == ',' && cut.ok()) {  // an empty value, as a whole row may have
      EXPECT_TRUE(cut->kernels[0].metrics.empty());
      continue;
    }
    ASSERT_FALSE(cut.ok()) << whole.substr(row, end - row);
    EXPECT_NE(cut.status().message().find("x.csv:"), std::string_view::npos) << cut.status();
  }
}

TEST(Measured, CyclesAndDurationsNeedTheirUnits) {
  const auto cycles = ReadMeasured(OneMetric("gpc__cycles_elapsed.max", "furlong", "12"), "x.csv");
  ASSERT_FALSE(cycles.ok());
  EXPECT_NE(cycles.status().message().find("furlong"), std::string_view::npos) << cycles.status();
  const auto time = ReadMeasured(OneMetric("gpu__time_duration.sum", "cycle", "12"), "x.csv");
  ASSERT_FALSE(time.ok());
  EXPECT_NE(time.status().message().find("not a unit of time"), std::string_view::npos) << time.status();
  const auto kilo = ReadMeasured(OneMetric("gpc__cycles_elapsed.max", "Kcycle", "12"), "x.csv");
  ASSERT_TRUE(kilo.ok()) << kilo.status();
  EXPECT_EQ(kilo->kernels[0].metrics.at(kCyclesMetric), 12'000);
}

TEST(Numbers, StylesAreTold) {
  struct Row {
    const char* cell;
    NumberStyle style;
    double value;
  };
  const Row rows[] = {
      {"1,234,567", NumberStyle::kPoint, 1234567},  {"1.234.567", NumberStyle::kComma, 1234567},
      {"12.50", NumberStyle::kPoint, 12.5},         {"12,50", NumberStyle::kComma, 12.5},
      {"98.765,25", NumberStyle::kComma, 98765.25}, {"98,765.25", NumberStyle::kPoint, 98765.25},
      {"5706.000", NumberStyle::kPoint, 5706},      {"0.123", NumberStyle::kPoint, 0.123},
      {"-0.5", NumberStyle::kPoint, -0.5}};
  for (const Row& row : rows) {
    NumberStyleVote vote;
    vote.Add(row.cell, 1);
    vote.Add("512", 2);
    vote.Add("n/a", 3);
    const auto style = vote.Decide("x");
    ASSERT_TRUE(style.ok());
    EXPECT_EQ(*style, row.style) << row.cell;
    EXPECT_EQ(ReadNumber(row.cell, *style), row.value) << row.cell;
  }
  for (const char* absent : {"", "n/a", "nan", "inf", "NVIDIA H200", "(1, 1, 1)", "-"})
    EXPECT_EQ(ReadNumber(absent, NumberStyle::kPoint), std::nullopt) << absent;
}

TEST(Numbers, UnitsAreScaledToBase) {
  EXPECT_EQ(UnitScale("Mbyte"), 1e6);
  EXPECT_EQ(UnitScale("byte"), 1);
  EXPECT_EQ(UnitScale("Gbyte/second"), 1e9);
  EXPECT_EQ(UnitScale("Tbyte/s"), 1e12);
  EXPECT_EQ(UnitScale("GB/s"), 1e9);
  EXPECT_EQ(UnitScale("usecond"), 1e3);
  EXPECT_EQ(UnitScale("us"), 1e3);
  EXPECT_EQ(UnitScale("ms"), 1e6);
  EXPECT_EQ(UnitScale("Ghz"), 1e9);
  EXPECT_EQ(UnitScale("cycle"), 1);
  EXPECT_EQ(UnitScale("%"), 1);
  EXPECT_EQ(UnitScale("Kbyte/block"), 1e3);
  EXPECT_EQ(UnitScale("sector/ns"), 1e9);
  EXPECT_EQ(UnitScale(""), 1);
}

}  // namespace
}  // namespace sm89::calibrate
