// Encodes a stretch of one warp's instructions (a segment). Segments decode on their own: predictors start
// afresh in each.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "sim/base/types.h"
#include "sim/trace/base_predictor.h"
#include "sim/trace/format.h"

namespace sm89 {

struct FirstBase {
  uint32_t slot = 0;
  uint64_t base = 0;
};

struct EncodedSegment {
  uint32_t instructions = 0;
  std::string ops;                     // control bytes
  std::string aux;                     // their operands
  std::vector<uint32_t> shapes;        // the caller's shape numbers, in the order of first use
  std::vector<FirstBase> first_bases;  // by slot, ascending

  uint64_t bytes() const { return ops.size() + aux.size(); }
  // Memory that the segment takes.
  uint64_t held_bytes() const {
    return sizeof(EncodedSegment) + bytes() + shapes.size() * sizeof(uint32_t) +
           first_bases.size() * sizeof(FirstBase);
  }
};

// The distinct shapes of one CTA, numbered in the order met.
class CtaShapes {
 public:
  // Number of the shape with this code; `*added` says whether it is new.
  uint32_t Intern(const std::string& code, bool* added);
  const std::string& code(uint32_t number) const { return codes_[number]; }
  uint32_t lanes(uint32_t number) const { return lanes_[number]; }
  size_t size() const { return codes_.size(); }
  void Clear();

 private:
  absl::flat_hash_map<std::string, uint32_t> numbers_;
  std::vector<std::string> codes_;
  std::vector<uint32_t> lanes_;
};

class SegmentEncoder {
 public:
  // `shape` is the caller's number of the shape, below UINT32_MAX: equal numbers mean equal shapes.
  void AddPlain(uint32_t stream_id, LaneMask mask);
  void AddAccess(uint32_t stream_id, LaneMask mask, uint32_t slot, uint32_t shape, uint64_t base);
  // Addresses that shapes first used here hold.
  void CountNewShape(uint32_t lanes) { new_lanes_ += lanes; }

  bool empty() const { return segment_.instructions == 0; }
  // True when the segment should end before the next instruction.
  bool Full() const {
    return segment_.instructions >= kSegmentInstructions || segment_.bytes() >= kSegmentBytes ||
           new_lanes_ >= kSegmentShapeLanes || used_lanes_ >= kSegmentUsedLanes;
  }
  // Ends the segment; the reference holds until Restart, which starts the next one.
  const EncodedSegment& Close();
  void Restart();
  // Both, with a copy that takes no more memory than it needs.
  EncodedSegment Take();

 private:
  struct SlotState {
    SlotPredictor predictor;
    uint32_t shape = UINT32_MAX;  // the caller's number of the shape used last
  };
  SlotState& Slot(uint32_t slot, uint64_t base);
  uint32_t LocalShape(uint32_t shape, LaneMask mask, bool* is_new);

  EncodedSegment segment_;
  uint32_t previous_id_ = UINT32_MAX;  // so that static 0 follows
  LaneMask mask_ = ~LaneMask{0};
  uint32_t run_ = 0;  // length of the run that the last control byte states; 0 = no run
  uint32_t new_lanes_ = 0;
  uint32_t used_lanes_ = 0;  // addresses held by the shapes in segment_.shapes
  std::vector<SlotState> slots_;
  absl::flat_hash_map<uint32_t, uint32_t> local_shapes_;  // caller's number -> place in segment_.shapes
};

}  // namespace sm89
