// Where a line lives: L2 slice and set, DRAM channel, bank and row. The mappings are this model's (NVIDIA
// does not publish its own); what is known is that 48 slices load evenly.
#pragma once

#include <algorithm>
#include <cstdint>

#include "sim/config/gpu_config.h"

namespace sm89 {

enum class SliceHash : uint32_t {
  // Every block of as many lines as there are slices brings one line to each, in an order that an irrational
  // rotation turns from block to block: even for strides of powers of two and nearly all others, and a large
  // buffer fills all sets alike. Neighbouring lines lie in the slices of one channel.
  kUniform = 0,
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
        slices_per_channel_(std::max(1u, l2.slices / dram.channels)),
        neighbour_slices_(l2.slices % slices_per_channel_ == 0 ? slices_per_channel_ : 1),
        groups_(dram.bank_groups),
        banks_per_group_(dram.banks / dram.bank_groups),
        neighbours_(groups_ % 2 == 0 ? 2 : 1),
        lines_per_row_group_(uint64_t{dram.row_bytes} / 128 * dram.channels * neighbours_) {}

  uint32_t Slice(uint64_t line) const {
    switch (hash_) {
      case SliceHash::kModulo:
        return static_cast<uint32_t>(line % slices_);
      case SliceHash::kXorFold:
        return Reduce(Fold(line) * kGolden, slices_);
      case SliceHash::kUniform:
        break;
    }
    const auto place = static_cast<uint32_t>(line % slices_);
    const uint32_t turn = Reduce(line / slices_ * kRotation, slices_);
    const uint32_t groups = slices_ / neighbour_slices_;
    const uint32_t group = (place / neighbour_slices_ + turn / neighbour_slices_) % groups;
    return group * neighbour_slices_ + (place + turn) % neighbour_slices_;
  }

  // By block, so that a slice's lines of a contiguous buffer go round its sets. That a pointer chase over up
  // to 66 of an RTX 4090's 72 MiB misses nothing (public log) leaves no room for sets that fill by chance.
  uint32_t Set(uint64_t line) const { return Reduce(line / slices_ * 0xD6E8FEB86659FD93ull, sets_); }

  uint32_t Channel(uint32_t slice) const { return slice / slices_per_channel_ % channels_; }

  // A row of each of two bank groups of every channel together cover a contiguous block: a stream hits open
  // rows, and of two groups, since one takes a column command every tCCD_L only, less often than the bus
  // could.
  uint64_t Row(uint64_t line) const { return line / lines_per_row_group_; }
  // Rows go round the pairs of groups and their banks; the fold keeps large power-of-two strides off one
  // bank.
  uint32_t Bank(uint64_t line) const {
    const uint64_t row = Row(line);
    const uint32_t places = groups_ / neighbours_ * banks_per_group_;
    const auto place = static_cast<uint32_t>((row ^ (row >> 3) ^ (row >> 7) ^ (row >> 11)) % places);
    const uint32_t pairs = groups_ / neighbours_;
    const uint32_t group =
        place % pairs * neighbours_ + Reduce(line / neighbour_slices_ * 0xA0761D6478BD642Full, neighbours_);
    return group * banks_per_group_ + place / pairs;
  }

 private:
  static constexpr uint64_t kGolden = 0x9E3779B97F4A7C15ull;
  // Of 47 tried the one without a resonance: over 48 slices all strides to 600 lines, and those of powers of
  // two and every 37th to 8,192, stay below 1.05 times the mean.
  static constexpr uint64_t kRotation = 0xD52039DE8D0EA181ull;

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
  uint32_t neighbour_slices_;
  uint32_t groups_;
  uint32_t banks_per_group_;
  uint32_t neighbours_;
  uint64_t lines_per_row_group_;
};

}  // namespace sm89
