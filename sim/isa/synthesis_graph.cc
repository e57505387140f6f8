#include "sim/isa/synthesis_graph.h"

#include <algorithm>

#include "sim/isa/issue_class.h"

namespace sm89 {
namespace {

constexpr uint32_t kInstBytes = 16;

bool LeavesTheLine(const DecodedInst& inst) {
  switch (inst.control) {
    case ControlOp::kExit:
    case ControlOp::kBranch:
    case ControlOp::kCall:
    case ControlOp::kReturn:
      return true;
    default:
      return false;
  }
}

bool IsAccumulator(const DecodedInst& inst, const RegRange& range) {
  const RegRange& c = inst.slots[2];
  return inst.unit == ExecUnit::kTensor && c.count != 0 && range.file == RegFile::kGeneral &&
         range.first == c.first && range.count == c.count;
}

struct HiddenRegister {
  uint8_t bit;
  RegFile file;
  uint8_t index;
};
constexpr HiddenRegister kHidden[] = {
    {kHiddenTest, RegFile::kPredicate, kFirstHiddenPredicate},
    {kHiddenCarry, RegFile::kPredicate, kFirstHiddenPredicate + 1},
    {kHiddenUniformTest, RegFile::kUniformPredicate, kFirstHiddenPredicate},
    {kHiddenUniformCarry, RegFile::kUniformPredicate, kFirstHiddenPredicate + 1},
    {kHiddenUniform, RegFile::kUniform, kHiddenUniformRegister},
};

void AddAccesses(const DecodedInst& inst, bool guarded_by_trace, SynthNode* node) {
  for (int i = 0; i < inst.num_sources; ++i) {
    const RegRange& range = inst.sources[static_cast<size_t>(i)];
    const bool guard = inst.guarded && i == inst.num_sources - 1 && range.file != RegFile::kGeneral;
    const ReadKind kind = guard                        ? ReadKind::kGuard
                          : IsAccumulator(inst, range) ? ReadKind::kAccumulator
                                                       : ReadKind::kOperand;
    node->reads.push_back({range, kind});
  }
  for (int i = 0; i < inst.num_dests; ++i) node->writes.push_back(inst.dests[static_cast<size_t>(i)]);
  const bool guard = guarded_by_trace || inst.control == ControlOp::kBranch;
  uint8_t reads = inst.hidden_reads;
  if (inst.control == ControlOp::kBranch && !guarded_by_trace) reads = 0;  // always taken
  if (guarded_by_trace) reads |= kHiddenTest;
  for (const HiddenRegister& hidden : kHidden) {
    const RegRange range{hidden.file, hidden.index, 1};
    if (reads & hidden.bit) {
      const bool late = guard && hidden.bit == kHiddenTest;
      node->reads.push_back({range, late ? ReadKind::kGuard : ReadKind::kOperand});
    }
    if (inst.hidden_writes & hidden.bit) node->writes.push_back(range);
  }
}

class GraphBuilder {
 public:
  GraphBuilder(const CodeFlow& flow, const DecodedKernel& kernel) : flow_(flow), insts_(kernel.insts) {}

  SynthGraph Build() {
    AddNodes();
    AddNodeEdges();
    CutBlocks();
    LinkBlocks();
    ChooseGuardWriters();
    graph_.binary_version = flow_.binary_version;
    return std::move(graph_);
  }

 private:
  void AddNodes() {
    node_of_.resize(insts_.size());
    std::vector<bool> guarded(insts_.size(), false);
    for (const uint32_t id : flow_.guarded) guarded[id] = true;
    // An EXIT that something follows left lanes behind; a branch with one successor has no condition.
    for (const CodeEdge& edge : flow_.edges) {
      if (insts_[edge.from].control == ControlOp::kExit) guarded[edge.from] = true;
    }
    for (size_t i = 1; i < flow_.edges.size(); ++i) {
      const uint32_t from = flow_.edges[i].from;
      if (insts_[from].control == ControlOp::kBranch && flow_.edges[i - 1].from == from) guarded[from] = true;
    }
    for (uint32_t id = 0; flow_.edges.empty() && id < insts_.size(); ++id) {
      guarded[id] = guarded[id] || (insts_[id].control == ControlOp::kBranch && insts_[id].hidden_reads != 0);
    }
    for (uint32_t id = 0; id < insts_.size(); ++id) {
      std::vector<SynthNode>& nodes = graph_.nodes;
      if (nodes.empty() || nodes.back().inst->pc != insts_[id].pc) {
        SynthNode node;
        node.first_id = id;
        node.inst = &insts_[id];
        AddAccesses(insts_[id], guarded[id], &node);
        nodes.push_back(std::move(node));
      }
      nodes.back().end_id = id + 1;
      node_of_[id] = static_cast<uint32_t>(nodes.size()) - 1;
    }
    succs_.resize(graph_.nodes.size());
  }

  bool IsContiguous(uint32_t node) const {
    return node + 1 < graph_.nodes.size() &&
           graph_.nodes[node].inst->pc + kInstBytes == graph_.nodes[node + 1].inst->pc;
  }

  void AddNodeEdges() {
    for (const CodeEdge& edge : flow_.edges) succs_[node_of_[edge.from]].push_back(node_of_[edge.to]);
    for (uint32_t node = 0; node < succs_.size(); ++node) {
      const bool falls_through = flow_.edges.empty() || !LeavesTheLine(*graph_.nodes[node].inst);
      if (falls_through && IsContiguous(node)) succs_[node].push_back(node + 1);
      std::sort(succs_[node].begin(), succs_[node].end());
      succs_[node].erase(std::unique(succs_[node].begin(), succs_[node].end()), succs_[node].end());
    }
  }

  void CutBlocks() {
    const auto count = static_cast<uint32_t>(graph_.nodes.size());
    std::vector<bool> head(count + 1, false);
    if (count != 0) head[0] = true;
    for (uint32_t node = 0; node < count; ++node) {
      const bool straight = succs_[node].size() == 1 && succs_[node][0] == node + 1;
      if (straight && !LeavesTheLine(*graph_.nodes[node].inst)) continue;
      head[node + 1] = true;
      for (const uint32_t to : succs_[node]) head[to] = true;
    }
    for (uint32_t node = 0; node < count; ++node) {
      if (head[node]) graph_.blocks.push_back({node, node, {}, {}});
      graph_.blocks.back().end = node + 1;
      graph_.nodes[node].block = static_cast<uint32_t>(graph_.blocks.size()) - 1;
    }
  }

  // A guard that text shows is taken to be the first comparison's of its block: unrolled code hands its
  // predicates out and uses them in order. Where a comparison signals by counter, every guard behind it
  // waits.
  void ChooseGuardWriters() {
    for (const SynthBlock& block : graph_.blocks) {
      int32_t first = -1;
      for (uint32_t n = block.begin; n < block.end; ++n) {
        SynthNode& node = graph_.nodes[n];
        const auto hidden_guard = [](const RegRead& read) {
          return read.kind == ReadKind::kGuard && IsHidden(read.range);
        };
        if (first >= 0 && node.inst->unit != ExecUnit::kBranch &&
            std::erase_if(node.reads, hidden_guard) > 0) {
          node.guard_writer = first;
        }
        if ((node.inst->hidden_writes & kHiddenTest) == 0) continue;
        if (HasVariableLatency(node.inst->dep)) break;
        if (first < 0) first = static_cast<int32_t>(n);
      }
    }
  }

  void LinkBlocks() {
    for (uint32_t b = 0; b < graph_.blocks.size(); ++b) {
      for (const uint32_t to : succs_[graph_.blocks[b].end - 1]) {
        graph_.blocks[b].succs.push_back(graph_.nodes[to].block);
        graph_.blocks[graph_.nodes[to].block].preds.push_back(b);
      }
    }
  }

  const CodeFlow& flow_;
  const std::vector<DecodedInst>& insts_;
  SynthGraph graph_;
  std::vector<uint32_t> node_of_;             // by static id
  std::vector<std::vector<uint32_t>> succs_;  // by node
};

}  // namespace

SynthGraph BuildGraph(const CodeFlow& flow, const DecodedKernel& kernel) {
  return GraphBuilder(flow, kernel).Build();
}

}  // namespace sm89
