// PTX next to SASS: what each PTX line became and what it costs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/analysis/code.h"
#include "sim/analysis/ptx_source.h"
#include "sim/config/gpu_config.h"

namespace sm89::analysis {

enum class PtxMapping : uint8_t {
  kPtxLines,     // the cubin names the PTX line of every instruction
  kSourceLines,  // both name source lines: SASS is spread over the PTX of the same line
};
std::string_view Name(PtxMapping mapping);

struct PtxRow {
  uint32_t ptx_line = 0;            // of its first line for a group; 0: SASS without a PTX line
  std::vector<PtxInstruction> ptx;  // one, or those of a source line
  cubin::SourceLine source;
  std::vector<uint32_t> sass;     // instruction indices
  uint32_t issue_cycles = 0;      // sum of issue intervals
  uint32_t ideal_cycles = 0;      // the same PTX instructions at one SASS instruction each
  uint32_t spills = 0;            // of the SASS instructions
  uint32_t convergence = 0;       // BSSY, BSYNC, BREAK, WARPSYNC, BMOV, YIELD, BRA.DIV
  double Expansion() const;       // SASS per PTX instruction; 0 without PTX
  double ThroughputLost() const;  // 1 - ideal / issue cycles, 0 when it costs nothing more
};
struct PtxReport {
  std::string function;
  PtxMapping mapping = PtxMapping::kPtxLines;
  std::vector<PtxRow> rows;  // by PTX line, then SASS without one
  PtxRow total;
};
// Cycles that an instruction keeps its unit busy, by the model's table.
uint32_t IssueCycles(const sass::Instruction& inst, const GpuConfig& config);

// NOT_FOUND when the PTX has no such function; FAILED_PRECONDITION when the cubin has no lines at all.
absl::StatusOr<PtxReport> MapPtx(const Code& code, const PtxSource& ptx, const GpuConfig& config);

std::string ToText(const PtxReport& report, const Code& code, const PtxSource& ptx);
std::string ToJson(const PtxReport& report, const Code& code, const PtxSource& ptx);

}  // namespace sm89::analysis
