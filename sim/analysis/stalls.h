// What the control bits make a lone warp wait for: stall counts, and counters with the producers behind them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/analysis/cfg.h"
#include "sim/analysis/code.h"

namespace sm89::analysis {

// One counter that an instruction waits for.
struct CounterWait {
  uint8_t counter = 0;
  // Instructions that may have raised it last on some path: those that the wait is for.
  std::vector<uint32_t> producers;
  bool write = false;  // some producer raises it for its result, else for its sources
};
struct InstStall {
  uint8_t stall_cycles = 0;  // before the next instruction of the warp may issue
  bool may_switch = false;   // yield hint
  std::vector<CounterWait> waits;
};
struct BlockStall {
  uint32_t block = 0;
  uint32_t instructions = 0;
  uint32_t stall_cycles = 0;   // sum: fewest cycles that a lone warp spends in the block
  uint32_t excess_cycles = 0;  // stall_cycles - instructions: cycles in which it issues nothing
  uint32_t waits = 0;          // waits for a counter
};
struct StallReport {
  std::vector<InstStall> insts;
  std::vector<BlockStall> blocks;
};
StallReport AnalyseStalls(const Code& code, const Cfg& cfg);

// A register that a counter-tagged producer writes and that is read in the producer's block
// with no wait for the counter in between. Correct code has none.
struct ScoreboardFault {
  uint32_t producer = 0, consumer = 0;
  std::string reg;
};
struct ScoreboardCheck {
  uint32_t uses = 0;  // producers with such a use
  std::vector<ScoreboardFault> faults;
};
ScoreboardCheck CheckScoreboards(const Code& code, const Cfg& cfg);

std::string ToText(const StallReport& report, const Code& code, const Cfg& cfg);
std::string ToJson(const StallReport& report, const Code& code, const Cfg& cfg);

}  // namespace sm89::analysis
