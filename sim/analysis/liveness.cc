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

Transfer TransferOf(const Block& block, const std::vector<Effects>& effects) {
  Transfer transfer;
  for (uint32_t i = block.end; i-- > block.first;) {
    const Effects& e = effects[i];
    if (e.unconditional) {
      transfer.gen -= e.writes;
      transfer.kill |= e.writes;
    }
    transfer.gen |= e.reads;
  }
  return transfer;
}

bool Follows(EdgeKind kind, CallModel model) {
  switch (kind) {
    case EdgeKind::kCallee:
      return model == CallModel::kConvention;
    case EdgeKind::kCall:
    case EdgeKind::kReturn:
      return model == CallModel::kFollow;
    default:
      return true;
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
std::vector<RegSet> SolveBlocks(const Cfg& cfg, const std::vector<Effects>& effects, CallModel model) {
  std::vector<Transfer> transfers;
  transfers.reserve(cfg.blocks.size());
  for (const Block& block : cfg.blocks) transfers.push_back(TransferOf(block, effects));
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

Liveness ComputeLiveness(const Code& code, const Cfg& cfg, CallModel model) {
  std::vector<Effects> effects = AllEffects(code);
  const bool has_returns =
      std::any_of(code.insts.begin(), code.insts.end(),
                  [](const sass::Instruction& inst) { return inst.op == sass::Op::kRet; });
  if (model == CallModel::kConvention && (cfg.has_calls || has_returns)) ApplyConvention(code, &effects);
  const std::vector<RegSet> block_in = SolveBlocks(cfg, effects, model);
  Liveness live;
  live.live_in.resize(code.insts.size());
  live.shown.resize(code.insts.size());
  live.counts.resize(code.insts.size());
  for (const Block& block : cfg.blocks) {
    RegSet set;
    for (const Edge& edge : block.successors) {
      if (Follows(edge.kind, model)) set |= block_in[edge.to];
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
