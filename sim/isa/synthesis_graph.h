// Instructions and basic blocks as the synthesis of control bits sees them.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/isa/code_flow.h"
#include "sim/isa/decoded_inst.h"
#include "sim/isa/dependence.h"

namespace sm89 {

// Registers that text hides have numbers behind the real ones: kHiddenTest and kHiddenCarry P8 and P9, their
// uniform counterparts UP8 and UP9, kHiddenUniform UR64.
inline constexpr uint8_t kFirstHiddenPredicate = 8;
inline constexpr uint8_t kHiddenUniformRegister = 64;

inline bool IsHidden(const RegRange& range) {
  if (range.file == RegFile::kGeneral) return false;
  return range.first >= (range.file == RegFile::kUniform ? kHiddenUniformRegister : kFirstHiddenPredicate);
}

inline bool Overlap(const RegRange& a, const RegRange& b) {
  return a.file == b.file && a.first < b.first + b.count && b.first < a.first + a.count;
}

struct RegRead {
  RegRange range;
  ReadKind kind = ReadKind::kOperand;
};

// The instructions at one PC.
struct SynthNode {
  uint32_t first_id = 0;  // static ids
  uint32_t end_id = 0;
  uint32_t block = 0;
  const DecodedInst* inst = nullptr;  // the first of them
  std::vector<RegRead> reads;
  std::vector<RegRange> writes;
  // Text only: the comparison in the block whose result is taken to be the guard.
  int32_t guard_writer = -1;
};

struct SynthBlock {
  uint32_t begin = 0;  // nodes
  uint32_t end = 0;
  std::vector<uint32_t> preds;  // blocks, ascending
  std::vector<uint32_t> succs;
};

struct SynthGraph {
  uint32_t binary_version = 89;
  std::vector<SynthNode> nodes;  // by PC
  std::vector<SynthBlock> blocks;
};

// `kernel` must outlive the graph.
SynthGraph BuildGraph(const CodeFlow& flow, const DecodedKernel& kernel);

// What the synthesis decides of a node.
using SynthBits = std::vector<ControlBits>;  // by node

// Write and read counters and wait masks. `group_counter` is the one of LDGDEPBAR, kNoCounter without one.
void SynthesiseCounters(const SynthGraph& graph, uint8_t* group_counter, SynthBits* bits);
// Stall counts; wait masks and counters are in `bits`.
void SynthesiseStalls(const SynthGraph& graph, SynthBits* bits);
void SynthesiseReuse(const SynthGraph& graph, SynthBits* bits);

}  // namespace sm89
