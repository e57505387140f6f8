// The trace cases 01-30: each fact on the first line of expect.txt is checked. Case 26 is refused at launch,
// not here (sim_cases_test.cc).
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <ctime>
#include <filesystem>
#include <iostream>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sim/base/fault.h"
#include "sim/ingest/ingest.h"
#include "sim/trace/compact_reader.h"
#include "tests/cases/trace_facts.h"
#include "tests/support/expect_file.h"

namespace sm89 {
namespace {

namespace fs = std::filesystem;
using testing::ReadExpect;
using testing::TraceFacts;

constexpr char kCases[] = SM89_SOURCE_DIR "/../shared/cases";

std::string OutputPath() {
  const ::testing::TestInfo* test = ::testing::UnitTest::GetInstance()->current_test_info();
  std::string name = std::string(test->test_suite_name()) + "." + test->name();
  for (char& c : name) {
    if (c == '/') c = '-';
  }
  return ::testing::TempDir() + name + ".sm89trace";
}

// Facts of a refusal: the first fault that has the key; "missing" of several faults joined.
std::optional<std::string> FaultFact(const std::vector<Fault>& faults, const std::string& key) {
  std::optional<std::string> found;
  for (const Fault& fault : faults) {
    if (key == "file" && !found && !fault.file.empty()) found = fault.file;
    if (key == "line" && !found && fault.line != 0) found = std::to_string(fault.line);
    for (const auto& [name, value] : fault.facts) {
      if (name != key) continue;
      if (!found) {
        found = value;
      } else if (key == "missing") {
        found->append(",").append(value);
      }
    }
  }
  return found;
}

double ThreadCpuSeconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

long PeakKib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

// Ends the process: 0 when reading the trace raises its peak by less than `max_mib`.
[[noreturn]] void ExitByPeak(const std::string& folder, long max_mib) {
  const long before = PeakKib();
  const bool accepted = IngestTrace(folder, OutputPath(), {}).ok();
  const long extra_kib = PeakKib() - before;
  std::cerr << (accepted ? "accepted, " : "refused, ") << extra_kib << " KiB more\n";
  _exit(!accepted && extra_kib < max_mib * 1024 ? 0 : 1);
}

// Equal as texts, or as numbers when the expected one is hexadecimal.
void ExpectFact(const std::string& key, const std::string& want, const std::optional<std::string>& got) {
  ASSERT_TRUE(got.has_value()) << "nothing gives the fact " << key;
  if (want.starts_with("0x")) {
    EXPECT_EQ(std::to_string(std::stoull(want, nullptr, 16)), *got) << key << " = " << want;
  } else {
    EXPECT_EQ(want, *got) << key;
  }
}

class TraceCase : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    folder_ = std::string(kCases) + "/" + GetParam();
    if (!fs::exists(folder_)) GTEST_SKIP() << folder_ << " is absent";
    expect_ = ReadExpect(folder_ + "/expect.txt");
    ASSERT_FALSE(expect_.empty());
    verdict_ = expect_.extract("verdict").mapped();
  }
  void TearDown() override { fs::remove(OutputPath()); }

  std::string folder_;
  std::map<std::string, std::string> expect_;
  std::string verdict_;
};

class RefusedTrace : public TraceCase {};

TEST_P(RefusedTrace, GivesEveryFact) {
  EXPECT_EQ(verdict_, "reject");
  if (const auto limit = expect_.find("max_extra_mib"); limit != expect_.end()) {
    // In a process of its own: here, earlier cases may have had a higher peak already.
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_EXIT(ExitByPeak(folder_, std::stol(limit->second)), ::testing::ExitedWithCode(0), "");
  }
  const double cpu_before = ThreadCpuSeconds();
  const auto result = IngestTrace(folder_, OutputPath(), {});
  const double cpu = ThreadCpuSeconds() - cpu_before;
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.status().code(), expect_.contains("missing") && !expect_.contains("file")
                                        ? absl::StatusCode::kNotFound
                                        : absl::StatusCode::kInvalidArgument);
  const std::vector<Fault> faults = FaultsOf(result.status());
  for (const auto& [key, value] : expect_) {
    if (key == "max_seconds") {
      EXPECT_LT(cpu, std::stod(value));  // of CPU time: independent of what else runs
    } else if (key != "max_extra_mib") {
      ExpectFact(key, value, FaultFact(faults, key));
    }
  }
  EXPECT_FALSE(fs::exists(OutputPath())) << "a refused trace leaves nothing behind";
}

INSTANTIATE_TEST_SUITE_P(Cases, RefusedTrace,
                         ::testing::Values("01-unknown-opcode", "03-missing-block-dim",
                                           "06-address-count-short", "11-truncated-in-block",
                                           "12-block-count-short", "17-missing-kernel-file", "19-huge-grid",
                                           "25-binary-90", "28-insts-count-wrong", "29-garbage-header"));

class AcceptedTrace : public TraceCase {};

TEST_P(AcceptedTrace, GivesEveryFact) {
  const auto result = IngestTrace(folder_, OutputPath(), {});
  ASSERT_TRUE(result.ok()) << result.status();
  if (verdict_ == "accept") {
    EXPECT_TRUE(result->info.warnings.empty()) << result->info.warnings.front().message;
  } else {
    EXPECT_EQ(verdict_, "accept+warn");
    EXPECT_FALSE(result->info.warnings.empty());
  }
  EXPECT_TRUE(result->info.marks.empty());
  auto reader = CompactReader::Open(OutputPath());
  ASSERT_TRUE(reader.ok()) << reader.status();
  const absl::Status verified = (*reader)->VerifyAll();
  EXPECT_TRUE(verified.ok()) << verified;
  const TraceFacts facts(*result, *reader);
  for (const auto& [key, value] : expect_) ExpectFact(key, value, facts.Get(key));
}

INSTANTIATE_TEST_SUITE_P(Cases, AcceptedTrace,
                         ::testing::Values("02-ada-opcodes", "04-crlf", "05-mask-zero-loads",
                                           "07-base-stride-negative", "08-base-delta-negative",
                                           "09-high-bit-addresses", "10-kernel-names", "13-warp-zero-insts",
                                           "14-generic-windows", "15-predicated-off", "16-memcpy-spacing",
                                           "18-two-streams", "20-tracer-3", "21-line-info", "22-immediates",
                                           "23-xz-and-gz", "24-after-exit", "27-local-same-offset",
                                           "30-list-other-commands"));

// What the second lines of expect.txt add in words.
class TraceCaseWords : public ::testing::Test {
 protected:
  void TearDown() override { fs::remove(OutputPath()); }
  absl::StatusOr<IngestResult> Ingest(const std::string& name, const IngestOptions& options) {
    return IngestTrace(std::string(kCases) + "/" + name, OutputPath(), options);
  }
  static bool Absent() { return !fs::exists(kCases); }
};

TEST_F(TraceCaseWords, UnknownOpcodesRunOnlyAsNopAndAreNamed) {
  if (Absent()) GTEST_SKIP() << kCases << " is absent";
  IngestOptions options;
  options.unknown_as_nop = true;
  const auto result = Ingest("01-unknown-opcode", options);
  ASSERT_TRUE(result.ok()) << result.status();
  ASSERT_EQ(result->info.marks.size(), 1u);
  EXPECT_EQ(result->info.marks[0].kind, "unknown_as_nop");
  EXPECT_EQ(result->info.marks[0].count, 3u);
  EXPECT_NE(result->info.marks[0].detail.find("QFROB.RN.X4 (2), VNORM (1)"), std::string::npos);
}

TEST_F(TraceCaseWords, PartialTracesRunOnRequestAndAreMarked) {
  if (Absent()) GTEST_SKIP() << kCases << " is absent";
  IngestOptions options;
  options.allow_partial = true;
  const auto cut = Ingest("11-truncated-in-block", options);
  ASSERT_TRUE(cut.ok()) << cut.status();
  EXPECT_FALSE(cut->info.kernels[0].complete);
  EXPECT_EQ(cut->info.kernels[0].num_ctas, 1u);
  EXPECT_EQ(cut->info.kernels[0].warp_instructions, 14u);
  const auto hole = Ingest("12-block-count-short", options);
  ASSERT_TRUE(hole.ok()) << hole.status();
  ASSERT_EQ(hole->info.marks.size(), 1u);
  EXPECT_EQ(hole->info.marks[0].kind, "allow_partial");
  EXPECT_NE(hole->info.marks[0].detail.find("3 of 4"), std::string::npos);
}

TEST_F(TraceCaseWords, ForeignBinaryIsMarked) {
  if (Absent()) GTEST_SKIP() << kCases << " is absent";
  IngestOptions options;
  options.foreign_arch = true;
  const auto result = Ingest("25-binary-90", options);
  ASSERT_TRUE(result.ok()) << result.status();
  ASSERT_EQ(result->info.marks.size(), 1u);
  EXPECT_EQ(result->info.marks[0].kind, "foreign_arch");
}

TEST_F(TraceCaseWords, KernelNamesAreKeptByteForByte) {
  if (Absent()) GTEST_SKIP() << kCases << " is absent";
  const auto result = Ingest("10-kernel-names", {});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->info.kernels[0].name, "void app::axpy<float, 4, (bool)1>(float *, const float *, int)");
  EXPECT_EQ(result->info.kernels[1].name, "k = a \"quoted\" name, with = signs");
}

TEST_F(TraceCaseWords, IgnoredLinesAreWarnedAboutWithNumberAndText) {
  if (Absent()) GTEST_SKIP() << kCases << " is absent";
  const auto result = Ingest("30-list-other-commands", {});
  ASSERT_TRUE(result.ok()) << result.status();
  ASSERT_EQ(result->info.warnings.size(), 3u);
  EXPECT_NE(result->info.warnings[2].message.find("kernelslist.g:5"), std::string::npos);
  EXPECT_NE(result->info.warnings[2].message.find("ncclAllReduce,0x00007f4c80000000,64"), std::string::npos);
}

}  // namespace
}  // namespace sm89
