#include "sim/sm/ser_stage.h"

#include <algorithm>

namespace sm89 {
namespace {

class StaticPolicy : public SerPolicy {
 public:
  explicit StaticPolicy(uint32_t percent) : percent_(percent) {}
  uint32_t AggressivenessPercent() const override { return percent_; }
  void EndInterval(const SerSample* /*samples*/, uint32_t /*count*/) override {}

 private:
  uint32_t percent_;
};

// As aggressive as the code diverges: twice the share of diverged instructions, so that half of them being
// diverged already opens the stage as far as the setting allows.
class ProfilePolicy : public SerPolicy {
 public:
  explicit ProfilePolicy(uint32_t most_percent) : most_(most_percent), percent_(most_percent) {}
  uint32_t AggressivenessPercent() const override { return percent_; }
  void EndInterval(const SerSample* samples, uint32_t count) override {
    if (count == 0) return;
    const auto diverged = static_cast<uint32_t>(
        std::count_if(samples, samples + count, [](const SerSample& s) { return s.divergence_mask != 0; }));
    percent_ = std::min(most_, 200 * diverged / count);
  }

 private:
  uint32_t most_;
  uint32_t percent_;
};

}  // namespace

std::unique_ptr<SerPolicy> MakeSerPolicy(const SerConfig& config) {
  if (config.policy == 1) return std::make_unique<ProfilePolicy>(config.aggressiveness_percent);
  return std::make_unique<StaticPolicy>(config.aggressiveness_percent);
}

SerStage::SerStage(const SerConfig& config)
    : config_(config),
      policy_(MakeSerPolicy(config)),
      aggressiveness_(policy_->AggressivenessPercent()),
      interval_end_(config.profile_interval_cycles),
      ring_(kRing) {}

void SerStage::NoteIssue(Cycle now, const SerSample& sample) {
  if (now >= interval_end_) {
    // In the ring's own order once it has gone round: the policies look at shares only.
    policy_->EndInterval(ring_.data(), static_cast<uint32_t>(std::min<uint64_t>(noted_, kRing)));
    aggressiveness_ = policy_->AggressivenessPercent();
    noted_ = 0;
    interval_end_ = (now / config_.profile_interval_cycles + 1) * config_.profile_interval_cycles;
  }
  ring_[noted_++ % kRing] = sample;
}

}  // namespace sm89
