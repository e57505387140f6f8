#include "sim/sm/sm.h"

#include <algorithm>

#include "absl/strings/str_format.h"
#include "sim/base/assert.h"

namespace sm89 {
namespace {

// Local memory lies where no trace has addresses; a warp slot has room for 16 MiB a thread.
constexpr uint64_t kLocalMemoryBase = 0xF000'0000'0000'0000;
constexpr uint32_t kLocalMemoryShift = 30;

}  // namespace

Sm::Sm(const GpuConfig& config, uint16_t id)
    : config_(config), id_(id), num_sub_cores_(config.sm.sub_cores), lsu_(config, id) {
  SM89_ASSERT(num_sub_cores_ > 0 && config.sm.max_warps % num_sub_cores_ == 0, "warps divide evenly");
  SM89_ASSERT(config.sm.max_warps / num_sub_cores_ <= WarpScheduler::kMaxWarps, "warps of a sub-core");
  for (uint32_t i = 0; i < num_sub_cores_; ++i) {
    subs_.push_back({WarpScheduler(static_cast<SchedulerPolicy>(config.sm.scheduler)), ExecUnits(&fp64_free_),
                     kNever, config.sm.max_warps / num_sub_cores_, config.sm.registers / num_sub_cores_});
  }
  warps_.resize(config.sm.max_warps);
  warp_blocked_.assign(config.sm.max_warps, false);
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
  if (num_ctas_ == 0 && last_kernel_ != launch.kernel) {
    // Caches are invalidated between kernels; the carve-out can only change on an empty SM.
    carveout_kib_ = launch.needs.carveout_kib;
    lsu_.Configure(config_.sm.unified_l1_kib - carveout_kib_);
    last_kernel_ = launch.kernel;
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
  cta.at_barrier = 0;
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
  if (stats->resident_ctas++ == 0) stats->active_since = launch.at;
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
  warp.age = next_age_++;
  warp.since = launch.at;
  warp.launched = launch.at;
  warp.cursor = std::move(cursor);
  warp.code = launch.code;
  warp.stats = StatsOf(launch.kernel);
  warp.kernel = launch.kernel;
  warp.state = WarpState::kWait;
  warp.register_ready.assign(kNumRegisterSlots, 0);
  warp.register_reason.assign(kNumRegisterSlots, WarpState::kWait);
  warp.local.base = kLocalMemoryBase + ((uint64_t{id_} * warps_.size() + slot) << kLocalMemoryShift);
  warp_blocked_[slot] = false;
  const uint32_t sub = SubOf(slot);
  subs_[sub].scheduler.Add(IndexInSub(slot));
  if (warp.cursor == nullptr) return;
  warp.has_next = warp.cursor->Next(&warp.next);
  if (!warp.has_next) {
    trace_status_.Update(warp.cursor->status());
    SM89_ASSERT(!trace_status_.ok(), "a cursor without instructions");
    return Block(slot, WarpState::kDrain, launch.at);  // the run ends at this window's border
  }
  subs_[sub].scheduler.MakeCandidate(IndexInSub(slot));
  SetState(&warp, WarpState::kNotSelected, launch.at);
  Touch(sub, launch.at);
}

void Sm::FinishWarp(uint32_t slot, Cycle now) {
  Warp& warp = warps_[slot];
  SetState(&warp, WarpState::kDrain, now);
  SmStats& stats = warp.stats->sm;
  stats.resident_warp_cycles += now - warp.launched;
  ++stats.warps_completed;
  const uint32_t sub = SubOf(slot);
  Cta& cta = ctas_[warp.cta];
  subs_[sub].scheduler.Remove(IndexInSub(slot));
  warp.active = false;
  warp.stats = nullptr;
  warp.cursor.reset();
  SM89_ASSERT(cta.live_warps > 0, "live warps of a CTA");
  --cta.live_warps;
  if (warp.arrived) --cta.at_barrier;
  if (cta.live_warps == 0) {
    FinishCta(warp.cta, now);
  } else if (cta.at_barrier != 0 && cta.at_barrier >= cta.live_warps) {
    ReleaseBarrier(warp.cta, now);
  }
}

void Sm::FinishCta(uint32_t index, Cycle now) {
  Cta& cta = ctas_[index];
  KernelSmStats* stats = StatsOf(cta.kernel);
  ++stats->sm.ctas_completed;
  if (--stats->resident_ctas == 0) {
    stats->sm.active_cycles += now - stats->active_since;
    stats->sm.issue_slots += (now - stats->active_since) * num_sub_cores_;
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
      Deliver((*inbox)[next_reply++]);
    }
    LocalEvent event;
    Cycle when = 0;
    while (local_events_.Pop(now + 1, &when, &event)) FinishAsyncCopy(event, now);
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
  }
  inbox->erase(inbox->begin(), inbox->begin() + static_cast<ptrdiff_t>(next_reply));
}

void Sm::Step(uint32_t sub_index, Cycle now) {
  SubCore& sub = subs_[sub_index];
  for (uint32_t due = sub.scheduler.WakeDue(now); due != 0; due &= due - 1) {
    const uint32_t slot = static_cast<uint32_t>(__builtin_ctz(due)) * num_sub_cores_ + sub_index;
    SetState(&warps_[slot], WarpState::kNotSelected, now);
  }
  Cycle retry = kNever;
  std::array<uint8_t, WarpScheduler::kMaxWarps> order;
  const uint32_t count = sub.scheduler.Order(&order);
  sub.next_event = kNever;
  for (uint32_t i = 0; i < count; ++i) {
    if (TryIssue(order[i] * num_sub_cores_ + sub_index, now, &retry)) {
      retry = now + 1;
      break;
    }
  }
  if (sub.scheduler.candidates() != 0) Touch(sub_index, retry);
  Touch(sub_index, sub.scheduler.NextWake(now));
}

void Sm::Block(uint32_t slot, WarpState reason, Cycle now) {
  subs_[SubOf(slot)].scheduler.Block(IndexInSub(slot));
  warp_blocked_[slot] = true;
  SetState(&warps_[slot], reason, now + 1);
}

void Sm::AddStats(uint32_t kernel, Cycle now, SimStats* out) const {
  for (const auto& [index, stats] : stats_) {
    if (index != kernel) continue;
    ::sm89::AddStats(stats->sm, &out->sm);
    ::sm89::AddStats(stats->l1, &out->l1);
    if (stats->resident_ctas != 0 && now > stats->active_since) {
      out->sm.active_cycles += now - stats->active_since;
      out->sm.issue_slots += (now - stats->active_since) * num_sub_cores_;
    }
    for (const Warp& warp : warps_) {
      if (!warp.active || warp.stats != stats.get() || warp.launched >= now) continue;
      out->sm.resident_warp_cycles += now - warp.launched;
      if (now > warp.since) out->sm.*CounterOf(warp.state) += now - warp.since;
      if (now < warp.since) out->sm.stall_selected -= warp.since - now;
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
  stats_.erase(std::remove_if(stats_.begin(), stats_.end(), [&](const auto& s) { return s.first == kernel; }),
               stats_.end());
}

std::string Sm::DescribeWarps(uint32_t max_lines) const {
  static constexpr std::array<const char*, 13> kReasons = {"selected",
                                                           "not selected",
                                                           "global or local memory",
                                                           "shared memory or variable-latency unit",
                                                           "fixed-latency dependence",
                                                           "math pipe",
                                                           "memory queue",
                                                           "MSHRs or write buffers",
                                                           "barrier",
                                                           "memory fence",
                                                           "branch",
                                                           "sleep",
                                                           "outstanding memory at its end"};
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
    absl::StrAppendFormat(&text, " waits for %s since cycle %d (%d loads, %d stores under way)\n",
                          kReasons[static_cast<size_t>(warp.state)], warp.since, warp.pending_loads,
                          warp.pending_stores);
  }
  return text;
}

}  // namespace sm89
