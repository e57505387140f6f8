// Warps of a sub-core that a full resource has refused, in the order of refusal: they get it in this order,
// whatever the scheduler prefers. Without it the youngest-first choice starves old warps at a saturated
// memory queue or special function unit, which silicon does not show (RTX 4090: 2.005 cycles a shared-memory
// request with 32 warps, 8.02 a MUFU).
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

namespace sm89 {

class RefusalQueue {
 public:
  // Refused warps, the first one first.
  std::span<const uint8_t> order() const { return std::span(order_).first(count_); }
  // The warps that may use the resource now: of `wanting`, when it is `full` none, behind earlier refusals
  // only the first of those. Refuses the others.
  uint32_t Admit(uint32_t wanting, bool full) {
    if (!full && count_ == 0) return wanting;
    for (uint32_t fresh = wanting & ~members_; fresh != 0; fresh &= fresh - 1) {
      order_[count_++] = static_cast<uint8_t>(__builtin_ctz(fresh));
    }
    members_ |= wanting;
    return full ? 0 : wanting & uint32_t{1} << order_[0];
  }
  // The warp has been served or waits for something else.
  void Remove(uint32_t warp) {
    if ((members_ >> warp & 1) == 0) return;
    members_ &= ~(uint32_t{1} << warp);
    std::remove(order_.begin(), order_.begin() + count_, static_cast<uint8_t>(warp));
    --count_;
  }

 private:
  std::array<uint8_t, 32> order_{};
  uint32_t count_ = 0;
  uint32_t members_ = 0;
};

}  // namespace sm89
