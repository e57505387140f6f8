#include "sim/noc/crossbar.h"

#include <algorithm>

#include "sim/base/assert.h"

namespace sm89 {
namespace {

// `i`-th of `count` values spread evenly over -range..range.
int32_t Even(uint32_t i, uint32_t count, int32_t range) {
  if (count < 2) return 0;
  return static_cast<int32_t>((2 * int64_t{range} * i + (count - 1) / 2) / (count - 1)) - range;
}

// A fixed number of -range..range for each pair, without order.
int32_t Scattered(uint32_t sm, uint32_t slice, int32_t range) {
  uint64_t x = (uint64_t{sm} << 32 | slice) + 0x9E3779B97F4A7C15ull;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
  x ^= x >> 31;
  return static_cast<int32_t>((x >> 32) * static_cast<uint64_t>(2 * range + 1) >> 32) - range;
}

}  // namespace

Crossbar::Crossbar(const NocConfig& config, uint32_t num_sms, uint32_t num_slices)
    : num_slices_(num_slices),
      gpc_ports_(config.gpc_ports),
      gpc_sectors_(config.gpc_port_sectors),
      gpc_cycles_(config.gpc_port_cycles),
      sm_request_bytes_(config.sm_request_bytes),
      sm_port_bytes_(config.sm_port_bytes),
      slice_port_bytes_(config.slice_port_bytes),
      packet_bytes_(config.packet_bytes),
      sm_out_free_(num_sms, 0),
      sm_in_free_(num_sms, 0),
      slice_out_free_(num_slices, 0),
      gpc_out_free_(std::max(1u, config.gpc_ports), 0),
      gpc_in_free_(std::max(1u, config.gpc_ports), 0) {
  SM89_ASSERT(config.sm_port_bytes > 0 && config.slice_port_bytes > 0, "ports carry something each cycle");
  SM89_ASSERT(config.sm_request_bytes > 0, "ports carry something each cycle");
  SM89_ASSERT(config.gpc_port_sectors > 0 && config.packet_bytes > 0, "shared ports carry something");
  SM89_ASSERT(config.latency_spread_cycles < 2 * config.request_latency_cycles, "latency stays positive");
  SM89_ASSERT(config.latency_spread_cycles < 2 * config.reply_latency_cycles, "latency stays positive");
  FillTable(config, num_sms);
}

void Crossbar::FillTable(const NocConfig& config, uint32_t num_sms) {
  // The remainder's share of the range that gives it 2 % of the variance; what it and the halves leave of the
  // range is the SM's and the slice's in equal parts.
  const auto spread = static_cast<int32_t>(config.latency_spread_cycles);
  const int32_t remainder = spread / 10;
  const auto crossing = static_cast<int32_t>(config.crossing_cycles);
  const int32_t even = std::max(0, spread - remainder - (crossing + 1) / 2);
  // Positions of the SMs within their half: whole GPCs lie in a half, every second one in the first.
  std::vector<uint32_t> half(num_sms, 0);
  std::vector<uint32_t> position(num_sms, 0);
  uint32_t sms_of_half[2] = {0, 0};
  for (uint32_t port = 0; port < std::max(1u, gpc_ports_); ++port) {
    for (uint32_t sm = 0; sm < num_sms; ++sm) {
      if (GpcPort(sm) != port) continue;
      half[sm] = (gpc_ports_ == 0 ? sm : port) % 2;
      position[sm] = sms_of_half[half[sm]]++;
    }
  }
  const uint32_t slices_of_half = (num_slices_ + 1) / 2;
  latencies_.resize(size_t{num_sms} * num_slices_);
  min_latency_ = ~0u;
  for (uint32_t sm = 0; sm < num_sms; ++sm) {
    for (uint32_t slice = 0; slice < num_slices_; ++slice) {
      const bool crosses = half[sm] != slice / slices_of_half;
      int32_t deviation = Even(position[sm], sms_of_half[half[sm]], even / 2) +
                          Even(slice % slices_of_half, slices_of_half, even - even / 2) +
                          Scattered(sm, slice, remainder) + (crosses ? (crossing + 1) / 2 : -(crossing / 2));
      deviation = std::clamp(deviation, -spread, spread);
      const int32_t there = deviation >= 0 ? deviation / 2 : -(-deviation / 2);
      Latency& latency = latencies_[size_t{sm} * num_slices_ + slice];
      latency.request = static_cast<uint16_t>(static_cast<int32_t>(config.request_latency_cycles) + there);
      latency.reply =
          static_cast<uint16_t>(static_cast<int32_t>(config.reply_latency_cycles) + deviation - there);
      min_latency_ = std::min({min_latency_, uint32_t{latency.request}, uint32_t{latency.reply}});
    }
  }
}

Cycle Crossbar::Reserve(Cycle* free, Cycle at, uint32_t bytes, uint32_t port_bytes,
                        uint64_t* wait_cycles) const {
  const Cycle start = std::max(*free, at);
  *wait_cycles += start - at;
  *free = start + (bytes + port_bytes - 1) / port_bytes;
  return start;
}

Cycle Crossbar::ReserveShared(uint64_t* free, Cycle at, uint32_t bytes, uint64_t* wait_cycles) const {
  if (gpc_ports_ == 0) return at;
  const uint64_t parts = uint64_t{gpc_sectors_} * kSectorBytes;
  const uint64_t start = std::max(*free, at * parts);
  *free = start + uint64_t{bytes} * gpc_cycles_;
  const Cycle cycle = start / parts;
  *wait_cycles += cycle - at;
  return cycle;
}

Cycle Crossbar::SendRequest(const MemRequest& request, Cycle now, uint32_t slice, NocStats* stats) {
  const uint32_t bytes = std::max(DataFlits(request) * kFlitBytes, packet_bytes_);
  stats->request_wait_cycles += now - request.cycle;
  const Cycle left =
      Reserve(&sm_out_free_[request.sm], now, bytes, sm_request_bytes_, &stats->request_wait_cycles);
  const Cycle start =
      ReserveShared(&gpc_out_free_[GpcPort(request.sm)], left, bytes, &stats->request_wait_cycles);
  ++stats->request_packets;
  stats->request_bytes += bytes;
  return start + RequestLatency(request.sm, slice);
}

Cycle Crossbar::SendReply(Cycle ready, uint32_t slice, uint32_t sm, uint32_t bytes, NocStats* stats) {
  const uint32_t total = std::max(bytes, packet_bytes_);
  const Cycle start =
      Reserve(&slice_out_free_[slice], ready, total, slice_port_bytes_, &stats->reply_wait_cycles);
  ++stats->reply_packets;
  stats->reply_bytes += total;
  return start + ReplyLatency(slice, sm);
}

Cycle Crossbar::ReceiveReply(Cycle arrival, uint32_t sm, uint32_t bytes, NocStats* stats) {
  const uint32_t total = std::max(bytes, packet_bytes_);
  const Cycle passed = ReserveShared(&gpc_in_free_[GpcPort(sm)], arrival, total, &stats->reply_wait_cycles);
  Reserve(&sm_in_free_[sm], passed, total, sm_port_bytes_, &stats->reply_wait_cycles);
  return sm_in_free_[sm];
}

}  // namespace sm89
