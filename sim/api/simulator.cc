#include "sim/api/simulator.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "absl/strings/str_cat.h"
#include "sim/api/assumptions.h"
#include "sim/api/machine_code.h"
#include "sim/api/named_kernels.h"
#include "sim/api/profile_notes.h"
#include "sim/base/assert.h"
#include "sim/base/fault.h"
#include "sim/base/status_macros.h"
#include "sim/base/version.h"
#include "sim/gpu/gpu.h"
#include "sim/stats/pc_profile.h"
#include "sim/trace/compact_reader.h"

namespace sm89 {
namespace {

bool HasMark(const TraceSetInfo& info, const std::string& kind) {
  return std::any_of(info.marks.begin(), info.marks.end(),
                     [&](const TraceMark& m) { return m.kind == kind; });
}

EmulatedLaunch LaunchReportOf(const LaunchOutcome& outcome) {
  EmulatedLaunch launch;
  launch.case_id = outcome.result.id;
  launch.executed = outcome.finished;
  for (const launch::OutputSummary& output : outcome.result.outputs) {
    launch.outputs.emplace_back(output.name, launch::OutputToJson(output));
  }
  launch.findings = outcome.findings;
  launch.num_findings = outcome.num_findings;
  return launch;
}

SmReport SmReportOf(const SmConfig& config) {
  const uint32_t largest_kib = config.shmem_carveouts_kib[config.num_carveouts - 1];
  return {config.registers, uint64_t{largest_kib} * 1024, config.max_shmem_cta_bytes};
}

class SimulatorImpl final : public Simulator {
 public:
  SimulatorImpl(SimulatorOptions options, std::shared_ptr<TraceSource> trace, std::unique_ptr<Gpu> gpu,
                std::vector<bool> selected, MachineCode code)
      : options_(std::move(options)), trace_(std::move(trace)), gpu_(std::move(gpu)), code_(std::move(code)) {
    for (size_t k = 0; k < selected.size(); ++k) {
      if (!selected[k]) continue;
      ++kernels_total_;
      instructions_total_ += trace_->info().kernels[k].warp_instructions;
    }
    if (trace_->live()) instructions_total_ = 0;
  }

  absl::StatusOr<SimProgress> Advance(uint64_t cycles) override {
    RETURN_IF_ERROR(gpu_->Advance(cycles));
    return Progress();
  }

  void Cancel() override { gpu_->Cancel(); }
  const Gpu& gpu() const override { return *gpu_; }
  const Emulation* emulation() const override { return options_.emulation.get(); }

  SimProgress Progress() const override {
    SimProgress progress;
    progress.done = gpu_->done();
    progress.kernels_total = kernels_total_;
    progress.cycle = gpu_->now();
    progress.warp_instructions = gpu_->issued();
    progress.warp_instructions_total = instructions_total_;
    progress.kernels_done = gpu_->num_finished();
    progress.stats = gpu_->TotalsSoFar();
    if (gpu_->runs().empty()) return progress;
    const KernelRun& run = *gpu_->runs()[ShownRun()];
    progress.kernel_index = run.trace_kernel;
    progress.kernel_name = trace_->info().kernels[run.trace_kernel].name;
    progress.ctas_total = run.ctas_total;
    progress.ctas_done = run.ctas_done;
    return progress;
  }

  uint64_t ProfiledInstructions() const override {
    if (!options_.profile || gpu_->runs().empty()) return 0;
    return trace_->StaticTable(gpu_->runs()[ShownRun()]->trace_kernel).size();
  }

  KernelWaits Waits(size_t rows) const override {
    KernelWaits waits;
    waits.instructions = ProfiledInstructions();
    if (waits.instructions == 0) return waits;
    const auto index = static_cast<uint32_t>(ShownRun());
    waits.kernel_index = gpu_->runs()[index]->trace_kernel;
    waits.kernel_name = trace_->info().kernels[waits.kernel_index].name;
    const std::span<const StaticInst> code = trace_->StaticTable(waits.kernel_index);
    const PcProfile profile = gpu_->ProfileOf(index);
    std::vector<std::pair<uint64_t, size_t>> order;  // waited cycles, place
    for (size_t id = 0; id < profile.size(); ++id) {
      waits.total.issued += profile[id].issued;
      waits.total.threads += profile[id].threads;
      for (int s = 0; s < kNumWarpStates; ++s) waits.total.cycles[s] += profile[id].cycles[s];
      if (const uint64_t waited = WaitedCycles(profile[id]); waited != 0) order.emplace_back(waited, id);
    }
    const auto before = [&](const auto& a, const auto& b) {
      return a.first != b.first ? a.first > b.first : code[a.second].pc < code[b.second].pc;
    };
    const auto last = order.begin() + static_cast<ptrdiff_t>(std::min(rows, order.size()));
    std::partial_sort(order.begin(), last, order.end(), before);
    for (auto it = order.begin(); it != last; ++it) {
      const size_t id = it->second;
      waits.top.push_back({code[id].pc, code[id].opcode, code[id].source_line, profile[id]});
    }
    return waits;
  }

  RunReport Report() const override {
    RunReport report;
    const TraceSetInfo& info = trace_->info();
    report.product_version = kProductVersion;
    report.model_version = kModelVersion;
    report.trace_name = info.name;
    report.trace_digest = trace_->digest();
    report.machine_code = code_.given;
    report.trace_kernels = static_cast<uint32_t>(info.kernels.size());
    report.config_name = options_.config.gpu.name;
    report.config_digest = options_.config.digest;
    report.core_khz = options_.config.gpu.clocks.core_khz;
    report.num_sms = options_.config.gpu.sm.num_sms;
    report.max_warps_per_sm = options_.config.gpu.sm.max_warps;
    report.sm = SmReportOf(options_.config.gpu.sm);
    report.status = gpu_->status();
    report.status_detail = gpu_->status_detail();
    report.total_cycles = gpu_->now();
    report.marks = info.marks;
    report.warnings = info.warnings;
    AddBarrierWarning(&report.warnings);
    if (!gpu_->done()) {
      report.status = RunStatus::kRunning;
      report.status_detail = "the run has not ended";
    }
    for (uint32_t i = 0; i < gpu_->runs().size(); ++i) report.kernels.push_back(KernelReportOf(i));
    // List order, whatever order the streams launched in.
    std::stable_sort(report.kernels.begin(), report.kernels.end(),
                     [](const KernelReport& a, const KernelReport& b) { return a.index < b.index; });
    for (const KernelReport& kernel : report.kernels) report.totals.Add(kernel.stats);
    report.assumptions = AssumptionsOf(report, options_.config.gpu);
    if (gpu_->done() && gpu_->status() == RunStatus::kComplete) {
      report.total_cycles = 0;
      for (const KernelReport& kernel : report.kernels) {
        report.total_cycles = std::max(report.total_cycles, kernel.end_cycle);
      }
    }
    AddStats(gpu_->memory().host_copy_stats(), &report.totals.l2);
    report.units.slices = gpu_->memory().slice_stats();
    report.units.channels = gpu_->memory().channel_stats();
    AddCopies(&report);
    report.intervals = gpu_->SamplesSoFar();
    return report;
  }

 private:
  // The oldest kernel that runs, else the last one; there is one.
  size_t ShownRun() const {
    return gpu_->active().empty() ? gpu_->runs().size() - 1 : gpu_->active().front();
  }

  // Kernels whose barriers may not be what they look like, by name.
  void AddBarrierWarning(std::vector<TraceWarning>* warnings) const {
    std::vector<std::string> traced, in_registers;
    for (const auto& run : gpu_->runs()) {
      if (!run->barriers.partial) continue;
      std::vector<std::string>& names = run->barriers.in_registers ? in_registers : traced;
      const std::string& name = trace_->info().kernels[run->trace_kernel].name;
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    }
    if (!traced.empty()) {
      warnings->push_back(
          {"barrier_counts_unknown",
           NamedKernels(
               traced,
               " with several barriers, or one for a part of the CTA: the trace does not tell how many "
               "threads each is for, so it waits for the whole CTA; give the cubin or its listing with "
               "--sass")});
    }
    if (!in_registers.empty()) {
      warnings->push_back(
          {"barrier_counts_unknown",
           NamedKernels(in_registers,
                        " with several barriers, or one for a part of the CTA, whose number or count is in a "
                        "register: it waits for the whole CTA")});
    }
  }

  void AddCopies(RunReport* report) const {
    report->host_copies = gpu_->host_copies();
    report->memcpy_h2d_count = report->host_copies.size();
    uint32_t kernels = 0;
    size_t copies = 0;  // copies are carried out in the order of the trace
    for (const TraceCommand& command : trace_->info().commands) {
      kernels += command.kind == CommandKind::kKernel ? 1 : 0;
      report->memcpy_d2h_count += command.kind == CommandKind::kMemcpyDtoH ? 1 : 0;
      report->ignored_commands += command.kind == CommandKind::kIgnored ? 1 : 0;
      if (command.kind != CommandKind::kMemcpyHtoD || copies == report->host_copies.size()) continue;
      report->host_copies[copies++].kernels_before = kernels;
      report->memcpy_h2d_bytes += command.bytes;
    }
  }

  std::string MachineCodeText(uint32_t trace_kernel) const {
    const bool of_file = !code_.files.empty() && !code_.files[trace_kernel].empty();
    return of_file ? absl::StrCat("machine code of ", code_.files[trace_kernel]) : "machine code";
  }

  CodeOrigin OriginOf(uint32_t trace_kernel) const {
    if (options_.emulation != nullptr) {
      const LoadedProgram& program = options_.emulation->program();
      return {program.modules[trace_kernel], program.launches[trace_kernel].kernel};
    }
    return code_.origins.empty() ? CodeOrigin{} : code_.origins[trace_kernel];
  }

  KernelReport KernelReportOf(uint32_t index) const {
    const KernelRun& run = *gpu_->runs()[index];
    KernelReport kernel;
    kernel.info = trace_->info().kernels[run.trace_kernel];
    kernel.index = run.trace_kernel;
    kernel.start_cycle = run.launch;
    kernel.end_cycle = run.finished ? run.end : gpu_->now();
    kernel.cycles = kernel.end_cycle - kernel.start_cycle;
    kernel.finished = run.finished;
    kernel.ctas_launched = run.ctas_launched;
    kernel.ctas_per_sm = run.occupancy.ctas_per_sm;
    kernel.occupancy_limiter = run.occupancy.limiter;
    kernel.theoretical_occupancy =
        static_cast<double>(run.occupancy.ctas_per_sm * run.occupancy.needs.warps) /
        options_.config.gpu.sm.max_warps;
    const bool machine_code = run.control_source == ControlSource::kMachineCode;
    kernel.control_bits = machine_code ? MachineCodeText(run.trace_kernel) : kSynthesisedControlBits;
    const std::span<const StaticInst> code = trace_->StaticTable(run.trace_kernel);
    kernel.control_bits_present =
        std::any_of(code.begin(), code.end(), [](const StaticInst& inst) { return inst.has_encoding; });
    kernel.stats = gpu_->StatsOf(index);
    kernel.slice_load = gpu_->memory().slice_load(index);
    kernel.clock_reads = run.clock_reads.Summary();
    if (trace_->live()) {  // what was executed so far: nobody knew it before
      kernel.info.warp_instructions = kernel.stats.sm.warp_instructions;
      kernel.info.thread_instructions = kernel.stats.sm.thread_instructions;
      kernel.info.masked_off_instructions = kernel.stats.sm.masked_off_instructions;
    }
    kernel.guessed_opcodes = gpu_->GuessedOf(index);
    if (options_.profile) {
      kernel.per_pc = PcReports(code, gpu_->ProfileOf(index));
      AddProfileNotes(code, OriginOf(run.trace_kernel), options_.config.gpu, &kernel);
    }
    if (options_.emulation != nullptr) {
      kernel.launch = LaunchReportOf(options_.emulation->outcomes()[run.trace_kernel]);
    }
    return kernel;
  }

  SimulatorOptions options_;
  std::shared_ptr<TraceSource> trace_;
  std::unique_ptr<Gpu> gpu_;
  MachineCode code_;  // its lists are empty without sass_files
  uint32_t kernels_total_ = 0;
  uint64_t instructions_total_ = 0;
};

// What the options name; a program package becomes options->emulation.
absl::StatusOr<std::shared_ptr<TraceSource>> OpenSource(SimulatorOptions* options) {
  if (options->emulation == nullptr && options->source == nullptr && IsProgramFile(options->trace_path)) {
    ASSIGN_OR_RETURN(const Program program, ReadProgramFile(options->trace_path));
    ASSIGN_OR_RETURN(options->emulation, Emulation::Create(program, options->emulation_options));
  }
  if (options->emulation != nullptr) return options->emulation->source();
  if (options->source != nullptr) return options->source;
  ASSIGN_OR_RETURN(std::shared_ptr<CompactReader> reader, CompactReader::Open(options->trace_path));
  return reader;
}

absl::StatusOr<std::vector<bool>> SelectKernels(const KernelSelection& selection, size_t count) {
  for (const auto& [first, last] : selection.ranges) {
    if (last <= count) continue;
    Fault fault;
    fault.field = "kernels";
    fault.value = first == last ? absl::StrCat(last) : absl::StrCat(first, "-", last);
    fault.expected = absl::StrCat("positions between 1 and ", count);
    fault.message = "the trace does not have so many kernels";
    return InputError(absl::StatusCode::kInvalidArgument, fault);
  }
  std::vector<bool> selected(count, false);
  for (size_t k = 0; k < count; ++k) selected[k] = selection.Contains(static_cast<uint32_t>(k + 1));
  return selected;
}

absl::Status CheckProfileSize(const TraceSource& trace, const std::vector<bool>& selected, uint32_t threads) {
  uint64_t instructions = 0;
  for (uint32_t k = 0; k < selected.size(); ++k) {
    if (selected[k]) instructions += trace.StaticTable(k).size();
  }
  // Each host thread counts by itself.
  const uint64_t most = kMaxProfileRows / (uint64_t{threads} + 1);
  if (instructions <= most) return absl::OkStatus();
  return InputError(absl::StatusCode::kInvalidArgument,
                    Fault{.field = "profile",
                          .value = absl::StrCat(instructions, " instructions"),
                          .expected = absl::StrCat("at most ", most, " with ", threads, " thread(s)"),
                          .message = "the selected kernels have too many instructions to profile"});
}

// Seconds of emulation, and more than CTAs have.
constexpr uint64_t kLongCtaInstructions = uint64_t{1} << 25;

}  // namespace

uint64_t WaitedCycles(const PcCounters& counters) {
  const auto first = counters.cycles.begin();
  static_assert(static_cast<int>(WarpState::kSelected) == 0);
  return std::accumulate(first + 1, counters.cycles.end(), uint64_t{0});
}

absl::StatusOr<std::unique_ptr<Simulator>> Simulator::Create(SimulatorOptions options) {
  MachineCode code;
  ASSIGN_OR_RETURN(code.source, OpenSource(&options));
  ASSIGN_OR_RETURN(std::vector<bool> selected,
                   SelectKernels(options.kernels, code.source->info().kernels.size()));
  if (!options.sass_files.empty()) {
    ASSIGN_OR_RETURN(code, AddMachineCode(std::move(code.source), options.sass_files, selected));
  }
  // A CTA that never ends would be executed for ever before its first cycle. Of one that takes longer than
  // the run may, the cycles up to the limit are simulated: it is executed whole as long as that takes
  // seconds.
  if (options.emulation != nullptr && options.max_cycles != 0) {
    const uint64_t sub_cores = options.config.gpu.sm.sub_cores;
    const uint64_t issuable = std::min(options.max_cycles, ~uint64_t{0} / sub_cores) * sub_cores;
    options.emulation->BoundCtas(std::max(issuable, kLongCtaInstructions));
  }
  const std::shared_ptr<TraceSource> trace = code.source;
  const TraceSetInfo& info = trace->info();
  if (options.profile) RETURN_IF_ERROR(CheckProfileSize(*trace, selected, options.threads));
  GpuOptions gpu_options;
  gpu_options.config = options.config.gpu;
  gpu_options.trace = trace;
  gpu_options.selected = selected;
  gpu_options.unknown_as_nop = HasMark(info, "unknown_as_nop");
  gpu_options.max_cycles = options.max_cycles;
  gpu_options.threads = options.threads;
  gpu_options.profile = options.profile;
  gpu_options.observer = options.observer;
  if (options.ser_sink && !options.config.gpu.ser.enabled) {
    return InputError(absl::StatusCode::kInvalidArgument,
                      Fault{.field = "-gpgpu_sm89_ser_enabled",
                            .value = "0",
                            .expected = "1, as in the preset RTX4090_SER",
                            .message = "no reordering stage makes decisions to record"});
  }
  gpu_options.ser_sink = options.ser_sink;
  ASSIGN_OR_RETURN(std::unique_ptr<Gpu> gpu, Gpu::Create(std::move(gpu_options)));
  return std::unique_ptr<Simulator>(std::make_unique<SimulatorImpl>(std::move(options), trace, std::move(gpu),
                                                                    std::move(selected), std::move(code)));
}

}  // namespace sm89
