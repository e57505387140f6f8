// A real Prometheus scrapes a busy endpoint; every dashboard expression and alert rule must work on it.
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <string>

#include "tests/deploy/command.h"

namespace sm89 {
namespace {

// busy_metrics with its standard input held open by us: it ends when this object goes, even by a crash.
class BusyMetrics {
 public:
  BusyMetrics() {
    std::array<int, 2> out{};
    if (pipe(out.data()) != 0) return;
    const std::string command = std::string(SM89_BIN_DIR "/busy_metrics 300 >&") + std::to_string(out[1]);
    input_ = popen(command.c_str(), "w");
    close(out[1]);
    char c = 0;
    while (read(out[0], &c, 1) == 1 && c != '\n') url_ += c;
    close(out[0]);
  }
  ~BusyMetrics() {
    if (input_ != nullptr) pclose(input_);
  }
  const std::string& url() const { return url_; }

 private:
  FILE* input_ = nullptr;
  std::string url_;
};

TEST(Observability, DashboardAndAlertsWorkAgainstARealPrometheus) {
  const BusyMetrics busy;
  ASSERT_EQ(busy.url().substr(0, 7), "http://");
  const testing::CommandResult result =
      testing::RunCommand("python3 " SM89_SOURCE_DIR "/tests/deploy/observability.py " + busy.url());
  EXPECT_EQ(result.exit_code, 0) << result.output;
  EXPECT_NE(result.output.find(", 0 failed"), std::string::npos) << result.output;
}

TEST(Observability, DashboardAndAlertsWorkAgainstABusyDaemon) {
  const testing::CommandResult result =
      testing::RunCommand("python3 " SM89_SOURCE_DIR "/tests/deploy/daemon_observability.py " SM89_BIN_DIR
                          " " SM89_SOURCE_DIR "/deploy/example");
  EXPECT_EQ(result.exit_code, 0) << result.output;
  EXPECT_NE(result.output.find(", 0 failed"), std::string::npos) << result.output;
}

}  // namespace
}  // namespace sm89
