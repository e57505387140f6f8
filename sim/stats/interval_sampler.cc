#include "sim/stats/interval_sampler.h"

#include "sim/base/assert.h"

namespace sm89 {
namespace {

IntervalSample CountersOf(uint64_t cycle, const SimStats& s) {
  return {.end_cycle = cycle,
          .warp_instructions = s.sm.warp_instructions,
          .issue_slots = s.sm.issue_slots,
          .tensor_busy_cycles = s.sm.tensor_busy_cycles,
          .l2_sectors = s.l2.read_sectors + s.l2.write_sectors,
          .l2_hits = s.l2.read_hits + s.l2.write_hits,
          .dram_read_sectors = s.dram.read_sectors,
          .dram_write_sectors = s.dram.write_sectors};
}

constexpr uint64_t IntervalSample::*kCounters[] = {
    &IntervalSample::warp_instructions, &IntervalSample::issue_slots, &IntervalSample::tensor_busy_cycles,
    &IntervalSample::l2_sectors,        &IntervalSample::l2_hits,     &IntervalSample::dram_read_sectors,
    &IntervalSample::dram_write_sectors};
static_assert(sizeof(IntervalSample) == (std::size(kCounters) + 1) * sizeof(uint64_t),
              "a counter is missing");

}  // namespace

IntervalSampler::IntervalSampler(uint64_t interval_cycles, uint32_t num_sms)
    : interval_cycles_(interval_cycles), sm_totals_(num_sms, 0) {
  SM89_ASSERT(interval_cycles > 0, "intervals have a length");
  kept_.num_sms = num_sms;
}

void IntervalSampler::Add(uint64_t now, const SimStats& totals, std::span<const uint64_t> issued_by_sm) {
  SM89_ASSERT(now > last_cycle_, "a sample ends behind the one before");
  SM89_ASSERT(issued_by_sm.size() == kept_.num_sms, "one count an SM");
  if (kept_.samples.size() == Most()) Halve();
  const IntervalSample after = CountersOf(now, totals);
  IntervalSample& sample = kept_.samples.emplace_back(after);
  for (const auto counter : kCounters) sample.*counter -= totals_.*counter;
  totals_ = after;
  for (size_t sm = 0; sm < issued_by_sm.size(); ++sm) {
    kept_.sm_issued.push_back(issued_by_sm[sm] - sm_totals_[sm]);
    sm_totals_[sm] = issued_by_sm[sm];
  }
  last_cycle_ = now;
}

IntervalSamples IntervalSampler::Until(uint64_t now, const SimStats& totals,
                                       std::span<const uint64_t> issued_by_sm) const {
  if (now <= last_cycle_) return kept_;
  IntervalSampler copy = *this;
  copy.Add(now, totals, issued_by_sm);
  return std::move(copy.kept_);
}

void IntervalSampler::Halve() {
  std::vector<IntervalSample>& samples = kept_.samples;
  for (size_t i = 0; i < samples.size() / 2; ++i) {
    const IntervalSample first = samples[2 * i];
    samples[i] = samples[2 * i + 1];
    for (const auto counter : kCounters) samples[i].*counter += first.*counter;
    for (size_t sm = 0; sm < kept_.num_sms; ++sm) {
      kept_.sm_issued[i * kept_.num_sms + sm] =
          kept_.sm_issued[2 * i * kept_.num_sms + sm] + kept_.sm_issued[(2 * i + 1) * kept_.num_sms + sm];
    }
  }
  samples.resize(samples.size() / 2);
  kept_.sm_issued.resize(samples.size() * kept_.num_sms);
  interval_cycles_ *= 2;
}

}  // namespace sm89
