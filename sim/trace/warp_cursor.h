// Decodes one warp's segments, one after the other.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "sim/trace/base_predictor.h"
#include "sim/trace/byte_io.h"
#include "sim/trace/trace_source.h"
#include "sim/trace/trace_store.h"

namespace sm89 {

// Which warp a cursor walks.
struct WarpPlace {
  uint32_t kernel = 0;
  uint32_t warp = 0;
  uint64_t first_piece = 0;  // of its CTA, in the file
  uint64_t num_pieces = 1;   // of its CTA
};

class CompactWarpCursor final : public WarpCursor {
 public:
  // `chunk` holds the CTA's first piece, in which the warp has instructions.
  CompactWarpCursor(std::shared_ptr<TraceStore> store, const WarpPlace& place,
                    std::shared_ptr<const Chunk> chunk, size_t piece);

  bool Next(DynInst* inst) override;
  uint64_t remaining() const override { return remaining_; }
  const absl::Status& status() const override { return status_; }
  // Id in the file's streams of the instruction given last.
  uint32_t stream_id() const { return id_; }

 private:
  bool NextSegment();
  void StartSegment(const WarpSegment& segment);
  bool SegmentUsedUp() const { return run_ == 0 && ops_.AtEnd() && aux_.AtEnd() && ops_.ok() && aux_.ok(); }
  bool NextControl(DynInst* inst);
  bool NextAccess(uint8_t op, DynInst* inst);
  bool Damaged(const char* message);

  std::shared_ptr<TraceStore> store_;
  const WarpPlace place_;
  const std::vector<StreamStatic>& statics_;
  std::shared_ptr<const Chunk> chunk_;
  uint64_t piece_ = 0;  // number among the CTA's pieces
  ByteReader ops_, aux_;
  std::span<const uint32_t> shape_list_;
  uint32_t shapes_used_ = 0;  // of shape_list_
  uint32_t id_ = UINT32_MAX;  // stream id of the instruction given last
  LaneMask mask_ = ~LaneMask{0};
  uint32_t run_ = 0;  // plain instructions left of the current run
  uint32_t segment_left_ = 0;
  uint64_t remaining_ = 0;
  std::vector<SlotPredictor> slots_;
  absl::Status status_;
};

}  // namespace sm89
