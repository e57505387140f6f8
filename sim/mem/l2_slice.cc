#include "sim/mem/l2_slice.h"

#include <algorithm>
#include <numeric>

#include "sim/base/assert.h"

namespace sm89 {
namespace {

uint32_t SectorBytes(const MemRequest& request, uint32_t sector) {
  return static_cast<uint32_t>(request.byte_mask[sector / 2] >> (sector % 2 * 32));
}

}  // namespace

L2Slice::L2Slice(const L2Config& config, const AddressMap& map)
    : map_(map),
      ways_(config.cache.ways),
      mshr_entries_(config.cache.mshr_entries),
      short_tags_(size_t{config.cache.sets} * config.cache.ways, ShortTag(kNoLine)),
      stamps_(short_tags_.size(), 0),
      lines_(short_tags_.size()) {
  SM89_ASSERT(!lines_.empty() && mshr_entries_ > 0, "an L2 slice has lines and MSHRs");
}

void L2Slice::Prefetch(uint64_t line) const {
  const uint32_t first = FirstWay(line);
  __builtin_prefetch(&short_tags_[first]);
  __builtin_prefetch(&stamps_[first]);
}

uint32_t L2Slice::Find(uint64_t line) const {
  const uint32_t first = FirstWay(line);
  const uint32_t tag = ShortTag(line);
  for (uint32_t way = first; way < first + ways_; ++way) {
    if (short_tags_[way] == tag && lines_[way].tag == line) return way;
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
  Line& entry = lines_[way];
  if (entry.tag != kNoLine) {
    outcome->evicted = true;
    outcome->evicted_line = entry.tag;
    outcome->writeback_mask = entry.dirty;
  }
  entry = Line{};
  entry.tag = line;
  short_tags_[way] = ShortTag(line);
  return way;
}

void L2Slice::RenumberStamps() {
  std::vector<uint32_t> order(ways_);
  for (size_t first = 0; first < stamps_.size(); first += ways_) {
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
  stamps_[way] = lines_[way].pending != 0 ? kFetching : use_counter_;
}

void L2Slice::Read(uint32_t way, uint8_t mask, L2Outcome* outcome, const StatPair<L2Stats>& stats) {
  Line& entry = lines_[way];
  const uint8_t missing = mask & ~entry.valid;
  const uint8_t merged = missing & entry.pending;
  const uint8_t fetch = missing & ~entry.pending;
  if (merged != 0) stats.Add(&L2Stats::mshr_hits, CountSectors(merged));
  if (fetch != 0) {
    if (entry.pending == 0) ++pending_lines_;
    entry.pending |= fetch;
  }
  outcome->fetch_mask = fetch;
  outcome->wait_mask = missing;
}

void L2Slice::Write(uint32_t way, const MemRequest& request) {
  Line& entry = lines_[way];
  entry.dirty |= request.sector_mask;
  entry.valid |= request.sector_mask & ~request.partial_mask;
  const uint8_t partial = request.partial_mask & ~entry.valid;
  if (partial != 0) {
    if (written_bytes_.empty()) written_bytes_.resize(lines_.size());
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

L2Outcome L2Slice::Access(const MemRequest& request, const StatPair<L2Stats>& stats) {
  L2Outcome outcome;
  const uint8_t mask = request.sector_mask;
  SM89_ASSERT(mask != 0 && mask < 16, "a request names sectors of one line");
  uint32_t way = Find(request.line);
  const Line before = way == kAbsent ? Line{} : lines_[way];
  const bool needs_data = request.kind != MemRequestKind::kWrite;
  const auto known = static_cast<uint8_t>(before.valid | before.pending);
  if (needs_data && (mask & ~known) != 0 && before.pending == 0 && pending_lines_ >= mshr_entries_) {
    outcome.blocked = true;
    return outcome;
  }
  if (way == kAbsent) {
    way = Allocate(request.line, &outcome);
    if (outcome.blocked) return outcome;
    if (outcome.evicted) {
      stats.Add(&L2Stats::evictions, 1);
      stats.Add(&L2Stats::writeback_sectors, CountSectors(outcome.writeback_mask));
    }
  }
  switch (request.kind) {
    case MemRequestKind::kRead:
      stats.Add(&L2Stats::read_sectors, CountSectors(mask));
      stats.Add(&L2Stats::read_hits, CountSectors(mask & before.valid));
      Read(way, mask, &outcome, stats);
      break;
    case MemRequestKind::kWrite:
      stats.Add(&L2Stats::write_sectors, CountSectors(mask));
      stats.Add(&L2Stats::write_hits, CountSectors(mask & (before.valid | before.partial)));
      Write(way, request);
      break;
    case MemRequestKind::kAtomic:
    case MemRequestKind::kReduction:
      stats.Add(&L2Stats::atomic_sectors, CountSectors(mask));
      Read(way, mask, &outcome, stats);
      lines_[way].dirty |= mask;
      break;
  }
  Use(way);
  return outcome;
}

void L2Slice::Fill(uint64_t line, uint8_t mask) {
  const uint32_t way = Find(line);
  SM89_ASSERT(way != kAbsent, "a fill for a line that was evicted while pending");
  Line& entry = lines_[way];
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
  return victim != kAbsent && lines_[victim].dirty != 0;
}

void L2Slice::FillFromHost(uint64_t line, uint8_t mask, L2Stats* stats) {
  uint32_t way = Find(line);
  if (way == kAbsent) {
    L2Outcome outcome;
    way = Allocate(line, &outcome);
    if (way == kAbsent) return;
  }
  Line& entry = lines_[way];
  entry.valid |= mask;
  entry.partial &= ~mask;
  entry.dirty |= mask;
  Use(way);
  stats->memcpy_fill_sectors += CountSectors(mask);
}

}  // namespace sm89
