// A trace source that executes thread blocks while they are asked for, without a stored trace.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "sim/trace/compact_writer.h"
#include "sim/trace/cta_recorder.h"
#include "sim/trace/trace_source.h"

namespace sm89 {

// Executes thread blocks.
class CtaProducer {
 public:
  virtual ~CtaProducer() = default;
  // Executes CTA `index` (linear, x fastest) of `kernel` and adds what its warps execute to `recorder`, in
  // which the CTA is open. Called once a CTA, in ascending order, kernel after kernel.
  virtual absl::Status Produce(uint32_t kernel, uint64_t index, CtaRecorder* recorder) = 0;
};

struct LiveTrace {
  // Kernels on one stream, in the order in which they run, with their commands; counts are not read. Marks
  // should say how the instructions come about (kEmulatedMark).
  TraceSetInfo info;
  std::vector<std::vector<StaticInst>> statics;  // of each kernel, by ascending pc
  std::string digest;                            // identity of what is executed
};

struct LiveOptions {
  RecorderLimits limits;
  std::unique_ptr<CompactWriter> keep;  // not null: every CTA is written there too
};

class LiveSource : public TraceSource {
 public:
  // INVALID_ARGUMENT: a grid or block that no GPU runs, kernels on several streams.
  static absl::StatusOr<std::shared_ptr<LiveSource>> Create(LiveTrace trace,
                                                            std::unique_ptr<CtaProducer> producer,
                                                            LiveOptions options = {});
  bool live() const override { return true; }

  // Executes what nobody has asked for yet (after a cycle limit, say), so that results are whole. A kernel
  // that the run leaves out is executed in any case before a later one.
  virtual absl::Status ExecuteRest() = 0;
  // With LiveOptions::keep: ExecuteRest, then seals the kept trace. Call once, last.
  virtual absl::StatusOr<WrittenTrace> FinishKept() = 0;
  // Executed so far.
  virtual uint64_t ctas_executed() const = 0;
  virtual uint64_t warp_instructions() const = 0;
};

// Writes thread blocks of one kernel, whatever source they come from. Between BeginKernel and EndKernel.
class CtaWriter {
 public:
  // Both must outlive this. Only instructions that were executed get into the writer's static table.
  CtaWriter(std::span<const StaticInst> statics, CompactWriter* writer)
      : statics_(statics), writer_(*writer), ids_(statics.size(), UINT32_MAX) {}
  absl::Status Write(const CtaTrace& cta);

 private:
  absl::Status WriteWarp(uint32_t warp, WarpCursor* cursor);

  std::span<const StaticInst> statics_;
  CompactWriter& writer_;
  std::vector<uint32_t> ids_;  // in the writer, by static id
  std::vector<uint64_t> addresses_;
};

}  // namespace sm89
