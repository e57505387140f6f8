// Everything behind the SMs: crossbar, L2 slices, DRAM channels, driven by one event wheel. Runs in one
// thread between two windows of the SMs; its order of events is a function of the requests alone.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "sim/base/line_map.h"
#include "sim/base/types.h"
#include "sim/config/gpu_config.h"
#include "sim/link/event_wheel.h"
#include "sim/link/mem_message.h"
#include "sim/mem/address_map.h"
#include "sim/mem/dram_channel.h"
#include "sim/mem/l2_slice.h"
#include "sim/noc/crossbar.h"
#include "sim/stats/sim_stats.h"

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
  void AddKernel() { kernels_.emplace_back(); }

  // Requests of one SM; sent in the order of their cycles.
  void Submit(std::vector<MemRequest>* requests);
  // Handles every event before `horizon`; replies are appended to inboxes[sm], each in order of arrival.
  void RunUntil(Cycle horizon, std::vector<std::vector<MemReply>>* inboxes);
  // Cycle of the next event; kNever when nothing is under way.
  Cycle NextEvent() const { return wheel_.NextCycle(); }
  // MemcpyHtoD: the last bytes of the copy stay in the L2 (dirty, as a copy engine's writes are).
  // Returns the number of lines walked: the host's work.
  uint64_t CopyFromHost(uint64_t address, uint64_t bytes);

  const Crossbar& crossbar() const { return crossbar_; }
  const MemorySideStats& kernel_stats(uint32_t kernel) const { return kernels_[kernel]; }
  const L2Stats& host_copy_stats() const { return host_copies_; }
  const std::vector<L2Stats>& slice_stats() const { return slice_stats_; }
  const std::vector<DramStats>& channel_stats() const { return channel_stats_; }
  // One line a busy unit, for the watchdog.
  std::string DescribeQueues() const;

 private:
  enum class EventKind : uint8_t { kArrive, kReady, kAtSm, kFill, kDram };
  struct Event {
    EventKind kind = EventKind::kArrive;
    uint32_t index = 0;  // request, fill or channel
  };
  struct InFlight {
    MemRequest request;
    Cycle arrived = 0;   // at the slice
    Cycle earliest = 0;  // answer not before: its own look-up's time
    uint32_t slice = 0;
    uint32_t next = 0;    // next request waiting for the same line
    uint8_t waiting = 0;  // sectors not yet there
  };
  struct PendingFill {
    uint64_t line = 0;
    uint32_t slice = 0;
    uint8_t mask = 0;
  };
  struct SliceState {
    Cycle free = 0;
    std::deque<uint32_t> blocked;  // requests waiting for an MSHR, a way or room for a write-back
    LineMap waiters;               // line -> first request of its chain
  };

  static constexpr uint32_t kNil = ~0u;

  uint32_t NewRequest(const MemRequest& request);
  void HandleArrive(uint32_t index, Cycle now);
  // Takes the slice's next slot at or after `now`. False: it must wait for a fill or a write to leave.
  bool Access(uint32_t index, Cycle now);
  void AddWaiter(SliceState* state, uint32_t index);
  void HandleFill(uint32_t index, Cycle now);
  void RetryBlocked(uint32_t slice, Cycle now);
  void HandleReady(uint32_t index, Cycle now);
  void HandleAtSm(uint32_t index, Cycle now, std::vector<std::vector<MemReply>>* inboxes);
  void HandleDram(uint32_t channel, Cycle now);
  void ReadFromDram(uint32_t index, uint8_t mask, Cycle at);
  void WriteToDram(uint64_t line, uint8_t mask, uint32_t kernel, Cycle at);
  void EnqueueDram(const DramJob& job, uint32_t slice, Cycle at);
  uint32_t ReplyBytes(const MemRequest& request) const;

  GpuConfig config_;
  AddressMap map_;
  Crossbar crossbar_;
  EventWheel<Event> wheel_;
  std::vector<L2Slice> slices_;
  std::vector<SliceState> slice_states_;
  std::vector<DramChannel> channels_;
  std::vector<Cycle> channel_wake_;
  std::vector<InFlight> requests_;
  std::vector<uint32_t> free_requests_;
  std::vector<PendingFill> fills_;
  std::vector<uint32_t> free_fills_;
  std::vector<MemorySideStats> kernels_;
  L2Stats host_copies_;
  std::vector<L2Stats> slice_stats_;
  std::vector<DramStats> channel_stats_;
};

}  // namespace sm89
