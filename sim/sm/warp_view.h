// What an SM shows of its warps and of what they issue: for debuggers. Nothing here is kept by the model.
#pragma once

#include <array>
#include <cstdint>

#include "sim/base/types.h"
#include "sim/sm/kernel_code.h"
#include "sim/stats/pc_profile.h"
#include "sim/trace/trace_source.h"

namespace sm89 {

// One warp instruction in the cycle of its issue, before its effects.
struct IssuedInst {
  Cycle cycle = 0;
  uint64_t number = 0;  // of the warp's instructions, from 0
  Dim3 cta;
  uint32_t kernel = 0;  // run index
  uint32_t warp = 0;    // in its CTA
  uint32_t slot = 0;    // in the SM
  uint16_t sm = 0;
  uint8_t sub_core = 0;  // where it issues
  bool rides = false;    // in another warp's issue slot (the reordering stage)
  const DynInst* inst = nullptr;
  const SmInst* code = nullptr;
  const KernelCode* kernel_code = nullptr;
};

class IssueObserver {
 public:
  virtual ~IssueObserver() = default;
  virtual void Issued(const IssuedInst& issued) = 0;
  // Behind each cycle in which an SM did anything, all SMs together. True: the simulation pauses there.
  virtual bool PauseAfter(Cycle cycle) = 0;
};

// A resident warp at the begin of a cycle.
struct WarpView {
  struct Counter {
    uint32_t value = 0;
    WarpState reason = WarpState::kNotSelected;  // of who waits for it
  };

  Dim3 cta;
  uint32_t kernel = 0;  // run index
  uint32_t warp = 0;    // in its CTA
  uint32_t slot = 0;    // in the SM
  uint32_t sub_core = 0;
  LaneMask resident_lanes = 0;  // every lane that was active so far
  uint64_t issued = 0;          // instructions
  Cycle issued_at = kNever;     // the last of them; kNever: none yet
  // The next instruction; false: it has none and waits for what is under way. The shape stays valid until it
  // issues.
  bool has_next = false;
  DynInst next;
  const SmInst* code = nullptr;  // null without a next instruction

  // The state that this cycle counts as if the warp does not issue in it.
  WarpState state = WarpState::kNotSelected;
  Cycle since = 0;       // it began; for a throttle: the warp wants to issue since then
  Cycle until = kNever;  // it ends; kNever: with an event that has no known cycle
  std::array<Counter, kNumDependenceCounters> counters;
  // Warps that the resource of the next instruction (memory queue, special function unit) has refused before
  // this one: they get it first.
  uint32_t refused_ahead = 0;
  uint32_t loads = 0, stores = 0, events = 0;         // under way
  uint32_t memory_queued = 0, memory_queue_size = 0;  // instructions, in its sub-core
  bool at_barrier = false;
  uint32_t barrier = 0;
  uint32_t barrier_arrived = 0, barrier_expected = 0;  // warps
};

}  // namespace sm89
