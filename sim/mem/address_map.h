// Where a line lives: L2 slice and set, DRAM channel, bank and row. The mappings are this model's (NVIDIA
// does not publish its own); what is known is that 48 slices load evenly.
#pragma once

#include <algorithm>
#include <cstdint>

#include "sim/base/types.h"
#include "sim/config/gpu_config.h"

namespace sm89 {

enum class SliceHash : uint32_t {
  // A kilobyte lies in two channels, as on an H200: of its 8 lines there (latency line by line), 0, 1, 4 and
  // 5 go to a pair of slices in turn, 2, 3, 6 and 7 to another. An irrational rotation turns the order of the
  // channels from block to block: even for strides of powers of two and nearly all others, and a large buffer
  // fills all sets alike.
  kUniform = 0,
  kModulo = 1,   // line % slices
  kXorFold = 2,  // exclusive-or of all 16-bit parts, then an unbiased reduction
};

// What one slice has of a line. `line` is the number under which it keeps it.
struct LinePart {
  uint64_t line = 0;
  uint32_t sector_shift = 0;  // where the part's first sector lies in the slice's line
  uint32_t first_sector = 0;  // of the part, in the request's line
  uint32_t sectors = kSectorsPerLine;
};

class AddressMap {
 public:
  AddressMap(const L2Config& l2, const DramConfig& dram)
      : slices_(l2.slices),
        sets_(l2.cache.sets),
        hash_(static_cast<SliceHash>(l2.hash)),
        channels_(dram.channels),
        slices_per_channel_(std::max(1u, l2.slices / dram.channels)),
        halves_(l2.features.interleave_bytes == kLineBytes / 2),
        turns_(slices_per_channel_ == 2 && l2.slices % 4 == 0 ? 2 : 1),
        groups_(dram.bank_groups),
        banks_per_group_(dram.banks / dram.bank_groups),
        neighbours_(groups_ % 2 == 0 ? 2 : 1),
        lines_per_row_group_(uint64_t{dram.row_bytes} / 128 * dram.channels * neighbours_) {}

  // With an interleave of half a line, half lines go round the slices, and a slice's line is two halves that
  // follow each other in it: half h is part h / slices % 2 of line h / (2 slices) * slices + h % slices.
  // Lines below are those of the slices.
  uint32_t NumParts() const { return halves_ ? 2 : 1; }
  LinePart Part(uint64_t line, uint32_t part) const {
    if (!halves_) return {line, 0, 0, kSectorsPerLine};
    const uint64_t half = 2 * line + part;
    return {half / (2 * slices_) * slices_ + half % slices_,
            static_cast<uint32_t>(half / slices_ % 2) * (kSectorsPerLine / 2), part * (kSectorsPerLine / 2),
            kSectorsPerLine / 2};
  }
  // Lines among which a slice has one, in the mean.
  uint64_t SlicePeriod() const { return slices_; }
  // The next line of the slice of `line`; `line` itself when none of the next kReach is.
  uint64_t NextOfSlice(uint64_t line) const {
    const uint32_t slice = Slice(line);
    for (uint64_t next = line + 1; next <= line + kReach * slices_; ++next) {
      if (Slice(next) == slice) return next;
    }
    return line;
  }

  uint32_t Slice(uint64_t line) const {
    switch (hash_) {
      case SliceHash::kModulo:
        return static_cast<uint32_t>(line % slices_);
      case SliceHash::kXorFold:
        return Reduce(Fold(line) * kGolden, slices_);
      case SliceHash::kUniform:
        break;
    }
    const uint32_t groups = slices_ / turns_;
    const uint64_t block = line / (groups * kNeighbours);
    const auto place = static_cast<uint32_t>(line % (groups * kNeighbours));
    const uint32_t turn = Reduce(block * kRotation, slices_);
    const uint32_t dealt = groups % 2 == 0 ? place / 8 * 2 + place / 2 % 2 : place / kNeighbours;
    return (dealt + turn / turns_) % groups * turns_ + (place + turn) % turns_;
  }

  // By the slice's own lines, so that those of a contiguous buffer go round its sets. That a pointer chase
  // over up to 66 of an RTX 4090's 72 MiB misses nothing (public log) leaves no room for sets that fill by
  // chance.
  uint32_t Set(uint64_t line) const {
    const uint32_t groups = slices_ / turns_;
    const uint64_t block = line / (groups * kNeighbours);
    const uint64_t place = line % (groups * kNeighbours);
    const uint64_t dealt = groups % 2 == 0 ? place / 4 % 2 * 2 + place % 2 : place % kNeighbours;
    const uint64_t own = (block * kNeighbours + dealt) / turns_;
    return Reduce(own * 0xD6E8FEB86659FD93ull, sets_);
  }

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
        place % pairs * neighbours_ + Reduce(line / 8 * 0xA0761D6478BD642Full, neighbours_);
    return group * banks_per_group_ + place / pairs;
  }

 private:
  static constexpr uint64_t kReach = 8;  // lines a slice, in which NextOfSlice looks
  static constexpr uint64_t kGolden = 0x9E3779B97F4A7C15ull;
  // Lines of a channel, or of a slice where channels have other than two, in a block.
  static constexpr uint32_t kNeighbours = 4;
  // Of 64 tried one with few resonances: over 48 slices one of 422 strides exceeds 1.05 times the mean, by 1
  // % (all to 300 lines, powers of two and every 101st to 8,192).
  static constexpr uint64_t kRotation = 0x35B91D6D9DDEC92Full;

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
  bool halves_;
  uint32_t turns_;  // slices that take neighbouring lines in turn
  uint32_t groups_;
  uint32_t banks_per_group_;
  uint32_t neighbours_;
  uint64_t lines_per_row_group_;
};

}  // namespace sm89
