#include "sim/mem/l2_slice.h"

#include "sim/base/assert.h"

namespace sm89 {
namespace {

uint32_t Count(uint8_t mask) { return static_cast<uint32_t>(__builtin_popcount(mask)); }

}  // namespace

L2Slice::L2Slice(const L2Config& config, const AddressMap& map)
    : map_(map),
      ways_(config.cache.ways),
      mshr_entries_(config.cache.mshr_entries),
      lines_(size_t{config.cache.sets} * config.cache.ways) {
  SM89_ASSERT(!lines_.empty() && mshr_entries_ > 0, "an L2 slice has lines and MSHRs");
}

L2Slice::Line* L2Slice::Find(uint64_t line) {
  Line* set = &lines_[size_t{map_.Set(line)} * ways_];
  for (uint32_t way = 0; way < ways_; ++way) {
    if (set[way].tag == line) return &set[way];
  }
  return nullptr;
}

L2Slice::Line* L2Slice::Victim(uint64_t line) {
  Line* set = &lines_[size_t{map_.Set(line)} * ways_];
  Line* victim = nullptr;
  for (uint32_t way = 0; way < ways_; ++way) {
    if (set[way].pending != 0) continue;
    if (victim == nullptr || set[way].last_use < victim->last_use) victim = &set[way];
  }
  return victim;
}

L2Slice::Line* L2Slice::Allocate(uint64_t line, L2Outcome* outcome, L2Stats* stats) {
  Line* victim = Victim(line);
  if (victim == nullptr) {
    outcome->blocked = true;
    return nullptr;
  }
  if (victim->tag != ~uint64_t{0}) {
    ++stats->evictions;
    outcome->evicted_line = victim->tag;
    outcome->writeback_mask = victim->dirty;
    stats->writeback_sectors += Count(victim->dirty);
  }
  *victim = Line{};
  victim->tag = line;
  return victim;
}

void L2Slice::Read(Line* entry, uint8_t mask, L2Outcome* outcome, L2Stats* stats) {
  const uint8_t missing = mask & ~entry->valid;
  const uint8_t merged = missing & entry->pending;
  const uint8_t fetch = missing & ~entry->pending;
  stats->mshr_hits += Count(merged);
  if (fetch != 0) {
    if (entry->pending == 0) ++pending_lines_;
    entry->pending |= fetch;
  }
  outcome->fetch_mask = fetch;
  outcome->wait_mask = missing;
}

L2Outcome L2Slice::Access(const MemRequest& request, L2Stats* stats) {
  L2Outcome outcome;
  const uint8_t mask = request.sector_mask;
  SM89_ASSERT(mask != 0 && mask < 16, "a request names sectors of one line");
  Line* entry = Find(request.line);
  const bool needs_data = request.kind != MemRequestKind::kWrite;
  const uint8_t known = entry == nullptr ? 0 : static_cast<uint8_t>(entry->valid | entry->pending);
  if (needs_data && (mask & ~known) != 0 && pending_lines_ >= mshr_entries_ &&
      (entry == nullptr || entry->pending == 0)) {
    outcome.blocked = true;
    return outcome;
  }
  const uint8_t valid_before = entry == nullptr ? 0 : entry->valid;
  if (entry == nullptr) {
    entry = Allocate(request.line, &outcome, stats);
    if (outcome.blocked) return outcome;
  }
  entry->last_use = ++use_counter_;
  switch (request.kind) {
    case MemRequestKind::kRead:
      stats->read_sectors += Count(mask);
      stats->read_hits += Count(mask & valid_before);
      Read(entry, mask, &outcome, stats);
      break;
    case MemRequestKind::kWrite:
      stats->write_sectors += Count(mask);
      stats->write_hits += Count(mask & (valid_before | entry->partial));
      entry->partial |= request.partial_mask & ~entry->valid;
      entry->valid |= mask & ~request.partial_mask;
      entry->partial &= ~entry->valid;
      entry->dirty |= mask;
      break;
    case MemRequestKind::kAtomic:
    case MemRequestKind::kReduction:
      stats->atomic_sectors += Count(mask);
      Read(entry, mask, &outcome, stats);
      entry->dirty |= mask;
      break;
  }
  return outcome;
}

void L2Slice::Fill(uint64_t line, uint8_t mask) {
  Line* entry = Find(line);
  SM89_ASSERT(entry != nullptr, "a fill for a line that was evicted while pending");
  SM89_ASSERT((mask & ~entry->pending) == 0, "a fill that nobody asked for");
  entry->pending &= ~mask;
  entry->valid |= mask;
  entry->partial &= ~mask;
  if (entry->pending == 0) {
    SM89_ASSERT(pending_lines_ > 0, "MSHR count");
    --pending_lines_;
  }
}

bool L2Slice::WouldWriteBack(uint64_t line) {
  if (Find(line) != nullptr) return false;
  const Line* victim = Victim(line);
  return victim != nullptr && victim->dirty != 0;
}

void L2Slice::FillFromHost(uint64_t line, uint8_t mask, L2Stats* stats) {
  Line* entry = Find(line);
  if (entry == nullptr) {
    L2Outcome outcome;
    L2Stats not_counted;
    entry = Allocate(line, &outcome, &not_counted);
    if (entry == nullptr) return;
  }
  entry->last_use = ++use_counter_;
  entry->valid |= mask;
  entry->partial &= ~mask;
  entry->dirty |= mask;
  stats->memcpy_fill_sectors += Count(mask);
}

}  // namespace sm89
