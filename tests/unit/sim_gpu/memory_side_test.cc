// The memory side as one: latencies of an idle one, what holds when its queues are full, its dump.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <vector>

#include "tests/unit/sim_gpu/memory_driver.h"

namespace sm89 {
namespace {

using ::testing::HasSubstr;

using Driver = MemoryDriver;

GpuConfig Config() { return MemoryConfig(); }

// Reads that all hit, from many SMs to one slice: the data array's bound is what they wait for.
double SustainedBytesPerCycle(const GpuConfig& config) {
  constexpr uint32_t kReads = 4'000;
  constexpr Cycle kWarm = 10'000;
  Driver driver(config);
  const AddressMap map(config.l2, config.dram);
  std::vector<uint64_t> lines;
  for (uint64_t line = 0; lines.size() < 16; ++line) {
    if (map.Slice(line) == 5) lines.push_back(line);
  }
  for (const uint64_t line : lines) driver.Add(0, 0, line);
  for (uint32_t i = 0; i < kReads; ++i) {
    driver.Add(kWarm + i / 4, static_cast<uint16_t>(i % 64), lines[i % lines.size()]);
  }
  const std::vector<Cycle> answers = driver.Run();
  const Cycle last = *std::max_element(answers.begin(), answers.end());
  const Cycle first =
      *std::min_element(answers.begin() + static_cast<ptrdiff_t>(lines.size()), answers.end());
  return static_cast<double>(kReads) * kLineBytes / static_cast<double>(last - first);
}

TEST(MemorySideTest, ABoundOnASlicesBandwidthHolds) {
  GpuConfig config = Config();
  const double free_rate = SustainedBytesPerCycle(config);
  EXPECT_NEAR(free_rate, 64, 1) << "two sectors a cycle";
  config.l2.slice_gb_per_s_x10 = 1280;
  EXPECT_NEAR(SustainedBytesPerCycle(config), 128e9 / (config.clocks.core_khz * 1e3), 0.5);
  config.l2.slice_gb_per_s_x10 = 10'000;
  EXPECT_DOUBLE_EQ(SustainedBytesPerCycle(config), free_rate) << "above what the array moves anyway";
}

TEST(MemorySideTest, AHitTakesTheWayThereTheLookUpAndTheWayBack) {
  const GpuConfig config = Config();
  Driver driver(config);
  driver.Add(0, 3, 77);
  driver.Add(5'000, 3, 77);
  const std::vector<Cycle> answers = driver.Run();
  const AddressMap map(config.l2, config.dram);
  const uint32_t slice = map.Slice(77);
  const Crossbar& crossbar = driver.side().crossbar();
  const Cycle ports = kLineBytes / config.noc.sm_port_bytes;
  EXPECT_EQ(answers[1] - 5'000, crossbar.RequestLatency(3, slice) + config.l2.latency_cycles +
                                    crossbar.ReplyLatency(slice, 3) + ports);
  const double miss_ns = static_cast<double>(answers[0] - (answers[1] - 5'000)) / 2.52;
  EXPECT_NEAR(miss_ns, 255.7 - 280 / 2.52, 25) << "a row that is closed, not one to be closed first";
}

TEST(MemorySideTest, AtomicsAddTheirLatencyAndSerialiseOnAnAddress) {
  const GpuConfig config = Config();
  Driver driver(config);
  driver.Add(0, 0, 5);
  driver.Add(5'000, 0, 5).sector_mask = 1;
  driver.Add(10'000, 0, 5, MemRequestKind::kAtomic).sector_mask = 1;
  MemRequest& many = driver.Add(15'000, 0, 5, MemRequestKind::kAtomic);
  many.sector_mask = 1;
  many.lanes = 32;
  many.same_address_lanes = 32;
  const std::vector<Cycle> answers = driver.Run();
  EXPECT_EQ(answers[2] - 10'000, answers[1] - 5'000 + config.l2.atomic_latency_cycles);
  const Cycle serial = (31 * config.l2.atomic_interval_x100 + 99) / 100;
  EXPECT_EQ(answers[3] - 15'000, answers[2] - 10'000 + serial);
}

// Bytes a cycle that `sms` SMs read from the L2 together when each asks for a line every fourth cycle.
double L2ReadBytesPerCycle(uint16_t sms) {
  const GpuConfig config = Config();
  constexpr uint32_t kLines = 400;
  constexpr Cycle kStart = 20'000;
  Driver driver(config);
  for (uint32_t i = 0; i < kLines; ++i) {
    for (uint16_t sm = 0; sm < sms; ++sm) {
      const uint64_t line = uint64_t{i} * sms + sm;
      driver.Add(i * 40, sm, line);
      driver.Add(kStart + i * 4, sm, line);
    }
  }
  const std::vector<Cycle> answers = driver.Run();
  const Cycle end = *std::max_element(answers.begin(), answers.end());
  constexpr Cycle kFirstAnswer = 200;  // the shortest way there and back
  return static_cast<double>(kLines) * sms * kLineBytes / static_cast<double>(end - kStart - kFirstAnswer);
}

// An RTX 4090 reads 1964.7 bytes a cycle with all SMs (BAND-007), and one CTA alone more than its part of
// that.
TEST(MemorySideTest, AllSmsReadTheL2AtTheMeasuredRate) {
  const double all = L2ReadBytesPerCycle(128);
  std::printf("L2 read: %.1f B/cycle (1964.7)\n", all);
  EXPECT_NEAR(all, 1964.7, 1964.7 * 0.05);
  EXPECT_GT(L2ReadBytesPerCycle(1), 18.4);
}

// Sectors a cycle that the slices take of SMs that all write, an RTX 4090's profile: half of what they give.
TEST(MemorySideTest, SlicesTakeWritesAtHalfTheRateOfReads) {
  const GpuConfig config = Config();
  constexpr uint32_t kLines = 400;
  Driver driver(config);
  for (uint32_t i = 0; i < kLines; ++i) {
    for (uint16_t sm = 0; sm < 128; ++sm) {
      driver.Add(i * 4, sm, uint64_t{i} * 128 + sm, MemRequestKind::kWrite);
    }
  }
  const std::vector<Cycle> answers = driver.Run();
  const Cycle end = *std::max_element(answers.begin(), answers.end());
  const double bytes = kLines * 128.0 * kLineBytes / static_cast<double>(end - 200);
  std::printf("L2 write: %.1f B/cycle\n", bytes);
  EXPECT_NEAR(bytes, 1964.7 / 2, 1964.7 / 2 * 0.05);
}

// Cycles in which one slice is done with 100 reductions of one line each.
Cycle ReductionCycles(uint8_t lanes, uint8_t same, uint8_t flits) {
  const GpuConfig config = Config();
  Driver driver(config);
  const AddressMap map(config.l2, config.dram);
  uint32_t count = 0;
  for (uint64_t line = 0; count < 100; ++line) {
    if (map.Slice(line) != 7) continue;
    driver.Add(0, static_cast<uint16_t>(count % 128), line).sector_mask = 1;
    MemRequest& request =
        driver.Add(20'000, static_cast<uint16_t>(count % 128), line, MemRequestKind::kReduction);
    request.sector_mask = 1;
    request.lanes = lanes;
    request.same_address_lanes = same;
    request.atomic_flits = flits;
    ++count;
  }
  const std::vector<Cycle> answers = driver.Run();
  return *std::max_element(answers.begin(), answers.end()) - 20'000;
}

TEST(MemorySideTest, EachPacketOfAnAtomicTakesItsTimeInTheSlice) {
  const GpuConfig config = Config();
  const Cycle one = ReductionCycles(1, 1, 1);
  // Ten packets each: the last of 100 requests starts 99 times nine packets later.
  const Cycle ten = ReductionCycles(10, 10, 10);
  EXPECT_NEAR(static_cast<double>(ten - one), 99 * 9 * config.l2.atomic_interval_x100 / 100.0, 30);
  // One packet of eight lanes in two flits takes what two sectors of a write do.
  const double two = static_cast<double>(ReductionCycles(8, 1, 2));
  const uint32_t beyond = 2 * config.l2.write_sector_hundredths - config.l2.atomic_interval_x100;
  EXPECT_NEAR(two - static_cast<double>(one), 99 * beyond / 100.0, 10);
}

// What two SMs send in one cycle meets at the slices in the order of the SMs, whoever is asked first.
TEST(MemorySideTest, RequestsOfOneCycleGoByTheirSms) {
  std::vector<Cycle> answers[2];
  for (const bool swapped : {false, true}) {
    const GpuConfig config = Config();
    MemorySide side(config);
    side.AddKernel();
    std::vector<MemRequest> of_sm[2];
    for (uint32_t i = 0; i < 200; ++i) {
      for (const uint16_t sm : {uint16_t{0}, uint16_t{22}}) {  // of one GPC
        MemRequest request;
        request.cycle = 40;
        request.sm = sm;
        request.line = 3 + i;
        request.sector_mask = 0xF;
        request.kind = MemRequestKind::kWrite;
        request.token = 2 * i + (sm != 0);
        of_sm[sm != 0].push_back(request);
      }
    }
    // Sent in cycle 40 both, but known in different windows.
    side.Submit(&of_sm[swapped ? 1 : 0]);
    side.Submit(&of_sm[swapped ? 0 : 1]);
    std::vector<std::vector<MemReply>> inboxes(config.sm.num_sms);
    side.RunUntil(100'000, &inboxes);
    answers[swapped ? 1 : 0].assign(400, 0);
    for (const auto& inbox : inboxes) {
      for (const MemReply& reply : inbox) answers[swapped ? 1 : 0][reply.token] = reply.cycle;
    }
  }
  EXPECT_EQ(answers[0], answers[1]);
}

// All SMs at one address: as many a cycle as the interval says, whatever the window.
TEST(MemorySideTest, OneAddressIsTheBottleneckOfAllSms) {
  const GpuConfig config = Config();
  std::vector<Cycle> of_window;
  for (const Cycle window : {Cycle{1}, Cycle{32}, Cycle{50}}) {
    Driver driver(config, window);
    for (uint32_t i = 0; i < 20; ++i) {
      for (uint16_t sm = 0; sm < config.sm.num_sms; ++sm) {
        driver.Add(10 + i, sm, 5, MemRequestKind::kReduction).sector_mask = 1;
      }
    }
    const std::vector<Cycle> answers = driver.Run();
    of_window.push_back(*std::max_element(answers.begin(), answers.end()));
  }
  const double operations = 20.0 * config.sm.num_sms;
  EXPECT_NEAR(static_cast<double>(of_window[0]), operations * config.l2.atomic_interval_x100 / 100, 900);
  EXPECT_EQ(of_window[1], of_window[0]);
  EXPECT_EQ(of_window[2], of_window[0]);
}

// With room for two requests a slice, an SM's request for another slice waits behind the one that is held.
TEST(MemorySideTest, AFullSliceHoldsRequestsAtTheirSmInOrder) {
  GpuConfig config = Config();
  config.l2.queue_entries = 2;
  config.noc.latency_spread_cycles = 0;
  config.noc.crossing_cycles = 0;
  const AddressMap map(config.l2, config.dram);
  uint64_t other = 6;
  while (map.Slice(other) == map.Slice(5)) ++other;
  Driver driver(config);
  for (uint16_t sm = 0; sm < 3; ++sm) driver.Add(100, sm, 5, MemRequestKind::kWrite);
  driver.Add(101, 2, other, MemRequestKind::kWrite);
  driver.Add(101, 3, other, MemRequestKind::kWrite);
  const std::vector<Cycle> answers = driver.Run();
  // The third leaves when the first has started at its slice, a request's way later.
  const Cycle way = config.noc.request_latency_cycles;
  EXPECT_EQ(answers[2] - answers[0], way);
  EXPECT_GE(answers[3], answers[4] + way - 1) << "held behind the third";
  // The last one of SM 2 also waits for the 4 cycles of the full line before it.
  EXPECT_EQ(driver.side().kernel_stats(0).noc.request_wait_cycles, way + (way - 1) + 4);
}

TEST(MemorySideTest, ResultsDoNotDependOnTheWindowWhenQueuesAreFull) {
  GpuConfig config = Config();
  config.l2.queue_entries = 8;
  std::vector<std::vector<Cycle>> of_window;
  for (const Cycle window : {Cycle{1}, Cycle{7}, Cycle{32}, Cycle{60}}) {
    Driver driver(config, window);
    uint64_t state = 1;
    for (uint32_t i = 0; i < 4'000; ++i) {
      state = state * 6364136223846793005ull + 1442695040888963407ull;
      const auto kind = static_cast<MemRequestKind>(state >> 61 & 3);
      // Cycles of an SM's requests differ, so that no order among equals is asked for.
      driver.Add(i / 128 * 2, i % 128, state >> 33 & 0x3FF, kind);
    }
    of_window.push_back(driver.Run());
  }
  for (size_t i = 1; i < of_window.size(); ++i) EXPECT_EQ(of_window[i], of_window[0]);
}

TEST(MemorySideTest, TheDumpNamesEveryQueueThatHoldsSomething) {
  GpuConfig config = Config();
  config.l2.queue_entries = 2;
  Driver driver(config);
  for (uint16_t sm = 0; sm < 8; ++sm) driver.Add(0, sm, 5);
  for (uint64_t line = 0; line < 100; ++line) driver.Add(1, 20, 1'000 + line);
  driver.side().Submit(&driver.requests());
  driver.side().RunUntil(150, &driver.inboxes());
  const std::string text = driver.side().DescribeQueues();
  EXPECT_THAT(text, HasSubstr("requests in the crossbar"));
  EXPECT_THAT(text, HasSubstr("SM 20 holds "));
  EXPECT_THAT(text, HasSubstr("requests waiting for them"));
  EXPECT_THAT(text, HasSubstr("oldest waiting: line "));
  EXPECT_THAT(text, HasSubstr("SMs held back"));
  EXPECT_THAT(text, HasSubstr("DRAM channel "));
  EXPECT_EQ(Driver(config).side().DescribeQueues(),
            "memory side: 0 events, 0 requests in the crossbar, 0 to be sent\n");
}

}  // namespace
}  // namespace sm89
