// The daemon's program: flags, signals, and waiting. Exit codes: 0 ended as asked, 1 could not start (the
// text says why), 2 wrong flags or configuration.
#include <pthread.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/config/server_config.h"
#include "server/log/grpc_log.h"
#include "server/log/log.h"
#include "server/main/daemon.h"
#include "server/os/file_store.h"
#include "sim/base/status_macros.h"
#include "sim/base/version.h"

namespace sm89 {
namespace {

constexpr int kExitCannotStart = 1;
constexpr int kExitUsage = 2;
constexpr uint64_t kConfigFileBytesMax = uint64_t{1} << 20;
constexpr long kDrainPollNanos = 100'000'000;

struct Flags {
  std::string config_file;
  bool check_config = false;
  bool version = false;
  std::map<std::string, std::string> settings;  // only those that were given
};

void AddFlags(CLI::App& app, Flags* flags) {
  app.add_option("--config", flags->config_file, "File of `key = value` lines; flags override it.");
  app.add_flag("--check-config", flags->check_config, "Print the effective settings and exit.");
  app.add_flag("--version", flags->version, "Print the version and exit.");
  for (const ServerSettingInfo& setting : ServerSettings()) {
    std::string name(setting.name);
    std::string flag = "--" + name;
    for (char& c : flag) c = c == '_' ? '-' : c;
    app.add_option_function<std::string>(
           flag, [flags, name](const std::string& value) { flags->settings[name] = value; },
           std::string(setting.help))
        ->take_last()
        ->default_str(std::string(setting.default_value));
  }
}

absl::StatusOr<ServerConfig> LoadServerConfig(const Flags& flags) {
  std::string text;
  if (!flags.config_file.empty()) {
    ASSIGN_OR_RETURN(text, ReadWholeFile(PosixFileStore(), flags.config_file, kConfigFileBytesMax));
  }
  std::vector<ServerSettingValue> values;
  for (const auto& [name, value] : flags.settings) values.push_back({name, value});
  return ParseServerConfig(flags.config_file, text, values);
}

absl::Status InitLogs(const LogSettings& settings) {
  LogOptions options;
  ParseLogLevel(settings.level, &options.level);  // the configuration admits only its four names
  options.json = settings.format == "json";
  options.file = settings.file;
  RETURN_IF_ERROR(InitLogging(options));
  RouteGrpcLogs();
  return absl::OkStatus();
}

sigset_t StopSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  return signals;
}

// Until no job runs, a second signal comes, or `seconds` are over.
void WaitDrained(Daemon& daemon, const sigset_t& signals, uint64_t seconds) {
  constexpr timespec kPoll{0, kDrainPollNanos};
  const uint64_t rounds = seconds * (1'000'000'000 / kDrainPollNanos);
  for (uint64_t i = 0; i < rounds && !daemon.Drained(); ++i) {
    if (sigtimedwait(&signals, nullptr, &kPoll) > 0) {
      Log(LogLevel::kWarn, "stop_at_once");
      return;
    }
  }
  daemon.EndCalls();
}

int Serve(const ServerConfig& config, const std::string& program_dir) {
  const sigset_t signals = StopSignals();
  DaemonOptions options{config, program_dir, {}};
  if (const char* fault = std::getenv("SM89_WORKER_FAULT"); fault != nullptr) {
    options.worker_environment.push_back(absl::StrCat("SM89_WORKER_FAULT=", fault));
  }
  absl::StatusOr<std::unique_ptr<Daemon>> daemon = Daemon::Start(options);
  if (!daemon.ok()) {
    std::cerr << "sm89d: cannot start: " << daemon.status().message() << "\n";
    return kExitCannotStart;
  }
  const DaemonAddresses& addresses = (*daemon)->addresses();
  std::cout << "sm89d ready: grpc=" << addresses.grpc
            << " metrics=" << (addresses.metrics.empty() ? "none" : addresses.metrics) << std::endl;
  int signal = 0;
  sigwait(&signals, &signal);
  Log(LogLevel::kInfo, "drain_begins", {{"signal", signal}});
  (*daemon)->BeginDrain();
  WaitDrained(**daemon, signals, config.listen.shutdown_seconds);
  daemon->reset();
  Log(LogLevel::kInfo, "stopped");
  FlushLogs();
  return 0;
}

int Main(int argc, char** argv) {
  // Before the first thread: all of them inherit the mask, and only sigwait sees the signals.
  const sigset_t signals = StopSignals();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
  Flags flags;
  CLI::App app("sm89d: the sm89 simulation daemon.", "sm89d");
  AddFlags(app, &flags);
  try {  // CLI11 reports by exceptions; they end here
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kExitUsage;
  }
  if (flags.version) {
    std::cout << "sm89d " << kProductVersion << " (model " << kModelVersion << ")\n";
    return 0;
  }
  const absl::StatusOr<ServerConfig> config = LoadServerConfig(flags);
  if (!config.ok()) {
    std::cerr << "sm89d: " << config.status().message() << "\n";
    return kExitUsage;
  }
  if (flags.check_config) {
    std::cout << DumpServerConfig(*config);
    return 0;
  }
  if (const absl::Status logs = InitLogs(config->log); !logs.ok()) {
    std::cerr << "sm89d: " << logs.message() << "\n";
    return kExitCannotStart;
  }
  std::error_code ignored;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", ignored);
  return Serve(*config, self.parent_path().string());
}

}  // namespace
}  // namespace sm89

int main(int argc, char** argv) { return sm89::Main(argc, argv); }
