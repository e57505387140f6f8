#include "sim/emu/runner.h"

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "sim/base/status_macros.h"

namespace sm89::emu {

namespace {

// Warp instructions of a turn; long enough that registers stay in the host's cache.
constexpr uint32_t kTurn = 256;
// A split that has run this long lets the others of its warp run.
constexpr uint32_t kSplitRun = 4096;
constexpr size_t kMaxStuckListed = 16;

Dim3 CtaId(const Dim3& grid, uint64_t index) {
  return {static_cast<uint32_t>(index % grid.x), static_cast<uint32_t>(index / grid.x % grid.y),
          static_cast<uint32_t>(index / (uint64_t{grid.x} * grid.y))};
}

// "barrier 1 (32 of 64 threads)".
std::string Waiting(const Cta& cta, const Split& split) {
  switch (split.state) {
    case SplitState::kBsync:
      return "BSYNC";
    case SplitState::kWarpsync:
      return "WARPSYNC";
    case SplitState::kCtaBarrier:
      return absl::StrFormat("barrier %d (%d of %d threads)", split.barrier,
                             ArrivedThreads(cta, cta.barriers[split.barrier]),
                             ExpectedThreads(cta, cta.barriers[split.barrier]));
    case SplitState::kReady:
      break;
  }
  return "nothing";
}

void Rotate(Warp& w) {
  w.run = 0;
  if (w.num_splits < 2) return;
  std::rotate(w.splits.begin(), w.splits.begin() + (w.num_splits - 1), w.splits.begin() + w.num_splits);
}

}  // namespace

void Runner::Start(uint64_t index, Cta* cta) {
  const Program& program = *m_.program;
  const uint32_t rows = program.num_rows();
  const auto threads = static_cast<uint32_t>(SaturatingVolume(m_.launch->block));
  cta->index = index;
  cta->id = CtaId(m_.launch->grid, index);
  cta->live_warps = m_.num_warps;
  cta->executed = 0;
  cta->rows.assign(size_t{rows} * m_.num_warps, Row{});
  cta->warps.resize(m_.num_warps);
  const bool check = m_.options->check_uninitialised;
  cta->shared.bytes.assign(m_.shared_bytes, 0);
  if (check) cta->shared.written.assign(m_.shared_bytes, 0);
  const size_t local = size_t{m_.local_bytes} * m_.num_warps * kWarpSize;
  cta->local.bytes.resize(local);
  if (check) {
    cta->local.written.assign(local, 0);
  } else {
    std::fill(cta->local.bytes.begin(), cta->local.bytes.end(), uint8_t{0});
  }
  for (uint32_t i = 0; i < m_.num_warps; ++i) {
    Warp& w = cta->warps[i];
    const uint32_t here = std::min(threads - i * kWarpSize, static_cast<uint32_t>(kWarpSize));
    w.regs.rows = cta->rows.data() + size_t{rows} * i;
    w.regs.ur.fill(0);
    w.regs.pred.fill(0);
    w.regs.pred[7] = kAllLanes;
    w.regs.upred.fill(false);
    w.regs.upred[7] = true;
    w.index = i;
    w.existing = here == kWarpSize ? kAllLanes : (LaneMask{1} << here) - 1;
    w.live = w.existing;
    w.num_splits = 1;
    w.splits[0] = {.mask = w.existing};
    w.run = 0;
    if (w.used_armed != 0) w.armed = {};
    w.used_armed = 0;
    w.reduced_count = 0;
    w.reduced_flag = false;
  }
  cta->barriers = {};
}

template <bool kTrace>
void Runner::Execute(Warp* warp, uint32_t budget) {
  Exec& x = m_.exec;
  const Compiled* code = m_.program->code().data();
  PcCount* counts = m_.counts.data();
  while (budget != 0) {
    const Split& s = m_.split();
    x.active = s.mask;
    x.stop = false;
    uint32_t pc = s.pc;
    const auto active_threads = static_cast<uint32_t>(__builtin_popcount(x.active));
    const uint32_t before = budget;
    do {
      const Compiled& c = code[pc];
      const LaneMask lanes = x.active & ReadPred(x, c.guard);
      x.pc = pc;
      x.next_pc = pc + 1;
      x.lanes = lanes;
      PcCount& count = counts[pc];
      ++count.warps;
      count.threads += active_threads;
      count.predicated_on +=
          lanes == x.active ? active_threads : static_cast<uint32_t>(__builtin_popcount(lanes));
      ++m_.turn_executed;
      --budget;
      if constexpr (kTrace) m_.num_addresses = 0;
      if (lanes != 0) c.run(x, c);
      if constexpr (kTrace) {
        if (c.inst == nullptr) return;  // past the last instruction: a finding, nothing that was executed
        m_.sink->Record(warp->index, pc, lanes, std::span(m_.addresses).first(m_.num_addresses));
      }
      pc = x.next_pc;
    } while (budget != 0 && !x.stop);
    warp->run += before - budget;
    if (m_.failed) return;
    if (!x.stop) {
      m_.split().pc = pc;
      if (warp->run >= kSplitRun) Rotate(*warp);
    }
    if (x.end_turn || !ChooseSplit(*warp)) return;
  }
}

void Runner::Turn(Warp* warp, uint32_t budget) {
  m_.warp = warp;
  m_.exec.w = &warp->regs;
  m_.exec.machine = &m_;
  m_.exec.end_turn = false;
  if (m_.sink == nullptr) {
    Execute<false>(warp, budget);
  } else {
    Execute<true>(warp, budget);
  }
  m_.executed += m_.turn_executed;
  m_.cta->executed += m_.turn_executed;
  m_.turn_executed = 0;
}

absl::Status Runner::CheckTurn() const {
  if (m_.failed) return absl::FailedPreconditionError(m_.failure);
  if (m_.options->cancel != nullptr && m_.options->cancel->load(std::memory_order_relaxed)) {
    return absl::CancelledError("interrupted");
  }
  if (m_.sink != nullptr) RETURN_IF_ERROR(m_.sink->status());
  const uint64_t of_cta = m_.options->max_cta_warp_instructions;
  if (of_cta != 0 && m_.cta->executed > of_cta && m_.cta->live_warps != 0) {
    return absl::ResourceExhaustedError(absl::StrFormat(
        "CTA (%d,%d,%d) of kernel %s executed %d warp instructions and had not ended: more than an SM "
        "can issue in the cycles that the run may take",
        m_.cta->id.x, m_.cta->id.y, m_.cta->id.z, m_.program->kernel().name, m_.cta->executed));
  }
  const uint64_t limit = m_.options->max_warp_instructions;
  if (limit == 0 || m_.executed < limit || m_.cta->live_warps == 0) return absl::OkStatus();
  return absl::ResourceExhaustedError(
      absl::StrFormat("kernel %s executed %d warp instructions, the limit (max_instructions), and had not "
                      "ended (CTA (%d,%d,%d) was running)",
                      m_.program->kernel().name, m_.executed, m_.cta->id.x, m_.cta->id.y, m_.cta->id.z));
}

absl::StatusOr<bool> Runner::Round(Cta* cta) {
  m_.cta = cta;
  bool any = false;
  for (Warp& w : cta->warps) {
    if (w.live == 0 || !ChooseSplit(w)) continue;
    any = true;
    uint64_t budget = kTurn;
    if (m_.options->max_warp_instructions != 0) {
      budget = std::min(budget, m_.options->max_warp_instructions - m_.executed);
    }
    Turn(&w, static_cast<uint32_t>(budget));
    RETURN_IF_ERROR(CheckTurn());
  }
  return any;
}

absl::Status Runner::Deadlock(const std::vector<Cta*>& ctas) const {
  std::string where;
  size_t listed = 0;
  for (const Cta* cta : ctas) {
    for (const Warp& w : cta->warps) {
      for (uint32_t i = 0; i < w.num_splits; ++i) {
        if (++listed > kMaxStuckListed) continue;
        const Split& s = w.splits[i];
        const uint32_t at = s.pc - 1;
        const Placed& placed = m_.program->PlaceOf(at);
        absl::StrAppendFormat(&where, "; CTA (%d,%d,%d) warp %d lanes 0x%08x wait at %s of %s+0x%04x",
                              cta->id.x, cta->id.y, cta->id.z, w.index, s.mask, Waiting(*cta, s),
                              placed.function->name, (at - placed.first) * 16);
      }
    }
  }
  if (listed > kMaxStuckListed) absl::StrAppend(&where, "; and ", listed - kMaxStuckListed, " more");
  return absl::FailedPreconditionError(
      absl::StrCat("kernel ", m_.program->kernel().name, " is deadlocked: no warp can run", where));
}

absl::Status Runner::Run(uint64_t index, TraceSink* sink) {
  m_.sink = sink;
  if (one_ == nullptr) one_ = std::make_unique<Cta>();
  Start(index, one_.get());
  if (sink != nullptr) sink->BeginCta(index);
  while (one_->live_warps != 0) {
    ASSIGN_OR_RETURN(const bool ran, Round(one_.get()));
    if (!ran) return Deadlock({one_.get()});
  }
  if (sink != nullptr) sink->EndCta(index);
  return absl::OkStatus();
}

absl::Status Runner::RunTogether(uint64_t num_ctas, TraceSink* sink) {
  const EmuOptions& options = *m_.options;
  const uint64_t most = options.resident_ctas != 0
                            ? std::min(options.resident_ctas, options.max_cooperative_ctas)
                            : options.max_cooperative_ctas;
  if (num_ctas > most) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "a cooperative launch of %d CTAs: all have to be resident at once, %d fit", num_ctas, most));
  }
  m_.sink = sink;
  std::vector<std::unique_ptr<Cta>> owned;
  std::vector<Cta*> running;
  for (uint64_t i = 0; i < num_ctas; ++i) {
    running.push_back(owned.emplace_back(std::make_unique<Cta>()).get());
    Start(i, running.back());
  }
  while (!running.empty()) {
    bool any = false;
    for (Cta* cta : running) {
      if (sink != nullptr) sink->BeginCta(cta->index);
      ASSIGN_OR_RETURN(const bool ran, Round(cta));
      any |= ran;
      if (sink != nullptr && cta->live_warps == 0) sink->EndCta(cta->index);
    }
    if (!any) return Deadlock(running);
    std::erase_if(running, [](const Cta* cta) { return cta->live_warps == 0; });
  }
  return absl::OkStatus();
}

}  // namespace sm89::emu
