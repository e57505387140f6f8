#include "sim/analysis/ptx_map.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "sim/analysis/mix.h"
#include "sim/analysis/spills.h"
#include "sim/base/fault.h"
#include "sim/isa/modifiers.h"
#include "sim/sass/decode.h"
#include "sim/sm/kernel_code.h"

namespace sm89::analysis {
namespace {

using sass::Op;

bool IsConvergence(const sass::Instruction& inst) {
  switch (inst.op) {
    case Op::kBssy:
    case Op::kBsync:
    case Op::kBreak:
    case Op::kWarpsync:
    case Op::kBmov:
    case Op::kYield:
      return true;
    case Op::kBra:  // BRA.DIV, BRA.CONV
      return std::any_of(inst.operands.begin(), inst.operands.begin() + inst.num_operands,
                         [](const sass::Operand& operand) { return operand.IsUReg(); });
    default:
      return false;
  }
}

// PTX instructions by the line they start on, of all functions: callees share their kernel's code.
using PtxByLine = std::map<uint32_t, const PtxInstruction*>;

PtxByLine IndexLines(const PtxSource& ptx) {
  PtxByLine lines;
  for (const PtxFunction& function : ptx.functions) {
    for (const PtxInstruction& inst : function.instructions) lines[inst.line] = &inst;
  }
  return lines;
}

// The instruction whose lines hold `line`; null between instructions.
const PtxInstruction* InstructionAt(const PtxByLine& lines, uint32_t line) {
  auto after = lines.upper_bound(line);
  if (after == lines.begin()) return nullptr;
  const PtxInstruction* inst = std::prev(after)->second;
  return line <= inst->last_line ? inst : nullptr;
}

class Mapper {
 public:
  Mapper(const Code& code, const PtxSource& ptx, const GpuConfig& config)
      : code_(code), ptx_(ptx), config_(config), lines_(IndexLines(ptx)) {
    for (const LocalAccess& access : FindSpills(code).accesses) {
      if (access.use != LocalUse::kArray) spills_.insert(access.instruction);
    }
  }

  PtxReport ByPtxLines(const PtxFunction& function) {
    std::map<uint32_t, PtxRow> rows;
    for (const PtxInstruction& inst : function.instructions) rows[inst.line].ptx = {inst};
    for (uint32_t i = 0; i < code_.NumUsed(); ++i) {
      const uint32_t line = code_.PtxLineOf(i).line;
      const PtxInstruction* inst = line == 0 ? nullptr : InstructionAt(lines_, line);
      PtxRow& row = rows[inst != nullptr ? inst->line : line];
      if (inst != nullptr) row.ptx = {*inst};
      row.sass.push_back(i);
    }
    return Finish(PtxMapping::kPtxLines, &rows);
  }

  // Rows are source lines; a row stands where its first PTX instruction does. File numbers of PTX and cubin
  // are not the same: lines alone are matched.
  PtxReport BySourceLines(const PtxFunction& function) {
    std::map<uint32_t, PtxRow> by_source;
    for (const PtxInstruction& inst : function.instructions) by_source[inst.source_line].ptx.push_back(inst);
    for (uint32_t i = 0; i < code_.NumUsed(); ++i) by_source[code_.LineOf(i).line].sass.push_back(i);
    std::map<uint32_t, PtxRow> rows;
    for (auto& [source, row] : by_source) {
      // Without PTX: behind all that has some.
      const uint32_t line = row.ptx.empty() ? 0 : row.ptx.front().line;
      PtxRow& target = rows[line];
      target.sass.insert(target.sass.end(), row.sass.begin(), row.sass.end());
      target.ptx = std::move(row.ptx);
    }
    return Finish(PtxMapping::kSourceLines, &rows);
  }

 private:
  PtxReport Finish(PtxMapping mapping, std::map<uint32_t, PtxRow>* rows) {
    PtxReport report;
    report.function = code_.function->name;
    report.mapping = mapping;
    for (auto& [line, row] : *rows) {
      row.ptx_line = line;
      if (!row.sass.empty()) row.source = code_.LineOf(row.sass.front());
      Weigh(&row);
      Add(row, &report.total);
      if (line != 0) report.rows.push_back(std::move(row));
    }
    if (const auto none = rows->find(0); none != rows->end()) report.rows.push_back(std::move(none->second));
    return report;
  }

  void Weigh(PtxRow* row) const {
    std::vector<uint32_t> cycles;
    for (const uint32_t i : row->sass) {
      cycles.push_back(IssueCycles(code_.insts[i], config_));
      row->issue_cycles += cycles.back();
      row->spills += spills_.count(i) != 0 ? 1 : 0;
      row->convergence += IsConvergence(code_.insts[i]) ? 1 : 0;
    }
    std::sort(cycles.begin(), cycles.end(), std::greater<>());
    for (size_t i = 0; i < cycles.size() && i < row->ptx.size(); ++i) row->ideal_cycles += cycles[i];
  }

  static void Add(const PtxRow& row, PtxRow* total) {
    total->ptx.insert(total->ptx.end(), row.ptx.begin(), row.ptx.end());
    total->sass.insert(total->sass.end(), row.sass.begin(), row.sass.end());
    total->issue_cycles += row.issue_cycles;
    total->ideal_cycles += row.ideal_cycles;
    total->spills += row.spills;
    total->convergence += row.convergence;
  }

  const Code& code_;
  const PtxSource& ptx_;
  const GpuConfig& config_;
  PtxByLine lines_;
  std::set<uint32_t> spills_;
};

absl::Status Refuse(absl::StatusCode code, const std::string& file, const std::string& message) {
  Fault fault;
  fault.file = file;
  fault.message = message;
  return InputError(code, fault);
}

}  // namespace

std::string_view Name(PtxMapping mapping) {
  return mapping == PtxMapping::kPtxLines ? "PTX lines" : "source lines";
}

double PtxRow::Expansion() const {
  return ptx.empty() ? 0 : static_cast<double>(sass.size()) / static_cast<double>(ptx.size());
}

double PtxRow::ThroughputLost() const {
  return issue_cycles == 0 ? 0 : 1.0 - static_cast<double>(ideal_cycles) / issue_cycles;
}

uint32_t IssueCycles(const sass::Instruction& inst, const GpuConfig& config) {
  DecodedInst decoded;
  decoded.unit = UnitOf(inst);
  if (decoded.unit == ExecUnit::kMem) return config.l1.address_cycles;
  if (decoded.unit == ExecUnit::kTensor) ParseTensorOp(sass::PrintOpcode(inst), &decoded.tensor);
  return std::max<uint32_t>(TimingOf(decoded, config).interval_cycles, 1);
}

absl::StatusOr<PtxReport> MapPtx(const Code& code, const PtxSource& ptx, const GpuConfig& config) {
  const PtxFunction* function = ptx.Find(code.function->name);
  if (function == nullptr) {
    return Refuse(absl::StatusCode::kNotFound, code.module->name,
                  absl::StrCat("the PTX has no function '", code.function->name, "'"));
  }
  Mapper mapper(code, ptx, config);
  if (!code.function->ptx_lines.empty()) return mapper.ByPtxLines(*function);
  if (!code.function->lines.empty()) return mapper.BySourceLines(*function);
  return Refuse(absl::StatusCode::kFailedPrecondition, code.module->name,
                "no line information: compile with -lineinfo");
}

}  // namespace sm89::analysis
