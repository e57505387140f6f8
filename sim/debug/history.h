// What a CTA's registers held behind each of its instructions. The CTA is executed again for it: a launch
// gives the same values each time, whatever the timing model does.
#pragma once

#include <array>
#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "sim/emu/emulator.h"
#include "sim/isa/decoded_inst.h"
#include "sim/replay/emulation.h"

namespace sm89::debug {

// One register or predicate behind one instruction. General registers and predicates have a value a lane (a
// predicate's is 0 or 1), uniform ones one value, in lane 0.
struct RegisterValue {
  std::array<uint32_t, kWarpSize> lanes{};
};
constexpr bool IsUniform(RegFile file) {
  return file == RegFile::kUniform || file == RegFile::kUniformPredicate;
}

class CtaHistory {
 public:
  explicit CtaHistory(uint32_t num_registers) : num_registers_(num_registers) {}

  uint32_t num_registers() const { return num_registers_; }  // general ones, a thread
  uint32_t num_warps() const { return static_cast<uint32_t>(warps_.size()); }
  // 0 of a warp that executed nothing.
  uint64_t num_instructions(uint32_t warp) const {
    return warp < warps_.size() ? warps_[warp].ends.size() : 0;
  }
  uint64_t bytes() const { return bytes_; }  // of memory that is taken

  // Of a warp that has executed its first `instructions` instructions, at most num_instructions.
  RegisterValue At(uint32_t warp, uint64_t instructions, RegFile file, uint32_t index) const;
  // The numbers of the instructions, from 0, that gave the register another value in some of `lanes`,
  // ascending.
  std::vector<uint64_t> Changes(uint32_t warp, RegFile file, uint32_t index, LaneMask lanes) const;

  // A warp has executed one more instruction.
  void Note(uint32_t warp, const emu::RegisterView& registers);
  // Nothing more comes: memory for more goes.
  void Seal();

 private:
  // Values of all registers, words of a RegisterValue or one word: the layout of `last`.
  struct Change {
    uint32_t first = 0;  // word in `last`
    uint64_t value = 0;  // place of the words in `values`
  };
  struct Warp {
    std::vector<uint64_t> ends;  // behind each instruction: number of changes so far
    std::vector<Change> changes;
    std::vector<uint32_t> values;
    std::vector<uint32_t> last;  // empty once sealed

    uint64_t Bytes() const;
  };
  struct Place {
    uint32_t first = 0;
    uint32_t words = 1;
  };
  Place PlaceOf(RegFile file, uint32_t index) const;
  uint32_t NumWords() const;
  static RegisterValue ValueOf(RegFile file, const uint32_t* words);
  void Keep(Warp* warp, const Place& place, const uint32_t* now);

  uint32_t num_registers_;
  uint64_t bytes_ = 0;
  std::vector<Warp> warps_;
};

// Histories of a program's CTAs, the last few kept.
class Histories {
 public:
  // `emulation` must outlive this. `max_bytes`: of all that are kept, with the one that is being recorded.
  Histories(const Emulation& emulation, const emu::EmuOptions& options, uint64_t max_bytes)
      : emulation_(emulation), options_(options), max_bytes_(max_bytes) {}

  // Executes launch `launch` up to CTA `cta` (linear). RESOURCE_EXHAUSTED: its history is too large. Valid
  // until the next call of Of or Reserve.
  absl::StatusOr<const CtaHistory*> Of(uint32_t launch, uint64_t cta);
  // So much of `max_bytes` is taken by others.
  void Reserve(uint64_t bytes);
  uint64_t most_bytes() const { return most_bytes_; }  // that were taken at any time

 private:
  struct Entry {
    uint32_t launch = 0;
    uint64_t cta = 0;
    std::unique_ptr<CtaHistory> history;
  };
  absl::StatusOr<std::unique_ptr<CtaHistory>> Record(uint32_t launch, uint64_t cta);
  uint64_t TakenBytes() const;  // by histories, and reserved
  // Drops what was used longest ago until `bytes` more have room; how many bytes have.
  uint64_t MakeRoom(uint64_t bytes);

  const Emulation& emulation_;
  const emu::EmuOptions options_;
  const uint64_t max_bytes_;
  uint64_t reserved_bytes_ = 0;
  uint64_t most_bytes_ = 0;
  std::list<Entry> entries_;  // used last first
  // Has executed the CTAs before next_cta_ of a launch.
  std::unique_ptr<emu::Emulator> emulator_;
  uint32_t launch_ = 0;
  uint64_t next_cta_ = 0;
};

}  // namespace sm89::debug
