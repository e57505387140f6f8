#include "sim/timeline/timeline.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "nlohmann/json.hpp"
#include "sim/base/assert.h"
#include "sim/base/strings.h"
#include "sim/report/text.h"
#include "sim/timeline/gzip_writer.h"

namespace sm89 {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kPieceBytes = 1u << 16;
constexpr uint32_t kThreadsPerWarp = 32;
constexpr uint64_t kMaxStreamId = std::numeric_limits<int32_t>::max();  // of CUPTI
constexpr int kGpu = 0;                                // pid of the device's events, as in Kineto
constexpr std::string_view kSmProcess = "SMs";         // pid of the SMs' tracks
constexpr uint32_t kCopyStream = 0;                    // traces do not say in which stream a copy ran
constexpr uint64_t kFirstDeviceSortIndex = 5'000'000;  // as Kineto has it: devices below the host's threads

std::string Dump(const Json& value) { return value.dump(-1, ' ', false, Json::error_handler_t::replace); }

// Microseconds with three decimals, as Kineto writes times.
std::string Microseconds(uint64_t ns) { return absl::StrFormat("%d.%03d", ns / 1000, ns % 1000); }

// Six decimals, as Kineto writes its ratios.
std::string Ratio(double value) { return absl::StrFormat("%.6f", value); }

uint64_t Volume(const Dim3& d) { return uint64_t{d.x} * d.y * d.z; }

// Counters of one sample under the names that Derive knows.
SimStats StatsOf(const IntervalSample& sample) {
  SimStats stats;
  stats.sm.warp_instructions = sample.warp_instructions;
  stats.sm.issue_slots = sample.issue_slots;
  stats.sm.tensor_busy_cycles = sample.tensor_busy_cycles;
  stats.l2.read_sectors = sample.l2_sectors;
  stats.l2.read_hits = sample.l2_hits;
  stats.dram.read_sectors = sample.dram_read_sectors;
  stats.dram.write_sectors = sample.dram_write_sectors;
  return stats;
}

// One series of a counter track: a derived figure of the interval.
struct Series {
  std::string_view track;
  std::string_view key;
  std::string_view figure;
};
constexpr Series kSeries[] = {
    {"IPC", "IPC", "ipc"},
    {"L2 hit rate (%)", "hit rate", "l2_hit_rate"},
    {"DRAM bandwidth (GB/s)", "read", "dram_read_bandwidth"},
    {"DRAM bandwidth (GB/s)", "write", "dram_write_bandwidth"},
    {"Tensor utilization (%)", "utilization", "tensor_utilization"},
};

class Writer {
 public:
  Writer(const RunReport& report, const PieceSink& write) : report_(report), write_(write) {
    for (const Series& series : kSeries) figures_.push_back(DerivedIndex(series.figure));
    for (const KernelReport& kernel : report.kernels) streams_.push_back(kernel.info.stream_id);
    if (!report.host_copies.empty()) streams_.push_back(kCopyStream);
    std::sort(streams_.begin(), streams_.end());
    streams_.erase(std::unique(streams_.begin(), streams_.end()), streams_.end());
    renumbered_ = !streams_.empty() && streams_.back() > kMaxStreamId;
  }

  void Write() {
    Head();
    Names();
    Events();
    text_ += "\n]\n}\n";
    Flush();
  }

 private:
  void Head();
  void Names();
  void Events();
  void Kernel(const KernelReport& kernel);
  void Copy(size_t index);
  void Counters(size_t index);
  void SmCounters(size_t index);
  void EndCounters();
  void Metadata(std::string_view name, const Json& pid, uint64_t tid, const Json& args);
  void Counter(std::string_view track, const Json& pid, uint64_t cycle, std::string_view args);

  std::string Time(uint64_t cycle) const { return Microseconds(TimelineNs(cycle, report_.core_khz)); }
  uint64_t Tid(uint64_t stream) const {
    if (!renumbered_) return stream;
    return static_cast<uint64_t>(std::lower_bound(streams_.begin(), streams_.end(), stream) -
                                 streams_.begin());
  }
  // Kernels and copies share one count in the order of the trace, as calls of the CUDA runtime do.
  uint64_t Correlation(const KernelReport& kernel) const;
  uint64_t SampleStart(size_t index) const {
    return index == 0 ? 0 : report_.intervals.samples[index - 1].end_cycle;
  }
  void Event(std::string_view json) {
    absl::StrAppend(&text_, first_ ? "\n" : ",\n", Av(json));
    first_ = false;
    if (text_.size() >= kPieceBytes) Flush();
  }
  void Flush() {
    if (wanted_) wanted_ = write_(text_);
    text_.clear();
  }

  const RunReport& report_;
  const PieceSink& write_;
  std::vector<size_t> figures_;    // by kSeries: place in Derive's result
  std::vector<uint64_t> streams_;  // sorted
  bool renumbered_ = false;        // ids that Kineto could not have: streams are numbered instead
  std::string text_;
  bool first_ = true;
  bool wanted_ = true;
  std::vector<uint64_t> sm_shown_;  // SM tracks: instructions of the value that stands
};

void Writer::Head() {
  const uint64_t threads = uint64_t{report_.max_warps_per_sm} * kThreadsPerWarp;
  Json root;
  root["schemaVersion"] = 1;
  root["deviceProperties"] = Json::array({{{"id", kGpu},
                                           {"name", absl::StrCat(report_.config_name, " (simulated)")},
                                           {"maxThreadsPerMultiprocessor", threads},
                                           {"warpSize", kThreadsPerWarp},
                                           {"numSms", report_.num_sms},
                                           {"regsPerMultiprocessor", report_.sm.registers},
                                           {"sharedMemPerMultiprocessor", report_.sm.shared_memory_bytes},
                                           {"sharedMemPerBlockOptin", report_.sm.cta_shared_memory_bytes}}});
  root["sm89"] = {{"product_version", report_.product_version},
                  {"model_version", report_.model_version},
                  {"trace_digest", report_.trace_digest},
                  {"config_name", report_.config_name},
                  {"config_digest", report_.config_digest},
                  {"core_khz", report_.core_khz},
                  {"status", StatusText(report_)},
                  {"marks", MarkKinds(report_)}};
  root["traceName"] = report_.trace_name;
  root["displayTimeUnit"] = "ms";
  root["baseTimeNanoseconds"] = 0;
  text_ = root.dump(1, ' ', false, Json::error_handler_t::replace);
  text_.resize(text_.size() - 2);  // the closing brace and the line end before it
  text_ += ",\n \"traceEvents\": [";
}

void Writer::Metadata(std::string_view name, const Json& pid, uint64_t tid, const Json& args) {
  Event(Dump(Json{{"name", name}, {"ph", "M"}, {"ts", 0}, {"pid", pid}, {"tid", tid}, {"args", args}}));
}

void Writer::Names() {
  Metadata("process_name", kGpu, 0, {{"name", absl::StrCat(report_.config_name, " (simulated)")}});
  Metadata("process_labels", kGpu, 0, {{"labels", absl::StrCat("GPU ", kGpu)}});
  Metadata("process_sort_index", kGpu, 0, {{"sort_index", kFirstDeviceSortIndex}});
  for (const uint64_t stream : streams_) {
    Metadata("thread_name", kGpu, Tid(stream), {{"name", absl::StrCat("stream ", stream, " ")}});
    Metadata("thread_sort_index", kGpu, Tid(stream), {{"sort_index", Tid(stream)}});
  }
  if (report_.intervals.num_sms == 0) return;
  Metadata("process_name", kSmProcess, 0, {{"name", "SMs (simulated)"}});
  Metadata("process_sort_index", kSmProcess, 0, {{"sort_index", kFirstDeviceSortIndex + 1}});
}

// Copies, kernels and samples, each in the order of its time, become one such list.
void Writer::Events() {
  const std::vector<KernelReport>& kernels = report_.kernels;
  std::vector<uint32_t> order(kernels.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](uint32_t a, uint32_t b) { return kernels[a].start_cycle < kernels[b].start_cycle; });
  size_t kernel = 0, copy = 0, sample = 0;
  constexpr uint64_t kNone = std::numeric_limits<uint64_t>::max();
  while (wanted_) {
    const uint64_t at_kernel = kernel < order.size() ? kernels[order[kernel]].start_cycle : kNone;
    const uint64_t at_copy = copy < report_.host_copies.size() ? report_.host_copies[copy].cycle : kNone;
    const uint64_t at_sample = sample < report_.intervals.samples.size() ? SampleStart(sample) : kNone;
    const uint64_t next = std::min({at_kernel, at_copy, at_sample});
    if (next == kNone) break;
    if (at_copy == next) {
      Copy(copy++);
    } else if (at_sample == next) {
      Counters(sample);
      SmCounters(sample++);
    } else {
      Kernel(kernels[order[kernel++]]);
    }
  }
  EndCounters();
}

uint64_t Writer::Correlation(const KernelReport& kernel) const {
  const auto& copies = report_.host_copies;
  const auto before = std::partition_point(copies.begin(), copies.end(), [&](const HostCopyReport& copy) {
    return copy.kernels_before <= kernel.index;
  });
  return uint64_t{kernel.index} + 1 + static_cast<uint64_t>(before - copies.begin());
}

void Writer::Kernel(const KernelReport& kernel) {
  const KernelInfo& info = kernel.info;
  const double ctas_per_sm = static_cast<double>(Volume(info.grid)) / report_.num_sms;
  const uint64_t threads = Volume(info.block);
  // Kineto's warps are threads over 32, and its estimate of the occupancy: CTAs that the grid gives an SM, at
  // most those that fit, by the threads that fit.
  const double resident = std::min(ctas_per_sm, static_cast<double>(kernel.ctas_per_sm));
  const double estimate = resident * static_cast<double>(threads) /
                          (static_cast<double>(report_.max_warps_per_sm) * kThreadsPerWarp);
  const uint64_t tid = Tid(info.stream_id);
  const uint64_t start_ns = TimelineNs(kernel.start_cycle, report_.core_khz);
  const uint64_t end_ns = TimelineNs(kernel.end_cycle, report_.core_khz);
  std::string json = absl::StrCat(
      R"({"ph": "X", "cat": "kernel", "name": )", Dump(Json(info.name)), R"(, "pid": )", kGpu, R"(, "tid": )",
      tid, R"(, "ts": )", Microseconds(start_ns), R"(, "dur": )", Microseconds(end_ns - start_ns),
      R"(, "args": {"queued": 0, "device": )", kGpu, R"(, "context": 1, "stream": )", tid,
      R"(, "correlation": )", Correlation(kernel), R"(, "registers per thread": )", info.nregs,
      R"(, "shared memory": )", info.shmem_bytes, R"(, "blocks per SM": )", Ratio(ctas_per_sm),
      R"(, "warps per SM": )", Ratio(ctas_per_sm * static_cast<double>(threads) / kThreadsPerWarp));
  absl::StrAppend(&json, R"(, "grid": [)", info.grid.x, ", ", info.grid.y, ", ", info.grid.z,
                  R"(], "block": [)", info.block.x, ", ", info.block.y, ", ", info.block.z,
                  R"(], "est. achieved occupancy %": )", std::lround(100 * estimate));
  Json own;
  own["simulated start cycle"] = kernel.start_cycle;
  own["simulated cycles"] = kernel.cycles;
  own["warp instructions"] = kernel.stats.sm.warp_instructions;
  const std::vector<DerivedValue> derived = Derive(kernel.stats, kernel.cycles, report_);
  for (const std::string_view figure : {"ipc", "achieved_occupancy", "l2_hit_rate", "tensor_utilization"}) {
    const DerivedValue& value = derived[DerivedIndex(figure)];
    if (value.defined)
      own[absl::StrCat("simulated ", value.def->name, " (", value.def->unit, ")")] = value.value;
  }
  own["occupancy limiter"] = kernel.occupancy_limiter;
  own["finished"] = kernel.finished;
  if (renumbered_) own["trace stream"] = info.stream_id;
  absl::StrAppend(&json, ", ", Dump(own).substr(1), "}");
  Event(json);
}

void Writer::Copy(size_t index) {
  const HostCopyReport& copy = report_.host_copies[index];
  const uint64_t tid = Tid(kCopyStream);
  Event(absl::StrCat(
      R"=({"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy HtoD (Host -> Device)", "pid": )=", kGpu,
      R"(, "tid": )", tid, R"(, "ts": )", Time(copy.cycle), R"(, "dur": 0.000, "args": {"device": )", kGpu,
      R"(, "context": 1, "stream": )", tid, R"(, "correlation": )", copy.kernels_before + index + 1,
      R"(, "bytes": )", copy.bytes, R"(, "address": )", copy.address, "}}"));
}

void Writer::Counter(std::string_view track, const Json& pid, uint64_t cycle, std::string_view args) {
  Event(absl::StrCat(R"({"ph": "C", "name": ")", Av(track), R"(", "pid": )", Dump(pid),
                     R"(, "tid": 0, "ts": )", Time(cycle), R"(, "args": {)", Av(args), "}}"));
}

// A value stands from its time to that of the next.
void Writer::Counters(size_t index) {
  const IntervalSample& sample = report_.intervals.samples[index];
  const uint64_t start = SampleStart(index);
  const std::vector<DerivedValue> derived = Derive(StatsOf(sample), sample.end_cycle - start, report_);
  std::string args;
  for (size_t i = 0; i < std::size(kSeries); ++i) {
    const DerivedValue& value = derived[figures_[i]];
    absl::StrAppend(&args, args.empty() ? "" : ", ", "\"", Av(kSeries[i].key),
                    "\": ", Dump(Json(value.defined ? value.value : 0)));
    if (i + 1 < std::size(kSeries) && kSeries[i + 1].track == kSeries[i].track) continue;
    Counter(kSeries[i].track, kGpu, start, args);
    args.clear();
  }
}

// Values that stand already are not repeated: most SMs rest or work for long.
void Writer::SmCounters(size_t index) {
  const IntervalSamples& intervals = report_.intervals;
  const uint64_t start = SampleStart(index);
  const auto cycles = static_cast<double>(intervals.samples[index].end_cycle - start);
  if (index == 0) sm_shown_.assign(intervals.num_sms, 1);
  for (uint32_t sm = 0; sm < intervals.num_sms; ++sm) {
    const uint64_t issued = intervals.sm_issued[index * intervals.num_sms + sm];
    if (issued == 0 && sm_shown_[sm] == 0) continue;
    sm_shown_[sm] = issued;
    Counter(absl::StrFormat("SM %03d IPC", sm), kSmProcess, start,
            absl::StrCat("\"IPC\": ", Dump(Json(static_cast<double>(issued) / cycles))));
  }
}

void Writer::EndCounters() {
  if (report_.intervals.empty()) return;
  const uint64_t end = report_.intervals.samples.back().end_cycle;
  std::string args;
  for (size_t i = 0; i < std::size(kSeries); ++i) {
    absl::StrAppend(&args, args.empty() ? "" : ", ", "\"", Av(kSeries[i].key), "\": 0");
    if (i + 1 < std::size(kSeries) && kSeries[i + 1].track == kSeries[i].track) continue;
    Counter(kSeries[i].track, kGpu, end, args);
    args.clear();
  }
  for (uint32_t sm = 0; sm < report_.intervals.num_sms; ++sm) {
    if (sm_shown_[sm] == 0) continue;
    Counter(absl::StrFormat("SM %03d IPC", sm), kSmProcess, end, "\"IPC\": 0");
  }
}

}  // namespace

uint64_t TimelineNs(uint64_t cycle, uint32_t core_khz) {
  SM89_ASSERT(core_khz > 0, "the core has a clock");
  constexpr uint64_t kNsPerMs = 1'000'000;  // core_khz cycles last one millisecond
  return cycle / core_khz * kNsPerMs + (cycle % core_khz * kNsPerMs + core_khz / 2) / core_khz;
}

void WriteTimeline(const RunReport& report, const PieceSink& write) { Writer(report, write).Write(); }

void WriteGzipTimeline(const RunReport& report, const PieceSink& write) {
  GzipWriter gzip(write);
  WriteTimeline(report, [&](std::string_view piece) { return gzip.Append(piece); });
  gzip.Finish();
}

}  // namespace sm89
