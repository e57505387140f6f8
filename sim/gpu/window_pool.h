// Runs one function over 0..n-1 on a fixed set of host threads, once a window. Which thread takes which index
// does not matter to the result: indices share nothing within a window.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <thread>
#include <vector>

#include "absl/functional/function_ref.h"

namespace sm89 {

class WindowPool {
 public:
  // `threads` >= 1, the caller's included.
  WindowPool(uint32_t threads, std::function<void(uint32_t)> work);
  ~WindowPool();
  WindowPool(const WindowPool&) = delete;
  WindowPool& operator=(const WindowPool&) = delete;

  // work(i) for every i of `indices`, and beside them `beside` once, in the caller's thread; returns when all
  // are done.
  void Run(const std::vector<uint32_t>& indices, absl::FunctionRef<void()> beside);

 private:
  // A run of places in `indices_`, on a cache line of its own.
  struct alignas(64) Share {
    std::atomic<uint32_t> next{0};
    uint32_t end = 0;
  };

  void Loop(uint32_t thread);
  // The thread's own share first, then what is left of the others'.
  void TakeAll(uint32_t thread);

  std::function<void(uint32_t)> work_;
  const std::vector<uint32_t>* indices_ = nullptr;
  std::vector<Share> shares_;  // one a thread: an SM stays with its thread, whose caches hold its state
  std::atomic<uint32_t> running_{0};
  std::atomic<uint32_t> round_{0};
  std::atomic<bool> stop_{false};
  std::vector<std::thread> threads_;
};

}  // namespace sm89
