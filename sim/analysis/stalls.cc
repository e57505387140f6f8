#include "sim/analysis/stalls.h"

#include <algorithm>
#include <array>
#include <set>

#include "sim/analysis/effects.h"

namespace sm89::analysis {
namespace {

constexpr uint8_t kNumCounters = 6;

// Instructions that have raised each counter since it was last waited for.
using Pending = std::array<std::set<uint32_t>, kNumCounters>;

// Counters that must be 0 before the instruction issues.
uint8_t WaitsFor(const sass::Instruction& inst) {
  uint8_t mask = inst.control.wait_mask;
  if (inst.op != sass::Op::kDepbar) return mask;
  for (int i = 0; i < inst.num_operands; ++i) {
    const sass::Operand& operand = inst.operands[static_cast<size_t>(i)];
    if (operand.kind == sass::OperandKind::kScoreboard && operand.index < kNumCounters) {
      mask |= static_cast<uint8_t>(1u << operand.index);
    }
    if (operand.slot == sass::Slot::kScoreboardList) mask |= operand.value & 0x3f;
  }
  return mask;
}

void Step(const sass::Instruction& inst, uint32_t index, Pending* pending) {
  for (uint8_t c = 0; c < kNumCounters; ++c) {
    if ((WaitsFor(inst) >> c & 1) != 0) (*pending)[c].clear();
  }
  for (const uint8_t c : {inst.control.write_counter, inst.control.read_counter}) {
    if (c < kNumCounters) (*pending)[c].insert(index);
  }
}

// What may be pending at each block's start.
std::vector<Pending> SolvePending(const Code& code, const Cfg& cfg) {
  std::vector<Pending> in(cfg.blocks.size());
  std::vector<bool> dirty(cfg.blocks.size(), true);
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t b = 0; b < cfg.blocks.size(); ++b) {
      if (!dirty[b]) continue;
      dirty[b] = false;
      Pending state = in[b];
      for (uint32_t i = cfg.blocks[b].first; i < cfg.blocks[b].end; ++i) Step(code.insts[i], i, &state);
      for (const Edge& edge : cfg.blocks[b].successors) {
        if (edge.kind == EdgeKind::kCallee) continue;
        for (uint8_t c = 0; c < kNumCounters; ++c) {
          const size_t before = in[edge.to][c].size();
          in[edge.to][c].insert(state[c].begin(), state[c].end());
          if (in[edge.to][c].size() == before) continue;
          dirty[edge.to] = changed = true;
        }
      }
    }
  }
  return in;
}

InstStall StallOf(const Code& code, uint32_t index, const Pending& pending) {
  const sass::Instruction& inst = code.insts[index];
  InstStall stall;
  stall.stall_cycles = inst.control.stall_cycles;
  stall.may_switch = !inst.control.keep_warp;
  const uint8_t mask = WaitsFor(inst);
  for (uint8_t c = 0; c < kNumCounters; ++c) {
    if ((mask >> c & 1) == 0) continue;
    CounterWait wait;
    wait.counter = c;
    wait.producers.assign(pending[c].begin(), pending[c].end());
    wait.write = std::any_of(wait.producers.begin(), wait.producers.end(),
                             [&](uint32_t p) { return code.insts[p].control.write_counter == c; });
    stall.waits.push_back(std::move(wait));
  }
  return stall;
}

// Registers of one producer that are in flight or waited for, and not yet read or overwritten.
struct InFlight {
  uint32_t producer = 0;
  uint8_t counter = 0;
  bool waited = false;
  RegSet regs;
};

// @P0 and @!P0 of the same P0: one of the two does not run.
bool AreExclusive(const Code& code, uint32_t producer, uint32_t consumer) {
  const sass::Instruction& first = code.insts[producer];
  const sass::Instruction& second = code.insts[consumer];
  const bool opposite = first.guard == second.guard && first.guard < 7 &&
                        first.guard_uniform == second.guard_uniform && first.guard_not != second.guard_not;
  if (!opposite) return false;
  const RegFile file = first.guard_uniform ? RegFile::kUPred : RegFile::kPred;
  for (uint32_t i = producer; i < consumer; ++i) {
    if (EffectsOf(code.insts[i]).writes.Has(file, first.guard)) return false;
  }
  return true;
}

// Results come back in order where one unit overwrites its own, so a write only ends the watch.
void CheckBlock(const Code& code, const Block& block, ScoreboardCheck* check) {
  std::vector<InFlight> flights;
  std::vector<bool> used(block.end - block.first, false);
  for (uint32_t i = block.first; i < block.end; ++i) {
    const uint8_t mask = WaitsFor(code.insts[i]);
    const Effects effects = EffectsOf(code.insts[i]);
    for (InFlight& flight : flights) {
      if ((mask >> flight.counter & 1) != 0) flight.waited = true;
      const RegSet read = effects.never ? RegSet() : flight.regs & effects.reads;
      flight.regs -= effects.reads | effects.writes;
      if (read.Empty() || AreExclusive(code, flight.producer, i)) continue;
      used[flight.producer - block.first] = true;
      if (flight.waited) continue;
      read.ForEach([&](RegFile file, unsigned index) {
        check->faults.push_back({.producer = flight.producer, .consumer = i, .reg = RegName(file, index)});
      });
    }
    std::erase_if(flights, [](const InFlight& f) { return f.regs.Empty(); });
    const uint8_t c = code.insts[i].control.write_counter;
    if (c < kNumCounters && !effects.writes.Empty()) flights.push_back({i, c, false, effects.writes});
  }
  check->uses += static_cast<uint32_t>(std::count(used.begin(), used.end(), true));
}

}  // namespace

StallReport AnalyseStalls(const Code& code, const Cfg& cfg) {
  StallReport report;
  report.insts.resize(code.insts.size());
  std::vector<Pending> in = SolvePending(code, cfg);
  const size_t used = code.NumUsed();
  for (uint32_t b = 0; b < cfg.blocks.size(); ++b) {
    BlockStall row;
    row.block = b;
    for (uint32_t i = cfg.blocks[b].first; i < cfg.blocks[b].end && i < used; ++i) {
      report.insts[i] = StallOf(code, i, in[b]);
      Step(code.insts[i], i, &in[b]);
      ++row.instructions;
      row.stall_cycles += std::max<uint32_t>(report.insts[i].stall_cycles, 1);
      row.waits += static_cast<uint32_t>(report.insts[i].waits.size());
    }
    row.excess_cycles = row.stall_cycles - row.instructions;
    if (row.instructions > 0) report.blocks.push_back(row);
  }
  return report;
}

ScoreboardCheck CheckScoreboards(const Code& code, const Cfg& cfg) {
  ScoreboardCheck check;
  for (const Block& block : cfg.blocks) CheckBlock(code, block, &check);
  return check;
}

}  // namespace sm89::analysis
