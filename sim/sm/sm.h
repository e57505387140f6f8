// One streaming multiprocessor: four sub-cores, resident CTAs and warps, the shared load/store unit. Runs
// alone from one window border to the next; everything it exchanges with the rest of the GPU goes through
// its inbox and outbox.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "sim/base/types.h"
#include "sim/config/gpu_config.h"
#include "sim/link/event_wheel.h"
#include "sim/link/mem_message.h"
#include "sim/sm/constant_cache.h"
#include "sim/sm/exec_units.h"
#include "sim/sm/instruction_cache.h"
#include "sim/sm/kernel_code.h"
#include "sim/sm/load_store_unit.h"
#include "sim/sm/refusal_queue.h"
#include "sim/sm/register_file.h"
#include "sim/sm/ser_stage.h"
#include "sim/sm/warp.h"
#include "sim/sm/warp_scheduler.h"
#include "sim/trace/trace_source.h"

namespace sm89 {

// What a CTA takes of an SM, in allocation units.
struct CtaNeeds {
  uint32_t threads = 0;
  uint32_t warps = 0;
  uint32_t registers_per_warp = 0;
  uint32_t shmem_bytes = 0;   // reserved bytes included
  uint32_t carveout_kib = 0;  // shared-memory carve-out that the kernel prefers
};

struct CtaLaunch {
  uint32_t kernel = 0;  // run index
  const KernelCode* code = nullptr;
  CtaNeeds needs;
  std::unique_ptr<CtaTrace> trace;
  Cycle at = 0;  // first issue not before
};

struct FinishedCta {
  uint32_t kernel = 0;
  Cycle cycle = 0;
};

// A clock read, or one step of some lanes from one clock read to the next.
struct ClockSample {
  uint32_t kernel = 0;   // run index
  uint32_t threads = 0;  // 0: a read; else lanes that took the step
  uint32_t pc_first = 0;
  uint32_t pc_second = 0;
  uint64_t cycles = 0;
};

class IssueObserver;  // warp_view.h
struct WarpView;

class Sm {
 public:
  Sm(const GpuConfig& config, uint16_t id);
  Sm(const Sm&) = delete;
  Sm& operator=(const Sm&) = delete;

  bool CanHost(const CtaNeeds& needs) const;
  // Takes the resources at once; the warps begin at launch.at.
  void Launch(CtaLaunch launch);

  // Simulates [begin, end). Replies in `inbox` arrive before `end` or are kept for later.
  void Run(Cycle begin, Cycle end, std::vector<MemReply>* inbox);
  // Next cycle >= `now` at which something happens here without outside help; kNever: only replies help.
  Cycle NextEvent(Cycle now) const;

  std::vector<MemRequest>& outbox() { return lsu_.outbox(); }
  std::vector<FinishedCta>& finished() { return finished_; }
  // Of this window, in the order of issue.
  std::vector<ClockSample>& clock_samples() { return clock_samples_; }
  // Counters by instruction go into tables[run index], which must have its final size before the kernel's
  // first CTA; null: nobody asked.
  void set_profiles(std::vector<std::unique_ptr<PcProfile>>* tables) { profiles_ = tables; }
  // Decisions of the reordering stage are kept for ser_records(); without the stage there are none.
  void set_ser_recording(bool on) {
    if (ser_ != nullptr) ser_->set_recording(on);
  }
  // Of this window, in order; null without the stage.
  std::vector<SerRecord>* ser_records() { return ser_ == nullptr ? nullptr : &ser_->records(); }
  // Gets every instruction as it issues, in the order of time; null: nobody asked.
  void set_observer(IssueObserver* observer) { observer_ = observer; }
  bool idle() const { return num_ctas_ == 0; }
  // Not OK once a warp's trace could not be read to its end (DATA_LOSS).
  const absl::Status& trace_status() const { return trace_status_; }
  // Some warp sleeps until a cycle that is already known.
  bool has_sleepers() const;
  // Warp instructions issued so far.
  uint64_t issued() const { return issued_; }
  // Replies that arrived so far. With issued() the watchdog's sign of life.
  uint64_t replies() const { return replies_; }

  // Adds this SM's statistics of a kernel up to cycle `now`.
  void AddStats(uint32_t kernel, Cycle now, SimStats* out) const;
  // Adds to a kernel's profile the states that its warps are in up to cycle `now`: set_profiles' tables have
  // them only once they change.
  void AddOpenStates(uint32_t kernel, Cycle now, PcProfile* out) const;
  // Adds executed instructions of guessed opcodes, by place in KernelCode::guessed.
  void AddGuessed(uint32_t kernel, std::vector<uint64_t>* executed) const;
  // The kernel has ended: its statistics here are dropped.
  void DropStats(uint32_t kernel);
  // Resident warps by the WarpState that cycle `now` counts, added to `warps`.
  void CountStates(Cycle now, std::array<uint64_t, kNumWarpStates>* warps) const;
  // One line a resident warp: kernel, CTA, warp, pc, what it waits for, counters; then the queues and the
  // CTAs that have not begun.
  std::string DescribeWarps(Cycle now, uint32_t max_lines) const;
  // Everything that holds warps or CTAs back, a line each. `name_run` names a kernel run by its index; null:
  // "launch 1".
  std::string DescribeQueues(const std::function<std::string(uint32_t run)>& name_run = nullptr) const;
  uint32_t num_slots() const { return static_cast<uint32_t>(warps_.size()); }
  // The warp in `slot`, if one is, as it is at the begin of cycle `now`, up to which this SM has run.
  std::optional<WarpView> View(uint32_t slot, Cycle now) const;

 private:
  static constexpr uint32_t kNumBarriers = 16;
  struct Barrier {
    uint16_t arrived = 0;   // warps
    uint16_t expected = 0;  // 0 = every live warp of the CTA and those that only arrived before they ended
    uint16_t ended = 0;     // the latter
  };
  struct Cta {
    bool active = false;
    uint32_t kernel = 0;
    uint32_t live_warps = 0;
    std::array<Barrier, kNumBarriers> barriers{};
    Dim3 id;
    CtaNeeds needs;
    std::unique_ptr<CtaTrace> trace;
    std::vector<uint32_t> warps;  // slots
  };
  struct SubCore {
    SubCore(const GpuConfig& config, BusyTime* shared_fp64, InstructionL1* instruction_l1,
            ConstantL1* constant_l1);

    WarpScheduler scheduler;
    ExecUnits units;
    RegisterFile registers;
    InstructionL0 instructions;
    ConstantL0 constants;
    BusyTime issue;         // the issue port
    BusyTime memory_queue;  // the sub-core's memory queue and latch
    RefusalQueue memory_refused;
    RefusalQueue sfu_refused;
    std::array<uint32_t, kNumPipes> next_pipe{};  // warps by the pipe of their next instruction
    uint32_t next_memory = 0;                     // warps whose next instruction needs the memory queue
    Cycle next_event = kNever;
    Cycle issued_at = kNever;  // last use of the issue slot
    uint32_t free_warps = 0;
    uint32_t free_registers = 0;
  };
  struct PendingLaunch {
    CtaLaunch launch;
    uint32_t slot = 0;
  };
  enum class EventKind : uint8_t {
    kCounter,    // a dependence counter falls
    kAsyncCopy,  // LDGSTS data has reached shared memory
  };
  struct LocalEvent {
    uint16_t warp = 0;
    EventKind kind = EventKind::kCounter;
    uint8_t counter = 0;
    RegRange result;  // kCounter: registers written when it falls
    uint32_t group = 0;
  };
  // What a warp issued last.
  struct Previous {
    static constexpr uint32_t kInstructionBytes = 16;

    uint32_t pc = 0;
    bool branches = false;  // with lanes that take it
    bool start = false;     // nothing yet

    bool Redirects(uint32_t next_pc) const {
      return !start && (branches || next_pc != pc + kInstructionBytes);
    }
  };
  // When an issued instruction's operands are read and its result is there.
  struct Outcome {
    Cycle released = 0;
    Cycle ready = 0;
    bool pending = false;  // a reply tells
  };

  // Where an instruction issues: at home, or where the reordering stage has it go.
  struct IssuePlace {
    uint32_t sub = 0;
    Cycle extra = 0;     // operands and results later by so much
    bool rides = false;  // in the slot of another warp's instruction
  };
  struct SerChoice {
    uint32_t target = 0;  // sub-core
    uint32_t joins = 0;   // warp slot
    SerReason reason = SerReason::kBranchDiv;
    bool issued = false;
  };

  // What a cycle counts of a warp that does not issue in it.
  struct StateNow {
    WarpState state = WarpState::kNotSelected;
    Cycle since = 0;       // for a throttle: the warp wants to issue since then
    Cycle until = kNever;  // kNever: until an event that has no known cycle
  };
  StateNow StateAt(uint32_t slot, Cycle now) const;
  // The queue of refusals that the warp's next instruction stands in, or would; null: none.
  const RefusalQueue* RefusalsOf(uint32_t slot) const;

  uint32_t SubOf(uint32_t slot) const { return slot % num_sub_cores_; }
  uint32_t IndexInSub(uint32_t slot) const { return slot / num_sub_cores_; }
  uint32_t FirstSubCore() const;
  uint32_t NeededIn(const CtaNeeds& needs, uint32_t first, uint32_t sub) const;
  KernelSmStats* StatsOf(uint32_t kernel);
  void StartCta(const CtaLaunch& launch, uint32_t slot);
  void StartWarp(uint32_t slot, uint32_t cta, const CtaLaunch& launch, std::unique_ptr<WarpCursor> cursor);
  void FinishWarp(uint32_t slot, Cycle now);
  void FinishCta(uint32_t cta, Cycle now);

  void Deliver(const MemReply& reply, Cycle now);
  void Handle(const LocalEvent& event, Cycle now);
  void PushCounter(uint32_t slot, uint32_t counter, Cycle at, const RegRange& result = {});
  void LowerCounter(uint32_t slot, uint32_t counter, Cycle now);
  // An LDGSTS has its data from `loaded` on; its group is done when shared memory has it too.
  // Returns the cycle in which shared memory has it.
  Cycle ScheduleAsyncCopy(uint32_t slot, uint32_t group, Cycle loaded);
  // Counters of complete groups, oldest first, fall.
  void FinishGroups(uint32_t slot, Cycle now);

  void Step(uint32_t sub, Cycle now);
  void BecomeCandidate(uint32_t slot, Cycle now);
  // Candidates whose pipe or queue takes an instruction at `now`; lowers *retry to when another may.
  uint32_t Ready(SubCore* sub, Cycle now, Cycle* retry) const;
  bool TryIssue(uint32_t slot, Cycle now);
  bool ConstantReady(uint32_t slot, Cycle now);
  bool MemoryHasRoom(uint32_t slot, Cycle now);
  // MSHRs or write buffers have become free: warps that were refused may issue from `from` on, in the order
  // of their refusal, each with the entries kept that it needs.
  void GiveRoom(Cycle from);
  void Issue(uint32_t slot, Cycle now, const IssuePlace& place);
  void TellObserver(uint32_t slot, Cycle now, const IssuePlace& place) const;
  void CountIssue(Warp* warp, uint32_t home, const IssuePlace& place, Cycle now);
  Outcome IssueFixed(uint32_t slot, Cycle now, const IssuePlace& place);
  Outcome IssueVariable(uint32_t slot, Cycle now);
  Outcome IssueMemory(uint32_t slot, Cycle now, const IssuePlace& place);
  // The reordering stage (sm_ser.cc), where the configuration has it.
  void NoteSer(const Warp& warp, uint32_t slot, Cycle now);
  bool SerDiverged(const Warp& warp) const;
  void IssueWithRiders(uint32_t slot, Cycle now);
  void CountSer(uint32_t slot, const SerChoice& choice, Cycle now);
  uint32_t IdleSubCoreFor(const Warp& warp, uint32_t home, Cycle now) const;
  void Redirect(Cycle now);
  void RaiseCounters(uint32_t slot, const Outcome& outcome, Cycle now);
  // Effects of a control instruction; the warp issues no more before the cycle returned, for *reason.
  Cycle IssueControl(uint32_t slot, Cycle now, WarpState* reason);
  void ReadClock(Warp* warp, Cycle now);
  // Takes the warp's next instruction, which issues at `earliest` or later, and puts the warp to sleep, among
  // the blocked, or to rest.
  void Advance(uint32_t slot, Cycle now, Cycle earliest, WarpState reason);
  // Cycle from which the next instruction is in the buffer.
  Cycle FetchNext(Warp* warp, SubCore* sub, const Previous& previous, Cycle now);
  // The warp issues no more before `until`, which counts as `reason` from `now` on.
  void Hold(uint32_t slot, Cycle now, Cycle until, WarpState reason);
  // Sleeps until hold_until or blocks, by what the next instruction waits for; it may issue from `from` on.
  void Reschedule(uint32_t slot, Cycle from);
  void Block(uint32_t slot, Blocked why, WarpState state, Cycle now);
  void SleepUntil(uint32_t slot, Cycle from, Cycle wake);
  void SetNext(uint32_t slot, bool present);
  uint32_t ExpectedAt(const Cta& cta, const Barrier& barrier) const {
    return barrier.expected != 0 ? barrier.expected : cta.live_warps + barrier.ended;
  }
  void CheckBarrier(uint32_t cta, uint32_t barrier, Cycle from);
  void ReleaseBarrier(uint32_t cta, uint32_t barrier, Cycle from);
  void Touch(uint32_t sub, Cycle cycle);

  GpuConfig config_;
  uint16_t id_;
  uint32_t num_sub_cores_;
  LoadStoreUnit lsu_;
  BusyTime fp64_;
  Cycle barrier_free_ = 0;  // the next arrival at a barrier is taken
  InstructionL1 instruction_l1_;
  ConstantL1 constant_l1_;
  std::vector<SubCore> subs_;
  std::vector<Warp> warps_;
  std::vector<bool> reserved_;  // warp slots of resident CTAs, ended warps included
  std::vector<Cta> ctas_;
  std::deque<PendingLaunch> launches_;  // not yet begun, by cycle
  uint32_t num_ctas_ = 0;
  uint32_t used_threads_ = 0;
  uint32_t used_shmem_bytes_ = 0;
  uint32_t carveout_kib_ = 0;
  std::vector<uint32_t> cached_kernels_;  // run indices of CTAs since the caches were emptied
  uint32_t first_sub_ = 0;                // steps first in a cycle
  uint64_t issued_ = 0;
  uint64_t replies_ = 0;
  absl::Status trace_status_;
  std::array<std::deque<uint32_t>, kNumRoomPools> room_queues_;  // refused warps, in the order of refusal
  EventWheel<LocalEvent> local_events_{10};
  std::vector<Completion> completions_;
  std::vector<FinishedCta> finished_;
  std::vector<ClockSample> clock_samples_;
  std::vector<std::pair<uint32_t, std::unique_ptr<KernelSmStats>>> stats_;
  std::vector<std::unique_ptr<PcProfile>>* profiles_ = nullptr;
  IssueObserver* observer_ = nullptr;
  std::unique_ptr<SerStage> ser_;  // null: off
  CoalescedAccess access_;         // of the instruction being tried
  SharedPassMemo shared_passes_;
};

}  // namespace sm89
