#include "sim/isa/code_flow.h"

#include <algorithm>
#include <memory>
#include <string_view>

#include "sim/base/status_macros.h"
#include "sim/isa/encoded_operands.h"
#include "sim/isa/modifiers.h"
#include "sim/isa/opcode_table.h"
#include "sim/sass/decode.h"

namespace sm89 {
namespace {

constexpr uint64_t kTraceInstructions = 400'000;
constexpr uint32_t kInstBytes = 16;

void SortUnique(std::vector<CodeEdge>* edges) {
  std::sort(edges->begin(), edges->end());
  edges->erase(std::unique(edges->begin(), edges->end()), edges->end());
}

class MachineCodeFlow {
 public:
  MachineCodeFlow(std::span<const StaticInst> table, uint32_t binary_version)
      : table_(table), binary_version_(binary_version) {}

  CodeFlow Find() {
    if (!DecodeAll()) return {};
    for (uint32_t i = 0; i < code_.size(); ++i) AddEdgesOf(i);
    AddIndirectTargets();
    SortUnique(&flow_.edges);
    flow_.binary_version = binary_version_;
    return std::move(flow_);
  }

 private:
  bool DecodeAll() {
    for (const StaticInst& raw : table_) {
      if (!raw.has_encoding) return false;
      absl::StatusOr<sass::Instruction> inst = DecodeEncoding(raw, binary_version_);
      if (!inst.ok()) return false;
      code_.push_back(*std::move(inst));
    }
    for (uint32_t i = 0; i < code_.size(); ++i) {
      if (code_[i].op != sass::Op::kCall) continue;
      for (const uint32_t to : At(table_[i].pc + kInstBytes)) returns_.push_back(to);
    }
    return true;
  }

  // Static ids at `pc`: one, none where the table leaves the code out.
  std::vector<uint32_t> At(int64_t pc) const {
    std::vector<uint32_t> ids;
    auto it = std::lower_bound(table_.begin(), table_.end(), pc,
                               [](const StaticInst& inst, int64_t at) { return inst.pc < at; });
    for (; it != table_.end() && it->pc == pc; ++it)
      ids.push_back(static_cast<uint32_t>(it - table_.begin()));
    return ids;
  }

  void AddEdge(uint32_t from, int64_t pc) {
    for (const uint32_t to : At(pc)) flow_.edges.push_back({from, to});
  }

  void AddEdgesOf(uint32_t i) {
    using sass::Op;
    const sass::Instruction& inst = code_[i];
    const int64_t next = int64_t{table_[i].pc} + kInstBytes;
    const sass::Operand* condition = inst.Find(sass::Slot::kPp);
    const bool jumps = inst.op == Op::kExit || inst.op == Op::kBra || inst.op == Op::kRet ||
                       inst.op == Op::kBrx || inst.op == Op::kCall;
    const bool always = inst.guard == 7 && (condition == nullptr || condition->IsZeroReg());
    if (!jumps || !always) AddEdge(i, next);
    if (inst.op == Op::kBra || inst.op == Op::kCall) {
      if (const sass::Operand* target = inst.Target()) AddEdge(i, next + target->value);
    }
    if (inst.op == Op::kRet) {
      for (const uint32_t to : returns_) flow_.edges.push_back({i, to});
    }
  }

  void AddIndirectTargets() {
    std::vector<bool> reached(table_.size(), false);
    reached[0] = true;
    for (const CodeEdge& edge : flow_.edges) reached[edge.to] = true;
    for (uint32_t i = 0; i < code_.size(); ++i) {
      const bool indirect =
          code_[i].op == sass::Op::kBrx || (code_[i].op == sass::Op::kCall && code_[i].Target() == nullptr);
      if (!indirect) continue;
      for (uint32_t to = 0; to < reached.size(); ++to) {
        if (!reached[to]) flow_.edges.push_back({i, to});
      }
    }
  }

  const std::span<const StaticInst> table_;
  const uint32_t binary_version_;
  std::vector<sass::Instruction> code_;
  std::vector<uint32_t> returns_;
  CodeFlow flow_;
};

// Neighbours in a straight line: the lanes cannot change between them but by a guard.
bool IsStraight(const StaticInst& from, const StaticInst& to, const std::vector<bool>& moves_lanes,
                uint32_t id) {
  return !moves_lanes[id] && to.pc == from.pc + kInstBytes;
}

// Walks warps one after the other.
class TraceFlow {
 public:
  explicit TraceFlow(std::span<const StaticInst> table)
      : table_(table), moves_lanes_(table.size()), guarded_(table.size()) {
    for (size_t i = 0; i < table.size(); ++i) {
      const OpcodeRow* row = FindOpcode(BaseMnemonic(table[i].opcode));
      moves_lanes_[i] = row == nullptr || row->unit == ExecUnit::kBranch;
    }
  }

  // False at the limit.
  absl::StatusOr<bool> Walk(const CtaTrace& cta, uint64_t* left) {
    for (uint32_t warp = 0; warp < cta.num_warps(); ++warp) {
      const std::unique_ptr<WarpCursor> cursor = cta.OpenWarp(warp);
      if (cursor == nullptr) continue;
      bool first = true;
      DynInst previous, inst;
      while (*left > 0 && cursor->Next(&inst)) {
        --*left;
        if (!first) AddPair(previous, inst);
        previous = inst;
        first = false;
      }
      RETURN_IF_ERROR(cursor->status());
      if (*left == 0) return false;
    }
    return true;
  }

  CodeFlow Take() {
    SortUnique(&flow_.edges);
    for (uint32_t i = 0; i < guarded_.size(); ++i) {
      if (guarded_[i]) flow_.guarded.push_back(i);
    }
    return std::move(flow_);
  }

 private:
  void AddPair(const DynInst& from, const DynInst& to) {
    const CodeEdge edge{from.static_id, to.static_id};
    if (flow_.edges.empty() || flow_.edges.back() != edge) flow_.edges.push_back(edge);
    if (flow_.edges.size() >= compact_at_) {
      SortUnique(&flow_.edges);
      compact_at_ = std::max(kCompactAt, 2 * flow_.edges.size());
    }
    if (!IsStraight(table_[from.static_id], table_[to.static_id], moves_lanes_, from.static_id)) return;
    if ((from.mask & ~to.mask) != 0 && (to.mask & ~from.mask) == 0 && !moves_lanes_[to.static_id]) {
      guarded_[to.static_id] = true;
    }
    if ((to.mask & ~from.mask) != 0 && (from.mask & ~to.mask) == 0) guarded_[from.static_id] = true;
  }

  static constexpr size_t kCompactAt = 1 << 16;
  const std::span<const StaticInst> table_;
  size_t compact_at_ = kCompactAt;
  std::vector<bool> moves_lanes_;
  std::vector<bool> guarded_;
  CodeFlow flow_;
};

}  // namespace

CodeFlow FlowOfMachineCode(std::span<const StaticInst> table, uint32_t binary_version) {
  return table.empty() ? CodeFlow{} : MachineCodeFlow(table, binary_version).Find();
}

absl::StatusOr<CodeFlow> FlowOfTrace(TraceSource& source, uint32_t kernel, uint64_t max_instructions) {
  TraceFlow flow(source.StaticTable(kernel));
  uint64_t left = max_instructions;
  for (uint64_t i = 0; i < source.NumCtas(kernel) && left > 0; ++i) {
    ASSIGN_OR_RETURN(const std::unique_ptr<CtaTrace> cta, source.OpenCta(kernel, i));
    ASSIGN_OR_RETURN(const bool more, flow.Walk(*cta, &left));
    if (!more) break;
  }
  CodeFlow result = flow.Take();
  result.binary_version = source.info().kernels[kernel].binary_version;
  return result;
}

absl::StatusOr<CodeFlow> CollectFlow(TraceSource& source, uint32_t kernel) {
  const uint32_t version = source.info().kernels[kernel].binary_version;
  CodeFlow flow = FlowOfMachineCode(source.StaticTable(kernel), version);
  flow.binary_version = version;
  if (!flow.edges.empty() || source.live()) return flow;
  return FlowOfTrace(source, kernel, kTraceInstructions);
}

}  // namespace sm89
