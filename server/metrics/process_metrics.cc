#include <sys/resource.h>
#include <unistd.h>

#include <charconv>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string_view>

#include "absl/strings/str_split.h"
#include "server/metrics/live_collector.h"
#include "sim/base/strings.h"

namespace sm89 {
namespace {

using prometheus::MetricFamily;
using prometheus::MetricType;

void Append(const char* name, const char* help, MetricType type, double value,
            std::vector<MetricFamily>& out) {
  prometheus::ClientMetric metric;
  (type == MetricType::Counter ? metric.counter.value : metric.gauge.value) = value;
  out.push_back({name, help, type, {metric}});
}

std::string ReadAll(const char* path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::optional<double> Number(const std::string& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// The number after "btime " in /proc/stat: when the machine started, in Unix seconds.
std::optional<double> BootTimeSeconds() {
  const std::string stat = ReadAll("/proc/stat");
  const size_t at = stat.find("\nbtime ");
  if (at == std::string::npos) return std::nullopt;
  const size_t begin = at + 7;
  return Number(stat.substr(begin, stat.find('\n', begin) - begin));
}

// Fields of /proc/self/stat from the state (field 3 of proc(5)) on; the name before may hold anything.
std::vector<std::string> StatFields() {
  const std::string stat = ReadAll("/proc/self/stat");
  const size_t name_end = stat.rfind(") ");
  if (name_end == std::string::npos) return {};
  return absl::StrSplit(Av(std::string_view(stat).substr(name_end + 2)), ' ');
}

std::optional<double> Field(const std::vector<std::string>& fields, size_t number) {
  const size_t index = number - 3;
  return index < fields.size() ? Number(fields[index]) : std::nullopt;
}

void AppendFromStat(std::vector<MetricFamily>& out) {
  const std::vector<std::string> fields = StatFields();
  const double ticks = static_cast<double>(sysconf(_SC_CLK_TCK));
  const auto user = Field(fields, 14), system = Field(fields, 15), threads = Field(fields, 20),
             start = Field(fields, 22), virtual_bytes = Field(fields, 23), pages = Field(fields, 24);
  if (user && system) {
    Append("process_cpu_seconds_total", "CPU time of the daemon itself, without its workers.",
           MetricType::Counter, (*user + *system) / ticks, out);
  }
  if (threads) Append("process_threads", "Threads of the daemon.", MetricType::Gauge, *threads, out);
  if (virtual_bytes) {
    Append("process_virtual_memory_bytes", "Address space of the daemon.", MetricType::Gauge, *virtual_bytes,
           out);
  }
  if (pages) {
    Append("process_resident_memory_bytes", "Memory of the daemon in RAM.", MetricType::Gauge,
           *pages * static_cast<double>(sysconf(_SC_PAGESIZE)), out);
  }
  const auto boot = BootTimeSeconds();
  if (start && boot) {
    Append("process_start_time_seconds", "Unix time at which the daemon started.", MetricType::Gauge,
           *boot + *start / ticks, out);
  }
}

}  // namespace

void AppendProcess(std::vector<MetricFamily>& out) {
  AppendFromStat(out);
  std::error_code error;
  const std::filesystem::directory_iterator fds("/proc/self/fd", error);
  if (!error) {
    Append("process_open_fds", "File descriptors that the daemon holds open.", MetricType::Gauge,
           static_cast<double>(std::distance(begin(fds), end(fds))), out);
  }
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
    Append("process_max_fds", "Most file descriptors that the daemon may hold open.", MetricType::Gauge,
           static_cast<double>(limit.rlim_cur), out);
  }
}

}  // namespace sm89
