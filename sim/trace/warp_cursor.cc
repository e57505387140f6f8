#include "sim/trace/warp_cursor.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "sim/base/assert.h"
#include "sim/trace/format.h"

namespace sm89 {

CompactWarpCursor::CompactWarpCursor(std::shared_ptr<TraceStore> store, const WarpPlace& place,
                                     std::shared_ptr<const Chunk> chunk, size_t piece)
    : store_(std::move(store)),
      place_(place),
      statics_(store_->table(place.kernel).by_stream_id),
      chunk_(std::move(chunk)),
      slots_(store_->table(place.kernel).num_slots) {
  const WarpSegment* segment = chunk_->FindWarp(piece, place.warp);
  SM89_ASSERT(segment != nullptr, "a cursor is opened on a warp that has instructions");
  StartSegment(*segment);
  remaining_ = segment->instructions + segment->remaining;
}

void CompactWarpCursor::StartSegment(const WarpSegment& segment) {
  ops_ = ByteReader(chunk_->ops(segment));
  aux_ = ByteReader(chunk_->aux(segment));
  shape_list_ = chunk_->shape_list(segment);
  shapes_used_ = 0;
  id_ = UINT32_MAX;
  mask_ = ~LaneMask{0};
  run_ = 0;
  segment_left_ = segment.instructions;
  std::fill(slots_.begin(), slots_.end(), SlotPredictor{});
  const std::span<const uint32_t> slots = chunk_->slot_list(segment);
  const std::span<const uint64_t> bases = chunk_->first_bases(segment);
  for (size_t i = 0; i < slots.size(); ++i) slots_[slots[i]].last = bases[i];
}

bool CompactWarpCursor::Damaged(const char* message) {
  const PiecePlace at = store_->Locate(place_.first_piece + piece_);
  status_ = store_->Damage(
      absl::StrCat("chunk ", at.chunk), store_->chunk_offset(at.chunk),
      absl::StrCat("warp ", place_.warp, " of a thread block of kernel ", place_.kernel + 1, ": ", message));
  return false;
}

bool CompactWarpCursor::NextSegment() {
  if (!SegmentUsedUp()) return Damaged("bytes left at a segment's end");
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
  if (segment_left_ == 0) [[unlikely]] {
    if (!status_.ok()) return false;
    if (remaining_ == 0) return SegmentUsedUp() ? false : Damaged("bytes left at the warp's end");
    if (!NextSegment()) return false;
  }
  if (run_ > 0) {
    --run_;
    ++id_;
    *inst = {.static_id = statics_[id_].static_id, .mask = mask_};
  } else if (!NextControl(inst)) {
    segment_left_ = 0;
    return false;
  }
  --segment_left_;
  --remaining_;
  return true;
}

bool CompactWarpCursor::NextControl(DynInst* inst) {
  const uint8_t op = ops_.U8();
  const uint32_t next = id_ + 1;
  if ((op & kOpExplicit) == 0) {
    // A byte missing at the end reads as a run of one.
    if (!ops_.ok() || next + uint64_t{op} >= statics_.size()) return Damaged("a run leaves the static table");
    run_ = op;
    id_ = next;
    *inst = {.static_id = statics_[id_].static_id, .mask = mask_};
    return true;
  }
  const bool access = (op & kOpAddress) != 0;
  const uint8_t foreign = access ? kOpReserved | kOpMask : kOpReserved | kOpShape | kOpResidual;
  if ((op & foreign) != 0) return Damaged("an unknown control byte");
  const uint64_t id = (op & kOpJump) != 0 ? next + aux_.Zigzag() : next;
  if (id >= statics_.size()) return Damaged("a jump leaves the static table");
  id_ = static_cast<uint32_t>(id);
  if (access) return NextAccess(op, inst);
  if ((op & kOpMask) != 0) mask_ = static_cast<LaneMask>(aux_.LittleEndian(4));
  if (!aux_.ok()) return Damaged("operands are missing");
  *inst = {.static_id = statics_[id_].static_id, .mask = mask_};
  return true;
}

bool CompactWarpCursor::NextAccess(uint8_t op, DynInst* inst) {
  const uint32_t slot_number = statics_[id_].slot;
  if (slot_number >= slots_.size()) return Damaged("addresses at an instruction that has none");
  SlotPredictor& slot = slots_[slot_number];
  if ((op & kOpShape) != 0) {
    const uint64_t code = aux_.Varint();
    const uint64_t local = code == 0 ? shapes_used_++ : code - 1;
    if (local >= shape_list_.size()) return Damaged("an unknown shape");
    slot.shape = static_cast<uint32_t>(local);
  }
  if (slot.shape == UINT32_MAX) return Damaged("a first access without a shape");
  const uint64_t base = slot.Guess() + ((op & kOpResidual) != 0 ? aux_.Zigzag() : 0);
  if (!aux_.ok()) return Damaged("operands are missing");
  slot.Learn(base);
  const AccessShape& shape = chunk_->shape(shape_list_[slot.shape]);
  mask_ = shape.mask;
  *inst = {statics_[id_].static_id, mask_, &shape, base};
  return true;
}

}  // namespace sm89
