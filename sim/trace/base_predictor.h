// Guesses of base addresses that writer and reader share bit for bit: only what the guess misses is stored.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace sm89 {

// One memory instruction (slot) inside one warp segment: a stride is believed once it was seen twice in a
// row, so loops cost nothing and gathers do not pay for a wrong stride.
struct SlotPredictor {
  uint64_t last = 0;
  uint64_t stride = 0;
  uint64_t last_delta = 0;
  uint32_t shape = UINT32_MAX;  // index into the segment's shape list; UINT32_MAX = none yet

  uint64_t Guess() const { return last + stride; }
  void Learn(uint64_t base) {
    const uint64_t delta = base - last;
    if (delta == last_delta) stride = delta;
    last_delta = delta;
    last = base;
  }
};

// First bases of the warps of consecutive pieces of one kernel. Most kernels address by
// f(CTA) + g(warp): a warp is guessed from the same warp of the CTA before plus the distance that an
// earlier warp of this CTA moved; the first warp from the distance of the CTA before.
class FirstBasePredictor {
 public:
  // Cells created so far, forgotten ones included: what a reader has to bound.
  uint64_t cells_created() const { return cells_created_; }
  // Forgets everything: at a chunk's start and when the kernel changes.
  void Reset() {
    warps_.clear();
    slots_.clear();
    piece_ = 1;
  }
  void BeginPiece() { ++piece_; }
  // Warp number `position` among the piece's warps, before its Guess/Learn calls.
  void BeginWarp(uint32_t position) {
    if (warps_.size() <= position) warps_.resize(position + 1);
    warp_ = &warps_[position];
    previous_in_warp_ = 0;
  }
  uint64_t Guess(uint32_t slot) {
    Reach(slot, &slots_);
    Reach(slot, warp_);
    const Seen& mine = (*warp_)[slot];
    const Slot& all = slots_[slot];
    if (mine.piece != 0) return mine.base + all.shift;
    if (all.piece != 0) return all.last + all.step;
    return previous_in_warp_;
  }
  // After Guess of the same slot.
  void Learn(uint32_t slot, uint64_t base) {
    Seen& mine = (*warp_)[slot];
    Slot& all = slots_[slot];
    if (mine.piece != 0 && (all.piece != piece_ || !all.shift_fresh)) {
      all.shift = base - mine.base;
      all.shift_fresh = true;
    } else if (all.piece != piece_) {
      all.shift_fresh = false;
    }
    all.step = all.piece != 0 ? base - all.last : 0;
    all.last = base;
    all.piece = piece_;
    mine = {base, piece_};
    previous_in_warp_ = base;
  }

 private:
  struct Seen {
    uint64_t base = 0;
    uint32_t piece = 0;  // 0 = never
  };
  struct Slot {
    uint64_t last = 0;
    uint64_t step = 0;
    uint64_t shift = 0;        // how far this piece's warps lie from the same warps of the piece before
    uint32_t piece = 0;        // last piece that used the slot; 0 = none
    bool shift_fresh = false;  // shift was measured in that piece
  };
  template <typename Cell>
  void Reach(uint32_t slot, std::vector<Cell>* cells) {
    if (cells->size() > slot) return;
    cells_created_ += slot + 1 - cells->size();
    cells->resize(slot + 1);
  }

  std::vector<std::vector<Seen>> warps_;
  std::vector<Slot> slots_;
  std::vector<Seen>* warp_ = nullptr;
  uint64_t previous_in_warp_ = 0;
  uint32_t piece_ = 1;
  uint64_t cells_created_ = 0;
};

}  // namespace sm89
