// The files of deploy/ against the tools that read them.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <string>

#include "server/config/server_config.h"
#include "server/metrics/metrics.h"
#include "sim/stats/sim_stats.h"
#include "tests/deploy/command.h"

namespace sm89 {
namespace {

using testing::CommandResult;
using testing::HasProgram;
using testing::RunCommand;

const std::string kDeploy = SM89_SOURCE_DIR "/deploy";
const std::string kTests = SM89_SOURCE_DIR "/tests/deploy";

std::string ReadFile(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  EXPECT_TRUE(in) << path;
  return {std::istreambuf_iterator<char>(in), {}};
}

// A file that is removed with the object.
class TempFile {
 public:
  TempFile(const std::string& name, const std::string& text)
      : folder_(std::filesystem::temp_directory_path() / ("sm89_deploy_test." + std::to_string(getpid()))),
        path_((folder_ / name).string()) {
    std::filesystem::create_directories(folder_);
    std::ofstream(path_, std::ios::binary) << text;
  }
  ~TempFile() { std::filesystem::remove_all(folder_); }
  const std::string& path() const { return path_; }

 private:
  std::filesystem::path folder_;
  std::string path_;
};

std::set<std::string> Matches(const std::string& text, const std::string& pattern) {
  const std::regex regex(pattern);
  std::set<std::string> found;
  for (std::sregex_iterator it(text.begin(), text.end(), regex), end; it != end; ++it) found.insert((*it)[1]);
  return found;
}

void ExpectSuccess(const std::string& command) {
  const CommandResult result = RunCommand(command);
  EXPECT_EQ(result.exit_code, 0) << command << "\n" << result.output;
}

TEST(Prometheus, ConfigurationIsValid) {
  ExpectSuccess("promtool check config " + kDeploy + "/prometheus/prometheus.yml");
}

TEST(Prometheus, AlertRulesAreValid) {
  ExpectSuccess("promtool check rules " + kDeploy + "/prometheus/alerts.yml");
}

TEST(Prometheus, AlertRulesPassTheirTests) {
  ExpectSuccess("promtool test rules " + kTests + "/alerts_test.yml");
}

TEST(Prometheus, EveryAlertHasATestAndASectionInTheManual) {
  const auto alerts = Matches(ReadFile(kDeploy + "/prometheus/alerts.yml"), "- alert: (\\w+)");
  EXPECT_GE(alerts.size(), 10u);
  EXPECT_EQ(Matches(ReadFile(kTests + "/alerts_test.yml"), "alertname: (\\w+)"), alerts);
  EXPECT_EQ(Matches(ReadFile(kDeploy + "/README.md"), "### (Sm89\\w+)"), alerts);
}

TEST(Prometheus, PromtoolFindsNoFaultInTheMetrics) {
  Metrics metrics({.version = "1", .rpc_methods = {{"p.S/M", false}}, .statistics = AllStatDefs()});
  metrics.SetLiveStateSource([] { return LiveState{}; });
  const TempFile text("metrics.txt", metrics.Text());
  ExpectSuccess("promtool check metrics < " + text.path());
  // The tool does find faults.
  const TempFile bad("bad.txt", "# HELP sm89_x Seconds.\n# TYPE sm89_x counter\nsm89_x 1\n");
  EXPECT_NE(RunCommand("promtool check metrics < " + bad.path()).exit_code, 0);
}

TEST(Grafana, CommittedDashboardIsWhatItsScriptGives) {
  const CommandResult generated = RunCommand("python3 " + kDeploy + "/grafana/make_dashboard.py --print");
  ASSERT_EQ(generated.exit_code, 0) << generated.output;
  EXPECT_TRUE(generated.output == ReadFile(kDeploy + "/grafana/dashboards/sm89.json"))
      << "run deploy/grafana/make_dashboard.py and commit the result";
}

TEST(Grafana, DashboardIsWellFormed) {
  ExpectSuccess("python3 " + kTests + "/check_dashboard.py " + kDeploy + "/grafana/dashboards/sm89.json");
}

struct Breakage {
  const char* name;
  const char* from;
  const char* to;
  const char* fault;
};

class BrokenDashboard : public ::testing::TestWithParam<Breakage> {};

TEST_P(BrokenDashboard, IsNoticed) {
  std::string text = ReadFile(kDeploy + "/grafana/dashboards/sm89.json");
  const size_t at = text.find(GetParam().from);
  ASSERT_NE(at, std::string::npos) << GetParam().from;
  text.replace(at, std::string(GetParam().from).size(), GetParam().to);
  const TempFile broken("broken.json", text);
  const CommandResult result = RunCommand("python3 " + kTests + "/check_dashboard.py " + broken.path());
  EXPECT_EQ(result.exit_code, 1) << result.output;
  EXPECT_NE(result.output.find(GetParam().fault), std::string::npos) << result.output;
}

INSTANTIATE_TEST_SUITE_P(
    Faults, BrokenDashboard,
    ::testing::Values(Breakage{"id", "\"id\": 2\n", "\"id\": 1\n", "not unique"},
                      Breakage{"variable", "$instance", "$host", "undefined variable host"},
                      Breakage{"range", "[$__rate_interval]", "[5m]", "range [5m]"},
                      Breakage{"place", "\"x\": 4,", "\"x\": 3,", "overlap"},
                      Breakage{"text", "\"description\": \"Daemons that answer the scraper.\"",
                               "\"description\": \"\"", "lacks description"}),
    [](const auto& test) { return std::string(test.param.name); });

// The unit with a program that exists here.
std::string UnitForChecking() {
  return std::regex_replace(ReadFile(kDeploy + "/systemd/sm89d.service"), std::regex("/usr/local/bin/sm89d"),
                            "/bin/true");
}

TEST(Systemd, UnitIsValid) {
  if (!HasProgram("systemd-analyze")) GTEST_SKIP() << "systemd-analyze is not installed";
  const TempFile unit("sm89d.service", UnitForChecking());
  const CommandResult result = RunCommand("systemd-analyze verify " + unit.path());
  EXPECT_EQ(result.exit_code, 0) << result.output;
  EXPECT_EQ(result.output.find("sm89d.service"), std::string::npos) << result.output;
}

TEST(Systemd, UnitIsHardened) {
  if (!HasProgram("systemd-analyze")) GTEST_SKIP() << "systemd-analyze is not installed";
  const TempFile unit("sm89d.service", UnitForChecking());
  // Tenths of the exposure level; an unhardened unit has 96.
  ExpectSuccess("systemd-analyze security --offline=true --no-pager --threshold=20 " + unit.path());
}

TEST(Systemd, WorkersOutliveTheDaemon) {
  const std::string unit = ReadFile(kDeploy + "/systemd/sm89d.service");
  EXPECT_NE(unit.find("\nKillMode=process\n"), std::string::npos);
  EXPECT_NE(unit.find("\nOOMPolicy=continue\n"), std::string::npos);
}

TEST(Systemd, InstalledConfigurationIsAccepted) {
  const std::string path = kDeploy + "/systemd/sm89d.conf";
  const auto config = ParseServerConfig(path, ReadFile(path), {});
  ASSERT_TRUE(config.ok()) << config.status();
  const auto targets = Matches(ReadFile(kDeploy + "/prometheus/targets.yml"), "\"([^\"]+)\"");
  EXPECT_EQ(targets, std::set<std::string>{config->listen.metrics_address});
  const auto stop = Matches(ReadFile(kDeploy + "/systemd/sm89d.service"), "TimeoutStopSec=(\\d+)");
  ASSERT_EQ(stop.size(), 1u);
  EXPECT_GT(std::stoull(*stop.begin()), config->listen.shutdown_seconds);
}

TEST(Docker, EveryCopiedPathExists) {
  const std::string file = ReadFile(kDeploy + "/Dockerfile");
  for (const std::string& path : Matches(file, "\nCOPY ([^-.][^ ]*) ")) {
    EXPECT_TRUE(std::filesystem::exists(SM89_SOURCE_DIR "/" + path)) << path;
  }
  EXPECT_NE(file.find("\nUSER sm89\n"), std::string::npos);
}

TEST(Docker, ArgumentsAreSettingsOfTheDaemon) {
  const std::string file = ReadFile(kDeploy + "/Dockerfile");
  std::vector<ServerSettingValue> flags;
  const std::regex flag("\"--([a-z-]+)=([^\"]*)\"");
  for (std::sregex_iterator it(file.begin(), file.end(), flag), end; it != end; ++it) {
    flags.push_back({(*it)[1], (*it)[2]});
  }
  EXPECT_GE(flags.size(), 3u);
  const auto config = ParseServerConfig("", "", flags);
  EXPECT_TRUE(config.ok()) << config.status();
}

TEST(Compose, EveryMountedFileExists) {
  const auto mounts = Matches(ReadFile(kDeploy + "/compose.yaml"), "- (\\./[^:]+):");
  EXPECT_GE(mounts.size(), 5u);
  for (const std::string& path : mounts) EXPECT_TRUE(std::filesystem::exists(kDeploy + "/" + path)) << path;
}

TEST(Compose, FileIsValid) {
  if (RunCommand("docker compose version").exit_code != 0) GTEST_SKIP() << "docker compose is not installed";
  ExpectSuccess("docker compose -f " + kDeploy + "/compose.yaml config --quiet");
}

TEST(Packages, ListsAreKnownAndUnknownKindIsRefused) {
  for (const char* kind : {"build", "test", "runtime", "plot", "missing build"}) {
    ExpectSuccess(kDeploy + "/packages.sh " + kind);
  }
  EXPECT_EQ(RunCommand(kDeploy + "/packages.sh nothing").exit_code, 2);
  EXPECT_EQ(RunCommand(kDeploy + "/packages.sh missing nothing").exit_code, 2);
}

TEST(Scripts, ShellcheckFindsNoFault) {
  if (!HasProgram("shellcheck")) GTEST_SKIP() << "shellcheck is not installed";
  ExpectSuccess("shellcheck " + kDeploy + "/packages.sh " + kDeploy + "/quickstart");
}

struct BadCall {
  const char* arguments;
  const char* message;
};

class Quickstart : public ::testing::TestWithParam<BadCall> {};

TEST_P(Quickstart, RefusesWithAReason) {
  const TempFile home("unused", "");
  const CommandResult result =
      RunCommand("XDG_STATE_HOME=" + std::filesystem::path(home.path()).parent_path().string() + " " +
                 kDeploy + "/quickstart " + GetParam().arguments);
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_NE(result.output.find(GetParam().message), std::string::npos) << result.output;
}

INSTANTIATE_TEST_SUITE_P(Calls, Quickstart,
                         ::testing::Values(BadCall{"--port 0", "--port needs a port number, not '0'"},
                                           BadCall{"--port", "--port needs a port number"},
                                           BadCall{"--metrics-port 65536", "not '65536'"},
                                           BadCall{"start", "unknown option 'start'"},
                                           BadCall{"--stop", "no daemon of quickstart is running"}));

}  // namespace
}  // namespace sm89
