// Reservation crossbar between SMs and L2 slices: a latency for each (SM, slice) pair plus the time that a
// packet occupies the port it leaves and the port it enters. No flits: a published comparison puts the effect
// of a low-detail interconnect below 1 % mean error (core-model.md 3.1).
#pragma once

#include <cstdint>
#include <vector>

#include "sim/base/types.h"
#include "sim/config/gpu_config.h"
#include "sim/link/mem_message.h"
#include "sim/stats/sim_stats.h"

namespace sm89 {

class Crossbar {
 public:
  Crossbar(const NocConfig& config, uint32_t num_sms, uint32_t num_slices);

  // One-way latency of an unloaded network. The spread over (SM, slice) is additive, a(SM) + b(slice), and
  // evenly filled: an assumption; only its range is measured (222..339 round trip on an L40, the same die).
  uint32_t RequestLatency(uint32_t sm, uint32_t slice) const;
  uint32_t ReplyLatency(uint32_t slice, uint32_t sm) const;
  // Smallest of all one-way latencies: the bound of the look-ahead window.
  uint32_t MinLatency() const;

  // Reserves the SM's output port; returns the arrival cycle at the slice.
  Cycle SendRequest(const MemRequest& request, uint32_t slice, NocStats* stats);
  // Reserves the slice's output port from `ready`; returns the arrival cycle at the SM's input port.
  Cycle SendReply(Cycle ready, uint32_t slice, uint32_t sm, uint32_t bytes, NocStats* stats);
  // Reserves the SM's input port, in order of arrival; returns when the last byte is in.
  Cycle ReceiveReply(Cycle arrival, uint32_t sm, uint32_t bytes, NocStats* stats);

 private:
  Cycle Reserve(Cycle* free, Cycle at, uint32_t bytes, uint32_t port_bytes, uint64_t* wait_cycles) const;

  NocConfig config_;
  std::vector<int32_t> sm_offset_, slice_offset_;
  std::vector<Cycle> sm_out_free_, sm_in_free_, slice_out_free_;
};

}  // namespace sm89
