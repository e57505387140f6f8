#include "server/worker/progress_meter.h"

#include <utility>

#include "server/worker/memory_use.h"
#include "server/worker/result_messages.h"

namespace sm89 {
namespace {

double Seconds(Duration d) { return std::chrono::duration<double>(d).count(); }

double Ratio(uint64_t numerator, double denominator) {
  return denominator > 0 ? static_cast<double>(numerator) / denominator : 0;
}

uint64_t Grown(uint64_t before, uint64_t now) { return now >= before ? now - before : 0; }

}  // namespace

ProgressMeter::ProgressMeter(const Clock& clock, RunReport run, Duration interval)
    : clock_(clock),
      run_(std::move(run)),
      interval_(interval),
      start_(clock.SteadyNow()),
      last_time_(start_) {}

v1::Progress ProgressMeter::Message(const SimProgress& now) {
  const SteadyTime time = clock_.SteadyNow();
  const double interval_seconds = Seconds(time - last_time_);
  const double elapsed_seconds = Seconds(time - start_);
  v1::Progress message;
  message.set_kernels_total(now.kernels_total);
  message.set_kernels_done(now.kernels_done);
  message.set_kernel_index(now.kernel_index);
  message.set_kernel_name(ValidText(now.kernel_name));
  message.set_ctas_total(now.ctas_total);
  message.set_ctas_done(now.ctas_done);
  message.set_cycle(now.cycle);
  message.set_warp_instructions(now.warp_instructions);
  message.set_warp_instructions_total(now.warp_instructions_total);
  message.set_ipc(Ratio(now.warp_instructions, static_cast<double>(now.cycle)));
  message.set_warp_instructions_per_second(
      Ratio(Grown(last_.warp_instructions, now.warp_instructions), interval_seconds));
  message.set_cycles_per_second(Ratio(Grown(last_.cycle, now.cycle), interval_seconds));
  // By the mean speed so far: the last interval's jumps around too much.
  const double mean_speed = Ratio(now.warp_instructions, elapsed_seconds);
  const uint64_t left = Grown(now.warp_instructions, now.warp_instructions_total);
  const bool known = now.warp_instructions_total != 0 && mean_speed > 0;
  message.set_eta_seconds(known ? static_cast<double>(left) / mean_speed : -1);
  message.set_elapsed_seconds(elapsed_seconds);
  message.set_memory_bytes(MemoryInUseBytes());
  AddIntervalStatistics(IntervalOf(last_.stats, now.stats), Grown(last_.cycle, now.cycle), run_, &message);
  last_ = now;
  last_time_ = time;
  return message;
}

}  // namespace sm89
