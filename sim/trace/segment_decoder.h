// Decodes one segment's control and operand streams (FORMAT.md, "Control stream"), the counterpart of
// SegmentEncoder.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "sim/trace/base_predictor.h"
#include "sim/trace/byte_io.h"
#include "sim/trace/format.h"
#include "sim/trace/metadata.h"
#include "sim/trace/trace_source.h"

namespace sm89 {

// `Shapes` is the segment's shape list: size(), and operator[] giving a const AccessShape&.
template <typename Shapes>
class SegmentDecoder {
 public:
  struct Segment {
    std::string_view ops, aux;
    Shapes shapes;
    uint32_t instructions = 0;
    std::span<const uint32_t> slots;  // with a first base each
    std::span<const uint64_t> first_bases;
  };

  // `statics` by stream id; they must outlive the decoder, as must what segments refer to.
  SegmentDecoder(std::span<const StreamStatic> statics, uint32_t num_slots)
      : statics_(statics), slots_(num_slots) {}

  void Start(const Segment& segment) {
    ops_ = ByteReader(segment.ops);
    aux_ = ByteReader(segment.aux);
    shapes_ = segment.shapes;
    shapes_used_ = 0;
    id_ = UINT32_MAX;
    mask_ = ~LaneMask{0};
    run_ = 0;
    left_ = segment.instructions;
    std::fill(slots_.begin(), slots_.end(), SlotPredictor{});
    for (size_t i = 0; i < segment.slots.size(); ++i) slots_[segment.slots[i]].last = segment.first_bases[i];
  }

  // Instructions of the segment not yet given.
  uint32_t left() const { return left_; }
  // True when nothing is left of the streams.
  bool UsedUp() const { return run_ == 0 && ops_.AtEnd() && aux_.AtEnd() && ops_.ok() && aux_.ok(); }
  // What was wrong when Next said false.
  const char* damage() const { return damage_; }
  // Id in the streams of the instruction given last.
  uint32_t stream_id() const { return id_; }

  // Call while left() > 0. False: the streams are no segment's; left() is 0 then.
  bool Next(DynInst* inst) {
    if (run_ > 0) {
      --run_;
      ++id_;
      *inst = {.static_id = statics_[id_].static_id, .mask = mask_};
    } else if (!NextControl(inst)) {
      left_ = 0;
      return false;
    }
    --left_;
    return true;
  }

 private:
  bool Damaged(const char* message) {
    damage_ = message;
    return false;
  }

  bool NextControl(DynInst* inst) {
    const uint8_t op = ops_.U8();
    const uint32_t next = id_ + 1;
    if ((op & kOpExplicit) == 0) {
      // A byte missing at the end reads as a run of one.
      if (!ops_.ok() || next + uint64_t{op} >= statics_.size())
        return Damaged("a run leaves the static table");
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

  bool NextAccess(uint8_t op, DynInst* inst) {
    const uint32_t slot_number = statics_[id_].slot;
    if (slot_number >= slots_.size()) return Damaged("addresses at an instruction that has none");
    SlotPredictor& slot = slots_[slot_number];
    if ((op & kOpShape) != 0) {
      const uint64_t code = aux_.Varint();
      const uint64_t local = code == 0 ? shapes_used_++ : code - 1;
      if (local >= shapes_.size()) return Damaged("an unknown shape");
      slot.shape = static_cast<uint32_t>(local);
    }
    if (slot.shape == UINT32_MAX) return Damaged("a first access without a shape");
    const uint64_t base = slot.Guess() + ((op & kOpResidual) != 0 ? aux_.Zigzag() : 0);
    if (!aux_.ok()) return Damaged("operands are missing");
    slot.Learn(base);
    const AccessShape& shape = shapes_[slot.shape];
    mask_ = shape.mask;
    *inst = {statics_[id_].static_id, mask_, &shape, base};
    return true;
  }

  std::span<const StreamStatic> statics_;
  ByteReader ops_, aux_;
  Shapes shapes_;
  uint32_t shapes_used_ = 0;  // of shapes_
  uint32_t id_ = UINT32_MAX;
  LaneMask mask_ = ~LaneMask{0};
  uint32_t run_ = 0;  // plain instructions left of the current run
  uint32_t left_ = 0;
  std::vector<SlotPredictor> slots_;
  const char* damage_ = "";
};

}  // namespace sm89
