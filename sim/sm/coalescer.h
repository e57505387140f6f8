// From lane addresses to cache lines, sectors and shared-memory passes. Pure functions of one executed
// instruction; nothing here depends on timing.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "sim/base/types.h"
#include "sim/sm/kernel_code.h"
#include "sim/trace/trace_source.h"

namespace sm89 {

// Sectors of one 128-byte line that an instruction touches.
struct LineAccess {
  uint64_t line = 0;  // address / 128
  uint8_t sector_mask = 0;
  uint8_t partial_mask = 0;  // sectors not wholly covered
  // Atomics: lanes on this line, the most of them on one address, and the flits that all their packets take.
  uint8_t lanes = 1;
  uint8_t same_address_lanes = 1;
  uint8_t atomic_flits = 1;
  std::array<uint32_t, kSectorsPerLine> bytes{};  // touched, bit i = byte i of the sector
};

// 16 bytes of local memory off a word's border lie in 5 words, each in a line of its own when the lanes'
// offsets differ; global memory touches at most 2 lines a lane.
inline constexpr uint32_t kMaxLinesPerAccess = 5 * kWarpSize;

struct CoalescedAccess {
  uint32_t num_lines = 0;        // global memory, in order of first touch
  uint32_t num_local_lines = 0;  // local memory, likewise
  std::array<LineAccess, kMaxLinesPerAccess> lines;
  std::array<LineAccess, kMaxLinesPerAccess> local_lines;
  uint32_t shared_passes = 0;      // 0: no lane in shared memory
  uint32_t shared_passes_min = 0;  // without bank conflicts

  std::span<const LineAccess> global() const { return std::span(lines).first(num_lines); }
  std::span<const LineAccess> local() const { return std::span(local_lines).first(num_local_lines); }
  void Clear() { num_lines = num_local_lines = shared_passes = shared_passes_min = 0; }
};

// Sectors of all lines.
uint32_t NumSectors(const CoalescedAccess& access);

// Where this warp's local memory lies: offset o of lane l is at base + (o / 4) * 128 + l * 4 + o % 4.
struct LocalWindow {
  uint64_t base = 0;
};

// Size of the generic windows of shared and local memory (both bases of real traces lie 32 MiB apart;
// 16 MiB is what the hardware's alignment suggests: assumption).
inline constexpr uint64_t kGenericWindowBytes = uint64_t{16} << 20;

inline constexpr uint32_t kSharedBanks = 32;  // of shared memory, 4 bytes wide

enum class LaneSpace : uint8_t { kGlobal, kShared, kLocal };

// Passes of shared-memory accesses met before, by the number of their shape. Where a shape begins turns all
// its words round the banks alike: of the base, only its place within a word counts.
class SharedPassMemo {
 public:
  // As SharedPasses of the lanes that `code` looks at.
  uint32_t Passes(const SmInst& code, const DynInst& inst, bool merge, uint32_t* minimum);

 private:
  struct Entry {
    uint64_t key = ~uint64_t{0};
    uint16_t passes = 0;
    uint16_t minimum = 0;
  };
  std::array<Entry, 128> entries_;  // by shape number
};

// Classifies each lane (generic addresses by the kernel's two windows, each on its own), merges sectors,
// counts shared-memory passes. `inst.shape` must not be null. All shapes that one `memo` sees
// are of one source; null: nothing is remembered.
void Coalesce(const SmInst& code, const DynInst& inst, const KernelCode& kernel, const LocalWindow& local,
              SharedPassMemo* memo, CoalescedAccess* out);

// Passes over the 32 banks that the words of the lanes need: 4-byte accesses in one group, 8-byte in two half
// warps, 16-byte in four quarters; lanes of one word share it if `merge` (not so for atomics).
// `offsets` holds one offset from `base` for each lane of `mask`, lowest lane first.
uint32_t SharedPasses(LaneMask mask, const uint64_t* offsets, uint64_t base, uint32_t width_bytes, bool merge,
                      uint32_t* minimum);

// Where one lane accesses memory.
struct LaneAddress {
  uint8_t lane = 0;
  LaneSpace space = LaneSpace::kGlobal;
  uint64_t address = 0;
};
// Of the lanes whose addresses the instruction uses, ascending; empty without addresses.
std::vector<LaneAddress> LaneAddresses(const SmInst& code, const DynInst& inst, const KernelCode& kernel);

// One 4-byte word that one lane wants of shared memory.
struct BankWord {
  uint64_t word = 0;  // address / 4
  uint32_t pass = 0;  // in which its bank serves it, from 0: a bank serves one word a pass, in lane order
  uint8_t lane = 0;
  uint8_t bank = 0;
  bool joins = false;  // the word that a lower lane of its pass wants too
};
// The passes of SharedPasses word by word, by lane; empty when no lane is in shared memory.
std::vector<BankWord> SharedBankWords(const SmInst& code, const DynInst& inst, const KernelCode& kernel);

}  // namespace sm89
