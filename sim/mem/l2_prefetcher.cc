#include "sim/mem/l2_prefetcher.h"

#include <algorithm>

#include "sim/base/assert.h"

namespace sm89 {

L2Prefetcher::L2Prefetcher(const L2Config& config, const AddressMap& map)
    : map_(&map), distance_(config.features.prefetch_distance) {
  SM89_ASSERT(distance_ <= kMaxPrefetchDistance, "lines that a stream keeps");
}

// The stream that this line belongs to: its farthest line again or one shortly behind it (warps come out of
// order, and sectors of a line one by one), its next line, or one that it has fetched. Else the one used
// longest ago begins anew.
L2Prefetcher::Stream* L2Prefetcher::Find(uint64_t line, bool local) {
  Stream* oldest = &streams_[0];
  for (Stream& stream : streams_) {
    if (!stream.used) {
      if (oldest->used) oldest = &stream;
      continue;
    }
    if (stream.local == local) {
      if (line <= stream.last && stream.last - line <= map_->SlicePeriod() * kBehind) return &stream;
      const auto end = stream.fetched.begin() + stream.count_ahead;
      if (std::find(stream.fetched.begin(), end, line) != end) return &stream;
      if (stream.count_ahead == 0 && map_->NextOfSlice(stream.last) == line) return &stream;
    }
    if (oldest->used && stream.stamp < oldest->stamp) oldest = &stream;
  }
  *oldest = Stream{};
  oldest->used = true;
  oldest->local = local;
  return oldest;
}

std::span<const uint64_t> L2Prefetcher::OnDemand(uint64_t line, bool local) {
  Stream& stream = *Find(line, local);
  asked_ = &stream;
  num_wanted_ = 0;
  stream.stamp = ++uses_;
  if (stream.lines == 0 || line > stream.last) {
    stream.last = line;
    ++stream.lines;
  }
  // What lies behind the line is no longer ahead.
  uint32_t kept = 0;
  for (uint32_t i = 0; i < stream.count_ahead; ++i) {
    if (stream.fetched[i] > stream.last) stream.fetched[kept++] = stream.fetched[i];
  }
  stream.count_ahead = kept;
  const uint32_t depth = local ? std::max(1u, distance_ / 4) : distance_;
  if (!local || stream.lines > kLocalConfidence) {
    uint64_t from = stream.count_ahead == 0 ? stream.last : stream.fetched[stream.count_ahead - 1];
    while (stream.count_ahead < depth) {
      const uint64_t next = map_->NextOfSlice(from);
      if (next == from) break;
      stream.fetched[stream.count_ahead++] = wanted_[num_wanted_++] = from = next;
    }
  }
  return {wanted_.data(), num_wanted_};
}

void L2Prefetcher::Taken(uint32_t taken) {
  SM89_ASSERT(asked_ != nullptr && taken <= num_wanted_, "lines of the last call");
  asked_->count_ahead -= num_wanted_ - taken;
  num_wanted_ = taken;
}

}  // namespace sm89
