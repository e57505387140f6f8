// Structured logs of the daemon and the worker: one line an event, to stderr and optionally to a file.
//
//   Log(LogLevel::kInfo, "job_started", {{"job_id", job.id}, {"worker_id", worker.id}, {"attempt", 2}});
//
// text:  2026-01-31T08:15:02.123456Z info  job_started job_id=j-17 worker_id=w3 attempt=2
// JSON:  {"time":"2026-01-31T08:15:02.123456Z","level":"info","event":"job_started","job_id":"j-17",...}
//
// Nothing is ever interpreted as a format string, and a value cannot break its line: control characters,
// quotes and non-ASCII text are escaped. Field names shared by all: job_id, worker_id, request_id,
// trace_id, upload_id, attempt, peer, error. Thread-safe. Lines are written before Log returns.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <variant>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace sm89 {

enum class LogLevel : uint8_t { kDebug, kInfo, kWarn, kError };
std::string_view Name(LogLevel level);                       // "debug", "info", "warn", "error"
bool ParseLogLevel(std::string_view text, LogLevel* level);  // false: not one of the four names

// A view of a value: it must outlive the call of Log only.
class LogValue {
 public:
  LogValue(bool value) : value_(value) {}
  LogValue(double value) : value_(value) {}
  template <std::signed_integral T>
  LogValue(T value) : value_(static_cast<int64_t>(value)) {}
  template <std::unsigned_integral T>
  LogValue(T value) : value_(static_cast<uint64_t>(value)) {}
  LogValue(std::string_view value) : value_(value) {}
  LogValue(const std::string& value) : value_(std::string_view(value)) {}
  LogValue(const char* value) : value_(std::string_view(value == nullptr ? "(null)" : value)) {}
  LogValue(absl::string_view value) : value_(std::string_view(value.data(), value.size())) {}

  using Variant = std::variant<bool, int64_t, uint64_t, double, std::string_view>;
  const Variant& get() const { return value_; }

 private:
  Variant value_;
};

struct LogField {
  std::string_view key;  // snake_case
  LogValue value;
};
using LogFields = std::initializer_list<LogField>;

// `event` is a snake_case name from the code, never text from outside: outside text goes into a field.
// At most 32 fields; longer values are cut at 4 KiB with a mark.
void Log(LogLevel level, std::string_view event, LogFields fields = {});
// For callers whose fields cost something to make.
bool LogEnabled(LogLevel level);

struct LogOptions {
  LogLevel level = LogLevel::kInfo;  // lines below it are dropped
  bool json = false;
  bool to_stderr = true;
  std::string file;  // "" = none; appended to, rotated
  uint64_t file_bytes_max = 64u << 20;
  uint32_t files_kept = 4;  // rotated files beside the current one
};

// Replaces the outputs; before the first call lines go to stderr as text. Fails when the file cannot be
// opened; the outputs then stay as they were.
absl::Status InitLogging(const LogOptions& options);
void FlushLogs();

// How one line looks, without its newline (exposed for tests). `time` is copied in as it is.
std::string FormatLogLine(bool json, std::string_view time, LogLevel level, std::string_view event,
                          LogFields fields);

}  // namespace sm89
