#include "sim/trace/warp_cursor.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "sim/base/assert.h"

namespace sm89 {

CompactWarpCursor::CompactWarpCursor(std::shared_ptr<TraceStore> store, const WarpPlace& place,
                                     std::shared_ptr<const Chunk> chunk, size_t piece)
    : store_(std::move(store)),
      place_(place),
      chunk_(std::move(chunk)),
      decoder_(store_->table(place.kernel).by_stream_id, store_->table(place.kernel).num_slots) {
  const WarpSegment* segment = chunk_->FindWarp(piece, place.warp);
  SM89_ASSERT(segment != nullptr, "a cursor is opened on a warp that has instructions");
  StartSegment(*segment);
  remaining_ = segment->instructions + segment->remaining;
}

void CompactWarpCursor::StartSegment(const WarpSegment& segment) {
  decoder_.Start({.ops = chunk_->ops(segment),
                  .aux = chunk_->aux(segment),
                  .shapes = {chunk_.get(), chunk_->shape_list(segment)},
                  .instructions = segment.instructions,
                  .slots = chunk_->slot_list(segment),
                  .first_bases = chunk_->first_bases(segment)});
}

bool CompactWarpCursor::Damaged(const char* message) {
  const PiecePlace at = store_->Locate(place_.first_piece + piece_);
  status_ = store_->Damage(
      absl::StrCat("chunk ", at.chunk), store_->chunk_offset(at.chunk),
      absl::StrCat("warp ", place_.warp, " of a thread block of kernel ", place_.kernel + 1, ": ", message));
  return false;
}

bool CompactWarpCursor::NextSegment() {
  if (!decoder_.UsedUp()) return Damaged("bytes left at a segment's end");
  if (piece_ + 1 >= place_.num_pieces) return Damaged("a segment is missing");
  ++piece_;
  const PiecePlace at = store_->Locate(place_.first_piece + piece_);
  absl::StatusOr<std::shared_ptr<const Chunk>> chunk = store_->GetChunk(at.chunk);
  if (!chunk.ok()) {
    status_ = chunk.status();
    return false;
  }
  chunk_ = *std::move(chunk);
  if (chunk_->kernel(at.piece) != place_.kernel) return Damaged("a segment of another kernel");
  const WarpSegment* segment = chunk_->FindWarp(at.piece, place_.warp);
  if (segment == nullptr || segment->instructions == 0) return Damaged("a segment is missing");
  if (segment->instructions + segment->remaining != remaining_) return Damaged("instruction counts disagree");
  StartSegment(*segment);
  return true;
}

bool CompactWarpCursor::Next(DynInst* inst) {
  if (decoder_.left() == 0) [[unlikely]] {
    if (!status_.ok()) return false;
    if (remaining_ == 0) return decoder_.UsedUp() ? false : Damaged("bytes left at the warp's end");
    if (!NextSegment()) return false;
  }
  if (!decoder_.Next(inst)) return Damaged(decoder_.damage());
  --remaining_;
  return true;
}

}  // namespace sm89
