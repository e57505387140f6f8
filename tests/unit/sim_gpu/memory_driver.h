// Drives a memory side in windows as the GPU does, with everything sent at once.
#pragma once

#include <gtest/gtest.h>

#include <vector>

#include "sim/gpu/memory_side.h"

namespace sm89 {

class MemoryDriver {
 public:
  explicit MemoryDriver(const GpuConfig& config, Cycle window = 32)
      : side_(config), inboxes_(config.sm.num_sms), window_(window) {
    side_.AddKernel();
  }

  MemRequest& Add(Cycle cycle, uint16_t sm, uint64_t line, MemRequestKind kind = MemRequestKind::kRead) {
    MemRequest request;
    request.cycle = cycle;
    request.sm = sm;
    request.line = line;
    request.kind = kind;
    request.sector_mask = 0xF;
    request.token = static_cast<uint32_t>(requests_.size());
    requests_.push_back(request);
    return requests_.back();
  }

  // Runs until all is answered; the cycle of each answer by token. Each request is answered once.
  std::vector<Cycle> Run() {
    std::vector<Cycle> answers(requests_.size(), 0);
    size_t left = requests_.size();
    for (Cycle now = 0; left != 0; now += window_) {
      std::vector<MemRequest> outbox;
      for (const MemRequest& request : requests_) {
        if (request.cycle >= now && request.cycle < now + window_) outbox.push_back(request);
      }
      side_.Submit(&outbox);
      side_.RunUntil(now + window_ + side_.crossbar().MinLatency(), &inboxes_);
      for (auto& inbox : inboxes_) {
        left -= inbox.size();
        for (const MemReply& reply : inbox) {
          EXPECT_EQ(answers[reply.token], 0u) << "answered twice";
          answers[reply.token] = reply.cycle;
        }
        inbox.clear();
      }
      EXPECT_LT(now, 10'000'000u) << side_.DescribeQueues();
      if (now >= 10'000'000u) break;
    }
    return answers;
  }

  MemorySide& side() { return side_; }
  std::vector<std::vector<MemReply>>& inboxes() { return inboxes_; }
  std::vector<MemRequest>& requests() { return requests_; }
  const L2Stats& l2() const { return side_.kernel_stats(0).l2; }
  const DramStats& dram() const { return side_.kernel_stats(0).dram; }

 private:
  MemorySide side_;
  std::vector<std::vector<MemReply>> inboxes_;
  std::vector<MemRequest> requests_;
  Cycle window_;
};

// 48 slices as in the resolved configuration.
inline GpuConfig MemoryConfig() {
  GpuConfig config;
  config.l2.slices = config.dram.channels * config.l2.slices_per_channel;
  return config;
}

}  // namespace sm89
