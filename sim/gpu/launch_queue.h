// Which command of the trace may start when: kernels in order within their stream, streams next to one
// another, host copies after everything listed before them and before everything listed after (as
// cudaMemcpy synchronises; assumption for traces, which do not say which copies were asynchronous).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/trace/trace_types.h"

namespace sm89 {

class LaunchQueue {
 public:
  // `selected[k]`: whether kernel k of the set runs. The spans' data must outlive the queue.
  LaunchQueue(std::span<const TraceCommand> commands, std::span<const KernelInfo> kernels,
              std::vector<bool> selected);

  // Next command that may start now, or null. kMemcpyHtoD: performed at once by the caller. kKernel: runs
  // until Finished is called for its kernel. Of several kernels that may start, the one listed first.
  const TraceCommand* Next();
  void Finished(uint32_t kernel);

  uint32_t running() const { return running_; }
  bool done() const { return running_ == 0 && waiting_ == 0 && next_ == commands_.size(); }

 private:
  struct Stream {
    uint64_t id = 0;
    std::vector<uint32_t> commands;  // places in commands_, in order
    size_t next = 0;
  };
  // Moves the kernels up to the next copy into their streams.
  void FillStreams();
  Stream* StreamOf(uint64_t id);
  void MakeStartable(Stream* stream);

  std::span<const TraceCommand> commands_;
  std::span<const KernelInfo> kernels_;
  std::vector<bool> selected_;
  size_t next_ = 0;
  uint32_t running_ = 0;
  uint32_t waiting_ = 0;             // kernels in the streams that have not started
  std::vector<Stream> streams_;      // by id
  std::vector<uint32_t> startable_;  // heads of free streams, a heap with the first listed on top
};

}  // namespace sm89
