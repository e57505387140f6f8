#include "sim/analysis/cfg.h"

#include <algorithm>

#include "sim/base/assert.h"

namespace sm89::analysis {
namespace {

using sass::Instruction;
using sass::Op;
using sass::OperandKind;

bool IsAlways(const Instruction& inst) { return inst.guard == 7 && !inst.guard_not; }
bool IsNever(const Instruction& inst) { return inst.guard == 7 && inst.guard_not; }

// BRA P0, L / BRA.U UP0: a second condition; BRA.DIV and BRA.CONV jump only when lanes are missing (or not).
bool MayNotJump(const Instruction& inst) {
  if (!IsAlways(inst)) return true;
  for (int i = 0; i < inst.num_operands; ++i) {
    const sass::Operand& operand = inst.operands[static_cast<size_t>(i)];
    const bool pred = operand.kind == OperandKind::kPred || operand.kind == OperandKind::kUPred;
    if (pred && (!operand.IsZeroReg() || operand.inv)) return true;
    if (inst.op == Op::kBra && operand.IsUReg()) return true;
  }
  return false;
}

bool EndsBlock(Op op) {
  switch (op) {
    case Op::kBra:
    case Op::kBrx:
    case Op::kBrxu:
    case Op::kJmp:
    case Op::kJmx:
    case Op::kJmxu:
    case Op::kCall:
    case Op::kRet:
    case Op::kExit:
    case Op::kKill:
      return true;
    default:
      return false;
  }
}

class Builder {
 public:
  explicit Builder(const Code& code) : code_(code) {}

  Cfg Build() {
    FindFunctions();
    FindLeaders();
    MakeBlocks();
    for (uint32_t b = 0; b < cfg_.blocks.size(); ++b) ConnectBlock(b);
    ConnectReturns();
    FillPredecessors();
    MarkReachable();
    return std::move(cfg_);
  }

 private:
  uint32_t Count() const { return static_cast<uint32_t>(code_.insts.size()); }

  void FindFunctions() {
    std::vector<uint32_t> starts;
    for (const cubin::CodeSymbol& symbol : code_.function->symbols) {
      const auto first = static_cast<uint32_t>(symbol.offset / kInstBytes);
      if (first < Count() && first > 0) starts.push_back(first);
    }
    cfg_.functions.push_back({.name = code_.function->name, .first = 0, .end = Count()});
    for (const cubin::CodeSymbol& symbol : code_.function->symbols) {
      const auto first = static_cast<uint32_t>(symbol.offset / kInstBytes);
      const bool repeated = first == cfg_.functions.back().first;
      if (first >= Count() || repeated) continue;
      SM89_ASSERT(first > cfg_.functions.back().first, "callees are not in order of their offsets");
      cfg_.functions.back().end = first;
      cfg_.functions.push_back({.name = symbol.name, .first = first, .end = Count()});
    }
  }

  // Byte offsets in the section that an indirect branch at `index` can reach.
  const std::vector<uint32_t>* TableOf(uint32_t index) const {
    for (const cubin::IndirectBranch& branch : code_.function->indirect_branches) {
      if (branch.offset == code_.PcOf(index)) return &branch.targets;
    }
    return nullptr;
  }

  void FindLeaders() {
    leader_.assign(Count(), false);
    for (const CfgFunction& function : cfg_.functions) {
      if (function.first < Count()) leader_[function.first] = true;
    }
    for (uint32_t i = 0; i < Count(); ++i) {
      if (const auto target = TargetIndex(code_, i)) leader_[*target] = true;
      if (EndsBlock(code_.insts[i].op) && i + 1 < Count()) leader_[i + 1] = true;
      const std::vector<uint32_t>* table = TableOf(i);
      if (table == nullptr) continue;
      for (const uint32_t offset : *table) {
        if (offset / kInstBytes < Count()) leader_[offset / kInstBytes] = true;
      }
    }
  }

  void MakeBlocks() {
    cfg_.block_of.resize(Count());
    uint32_t function = 0;
    for (uint32_t i = 0; i < Count(); ++i) {
      if (leader_[i]) {
        while (function + 1 < cfg_.functions.size() && cfg_.functions[function + 1].first <= i) ++function;
        Block block;
        block.first = i;
        block.function = function;
        cfg_.blocks.push_back(std::move(block));
      }
      cfg_.blocks.back().end = i + 1;
      cfg_.block_of[i] = static_cast<uint32_t>(cfg_.blocks.size() - 1);
    }
  }

  void AddEdge(uint32_t from, uint32_t to_inst, EdgeKind kind) {
    cfg_.blocks[from].successors.push_back({cfg_.block_of[to_inst], kind});
  }
  void FallThrough(uint32_t b, EdgeKind kind = EdgeKind::kFallThrough) {
    const uint32_t next = cfg_.blocks[b].end;
    if (next < Count()) AddEdge(b, next, kind);
  }
  void LeaveUnknown(uint32_t b) {
    cfg_.blocks[b].leaves_unknown = true;
    cfg_.has_unknown_flow = true;
  }

  void ConnectBlock(uint32_t b) {
    const uint32_t last = cfg_.blocks[b].end - 1;
    const Instruction& inst = code_.insts[last];
    if (!EndsBlock(inst.op)) {
      // WARPSYNC.COLLECTIVE sends its lanes to a routine.
      if (const auto target = TargetIndex(code_, last); target && inst.op != Op::kBssy) {
        AddEdge(b, *target, EdgeKind::kBranch);
      }
      return FallThrough(b);
    }
    if (IsNever(inst)) return FallThrough(b);
    switch (inst.op) {
      case Op::kExit:
      case Op::kKill:
        break;
      case Op::kRet:
        cfg_.functions[cfg_.blocks[b].function].return_blocks.push_back(b);
        break;
      case Op::kCall:
        ConnectCall(b, last);
        break;
      case Op::kBrx:
      case Op::kBrxu:
      case Op::kJmx:
      case Op::kJmxu:
        ConnectTable(b, last);
        break;
      default:
        if (const auto target = TargetIndex(code_, last)) {
          AddEdge(b, *target, EdgeKind::kBranch);
        } else {
          LeaveUnknown(b);
        }
        break;
    }
    if (MayNotJump(inst)) FallThrough(b);
  }

  void ConnectTable(uint32_t b, uint32_t last) {
    const std::vector<uint32_t>* table = TableOf(last);
    if (table == nullptr) return LeaveUnknown(b);
    std::vector<uint32_t> targets = *table;
    std::sort(targets.begin(), targets.end());
    targets.erase(std::unique(targets.begin(), targets.end()), targets.end());
    for (const uint32_t offset : targets) {
      if (offset / kInstBytes < Count()) {
        AddEdge(b, static_cast<uint32_t>(offset / kInstBytes), EdgeKind::kIndirect);
      } else {
        LeaveUnknown(b);
      }
    }
  }

  void ConnectCall(uint32_t b, uint32_t last) {
    cfg_.has_calls = true;
    FallThrough(b, EdgeKind::kCallee);
    const auto target = TargetIndex(code_, last);
    if (!target) return LeaveUnknown(b);
    AddEdge(b, *target, EdgeKind::kCall);
    const uint32_t callee = cfg_.blocks[cfg_.block_of[*target]].function;
    cfg_.functions[callee].call_blocks.push_back(b);
  }

  void ConnectReturns() {
    for (const CfgFunction& function : cfg_.functions) {
      for (const uint32_t from : function.return_blocks) {
        for (const uint32_t call : function.call_blocks) FallThroughOf(call, from);
      }
    }
  }
  void FallThroughOf(uint32_t call, uint32_t from) {
    const uint32_t next = cfg_.blocks[call].end;
    if (next < Count()) AddEdge(from, next, EdgeKind::kReturn);
  }

  void FillPredecessors() {
    for (uint32_t b = 0; b < cfg_.blocks.size(); ++b) {
      for (const Edge& edge : cfg_.blocks[b].successors) {
        std::vector<uint32_t>& list = cfg_.blocks[edge.to].predecessors;
        if (list.empty() || list.back() != b) list.push_back(b);
      }
    }
  }

  void MarkReachable() {
    std::vector<uint32_t> work;
    if (!cfg_.blocks.empty()) work.push_back(0);
    while (!work.empty()) {
      const uint32_t b = work.back();
      work.pop_back();
      if (cfg_.blocks[b].reachable) continue;
      cfg_.blocks[b].reachable = true;
      for (const Edge& edge : cfg_.blocks[b].successors) work.push_back(edge.to);
    }
  }

  const Code& code_;
  std::vector<bool> leader_;
  Cfg cfg_;
};

// Blocks in reverse post order from the entry.
std::vector<uint32_t> ReversePostOrder(const Cfg& cfg) {
  std::vector<uint32_t> order;
  std::vector<uint32_t> next_edge(cfg.blocks.size(), 0);
  std::vector<bool> seen(cfg.blocks.size(), false);
  std::vector<uint32_t> stack;
  if (!cfg.blocks.empty()) {
    stack.push_back(0);
    seen[0] = true;
  }
  while (!stack.empty()) {
    const uint32_t b = stack.back();
    const std::vector<Edge>& edges = cfg.blocks[b].successors;
    if (next_edge[b] == edges.size()) {
      order.push_back(b);
      stack.pop_back();
      continue;
    }
    const uint32_t to = edges[next_edge[b]++].to;
    if (!seen[to]) {
      seen[to] = true;
      stack.push_back(to);
    }
  }
  std::reverse(order.begin(), order.end());
  return order;
}

// Cooper, Harvey, Kennedy: "A Simple, Fast Dominance Algorithm".
void FindDominators(Cfg* cfg) {
  const std::vector<uint32_t> order = ReversePostOrder(*cfg);
  std::vector<uint32_t> rank(cfg->blocks.size(), 0);
  for (uint32_t i = 0; i < order.size(); ++i) rank[order[i]] = i;
  constexpr uint32_t kNone = ~uint32_t{0};
  std::vector<uint32_t> idom(order.size(), kNone);  // by rank
  if (!order.empty()) idom[0] = 0;
  const auto intersect = [&idom](uint32_t a, uint32_t b) {
    while (a != b) {
      while (a > b) a = idom[a];
      while (b > a) b = idom[b];
    }
    return a;
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t i = 1; i < order.size(); ++i) {
      uint32_t best = kNone;
      for (const uint32_t p : cfg->blocks[order[i]].predecessors) {
        if (!cfg->blocks[p].reachable || idom[rank[p]] == kNone) continue;
        best = best == kNone ? rank[p] : intersect(best, rank[p]);
      }
      if (idom[i] != best) {
        idom[i] = best;
        changed = true;
      }
    }
  }
  cfg->immediate_dominator.assign(cfg->blocks.size(), std::nullopt);
  for (uint32_t i = 1; i < order.size(); ++i) cfg->immediate_dominator[order[i]] = order[idom[i]];
}

}  // namespace

std::string_view Name(EdgeKind kind) {
  switch (kind) {
    case EdgeKind::kFallThrough:
      return "fall-through";
    case EdgeKind::kBranch:
      return "branch";
    case EdgeKind::kIndirect:
      return "indirect";
    case EdgeKind::kCall:
      return "call";
    case EdgeKind::kReturn:
      return "return";
    case EdgeKind::kCallee:
      return "over-call";
  }
  return "";
}

std::optional<uint32_t> TargetIndex(const Code& code, size_t index) {
  const Instruction& inst = code.insts[index];
  const sass::Operand* target = inst.Target();
  if (target == nullptr || inst.op == Op::kRet) return std::nullopt;
  const int64_t to = static_cast<int64_t>(code.PcOf(index + 1)) + target->value;
  if (to < 0 || to % static_cast<int64_t>(kInstBytes) != 0) return std::nullopt;
  const auto to_index = static_cast<uint64_t>(to) / kInstBytes;
  if (to_index >= code.insts.size()) return std::nullopt;
  return static_cast<uint32_t>(to_index);
}

Cfg BuildCfg(const Code& code) {
  Cfg cfg = Builder(code).Build();
  FindDominators(&cfg);
  return cfg;
}

}  // namespace sm89::analysis
