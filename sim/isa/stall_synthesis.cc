// Stall counts from the distances that fixed latencies and pipes need; reuse bits.
#include <algorithm>
#include <array>

#include "sim/isa/issue_class.h"
#include "sim/isa/synthesis_graph.h"

namespace sm89 {
namespace {

constexpr int kLongestStall = 255;  // what a ControlBits holds
// ptxas writes the yield hint with every longer stall: without it, so long a stall lasts a cycle or two.
constexpr uint8_t kYieldFromCycles = 12;
constexpr int kErrorBarrierCycles = 45;  // stall 0 with yield
constexpr int kCounterSetCycles = 2;     // a counter set is seen from the second cycle on
constexpr int kReconvergeCycles = 2;     // in front of BSYNC and CALL, as ptxas writes it
constexpr int kMaxPasses = 32;

// An instruction of fixed latency that issued `elapsed_cycles` ago, in an earlier block.
struct Issued {
  uint32_t node = 0;
  int elapsed_cycles = 0;

  friend auto operator<=>(const Issued&, const Issued&) = default;
};

class StallSynthesis {
 public:
  StallSynthesis(const SynthGraph& graph, SynthBits* bits)
      : graph_(graph),
        nodes_(graph.nodes),
        bits_(*bits),
        exits_(graph.blocks.size()),
        pipe_waits_(graph.blocks.size()) {}

  void Run() {
    for (uint32_t n = 0; n < nodes_.size(); ++n) {
      const DecodedInst* next = n + 1 < nodes_.size() ? nodes_[n + 1].inst : nullptr;
      const bool error_barrier = nodes_[n].inst->rule == IssueRule::kErrorBarrier;
      bits_[n].stall_cycles = error_barrier ? 0 : static_cast<uint8_t>(MinStallCycles(*nodes_[n].inst, next));
    }
    bool changed = true;
    for (int pass = 0; changed && pass < kMaxPasses; ++pass) {
      changed = false;
      for (uint32_t b = 0; b < graph_.blocks.size(); ++b) changed |= WalkBlock(b);
    }
    for (uint32_t n = 0; n < nodes_.size(); ++n) {
      bits_[n].yield = bits_[n].stall_cycles >= kYieldFromCycles || bits_[n].stall_cycles == 0;
    }
  }

 private:
  int CyclesOf(uint32_t node) const {
    const int stall = bits_[node].stall_cycles;
    return stall == 0 ? kErrorBarrierCycles : stall;
  }

  // What `node` needs between itself and `writer`.
  int Needed(uint32_t writer, uint32_t node, bool same_block) const {
    const DecodedInst& from = *nodes_[writer].inst;
    const DecodedInst& to = *nodes_[node].inst;
    int cycles = 0;
    for (const RegRange& range : nodes_[writer].writes) {
      if (IsHidden(range) && !same_block) continue;  // a guess that holds within a block
      for (const RegRead& read : nodes_[node].reads) {
        if (!Overlap(range, read.range)) continue;
        cycles = std::max(cycles, DependenceCycles(from, to, range.file, read.kind));
      }
      if (IsHidden(range)) continue;
      for (const RegRange& other : nodes_[node].writes) {
        if (Overlap(range, other)) cycles = std::max(cycles, OverwriteCycles(from, to, range.file));
      }
    }
    return cycles;
  }

  // Cycles that `node` needs behind the instruction in front of it, whichever registers they have.
  int NeededBehind(uint32_t previous, uint32_t node) const {
    const ControlBits& set = bits_[previous];
    const uint8_t mask = bits_[node].wait_mask;
    const auto waits = [mask](uint8_t counter) { return counter < 6 && (mask >> counter & 1); };
    if (waits(set.write_counter) || waits(set.read_counter)) return kCounterSetCycles;
    const DecodedInst& inst = *nodes_[node].inst;
    const bool transfers = inst.rule == IssueRule::kReconverge || inst.control == ControlOp::kCall;
    return transfers ? kReconvergeCycles : 1;
  }

  // Makes node `n` hold the warp `cycles` longer. The counts need not fit machine code's four bits: ptxas
  // puts a NOP behind, which a trace without one cannot show. False: its count is a fixed hold already.
  bool Lengthen(uint32_t n, int cycles) {
    if (bits_[n].stall_cycles == 0) return false;
    bits_[n].stall_cycles = static_cast<uint8_t>(std::min(bits_[n].stall_cycles + cycles, kLongestStall));
    return true;
  }

  // The head of block `b` may depend on what its predecessors issued last: their ends wait for it, each for
  // its own.
  bool WaitAtEnds(uint32_t b) {
    bool changed = false;
    const uint32_t head = graph_.blocks[b].begin;
    for (const uint32_t p : graph_.blocks[b].preds) {
      int missing = 0;
      for (const Issued& issued : exits_[p]) {
        missing = std::max(missing, Needed(issued.node, head, false) - issued.elapsed_cycles);
      }
      missing = std::max(missing, pipe_waits_[p][static_cast<size_t>(IssuePipeOf(*nodes_[head].inst))]);
      if (missing <= 0) continue;
      if (!Lengthen(graph_.blocks[p].end - 1, missing)) continue;
      for (Issued& issued : exits_[p]) issued.elapsed_cycles += missing;
      for (int& wait : pipe_waits_[p]) wait = std::max(0, wait - missing);
      changed = true;
    }
    return changed;
  }

  // Cycles until each pipe takes its next instruction.
  using PipeWaits = std::array<int, kNumIssuePipes>;

  PipeWaits EntryPipes(uint32_t b) const {
    PipeWaits waits{};
    for (const uint32_t p : graph_.blocks[b].preds) {
      for (size_t i = 0; i < waits.size(); ++i) waits[i] = std::max(waits[i], pipe_waits_[p][i]);
    }
    return waits;
  }

  std::vector<Issued> Entry(uint32_t b) const {
    std::vector<Issued> entry;
    for (const uint32_t p : graph_.blocks[b].preds) {
      entry.insert(entry.end(), exits_[p].begin(), exits_[p].end());
    }
    std::sort(entry.begin(), entry.end());
    const auto same = [](const Issued& left, const Issued& right) { return left.node == right.node; };
    entry.erase(std::unique(entry.begin(), entry.end(), same), entry.end());  // keeps the latest issue
    return entry;
  }

  bool WalkBlock(uint32_t b) {
    bool changed = WaitAtEnds(b);
    const SynthBlock& block = graph_.blocks[b];
    const std::vector<Issued> entry = Entry(b);
    const PipeWaits entry_pipes = EntryPipes(b);
    std::vector<int> times;                        // of the block's nodes, since its begin
    std::array<int, kNumIssuePipes> last_of_pipe;  // place in the block
    last_of_pipe.fill(-1);
    // When the pipe takes its next one.
    const auto free_at = [&](IssuePipe pipe) {
      const int last = last_of_pipe[static_cast<size_t>(pipe)];
      if (last < 0) return entry_pipes[static_cast<size_t>(pipe)];
      return times[static_cast<size_t>(last)] +
             SpacingCycles(*nodes_[block.begin + static_cast<uint32_t>(last)].inst, graph_.binary_version);
    };
    for (uint32_t n = block.begin; n < block.end; ++n) {
      times.push_back(n == block.begin ? 0 : times.back() + CyclesOf(n - 1));
      const IssuePipe pipe = IssuePipeOf(*nodes_[n].inst);
      if (n != block.begin) {
        const int missing = std::max(Missing(block, n, entry, times), free_at(pipe) - times.back());
        if (missing > 0 && Lengthen(n - 1, missing)) {
          changed = true;
          times.back() += missing;
        }
      }
      last_of_pipe[static_cast<size_t>(pipe)] = static_cast<int>(n - block.begin);
    }
    changed |= SetExit(b, entry, times);
    const int length = times.back() + CyclesOf(block.end - 1);
    for (size_t i = 0; i < pipe_waits_[b].size(); ++i) {
      pipe_waits_[b][i] = std::max(0, free_at(static_cast<IssuePipe>(i)) - length);
    }
    pipe_waits_[b][static_cast<size_t>(IssuePipe::kNone)] = 0;
    return changed;
  }

  int Missing(const SynthBlock& block, uint32_t n, const std::vector<Issued>& entry,
              const std::vector<int>& times) const {
    const int now = times.back();
    int missing = NeededBehind(n - 1, n) - (now - times[n - 1 - block.begin]);
    for (const Issued& issued : entry) {
      if (now + issued.elapsed_cycles >= kMaxDependenceCycles) continue;
      missing = std::max(missing, Needed(issued.node, n, false) - now - issued.elapsed_cycles);
    }
    if (const int32_t w = nodes_[n].guard_writer; w >= 0) {
      const DecodedInst& writer = *nodes_[static_cast<uint32_t>(w)].inst;
      const int cycles = DependenceCycles(writer, *nodes_[n].inst, RegFile::kPredicate, ReadKind::kGuard);
      missing = std::max(missing, cycles - (now - times[static_cast<uint32_t>(w) - block.begin]));
    }
    for (uint32_t w = n; w-- > block.begin;) {
      const int elapsed = now - times[w - block.begin];
      if (elapsed >= kMaxDependenceCycles) break;
      missing = std::max(missing, Needed(w, n, true) - elapsed);
    }
    return missing;
  }

  // True when the block's end has changed.
  bool SetExit(uint32_t b, const std::vector<Issued>& entry, const std::vector<int>& times) {
    const SynthBlock& block = graph_.blocks[b];
    const int length = times.back() + CyclesOf(block.end - 1);
    const std::vector<Issued> before = std::move(exits_[b]);
    exits_[b].clear();
    for (const Issued& issued : entry) AddIssued(issued.node, issued.elapsed_cycles + length, b);
    for (uint32_t n = block.begin; n < block.end; ++n) {
      const DecodedInst& inst = *nodes_[n].inst;
      const bool counts = !HasVariableLatency(inst.dep) || inst.unit == ExecUnit::kFp64;
      if (counts && !nodes_[n].writes.empty()) AddIssued(n, length - times[n - block.begin], b);
    }
    return exits_[b] != before;
  }

  void AddIssued(uint32_t node, int elapsed, uint32_t b) {
    if (elapsed < kMaxDependenceCycles) exits_[b].push_back({node, elapsed});
  }

  const SynthGraph& graph_;
  const std::vector<SynthNode>& nodes_;
  SynthBits& bits_;
  std::vector<std::vector<Issued>> exits_;  // by block
  std::vector<PipeWaits> pipe_waits_;       // by block, at its end
};

// Fixed-latency instructions of the vector pipes look the cache up.
bool UsesReuseCache(const DecodedInst& inst) {
  switch (inst.unit) {
    case ExecUnit::kFp32:
    case ExecUnit::kInt:
    case ExecUnit::kImad:
    case ExecUnit::kHalf:
    case ExecUnit::kTensor:
      return true;
    case ExecUnit::kFp64:
      return !HasVariableLatency(inst.dep);
    default:
      return false;
  }
}

constexpr uint32_t kReuseReach = 4;       // instructions looked ahead
constexpr uint8_t kReuseStallCycles = 2;  // behind a longer one another warp issues and takes the entry

// The next reader of the slot and bank, if it comes soon and without a wait in between, reads the same
// register. Tensor instructions keep their operands whatever comes between.
bool IsReused(const SynthGraph& graph, const SynthBits& bits, uint32_t node, size_t slot) {
  const RegRange& reg = graph.nodes[node].inst->slots[slot];
  const SynthBlock& block = graph.blocks[graph.nodes[node].block];
  const bool tensor = graph.nodes[node].inst->unit == ExecUnit::kTensor;
  if (!tensor && bits[node].stall_cycles > kReuseStallCycles) return false;
  const auto written = [&](uint32_t n) {
    const std::vector<RegRange>& writes = graph.nodes[n].writes;
    return std::any_of(writes.begin(), writes.end(), [&](const RegRange& w) { return Overlap(w, reg); });
  };
  if (written(node)) return false;
  for (uint32_t n = node + 1; n < block.end && n <= node + kReuseReach; ++n) {
    if (!tensor && bits[n].wait_mask != 0) return false;
    const DecodedInst& next = *graph.nodes[n].inst;
    const RegRange& other = next.slots[slot];
    if (UsesReuseCache(next) && other.count != 0 && other.first % 2 == reg.first % 2) {
      return other.first == reg.first && other.count == reg.count;
    }
    if (written(n)) return false;
  }
  return false;
}

}  // namespace

void SynthesiseStalls(const SynthGraph& graph, SynthBits* bits) { StallSynthesis(graph, bits).Run(); }

void SynthesiseReuse(const SynthGraph& graph, SynthBits* bits) {
  for (uint32_t n = 0; n < graph.nodes.size(); ++n) {
    const DecodedInst& inst = *graph.nodes[n].inst;
    if (!UsesReuseCache(inst)) continue;
    for (size_t slot = 0; slot < 3; ++slot) {
      if (inst.slots[slot].count != 0 && IsReused(graph, *bits, n, slot)) {
        (*bits)[n].reuse_mask |= static_cast<uint8_t>(1 << slot);
      }
    }
  }
}

}  // namespace sm89
