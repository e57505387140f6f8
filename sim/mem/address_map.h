// Where a line lives: L2 slice and set, DRAM channel, bank and row.
#pragma once

#include <cstdint>

#include "sim/config/gpu_config.h"

namespace sm89 {

enum class SliceHash : uint32_t {
  kUniform = 0,  // golden-ratio sequence: even over any slice count for every stride (assumption: NVIDIA's
                 // hash is unknown; evenness over 48 slices is what is known)
  kModulo = 1,   // line % slices
  kXorFold = 2,  // exclusive-or of all 16-bit parts, then an unbiased reduction
};

class AddressMap {
 public:
  AddressMap(const L2Config& l2, const DramConfig& dram)
      : slices_(l2.slices),
        sets_(l2.cache.sets),
        hash_(static_cast<SliceHash>(l2.hash)),
        channels_(dram.channels),
        slices_per_channel_(l2.slices / dram.channels == 0 ? 1 : l2.slices / dram.channels),
        banks_(dram.banks),
        lines_per_row_group_(uint64_t{dram.row_bytes} / 128 * dram.channels) {}

  uint32_t Slice(uint64_t line) const {
    switch (hash_) {
      case SliceHash::kModulo:
        return static_cast<uint32_t>(line % slices_);
      case SliceHash::kXorFold:
        return Reduce(Fold(line) * 0x9E3779B97F4A7C15ull, slices_);
      case SliceHash::kUniform:
        break;
    }
    return Reduce(line * 0x9E3779B97F4A7C15ull, slices_);
  }

  uint32_t Set(uint64_t line) const { return Reduce(line * 0xD6E8FEB86659FD93ull, sets_); }

  uint32_t Channel(uint32_t slice) const { return slice / slices_per_channel_ % channels_; }

  // A row of every channel together covers a contiguous block, so that a stream hits open rows.
  uint64_t Row(uint64_t line) const { return line / lines_per_row_group_; }
  // Neighbouring rows lie in different banks; the fold keeps large power-of-two strides off one bank.
  uint32_t Bank(uint64_t row) const {
    return static_cast<uint32_t>((row ^ (row / banks_) ^ (row >> 10)) % banks_);
  }

 private:
  // The high bits of a 64-bit product, scaled to 0..n-1 without bias.
  static uint32_t Reduce(uint64_t product, uint32_t n) {
    return static_cast<uint32_t>(((product >> 32) * n) >> 32);
  }
  static uint64_t Fold(uint64_t v) { return (v ^ (v >> 16) ^ (v >> 32) ^ (v >> 48)) & 0xFFFF; }

  uint32_t slices_;
  uint32_t sets_;
  SliceHash hash_;
  uint32_t channels_;
  uint32_t slices_per_channel_;
  uint32_t banks_;
  uint64_t lines_per_row_group_;
};

}  // namespace sm89
