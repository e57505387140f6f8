// One request to a DRAM channel: up to four sectors of a line, all in one row.
#pragma once

#include <cstdint>

#include "sim/base/types.h"

namespace sm89 {

struct DramJob {
  uint64_t line = 0;
  uint64_t row = 0;
  uint32_t bank = 0;  // group * banks of a group + bank of the group
  uint32_t kernel = 0;
  uint32_t way = 0;  // of the L2 slice, for the fill
  Cycle arrival = 0;
  uint8_t sectors = 0;  // bursts of 32 bytes still to be scheduled
  uint8_t sector_mask = 0;
  uint8_t moved_sectors = 0;  // bursts in all: fewer than of the mask when the line is compressed
  bool write = false;
  bool opened_row = false;  // a row was opened for it: no row hit
};

}  // namespace sm89
