// Live registers per instruction, their peaks, and reads of registers that nothing wrote.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/analysis/cfg.h"
#include "sim/analysis/code.h"
#include "sim/analysis/effects.h"

namespace sm89::analysis {

// Counts as a disassembler's life-range table shows them: registers live before the instruction plus those
// it writes; R1 always counts as live.
struct LiveCounts {
  uint32_t general = 0, pred = 0, uniform = 0;
  uint32_t upred = 0;  // not part of that table
  friend bool operator==(const LiveCounts&, const LiveCounts&) = default;
};

struct LivePeak {
  cubin::SourceLine line;    // 0 where the peak is of a function
  uint32_t general = 0;      // most live general registers at one of its instructions
  uint32_t instruction = 0;  // the first that has them
  uint32_t pred = 0, uniform = 0;
  uint32_t instructions = 0;  // SASS instructions of the line
};

// Whose account of what lives.
enum class LiveModel : uint8_t {
  // The disassembler's table: calls by the calling convention, function by function, so that what a
  // compiler-made
  // helper keeps in scratch registers across a call does not show; P2R and R2P without their predicates;
  // uniform
  // guards taken as always true.
  kTable,
  // The machine's: into a callee and back to every place that calls it, every predicate, every guard.
  kExact,
};

struct Liveness {
  std::vector<RegSet> live_in;  // before each instruction
  std::vector<RegSet> shown;    // live_in plus written: what the counts count
  std::vector<LiveCounts> counts;
  std::vector<LivePeak> functions;  // parallel to Cfg::functions
  std::vector<LivePeak> lines;      // by file and line; empty without line information
};
Liveness ComputeLiveness(const Code& code, const Cfg& cfg, LiveModel model = LiveModel::kTable);

// A register read at `instruction` though no path from the entry writes it first.
struct UndefinedRead {
  uint32_t instruction = 0;
  RegFile file = RegFile::kGeneral;
  uint32_t index = 0;
};
// May-definition flow: R1 counts as written by the launch on architectures that need no initialisation of it.
std::vector<UndefinedRead> FindUndefinedReads(const Code& code, const Cfg& cfg);

std::string ToText(const Liveness& live, const Code& code, const Cfg& cfg);
std::string ToJson(const Liveness& live, const Code& code, const Cfg& cfg);

}  // namespace sm89::analysis
