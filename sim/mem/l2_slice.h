// One slice of the L2: sectored, write-back with partial-sector marks (byte masks are kept at sector grain),
// misses merged by sector, lines allocated on a miss.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/base/line_map.h"
#include "sim/base/types.h"
#include "sim/config/gpu_config.h"
#include "sim/link/mem_message.h"
#include "sim/mem/address_map.h"
#include "sim/stats/sim_stats.h"

namespace sm89 {

// What a look-up asks the caller to do.
struct L2Outcome {
  bool blocked = false;       // no MSHR or no way free: retry after a fill
  uint8_t fetch_mask = 0;     // sectors to read from DRAM now
  uint8_t wait_mask = 0;      // sectors that the request waits for (fetched now or earlier)
  uint64_t evicted_line = 0;  // with writeback_mask != 0
  uint8_t writeback_mask = 0;
};

class L2Slice {
 public:
  L2Slice(const L2Config& config, const AddressMap& map);

  // Looks the request's sectors up at its turn and changes the state at once.
  L2Outcome Access(const MemRequest& request, L2Stats* stats);
  // Whether an access to `line` would write a victim's dirty sectors back.
  bool WouldWriteBack(uint64_t line);
  // Data of `mask` arrived from DRAM.
  void Fill(uint64_t line, uint8_t mask);
  // MemcpyHtoD: the sectors are present and dirty. Takes no time: what it evicts is not written to DRAM.
  void FillFromHost(uint64_t line, uint8_t mask, L2Stats* stats);

  uint32_t pending_lines() const { return pending_lines_; }

 private:
  struct Line {
    uint64_t tag = ~uint64_t{0};
    uint64_t last_use = 0;
    uint8_t valid = 0;  // every byte of the sector is known
    uint8_t dirty = 0;
    uint8_t partial = 0;  // some bytes written, the rest not fetched
    uint8_t pending = 0;  // being fetched
  };

  Line* Find(uint64_t line);
  // Least recently used way without a pending fetch; null when there is none.
  Line* Victim(uint64_t line);
  Line* Allocate(uint64_t line, L2Outcome* outcome, L2Stats* stats);
  void Read(Line* entry, uint8_t mask, L2Outcome* outcome, L2Stats* stats);

  const AddressMap& map_;
  uint32_t ways_;
  uint32_t mshr_entries_;
  uint32_t pending_lines_ = 0;
  uint64_t use_counter_ = 0;
  std::vector<Line> lines_;
};

}  // namespace sm89
