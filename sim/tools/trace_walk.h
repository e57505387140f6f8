// Walks the part of a trace that a dump selects and hands it, piece by piece, to a sink that writes it.
// Memory stays bounded by one kernel's static table.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "sim/isa/decoded_inst.h"
#include "sim/tools/access_summary.h"
#include "sim/tools/trace_options.h"
#include "sim/trace/compact_reader.h"

namespace sm89 {

// One kernel as a sink sees it.
struct DumpKernel {
  uint32_t position = 0;  // from 1
  const KernelInfo* info = nullptr;
  std::span<const StaticInst> table;
  const DecodedKernel* decoded = nullptr;
};

// One executed instruction.
struct DumpInst {
  Dim3 cta;
  uint32_t warp = 0;
  uint64_t number = 0;  // in the warp, from 0
  const StaticInst* inst = nullptr;
  const DecodedInst* decoded = nullptr;
  DynInst dyn;
  AccessSummary access;
};

// What a walk left out.
struct DumpTotals {
  uint64_t shown = 0;  // executed instructions
  uint64_t ctas_shown = 0;
  uint64_t ctas_left_out = 0;  // because only the first one of a kernel was asked for
  bool limit_reached = false;  // the filter's limit ended the walk
};

class DumpSink {
 public:
  virtual ~DumpSink() = default;
  virtual void Begin() = 0;
  virtual void BeginKernel(const DumpKernel& kernel) = 0;
  // Only instructions that the filter's pc selects.
  virtual void Static(uint32_t static_id) = 0;
  virtual void BeginExecuted() = 0;  // after the kernel's Static calls; always called
  virtual void Executed(const DumpInst& inst) = 0;
  virtual void EndKernel() = 0;
  virtual void End(const DumpTotals& totals) = 0;
};

// INVALID_ARGUMENT, before the sink's first call, when the filter names a kernel, thread block, warp
// or pc that the trace does not have; DATA_LOSS; CANCELLED when `cancel` (may be null) turns true.
absl::Status WalkTrace(CompactReader* reader, const DumpFilter& filter, const std::atomic<bool>* cancel,
                       DumpSink* sink);

}  // namespace sm89
