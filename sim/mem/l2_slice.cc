#include "sim/mem/l2_slice.h"

#include <algorithm>
#include <numeric>

#include "sim/base/assert.h"

namespace sm89 {
namespace {

constexpr uint8_t kAllSectors = (1u << kSectorsPerLine) - 1;

uint32_t SectorBytes(const MemRequest& request, uint32_t sector) {
  return static_cast<uint32_t>(request.byte_mask[sector / 2] >> (sector % 2 * 32));
}

}  // namespace

L2Slice::L2Slice(const L2Config& config, const AddressMap& map)
    : map_(map),
      ways_(config.cache.ways),
      mshr_entries_(config.cache.mshr_entries),
      num_lines_(config.cache.sets * config.cache.ways),
      tags_(num_lines_),
      stamps_(num_lines_),
      sectors_(num_lines_) {
  SM89_ASSERT(num_lines_ > 0 && mshr_entries_ > 0, "an L2 slice has lines and MSHRs");
}

void L2Slice::PrefetchSet(uint64_t line) const {
  const uint32_t first = FirstWay(line);
  __builtin_prefetch(&tags_[first]);
  __builtin_prefetch(&tags_[first + ways_ / 2]);
  __builtin_prefetch(&stamps_[first]);
  __builtin_prefetch(&sectors_[first]);
}

void L2Slice::PrefetchWay(uint32_t way) const {
  __builtin_prefetch(&tags_[way]);
  __builtin_prefetch(&stamps_[way]);
  __builtin_prefetch(&sectors_[way]);
}

uint32_t L2Slice::Find(uint64_t line) const {
  const uint32_t first = FirstWay(line);
  for (uint32_t way = first; way < first + ways_; ++way) {
    if (tags_[way] == ~line) return way;
  }
  return kAbsent;
}

uint32_t L2Slice::Victim(uint64_t line) const {
  const uint32_t first = FirstWay(line);
  uint32_t victim = first;
  for (uint32_t way = first + 1; way < first + ways_; ++way) {
    if (stamps_[way] < stamps_[victim]) victim = way;
  }
  return stamps_[victim] == kFetching ? kAbsent : victim;
}

uint32_t L2Slice::Allocate(uint64_t line, L2Outcome* outcome) {
  const uint32_t way = Victim(line);
  if (way == kAbsent) {
    outcome->blocked = true;
    return kAbsent;
  }
  if (tags_[way] != kNoTag) {
    outcome->evicted = true;
    outcome->evicted_line = ~tags_[way];
    outcome->writeback_mask = sectors_[way].dirty;
    outcome->partial_writeback = sectors_[way].partial != 0;
  }
  sectors_[way] = Sectors{};
  tags_[way] = ~line;
  return way;
}

void L2Slice::RenumberStamps() {
  std::vector<uint32_t> order(ways_);
  for (uint32_t first = 0; first < num_lines_; first += ways_) {
    std::iota(order.begin(), order.end(), 0u);
    std::stable_sort(order.begin(), order.end(),
                     [&](uint32_t a, uint32_t b) { return stamps_[first + a] < stamps_[first + b]; });
    for (uint32_t rank = 0; rank < ways_; ++rank) {
      uint32_t& stamp = stamps_[first + order[rank]];
      if (stamp != kFetching) stamp = rank;
    }
  }
  use_counter_ = ways_;
}

void L2Slice::Use(uint32_t way) {
  if (++use_counter_ == kFetching) RenumberStamps();
  stamps_[way] = sectors_[way].pending != 0 ? kFetching : use_counter_;
}

void L2Slice::Read(uint32_t way, uint8_t mask, uint8_t fetched, L2Outcome* outcome,
                   const StatPair<L2Stats>& stats) {
  Sectors& entry = sectors_[way];
  const uint8_t missing = mask & ~entry.valid;
  const uint8_t merged = missing & entry.pending;
  uint8_t fetch = missing & ~entry.pending;
  if (merged != 0) stats.Add(&L2Stats::mshr_hits, CountSectors(merged));
  if (fetch != 0) {
    stats.Add(&L2Stats::fetch_sectors, CountSectors(fetch));
    outcome->asked_sectors = static_cast<uint8_t>(CountSectors(fetch));
    fetch |= fetched & ~entry.valid & ~entry.pending;
    if (entry.pending == 0) ++pending_lines_;
    entry.pending |= fetch;
  }
  outcome->fetch_mask = fetch;
  outcome->wait_mask = missing;
}

void L2Slice::Write(uint32_t way, const MemRequest& request) {
  Sectors& entry = sectors_[way];
  entry.dirty |= request.sector_mask;
  entry.valid |= request.sector_mask & ~request.partial_mask;
  const uint8_t partial = request.partial_mask & ~entry.valid;
  if (partial != 0) {
    if (written_bytes_.empty()) written_bytes_.resize(num_lines_);
    for (uint32_t sector = 0; sector < kSectorsPerLine; ++sector) {
      const auto bit = static_cast<uint8_t>(1u << sector);
      if ((partial & bit) == 0) continue;
      uint32_t& bytes = written_bytes_[way][sector];
      if ((entry.partial & bit) == 0) bytes = 0;
      bytes |= SectorBytes(request, sector);
      if (bytes == ~0u) entry.valid |= bit;
      entry.partial |= bit;
    }
  }
  entry.partial &= ~entry.valid;
}

void L2Slice::NoteUse(uint32_t way, uint8_t mask, L2Outcome* outcome, const StatPair<L2Stats>& stats) {
  if (prefetched_.empty()) return;
  const uint8_t used = prefetched_[way] & mask;
  if (used == 0) return;
  outcome->first_use = true;
  prefetched_[way] &= static_cast<uint8_t>(~used);
  const uint8_t there = used & sectors_[way].valid;
  stats.Add(&L2Stats::prefetch_hits, CountSectors(there));
  stats.Add(&L2Stats::prefetch_late, CountSectors(used & ~there));
}

void L2Slice::NoteEviction(const L2Outcome& outcome, uint32_t way, const StatPair<L2Stats>& stats) {
  if (!outcome.evicted) return;
  stats.Add(&L2Stats::evictions, 1);
  stats.Add(&L2Stats::writeback_sectors, CountSectors(outcome.writeback_mask));
  stats.Add(&L2Stats::prefetch_unused, DropPrefetched(way, kAllSectors));
}

uint32_t L2Slice::DropPrefetched(uint32_t way, uint8_t mask) {
  if (prefetched_.empty()) return 0;
  const uint32_t dropped = CountSectors(prefetched_[way] & mask);
  prefetched_[way] &= static_cast<uint8_t>(~mask);
  return dropped;
}

L2Outcome L2Slice::Prefetch(uint64_t line, const StatPair<L2Stats>& stats) {
  L2Outcome outcome;
  if (prefetched_.empty()) prefetched_.resize(num_lines_, 0);
  uint32_t way = Find(line);
  const Sectors before = way == kAbsent ? Sectors{} : sectors_[way];
  const auto fetch = static_cast<uint8_t>(kAllSectors & ~(before.valid | before.pending));
  if (fetch == 0) return outcome;
  outcome.blocked = before.pending == 0 && pending_lines_ >= mshr_entries_ - mshr_entries_ / 4;
  if (!outcome.blocked && way == kAbsent) way = Allocate(line, &outcome);
  if (outcome.blocked) return outcome;
  NoteEviction(outcome, way, stats);
  Sectors& entry = sectors_[way];
  if (entry.pending == 0) ++pending_lines_;
  entry.pending |= fetch;
  prefetched_[way] |= fetch;
  stats.Add(&L2Stats::prefetch_sectors, CountSectors(fetch));
  Use(way);
  outcome.way = way;
  outcome.fetch_mask = fetch;
  outcome.asked_sectors = static_cast<uint8_t>(CountSectors(fetch));
  return outcome;
}

L2Outcome L2Slice::Access(const MemRequest& request, const StatPair<L2Stats>& stats, bool whole_line) {
  L2Outcome outcome;
  const uint8_t fetched = whole_line ? kAllSectors : request.sector_mask;
  const uint8_t mask = request.sector_mask;
  SM89_ASSERT(mask != 0 && mask < 16, "a request names sectors of one line");
  uint32_t way = Find(request.line);
  const Sectors before = way == kAbsent ? Sectors{} : sectors_[way];
  const bool needs_data = request.kind != MemRequestKind::kWrite;
  const auto known = static_cast<uint8_t>(before.valid | before.pending);
  if (needs_data && (mask & ~known) != 0 && before.pending == 0 && pending_lines_ >= mshr_entries_) {
    outcome.blocked = true;
    return outcome;
  }
  if (way == kAbsent) {
    way = Allocate(request.line, &outcome);
    if (outcome.blocked) return outcome;
    NoteEviction(outcome, way, stats);
  }
  if (needs_data) NoteUse(way, mask, &outcome, stats);
  switch (request.kind) {
    case MemRequestKind::kRead:
      stats.Add(&L2Stats::read_sectors, CountSectors(mask));
      outcome.hits = static_cast<uint8_t>(CountSectors(mask & before.valid));
      stats.Add(&L2Stats::read_hits, outcome.hits);
      Read(way, mask, fetched, &outcome, stats);
      break;
    case MemRequestKind::kWrite:
      stats.Add(&L2Stats::write_sectors, CountSectors(mask));
      stats.Add(&L2Stats::write_hits, CountSectors(mask & (before.valid | before.partial)));
      Write(way, request);
      stats.Add(&L2Stats::prefetch_unused, DropPrefetched(way, mask & ~request.partial_mask));
      break;
    case MemRequestKind::kAtomic:
    case MemRequestKind::kReduction:
      stats.Add(&L2Stats::atomic_sectors, CountSectors(mask));
      Read(way, mask, fetched, &outcome, stats);
      sectors_[way].dirty |= mask;
      break;
  }
  Use(way);
  outcome.way = way;
  return outcome;
}

void L2Slice::Fill(uint64_t line, uint32_t way, uint8_t mask) {
  SM89_ASSERT(tags_[way] == ~line, "a fill for a line that was evicted while pending");
  Sectors& entry = sectors_[way];
  SM89_ASSERT((mask & ~entry.pending) == 0, "a fill that nobody asked for");
  entry.pending &= ~mask;
  entry.valid |= mask;
  entry.partial &= ~mask;
  if (entry.pending == 0) {
    SM89_ASSERT(pending_lines_ > 0, "MSHR count");
    --pending_lines_;
    Use(way);
  }
}

bool L2Slice::WouldWriteBack(uint64_t line) const {
  if (Find(line) != kAbsent) return false;
  const uint32_t victim = Victim(line);
  return victim != kAbsent && sectors_[victim].dirty != 0;
}

void L2Slice::FillFromHost(uint64_t line, uint8_t mask, L2Stats* stats) {
  uint32_t way = Find(line);
  if (way == kAbsent) {
    L2Outcome outcome;
    way = Allocate(line, &outcome);
    if (way == kAbsent) return;
    if (outcome.evicted) stats->prefetch_unused += DropPrefetched(way, kAllSectors);
  }
  stats->prefetch_unused += DropPrefetched(way, mask);
  Sectors& entry = sectors_[way];
  entry.valid |= mask;
  entry.partial &= ~mask;
  entry.dirty |= mask;
  Use(way);
  stats->memcpy_fill_sectors += CountSectors(mask);
}

}  // namespace sm89
