// One resident warp: where it is in its trace, its dependence counters, what it waits for.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "sim/base/types.h"
#include "sim/sm/coalescer.h"
#include "sim/sm/kernel_code.h"
#include "sim/stats/pc_profile.h"
#include "sim/stats/sim_stats.h"
#include "sim/trace/trace_source.h"

namespace sm89 {

// Issue slots of one kernel in one sub-core.
struct SlotCount {
  uint32_t warps = 0;       // resident
  Cycle covered_until = 0;  // slots before this one are counted
};

// The statistics of one kernel on one SM.
struct KernelSmStats {
  SmStats sm;
  L1Stats l1;
  std::vector<uint64_t> guessed;  // executed, by place in KernelCode::guessed
  uint32_t resident_ctas = 0;
  Cycle active_since = 0;
  std::array<SlotCount, 4> slots;  // by sub-core
};

// The six dependence counters of a warp. A counter that an instruction raises is seen by the warp's checks
// from the second cycle behind its issue on (the Control stage raises it).
class DependenceCounters {
 public:
  // `now` = issue cycle of the raising instruction.
  void Raise(uint32_t counter, Cycle now, WarpState reason) {
    if (raised_at_ != now) {
      raised_at_ = now;
      raised_.fill(0);
    }
    ++raised_[counter];
    nonzero_ |= Bit(counter);
    if (++value_[counter] >= kMax - 1) nearly_full_ |= Bit(counter);
    reason_[counter] = reason;
  }
  // True when the counter became 0, or left its upper end.
  bool Lower(uint32_t counter);
  // The counters that an instruction with these bits would raise beyond their upper end: it cannot issue yet.
  uint8_t Full(const ControlBits& bits) const {
    const uint8_t raised = Bit(bits.write_counter) | Bit(bits.read_counter);
    return (raised & nearly_full_) == 0 ? uint8_t{0}
                                        : FullOf(raised, bits.write_counter == bits.read_counter);
  }
  // Counters of `mask` that are not 0 as a check at `now` sees them.
  uint8_t Pending(uint8_t mask, Cycle now) const {
    const uint8_t pending = mask & nonzero_;
    return pending == 0 || now != raised_at_ + 1 ? pending : PendingBefore(pending);
  }
  uint32_t Value(uint32_t counter, Cycle now) const {
    return now == raised_at_ + 1 ? value_[counter] - raised_[counter] : value_[counter];
  }
  WarpState Reason(uint8_t pending) const { return reason_[static_cast<uint32_t>(__builtin_ctz(pending))]; }
  uint8_t nonzero() const { return nonzero_; }
  // For people: whatever cycle a check is in, and what who waits for it waits for.
  uint32_t raw(uint32_t counter) const { return value_[counter]; }
  WarpState reason(uint32_t counter) const { return reason_[counter]; }

 private:
  // Their range is 0..63 (core-model 1.1); that an instruction waits for room in it is an assumption. One may
  // raise a counter twice, for its result and its reading.
  static constexpr uint16_t kMax = 63;

  static constexpr uint8_t Bit(uint32_t counter) {
    return counter < kNumDependenceCounters ? static_cast<uint8_t>(1u << counter) : uint8_t{0};
  }
  uint8_t PendingBefore(uint8_t pending) const;
  uint8_t FullOf(uint8_t raised, bool twice) const;

  std::array<uint16_t, kNumDependenceCounters> value_{};
  std::array<uint8_t, kNumDependenceCounters> raised_{};  // by the instruction issued at raised_at_
  std::array<WarpState, kNumDependenceCounters> reason_{};
  uint8_t nonzero_ = 0;
  uint8_t nearly_full_ = 0;  // at 62 or 63
  Cycle raised_at_ = kNever - 1;
};

// LDGSTS groups of a warp: LDGDEPBAR closes the open one and raises a counter, which falls when the group and
// every earlier one have their data in shared memory.
class AsyncCopyGroups {
 public:
  static constexpr uint32_t kMax = 64;  // groups under way (assumption: more than any compiler emits)

  uint32_t open_group() const { return open_; }
  void Add() { ++pending_[open_ % kMax]; }
  // False when one more group would not fit: the warp waits first.
  bool CanClose() const { return open_ - oldest_ < kMax - 1; }
  void Close(uint8_t counter);
  void Complete(uint32_t group);
  // Takes the oldest closed group if it is complete; its counter through `counter`.
  bool TakeDone(uint8_t* counter);

 private:
  std::array<uint16_t, kMax> pending_{};
  std::array<uint8_t, kMax> counter_{};
  uint32_t open_ = 0;
  uint32_t oldest_ = 0;
};

// Lanes that read the clock last at `pc`, all in one instruction.
struct ClockReaders {
  LaneMask lanes = 0;
  uint32_t pc = 0;
  Cycle cycle = 0;  // of its issue: the value that they read
};

// An access that found no room, so that its lanes are not walked again.
struct RefusedAccess {
  bool waits = false;         // from the refusal to its issue
  uint32_t entries_kept = 0;  // in the load/store unit, once it has been given room
  uint32_t num_lines = 0;     // of `lines`, the first; the others are local
  uint32_t shared_passes = 0;
  uint32_t shared_passes_min = 0;
  std::vector<LineAccess> lines;

  std::span<const LineAccess> global() const { return std::span(lines).first(num_lines); }
  std::span<const LineAccess> local() const { return std::span(lines).subspan(num_lines); }
  void Keep(const CoalescedAccess& access);
  void Restore(CoalescedAccess* access) const;
};

inline constexpr uint32_t kMaxIbuffer = 16;  // entries of a warp's instruction buffer

// Why a warp is neither a candidate nor asleep.
enum class Blocked : uint8_t { kNo, kCounters, kStores, kGroups, kBarrier, kDrain, kLsu };

struct Warp {
  bool active = false;
  bool has_next = false;
  bool arrived = false;     // counted at `barrier`, which its CTA is collecting for
  bool at_barrier = false;  // waits for it
  uint8_t barrier = 0;
  uint16_t only_arrived = 0;  // barriers at which BAR.ARV counted it, until they open
  Blocked blocked = Blocked::kNo;
  WarpState state = WarpState::kNotSelected;
  WarpState hold_reason = WarpState::kWait;  // of the cycles before hold_until
  uint32_t cta = 0;                          // CTA slot in the SM
  uint32_t kernel = 0;                       // run index
  Cycle since = 0;                           // `state` began
  // Cycles from `since` to here count as hold_reason, whatever the state: the fixed part of a wait.
  Cycle hold_until = 0;
  Cycle launched = 0;
  DynInst next;
  LaneMask resident_lanes = 0;  // every lane that was active so far
  std::unique_ptr<WarpCursor> cursor;
  const KernelCode* code = nullptr;
  KernelSmStats* stats = nullptr;
  PcCounters* profile = nullptr;  // table of the kernel on this host thread; null when nobody asked
  PcCounters* profile_row = nullptr;

  DependenceCounters counters;
  AsyncCopyGroups groups;
  uint32_t pending_events = 0;  // releases and results to come: the warp's slot is not free before
  uint32_t pending_loads = 0;
  uint32_t pending_stores = 0;
  RefusedAccess refused;
  bool wait_stores = false;  // MEMBAR: until every store is acknowledged

  // Instruction supply.
  uint64_t code_line = ~uint64_t{0};           // of the last instruction fetched
  std::array<Cycle, kMaxIbuffer> issued_at{};  // of the last instructions, by count mod kMaxIbuffer
  uint64_t issued = 0;
  Cycle fetch_floor = 0;        // nothing is fetched before: start, last redirect
  bool constant_ready = false;  // the next instruction's constant operand has been seen

  // Closed cycles of what the next instruction needs when the warp became a candidate (BusyTime).
  Cycle candidate_since = 0;
  Cycle closed_pipe = 0;
  Cycle closed_issue = 0;

  LocalWindow local;
  std::vector<ClockReaders> clock_readers;  // disjoint lanes

  const SmInst& inst() const { return code->insts[next.static_id]; }
};

// What a warp waits for whose next instruction's pipe or queue takes nothing.
inline WarpState ThrottleOf(const SmInst& inst) {
  if (inst.unit == ExecUnit::kTexture) return WarpState::kTexThrottle;
  if (inst.path != IssuePath::kMemory) return WarpState::kMathPipeThrottle;
  return inst.long_latency ? WarpState::kLgThrottle : WarpState::kMioThrottle;
}

// Ends the present state at `at` and begins another.
void SetState(Warp* warp, WarpState state, Cycle at);

}  // namespace sm89
