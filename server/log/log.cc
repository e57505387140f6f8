#include "server/log/log.h"

#include <spdlog/sinks/rotating_file_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"

namespace sm89 {
namespace {

using LoggerPtr = std::shared_ptr<spdlog::logger>;

spdlog::level::level_enum ToSpdlog(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug:
      return spdlog::level::debug;
    case LogLevel::kInfo:
      return spdlog::level::info;
    case LogLevel::kWarn:
      return spdlog::level::warn;
    case LogLevel::kError:
      return spdlog::level::err;
  }
  return spdlog::level::err;
}

LoggerPtr MakeLogger(const std::vector<spdlog::sink_ptr>& sinks) {
  auto logger = std::make_shared<spdlog::logger>("sm89", sinks.begin(), sinks.end());
  logger->set_pattern("%v");
  logger->set_level(spdlog::level::trace);
  logger->flush_on(spdlog::level::trace);
  return logger;
}

// The one place of process-wide state in server/: where lines go.
struct Outputs {
  std::mutex mutex;  // guards logger
  LoggerPtr logger = MakeLogger({std::make_shared<spdlog::sinks::stderr_sink_mt>()});
  std::atomic<LogLevel> level{LogLevel::kInfo};
  std::atomic<bool> json{false};
};

// Never destroyed: threads of libraries may still log while the process ends.
Outputs& TheOutputs() {
  static Outputs* const outputs = new Outputs;
  return *outputs;
}

LoggerPtr CurrentLogger() {
  Outputs& outputs = TheOutputs();
  const std::lock_guard<std::mutex> lock(outputs.mutex);
  return outputs.logger;
}

}  // namespace

bool LogEnabled(LogLevel level) { return level >= TheOutputs().level.load(std::memory_order_relaxed); }

void Log(LogLevel level, std::string_view event, LogFields fields) {
  if (!LogEnabled(level)) return;
  const std::string time = absl::FormatTime("%Y-%m-%dT%H:%M:%E6SZ", absl::Now(), absl::UTCTimeZone());
  const bool json = TheOutputs().json.load(std::memory_order_relaxed);
  const std::string line = FormatLogLine(json, time, level, event, fields);
  // The overload that takes a view, not a format string.
  CurrentLogger()->log(spdlog::source_loc{}, ToSpdlog(level),
                       spdlog::string_view_t(line.data(), line.size()));
}

absl::Status InitLogging(const LogOptions& options) {
  std::vector<spdlog::sink_ptr> sinks;
  if (options.to_stderr) sinks.push_back(std::make_shared<spdlog::sinks::stderr_sink_mt>());
  if (!options.file.empty()) {
    try {
      sinks.push_back(std::make_shared<spdlog::sinks::rotating_file_sink_mt>(
          options.file, options.file_bytes_max, options.files_kept));
    } catch (const spdlog::spdlog_ex& error) {
      return absl::FailedPreconditionError(
          absl::StrCat("cannot open the log file '", options.file, "': ", error.what()));
    }
  }
  LoggerPtr logger = MakeLogger(sinks);
  Outputs& outputs = TheOutputs();
  const std::lock_guard<std::mutex> lock(outputs.mutex);
  outputs.logger = std::move(logger);
  outputs.level = options.level;
  outputs.json = options.json;
  return absl::OkStatus();
}

void FlushLogs() { CurrentLogger()->flush(); }

}  // namespace sm89
