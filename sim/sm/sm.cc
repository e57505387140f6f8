#include "sim/sm/sm.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "sim/base/assert.h"

namespace sm89 {
namespace {

// Local memory lies where no trace has addresses; a warp slot has room for 16 MiB a thread.
constexpr uint64_t kLocalMemoryBase = 0xF000'0000'0000'0000;
constexpr uint32_t kLocalMemoryShift = 30;

}  // namespace

Sm::SubCore::SubCore(const GpuConfig& config, BusyTime* shared_fp64, InstructionL1* instruction_l1,
                     ConstantL1* constant_l1)
    : scheduler(static_cast<SchedulerPolicy>(config.sm.scheduler)),
      units(shared_fp64),
      registers(config.registers),
      instructions(config.front, instruction_l1),
      constants(config.constant, constant_l1),
      free_warps(config.sm.max_warps / config.sm.sub_cores),
      free_registers(config.sm.registers / config.sm.sub_cores) {}

Sm::Sm(const GpuConfig& config, uint16_t id)
    : config_(config),
      id_(id),
      num_sub_cores_(config.sm.sub_cores),
      lsu_(config, id),
      instruction_l1_(config.front),
      constant_l1_(config.constant) {
  SM89_ASSERT(num_sub_cores_ > 0 && config.sm.max_warps % num_sub_cores_ == 0, "warps divide evenly");
  SM89_ASSERT(config.sm.max_warps / num_sub_cores_ <= WarpScheduler::kMaxWarps, "warps of a sub-core");
  SM89_ASSERT(config.front.ibuffer_entries > 0 && config.front.ibuffer_entries <= kMaxIbuffer,
              "entries of an instruction buffer");
  subs_.reserve(num_sub_cores_);
  BusyTime* const shared_fp64 = config.exec.fp64_shared ? &fp64_ : nullptr;
  for (uint32_t i = 0; i < num_sub_cores_; ++i) {
    subs_.emplace_back(config, shared_fp64, &instruction_l1_, &constant_l1_);
  }
  if (config.ser.enabled) ser_ = std::make_unique<SerStage>(config.ser);
  warps_.resize(config.sm.max_warps);
  reserved_.assign(config.sm.max_warps, false);
  ctas_.resize(config.sm.max_ctas);
}

uint32_t Sm::FirstSubCore() const {
  uint32_t best = 0;
  for (uint32_t s = 1; s < num_sub_cores_; ++s) {
    if (subs_[s].free_warps > subs_[best].free_warps) best = s;
  }
  return best;
}

uint32_t Sm::NeededIn(const CtaNeeds& needs, uint32_t first, uint32_t sub) const {
  const uint32_t distance = (sub + num_sub_cores_ - first) % num_sub_cores_;
  return (needs.warps + num_sub_cores_ - 1 - distance) / num_sub_cores_;
}

bool Sm::CanHost(const CtaNeeds& needs) const {
  if (num_ctas_ == config_.sm.max_ctas) return false;
  if (used_threads_ + needs.threads > config_.sm.max_threads) return false;
  const uint32_t carveout = num_ctas_ == 0 ? needs.carveout_kib : carveout_kib_;
  if (used_shmem_bytes_ + needs.shmem_bytes > carveout * 1024) return false;
  const uint32_t first = FirstSubCore();
  for (uint32_t s = 0; s < num_sub_cores_; ++s) {
    const uint32_t warps = NeededIn(needs, first, s);
    if (warps > subs_[s].free_warps || warps * needs.registers_per_warp > subs_[s].free_registers)
      return false;
  }
  return true;
}

KernelSmStats* Sm::StatsOf(uint32_t kernel) {
  for (auto& [index, stats] : stats_) {
    if (index == kernel) return stats.get();
  }
  stats_.emplace_back(kernel, std::make_unique<KernelSmStats>());
  return stats_.back().second.get();
}

void Sm::Launch(CtaLaunch launch) {
  SM89_ASSERT(CanHost(launch.needs), "a CTA that does not fit");
  const bool cached =
      std::find(cached_kernels_.begin(), cached_kernels_.end(), launch.kernel) != cached_kernels_.end();
  if (num_ctas_ == 0 && (!cached || carveout_kib_ != launch.needs.carveout_kib)) {
    // Caches are invalidated between kernels that do not run side by side; the carve-out can only change on
    // an empty SM.
    carveout_kib_ = launch.needs.carveout_kib;
    lsu_.Configure(config_.sm.unified_l1_kib - carveout_kib_);
    instruction_l1_.Clear();
    constant_l1_.Clear();
    for (SubCore& sub : subs_) {
      sub.instructions.Clear();
      sub.constants.Clear();
    }
    cached_kernels_.assign(1, launch.kernel);
  } else if (!cached) {
    cached_kernels_.push_back(launch.kernel);
  }
  ++num_ctas_;
  used_threads_ += launch.needs.threads;
  used_shmem_bytes_ += launch.needs.shmem_bytes;
  const uint32_t slot = static_cast<uint32_t>(
      std::find_if(ctas_.begin(), ctas_.end(), [](const Cta& c) { return !c.active; }) - ctas_.begin());
  SM89_ASSERT(slot < ctas_.size(), "CTA slots disagree with their count");
  Cta& cta = ctas_[slot];
  cta.active = true;
  cta.kernel = launch.kernel;
  cta.needs = launch.needs;
  cta.id = launch.trace->id();
  cta.barriers.fill({});
  cta.live_warps = 0;
  cta.warps.clear();
  const uint32_t first = FirstSubCore();
  for (uint32_t i = 0; i < launch.needs.warps; ++i) {
    const uint32_t sub = (first + i) % num_sub_cores_;
    uint32_t warp = sub;
    while (reserved_[warp]) warp += num_sub_cores_;
    SM89_ASSERT(warp < warps_.size(), "warp slots disagree with their count");
    reserved_[warp] = true;
    --subs_[sub].free_warps;
    subs_[sub].free_registers -= launch.needs.registers_per_warp;
    cta.warps.push_back(warp);
  }
  cta.trace = std::move(launch.trace);
  const auto later = std::upper_bound(launches_.begin(), launches_.end(), launch.at,
                                      [](Cycle at, const PendingLaunch& p) { return at < p.launch.at; });
  launches_.insert(later, {std::move(launch), slot});
}

void Sm::StartCta(const CtaLaunch& launch, uint32_t slot) {
  Cta& cta = ctas_[slot];
  KernelSmStats* stats = StatsOf(cta.kernel);
  stats->guessed.resize(launch.code->guessed.size());
  if (stats->resident_ctas++ == 0) {
    stats->active_since = launch.at;
    for (SlotCount& count : stats->slots) count.covered_until = launch.at;
  }
  const std::vector<uint32_t> slots = cta.warps;
  cta.live_warps = static_cast<uint32_t>(slots.size());
  // Absent and empty warps are finished warps: nobody waits for them.
  std::vector<uint32_t> absent;
  for (uint32_t i = 0; i < slots.size(); ++i) {
    std::unique_ptr<WarpCursor> cursor = cta.trace->OpenWarp(i);
    const bool empty = cursor == nullptr;
    StartWarp(slots[i], slot, launch, std::move(cursor));
    if (empty) absent.push_back(slots[i]);
  }
  for (const uint32_t warp : absent) FinishWarp(warp, launch.at);
}

void Sm::StartWarp(uint32_t slot, uint32_t cta, const CtaLaunch& launch, std::unique_ptr<WarpCursor> cursor) {
  Warp& warp = warps_[slot];
  warp = Warp{};
  warp.active = true;
  warp.cta = cta;
  warp.since = launch.at;
  warp.launched = launch.at;
  warp.cursor = std::move(cursor);
  warp.code = launch.code;
  warp.stats = StatsOf(launch.kernel);
  warp.kernel = launch.kernel;
  warp.fetch_floor = launch.at;
  if (profiles_ != nullptr) warp.profile = (*profiles_)[launch.kernel]->data();
  warp.local.base = kLocalMemoryBase + ((uint64_t{id_} * warps_.size() + slot) << kLocalMemoryShift);
  const uint32_t sub = SubOf(slot);
  subs_[sub].scheduler.Add(IndexInSub(slot));
  SlotCount& count = warp.stats->slots[sub];
  if (count.warps++ == 0 && launch.at > count.covered_until) {
    warp.stats->sm.issue_slots_empty += launch.at - count.covered_until;
    count.covered_until = launch.at;
  }
  if (warp.cursor == nullptr) return;
  warp.has_next = warp.cursor->Next(&warp.next);
  if (!warp.has_next) {
    trace_status_.Update(warp.cursor->status());
    SM89_ASSERT(!trace_status_.ok(), "a cursor without instructions");
    return Block(slot, Blocked::kDrain, WarpState::kDrain, launch.at);  // the run ends at the window's border
  }
  if (warp.profile != nullptr) warp.profile_row = &warp.profile[warp.next.static_id];
  warp.resident_lanes = warp.next.mask;
  SetNext(slot, true);
  // Nothing is in the buffer: the first fetch starts now.
  const Cycle ready = FetchNext(&warp, &subs_[sub], {.start = true}, launch.at);
  Hold(slot, launch.at, ready, WarpState::kNoInstruction);
}

void Sm::FinishWarp(uint32_t slot, Cycle now) {
  Warp& warp = warps_[slot];
  SetState(&warp, WarpState::kDrain, std::max(now, warp.since));
  SmStats& stats = warp.stats->sm;
  stats.resident_warp_cycles += now - warp.launched;
  ++stats.warps_completed;
  const uint32_t sub = SubOf(slot);
  SlotCount& count = warp.stats->slots[sub];
  if (--count.warps == 0 && now > count.covered_until) {
    stats.issue_slots_stalled += now - count.covered_until;
    count.covered_until = now;
  }
  Cta& cta = ctas_[warp.cta];
  const uint32_t cta_index = warp.cta;
  subs_[sub].scheduler.Remove(IndexInSub(slot));
  subs_[sub].registers.Forget(slot);
  warp.active = false;
  warp.stats = nullptr;
  warp.profile_row = nullptr;
  warp.cursor.reset();
  SM89_ASSERT(cta.live_warps > 0, "live warps of a CTA");
  --cta.live_warps;
  if (warp.arrived) --cta.barriers[warp.barrier].arrived;
  warp.arrived = false;
  for (uint32_t rest = warp.only_arrived; rest != 0; rest &= rest - 1) {
    ++cta.barriers[static_cast<uint32_t>(__builtin_ctz(rest))].ended;
  }
  if (cta.live_warps == 0) return FinishCta(cta_index, now);
  for (uint32_t barrier = 0; barrier < kNumBarriers; ++barrier) CheckBarrier(cta_index, barrier, now);
}

void Sm::FinishCta(uint32_t index, Cycle now) {
  Cta& cta = ctas_[index];
  KernelSmStats* stats = StatsOf(cta.kernel);
  ++stats->sm.ctas_completed;
  if (--stats->resident_ctas == 0) {
    stats->sm.active_cycles += now - stats->active_since;
    stats->sm.issue_slots += (now - stats->active_since) * num_sub_cores_;
    for (uint32_t sub = 0; sub < num_sub_cores_; ++sub) {
      SlotCount& count = stats->slots[sub];
      stats->sm.issue_slots_empty += now - std::min(now, count.covered_until);
    }
  }
  // Warp slots and registers are given back with the whole CTA, as the hardware does.
  for (const uint32_t slot : cta.warps) {
    SubCore& sub = subs_[SubOf(slot)];
    ++sub.free_warps;
    sub.free_registers += cta.needs.registers_per_warp;
    reserved_[slot] = false;
  }
  --num_ctas_;
  used_threads_ -= cta.needs.threads;
  used_shmem_bytes_ -= cta.needs.shmem_bytes;
  cta.active = false;
  cta.trace.reset();
  finished_.push_back({cta.kernel, now});
}

bool Sm::has_sleepers() const {
  return std::any_of(subs_.begin(), subs_.end(), [](const SubCore& s) { return s.scheduler.any_asleep(); });
}

void Sm::Touch(uint32_t sub, Cycle cycle) { subs_[sub].next_event = std::min(subs_[sub].next_event, cycle); }

Cycle Sm::NextEvent(Cycle now) const {
  Cycle next = local_events_.NextCycle();
  if (!launches_.empty()) next = std::min(next, launches_.front().launch.at);
  for (const SubCore& sub : subs_) next = std::min(next, sub.next_event);
  return next == kNever ? kNever : std::max(next, now);
}

void Sm::Run(Cycle begin, Cycle end, std::vector<MemReply>* inbox) {
  size_t next_reply = 0;
  for (;;) {
    Cycle now = NextEvent(begin);
    if (next_reply < inbox->size()) now = std::min(now, std::max((*inbox)[next_reply].cycle, begin));
    if (now >= end) break;
    while (next_reply < inbox->size() && (*inbox)[next_reply].cycle <= now) {
      SM89_ASSERT((*inbox)[next_reply].cycle >= begin, "a reply that belongs to an earlier window");
      Deliver((*inbox)[next_reply++], now);
    }
    LocalEvent event;
    Cycle when = 0;
    while (local_events_.Pop(now + 1, &when, &event)) Handle(event, now);
    while (!launches_.empty() && launches_.front().launch.at <= now) {
      StartCta(launches_.front().launch, launches_.front().slot);
      launches_.pop_front();
    }
    // Whoever used the shared FP64 unit last asks last: no sub-core can starve the others.
    const uint32_t first = first_sub_;
    for (uint32_t i = 0; i < num_sub_cores_; ++i) {
      const uint32_t sub = (first + i) % num_sub_cores_;
      if (subs_[sub].next_event <= now) Step(sub, now);
    }
    if (ser_ != nullptr) Redirect(now);
  }
  inbox->erase(inbox->begin(), inbox->begin() + static_cast<ptrdiff_t>(next_reply));
}

void Sm::BecomeCandidate(uint32_t slot, Cycle now) {
  SubCore& sub = subs_[SubOf(slot)];
  Warp& warp = warps_[slot];
  const SmInst& inst = warp.inst();
  warp.closed_issue = sub.issue.ClosedBefore(now);
  warp.closed_pipe = inst.path == IssuePath::kMemory ? sub.memory_queue.ClosedBefore(now)
                                                     : sub.units.Of(inst.pipe).ClosedBefore(now);
  sub.scheduler.MakeCandidate(IndexInSub(slot));
}

uint32_t Sm::Ready(SubCore* sub, Cycle now, Cycle* retry) const {
  uint32_t ready = sub->scheduler.candidates();
  for (uint32_t pipe = 0; pipe < kNumPipes; ++pipe) {
    const uint32_t waiting = sub->next_pipe[pipe] & ready;
    if (waiting == 0) continue;
    const Cycle free = sub->units.Of(static_cast<Pipe>(pipe)).free();
    uint32_t admitted = free <= now ? waiting : 0;
    if (pipe == static_cast<uint32_t>(Pipe::kSfu)) admitted = sub->sfu_refused.Admit(waiting, free > now);
    ready &= ~waiting | admitted;
    if (free > now) *retry = std::min(*retry, free);
  }
  if (const uint32_t waiting = ready & sub->next_memory; waiting != 0) {
    const Cycle free = sub->memory_queue.free();
    ready &= ~waiting | sub->memory_refused.Admit(waiting, free > now);
    if (free > now) *retry = std::min(*retry, free);
  }
  return ready;
}

void Sm::Step(uint32_t sub_index, Cycle now) {
  SubCore& sub = subs_[sub_index];
  for (uint32_t due = sub.scheduler.WakeDue(now); due != 0; due &= due - 1) {
    BecomeCandidate(static_cast<uint32_t>(__builtin_ctz(due)) * num_sub_cores_ + sub_index, now);
  }
  Cycle retry = kNever;
  if (sub.issue.free() > now) {
    retry = sub.issue.free();
  } else {
    for (uint32_t ready = Ready(&sub, now, &retry); ready != 0;) {
      const uint32_t warp = sub.scheduler.Pick(ready);
      ready &= ~(uint32_t{1} << warp);
      // Issued, or the port is held for the warp that comes first.
      if (TryIssue(warp * num_sub_cores_ + sub_index, now) || sub.issue.free() > now) {
        retry = std::max(sub.issue.free(), now + 1);
        break;
      }
      // It blocks on something else; whoever stood behind it at its resource is asked in the next cycle.
      retry = std::min(retry, now + 1);
    }
  }
  sub.next_event = sub.scheduler.candidates() != 0 ? retry : kNever;
  Touch(sub_index, sub.scheduler.NextWake(now));
}

void Sm::Block(uint32_t slot, Blocked why, WarpState state, Cycle now) {
  subs_[SubOf(slot)].scheduler.Block(IndexInSub(slot));
  Warp& warp = warps_[slot];
  warp.blocked = why;
  SetState(&warp, state, std::max(now, warp.since));
}

void Sm::AddStats(uint32_t kernel, Cycle now, SimStats* out) const {
  for (const auto& [index, stats] : stats_) {
    if (index != kernel) continue;
    ::sm89::AddStats(stats->sm, &out->sm);
    ::sm89::AddStats(stats->l1, &out->l1);
    if (stats->resident_ctas != 0 && now > stats->active_since) {
      out->sm.active_cycles += now - stats->active_since;
      out->sm.issue_slots += (now - stats->active_since) * num_sub_cores_;
      for (uint32_t sub = 0; sub < num_sub_cores_; ++sub) {
        const SlotCount& count = stats->slots[sub];
        if (now <= count.covered_until) continue;
        (count.warps != 0 ? out->sm.issue_slots_stalled : out->sm.issue_slots_empty) +=
            now - count.covered_until;
      }
    }
    for (const Warp& warp : warps_) {
      if (!warp.active || warp.stats != stats.get() || warp.launched >= now) continue;
      out->sm.resident_warp_cycles += now - warp.launched;
      // A state that begins behind `now` leaves a selected cycle that is not over.
      if (now < warp.since) out->sm.stall_selected -= warp.since - now;
      if (now <= warp.since) continue;
      const Cycle held = std::clamp(warp.hold_until, warp.since, now);
      out->sm.*CounterOf(warp.hold_reason) += held - warp.since;
      out->sm.*CounterOf(warp.state) += now - held;
    }
  }
}

void Sm::AddOpenStates(uint32_t kernel, Cycle now, PcProfile* out) const {
  for (const auto& [index, stats] : stats_) {
    if (index != kernel) continue;
    for (const Warp& warp : warps_) {
      if (!warp.active || warp.stats != stats.get() || warp.profile_row == nullptr) continue;
      PcCounters& row = (*out)[static_cast<size_t>(warp.profile_row - warp.profile)];
      const Cycle until = std::max(now, warp.since);
      const Cycle held = std::clamp(warp.hold_until, warp.since, until);
      row.cycles[static_cast<size_t>(warp.hold_reason)] += held - warp.since;
      row.cycles[static_cast<size_t>(warp.state)] += until - held;
    }
  }
}

void Sm::AddGuessed(uint32_t kernel, std::vector<uint64_t>* executed) const {
  for (const auto& [index, stats] : stats_) {
    if (index != kernel) continue;
    for (size_t i = 0; i < stats->guessed.size(); ++i) (*executed)[i] += stats->guessed[i];
  }
}

void Sm::DropStats(uint32_t kernel) {
  std::erase(cached_kernels_, kernel);
  stats_.erase(std::remove_if(stats_.begin(), stats_.end(), [&](const auto& s) { return s.first == kernel; }),
               stats_.end());
}

void Sm::CountStates(Cycle now, std::array<uint64_t, kNumWarpStates>* warps) const {
  for (uint32_t slot = 0; slot < warps_.size(); ++slot) {
    if (warps_[slot].active) ++(*warps)[static_cast<size_t>(StateAt(slot, now).state)];
  }
}

std::string Sm::DescribeWarps(Cycle now, uint32_t max_lines) const {
  std::string text;
  uint32_t lines = 0;
  for (uint32_t slot = 0; slot < warps_.size() && lines < max_lines; ++slot) {
    const Warp& warp = warps_[slot];
    if (!warp.active) continue;
    const Cta& cta = ctas_[warp.cta];
    ++lines;
    absl::StrAppendFormat(&text, "  SM %d warp slot %d: launch %d CTA (%d,%d,%d)", id_, slot, warp.kernel + 1,
                          cta.id.x, cta.id.y, cta.id.z);
    if (warp.has_next) absl::StrAppendFormat(&text, " pc 0x%04x", warp.inst().pc);
    const StateNow shown = StateAt(slot, now);
    const std::string_view state = Name(shown.state);
    absl::StrAppendFormat(&text, " in state %s since cycle %d (%d loads, %d stores, %d events under way;",
                          absl::string_view(state.data(), state.size()), shown.since, warp.pending_loads,
                          warp.pending_stores, warp.pending_events);
    absl::StrAppend(&text, " counters");
    for (uint32_t c = 0; c < kNumDependenceCounters; ++c) absl::StrAppend(&text, " ", warp.counters.raw(c));
    if (warp.has_next) absl::StrAppendFormat(&text, ", waits for mask 0x%x", warp.inst().bits.wait_mask);
    if (warp.at_barrier) {
      const Barrier& barrier = cta.barriers[warp.barrier];
      absl::StrAppendFormat(&text, ", barrier %d has %d of %d warps", warp.barrier, barrier.arrived,
                            ExpectedAt(cta, barrier));
    }
    absl::StrAppend(&text, ")\n");
  }
  if (lines != 0 || !launches_.empty()) text += DescribeQueues();
  return text;
}

std::string Sm::DescribeQueues(const std::function<std::string(uint32_t run)>& name_run) const {
  std::string text =
      absl::StrFormat("  SM %d memory pipeline: %d reads, %d stores under way, %d local events\n", id_,
                      lsu_.pending_reads(), lsu_.pending_stores(), local_events_.size());
  const auto append = [&](std::string_view what, const auto& slots) {
    if (slots.empty()) return;
    absl::StrAppendFormat(&text, "  SM %d %s: warp slots %s\n", id_,
                          absl::string_view(what.data(), what.size()), absl::StrJoin(slots, " "));
  };
  append("waits for MSHRs", room_queues_[static_cast<size_t>(RoomPool::kReads)]);
  append("waits for write buffers", room_queues_[static_cast<size_t>(RoomPool::kStores)]);
  for (uint32_t sub = 0; sub < num_sub_cores_; ++sub) {
    const auto slots = [&](const RefusalQueue& queue) {
      std::vector<uint32_t> refused;
      for (const uint8_t warp : queue.order()) refused.push_back(warp * num_sub_cores_ + sub);
      return refused;
    };
    append(absl::StrCat("sub-core ", sub, " memory queue refused"), slots(subs_[sub].memory_refused));
    append(absl::StrCat("sub-core ", sub, " special function unit refused"), slots(subs_[sub].sfu_refused));
  }
  for (const PendingLaunch& pending : launches_) {
    const uint32_t run = pending.launch.kernel;
    const Dim3& cta = ctas_[pending.slot].id;
    absl::StrAppendFormat(&text, "  SM %d %s CTA (%d,%d,%d) begins at cycle %d\n", id_,
                          name_run != nullptr ? name_run(run) : absl::StrCat("launch ", run + 1), cta.x,
                          cta.y, cta.z, pending.launch.at);
  }
  return text;
}

}  // namespace sm89
