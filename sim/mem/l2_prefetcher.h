// Stream prefetcher of an L2 slice. A research option: no public source describes one on Ada. It sees the
// slice's own lines only, and keeps so many of them under way ahead of each stream. Global reads are taken
// for streams from the first miss on and get the whole distance, local memory from the third line on and gets
// a quarter (at least one): the project's description asks for a prefetcher that knows address spaces.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "sim/config/gpu_config.h"
#include "sim/mem/address_map.h"

namespace sm89 {

class L2Prefetcher {
 public:
  L2Prefetcher(const L2Config& config, const AddressMap& map);

  // The slice missed `line`, or it was asked for the first time since it was prefetched. Returns the lines to
  // fetch, nearest first; valid until the next call.
  std::span<const uint64_t> OnDemand(uint64_t line, bool local);
  // Of the last call's lines only the first `taken` could be fetched: the others are still to come.
  void Taken(uint32_t taken);

 private:
  static constexpr uint32_t kStreams = 16;
  static constexpr uint32_t kBehind =
      4;  // lines of a slice behind a stream's farthest that are still its own
  static constexpr uint32_t kLocalConfidence = 2;  // earlier lines of a stream in local memory

  struct Stream {
    bool used = false;
    bool local = false;
    uint64_t last = 0;  // farthest line asked for
    uint32_t count_ahead = 0;
    uint32_t lines = 0;                                    // asked for, in order
    uint64_t stamp = 0;                                    // of the last use
    std::array<uint64_t, kMaxPrefetchDistance> fetched{};  // ahead of `last`, in order
  };

  Stream* Find(uint64_t line, bool local);

  const AddressMap* map_;
  uint32_t distance_;
  uint64_t uses_ = 0;
  std::array<Stream, kStreams> streams_{};
  Stream* asked_ = nullptr;  // of the last call
  uint32_t num_wanted_ = 0;
  std::array<uint64_t, kMaxPrefetchDistance> wanted_{};
};

}  // namespace sm89
