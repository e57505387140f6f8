// The DRAM channel against a committed table of Ramulator 2 runs (tests/data/dram/README.md): the same
// accesses, timing parameters and queue sizes; bandwidth and mean read latency within stated bounds.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <functional>
#include <map>
#include <queue>
#include <sstream>
#include <string>
#include <vector>

#include "dram_patterns.h"
#include "sim/mem/dram_channel.h"

namespace sm89 {
namespace {

namespace dp = dram_patterns;

// A cycle is a clock of the reference's controller: 381 ps, two clocks of the settings.
constexpr double kCycleNs = 0.381;

// Where the two differ and why: tests/data/dram/README.md.
constexpr double kBandwidthPercent = 5.0;
constexpr double kLatencyPercent = 10.0;

struct Figures {
  double bytes_per_ns = 0;
  double read_latency_ns = 0;
};

ClockConfig ReferenceClocks() {
  ClockConfig clocks;
  clocks.core_khz = 2'624'672;
  clocks.dram_khz = 2 * clocks.core_khz;
  return clocks;
}

// The reference's parameters: clocks of tests/data/dram/ramulator_gddr6.py doubled; its queues and marks.
DramConfig ReferenceConfig(bool refresh) {
  DramConfig config;
  config.rcd = 82;
  config.rcdw = 48;
  config.rp = 82;
  config.ras = 160;
  config.rc = 238;
  config.wr = 82;
  config.rtpl = 12;
  config.cl = 72;
  config.wl = 18;
  config.ccd = 4;
  config.ccdl = 12;
  config.rrd = 24;
  config.cdlr = 28;
  config.faw = 88;
  config.turn_round = 16;
  config.base_latency_ns_x10 = 0;
  config.write_high_mark = 26;
  config.write_low_mark = 6;
  config.refresh_banks = 0;
  config.refresh_ns = 120;
  config.refresh_interval_ns = refresh ? 1900 : 0;
  return config;
}

// Offers a pattern's accesses in order, as many at a time as its queues and its outstanding reads allow.
class Replay {
 public:
  Replay(const DramConfig& config, const dp::Pattern& pattern)
      : pattern_(pattern), channel_(config, ReferenceClocks()) {}

  Figures Run() {
    size_t finished = 0;
    uint64_t reads = 0;
    Cycle last = 0;
    for (Cycle now = 1; finished < pattern_.accesses.size(); ++now) {
      for (; !returns_.empty() && returns_.top() <= now; returns_.pop()) --reads_under_way_;
      Offer(now);
      DramJob job;
      Cycle done = 0;
      while (channel_.Schedule(now, &job, &done, &stats_)) {
        ++finished;
        last = std::max(last, done);
        if (job.write) {
          --queued_writes_;
          continue;
        }
        --queued_reads_;
        ++reads;
        latency_ += done - job.arrival;
        returns_.push(done);
      }
    }
    const double ns = static_cast<double>(last) * kCycleNs;
    const double latency =
        reads == 0 ? 0 : static_cast<double>(latency_) * kCycleNs / static_cast<double>(reads);
    return {static_cast<double>(finished) * kSectorBytes / ns, latency};
  }

 private:
  void Offer(Cycle now) {
    for (; next_ < pattern_.accesses.size(); ++next_) {
      const dp::Access& access = pattern_.accesses[next_];
      if (access.write
              ? queued_writes_ >= dp::kQueuedWrites
              : queued_reads_ >= dp::kQueuedReads || reads_under_way_ >= pattern_.outstanding_reads) {
        return;
      }
      DramJob job;
      job.bank = access.bank;
      job.row = access.row;
      job.sectors = 1;
      job.write = access.write;
      job.arrival = now;
      channel_.Enqueue(job);
      ++(access.write ? queued_writes_ : queued_reads_);
      reads_under_way_ += access.write ? 0 : 1;
    }
  }

  const dp::Pattern& pattern_;
  DramChannel channel_;
  DramStats stats_;
  std::priority_queue<Cycle, std::vector<Cycle>, std::greater<>> returns_;
  size_t next_ = 0;
  uint32_t queued_reads_ = 0;
  uint32_t queued_writes_ = 0;
  uint32_t reads_under_way_ = 0;
  uint64_t latency_ = 0;
};

// Key: pattern and refresh, as in the table's first two columns.
std::map<std::string, Figures> ReadTable() {
  std::map<std::string, Figures> table;
  std::ifstream file(SM89_SOURCE_DIR "/tests/data/dram/ramulator_gddr6_21gbps.csv");
  std::string line;
  std::getline(file, line);
  while (std::getline(file, line)) {
    std::stringstream fields(line);
    std::string name;
    std::string refresh;
    std::string bandwidth;
    std::string latency;
    std::getline(fields, name, ',');
    std::getline(fields, refresh, ',');
    std::getline(fields, bandwidth, ',');
    std::getline(fields, latency, ',');
    table[name + "," + refresh] = {std::stod(bandwidth), std::stod(latency)};
  }
  return table;
}

double Percent(double value, double reference) { return (value / reference - 1) * 100; }

TEST(DramReferenceTest, BandwidthAndLatencyFollowRamulator) {
  const std::map<std::string, Figures> table = ReadTable();
  const std::vector<dp::Pattern> patterns = dp::All();
  ASSERT_EQ(table.size(), 2 * patterns.size());
  std::printf("%-26s %-7s %9s %9s %7s %9s %9s %7s\n", "pattern", "refresh", "B/ns", "ref", "%", "ns", "ref",
              "%");
  for (const bool refresh : {false, true}) {
    for (const dp::Pattern& pattern : patterns) {
      const std::string mode = refresh ? "all" : "none";
      const Figures reference = table.at(pattern.name + "," + mode);
      const Figures got = Replay(ReferenceConfig(refresh), pattern).Run();
      const double bandwidth = Percent(got.bytes_per_ns, reference.bytes_per_ns);
      const double latency =
          reference.read_latency_ns == 0 ? 0 : Percent(got.read_latency_ns, reference.read_latency_ns);
      std::printf("%-26s %-7s %9.3f %9.3f %+7.1f %9.1f %9.1f %+7.1f\n", pattern.name.c_str(), mode.c_str(),
                  got.bytes_per_ns, reference.bytes_per_ns, bandwidth, got.read_latency_ns,
                  reference.read_latency_ns, latency);
      EXPECT_LT(std::abs(bandwidth), kBandwidthPercent) << pattern.name << " refresh " << mode;
      EXPECT_LT(std::abs(latency), kLatencyPercent) << pattern.name << " refresh " << mode;
    }
  }
}

}  // namespace
}  // namespace sm89
