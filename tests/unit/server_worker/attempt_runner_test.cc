// What an attempt keeps in files, and the bound on it.
#include "server/worker/attempt_runner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "server/os/clock.h"
#include "sim/config/config.h"
#include "sim/replay/program.h"
#include "tests/support/temp_dir.h"

namespace sm89 {
namespace {

using ::testing::HasSubstr;

// Files of this process at most `bytes` long, writes past it an error, as long as this lives.
class FileLimit {
 public:
  explicit FileLimit(uint64_t bytes) {
    EXPECT_EQ(getrlimit(RLIMIT_FSIZE, &before_), 0);
    rlimit limit = before_;
    limit.rlim_cur = bytes;
    EXPECT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
    signal_ = std::signal(SIGXFSZ, SIG_IGN);
  }
  ~FileLimit() {
    setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, signal_);
  }
  FileLimit(const FileLimit&) = delete;
  FileLimit& operator=(const FileLimit&) = delete;

 private:
  rlimit before_{};
  void (*signal_)(int) = SIG_DFL;
};

class AttemptRunnerTest : public ::testing::Test {
 protected:
  // vector_add, executed, whose trace is kept.
  v1::Assignment KeepingTrace(uint64_t artifact_bytes_max) const {
    const std::string kernels = std::string(SM89_SOURCE_DIR) + "/tests/data/kernels/";
    ProgramPaths paths;
    paths.cubin = kernels + "vector_add.sm_89.cubin";
    paths.launches = kernels + "vector_add.json";
    const auto program = CollectProgram(paths);
    EXPECT_TRUE(program.ok()) << program.status();
    std::ofstream(dir_.File("program"), std::ios::binary) << EncodeProgram(*program);
    v1::Assignment assignment;
    assignment.set_job("jobs/j");
    assignment.set_trace_path(dir_.File("program"));
    assignment.set_config_name("RTX4090");
    assignment.set_config_digest(LoadConfig("RTX4090", {}, ConfigOptions{})->digest);
    assignment.set_threads(1);
    assignment.set_keep_trace(true);
    std::filesystem::create_directories(dir_.File("scratch"));
    assignment.set_scratch_dir(dir_.File("scratch"));
    assignment.set_artifact_bytes_max(artifact_bytes_max);
    return assignment;
  }
  static AttemptOutcome Run(const v1::Assignment& assignment) {
    const std::atomic<bool> stop = false;
    return AttemptRunner(SystemClock(), WorkerFault()).Run(assignment, stop, [](const v1::Progress&) {});
  }

  const testing::TempDir dir_;
};

TEST_F(AttemptRunnerTest, AKeptTraceIsInItsFileUntilItIsDelivered) {
  {
    const AttemptOutcome outcome = Run(KeepingTrace(uint64_t{1} << 30));
    ASSERT_TRUE(outcome.status.ok()) << outcome.status;
    ASSERT_EQ(outcome.artifacts.at(0).name, "trace.sm89t");
    EXPECT_GT(std::filesystem::file_size(outcome.artifacts.at(0).file->path()), 0u);
  }
  EXPECT_TRUE(std::filesystem::is_empty(dir_.File("scratch")));
}

TEST_F(AttemptRunnerTest, AKeptTraceOfMoreThanIsAllowedNamesTheSetting) {
  const AttemptOutcome outcome = Run(KeepingTrace(100));
  EXPECT_EQ(outcome.status.code(), absl::StatusCode::kResourceExhausted) << outcome.status;
  EXPECT_THAT(std::string(outcome.status.message()), HasSubstr("the result file trace.sm89t has "));
  EXPECT_THAT(std::string(outcome.status.message()),
              HasSubstr("at most 100 are allowed (max_artifact_bytes)"));
}

TEST_F(AttemptRunnerTest, AKeptTraceThatMeetsTheProcesssFileLimitNamesTheSetting) {
  uint64_t size = 0;
  {
    const AttemptOutcome whole = Run(KeepingTrace(uint64_t{1} << 30));
    ASSERT_TRUE(whole.status.ok()) << whole.status;
    size = std::filesystem::file_size(whole.artifacts.at(0).file->path());
  }
  for (const uint64_t bytes : {uint64_t{4}, size / 2, size - 1}) {  // when it begins, grows, ends
    const v1::Assignment assignment = KeepingTrace(bytes);
    const FileLimit limit(bytes);
    const AttemptOutcome outcome = Run(assignment);
    EXPECT_EQ(outcome.status.code(), absl::StatusCode::kResourceExhausted) << outcome.status;
    EXPECT_THAT(std::string(outcome.status.message()),
                HasSubstr(absl::StrCat("the trace of what was executed takes more than ", bytes,
                                       " bytes (max_artifact_bytes)")));
  }
}

}  // namespace
}  // namespace sm89
