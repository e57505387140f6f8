// One GDDR6X (or HBM) channel, event-driven. Banks with open rows in bank groups; activate, precharge and
// column timing (tRCD, tRAS, tRP, tRC, tRRD, tFAW, tCCD_S/L, tRTP, tWR); read/write turn-round in both
// directions; refresh of all banks or of some in turns; first-ready-first-come scheduling over a window of
// the oldest requests, evaluated when the bus frees; writes drained between two marks. Rows are opened for
// requests that have no open row while data of others moves. Timing parameters and their sources are in
// sim/config (DramConfig); the command bus is not modelled.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "sim/base/types.h"
#include "sim/config/gpu_config.h"
#include "sim/mem/dram_job.h"
#include "sim/mem/dram_window.h"
#include "sim/mem/ring.h"
#include "sim/stats/sim_stats.h"

namespace sm89 {

class DramChannel {
 public:
  // What waits, for the watchdog.
  struct Queues {
    uint32_t incoming = 0;  // on their way from the L2
    uint32_t reads = 0;
    uint32_t writes = 0;
    Cycle oldest_arrival = kNever;
  };

  DramChannel(const DramConfig& config, const ClockConfig& clocks);

  void Enqueue(const DramJob& job);
  bool idle() const { return incoming_.empty() && reads_.empty() && writes_.empty(); }
  // Writes accepted and not yet scheduled: the L2's back-pressure.
  uint32_t queued_writes() const { return num_writes_; }
  Queues queues() const;

  // Schedules what may be scheduled at `now` until a job's last burst is. True: that is `*job`, its last byte
  // is at the controller at `*done`; call again. False: call again at NextWake().
  bool Schedule(Cycle now, DramJob* job, Cycle* done, DramStats* stats);
  // When Schedule is worth calling; kNever when idle.
  Cycle NextWake(Cycle now) const;

 private:
  // Time in 1/4096 core cycle, so that a burst of 1.92 cycles keeps its length.
  using Tick = uint64_t;
  static constexpr uint32_t kTickShift = 12;
  static constexpr uint32_t kMaxBanks = 64;
  static constexpr uint32_t kFawActivates = 4;
  static constexpr uint64_t kClosed = ~uint64_t{0};

  struct Timing {
    Tick burst;  // a sector's time on the data bus
    Tick ccd, ccdl, rrd, rrdl, faw, rcd, rcdw, ras, rp, rc, cl, wl, cdlr, wr, rtp, turn_round;
    Tick refresh_interval, refresh_length, base_latency;
    Tick horizon;  // a line's bursts: the bus is given away so far ahead, and again when that is used up
  };
  struct Bank {
    uint64_t row = kClosed;
    Tick column_ready = 0;  // the row is open
    Tick precharge_ready = 0;
    Tick activate_ready = 0;  // tRC and refresh
  };
  // The two directions: their requests in order of arrival and when the bus takes their next column command.
  struct Direction {
    DramWindow window;
    Ring<DramJob> behind;  // the window is full
    Tick next_column = 0;
    bool empty() const { return window.size() == 0; }
    uint32_t size() const { return window.size() + behind.size(); }
  };
  struct Column {
    uint32_t position = 0;
    Tick at = 0;
  };

  static Timing MakeTiming(const DramConfig& config, const ClockConfig& clocks);
  uint32_t GroupOf(uint32_t bank) const { return group_of_[bank]; }
  Direction& active() { return writing_ ? writes_ : reads_; }
  void TakeArrived(Cycle now);
  void Add(Direction* direction, const DramJob& job);
  void NoteWaiting(uint32_t position);
  void ChooseDirection();
  void CountWaiting();
  void CatchUpRefresh(Tick now, DramStats* stats);
  void Refresh(uint32_t bank, Tick due);
  void ReadyOpenedBanks(Tick now);
  void OpenRows(Tick now, DramStats* stats);
  bool OpenRow(uint32_t position, Tick now, DramStats* stats);
  bool PickColumn(Tick now, Column* column);
  Tick IssueColumn(const Column& column, DramStats* stats);
  void Retire(uint32_t position);
  void WakeNoLaterThan(Tick at) { wake_ = at < wake_ ? at : wake_; }

  Timing timing_;
  uint32_t num_banks_, num_groups_, window_entries_, write_high_, write_low_, refresh_banks_;
  std::vector<uint8_t> group_of_;
  std::vector<Bank> banks_;
  // Earliest next command of a bank group.
  std::array<Tick, DramWindow::kMaxGroups> group_column_{}, group_activate_{};

  Ring<DramJob> incoming_;  // not yet arrived, by arrival
  Direction reads_, writes_;
  uint32_t num_writes_ = 0;  // with those in incoming_
  bool writing_ = false;
  bool draining_ = false;

  // Of the active direction's window: requests whose row is open, and banks by what their requests need.
  uint64_t ready_ = 0;                        // positions
  uint64_t opening_ = 0;                      // banks whose row is being opened
  uint64_t wanting_ = 0;                      // banks with requests, none of them to the open row
  std::array<uint8_t, kMaxBanks> waiting_{};  // requests of a bank
  std::array<uint8_t, kMaxBanks> hits_{};     // of them to its open row

  Tick activate_free_ = 0;                            // tRRD
  std::array<Tick, kFawActivates> last_activates_{};  // plus tFAW: when each allows another
  uint32_t oldest_activate_ = 0;
  Tick next_refresh_ = 0;
  uint32_t refresh_turn_ = 0;
  Tick busy_ticks_ = 0;  // fraction of a cycle not yet counted as busy
  Tick wake_ = kNever;
  Cycle resumable_ = kNever;  // a call of this cycle goes on where the last one gave a job
};

}  // namespace sm89
