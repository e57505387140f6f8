#include "server/worker/result_messages.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include <algorithm>
#include <array>
#include <bit>
#include <utility>
#include <vector>

#include "server/os/file_store.h"
#include "sim/base/assert.h"
#include "sim/stats/pc_profile.h"

namespace sm89 {
namespace {

constexpr int kKernelsAMessage = 500;
constexpr size_t kMessageBytesMax = size_t{1} << 20;

template <class Repeated>
void AddStatistics(const SimStats& stats, Repeated* out) {
  for (const StatValue& v : stats.Values()) {
    v1::Statistic* s = out->Add();
    s->set_name(std::string(v.def->name));
    s->set_unit(std::string(Name(v.def->unit)));
    s->set_value(v.value);
  }
}

template <class Repeated>
void AddDerived(const SimStats& stats, uint64_t cycles, const RunReport& run, Repeated* out) {
  for (const DerivedValue& v : Derive(stats, cycles, run)) {
    v1::DerivedStatistic* s = out->Add();
    s->set_name(v.def->name);
    s->set_unit(v.def->unit);
    s->set_defined(v.defined);
    s->set_value(v.defined ? v.value : 0);
  }
}

v1::KernelResult KernelMessage(const KernelReport& kernel, const RunReport& run) {
  v1::KernelResult message;
  message.set_index(kernel.index);
  message.set_kernel_name(ValidText(kernel.info.name));
  message.set_kernel_id(kernel.info.id);
  message.set_stream_id(kernel.info.stream_id);
  message.set_start_cycle(kernel.start_cycle);
  message.set_end_cycle(kernel.end_cycle);
  message.set_cycles(kernel.cycles);
  message.set_warp_instructions(kernel.stats.sm.warp_instructions);
  message.set_thread_instructions(kernel.stats.sm.thread_instructions);
  message.set_finished(kernel.finished);
  AddStatistics(kernel.stats, message.mutable_statistics());
  AddDerived(kernel.stats, kernel.cycles, run, message.mutable_derived());
  return message;
}

void AppendDelimited(const v1::Result& message, std::string* bytes) {
  google::protobuf::io::StringOutputStream stream(bytes);
  google::protobuf::io::CodedOutputStream coded(&stream);
  coded.WriteVarint64(message.ByteSizeLong());
  SM89_ASSERT(message.SerializeToCodedStream(&coded), "a message of ours serializes");
}

}  // namespace

std::string ValidText(const std::string& text) {
  if (IsValidUtf8(text)) return text;
  std::string valid = text;
  for (char& c : valid) {
    if (static_cast<unsigned char>(c) >= 0x80) c = '?';
  }
  return valid;
}

v1::Result ResultSummary(const RunReport& report, const std::string& job) {
  v1::Result result;
  result.set_job(job);
  result.set_model_version(report.model_version);
  result.set_trace_digest(report.trace_digest);
  result.set_config_digest(report.config_digest);
  result.set_status(std::string(Name(report.status)));
  result.set_total_cycles(report.total_cycles);
  AddStatistics(report.totals, result.mutable_totals());
  AddDerived(report.totals, report.total_cycles, report, result.mutable_derived());
  for (const TraceMark& mark : report.marks) result.add_marks(ValidText(mark.kind + ": " + mark.detail));
  for (const TraceWarning& warning : report.warnings) result.add_warnings(ValidText(warning.message));
  for (const std::string& assumption : report.assumptions) result.add_assumptions(ValidText(assumption));
  return result;
}

std::string TypedResultBytes(const RunReport& report, const std::string& job) {
  std::string bytes;
  v1::Result part = ResultSummary(report, job);
  size_t part_bytes = part.ByteSizeLong();
  for (const KernelReport& kernel : report.kernels) {
    v1::KernelResult message = KernelMessage(kernel, report);
    const size_t kernel_bytes = message.ByteSizeLong();
    if (part.kernels_size() == kKernelsAMessage || part_bytes + kernel_bytes > kMessageBytesMax) {
      AppendDelimited(part, &bytes);
      part.Clear();
      part_bytes = 0;
    }
    part_bytes += kernel_bytes;
    *part.add_kernels() = std::move(message);
  }
  AppendDelimited(part, &bytes);
  return bytes;
}

SimStats IntervalOf(const SimStats& before, const SimStats& now) {
  // SimStats is nothing but counters (sim/stats checks that each has its row), in the order of the rows.
  using Words = std::array<uint64_t, sizeof(SimStats) / sizeof(uint64_t)>;
  const Words b = std::bit_cast<Words>(before);
  Words n = std::bit_cast<Words>(now);
  for (size_t i = 0; i < n.size(); ++i) n[i] = n[i] >= b[i] ? n[i] - b[i] : 0;
  return std::bit_cast<SimStats>(n);
}

void AddIntervalStatistics(const SimStats& interval, uint64_t cycles, const RunReport& run,
                           v1::Progress* progress) {
  for (const StatValue& v : interval.Values()) {
    if (v.def->exported != StatExport::kService) continue;
    v1::Statistic* s = progress->add_interval();
    s->set_name(std::string(v.def->name));
    s->set_unit(std::string(Name(v.def->unit)));
    s->set_value(v.value);
  }
  AddDerived(interval, cycles, run, progress->mutable_interval_derived());
}

void AddLiveProfile(const KernelWaits& waits, v1::Progress* progress) {
  constexpr size_t kReasons = 3;
  if (waits.instructions == 0) return;
  v1::LiveProfile* profile = progress->mutable_profile();
  profile->set_kernel_index(waits.kernel_index);
  profile->set_kernel_name(ValidText(waits.kernel_name));
  profile->set_instructions(waits.instructions);
  profile->set_issued(waits.total.issued);
  const uint64_t waited = WaitedCycles(waits.total);
  profile->set_warp_cycles(waited + waits.total.cycles[static_cast<size_t>(WarpState::kSelected)]);
  profile->set_waited(waited);
  for (const PcReport& instruction : waits.top) {
    v1::LiveProfileRow* row = profile->add_rows();
    row->set_pc(instruction.pc);
    row->set_opcode(ValidText(instruction.opcode));
    row->set_issued(instruction.counters.issued);
    row->set_threads(instruction.counters.threads);
    row->set_waited(WaitedCycles(instruction.counters));
    std::vector<std::pair<uint64_t, WarpState>> reasons;
    for (int s = 1; s < kNumWarpStates; ++s) {
      const uint64_t cycles = instruction.counters.cycles[s];
      if (cycles != 0) reasons.emplace_back(cycles, static_cast<WarpState>(s));
    }
    std::stable_sort(reasons.begin(), reasons.end(),
                     [](const auto& a, const auto& b) { return a.first > b.first; });
    for (size_t i = 0; i < std::min(kReasons, reasons.size()); ++i) {
      v1::WaitReason* reason = row->add_reasons();
      reason->set_name(std::string(Name(reasons[i].second)));
      reason->set_cycles(reasons[i].first);
    }
  }
}

}  // namespace sm89
