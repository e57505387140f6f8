// One resident warp: where it is in its trace, what it waits for, when its registers are ready.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "sim/base/types.h"
#include "sim/sm/coalescer.h"
#include "sim/sm/kernel_code.h"
#include "sim/stats/sim_stats.h"
#include "sim/trace/trace_source.h"

namespace sm89 {

// What a resident warp does in a cycle, Nsight Compute's categories. Each has its counter in SmStats.
enum class WarpState : uint8_t {
  kSelected,
  kNotSelected,
  kLongScoreboard,
  kShortScoreboard,
  kWait,
  kMathPipeThrottle,
  kMioThrottle,
  kLgThrottle,
  kBarrier,
  kMembar,
  kBranchResolving,
  kSleeping,
  kDrain,
};
uint64_t SmStats::*CounterOf(WarpState state);

// The statistics of one kernel on one SM.
struct KernelSmStats {
  SmStats sm;
  L1Stats l1;
  std::vector<uint64_t> guessed;  // executed, by place in KernelCode::guessed
  uint32_t resident_ctas = 0;
  Cycle active_since = 0;
};

// LDGSTS groups of a warp: LDGDEPBAR closes the open one, DEPBAR.LE n waits for all but the last n closed.
class AsyncCopyGroups {
 public:
  uint32_t open_group() const { return open_; }
  void Add() { ++pending_[open_ % kMax]; }
  void Close();
  // False when one more group would not fit: the warp waits first.
  bool CanClose() const { return open_ - oldest_ < kMax - 1; }
  void Complete(uint32_t group);
  // True when every closed group but the last `allowed` is complete.
  bool Drained(uint32_t allowed) const;

  static constexpr uint32_t kMax = 64;  // groups under way (assumption: more than any compiler emits)

 private:
  void DropComplete();

  std::array<uint16_t, kMax> pending_{};
  uint32_t open_ = 0;
  uint32_t oldest_ = 0;
};

// Lanes that read the clock last at `pc`, all in one instruction.
struct ClockReaders {
  LaneMask lanes = 0;
  uint32_t pc = 0;
  Cycle cycle = 0;  // of its issue: the value that they read
};

struct Warp {
  bool active = false;
  bool has_next = false;
  bool at_barrier = false;
  bool arrived = false;  // counted at the barrier that its CTA is collecting for
  WarpState state = WarpState::kNotSelected;
  uint32_t cta = 0;  // CTA slot in the SM
  uint64_t age = 0;  // launch order in the SM; higher = younger
  Cycle since = 0;   // `state` began
  Cycle launched = 0;
  DynInst next;
  std::unique_ptr<WarpCursor> cursor;
  const KernelCode* code = nullptr;
  KernelSmStats* stats = nullptr;
  uint32_t kernel = 0;  // run index

  // Dependences.
  Cycle issue_after = 0;  // control flow, fences, sleep
  WarpState issue_after_reason = WarpState::kWait;
  Cycle predicate_ready = 0;
  uint32_t pending_loads = 0;
  uint32_t pending_stores = 0;
  bool wait_stores = false;  // MEMBAR: until every store is acknowledged
  int64_t wait_groups = -1;  // DEPBAR: allowed groups under way; -1 = none
  AsyncCopyGroups groups;
  std::vector<Cycle> register_ready;       // by slot; kNever = on its way
  std::vector<WarpState> register_reason;  // what a reader of the slot waits for
  LocalWindow local;
  std::vector<ClockReaders> clock_readers;  // disjoint lanes

  const SmInst& inst() const { return code->insts[next.static_id]; }
};

// Ends the present state at `at` and begins another.
void SetState(Warp* warp, WarpState state, Cycle at);

// When the next instruction may issue as far as dependences go.
struct Readiness {
  bool blocked = false;  // until an event (reply, barrier, acknowledgement)
  Cycle ready = 0;
  WarpState reason = WarpState::kWait;
};
Readiness DependencesOf(const Warp& warp, Cycle now);

// Result registers of an issued instruction.
void SetDestinations(Warp* warp, const SmInst& inst, Cycle ready, WarpState reason);

}  // namespace sm89
