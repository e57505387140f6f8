// Control-flow graph of one code section: its kernel and the device functions that were not inlined.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/analysis/code.h"

namespace sm89::analysis {

enum class EdgeKind : uint8_t {
  kFallThrough,
  kBranch,    // taken BRA, JMP, BRA.DIV ...
  kIndirect,  // a target of a BRX table
  kCall,      // to a function of the section
  kReturn,    // from a function's RET to behind one of its calls
  kCallee,    // over a call: from the call to the instruction behind it
};
std::string_view Name(EdgeKind kind);

struct Edge {
  uint32_t to = 0;  // block
  EdgeKind kind = EdgeKind::kFallThrough;
};

struct Block {
  uint32_t first = 0, end = 0;  // instructions [first, end)
  uint32_t function = 0;        // index into Cfg::functions
  std::vector<Edge> successors;
  std::vector<uint32_t> predecessors;  // blocks with an edge of any kind to this one, ascending
  // A path from here leaves what the section shows: an indirect branch or call without a table.
  bool leaves_unknown = false;
  bool reachable = false;  // from the section's entry
};

// The kernel (index 0) or a callee inside its section.
struct CfgFunction {
  std::string name;
  uint32_t first = 0, end = 0;  // instructions
  std::vector<uint32_t> return_blocks;
  std::vector<uint32_t> call_blocks;  // blocks that end in a call to it, in any function
};

struct Cfg {
  std::vector<Block> blocks;       // by address
  std::vector<uint32_t> block_of;  // instruction -> block
  std::vector<CfgFunction> functions;
  std::vector<std::optional<uint32_t>> immediate_dominator;  // of each block; none: entry or unreachable
  bool has_unknown_flow = false;
  bool has_calls = false;
};
Cfg BuildCfg(const Code& code);

// Instruction index a branch, call or BSSY of `inst` at `index` goes to; none when outside the section.
std::optional<uint32_t> TargetIndex(const Code& code, size_t index);

std::string ToText(const Cfg& cfg, const Code& code);
std::string ToJson(const Cfg& cfg, const Code& code);
// Graphviz, one node a block.
std::string ToDot(const Cfg& cfg, const Code& code);

}  // namespace sm89::analysis
