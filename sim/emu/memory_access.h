// Addresses of a memory instruction and the host bytes behind them, with the memory checker's tests.
#pragma once

#include <array>
#include <cstdint>

#include "absl/status/status.h"
#include "sim/emu/machine.h"

namespace sm89::emu {

enum class Space : uint8_t { kGlobal, kShared, kLocal, kGeneric };

// Compiled::mod of every memory instruction; mod[3] is the handler's own.
inline constexpr int kModSize = 0, kModFlags = 1, kModExtra = 2, kModOwn = 3;
inline constexpr uint32_t kFlagAddress64 = 1;  // A is a register pair
inline constexpr uint32_t kFlagUniform = 2;    // src[kSrcE] is added
inline constexpr uint32_t kFlagAddSigned = 4;  // LD*: sign-extend
inline constexpr int kFlagStrideShift = 8;     // shared: A is shifted left by these bits

struct LaneAddresses {
  std::array<uint64_t, kWarpSize> at;
};

// Fills imm (offset), src[kSrcE] (uniform addend) and mod from the operands that all memory forms share.
absl::Status CompileAddress(const sass::Instruction& inst, uint32_t size_bytes, Compiled* c);

// All 32 lanes; those not executed hold whatever their registers say.
void GlobalAddresses(const Exec& x, const Compiled& c, LaneAddresses* out);  // also generic ones
void ShortAddresses(const Exec& x, const Compiled& c, LaneAddresses* out);   // shared, local: 32 bits

// Notes the addresses of `lanes` for the trace.
inline void NoteAddresses(Exec& x, LaneMask lanes, const LaneAddresses& a) {
  Machine& m = *x.machine;
  if (m.sink == nullptr) return;
  m.num_addresses = 0;
  for (LaneMask rest = lanes; rest != 0; rest &= rest - 1) {
    m.addresses[m.num_addresses++] = a.at[static_cast<size_t>(__builtin_ctz(rest))];
  }
}

// The allocation that holds the whole access of every lane of `lanes`, all aligned; null when there is no
// such one (then each lane has to be looked at alone). `size_bytes` is a power of two.
inline Allocation* SameAllocation(Exec& x, const Compiled& c, LaneMask lanes, const LaneAddresses& a,
                                  uint32_t size_bytes) {
  Machine& m = *x.machine;
  Allocation* allocation = m.hints[c.index];
  const uint64_t first = a.at[static_cast<size_t>(__builtin_ctz(lanes))];
  if (allocation == nullptr || first - allocation->base >= allocation->size()) {
    allocation = m.memory.Find(first, size_bytes);
    if (allocation == nullptr) return nullptr;
    m.hints[c.index] = allocation;
  }
  if (allocation->size() < size_bytes) return nullptr;
  const uint64_t base = allocation->base, last = allocation->size() - size_bytes;
  uint64_t low_bits = 0;
  bool outside = false;
  if (lanes == kAllLanes) {
    for (const uint64_t at : a.at) {
      outside |= at - base > last;
      low_bits |= at;
    }
  } else {
    for (LaneMask rest = lanes; rest != 0; rest &= rest - 1) {
      const uint64_t at = a.at[static_cast<size_t>(__builtin_ctz(rest))];
      outside |= at - base > last;
      low_bits |= at;
    }
  }
  return outside || (low_bits & (size_bytes - 1)) != 0 ? nullptr : allocation;
}

// Shared and local memory: lane i's window starts at `start` + i * `step` of `memory`; its offsets `first` to
// `end` may be used.
struct WindowOf {
  CheckedBytes* memory;
  uint64_t start, step, first, end;
};
inline WindowOf SharedWindow(Machine& m) { return {&m.cta->shared, 0, 0, m.shared_first, m.shared_bytes}; }
inline WindowOf LocalWindow(Machine& m) {
  const uint64_t warp_bytes = uint64_t{m.local_bytes} * kWarpSize;
  return {&m.cta->local, m.warp->index * warp_bytes, m.local_bytes, 0, m.local_bytes};
}

// Host bytes of one lane's access.
struct Place {
  uint8_t* bytes = nullptr;    // null: reported, the run ends
  uint8_t* written = nullptr;  // null: not checked (global memory never is)
  Space space = Space::kGlobal;
};
Place Locate(Exec& x, Space space, uint32_t lane, uint64_t address, uint32_t size_bytes);

// Which memory a generic address is in.
inline Space SpaceOf(uint64_t address) {
  if (address - kSharedWindowBase < kWindowBytes) return Space::kShared;
  if (address - kLocalWindowBase < kWindowBytes) return Space::kLocal;
  return Space::kGlobal;
}

inline void MarkWritten(const Place& place, uint32_t size_bytes) {
  if (place.written != nullptr) std::memset(place.written, 1, size_bytes);
}

// Reports the access when a byte of it was never written.
void CheckWritten(Exec& x, const Place& place, uint32_t lane, uint64_t address, uint32_t size_bytes);

}  // namespace sm89::emu
