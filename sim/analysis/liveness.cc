#include "sim/analysis/liveness.h"

#include <algorithm>
#include <map>
#include <utility>

#include "sim/analysis/call_convention.h"

namespace sm89::analysis {
namespace {

// What a block does to the set that lives behind it: (out - kill) | gen.
struct Transfer {
  RegSet gen, kill;
};

std::vector<Effects> AllEffects(const Code& code) {
  std::vector<Effects> effects;
  effects.reserve(code.insts.size());
  for (const sass::Instruction& inst : code.insts) effects.push_back(EffectsOf(inst));
  return effects;
}

// Registers live before the instruction, given those live behind it.
RegSet Before(const Effects& e, RegSet after) {
  if (e.unconditional) after -= e.writes;
  return after | e.reads;
}

// The table drops what guarded instructions may not overwrite in functions above some size: not in one of
// 2,285 instructions, but in those of 2,583 and more that have such registers.
constexpr size_t kLargeFunction = 2'500;

RegSet GeneralOnly(const RegSet& set) {
  RegSet general;
  set.ForEach([&general](RegFile file, unsigned index) {
    if (file == RegFile::kGeneral) general.Add(file, index);
  });
  return general;
}

// Registers that the instruction certainly overwrites as far as earlier blocks are concerned.
RegSet KillsOf(const Code& code, uint32_t index, const Effects& effects, LiveModel model) {
  if (effects.unconditional) return effects.writes;
  if (model != LiveModel::kTable) return {};
  if (code.insts[index].op == sass::Op::kCall) return effects.writes;
  return code.insts.size() > kLargeFunction ? GeneralOnly(effects.writes) : RegSet();
}

Transfer TransferOf(const Code& code, const Block& block, const std::vector<Effects>& effects,
                    LiveModel model) {
  Transfer transfer;
  for (uint32_t i = block.end; i-- > block.first;) {
    const Effects& e = effects[i];
    const RegSet kills = KillsOf(code, i, e, model);
    transfer.gen -= kills;
    transfer.kill |= kills;
    transfer.gen |= e.reads;
  }
  return transfer;
}

bool Follows(EdgeKind kind, LiveModel model) {
  switch (kind) {
    case EdgeKind::kCallee:
      return model == LiveModel::kTable;
    case EdgeKind::kCall:
    case EdgeKind::kReturn:
      return model == LiveModel::kExact;
    default:
      return true;
  }
}

// What the disassembler's table does not know or knows otherwise.
void ApplyTableRules(const Code& code, std::vector<Effects>* effects) {
  for (size_t i = 0; i < code.insts.size(); ++i) {
    const sass::Instruction& inst = code.insts[i];
    Effects& e = (*effects)[i];
    if (inst.op == sass::Op::kP2r || inst.op == sass::Op::kR2p) {
      for (unsigned p = 0; p < 7; ++p) {
        e.reads.Remove(RegFile::kPred, p);
        e.writes.Remove(RegFile::kPred, p);
      }
      if (inst.guard < 7) e.reads.Add(RegFile::kPred, inst.guard);
    }
    if (inst.guard < 7 && inst.guard_uniform) e.unconditional = true;
  }
}

// What calls and returns do by the convention, added to their operands.
void ApplyConvention(const Code& code, std::vector<Effects>* effects) {
  const CallConvention convention = ConventionOf(code);
  for (size_t i = 0; i < code.insts.size(); ++i) {
    if (code.insts[i].op == sass::Op::kCall) {
      (*effects)[i].reads |= convention.call_reads;
      (*effects)[i].writes |= convention.call_writes;
    }
    if (code.insts[i].op == sass::Op::kRet) (*effects)[i].reads |= convention.return_reads;
  }
}

// Registers live before each block.
std::vector<RegSet> SolveBlocks(const Code& code, const Cfg& cfg, const std::vector<Effects>& effects,
                                LiveModel model) {
  std::vector<Transfer> transfers;
  transfers.reserve(cfg.blocks.size());
  for (const Block& block : cfg.blocks) {
    transfers.push_back(TransferOf(code, block, effects, model));
  }
  std::vector<RegSet> in(cfg.blocks.size());
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t b = cfg.blocks.size(); b-- > 0;) {
      RegSet out;
      for (const Edge& edge : cfg.blocks[b].successors) {
        if (Follows(edge.kind, model)) out |= in[edge.to];
      }
      const RegSet before = (out - transfers[b].kill) | transfers[b].gen;
      if (before == in[b]) continue;
      in[b] = before;
      changed = true;
    }
  }
  return in;
}

// Blocks that something jumps to, or that start a function: where the table's walk begins anew.
std::vector<bool> FindLabels(const Code& code, const Cfg& cfg) {
  std::vector<bool> labels(cfg.blocks.size(), false);
  for (uint32_t i = 0; i < code.insts.size(); ++i) {
    if (const auto target = TargetIndex(code, i)) labels[cfg.block_of[*target]] = true;
  }
  for (const Block& block : cfg.blocks) {
    for (const Edge& edge : block.successors) {
      if (edge.kind == EdgeKind::kIndirect) labels[edge.to] = true;
    }
  }
  for (const CfgFunction& function : cfg.functions) {
    if (function.first < code.insts.size()) labels[cfg.block_of[function.first]] = true;
  }
  return labels;
}

LiveCounts CountsOf(RegSet shown) {
  shown.Add(RegFile::kGeneral, 1);
  return {.general = shown.Count(RegFile::kGeneral),
          .pred = shown.Count(RegFile::kPred),
          .uniform = shown.Count(RegFile::kUniform),
          .upred = shown.Count(RegFile::kUPred)};
}

void Raise(LivePeak* peak, const LiveCounts& counts, uint32_t instruction) {
  if (peak->instructions++ == 0 || counts.general > peak->general) {
    peak->general = counts.general;
    peak->instruction = instruction;
  }
  peak->pred = std::max(peak->pred, counts.pred);
  peak->uniform = std::max(peak->uniform, counts.uniform);
}

void FindPeaks(const Code& code, const Cfg& cfg, Liveness* live) {
  live->functions.resize(cfg.functions.size());
  std::map<std::pair<uint32_t, uint32_t>, LivePeak> lines;
  const auto used = static_cast<uint32_t>(code.NumUsed());
  for (uint32_t i = 0; i < used; ++i) {
    const LiveCounts& counts = live->counts[i];
    Raise(&live->functions[cfg.blocks[cfg.block_of[i]].function], counts, i);
    const cubin::SourceLine line = code.LineOf(i);
    if (line.line == 0) continue;
    LivePeak& peak = lines[{line.file, line.line}];
    peak.line = line;
    Raise(&peak, counts, i);
  }
  for (auto& [key, peak] : lines) live->lines.push_back(peak);
}

}  // namespace

Liveness ComputeLiveness(const Code& code, const Cfg& cfg, LiveModel model) {
  std::vector<Effects> effects = AllEffects(code);
  if (model == LiveModel::kTable) ApplyTableRules(code, &effects);
  const bool has_returns =
      std::any_of(code.insts.begin(), code.insts.end(),
                  [](const sass::Instruction& inst) { return inst.op == sass::Op::kRet; });
  if (model == LiveModel::kTable && (cfg.has_calls || has_returns)) ApplyConvention(code, &effects);
  const std::vector<RegSet> block_in = SolveBlocks(code, cfg, effects, model);
  Liveness live;
  live.live_in.resize(code.insts.size());
  live.shown.resize(code.insts.size());
  live.counts.resize(code.insts.size());
  const std::vector<bool> labels = FindLabels(code, cfg);
  for (size_t b = cfg.blocks.size(); b-- > 0;) {
    const Block& block = cfg.blocks[b];
    RegSet set;
    for (const Edge& edge : block.successors) {
      if (!Follows(edge.kind, model)) continue;
      // The table goes on through a block that nothing jumps to, and there a guard keeps what it may not
      // write.
      const bool walks_on = model == LiveModel::kTable && edge.to == b + 1 && !labels[edge.to];
      set |= walks_on ? live.live_in[cfg.blocks[edge.to].first] : block_in[edge.to];
    }
    for (uint32_t i = block.end; i-- > block.first;) {
      set = Before(effects[i], set);
      live.live_in[i] = set;
      live.shown[i] = set | effects[i].writes;
      live.counts[i] = CountsOf(live.shown[i]);
    }
  }
  FindPeaks(code, cfg, &live);
  return live;
}

std::vector<UndefinedRead> FindUndefinedReads(const Code& code, const Cfg& cfg) {
  const std::vector<Effects> effects = AllEffects(code);
  std::vector<RegSet> out(cfg.blocks.size());
  const auto in_of = [&](const Block& block) {
    RegSet set;
    for (const uint32_t p : block.predecessors) {
      if (cfg.blocks[p].reachable) set |= out[p];
    }
    return set;
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t b = 0; b < cfg.blocks.size(); ++b) {
      RegSet set = in_of(cfg.blocks[b]);
      for (uint32_t i = cfg.blocks[b].first; i < cfg.blocks[b].end; ++i) set |= effects[i].writes;
      if (set == out[b]) continue;
      out[b] = set;
      changed = true;
    }
  }
  std::vector<UndefinedRead> reads;
  for (const Block& block : cfg.blocks) {
    if (!block.reachable) continue;
    RegSet written = in_of(block);
    for (uint32_t i = block.first; i < block.end; ++i) {
      if (!effects[i].never) {
        (effects[i].reads - written).ForEach([&](RegFile file, unsigned index) {
          reads.push_back({.instruction = i, .file = file, .index = index});
        });
      }
      written |= effects[i].writes;
    }
  }
  return reads;
}

}  // namespace sm89::analysis
