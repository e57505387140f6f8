// The reordering stage in front of an SM's warp schedulers: a research model, off by default (SER.md). It
// decides for which warps it is worth to leave their own scheduler; what moving means is done by the SM
// (sm_ser.cc).
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "sim/base/bits.h"
#include "sim/base/types.h"
#include "sim/config/gpu_config.h"
#include "sim/stats/ser_record.h"

namespace sm89 {

// What the run-time profile keeps of an issued instruction.
struct SerSample {
  uint16_t warp = 0;  // slot
  uint32_t pc = 0;
  LaneMask active_mask = 0;
  LaneMask divergence_mask = 0;  // lanes that the warp has but that were not active
};

// How willing the stage is, in percent: a warp is diverged enough when at most so much of its 32 lanes are
// active.
class SerPolicy {
 public:
  virtual ~SerPolicy() = default;
  virtual uint32_t AggressivenessPercent() const = 0;
  // The samples of an interval that has ended, oldest first as far as the ring holds them.
  virtual void EndInterval(const SerSample* samples, uint32_t count) = 0;
};

// The policy of the configuration: static (what the setting says) or guided by the profile (the share of
// issued instructions that were diverged, up to what the setting says).
std::unique_ptr<SerPolicy> MakeSerPolicy(const SerConfig& config);

class SerStage {
 public:
  explicit SerStage(const SerConfig& config);

  // Whether an instruction with these lanes of a warp that has `resident` may move.
  bool Diverged(LaneMask lanes, LaneMask resident) const {
    return lanes != resident && lanes != 0 && CountBits(lanes) * 100 <= kWarpSize * aggressiveness_;
  }
  // Beyond what an instruction takes at home: the stage's latency and the transfer of its operands.
  Cycle ExtraCycles() const { return Cycle{config_.latency_cycles} + config_.transfer_cycles; }
  uint32_t depth() const { return config_.max_reorder_depth; }
  uint32_t aggressiveness_percent() const { return aggressiveness_; }

  // Every issued instruction, in order.
  void NoteIssue(Cycle now, const SerSample& sample);
  void set_recording(bool on) { recording_ = on; }
  void Record(const SerRecord& record) {
    if (recording_) records_.push_back(record);
  }
  std::vector<SerRecord>& records() { return records_; }

 private:
  static constexpr uint32_t kRing = 1024;

  SerConfig config_;
  std::unique_ptr<SerPolicy> policy_;
  uint32_t aggressiveness_;
  bool recording_ = false;
  Cycle interval_end_;
  uint64_t noted_ = 0;  // in this interval
  std::vector<SerSample> ring_;
  std::vector<SerRecord> records_;
};

}  // namespace sm89
