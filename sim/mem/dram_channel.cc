#include "sim/mem/dram_channel.h"

#include <algorithm>

#include "sim/base/assert.h"

namespace sm89 {
namespace {

constexpr uint32_t kTickShift = 8;

// The write queue is emptied from the high mark down to the low one, or when no read waits.
constexpr size_t kWriteHigh = 48;
constexpr size_t kWriteLow = 16;

}  // namespace

DramChannel::DramChannel(const DramConfig& config, const ClockConfig& clocks) : config_(config) {
  SM89_ASSERT(clocks.dram_khz > 0 && config.banks > 0, "a channel has a clock and banks");
  ticks_per_clock_ = ((uint64_t{clocks.core_khz} << kTickShift) + clocks.dram_khz / 2) / clocks.dram_khz;
  const auto from_ns_x10 = [&](uint64_t ns_x10) {
    return (ns_x10 * clocks.core_khz << kTickShift) / 10'000'000;
  };
  refresh_interval_ = from_ns_x10(uint64_t{config.refresh_interval_ns} * 10);
  refresh_length_ = from_ns_x10(uint64_t{config.refresh_ns} * 10);
  base_latency_ = from_ns_x10(config.base_latency_ns_x10);
  lookahead_ = FromDramClocks(config.rp + config.rcd + config.cl);
  next_refresh_ = refresh_interval_;
  banks_.resize(config.banks);
}

void DramChannel::Enqueue(const DramJob& job) {
  SM89_ASSERT(job.bank < banks_.size(), "bank number");
  const auto later = std::upper_bound(incoming_.begin(), incoming_.end(), job.arrival,
                                      [](Cycle at, const DramJob& j) { return at < j.arrival; });
  incoming_.insert(later, job);
  num_writes_ += job.write ? 1 : 0;
}

void DramChannel::TakeArrived(Cycle now) {
  size_t n = 0;
  for (; n < incoming_.size() && incoming_[n].arrival <= now; ++n) {
    (incoming_[n].write ? writes_ : reads_).push_back(incoming_[n]);
  }
  incoming_.erase(incoming_.begin(), incoming_.begin() + static_cast<ptrdiff_t>(n));
}

std::vector<DramJob>& DramChannel::PickQueue() {
  if (draining_writes_ && writes_.size() <= kWriteLow && !reads_.empty()) draining_writes_ = false;
  if (writes_.size() >= kWriteHigh) draining_writes_ = true;
  const bool write = !writes_.empty() && (draining_writes_ || reads_.empty());
  return write ? writes_ : reads_;
}

size_t DramChannel::PickJob(const std::vector<DramJob>& queue) const {
  const size_t window = std::min<size_t>(queue.size(), config_.scheduler_window);
  for (size_t i = 0; i < window; ++i) {
    if (banks_[queue[i].bank].row == queue[i].row) return i;
  }
  return 0;
}

void DramChannel::CatchUpRefresh(Tick now, DramStats* stats) {
  if (refresh_interval_ == 0 || now < next_refresh_) return;
  const uint64_t missed = (now - next_refresh_) / refresh_interval_ + 1;
  const Tick last = next_refresh_ + (missed - 1) * refresh_interval_;
  stats->refreshes += missed;
  next_refresh_ = last + refresh_interval_;
  const Tick end = std::max(last, bus_free_) + refresh_length_;
  for (Bank& bank : banks_) {
    bank.row = ~uint64_t{0};
    bank.activate_ready = std::max(bank.activate_ready, end);
  }
  bus_free_ = std::max(bus_free_, end);
}

DramChannel::Tick DramChannel::OpenRow(Bank* bank, uint64_t row, Tick now, DramStats* stats) {
  if (bank->row == row) {
    ++stats->row_hits;
    return std::max(now, bank->column_ready);
  }
  ++stats->row_misses;
  const bool open = bank->row != ~uint64_t{0};
  const Tick precharged = open ? std::max(now, bank->precharge_ready) + FromDramClocks(config_.rp) : now;
  const Tick activate = std::max({precharged, bank->activate_ready, activate_free_});
  activate_free_ = activate + FromDramClocks(config_.rrd);
  bank->row = row;
  bank->activate_ready = activate + FromDramClocks(config_.rc);
  bank->precharge_ready = activate + FromDramClocks(config_.ras);
  return activate + FromDramClocks(config_.rcd);
}

bool DramChannel::Schedule(Cycle now, DramJob* job, Cycle* done, DramStats* stats) {
  const Tick tick = now << kTickShift;
  TakeArrived(now);
  if ((reads_.empty() && writes_.empty()) || tick + lookahead_ < bus_free_) return false;
  CatchUpRefresh(tick, stats);
  std::vector<DramJob>& queue = PickQueue();
  const size_t index = PickJob(queue);
  *job = queue[index];
  queue.erase(queue.begin() + static_cast<ptrdiff_t>(index));
  num_writes_ -= job->write ? 1 : 0;

  Bank& bank = banks_[job->bank];
  const Tick column = OpenRow(&bank, job->row, tick, stats);
  // Turn-round: write to read waits tCDLR after the last data, read to write the bubble of CL - WL + 2.
  Tick bus_ready = bus_free_;
  if (last_was_write_ && !job->write) bus_ready += FromDramClocks(config_.cdlr);
  if (!last_was_write_ && job->write) bus_ready += FromDramClocks(2);
  const Tick first_data = std::max(column + FromDramClocks(job->write ? config_.wl : config_.cl), bus_ready);
  const Tick burst = FromDramClocks(config_.ccd);
  const Tick end = first_data + job->sectors * burst;
  const Tick next_column = end - FromDramClocks(job->write ? config_.wl : config_.cl);
  bank.column_ready = std::max(bank.column_ready, next_column);
  // A row closes tWR after a write's last data, tRTP after a read's last column command.
  const Tick closable =
      job->write ? end + FromDramClocks(config_.wr) : next_column - burst + FromDramClocks(config_.rtpl);
  bank.precharge_ready = std::max(bank.precharge_ready, closable);
  last_was_write_ = job->write;
  bus_free_ = end;

  busy_ticks_ += job->sectors * burst;
  stats->busy_cycles += busy_ticks_ >> kTickShift;
  busy_ticks_ &= (Tick{1} << kTickShift) - 1;
  SM89_ASSERT(now >= job->arrival, "a job scheduled before it arrived");
  stats->queue_wait_cycles += now - job->arrival;
  (job->write ? stats->write_sectors : stats->read_sectors) += job->sectors;
  *done = (end + base_latency_ + (1u << kTickShift) - 1) >> kTickShift;
  return true;
}

Cycle DramChannel::NextWake(Cycle now) const {
  if (idle()) return kNever;
  if (reads_.empty() && writes_.empty()) return std::max(incoming_.front().arrival, now + 1);
  if (bus_free_ <= lookahead_) return now + 1;
  const Cycle ready = (bus_free_ - lookahead_ + (1u << kTickShift) - 1) >> kTickShift;
  return std::max(ready, now + 1);
}

}  // namespace sm89
