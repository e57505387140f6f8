// A thread block's executed instructions, kept in memory in the encoding of the compact format: a few bytes
// an instruction, streams that warps share once. What a live source hands to the timing model.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "sim/trace/format.h"
#include "sim/trace/metadata.h"
#include "sim/trace/segment_encoder.h"
#include "sim/trace/shape_pool.h"
#include "sim/trace/trace_source.h"

namespace sm89 {

struct RecorderLimits {
  uint64_t cta_bytes = kMaxOpenCtaBytes;    // of one thread block
  uint64_t live_bytes = uint64_t{8} << 30;  // of all recorded thread blocks that are still held
};

// The bytes of one recorded thread block; immutable, shared by its cursors.
struct RecordedCta;

// Not thread-safe; the CTAs that it gives are independent of it and of one another.
class CtaRecorder {
 public:
  explicit CtaRecorder(const RecorderLimits& limits = {});
  ~CtaRecorder();
  CtaRecorder(const CtaRecorder&) = delete;
  CtaRecorder& operator=(const CtaRecorder&) = delete;

  // Before the first CTA of a kernel; static ids are below `num_statics`.
  void BeginKernel(uint32_t num_statics);
  // A CTA of 1 to kMaxWarpsPerCta warps; one that was begun and not ended is forgotten.
  absl::Status BeginCta(const Dim3& id, uint32_t num_warps);
  // The next instruction of a warp; calls for different warps may alternate. RESOURCE_EXHAUSTED, naming the
  // limit, when the thread block takes more memory than it may.
  absl::Status Add(uint32_t warp, const DynInstRecord& inst);
  absl::StatusOr<std::unique_ptr<CtaTrace>> EndCta();

  // Of the open CTA.
  uint64_t warp_instructions() const { return warp_instructions_; }
  // Bytes that recorded CTAs hold that somebody still has, and their shapes.
  uint64_t live_bytes() const { return live_->load(std::memory_order_relaxed); }

 private:
  struct Warp {
    SegmentEncoder encoder;
    uint64_t instructions = 0;
    uint32_t last_segment = UINT32_MAX;
  };
  absl::Status AddAccess(Warp* warp, const DynInstRecord& inst);
  const AccessShape* ShapeOf(uint32_t slot, const DynInstRecord& inst);
  uint32_t NewSlot(uint32_t static_id);
  absl::Status CloseSegment(uint32_t warp);
  absl::Status CheckCta() const;
  absl::Status CheckLimit(const char* what, uint64_t bytes, uint64_t limit) const;

  const RecorderLimits limits_;
  std::shared_ptr<LiveBytes> live_;
  ShapePool pool_;
  // Of the kernel.
  std::vector<StreamStatic> statics_;
  uint32_t num_slots_ = 0;
  uint32_t slots_met_ = 0;
  std::vector<const AccessShape*> last_shape_;    // by slot, while they lie in the pool's present arena
  std::shared_ptr<const StaticTableData> table_;  // of finished CTAs; null when statics_ has changed
  // Of the open CTA.
  std::unique_ptr<RecordedCta> cta_;
  std::vector<Warp> warps_;
  absl::flat_hash_map<uint64_t, uint32_t> by_streams_;  // hash of a segment's streams -> a segment
  uint64_t warp_instructions_ = 0;
  uint64_t shapes_before_ = 0;  // the pool's made_bytes() when the CTA began
};

}  // namespace sm89
