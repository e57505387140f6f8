#include "sim/gpu/launch_queue.h"

#include "sim/base/assert.h"

namespace sm89 {

LaunchQueue::LaunchQueue(std::span<const TraceCommand> commands, std::span<const KernelInfo> kernels,
                         std::vector<bool> selected)
    : commands_(commands), kernels_(kernels), selected_(std::move(selected)) {
  SM89_ASSERT(selected_.size() == kernels_.size(), "one flag a kernel");
  FillStreams();
}

LaunchQueue::Stream* LaunchQueue::StreamOf(uint64_t id) {
  for (Stream& stream : streams_) {
    if (stream.id == id) return &stream;
  }
  streams_.push_back({id, false, {}});
  return &streams_.back();
}

void LaunchQueue::FillStreams() {
  if (running_ != 0 || waiting_ != 0) return;
  streams_.clear();
  for (; next_ < commands_.size(); ++next_) {
    const TraceCommand& command = commands_[next_];
    if (command.kind == CommandKind::kMemcpyHtoD) return;
    if (command.kind != CommandKind::kKernel || !selected_[command.kernel]) continue;
    StreamOf(kernels_[command.kernel].stream_id)->queue.push_back(&command);
    ++waiting_;
  }
}

const TraceCommand* LaunchQueue::Next() {
  // Of the streams that are free, the one whose next kernel comes first in the list.
  Stream* best = nullptr;
  for (Stream& stream : streams_) {
    if (stream.busy || stream.queue.empty()) continue;
    if (best == nullptr || stream.queue.front() < best->queue.front()) best = &stream;
  }
  if (best != nullptr) {
    const TraceCommand* command = best->queue.front();
    best->queue.pop_front();
    best->busy = true;
    --waiting_;
    ++running_;
    return command;
  }
  if (running_ != 0 || waiting_ != 0 || next_ == commands_.size()) return nullptr;
  const TraceCommand* copy = &commands_[next_++];
  FillStreams();
  return copy;
}

void LaunchQueue::Finished(uint32_t kernel) {
  Stream* stream = StreamOf(kernels_[kernel].stream_id);
  SM89_ASSERT(stream->busy && running_ > 0, "a kernel that is not running has finished");
  stream->busy = false;
  --running_;
  FillStreams();
}

}  // namespace sm89
