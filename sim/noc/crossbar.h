// Reservation crossbar between SMs and L2 slices: a latency for each (SM, slice) pair plus the time that a
// packet occupies the ports that it passes: its SM's, the one that the SMs of a GPC share, its slice's. No
// flits: a published comparison puts the effect of a low-detail interconnect below 1 % mean error
// (core-model.md 3.1).
//
// The latencies follow what is measured on an L40, the same die (arXiv 2606.22588): a round trip is a mean
// plus a term of the SM plus a term of the slice (87 % of the variance), a term that depends on whether SM
// and slice lie in one half of the die (11 %) and a remainder (2 %); the SM's term repeats in both halves.
// Which SM and slice has which is different on each die and not known for any; here it comes from their
// numbers alone (assumption).
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

  // One-way latency of an unloaded network.
  uint32_t RequestLatency(uint32_t sm, uint32_t slice) const { return Pair(sm, slice).request; }
  uint32_t ReplyLatency(uint32_t slice, uint32_t sm) const { return Pair(sm, slice).reply; }
  // Smallest of all one-way latencies: the bound of the look-ahead window.
  uint32_t MinLatency() const { return min_latency_; }
  // Which shared port an SM uses; pairs of SMs (TPCs) go round the ports. 0 where there is none.
  uint32_t GpcPort(uint32_t sm) const { return gpc_ports_ == 0 ? 0 : sm / 2 % gpc_ports_; }

  // Reserves the SM's and its GPC's output port from `now`; returns the arrival cycle at the slice.
  Cycle SendRequest(const MemRequest& request, Cycle now, uint32_t slice, NocStats* stats);
  // Reserves the slice's output port from `ready`; returns the arrival cycle at the GPC's input port.
  Cycle SendReply(Cycle ready, uint32_t slice, uint32_t sm, uint32_t bytes, NocStats* stats);
  // Reserves the GPC's and the SM's input port, in order of arrival; returns when the last byte is in.
  Cycle ReceiveReply(Cycle arrival, uint32_t sm, uint32_t bytes, NocStats* stats);

 private:
  struct Latency {
    uint16_t request = 0;
    uint16_t reply = 0;
  };

  const Latency& Pair(uint32_t sm, uint32_t slice) const {
    return latencies_[size_t{sm} * num_slices_ + slice];
  }
  void FillTable(const NocConfig& config, uint32_t num_sms);
  // Both return when the packet starts to pass.
  Cycle Reserve(Cycle* free, Cycle at, uint32_t bytes, uint32_t port_bytes, uint64_t* wait_cycles) const;
  Cycle ReserveShared(uint64_t* free, Cycle at, uint32_t bytes, uint64_t* wait_cycles) const;

  uint32_t num_slices_;
  uint32_t gpc_ports_, gpc_sectors_, gpc_cycles_;
  uint32_t sm_request_bytes_, sm_port_bytes_, slice_port_bytes_, packet_bytes_;
  uint32_t min_latency_ = 0;
  std::vector<Latency> latencies_;
  std::vector<Cycle> sm_out_free_, sm_in_free_, slice_out_free_;
  std::vector<uint64_t> gpc_out_free_, gpc_in_free_;  // in parts of a cycle: what one byte takes of a port
};

}  // namespace sm89
