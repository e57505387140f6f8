#include "sim/gpu/gpu.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "sim/base/assert.h"
#include "sim/base/counted.h"
#include "sim/base/fault.h"
#include "sim/base/status_macros.h"
#include "sim/base/strings.h"
#include "sim/isa/code_flow.h"
#include "sim/isa/control_synthesis.h"
#include "sim/isa/tensor_modes.h"
#include "sim/sm/warp_view.h"
#include "sim/tensor/tensor_timing.h"

namespace sm89 {
namespace {

constexpr uint64_t kMaxCopiedLines = 1u << 18;  // of host copies, about a tenth of a second
// By a live source, likewise at 10 million instructions a second.
constexpr uint64_t kMaxExecutedInstructions = 1'000'000;

uint64_t InstructionsOf(const CtaTrace& cta) {
  uint64_t count = 0;
  for (uint32_t w = 0; w < cta.num_warps(); ++w) count += cta.warp_instructions(w);
  return count;
}

}  // namespace

Gpu::Gpu(GpuOptions options)
    : options_(std::move(options)),
      memory_(options_.config),
      queue_(options_.trace->info().commands, options_.trace->info().kernels, options_.selected),
      inboxes_(options_.config.sm.num_sms),
      replies_(options_.config.sm.num_sms),
      outboxes_(options_.config.sm.num_sms),
      sm_may_host_(options_.config.sm.num_sms, true),
      sm_last_finish_(options_.config.sm.num_sms, 0) {
  for (uint32_t i = 0; i < options_.config.sm.num_sms; ++i) {
    sms_.push_back(std::make_unique<Sm>(options_.config, static_cast<uint16_t>(i)));
    sms_.back()->set_ser_recording(static_cast<bool>(options_.ser_sink));
    sms_.back()->set_observer(options_.observer);
  }
  // Requests of a window arrive behind its end only if no one-way latency is shorter than the window.
  window_ =
      std::max<uint32_t>(1, std::min(options_.config.run.window_cycles, memory_.crossbar().MinLatency()));
  // What a window sends is answered two one-way latencies later at the earliest, and what the windows before
  // it sent is answered up to one latency behind its begin: the next window may run without its answers.
  memory_beside_ = 2 * window_ <= memory_.crossbar().MinLatency();
  const uint32_t most_threads = options_.observer != nullptr ? 1 : options_.config.sm.num_sms;
  const uint32_t threads = std::clamp<uint32_t>(options_.threads, 1, most_threads);
  if (options_.profile) {
    profiles_.resize(threads);
    for (uint32_t sm = 0; sm < sms_.size(); ++sm) sms_[sm]->set_profiles(&profiles_[sm % threads]);
    for (uint32_t i = 0; i < threads; ++i) shares_.push_back(i);
  }
  const RunConfig& run = options_.config.run;
  if (run.timeline_interval_cycles != 0) {
    sampler_ = std::make_unique<IntervalSampler>(run.timeline_interval_cycles,
                                                 run.timeline_sm_tracks ? options_.config.sm.num_sms : 0);
  }
  pool_ = std::make_unique<WindowPool>(threads, [this](uint32_t item) { RunItem(item); });
}

absl::StatusOr<std::unique_ptr<Gpu>> Gpu::Create(GpuOptions options) {
  std::unique_ptr<Gpu> gpu(new Gpu(std::move(options)));
  RETURN_IF_ERROR(gpu->CheckKernels());
  return gpu;
}

absl::Status Gpu::CheckKernels() {
  const std::vector<KernelInfo>& kernels = options_.trace->info().kernels;
  for (size_t k = 0; k < kernels.size(); ++k) {
    if (!options_.selected[k]) continue;
    RETURN_IF_ERROR(ComputeOccupancy(kernels[k], options_.config.sm).status());
    RETURN_IF_ERROR(CheckOpcodes(static_cast<uint32_t>(k)));
  }
  return absl::OkStatus();
}

absl::Status Gpu::CheckOpcodes(uint32_t trace_kernel) const {
  // Text traces were checked when they were read; what an emulator hands over was not. And neither was
  // against the configuration.
  const ExecConfig& exec = options_.config.exec;
  const bool all_modes = exec.tensor_fp8_enabled && exec.tensor_sparse_enabled;
  if (!options_.trace->live() && all_modes) return absl::OkStatus();
  const KernelInfo& info = options_.trace->info().kernels[trace_kernel];
  const std::span<const StaticInst> code = options_.trace->StaticTable(trace_kernel);
  DecodeOptions decode;
  decode.binary_version = info.binary_version;
  const DecodedKernel decoded = DecodeKernel(code, decode);
  if (!all_modes) RETURN_IF_ERROR(CheckTensorModes(decoded, info, code));
  if (!options_.trace->live() || decoded.unknown.empty() || options_.unknown_as_nop) return absl::OkStatus();
  const UnknownOpcode& first = decoded.unknown.front();
  return InputError(
      absl::StatusCode::kInvalidArgument,
      Fault{.file = info.file,
            .field = "opcode",
            .value = first.opcode,
            .expected = "an instruction of SM89, or one that it can stand for",
            .message = absl::StrCat("kernel '", info.name, "' has an instruction at 0x",
                                    absl::Hex(code[first.static_id].pc), " that the model does not know"),
            .facts = {{"unknown_opcodes", absl::StrCat(decoded.unknown.size())}}});
}

absl::Status Gpu::CheckTensorModes(const DecodedKernel& decoded, const KernelInfo& info,
                                   std::span<const StaticInst> code) const {
  for (size_t id = 0; id < decoded.insts.size(); ++id) {
    if (decoded.insts[id].unit != ExecUnit::kTensor) continue;
    const TensorMode* mode = FindTensorMode(decoded.insts[id].tensor);
    const std::string_view setting =
        mode == nullptr ? std::string_view() : DisablingSetting(*mode, options_.config.exec);
    if (setting.empty()) continue;
    return InputError(
        absl::StatusCode::kInvalidArgument,
        Fault{.file = info.file,
              .field = "opcode",
              .value = code[id].opcode,
              .expected = absl::StrCat("code without such instructions, or ", Av(setting), " 1"),
              .message = absl::StrCat("kernel '", info.name, "' has a tensor instruction at 0x",
                                      absl::Hex(code[id].pc), " that ", Av(setting), " 0 switches off"),
              .facts = {{"setting", std::string(setting)}}});
  }
  return absl::OkStatus();
}

absl::Status Gpu::StartCommands() {
  uint64_t walked_lines = 0;
  commands_pending_ = false;
  while (active_.size() < options_.config.run.concurrent_kernels) {
    const TraceCommand* command = queue_.Next();
    if (command == nullptr) break;
    if (command->kind == CommandKind::kMemcpyHtoD) {
      SettleMemory();
      walked_lines += memory_.CopyFromHost(command->address, command->bytes);
      copies_.push_back({now_, command->address, command->bytes});
      // Bounded host work a call, so that a caller can cancel between copies.
      commands_pending_ = walked_lines > kMaxCopiedLines;
      if (commands_pending_) return absl::OkStatus();
    } else {
      RETURN_IF_ERROR(StartKernel(command->kernel));
    }
  }
  if (active_.empty() && queue_.done()) End(RunStatus::kComplete, "");
  return absl::OkStatus();
}

absl::Status Gpu::StartKernel(uint32_t trace_kernel) {
  const KernelInfo& info = options_.trace->info().kernels[trace_kernel];
  auto run = std::make_unique<KernelRun>();
  run->trace_kernel = trace_kernel;
  ASSIGN_OR_RETURN(run->occupancy, ComputeOccupancy(info, options_.config.sm));
  DecodeOptions decode;
  decode.binary_version = info.binary_version;
  decode.unknown_as_nop = options_.unknown_as_nop;
  decode.ignore_control_bits = options_.config.run.control_bits != 0;
  DecodedKernel decoded = DecodeKernel(options_.trace->StaticTable(trace_kernel), decode);
  run->control_source = decoded.control_source;
  run->barriers = BarrierUseOf(options_.trace->StaticTable(trace_kernel), decoded, info.binary_version);
  if (decoded.control_source == ControlSource::kSynthesised) {
    ASSIGN_OR_RETURN(const CodeFlow flow, CollectFlow(*options_.trace, trace_kernel));
    SynthesiseControlBits(flow, &decoded);
  }
  run->code = BuildKernelCode(decoded, info, options_.config, static_cast<uint32_t>(runs_.size()));
  for (auto& tables : profiles_) tables.push_back(std::make_unique<PcProfile>(decoded.insts.size()));
  run->guessed = run->code.guessed;
  run->guessed_executed.assign(run->guessed.size(), 0);
  run->launch = now_;
  run->ready = now_ + options_.config.run.kernel_launch_latency_cycles;
  run->ctas_total = options_.trace->NumCtas(trace_kernel);
  active_.push_back(static_cast<uint32_t>(runs_.size()));
  runs_.push_back(std::move(run));
  SettleMemory();
  memory_.AddKernel();
  last_progress_ = now_;
  sm_may_host_.assign(sm_may_host_.size(), true);
  if (runs_.back()->ctas_total == 0) FinishKernel(active_.back());
  return absl::OkStatus();
}

absl::StatusOr<bool> Gpu::DispatchOne(uint32_t sm) {
  for (const uint32_t index : active_) {
    KernelRun& run = *runs_[index];
    if (run.ctas_launched == run.ctas_total || run.ready >= now_ + window_) continue;
    // Kernels start in order: a later one uses only what an earlier one has no more CTAs for.
    if (!sms_[sm]->CanHost(run.occupancy.needs)) return false;
    CtaLaunch launch;
    launch.kernel = index;
    launch.code = &run.code;
    launch.needs = run.occupancy.needs;
    ASSIGN_OR_RETURN(launch.trace, options_.trace->OpenCta(run.trace_kernel, run.ctas_launched));
    if (options_.trace->live()) executed_ += InstructionsOf(*launch.trace);
    launch.at = std::max(now_, run.ready);
    if (sm_last_finish_[sm] != 0) {
      launch.at = std::max(launch.at, sm_last_finish_[sm] + options_.config.run.cta_launch_latency_cycles);
    }
    // One CTA after the other leaves the GPU's distributor.
    launch_free_hundredths_ = std::max(launch_free_hundredths_, launch.at * 100);
    launch.at = std::max(launch.at, launch_free_hundredths_ / 100);
    launch_free_hundredths_ += options_.config.run.cta_launch_interval_hundredths;
    // The last CTA is placed: SMs that had no room for this kernel may have some for the next.
    if (++run.ctas_launched == run.ctas_total) sm_may_host_.assign(sm_may_host_.size(), true);
    sms_[sm]->Launch(std::move(launch));
    return true;
  }
  return false;
}

absl::Status Gpu::DispatchCtas() {
  const bool any = std::any_of(active_.begin(), active_.end(), [&](uint32_t index) {
    return runs_[index]->ctas_launched < runs_[index]->ctas_total && runs_[index]->ready < now_ + window_;
  });
  if (!any) {
    dispatch_pending_ = dispatch_placed_ = false;
    dispatch_sm_ = 0;
    return absl::OkStatus();
  }
  for (const uint32_t index : active_) {
    KernelRun& run = *runs_[index];
    if (run.offered || run.ready >= now_ + window_) continue;
    run.offered = true;  // SMs that had nothing for earlier kernels are asked again
    sm_may_host_.assign(sm_may_host_.size(), true);
  }
  // Breadth first: one CTA an SM and pass, as the hardware spreads them. A pass that was broken off goes on.
  for (;;) {
    for (; dispatch_sm_ < sms_.size(); ++dispatch_sm_) {
      if (!sm_may_host_[dispatch_sm_]) continue;
      // Bounded host work a call, so that a caller can cancel between CTAs.
      dispatch_pending_ = executed_ > kMaxExecutedInstructions;
      if (dispatch_pending_) return absl::OkStatus();
      ASSIGN_OR_RETURN(const bool hosted, DispatchOne(dispatch_sm_));
      sm_may_host_[dispatch_sm_] = hosted;
      dispatch_placed_ |= hosted;
    }
    dispatch_sm_ = 0;
    if (!dispatch_placed_) return absl::OkStatus();
    dispatch_placed_ = false;
  }
}

void Gpu::RunItem(uint32_t item) {
  if (profiles_.empty()) return RunSm(item);
  for (const uint32_t sm : busy_sms_) {
    if (sm % profiles_.size() == item) RunSm(sm);
  }
}

void Gpu::OpenWindow(Cycle end) {
  window_open_ = true;
  window_end_ = end;
  stepped_to_ = now_;
  busy_sms_.clear();
  for (uint32_t sm = 0; sm < sms_.size(); ++sm) {
    const bool replies = !inboxes_[sm].empty() && inboxes_[sm].front().cycle < end;
    if (replies || sms_[sm]->NextEvent(now_) < end) busy_sms_.push_back(sm);
  }
}

bool Gpu::RunSms(Cycle until) {
  if (options_.observer != nullptr) return StepSms(until);
  pool_->Run(profiles_.empty() ? busy_sms_ : shares_, [this] { RunMemory(); });
  return true;
}

Cycle Gpu::NextStep() const {
  Cycle next = kNever;
  for (const uint32_t sm : busy_sms_) {
    next = std::min(next, sms_[sm]->NextEvent(stepped_to_));
    if (!inboxes_[sm].empty()) next = std::min(next, std::max(inboxes_[sm].front().cycle, stepped_to_));
  }
  return next;
}

bool Gpu::StepSms(Cycle until) {
  while (stepped_to_ < window_end_) {
    const Cycle next = NextStep();
    if (std::min(next, window_end_) >= until && until < window_end_) {
      stepped_to_ = std::max(stepped_to_, until);
      return false;
    }
    if (next >= window_end_) break;
    stepped_to_ = next + 1;
    for (const uint32_t sm : busy_sms_) sms_[sm]->Run(next, next + 1, &inboxes_[sm]);
    if (options_.observer->PauseAfter(next)) return false;
  }
  stepped_to_ = window_end_;
  return true;
}

void Gpu::CloseWindow() {
  if (options_.observer != nullptr) RunMemory();
  window_open_ = false;
  TakeReplies();
  for (const uint32_t sm : busy_sms_) {
    if (sms_[sm]->outbox().empty()) continue;
    outboxes_[sm].swap(sms_[sm]->outbox());
    senders_.push_back(sm);
  }
  memory_horizon_ = window_end_ + memory_.crossbar().MinLatency();
  if (!memory_beside_) SettleMemory();
  now_ = window_end_;
  CollectClockSamples();
  if (options_.ser_sink) CollectSerRecords();
  CollectFinished();
}

void Gpu::RunMemory() {
  if (memory_horizon_ == 0) return;
  for (const uint32_t sm : senders_) {
    memory_.Submit(&outboxes_[sm]);
    outboxes_[sm].clear();
  }
  senders_.clear();
  memory_.RunUntil(memory_horizon_, &replies_);
  memory_run_to_ = memory_horizon_;
  memory_horizon_ = 0;
}

void Gpu::TakeReplies() {
  for (size_t sm = 0; sm < replies_.size(); ++sm) {
    if (replies_[sm].empty()) continue;
    inboxes_[sm].insert(inboxes_[sm].end(), replies_[sm].begin(), replies_[sm].end());
    replies_[sm].clear();
  }
}

void Gpu::SettleMemory() {
  RunMemory();
  TakeReplies();
}

void Gpu::CollectClockSamples() {
  for (const uint32_t sm : busy_sms_) {
    for (const ClockSample& s : sms_[sm]->clock_samples()) {
      ClockReads& reads = runs_[s.kernel]->clock_reads;
      if (s.threads == 0) {
        reads.AddRead();
      } else {
        reads.AddDifference(s.pc_first, s.pc_second, s.cycles, s.threads);
      }
    }
    sms_[sm]->clock_samples().clear();
  }
}

void Gpu::CollectSerRecords() {
  ser_records_.clear();
  for (const uint32_t sm : busy_sms_) {
    std::vector<SerRecord>* const records = sms_[sm]->ser_records();
    if (records == nullptr) return;
    ser_records_.insert(ser_records_.end(), records->begin(), records->end());
    records->clear();
  }
  std::stable_sort(ser_records_.begin(), ser_records_.end(),
                   [](const SerRecord& a, const SerRecord& b) { return a.cycle < b.cycle; });
  if (!ser_records_.empty()) options_.ser_sink(ser_records_);
}

void Gpu::CollectFinished() {
  for (const uint32_t sm : busy_sms_) {
    for (const FinishedCta& cta : sms_[sm]->finished()) {
      KernelRun& run = *runs_[cta.kernel];
      ++run.ctas_done;
      run.end = std::max(run.end, cta.cycle);
      sm_may_host_[sm] = true;
      sm_last_finish_[sm] = std::max(sm_last_finish_[sm], cta.cycle);
      if (run.ctas_done == run.ctas_total) FinishKernel(cta.kernel);
    }
    sms_[sm]->finished().clear();
  }
}

void Gpu::FinishKernel(uint32_t index) {
  KernelRun& run = *runs_[index];
  SM89_ASSERT(!run.finished, "a kernel finishes once");
  run.finished = true;
  run.end = std::max(run.end, run.launch);
  SettleMemory();
  memory_.FinishKernel(index);
  AddStats(memory_.kernel_stats(index).noc, &finished_.noc);
  for (const auto& sm : sms_) {
    sm->AddStats(index, now_, &run.sm_stats);
    sm->AddGuessed(index, &run.guessed_executed);
    sm->DropStats(index);
  }
  AddStats(run.sm_stats.sm, &finished_.sm);
  AddStats(run.sm_stats.l1, &finished_.l1);
  ++num_finished_;
  run.code = KernelCode();
  active_.erase(std::find(active_.begin(), active_.end(), index));
  sm_may_host_.assign(sm_may_host_.size(), true);
  queue_.Finished(run.trace_kernel);
}

Cycle Gpu::NextWindow() {
  Cycle next = kNever;
  for (uint32_t sm = 0; sm < sms_.size(); ++sm) {
    next = std::min(next, sms_[sm]->NextEvent(now_));
    if (!inboxes_[sm].empty()) next = std::min(next, inboxes_[sm].front().cycle);
    if (next / window_ <= now_ / window_) return now_;
  }
  // The SMs of a window must know every reply that arrives in it, and replies are found a one-way latency
  // ahead: a jump stops that much short of the memory side's next event.
  SettleMemory();
  for (const auto& inbox : inboxes_) {
    if (!inbox.empty()) next = std::min(next, inbox.front().cycle);
  }
  const Cycle event = memory_.NextEvent();
  if (event != kNever) next = std::min(next, event - std::min<Cycle>(event, memory_.crossbar().MinLatency()));
  for (const uint32_t index : active_) {
    const KernelRun& run = *runs_[index];
    if (run.ctas_launched < run.ctas_total && run.ready >= now_ + window_) next = std::min(next, run.ready);
  }
  if (next == kNever) return kNever;
  return std::max(now_, next / window_ * window_);
}

absl::Status Gpu::Advance(uint64_t cycles) {
  const absl::Status status = RunWindows(cycles);
  SettleMemory();
  return status;
}

absl::Status Gpu::RunWindows(uint64_t cycles) {
  const Cycle until = cycles > kNever - now() ? kNever : now() + cycles;
  executed_ = 0;
  while (!done_ && now() < until) {
    if (!window_open_) {
      RETURN_IF_ERROR(StartCommands());
      if (done_ || commands_pending_) return absl::OkStatus();
      RETURN_IF_ERROR(DispatchCtas());
      if (dispatch_pending_) return absl::OkStatus();
      const Cycle next = NextWindow();
      if (next == kNever) {
        End(RunStatus::kDeadlock, DescribeStuck("nothing can happen any more"));
        break;
      }
      const Cycle limit = options_.max_cycles == 0 ? kNever : options_.max_cycles;
      if (next >= limit) {
        now_ = limit;
        End(RunStatus::kCycleLimit, absl::StrCat("the limit of ", Counted(limit, "cycle"), " was reached"));
        break;
      }
      if (next > now_) {
        SkipTo(next);
        continue;  // a kernel may have become ready: dispatch first
      }
      OpenWindow(std::min(now_ + window_ - now_ % window_, limit));
    }
    if (!RunSms(until)) return absl::OkStatus();
    CloseWindow();
    for (const uint32_t sm : busy_sms_) RETURN_IF_ERROR(sms_[sm]->trace_status());
    if (sampler_ != nullptr && sampler_->Due(now_)) Sample();
    CheckProgress();
  }
  // The caller's question "is it over?" is answered without another call.
  if (!done_) RETURN_IF_ERROR(StartCommands());
  return absl::OkStatus();
}

void Gpu::SkipTo(Cycle next) {
  // Work and a long rest are not mixed in one sample.
  const bool long_rest = sampler_ != nullptr && next - now_ >= sampler_->interval_cycles();
  if (long_rest && now_ > sampler_->last_cycle()) Sample();
  now_ = next;
  if (sampler_ != nullptr && sampler_->Due(now_)) Sample();
}

std::vector<uint64_t> Gpu::IssuedBySm() const {
  std::vector<uint64_t> issued;
  if (!options_.config.run.timeline_sm_tracks) return issued;
  issued.reserve(sms_.size());
  for (const auto& sm : sms_) issued.push_back(sm->issued());
  return issued;
}

void Gpu::Sample() {
  SettleMemory();
  sampler_->Add(now_, TotalsSoFar(), IssuedBySm());
}

IntervalSamples Gpu::SamplesSoFar() const {
  if (sampler_ == nullptr) return {};
  return sampler_->Until(now(), TotalsSoFar(), IssuedBySm());
}

void Gpu::CheckProgress() {
  // A queue that moves is no deadlock, however long it is: replies count like instructions.
  uint64_t events = issued();
  for (const auto& sm : sms_) events += sm->replies();
  const bool resident = std::any_of(sms_.begin(), sms_.end(), [](const auto& sm) { return !sm->idle(); });
  // A warp that sleeps until a known cycle (NANOSLEEP, a fence) is waiting, not stuck.
  const bool asleep =
      std::any_of(sms_.begin(), sms_.end(), [](const auto& sm) { return sm->has_sleepers(); });
  if (events != last_events_ || !resident || asleep) {
    last_events_ = events;
    last_progress_ = now_;
    return;
  }
  if (now_ - last_progress_ < options_.config.run.deadlock_cycles) return;
  SettleMemory();
  End(RunStatus::kDeadlock, DescribeStuck(absl::StrCat("no instruction issued and no reply came for ",
                                                       Counted(now_ - last_progress_, "cycle"))));
}

void Gpu::End(RunStatus status, std::string detail) {
  done_ = true;
  status_ = status;
  status_detail_ = std::move(detail);
}

void Gpu::Cancel() {
  if (!done_) End(RunStatus::kCancelled, "cancelled");
}

uint64_t Gpu::issued() const {
  uint64_t issued = 0;
  for (const auto& sm : sms_) issued += sm->issued();
  return issued;
}

SimStats Gpu::StatsOf(uint32_t index) const {
  const KernelRun& run = *runs_[index];
  SimStats stats = run.sm_stats;
  if (!run.finished) {
    for (const auto& sm : sms_) sm->AddStats(index, now(), &stats);
  }
  const MemorySideStats& memory = memory_.kernel_stats(index);
  AddStats(memory.noc, &stats.noc);
  AddStats(memory.l2, &stats.l2);
  AddStats(memory.dram, &stats.dram);
  return stats;
}

SimStats Gpu::TotalsSoFar() const {
  SimStats totals = finished_;
  for (const uint32_t index : active_) {
    for (const auto& sm : sms_) sm->AddStats(index, now(), &totals);
    AddStats(memory_.kernel_stats(index).noc, &totals.noc);
  }
  for (const L2Stats& slice : memory_.slice_stats()) AddStats(slice, &totals.l2);
  for (const DramStats& channel : memory_.channel_stats()) AddStats(channel, &totals.dram);
  return totals;
}

PcProfile Gpu::ProfileOf(uint32_t index) const {
  PcProfile sum;
  for (const auto& tables : profiles_) AddProfile(*tables[index], &sum);
  if (!profiles_.empty() && !runs_[index]->finished) {
    for (const auto& sm : sms_) sm->AddOpenStates(index, now(), &sum);
  }
  return sum;
}

std::vector<std::pair<std::string, uint64_t>> Gpu::GuessedOf(uint32_t index) const {
  const KernelRun& run = *runs_[index];
  std::vector<uint64_t> executed = run.guessed_executed;
  if (!run.finished) {
    for (const auto& sm : sms_) sm->AddGuessed(index, &executed);
  }
  std::vector<std::pair<std::string, uint64_t>> guessed;
  for (size_t i = 0; i < executed.size(); ++i) {
    const std::string& text = options_.trace->StaticTable(run.trace_kernel)[run.guessed[i]].opcode;
    const auto same =
        std::find_if(guessed.begin(), guessed.end(), [&](const auto& g) { return g.first == text; });
    if (same == guessed.end()) {
      guessed.emplace_back(text, executed[i]);
    } else {
      same->second += executed[i];
    }
  }
  std::sort(guessed.begin(), guessed.end());
  return guessed;
}

}  // namespace sm89
