// The table of the daemon's settings.
#include <array>
#include <vector>

#include "server/config/server_setting_row.h"

namespace sm89 {
namespace {

using Type = ServerSettingType;

constexpr uint64_t kKiB = uint64_t{1} << 10;
constexpr uint64_t kMiB = uint64_t{1} << 20;
constexpr uint64_t kGiB = uint64_t{1} << 30;
constexpr uint64_t kTiB = uint64_t{1} << 40;
constexpr uint64_t kDay = 24 * 3600;

#define SM89_MEMBER(member) \
  [](ServerConfig & c) -> auto& { return c.member; }

constexpr ServerSettingRow Text(std::string_view name, std::string_view default_value, std::string_view help,
                                std::string& (*member)(ServerConfig&)) {
  return {{name, Type::kString, "", 0, 0, "", default_value, help, false}, member, nullptr};
}
constexpr ServerSettingRow Address(std::string_view name, std::string_view default_value,
                                   std::string_view help, std::string& (*member)(ServerConfig&)) {
  return {{name, Type::kAddress, "", 0, 0, "", default_value, help, false}, member, nullptr};
}
constexpr ServerSettingRow Choice(std::string_view name, std::string_view choices,
                                  std::string_view default_value, std::string_view help,
                                  std::string& (*member)(ServerConfig&)) {
  return {{name, Type::kChoice, "", 0, 0, choices, default_value, help, false}, member, nullptr};
}
struct Range {
  uint64_t min;
  uint64_t max;
};
constexpr ServerSettingRow Number(std::string_view name, std::string_view unit, Range range,
                                  std::string_view default_value, std::string_view help,
                                  uint64_t& (*member)(ServerConfig&)) {
  return {{name, Type::kNumber, unit, range.min, range.max, "", default_value, help, false}, nullptr, member};
}
constexpr ServerSettingRow Limit(std::string_view name, std::string_view unit, Range range,
                                 std::string_view default_value, std::string_view help,
                                 uint64_t& (*member)(ServerConfig&)) {
  return {{name, Type::kNumber, unit, range.min, range.max, "", default_value, help, true}, nullptr, member};
}

constexpr ServerSettingRow kRows[] = {
    Text("data_dir", "/var/lib/sm89", "Folder of database, traces and results; on a local disk.",
         SM89_MEMBER(data_dir)),

    Address("listen_address", "127.0.0.1:8989",
            "host:port of the gRPC API; empty = Unix socket only. There is no authentication yet: keep it on "
            "loopback or a trusted network.",
            SM89_MEMBER(listen.address)),
    Text("unix_socket", "",
         "Path of the Unix socket for local clients; empty = DATA_DIR/sm89.sock. Workers have their own.",
         SM89_MEMBER(listen.unix_socket)),
    Address("metrics_address", "127.0.0.1:9089", "host:port of /metrics for Prometheus; empty = none.",
            SM89_MEMBER(listen.metrics_address)),
    Limit("max_message_bytes", "bytes", {2 * kMiB, 64 * kMiB}, "4MiB", "Largest gRPC message accepted.",
          SM89_MEMBER(listen.max_message_bytes)),
    Limit("max_streams_per_connection", "", {8, 100'000}, "1024", "Calls at the same time on one connection.",
          SM89_MEMBER(listen.max_streams_per_connection)),
    Number("keepalive_seconds", "s", {1, 3600}, "20",
           "A silent connection is probed after this time and closed when no answer comes.",
           SM89_MEMBER(listen.keepalive_seconds)),
    Number("shutdown_seconds", "s", {1, 3600}, "30",
           "After SIGTERM: open calls have this long to end before they are cut.",
           SM89_MEMBER(listen.shutdown_seconds)),

    Number("workers", "", {0, 1024}, "0", "Worker processes; 0 = one per core.", SM89_MEMBER(pool.workers)),
    Text("worker_program", "", "Path of sm89-worker; empty = beside the daemon.",
         SM89_MEMBER(pool.worker_program)),
    Number("heartbeat_ms", "ms", {50, 60'000}, "500", "A worker reports at least this often.",
           SM89_MEMBER(pool.heartbeat_ms)),
    Number("lease_ms", "ms", {200, 600'000}, "10000",
           "A worker that was silent for this long has lost contact; at least three heartbeats.",
           SM89_MEMBER(pool.lease_ms)),
    Number("start_timeout_seconds", "s", {1, 600}, "30", "A new worker must have dialled in after this time.",
           SM89_MEMBER(pool.start_timeout_seconds)),
    Number("reattach_grace_seconds", "s", {1, kDay}, "30",
           "A worker without contact, or left by an earlier daemon, has this long to come back before its "
           "job is "
           "queued again.",
           SM89_MEMBER(pool.reattach_grace_seconds)),
    Number("kill_grace_ms", "ms", {0, 60'000}, "500", "Between SIGTERM and SIGKILL of a worker.",
           SM89_MEMBER(pool.kill_grace_ms)),
    Number("backoff_max_seconds", "s", {1, 3600}, "60",
           "Longest wait before a worker that keeps dying is started again.",
           SM89_MEMBER(pool.backoff_max_seconds)),

    Limit("max_queued_jobs", "", {1, 1'000'000}, "10000", "Jobs that wait; more are refused.",
          SM89_MEMBER(jobs.max_queued)),
    Limit("max_stored_jobs", "", {1, 10'000'000}, "100000", "Jobs kept in all, ended ones included.",
          SM89_MEMBER(jobs.max_stored)),
    Limit("max_attempts", "", {1, 10}, "3", "Times a job is started before worker deaths make it fail.",
          SM89_MEMBER(jobs.max_attempts)),
    Limit("default_wall_seconds", "s", {1, 30 * kDay}, "1d", "Time limit of a job that names none.",
          SM89_MEMBER(jobs.default_wall_seconds)),
    Limit("max_wall_seconds", "s", {1, 30 * kDay}, "7d", "Longest time limit a job may ask for.",
          SM89_MEMBER(jobs.max_wall_seconds)),
    Limit("default_memory_bytes", "bytes", {64 * kMiB, 16 * kTiB}, "4GiB",
          "Memory limit of a job that names none.", SM89_MEMBER(jobs.default_memory_bytes)),
    Limit("max_memory_bytes", "bytes", {64 * kMiB, 16 * kTiB}, "64GiB",
          "Largest memory limit a job may ask for.", SM89_MEMBER(jobs.max_memory_bytes)),
    Limit("default_cycles", "cycles", {0, ~uint64_t{0}}, "0",
          "Simulated cycles of a job that names no limit; 0 = to the end.", SM89_MEMBER(jobs.default_cycles)),
    Limit("max_cycles", "cycles", {0, ~uint64_t{0}}, "0", "Largest cycle limit a job may ask for; 0 = any.",
          SM89_MEMBER(jobs.max_cycles)),
    Limit("max_threads", "", {1, 256}, "16", "Threads a job may ask for.", SM89_MEMBER(jobs.max_threads)),
    Limit("max_watchers", "", {1, 1'000'000}, "10000", "WatchJob streams open at the same time.",
          SM89_MEMBER(jobs.max_watchers)),
    Number("progress_interval_ms", "ms", {50, 60'000}, "500", "Progress of a running job comes this often.",
           SM89_MEMBER(jobs.progress_interval_ms)),
    Limit("max_artifact_bytes", "bytes", {kMiB, kTiB}, "4GiB", "Largest single result file of a job.",
          SM89_MEMBER(jobs.max_artifact_bytes)),

    Limit("max_upload_bytes", "bytes", {kKiB, 16 * kTiB}, "64GiB", "Largest upload, as packed.",
          SM89_MEMBER(uploads.max_upload_bytes)),
    Limit("max_chunk_bytes", "bytes", {4 * kKiB, kMiB}, "1MiB", "Largest data of one WriteUpload message.",
          SM89_MEMBER(uploads.max_chunk_bytes)),
    Limit("max_unpacked_bytes", "bytes", {kMiB, 256 * kTiB}, "1TiB", "What an upload may unpack to.",
          SM89_MEMBER(uploads.max_unpacked_bytes)),
    Limit("max_open_uploads", "", {1, 10'000}, "64", "Uploads begun and not finished.",
          SM89_MEMBER(uploads.max_open)),
    Limit("max_traces", "", {1, 10'000'000}, "100000", "Traces kept.", SM89_MEMBER(uploads.max_traces)),
    Limit("upload_idle_seconds", "s", {1, kDay}, "60",
          "A WriteUpload stream that brings nothing for this long is ended; what it brought stays.",
          SM89_MEMBER(uploads.idle_seconds)),
    Limit("upload_expiry_seconds", "s", {60, 365 * kDay}, "1d",
          "An upload that nobody went on with for this long is dropped.",
          SM89_MEMBER(uploads.expiry_seconds)),
    Limit("min_free_bytes", "bytes", {0, 16 * kTiB}, "1GiB",
          "Disk space that uploads leave free; they are refused past it.",
          SM89_MEMBER(uploads.min_free_bytes)),
    Number("ingests", "", {1, 64}, "2", "Uploads that are read and validated at the same time.",
           SM89_MEMBER(uploads.ingests)),
    Limit("ingest_memory_bytes", "bytes", {128 * kMiB, kTiB}, "8GiB",
          "Address space of the process that reads an upload.", SM89_MEMBER(uploads.ingest_memory_bytes)),
    Limit("ingest_wall_seconds", "s", {1, 7 * kDay}, "6h", "Time to read and validate one upload.",
          SM89_MEMBER(uploads.ingest_wall_seconds)),
    Text(
        "ptxas", "",
        "Path of NVIDIA's ptxas, which compiles PTX in uploaded programs; empty = looked up on PATH when the "
        "daemon starts; none = PTX is refused.",
        SM89_MEMBER(uploads.ptxas)),
    Limit("max_configs", "", {1, 1'000'000}, "10000", "Configurations that users created.",
          SM89_MEMBER(uploads.max_configs)),
    Limit("max_config_bytes", "bytes", {kKiB, kMiB}, "256KiB", "Text and overrides of one configuration.",
          SM89_MEMBER(uploads.max_config_bytes)),

    Number("analyses", "", {1, 64}, "2", "Analyses of machine code that run at the same time.",
           SM89_MEMBER(analyses.running)),
    Limit("max_waiting_analyses", "", {1, 10'000}, "32", "Analyses that wait; more are refused.",
          SM89_MEMBER(analyses.max_waiting)),
    Limit("analysis_memory_bytes", "bytes", {128 * kMiB, kTiB}, "4GiB",
          "Address space of the process that analyses.", SM89_MEMBER(analyses.memory_bytes)),
    Limit("analysis_wall_seconds", "s", {1, kDay}, "2m", "Time of one analysis.",
          SM89_MEMBER(analyses.wall_seconds)),
    Limit("max_analysis_bytes", "bytes", {kMiB, 16 * kGiB}, "256MiB", "Largest answer of an analysis.",
          SM89_MEMBER(analyses.answer_bytes)),

    Choice("log_level", "debug,info,warn,error", "info", "Least serious line that is written.",
           SM89_MEMBER(log.level)),
    Choice("log_format", "text,json", "text", "Shape of the lines.", SM89_MEMBER(log.format)),
    Text("log_file", "", "Also write to this file, rotated; empty = standard error only.",
         SM89_MEMBER(log.file)),
};

#undef SM89_MEMBER

}  // namespace

std::span<const ServerSettingRow> ServerSettingRows() { return kRows; }

std::span<const ServerSettingInfo> ServerSettings() {
  static const std::vector<ServerSettingInfo> infos = [] {
    std::vector<ServerSettingInfo> list;
    for (const ServerSettingRow& row : kRows) list.push_back(row.info);
    return list;
  }();
  return infos;
}

}  // namespace sm89
