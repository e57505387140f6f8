// One slice of the L2: sectored, write-back, lines allocated on a miss, misses merged by sector. Writes fetch
// nothing: of a sector that is written in part a mask of its bytes is kept. It becomes a whole one when the
// last byte is written, is fetched and merged when somebody reads it, and is written back with its mask when
// the line is evicted (GDDR6 has masked writes, JESD250; that the L2 uses them is an assumption).
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "sim/base/types.h"
#include "sim/config/gpu_config.h"
#include "sim/link/mem_message.h"
#include "sim/mem/address_map.h"
#include "sim/mem/aligned_array.h"
#include "sim/mem/stat_pair.h"
#include "sim/stats/sim_stats.h"

namespace sm89 {

// What a look-up asks the caller to do.
struct L2Outcome {
  bool blocked = false;       // no MSHR or no way free: retry after a fill
  bool evicted = false;       // evicted_line had been in the way
  uint8_t fetch_mask = 0;     // sectors to read from DRAM now
  uint8_t asked_sectors = 0;  // of these, how many the request asks for
  uint8_t hits = 0;           // reads: sectors that were there
  uint8_t wait_mask = 0;      // sectors that the request waits for (fetched now or earlier)
  uint32_t way = 0;           // where the line lies, for Fill
  uint64_t evicted_line = 0;
  uint8_t writeback_mask = 0;
  bool partial_writeback = false;  // some of its sectors in part
  bool first_use = false;          // of a prefetched sector
};

class L2Slice {
 public:
  L2Slice(const L2Config& config, const AddressMap& map);

  // Looks the request's sectors up at its turn and changes the state at once. `whole_line`: what is fetched
  // is all of the line that is missing.
  L2Outcome Access(const MemRequest& request, const StatPair<L2Stats>& stats, bool whole_line = false);
  // Marks what is missing of `line` as being fetched; nothing is, with `blocked`, when a quarter of the MSHRs
  // or no way is left.
  L2Outcome Prefetch(uint64_t line, const StatPair<L2Stats>& stats);
  // Whether an access to `line` would write a victim's dirty sectors back.
  bool WouldWriteBack(uint64_t line) const;
  // Data of `mask` arrived from DRAM for the line in `way`.
  void Fill(uint64_t line, uint32_t way, uint8_t mask);
  // MemcpyHtoD: the sectors are present and dirty. Takes no time: what it evicts is not written to DRAM.
  void FillFromHost(uint64_t line, uint8_t mask, L2Stats* stats);
  // Brings what an access to `line`, or a fill of `way`, looks at into the host's cache.
  void PrefetchSet(uint64_t line) const;
  void PrefetchWay(uint32_t way) const;

  uint32_t pending_lines() const { return pending_lines_; }

 private:
  static constexpr uint64_t kNoTag = 0;
  static constexpr uint32_t kAbsent = ~0u;
  // Stamp of a line with a fetch under way, which is nobody's victim.
  static constexpr uint32_t kFetching = ~0u;

  // Sectors of a line, one bit each.
  struct Sectors {
    uint8_t valid;  // every byte of the sector is known
    uint8_t dirty;
    uint8_t partial;  // some bytes written, the rest not fetched
    uint8_t pending;  // being fetched
  };

  uint32_t FirstWay(uint64_t line) const { return map_.Set(line) * ways_; }
  uint32_t Find(uint64_t line) const;
  // Least recently used way without a pending fetch; kAbsent when there is none.
  uint32_t Victim(uint64_t line) const;
  uint32_t Allocate(uint64_t line, L2Outcome* outcome);
  void Use(uint32_t way);
  void RenumberStamps();
  // `fetched`: what may be fetched with `mask`.
  void Read(uint32_t way, uint8_t mask, uint8_t fetched, L2Outcome* outcome, const StatPair<L2Stats>& stats);
  void NoteUse(uint32_t way, uint8_t mask, L2Outcome* outcome, const StatPair<L2Stats>& stats);
  void NoteEviction(const L2Outcome& outcome, uint32_t way, const StatPair<L2Stats>& stats);
  // Prefetched sectors of `mask` are no longer to be used: evicted, or overwritten. Returns how many.
  uint32_t DropPrefetched(uint32_t way, uint8_t mask);
  void Write(uint32_t way, const MemRequest& request);

  const AddressMap& map_;
  uint32_t ways_;
  uint32_t mshr_entries_;
  uint32_t pending_lines_ = 0;
  uint32_t use_counter_ = 0;
  uint32_t num_lines_;
  // By way, a set's side by side: few cache lines of the host each.
  AlignedArray<uint64_t> tags_;    // complement of the line's number: 0 where there is no line
  AlignedArray<uint32_t> stamps_;  // use_counter_ at the last use
  AlignedArray<Sectors> sectors_;
  // Bytes written of partial sectors, four words of 32 bits a line; empty until the first partial write.
  std::vector<std::array<uint32_t, kSectorsPerLine>> written_bytes_;
  // Sectors that were prefetched and not asked for since, by way; empty until the first prefetch.
  std::vector<uint8_t> prefetched_;
};

}  // namespace sm89
