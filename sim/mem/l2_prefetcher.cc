#include "sim/mem/l2_prefetcher.h"

#include <algorithm>

namespace sm89 {

// The stream whose next line this is, or one of those that it has fetched; else the one used longest ago.
L2Prefetcher::Stream* L2Prefetcher::Find(uint64_t line, bool local) {
  Stream* oldest = &streams_[0];
  for (Stream& stream : streams_) {
    if (!stream.used) {
      if (oldest->used) oldest = &stream;
      continue;
    }
    if (stream.local == local && line > stream.last) {
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
  stream.stamp = ++uses_;
  stream.last = line;
  ++stream.lines;
  // What lies behind the line is no longer ahead.
  uint32_t kept = 0;
  for (uint32_t i = 0; i < stream.count_ahead; ++i) {
    if (stream.fetched[i] > line) stream.fetched[kept++] = stream.fetched[i];
  }
  stream.count_ahead = kept;
  uint32_t count = 0;
  const uint32_t depth = local ? std::max(1u, distance_ / 4) : distance_;
  if (!local || stream.lines > kLocalConfidence) {
    uint64_t from = stream.count_ahead == 0 ? line : stream.fetched[stream.count_ahead - 1];
    while (stream.count_ahead < depth) {
      const uint64_t next = map_->NextOfSlice(from);
      if (next == from) break;
      stream.fetched[stream.count_ahead++] = wanted_[count++] = from = next;
    }
  }
  return {wanted_.data(), count};
}

}  // namespace sm89
