// The records of a cooperative launch, whose CTAs run at the same time, kept until they are asked for one by
// one.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "sim/emu/emulator.h"
#include "sim/trace/cta_recorder.h"

namespace sm89 {

class CooperativeRecording : public emu::TraceSink {
 public:
  // `max_bytes`: of all records together.
  CooperativeRecording(uint64_t num_ctas, uint64_t max_bytes) : ctas_(num_ctas), max_bytes_(max_bytes) {}

  void BeginCta(uint64_t cta) override { current_ = &ctas_[cta]; }
  void Record(uint32_t warp, uint32_t inst_index, LaneMask executed,
              std::span<const uint64_t> addresses) override;
  void EndCta(uint64_t) override {}

  // RESOURCE_EXHAUSTED when the records took more than they may.
  absl::Status status() const override { return status_; }
  // Adds CTA `index`'s records to `recorder` and forgets them.
  absl::Status Replay(uint64_t index, CtaRecorder* recorder);

 private:
  struct Entry {
    uint32_t warp = 0;
    uint32_t inst_index = 0;
    LaneMask executed = 0;
    bool has_addresses = false;  // one a lane of `executed`
  };
  struct Cta {
    std::vector<Entry> entries;
    std::vector<uint64_t> addresses;
  };
  std::vector<Cta> ctas_;
  const uint64_t max_bytes_;
  uint64_t bytes_ = 0;
  Cta* current_ = nullptr;
  absl::Status status_;
};

}  // namespace sm89
