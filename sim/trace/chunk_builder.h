// Gathers pieces (one segment of each warp of one CTA) into the bytes of a chunk (FORMAT.md, "Chunk").
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "sim/trace/base_predictor.h"
#include "sim/trace/format.h"
#include "sim/trace/segment_encoder.h"

namespace sm89 {

// One warp's part of a piece. `segment` is null for a warp that is present without instructions.
struct WarpPiece {
  uint32_t warp = 0;
  uint64_t remaining = 0;  // instructions of the warp after this segment
  const EncodedSegment* segment = nullptr;
};

struct BuiltChunk {
  std::string raw;
  uint64_t pieces = 0;
  uint64_t shapes = 0;
};

class ChunkBuilder {
 public:
  // `warps` by ascending warp number.
  void AddPiece(uint32_t kernel, std::span<const WarpPiece> warps, const CtaShapes& shapes);
  bool empty() const { return num_pieces_ == 0; }
  // Unpacked size so far, counting what warps and addresses take once parsed.
  uint64_t weight() const;
  // The chunk; the builder starts the next one.
  BuiltChunk Take();

 private:
  // What a piece's record says of one warp.
  struct WarpRecord {
    uint32_t warp = 0;
    uint32_t instructions = 0;
    uint64_t remaining = 0;
    uint32_t ops = 0, aux = 0, shape_list = 0, slot_list = 0;
    friend bool operator==(const WarpRecord&, const WarpRecord&) = default;
  };
  using Numbers = absl::flat_hash_map<std::string, uint32_t>;

  uint32_t InternBlob(const std::string& blob, Column column, Numbers* numbers, std::string* lengths);
  uint32_t InternShapeList(const EncodedSegment& segment, const CtaShapes& shapes);
  uint32_t InternSlotList(const EncodedSegment& segment);
  uint32_t InternShape(const std::string& code, uint32_t lanes);
  void AppendBases(uint32_t position, const EncodedSegment& segment);
  void AppendRecords(const std::vector<WarpRecord>& records);
  std::string& column(Column c) { return columns_[static_cast<size_t>(c)]; }

  std::array<std::string, kNumColumns> columns_;
  std::string ops_lengths_, aux_lengths_;
  Numbers shapes_, shape_lists_, slot_lists_, ops_, aux_;
  FirstBasePredictor predictor_;
  std::vector<WarpRecord> previous_;
  uint32_t previous_kernel_ = 0;
  uint64_t num_pieces_ = 0;
  uint64_t addresses_ = 0;  // lanes of shapes + first bases
  uint64_t warps_ = 0;      // of all pieces
  // Next number that each kind of reference has not used yet in the piece records.
  uint32_t next_ops_ = 0, next_aux_ = 0, next_shape_list_ = 0, next_slot_list_ = 0;
};

}  // namespace sm89
