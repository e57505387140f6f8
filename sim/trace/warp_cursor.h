// Decodes one warp's segments, one after the other.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "absl/status/status.h"
#include "sim/trace/segment_decoder.h"
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

// A segment's shape list, as a chunk holds it.
struct ChunkShapes {
  const Chunk* chunk = nullptr;
  std::span<const uint32_t> numbers;

  size_t size() const { return numbers.size(); }
  const AccessShape& operator[](size_t i) const { return chunk->shape(numbers[i]); }
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
  uint32_t stream_id() const { return decoder_.stream_id(); }

 private:
  bool NextSegment();
  void StartSegment(const WarpSegment& segment);
  bool Damaged(const char* message);

  std::shared_ptr<TraceStore> store_;
  const WarpPlace place_;
  std::shared_ptr<const Chunk> chunk_;
  uint64_t piece_ = 0;  // number among the CTA's pieces
  SegmentDecoder<ChunkShapes> decoder_;
  uint64_t remaining_ = 0;
  absl::Status status_;
};

}  // namespace sm89
