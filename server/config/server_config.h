// Settings of the daemon. One table (server_config.cc) names every member with type, unit, range, default and
// help; the file parser, the flags, --help, the effective dump and the limits that clients see come from it.
//
// A configuration file holds `key = value` lines; '#' starts a comment. Flags override the file. Sizes take
// KiB, MiB, GiB, TiB; times s, m, h, d; a bare number is in the setting's unit.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"

namespace sm89 {

struct ListenSettings {
  std::string address;          // "host:port" for gRPC; empty = Unix socket only
  std::string unix_socket;      // for workers and local clients; empty = <data_dir>/sm89.sock
  std::string metrics_address;  // "host:port" for /metrics; empty = none
  uint64_t max_message_bytes = 0;
  uint64_t max_streams_per_connection = 0;
  uint64_t keepalive_seconds = 0;
  uint64_t shutdown_seconds = 0;
};

struct PoolSettings {
  uint64_t workers = 0;        // 0 = one per core
  std::string worker_program;  // empty = sm89-worker beside the daemon
  uint64_t heartbeat_ms = 0;
  uint64_t lease_ms = 0;
  uint64_t start_timeout_seconds = 0;
  uint64_t reattach_grace_seconds = 0;
  uint64_t kill_grace_ms = 0;
  uint64_t backoff_max_seconds = 0;
};

struct JobSettings {
  uint64_t max_queued = 0;
  uint64_t max_stored = 0;
  uint64_t max_attempts = 0;
  uint64_t default_wall_seconds = 0;
  uint64_t max_wall_seconds = 0;
  uint64_t default_memory_bytes = 0;
  uint64_t max_memory_bytes = 0;
  uint64_t default_cycles = 0;
  uint64_t max_cycles = 0;
  uint64_t max_threads = 0;
  uint64_t max_watchers = 0;
  uint64_t progress_interval_ms = 0;
  uint64_t max_artifact_bytes = 0;
};

struct UploadSettings {
  uint64_t max_upload_bytes = 0;
  uint64_t max_chunk_bytes = 0;
  uint64_t max_unpacked_bytes = 0;
  uint64_t max_open = 0;
  uint64_t max_traces = 0;
  uint64_t idle_seconds = 0;    // of one write stream
  uint64_t expiry_seconds = 0;  // of an upload that nobody goes on with
  uint64_t min_free_bytes = 0;  // disk reserve
  uint64_t ingests = 0;         // read at the same time
  uint64_t ingest_memory_bytes = 0;
  uint64_t ingest_wall_seconds = 0;
  std::string ptxas;  // path; empty = looked up on PATH; "none" = PTX is refused
  uint64_t max_configs = 0;
  uint64_t max_config_bytes = 0;
};

struct AnalysisSettings {
  uint64_t running = 0;  // at the same time
  uint64_t max_waiting = 0;
  uint64_t memory_bytes = 0;
  uint64_t wall_seconds = 0;
  uint64_t answer_bytes = 0;
};

struct LogSettings {
  std::string level;   // debug, info, warn, error
  std::string format;  // text, json
  std::string file;    // empty = standard error only
};

struct ServerConfig {
  // Every member at its default from the table.
  ServerConfig();

  std::string data_dir;
  ListenSettings listen;
  PoolSettings pool;
  JobSettings jobs;
  UploadSettings uploads;
  AnalysisSettings analyses;
  LogSettings log;

  std::string UnixSocketPath() const;
};

// kAddress: "host:port" or empty.
enum class ServerSettingType : uint8_t { kString, kAddress, kChoice, kNumber };

struct ServerSettingInfo {
  std::string_view name;  // "max_upload_bytes"; as a flag: --max-upload-bytes
  ServerSettingType type = ServerSettingType::kString;
  std::string_view unit;  // "bytes", "s", "ms", ""
  uint64_t min = 0;       // kNumber
  uint64_t max = 0;
  std::string_view choices;        // kChoice: "text,json"
  std::string_view default_value;  // as it would be written in a file
  std::string_view help;
  bool is_limit = false;  // a bound that a client may meet: shown by PoolService.GetStatus
};

// The whole table, in order.
std::span<const ServerSettingInfo> ServerSettings();

struct ServerSettingValue {
  std::string name;  // underscores or hyphens
  std::string value;
};

// `text` is the file's content (may be empty), `file_label` its name in messages. All faults of file and
// flags at once: InputError, INVALID_ARGUMENT.
absl::StatusOr<ServerConfig> ParseServerConfig(const std::string& file_label, std::string_view text,
                                               std::span<const ServerSettingValue> flags);

// "name = value" lines that ParseServerConfig reads back to the same settings.
std::string DumpServerConfig(const ServerConfig& config);
// One paragraph a setting.
std::string ServerConfigHelp();
// Every bound that a client may meet, by name, in table order.
std::vector<std::pair<std::string, std::string>> ServerLimits(const ServerConfig& config);

}  // namespace sm89
