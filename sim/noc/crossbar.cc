#include "sim/noc/crossbar.h"

#include <algorithm>
#include <numeric>

#include "sim/base/assert.h"

namespace sm89 {
namespace {

// Command and address travel beside the data: a packet occupies its port for its data, at least this much.
constexpr uint32_t kHeaderBytes = 8;

// Spreads 0..count-1 evenly over [-range/2, range/2] in an order that is not monotone in the index.
std::vector<int32_t> Offsets(uint32_t count, uint32_t range) {
  std::vector<int32_t> offsets(count, 0);
  if (count < 2) return offsets;
  // A step coprime to count visits every position once.
  uint32_t step = count / 2 + 1;
  while (std::gcd(step, count) != 1) ++step;
  for (uint32_t i = 0; i < count; ++i) {
    const uint64_t position = uint64_t{i} * step % count;
    offsets[i] = static_cast<int32_t>(position * range / (count - 1)) - static_cast<int32_t>(range / 2);
  }
  return offsets;
}

uint32_t PacketBytes(const MemRequest& request) {
  const bool carries_data = request.kind != MemRequestKind::kRead;
  const auto sectors = static_cast<uint32_t>(__builtin_popcount(request.sector_mask));
  return carries_data ? sectors * kSectorBytes : kHeaderBytes;
}

}  // namespace

Crossbar::Crossbar(const NocConfig& config, uint32_t num_sms, uint32_t num_slices)
    : config_(config),
      sm_offset_(Offsets(num_sms, config.latency_spread_cycles / 2)),
      slice_offset_(Offsets(num_slices, config.latency_spread_cycles / 2)),
      sm_out_free_(num_sms, 0),
      sm_in_free_(num_sms, 0),
      slice_out_free_(num_slices, 0) {
  SM89_ASSERT(config.sm_port_bytes > 0 && config.slice_port_bytes > 0, "ports carry something each cycle");
  SM89_ASSERT(config.latency_spread_cycles < 2 * config.request_latency_cycles, "latency stays positive");
}

uint32_t Crossbar::RequestLatency(uint32_t sm, uint32_t slice) const {
  return static_cast<uint32_t>(static_cast<int32_t>(config_.request_latency_cycles) + sm_offset_[sm] +
                               slice_offset_[slice]);
}

uint32_t Crossbar::ReplyLatency(uint32_t slice, uint32_t sm) const {
  return static_cast<uint32_t>(static_cast<int32_t>(config_.reply_latency_cycles) + sm_offset_[sm] +
                               slice_offset_[slice]);
}

uint32_t Crossbar::MinLatency() const {
  const int32_t lowest = *std::min_element(sm_offset_.begin(), sm_offset_.end()) +
                         *std::min_element(slice_offset_.begin(), slice_offset_.end());
  const auto base =
      static_cast<int32_t>(std::min(config_.request_latency_cycles, config_.reply_latency_cycles));
  return static_cast<uint32_t>(base + lowest);
}

Cycle Crossbar::Reserve(Cycle* free, Cycle at, uint32_t bytes, uint32_t port_bytes,
                        uint64_t* wait_cycles) const {
  const Cycle start = std::max(*free, at);
  *wait_cycles += start - at;
  *free = start + (bytes + port_bytes - 1) / port_bytes;
  return start;
}

Cycle Crossbar::SendRequest(const MemRequest& request, uint32_t slice, NocStats* stats) {
  const uint32_t bytes = PacketBytes(request);
  const Cycle start = Reserve(&sm_out_free_[request.sm], request.cycle, bytes, config_.sm_port_bytes,
                              &stats->request_wait_cycles);
  ++stats->request_packets;
  stats->request_bytes += bytes;
  return start + RequestLatency(request.sm, slice);
}

Cycle Crossbar::SendReply(Cycle ready, uint32_t slice, uint32_t sm, uint32_t bytes, NocStats* stats) {
  const uint32_t total = std::max(bytes, kHeaderBytes);
  const Cycle start =
      Reserve(&slice_out_free_[slice], ready, total, config_.slice_port_bytes, &stats->reply_wait_cycles);
  ++stats->reply_packets;
  stats->reply_bytes += total;
  return start + ReplyLatency(slice, sm);
}

Cycle Crossbar::ReceiveReply(Cycle arrival, uint32_t sm, uint32_t bytes, NocStats* stats) {
  Reserve(&sm_in_free_[sm], arrival, std::max(bytes, kHeaderBytes), config_.sm_port_bytes,
          &stats->reply_wait_cycles);
  return sm_in_free_[sm];
}

}  // namespace sm89
