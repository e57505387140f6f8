#include "sim/noc/crossbar.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace sm89 {
namespace {

constexpr uint32_t kSms = 128;
constexpr uint32_t kSlices = 48;
// What the SM adds to a load that hits the L2 (address unit to L1 miss, reply to dependent issue): the memory
// side's share of a load-to-use of 285 cycles is the rest.
constexpr uint32_t kSmShare = 36;

using Table = std::vector<std::vector<double>>;

// Load-to-use of an L2 hit for each pair of SM and slice, as far as the memory side goes.
Table HitLatencies(const GpuConfig& config) {
  const Crossbar crossbar(config.noc, kSms, kSlices);
  Table table(kSms, std::vector<double>(kSlices));
  for (uint32_t sm = 0; sm < kSms; ++sm) {
    for (uint32_t slice = 0; slice < kSlices; ++slice) {
      table[sm][slice] =
          crossbar.RequestLatency(sm, slice) + config.l2.latency_cycles + crossbar.ReplyLatency(slice, sm);
    }
  }
  return table;
}

double Mean(const Table& table) {
  double sum = 0;
  for (const auto& row : table) {
    for (const double value : row) sum += value;
  }
  return sum / (table.size() * table[0].size());
}

// Takes the best additive model, mean + a(SM) + b(slice), off a table.
Table WithoutAdditivePart(const Table& table) {
  const double mean = Mean(table);
  std::vector<double> of_sm(kSms, 0);
  std::vector<double> of_slice(kSlices, 0);
  for (uint32_t i = 0; i < kSms; ++i) {
    for (uint32_t j = 0; j < kSlices; ++j) {
      of_sm[i] += table[i][j] / kSlices;
      of_slice[j] += table[i][j] / kSms;
    }
  }
  Table rest = table;
  for (uint32_t i = 0; i < kSms; ++i) {
    for (uint32_t j = 0; j < kSlices; ++j) rest[i][j] -= of_sm[i] + of_slice[j] - mean;
  }
  return rest;
}

double SquareSum(const Table& table) {
  double sum = 0;
  for (const auto& row : table) {
    for (const double value : row) sum += value * value;
  }
  return sum;
}

// Square of the largest singular value: what the best rank-1 term explains of a table.
double RankOnePart(const Table& table) {
  std::vector<double> v(kSlices);
  for (uint32_t j = 0; j < kSlices; ++j) v[j] = 1 + j * 0.01 * (j % 3);
  double norm = 0;
  for (int step = 0; step < 100; ++step) {
    std::vector<double> next(kSlices, 0);
    for (uint32_t i = 0; i < kSms; ++i) {
      double u = 0;
      for (uint32_t j = 0; j < kSlices; ++j) u += table[i][j] * v[j];
      for (uint32_t j = 0; j < kSlices; ++j) next[j] += u * table[i][j];
    }
    norm = 0;
    for (const double x : next) norm += x * x;
    norm = std::sqrt(norm);
    for (uint32_t j = 0; j < kSlices; ++j) v[j] = next[j] / norm;
  }
  return norm;
}

TEST(CrossbarTest, HitLatenciesHaveTheMeasuredMeanAndRange) {
  const GpuConfig config;
  const Table table = HitLatencies(config);
  double lowest = 1e9;
  double highest = 0;
  for (const auto& row : table) {
    lowest = std::min(lowest, *std::min_element(row.begin(), row.end()));
    highest = std::max(highest, *std::max_element(row.begin(), row.end()));
  }
  // 285 on an RTX 4090; an L40 has 279 between 222 and 339, which is 6 less.
  EXPECT_NEAR(Mean(table) + kSmShare, 285, 1.5);
  EXPECT_NEAR(lowest + kSmShare, 222 + 6, 5);
  EXPECT_NEAR(highest + kSmShare, 339 + 6, 5);
}

TEST(CrossbarTest, HitLatenciesAreAsAdditiveAsMeasured) {
  const Table table = HitLatencies(GpuConfig());
  Table centred = table;
  const double mean = Mean(table);
  for (auto& row : centred) {
    for (double& value : row) value -= mean;
  }
  const double total = SquareSum(centred);
  const Table rest = WithoutAdditivePart(table);
  const double additive = 1 - SquareSum(rest) / total;
  const double with_rank_one = additive + RankOnePart(rest) / total;
  EXPECT_NEAR(additive, 0.87, 0.01);
  EXPECT_NEAR(with_rank_one, 0.98, 0.01);
  EXPECT_NEAR(std::sqrt(total / (kSms * kSlices)), 20, 1.5) << "standard deviation";
}

// The paper's two halves: an SM's mean over the slices repeats in the other half.
TEST(CrossbarTest, TheTermOfTheSmRepeatsInBothHalves) {
  const GpuConfig config;
  const Crossbar crossbar(config.noc, kSms, kSlices);
  const Table table = HitLatencies(config);
  std::vector<double> halves[2];
  for (uint32_t port = 0; port < config.noc.gpc_ports; ++port) {
    for (uint32_t sm = 0; sm < kSms; ++sm) {
      if (crossbar.GpcPort(sm) != port) continue;
      double mean = 0;
      for (const double value : table[sm]) mean += value / kSlices;
      halves[port % 2].push_back(mean);
    }
  }
  ASSERT_EQ(halves[0].size() + halves[1].size(), kSms);
  // Resampled to the smaller half: 6 and 5 GPCs.
  const size_t n = std::min(halves[0].size(), halves[1].size());
  double products = 0;
  double squares[2] = {0, 0};
  const auto at = [&](int half, size_t i) {
    return halves[half][i * (halves[half].size() - 1) / (n - 1)] - 240;
  };
  for (size_t i = 0; i < n; ++i) {
    products += at(0, i) * at(1, i);
    squares[0] += at(0, i) * at(0, i);
    squares[1] += at(1, i) * at(1, i);
  }
  EXPECT_GT(products / std::sqrt(squares[0] * squares[1]), 0.99);
}

TEST(CrossbarTest, NoWayIsShorterThanTheWindowOrTheStatedMinimum) {
  const GpuConfig config;
  const Crossbar crossbar(config.noc, kSms, kSlices);
  uint32_t lowest = ~0u;
  for (uint32_t sm = 0; sm < kSms; ++sm) {
    for (uint32_t slice = 0; slice < kSlices; ++slice) {
      lowest = std::min({lowest, crossbar.RequestLatency(sm, slice), crossbar.ReplyLatency(slice, sm)});
    }
  }
  EXPECT_EQ(crossbar.MinLatency(), lowest);
  EXPECT_GE(lowest, config.run.window_cycles);
  EXPECT_GE(lowest, config.noc.request_latency_cycles - config.noc.latency_spread_cycles / 2);
}

TEST(CrossbarTest, NoSpreadMeansOneLatency) {
  GpuConfig config;
  config.noc.latency_spread_cycles = 0;
  config.noc.crossing_cycles = 0;
  const Crossbar crossbar(config.noc, 5, 3);
  for (uint32_t sm = 0; sm < 5; ++sm) {
    for (uint32_t slice = 0; slice < 3; ++slice) {
      EXPECT_EQ(crossbar.RequestLatency(sm, slice), config.noc.request_latency_cycles);
      EXPECT_EQ(crossbar.ReplyLatency(slice, sm), config.noc.reply_latency_cycles);
    }
  }
}

MemRequest Write(uint16_t sm, Cycle cycle) {
  MemRequest request;
  request.cycle = cycle;
  request.sm = sm;
  request.kind = MemRequestKind::kWrite;
  request.sector_mask = 0xF;
  return request;
}

TEST(CrossbarTest, PortsSerialisePackets) {
  const GpuConfig config;
  Crossbar crossbar(config.noc, 2, 2);
  NocStats stats;
  const MemRequest request = Write(0, 100);
  const Cycle first = crossbar.SendRequest(request, 100, 0, &stats);
  EXPECT_EQ(first, 100u + crossbar.RequestLatency(0, 0));
  EXPECT_EQ(crossbar.SendRequest(request, 100, 0, &stats), first + 4) << "128 bytes, 32 a cycle";
  EXPECT_EQ(stats.request_wait_cycles, 4u);
  EXPECT_EQ(stats.request_bytes, 256u);
}

// Cycles between two packets of one kind that one SM sends, as an H200 shows (tests/data/requests/h200.txt).
Cycle PortCycles(const MemRequest& request) {
  const GpuConfig config;
  Crossbar crossbar(config.noc, 2, 2);
  NocStats stats;
  const Cycle first = crossbar.SendRequest(request, 100, 0, &stats);
  return crossbar.SendRequest(request, 100, 0, &stats) - first;
}

TEST(CrossbarTest, PacketsToTheL2TakeTheirMeasuredTime) {
  MemRequest request = Write(0, 100);
  EXPECT_EQ(PortCycles(request), 4u) << "a full line: 4.01";
  request.partial_mask = 0xF;
  EXPECT_EQ(PortCycles(request), 5u) << "a word in each sector: 5.01";
  request.sector_mask = request.partial_mask = 2;
  EXPECT_EQ(PortCycles(request), 2u) << "one word: 2.02";
  request.partial_mask = 0;
  EXPECT_EQ(PortCycles(request), 1u) << "one sector, as in a line of four";
  request.kind = MemRequestKind::kRead;
  request.sector_mask = 0xF;
  EXPECT_EQ(PortCycles(request), 1u) << "nothing but the address";
  request.kind = MemRequestKind::kReduction;
  request.atomic_flits = 5;
  EXPECT_EQ(PortCycles(request), 5u) << "32 words: 5.03";
  request.atomic_flits = 32;
  EXPECT_EQ(PortCycles(request), 32u) << "32 lanes at one word: 31.9";
}

// 28 sectors in 5 cycles for the 12 SMs of a GPC: 15 bytes a cycle and SM when all read, more for one alone.
TEST(CrossbarTest, SmsOfAGpcShareItsPort) {
  const GpuConfig config;
  Crossbar crossbar(config.noc, kSms, kSlices);
  std::vector<uint16_t> sms;
  for (uint16_t sm = 0; sm < kSms; ++sm) {
    if (crossbar.GpcPort(sm) == 0) sms.push_back(sm);
  }
  ASSERT_EQ(sms.size(), 12u);
  NocStats stats;
  constexpr uint32_t kPackets = 1200;
  Cycle last = 0;
  for (uint32_t i = 0; i < kPackets; ++i) {
    last = std::max(last, crossbar.ReceiveReply(1000, sms[i % sms.size()], kLineBytes, &stats));
  }
  EXPECT_NEAR(kPackets * kLineBytes / static_cast<double>(last - 1000), 28 * 32 / 5.0, 1);

  Crossbar alone(config.noc, kSms, kSlices);
  for (uint32_t i = 0; i < kPackets; ++i) last = alone.ReceiveReply(1000, sms[0], kLineBytes, &stats);
  EXPECT_NEAR(kPackets * kLineBytes / static_cast<double>(last - 1000), config.noc.sm_port_bytes, 1);
}

TEST(CrossbarTest, PairsOfSmsGoRoundTheGpcs) {
  const GpuConfig config;
  const Crossbar crossbar(config.noc, kSms, kSlices);
  std::vector<uint32_t> sms(config.noc.gpc_ports, 0);
  for (uint32_t sm = 0; sm < kSms; ++sm) {
    ++sms[crossbar.GpcPort(sm)];
    EXPECT_EQ(crossbar.GpcPort(sm), crossbar.GpcPort(sm ^ 1)) << "a TPC's two SMs";
  }
  EXPECT_EQ(std::count(sms.begin(), sms.end(), 12u), 9);
  EXPECT_EQ(std::count(sms.begin(), sms.end(), 10u), 2);
}

}  // namespace
}  // namespace sm89
