#include "sim/mem/dram_channel.h"

#include <algorithm>

#include "sim/base/assert.h"

namespace sm89 {

DramChannel::Timing DramChannel::MakeTiming(const DramConfig& config, const ClockConfig& clocks) {
  const auto clock = [&](uint64_t dram_clocks) -> Tick {
    return ((dram_clocks * clocks.core_khz << kTickShift) + clocks.dram_khz / 2) / clocks.dram_khz;
  };
  const auto ns_x10 = [&](uint64_t time) -> Tick {
    return (time * clocks.core_khz << kTickShift) / 10'000'000;
  };
  Timing t{};
  // CCD is no shorter (sim/config/validate.cc).
  t.burst = clock(kSectorBytes * 8 / (config.channel_bits * config.data_rate_multiplier));
  t.ccd = clock(config.ccd);
  t.ccdl = clock(std::max(config.ccd, config.bank_groups > 1 ? config.ccdl : config.ccd));
  t.rrd = clock(config.rrd);
  t.rrdl = clock(std::max(config.rrd, config.rrdl));
  t.faw = clock(config.faw);
  t.rcd = clock(config.rcd);
  t.rcdw = clock(config.rcdw == 0 ? config.rcd : config.rcdw);
  t.ras = clock(config.ras);
  t.rp = clock(config.rp);
  t.rc = clock(config.rc);
  t.cl = clock(config.cl);
  t.wl = clock(config.wl);
  t.cdlr = clock(config.cdlr);
  t.wr = clock(config.wr);
  t.rtp = clock(config.rtpl);
  t.turn_round = clock(config.turn_round);
  t.refresh_interval = ns_x10(uint64_t{config.refresh_interval_ns} * 10);
  t.refresh_length = ns_x10(uint64_t{config.refresh_ns} * 10);
  t.base_latency = ns_x10(config.base_latency_ns_x10);
  t.horizon = kSectorsPerLine * t.ccd;
  return t;
}

DramChannel::DramChannel(const DramConfig& config, const ClockConfig& clocks)
    : timing_(MakeTiming(config, clocks)),
      num_banks_(config.banks),
      num_groups_(config.bank_groups),
      window_entries_(std::min(config.scheduler_window, DramWindow::kCapacity)),
      write_high_(config.write_high_mark),
      write_low_(config.write_low_mark),
      refresh_banks_(config.refresh_banks == 0 ? config.banks
                                               : std::min(config.refresh_banks, config.banks)) {
  SM89_ASSERT(clocks.dram_khz > 0 && clocks.core_khz > 0, "a channel has clocks");
  SM89_ASSERT(num_banks_ > 0 && num_banks_ <= kMaxBanks, "banks of a channel are bits of a word");
  SM89_ASSERT(num_groups_ > 0 && num_groups_ <= DramWindow::kMaxGroups, "bank groups of a channel");
  SM89_ASSERT(num_banks_ % num_groups_ == 0 && window_entries_ > 0, "banks divide into groups");
  for (uint32_t bank = 0; bank < num_banks_; ++bank) {
    group_of_.push_back(static_cast<uint8_t>(bank / (num_banks_ / num_groups_)));
  }
  banks_.resize(num_banks_);
  timing_.refresh_interval = timing_.refresh_interval * refresh_banks_ / num_banks_;
  next_refresh_ = timing_.refresh_interval;
}

void DramChannel::Enqueue(const DramJob& job) {
  SM89_ASSERT(job.bank < num_banks_, "bank number");
  SM89_ASSERT(job.sectors > 0 && job.sectors <= kSectorsPerLine, "sectors of a job");
  incoming_.push_back(job);
  // Slices send nearly in order: the new one moves past the few that arrive later.
  for (uint32_t i = incoming_.size() - 1; i > 0 && incoming_[i - 1].arrival > incoming_[i].arrival; --i) {
    std::swap(incoming_[i - 1], incoming_[i]);
  }
  num_writes_ += job.write ? 1 : 0;
}

DramChannel::Queues DramChannel::queues() const {
  Queues queues{incoming_.size(), reads_.size(), writes_.size(), kNever};
  if (!incoming_.empty()) queues.oldest_arrival = incoming_.front().arrival;
  for (const Direction* direction : {&reads_, &writes_}) {
    if (!direction->empty()) {
      queues.oldest_arrival = std::min(queues.oldest_arrival, direction->window.job(0).arrival);
    }
  }
  return queues;
}

void DramChannel::NoteWaiting(uint32_t position) {
  const DramWindow& window = active().window;
  const uint32_t b = window.bank(position);
  const uint64_t bit = uint64_t{1} << b;
  ++waiting_[b];
  if (banks_[b].row == window.job(position).row) {
    ++hits_[b];
    wanting_ &= ~bit;
    if ((opening_ & bit) == 0) ready_ |= uint64_t{1} << position;
  } else if (hits_[b] == 0) {
    wanting_ |= bit;
  }
}

void DramChannel::Add(Direction* direction, const DramJob& job) {
  if (direction->window.size() >= window_entries_) {
    direction->behind.push_back(job);
    return;
  }
  direction->window.Push(job, GroupOf(job.bank));
  if (direction == &active()) NoteWaiting(direction->window.size() - 1);
}

void DramChannel::TakeArrived(Cycle now) {
  while (!incoming_.empty() && incoming_.front().arrival <= now) {
    Add(incoming_.front().write ? &writes_ : &reads_, incoming_.front());
    incoming_.pop_front();
  }
}

void DramChannel::CountWaiting() {
  ready_ = 0;
  wanting_ = 0;
  waiting_.fill(0);
  hits_.fill(0);
  for (uint32_t i = 0; i < active().window.size(); ++i) NoteWaiting(i);
}

void DramChannel::ChooseDirection() {
  if (draining_ && writes_.size() <= write_low_ && !reads_.empty()) draining_ = false;
  if (writes_.size() >= write_high_) draining_ = true;
  const bool write = !writes_.empty() && (draining_ || reads_.empty());
  if (write == writing_) return;
  writing_ = write;
  CountWaiting();
}

void DramChannel::Refresh(uint32_t b, Tick due) {
  Bank& bank = banks_[b];
  const bool open = bank.row != kClosed;
  const Tick start =
      std::max(open ? std::max(due, bank.precharge_ready) + timing_.rp : due, bank.activate_ready);
  bank.row = kClosed;
  bank.activate_ready = start + timing_.refresh_length;
  const uint64_t bit = uint64_t{1} << b;
  opening_ &= ~bit;
  hits_[b] = 0;
  ready_ &= ~active().window.OfBank(b);
  if (waiting_[b] != 0) wanting_ |= bit;
}

void DramChannel::CatchUpRefresh(Tick now, DramStats* stats) {
  if (timing_.refresh_interval == 0 || now < next_refresh_) return;
  const uint64_t missed = (now - next_refresh_) / timing_.refresh_interval + 1;
  stats->refreshes += missed;
  // A bank's last refresh is the one that counts.
  const uint64_t turns = num_banks_ / refresh_banks_ + (num_banks_ % refresh_banks_ == 0 ? 0 : 1);
  const uint64_t skipped = missed > turns ? missed - turns : 0;
  Tick due = next_refresh_ + skipped * timing_.refresh_interval;
  uint32_t first =
      static_cast<uint32_t>((refresh_turn_ + skipped % num_banks_ * refresh_banks_) % num_banks_);
  for (uint64_t i = skipped; i < missed; ++i) {
    for (uint32_t k = 0; k < refresh_banks_; ++k) Refresh((first + k) % num_banks_, due);
    first = (first + refresh_banks_) % num_banks_;
    due += timing_.refresh_interval;
  }
  refresh_turn_ = first;
  next_refresh_ = due;
}

void DramChannel::ReadyOpenedBanks(Tick now) {
  for (uint64_t left = opening_; left != 0; left &= left - 1) {
    const auto b = static_cast<uint32_t>(__builtin_ctzll(left));
    if (banks_[b].column_ready > now) {
      WakeNoLaterThan(banks_[b].column_ready);
      continue;
    }
    opening_ &= ~(uint64_t{1} << b);
    const DramWindow& window = active().window;
    for (uint64_t m = window.OfBank(b); m != 0; m &= m - 1) {
      const auto i = static_cast<uint32_t>(__builtin_ctzll(m));
      if (window.job(i).row == banks_[b].row) ready_ |= uint64_t{1} << i;
    }
  }
}

bool DramChannel::OpenRow(uint32_t position, Tick now, DramStats* stats) {
  DramWindow& window = active().window;
  DramJob& job = window.job(position);
  const uint32_t g = GroupOf(job.bank);
  Bank& bank = banks_[job.bank];
  const bool open = bank.row != kClosed;
  const Tick ready = open ? bank.precharge_ready : bank.activate_ready;
  if (ready > now) {
    WakeNoLaterThan(ready);
    return false;
  }
  const Tick activate = std::max({open ? now + timing_.rp : now, bank.activate_ready, activate_free_,
                                  group_activate_[g], last_activates_[oldest_activate_]});
  activate_free_ = activate + timing_.rrd;
  group_activate_[g] = activate + timing_.rrdl;
  last_activates_[oldest_activate_] = activate + timing_.faw;
  oldest_activate_ = (oldest_activate_ + 1) % kFawActivates;
  bank.row = job.row;
  bank.column_ready = activate + (job.write ? timing_.rcdw : timing_.rcd);
  bank.activate_ready = activate + timing_.rc;
  bank.precharge_ready = activate + timing_.ras;
  for (uint64_t m = window.OfBank(job.bank); m != 0; m &= m - 1) {
    if (window.job(static_cast<uint32_t>(__builtin_ctzll(m))).row == job.row) ++hits_[job.bank];
  }
  opening_ |= uint64_t{1} << job.bank;
  wanting_ &= ~(uint64_t{1} << job.bank);
  stats->row_misses += job.opened_row ? 0 : 1;
  job.opened_row = true;
  WakeNoLaterThan(bank.column_ready);
  return true;
}

void DramChannel::OpenRows(Tick now, DramStats* stats) {
  uint64_t left = wanting_;
  const DramWindow& window = active().window;
  for (uint32_t i = 0; left != 0; ++i) {
    SM89_ASSERT(i < window.size(), "a bank wants a row that no request names");
    const uint64_t bit = uint64_t{1} << window.bank(i);
    if ((left & bit) == 0) continue;
    left &= ~bit;
    OpenRow(i, now, stats);
  }
}

bool DramChannel::PickColumn(Tick now, Column* column) {
  if (ready_ == 0) return false;
  const DramWindow& window = active().window;
  const Tick bus = std::max(now, active().next_column);
  Tick best_at = kNever;
  uint32_t best = DramWindow::kCapacity;
  for (uint32_t g = 0; g < num_groups_; ++g) {
    const uint64_t candidates = ready_ & window.group(g);
    if (candidates == 0) continue;
    const auto position = static_cast<uint32_t>(__builtin_ctzll(candidates));
    const Tick at = std::max(bus, group_column_[g]);
    if (at > best_at || (at == best_at && position > best)) continue;
    best_at = at;
    best = position;
  }
  *column = {best, best_at};
  return true;
}

DramChannel::Tick DramChannel::IssueColumn(const Column& column, DramStats* stats) {
  DramJob& job = active().window.job(column.position);
  Bank& bank = banks_[job.bank];
  const Tick end = column.at + (job.write ? timing_.wl : timing_.cl) + timing_.burst;
  group_column_[GroupOf(job.bank)] = column.at + timing_.ccdl;
  active().next_column = column.at + timing_.ccd;
  // A read waits tCDLR after a write's last data, a write's data the turn-round after a read's.
  if (job.write) {
    reads_.next_column = std::max(reads_.next_column, end + timing_.cdlr);
    bank.precharge_ready = std::max(bank.precharge_ready, end + timing_.wr);
    ++stats->write_sectors;
  } else {
    writes_.next_column = std::max(writes_.next_column, end + timing_.turn_round - timing_.wl);
    bank.precharge_ready = std::max(bank.precharge_ready, column.at + timing_.rtp);
    ++stats->read_sectors;
  }
  busy_ticks_ += timing_.burst;
  stats->busy_cycles += busy_ticks_ >> kTickShift;
  busy_ticks_ &= (Tick{1} << kTickShift) - 1;
  --job.sectors;
  return end;
}

void DramChannel::Retire(uint32_t position) {
  Direction& direction = active();
  const uint32_t b = direction.window.bank(position);
  SM89_ASSERT(waiting_[b] > 0 && hits_[b] > 0, "a bank's requests");
  --waiting_[b];
  --hits_[b];
  if (hits_[b] == 0 && waiting_[b] != 0) wanting_ |= uint64_t{1} << b;
  direction.window.Remove(position, &ready_);
  if (!direction.behind.empty()) {
    const DramJob next = direction.behind.front();
    direction.behind.pop_front();
    Add(&direction, next);
  }
}

bool DramChannel::Schedule(Cycle now, DramJob* job, Cycle* done, DramStats* stats) {
  const Tick tick = now << kTickShift;
  if (resumable_ != now) {
    wake_ = kNever;
    TakeArrived(now);
    CatchUpRefresh(tick, stats);
    ReadyOpenedBanks(tick);
  }
  ChooseDirection();
  if (wanting_ != 0) OpenRows(tick, stats);
  Column column;
  while (PickColumn(tick, &column)) {
    if (column.at > tick + timing_.horizon) {
      WakeNoLaterThan(column.at - (Tick{1} << kTickShift));
      break;
    }
    const Tick end = IssueColumn(column, stats);
    const DramJob& chosen = active().window.job(column.position);
    if (chosen.sectors != 0) continue;
    *job = chosen;
    Retire(column.position);
    num_writes_ -= job->write ? 1 : 0;
    SM89_ASSERT(now >= job->arrival, "a job scheduled before it arrived");
    stats->queue_wait_cycles += now - job->arrival;
    stats->row_hits += job->opened_row ? 0 : 1;
    *done = (end + timing_.base_latency + (Tick{1} << kTickShift) - 1) >> kTickShift;
    resumable_ = now;
    return true;
  }
  resumable_ = kNever;
  return false;
}

Cycle DramChannel::NextWake(Cycle now) const {
  if (idle()) return kNever;
  if (resumable_ == now) return now + 1;
  Cycle wake = wake_ == kNever ? kNever : (wake_ + (Tick{1} << kTickShift) - 1) >> kTickShift;
  if (!incoming_.empty()) wake = std::min(wake, incoming_.front().arrival);
  SM89_ASSERT(wake != kNever, "a DRAM channel with requests and nothing to wait for");
  return std::max(wake, now + 1);
}

}  // namespace sm89
