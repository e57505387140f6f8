// Control flow of a kernel's static instructions: what the synthesis of control bits needs to know beyond
// the instructions themselves.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "sim/trace/trace_source.h"
#include "sim/trace/trace_types.h"

namespace sm89 {

// Static instruction `to` was or can be the next one behind `from`.
struct CodeEdge {
  uint32_t from = 0;
  uint32_t to = 0;

  friend auto operator<=>(const CodeEdge&, const CodeEdge&) = default;
};

struct CodeFlow {
  uint32_t binary_version = 89;
  std::vector<CodeEdge> edges;    // sorted, each once; empty: every instruction falls through
  std::vector<uint32_t> guarded;  // static ids, ascending, that a predicate switched off for some lanes
};

// From the machine code: fall-through, branches, calls and their returns. An indirect branch leads to every
// place that nothing else leads to. Empty unless every instruction has an encoding of `binary_version`.
CodeFlow FlowOfMachineCode(std::span<const StaticInst> table, uint32_t binary_version);

// From the first thread blocks of a stored trace, at most `max_instructions` executed ones: successors seen,
// and instructions that had fewer lanes than their straight-line neighbours (a guard that text does not
// show). Not for live sources, whose blocks can be had only once. The trace's damage is the error.
absl::StatusOr<CodeFlow> FlowOfTrace(TraceSource& source, uint32_t kernel, uint64_t max_instructions);

// Whichever the kernel has: of its machine code, else of its trace's first 400,000 instructions, else (live,
// without encodings) none.
absl::StatusOr<CodeFlow> CollectFlow(TraceSource& source, uint32_t kernel);

}  // namespace sm89
