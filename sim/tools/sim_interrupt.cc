#include "sim/tools/sim_interrupt.h"

#include <csignal>

namespace sm89 {
namespace {

std::atomic<bool> g_interrupted{false};
std::atomic<bool> g_insisted{false};
static_assert(std::atomic<bool>::is_always_lock_free, "the handlers may only touch lock-free atomics");

void Handle(int signal, void (*handler)(int), int flags) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = flags;
  sigemptyset(&action.sa_mask);
  sigaction(signal, &action, nullptr);
}

void OnSignal(int) { g_interrupted.store(true); }

void OnTerminalInterrupt(int signal) {
  if (!g_interrupted.exchange(true)) return;
  g_insisted.store(true);
  Handle(signal, SIG_DFL, 0);
}

}  // namespace

const std::atomic<bool>* InstallInterruptFlag() {
  Handle(SIGINT, OnSignal, static_cast<int>(SA_RESETHAND));
  Handle(SIGTERM, OnSignal, static_cast<int>(SA_RESETHAND));
  return &g_interrupted;
}

const std::atomic<bool>* InsistFlag() { return &g_insisted; }

void KeepInterruptsForTerminal() {
  Handle(SIGINT, OnTerminalInterrupt, 0);
  Handle(SIGTERM, SIG_DFL, 0);
}

void RearmInterruptFlag() {
  g_interrupted.store(false);
  g_insisted.store(false);
  KeepInterruptsForTerminal();
}

}  // namespace sm89
