#include "sim/tools/sim_interrupt.h"

#include <csignal>

namespace sm89 {
namespace {

std::atomic<bool> g_interrupted{false};
static_assert(std::atomic<bool>::is_always_lock_free, "the handler may only touch lock-free atomics");

void OnSignal(int) { g_interrupted.store(true); }

}  // namespace

const std::atomic<bool>* InstallInterruptFlag() {
  struct sigaction action {};
  action.sa_handler = OnSignal;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  return &g_interrupted;
}

void RearmInterruptFlag() {
  g_interrupted.store(false);
  InstallInterruptFlag();
}

}  // namespace sm89
