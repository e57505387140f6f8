#include "sim/gpu/window_pool.h"

#include <utility>

#include "sim/base/assert.h"

namespace sm89 {
namespace {

// A window lasts tens of microseconds: spinning about as long before sleeping keeps the hand-over cheap.
constexpr int kSpins = 4000;

}  // namespace

WindowPool::WindowPool(uint32_t threads, std::function<void(uint32_t)> work)
    : work_(std::move(work)), shares_(threads) {
  SM89_ASSERT(threads >= 1, "the caller is a thread too");
  for (uint32_t i = 1; i < threads; ++i) threads_.emplace_back([this, i] { Loop(i); });
}

WindowPool::~WindowPool() {
  stop_.store(true, std::memory_order_release);
  round_.fetch_add(1, std::memory_order_release);
  round_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void WindowPool::TakeAll(uint32_t thread) {
  for (size_t k = 0; k < shares_.size(); ++k) {
    Share& share = shares_[(thread + k) % shares_.size()];
    for (;;) {
      const uint32_t i = share.next.fetch_add(1, std::memory_order_relaxed);
      if (i >= share.end) break;
      work_((*indices_)[i]);
    }
  }
}

void WindowPool::Loop(uint32_t thread) {
  uint32_t seen = 0;
  for (;;) {
    for (int spin = 0; spin < kSpins && round_.load(std::memory_order_acquire) == seen; ++spin) {
    }
    while (round_.load(std::memory_order_acquire) == seen) round_.wait(seen, std::memory_order_acquire);
    ++seen;
    if (stop_.load(std::memory_order_acquire)) return;
    TakeAll(thread);
    if (running_.fetch_sub(1, std::memory_order_acq_rel) == 1) running_.notify_all();
  }
}

void WindowPool::Run(const std::vector<uint32_t>& indices, absl::FunctionRef<void()> beside) {
  indices_ = &indices;
  const size_t n = indices.size();
  for (size_t t = 0; t < shares_.size(); ++t) {
    shares_[t].next.store(static_cast<uint32_t>(n * t / shares_.size()), std::memory_order_relaxed);
    shares_[t].end = static_cast<uint32_t>(n * (t + 1) / shares_.size());
  }
  // One SM's window is shorter than waking another thread takes.
  if (threads_.empty() || n < 2) {
    beside();
    TakeAll(0);
    return;
  }
  running_.store(static_cast<uint32_t>(threads_.size()), std::memory_order_relaxed);
  round_.fetch_add(1, std::memory_order_release);
  round_.notify_all();
  beside();
  TakeAll(0);
  for (int spin = 0; spin < kSpins && running_.load(std::memory_order_acquire) != 0; ++spin) {
  }
  for (uint32_t left = running_.load(std::memory_order_acquire); left != 0;
       left = running_.load(std::memory_order_acquire)) {
    running_.wait(left, std::memory_order_acquire);
  }
}

}  // namespace sm89
