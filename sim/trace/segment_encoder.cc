#include "sim/trace/segment_encoder.h"

#include <algorithm>
#include <bit>

#include "sim/trace/byte_io.h"

namespace sm89 {
namespace {

// Distance from the instruction after `previous` (32-bit arithmetic: UINT32_MAX is "before static 0").
uint64_t JumpFrom(uint32_t previous, uint32_t stream_id) {
  return uint64_t{stream_id} - uint64_t{previous + 1};
}

}  // namespace

uint32_t CtaShapes::Intern(const std::string& code, bool* added) {
  const auto number = static_cast<uint32_t>(codes_.size());
  const auto [it, inserted] = numbers_.try_emplace(code, number);
  *added = inserted;
  if (inserted) {
    codes_.push_back(code);
    ByteReader in(code);
    lanes_.push_back(static_cast<uint32_t>(std::popcount(static_cast<LaneMask>(in.LittleEndian(4)))));
  }
  return it->second;
}

void CtaShapes::Clear() {
  numbers_.clear();
  codes_.clear();
  lanes_.clear();
}

void SegmentEncoder::AddPlain(uint32_t stream_id, LaneMask mask) {
  ++segment_.instructions;
  const bool follows = stream_id == previous_id_ + 1;
  if (follows && mask == mask_) {
    if (run_ > 0 && run_ < kMaxRun) {
      segment_.ops.back() = static_cast<char>(run_++);
    } else {
      segment_.ops.push_back('\0');
      run_ = 1;
    }
    previous_id_ = stream_id;
    return;
  }
  run_ = 0;
  uint8_t op = kOpExplicit;
  if (!follows) {
    op |= kOpJump;
    AppendZigzag(&segment_.aux, JumpFrom(previous_id_, stream_id));
  }
  if (mask != mask_) {
    op |= kOpMask;
    AppendLittleEndian(&segment_.aux, mask, 4);
  }
  segment_.ops.push_back(static_cast<char>(op));
  previous_id_ = stream_id;
  mask_ = mask;
}

void SegmentEncoder::AddAccess(uint32_t stream_id, LaneMask mask, uint32_t slot, uint32_t shape,
                               uint64_t base) {
  ++segment_.instructions;
  run_ = 0;
  uint8_t op = kOpExplicit | kOpAddress;
  if (stream_id != previous_id_ + 1) {
    op |= kOpJump;
    AppendZigzag(&segment_.aux, JumpFrom(previous_id_, stream_id));
  }
  SlotState& state = Slot(slot, base);
  if (shape != state.shape) {
    bool is_new = false;
    const uint32_t local = LocalShape(shape, mask, &is_new);
    op |= kOpShape;
    AppendVarint(&segment_.aux, is_new ? 0 : uint64_t{local} + 1);
    state.shape = shape;
  }
  if (const uint64_t residual = base - state.predictor.Guess(); residual != 0) {
    op |= kOpResidual;
    AppendZigzag(&segment_.aux, residual);
  }
  state.predictor.Learn(base);
  segment_.ops.push_back(static_cast<char>(op));
  previous_id_ = stream_id;
  mask_ = mask;
}

SegmentEncoder::SlotState& SegmentEncoder::Slot(uint32_t slot, uint64_t base) {
  if (slots_.size() <= slot) slots_.resize(slot + 1);
  SlotState& state = slots_[slot];
  if (state.shape == UINT32_MAX) {
    state.predictor.last = base;
    segment_.first_bases.push_back({slot, base});
  }
  return state;
}

uint32_t SegmentEncoder::LocalShape(uint32_t shape, LaneMask mask, bool* is_new) {
  const auto [it, added] = local_shapes_.try_emplace(shape, static_cast<uint32_t>(segment_.shapes.size()));
  *is_new = added;
  if (added) {
    segment_.shapes.push_back(shape);
    used_lanes_ += static_cast<uint32_t>(std::popcount(mask));
  }
  return it->second;
}

const EncodedSegment& SegmentEncoder::Close() {
  std::sort(segment_.first_bases.begin(), segment_.first_bases.end(),
            [](const FirstBase& a, const FirstBase& b) { return a.slot < b.slot; });
  return segment_;
}

void SegmentEncoder::Restart() {
  for (const FirstBase& first : segment_.first_bases) slots_[first.slot] = SlotState{};
  local_shapes_.clear();
  segment_.instructions = 0;
  segment_.ops.clear();
  segment_.aux.clear();
  segment_.shapes.clear();
  segment_.first_bases.clear();
  previous_id_ = UINT32_MAX;
  mask_ = ~LaneMask{0};
  run_ = 0;
  new_lanes_ = 0;
  used_lanes_ = 0;
}

EncodedSegment SegmentEncoder::Take() {
  EncodedSegment done = Close();
  Restart();
  return done;
}

}  // namespace sm89
