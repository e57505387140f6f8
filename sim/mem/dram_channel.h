// One GDDR6X channel, event-driven: banks with open rows, activate/precharge/column timing, read/write
// turn-round, refresh, first-ready-first-come scheduling over a window. Timing parameters and their sources
// are in sim/config (DramConfig).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/base/types.h"
#include "sim/config/gpu_config.h"
#include "sim/stats/sim_stats.h"

namespace sm89 {

struct DramJob {
  uint64_t line = 0;
  uint64_t row = 0;
  uint32_t bank = 0;
  uint32_t kernel = 0;
  Cycle arrival = 0;
  uint8_t sectors = 0;  // bursts of 32 bytes
  uint8_t sector_mask = 0;
  bool write = false;
};

class DramChannel {
 public:
  DramChannel(const DramConfig& config, const ClockConfig& clocks);

  void Enqueue(const DramJob& job);
  bool idle() const { return reads_.empty() && writes_.empty() && incoming_.empty(); }
  // Writes accepted and not yet scheduled: the L2's back-pressure.
  size_t queued_writes() const { return num_writes_; }

  // Picks and performs the next job if one may be scheduled at `now`. True: `*job` was scheduled, its last
  // byte is at the controller at `*done`. False: nothing queued, or too early; call again at NextWake().
  bool Schedule(Cycle now, DramJob* job, Cycle* done, DramStats* stats);
  // When Schedule is worth calling; kNever when idle.
  Cycle NextWake(Cycle now) const;

 private:
  // Time in 1/256 core cycle, so that a burst of 1.92 cycles keeps its length.
  using Tick = uint64_t;
  struct Bank {
    uint64_t row = ~uint64_t{0};
    Tick column_ready = 0;  // earliest next column command
    Tick precharge_ready = 0;
    Tick activate_ready = 0;  // tRC
  };

  Tick FromDramClocks(uint32_t clocks) const { return clocks * ticks_per_clock_; }
  std::vector<DramJob>& PickQueue();
  size_t PickJob(const std::vector<DramJob>& queue) const;
  void TakeArrived(Cycle now);
  void CatchUpRefresh(Tick now, DramStats* stats);
  Tick OpenRow(Bank* bank, uint64_t row, Tick now, DramStats* stats);

  DramConfig config_;
  Tick ticks_per_clock_;
  Tick refresh_interval_, refresh_length_, base_latency_, lookahead_;
  Tick bus_free_ = 0;
  Tick next_refresh_;
  Tick activate_free_ = 0;  // tRRD
  bool last_was_write_ = false;
  bool draining_writes_ = false;
  std::vector<Bank> banks_;
  size_t num_writes_ = 0;
  Tick busy_ticks_ = 0;            // fraction of a cycle not yet counted as busy
  std::vector<DramJob> incoming_;  // not yet arrived, by arrival
  std::vector<DramJob> reads_, writes_;
};

}  // namespace sm89
