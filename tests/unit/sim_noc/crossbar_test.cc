#include "sim/noc/crossbar.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace sm89 {
namespace {

TEST(CrossbarTest, LatencySpreadIsTheConfiguredOneAndCentred) {
  const GpuConfig config;
  const Crossbar crossbar(config.noc, 128, 48);
  uint32_t lowest = ~0u;
  uint32_t highest = 0;
  double sum = 0;
  for (uint32_t sm = 0; sm < 128; ++sm) {
    for (uint32_t slice = 0; slice < 48; ++slice) {
      const uint32_t latency = crossbar.RequestLatency(sm, slice) + crossbar.ReplyLatency(slice, sm);
      lowest = std::min(lowest, latency);
      highest = std::max(highest, latency);
      sum += latency;
    }
  }
  const uint32_t base = config.noc.request_latency_cycles + config.noc.reply_latency_cycles;
  EXPECT_NEAR(sum / (128 * 48), base, 2.0);
  EXPECT_NEAR(highest - base, config.noc.latency_spread_cycles, 4.0);
  EXPECT_NEAR(base - lowest, config.noc.latency_spread_cycles, 4.0);
  EXPECT_GE(crossbar.MinLatency(), config.run.window_cycles);
}

TEST(CrossbarTest, PortsSerialisePackets) {
  const GpuConfig config;
  Crossbar crossbar(config.noc, 2, 2);
  NocStats stats;
  MemRequest request;
  request.cycle = 100;
  request.kind = MemRequestKind::kWrite;
  request.sector_mask = 0xF;
  const Cycle first = crossbar.SendRequest(request, 0, &stats);
  EXPECT_EQ(first, 100u + crossbar.RequestLatency(0, 0));
  EXPECT_EQ(crossbar.SendRequest(request, 0, &stats), first + 2) << "128 bytes through a 64-byte port";
  EXPECT_EQ(stats.request_wait_cycles, 2u);
  EXPECT_EQ(stats.request_bytes, 256u);
}

}  // namespace
}  // namespace sm89
