// The kinds of trace errors against what the reader really says about defective traces.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "server/metrics/upload_metrics.h"
#include "sim/ingest/ingest.h"

namespace sm89 {
namespace {

struct Defect {
  const char* folder;
  TraceErrorKind kind;
};

class TraceErrorKindOfCase : public ::testing::TestWithParam<Defect> {};

TEST_P(TraceErrorKindOfCase, IsAsExpected) {
  const std::string folder = std::string(SM89_SOURCE_DIR "/../shared/cases/") + GetParam().folder;
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << folder << " is absent";
  const std::string output = ::testing::TempDir() + "sm89_trace_error_kind." + std::to_string(getpid());
  const auto result = IngestTrace(folder, output, IngestOptions{});
  std::filesystem::remove(output);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(Name(ClassifyTraceError(result.status())), Name(GetParam().kind)) << result.status();
}

INSTANTIATE_TEST_SUITE_P(Cases, TraceErrorKindOfCase,
                         ::testing::Values(Defect{"01-unknown-opcode", TraceErrorKind::kUnknownOpcode},
                                           Defect{"03-missing-block-dim", TraceErrorKind::kMalformed},
                                           Defect{"06-address-count-short", TraceErrorKind::kMalformed},
                                           Defect{"11-truncated-in-block", TraceErrorKind::kMalformed},
                                           Defect{"17-missing-kernel-file", TraceErrorKind::kMissingFile},
                                           Defect{"25-binary-90", TraceErrorKind::kUnsupported}));

}  // namespace
}  // namespace sm89
