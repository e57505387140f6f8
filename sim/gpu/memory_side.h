// Everything behind the SMs: crossbar, L2 slices, DRAM channels, driven by event wheels. Runs in one thread
// beside a window of the SMs, on what the one before sent; its order of events is a function of the requests
// alone.
//
// Two times run here. Requests leave the SMs up to the window's end; what they meet at the slices is known
// already, because the slices are ahead by the smallest one-way latency. So a request that finds no place at
// its slice is held at its SM, with everything behind it, exactly until there is one.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "sim/base/line_map.h"
#include "sim/base/slot_pool.h"
#include "sim/base/types.h"
#include "sim/config/gpu_config.h"
#include "sim/link/event_wheel.h"
#include "sim/link/mem_message.h"
#include "sim/mem/address_map.h"
#include "sim/mem/atomic_unit.h"
#include "sim/mem/dram_channel.h"
#include "sim/mem/l2_compression.h"
#include "sim/mem/l2_prefetcher.h"
#include "sim/mem/l2_slice.h"
#include "sim/mem/ring.h"
#include "sim/mem/slice_parts.h"
#include "sim/noc/crossbar.h"
#include "sim/stats/sim_stats.h"
#include "sim/stats/slice_load.h"

namespace sm89 {

struct MemorySideStats {
  NocStats noc;
  L2Stats l2;
  DramStats dram;
};

class MemorySide {
 public:
  explicit MemorySide(const GpuConfig& config);

  // Kernel `index` exists from now on; indices are dense.
  void AddKernel();
  // Its loads are known: the counters by slice are let go.
  void FinishKernel(uint32_t kernel);
  SliceLoad slice_load(uint32_t kernel) const;

  // Requests of one SM; each is sent at its cycle, those of one cycle in the order given.
  void Submit(std::vector<MemRequest>* requests);
  // Sends the requests of cycles before `horizon` less the smallest latency and handles every event before
  // `horizon`; replies are appended to inboxes[sm], each in order of arrival.
  void RunUntil(Cycle horizon, std::vector<std::vector<MemReply>>* inboxes);
  // Cycle of the next event, for a request still to be sent its earliest arrival; kNever when nothing is
  // under way.
  Cycle NextEvent() const;
  // MemcpyHtoD: the last bytes of the copy stay in the L2 (dirty, as a copy engine's writes are).
  // Returns the number of lines walked: the host's work.
  uint64_t CopyFromHost(uint64_t address, uint64_t bytes);

  const Crossbar& crossbar() const { return crossbar_; }
  const MemorySideStats& kernel_stats(uint32_t kernel) const { return kernels_[kernel]; }
  const L2Stats& host_copy_stats() const { return host_copies_; }
  const std::vector<L2Stats>& slice_stats() const { return slice_stats_; }
  const std::vector<DramStats>& channel_stats() const { return channel_stats_; }
  // Every queue that holds something, with its oldest entry, for the watchdog.
  std::string DescribeQueues() const;

 private:
  enum class EventKind : uint8_t { kReady, kAtSm, kFill, kDram };
  struct Event {
    EventKind kind = EventKind::kReady;
    uint32_t index = 0;  // request, fill or channel
  };
  struct InFlight {
    MemRequest request;
    Cycle arrived = 0;   // at the slice
    Cycle earliest = 0;  // answer not before: its own look-up's time
    uint32_t slice = 0;
    uint32_t next = 0;    // next request held at the SM, or waiting for the same line
    uint32_t last = 0;    // of the first that waits for a line: the last one
    uint8_t waiting = 0;  // sectors not yet there
    uint8_t hits = 0;     // reads: sectors that were there
    bool used = false;
    bool compressed = false;  // its line
    uint32_t join = kNil;     // of a request that two slices answer
  };
  // Of a read: sectors asked for, and those of them that the L2 had.
  struct Answer {
    uint8_t sectors = 0;
    uint8_t hits = 0;
  };
  // Parts of a request that are still to be answered.
  struct Join {
    uint32_t left = 0;
    Answer so_far = {};
  };
  struct PendingFill {
    uint64_t line = 0;
    uint32_t slice = 0;
    uint32_t way = 0;
    uint8_t mask = 0;
  };
  struct Counted {
    uint64_t busy_cycles = 0;
    uint64_t refreshes = 0;
  };
  struct DueSend {
    uint16_t sm = 0;
    uint32_t order = 0;  // among those of this cycle, as submitted
    uint32_t index = 0;

    friend auto operator<=>(const DueSend&, const DueSend&) = default;
  };
  // Requests that an SM holds, the first because its slice takes no more.
  struct Held {
    uint32_t first = kNil;
    uint32_t last = kNil;
    uint32_t count = 0;
  };
  struct SliceState {
    uint64_t free_hundredths = 0;  // of a cycle: when the data array takes the next request
    uint32_t outstanding = 0;      // sent, and not known to have started
    bool credit_pending = false;   // in credits_
    Ring<Cycle> starts;            // of requests looked up that senders still count
    Ring<uint16_t> held_sms;       // in the order in which they came
    Ring<uint32_t> blocked;        // requests waiting for an MSHR, a way or room for a write-back
    LineMap waiters;               // line -> first request of its chain
    AtomicUnit atomics;
  };

  static constexpr uint32_t kNil = ~0u;
  static constexpr uint32_t kNearSpanLog2 = 10;  // of wheels whose events lie some hundred cycles ahead

  void FreeRequest(uint32_t index);
  // Splits a request whose line lies in two slices.
  void SubmitParts(const MemRequest& request);
  void Send(const MemRequest& part, bool compressed, uint32_t join);
  // The senders' side.
  void RunSends(Cycle until);
  void RunCredits(Cycle until);
  void HandleSend(uint32_t index, Cycle now);
  bool TrySend(uint32_t index, Cycle now);
  void HandleCredit(uint32_t slice, Cycle now);
  void ExpectCredit(uint32_t slice);
  // The slices' and the DRAM's.
  void Handle(const Event& event, Cycle now, std::vector<std::vector<MemReply>>* inboxes);
  void HandleArrive(uint32_t index, Cycle now);
  // Takes the slice's next slot at or after `now`. False: it must wait for a fill or a write to leave.
  bool Access(uint32_t index, Cycle now);
  // For how long a request occupies its slice's data array.
  uint64_t BusyHundredths(const InFlight& in_flight) const;
  void NoteStart(uint32_t slice, Cycle start);
  Cycle ReadyAt(uint32_t index, Cycle data);
  void AddWaiter(SliceState* state, uint32_t index);
  void HandleFill(uint32_t index, Cycle now);
  void RetryBlocked(uint32_t slice, Cycle now);
  void HandleReady(uint32_t index, Cycle now);
  void HandleAtSm(uint32_t index, Cycle now, std::vector<std::vector<MemReply>>* inboxes);
  void HandleDram(uint32_t channel, Cycle now);
  void PushFill(const DramJob& job, Cycle at);
  void ReadFromDram(const MemRequest& request, bool compressed, const L2Outcome& outcome, Cycle at);
  void NoteSaving(uint32_t kernel, uint32_t slice, uint32_t plain_sectors, uint32_t moved_sectors);
  // The line is compressed, and the request gets what it asks for decompressed.
  static bool ReadsCompressed(const InFlight& in_flight) {
    return in_flight.compressed && in_flight.request.kind == MemRequestKind::kRead;
  }
  void RunPrefetcher(const MemRequest& request, uint32_t slice, Cycle at);
  void WriteToDram(const L2Outcome& outcome, uint32_t kernel, Cycle at);
  void EnqueueDram(const DramJob& job, uint32_t slice, Cycle at);
  uint32_t ReplyBytes(const InFlight& in_flight) const;
  void FillFromHost(uint64_t line, uint8_t mask);
  std::string DescribeSlice(uint32_t slice) const;

  GpuConfig config_;
  AddressMap map_;
  L2Compression compression_;
  Crossbar crossbar_;
  EventWheel<uint32_t> sends_{kNearSpanLog2};    // requests that leave their SM
  EventWheel<uint32_t> credits_{kNearSpanLog2};  // slices that have a place again for a held request
  std::vector<uint32_t> due_credits_;
  std::vector<DueSend> due_sends_;
  Cycle sent_until_ = 0;
  EventWheel<uint32_t> arrivals_{kNearSpanLog2};  // requests that reach their slice
  EventWheel<Event> wheel_;
  std::vector<Held> held_;  // an SM each
  std::vector<L2Slice> slices_;
  std::vector<L2Prefetcher> prefetchers_;  // a slice each; empty: none
  std::vector<SliceState> slice_states_;
  std::vector<DramChannel> channels_;
  std::vector<Cycle> channel_wake_;
  std::vector<std::vector<uint32_t>> slices_of_channel_;
  SlotPool<InFlight> requests_;
  SlotPool<Join> joins_;
  SlotPool<PendingFill> fills_;
  std::vector<MemorySideStats> kernels_;
  std::vector<std::vector<uint64_t>> sectors_by_slice_;  // by kernel, until it has finished
  std::vector<SliceLoad> slice_loads_;                   // by kernel, then
  L2Stats host_copies_;
  std::vector<L2Stats> slice_stats_;
  std::vector<DramStats> channel_stats_;
  std::vector<Counted> counted_;  // of channel_stats_, in kernels_ too
};

}  // namespace sm89
