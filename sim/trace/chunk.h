// An unpacked chunk: immutable once parsed, shared by the cursors that walk its pieces.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "sim/trace/trace_source.h"

namespace sm89 {

// One warp's segment inside a piece.
struct WarpSegment {
  uint32_t warp = 0;
  uint32_t instructions = 0;  // in this segment; 0 only for a warp that is present but empty
  uint64_t remaining = 0;     // of the warp after this segment
  uint32_t ops = 0, aux = 0;  // blob numbers
  uint32_t shape_list = 0, slot_list = 0;
  uint64_t first_base = 0;  // index of its first bases, one a slot of its slot list
};

class Chunk {
 public:
  // What the file's index says of the chunk and the parser needs.
  struct Expectation {
    uint64_t pieces = 0;
    uint64_t shapes = 0;
    uint32_t first_shape_id = 0;
    std::span<const uint32_t> slots_of_kernel;  // predictors of each kernel of the file
  };

  // DATA_LOSS (a plain text) when the bytes do not describe a chunk.
  static absl::StatusOr<Chunk> Parse(std::string raw, const Expectation& expected);
  Chunk(Chunk&&) = default;
  Chunk& operator=(Chunk&&) = default;

  size_t num_pieces() const { return pieces_.size(); }
  uint32_t kernel(size_t piece) const { return pieces_[piece].kernel; }
  // By ascending warp number.
  std::span<const WarpSegment> warps(size_t piece) const {
    return std::span(warps_).subspan(pieces_[piece].first_warp, pieces_[piece].num_warps);
  }
  // Null when the piece holds nothing of the warp.
  const WarpSegment* FindWarp(size_t piece, uint32_t warp) const;

  std::string_view ops(const WarpSegment& s) const { return View(ops_[s.ops]); }
  std::string_view aux(const WarpSegment& s) const { return View(aux_[s.aux]); }
  std::span<const uint32_t> shape_list(const WarpSegment& s) const {
    return List(shape_lists_[s.shape_list]);
  }
  std::span<const uint32_t> slot_list(const WarpSegment& s) const { return List(slot_lists_[s.slot_list]); }
  std::span<const uint64_t> first_bases(const WarpSegment& s) const {
    return std::span(bases_).subspan(s.first_base, slot_lists_[s.slot_list].count);
  }
  const AccessShape& shape(uint32_t number) const { return shapes_[number]; }

 private:
  friend class ChunkParser;
  struct Range {
    uint64_t first = 0;
    uint64_t count = 0;
  };
  struct Piece {
    uint32_t kernel = 0;
    uint64_t first_warp = 0;
    uint64_t num_warps = 0;
  };
  Chunk() = default;
  std::string_view View(const Range& r) const { return std::string_view(raw_).substr(r.first, r.count); }
  std::span<const uint32_t> List(const Range& r) const {
    return std::span(list_items_).subspan(r.first, r.count);
  }

  std::string raw_;
  std::vector<AccessShape> shapes_;
  std::vector<uint32_t> list_items_;
  std::vector<Range> shape_lists_, slot_lists_;
  std::vector<Range> ops_, aux_;
  std::vector<Piece> pieces_;
  std::vector<WarpSegment> warps_;
  std::vector<uint64_t> bases_;
};

}  // namespace sm89
