#include "sim/gpu/launch_queue.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "sim/base/assert.h"

namespace sm89 {

LaunchQueue::LaunchQueue(std::span<const TraceCommand> commands, std::span<const KernelInfo> kernels,
                         std::vector<bool> selected)
    : commands_(commands), kernels_(kernels), selected_(std::move(selected)) {
  SM89_ASSERT(selected_.size() == kernels_.size(), "one flag a kernel");
  FillStreams();
}

LaunchQueue::Stream* LaunchQueue::StreamOf(uint64_t id) {
  const auto it = std::lower_bound(streams_.begin(), streams_.end(), id,
                                   [](const Stream& stream, uint64_t wanted) { return stream.id < wanted; });
  SM89_ASSERT(it != streams_.end() && it->id == id, "a stream that was never seen");
  return &*it;
}

void LaunchQueue::MakeStartable(Stream* stream) {
  if (stream->next == stream->commands.size()) return;
  startable_.push_back(stream->commands[stream->next++]);
  std::push_heap(startable_.begin(), startable_.end(), std::greater<>());
}

void LaunchQueue::FillStreams() {
  if (running_ != 0 || waiting_ != 0) return;
  std::vector<std::pair<uint64_t, uint32_t>> kernels;  // stream, place in commands_
  for (; next_ < commands_.size(); ++next_) {
    const TraceCommand& command = commands_[next_];
    if (command.kind == CommandKind::kMemcpyHtoD) break;
    if (command.kind != CommandKind::kKernel || !selected_[command.kernel]) continue;
    kernels.emplace_back(kernels_[command.kernel].stream_id, static_cast<uint32_t>(next_));
  }
  std::sort(kernels.begin(), kernels.end());
  streams_.clear();
  for (const auto& [id, place] : kernels) {
    if (streams_.empty() || streams_.back().id != id) streams_.push_back({id, {}, 0});
    streams_.back().commands.push_back(place);
  }
  waiting_ = static_cast<uint32_t>(kernels.size());
  for (Stream& stream : streams_) MakeStartable(&stream);
}

const TraceCommand* LaunchQueue::Next() {
  if (!startable_.empty()) {
    std::pop_heap(startable_.begin(), startable_.end(), std::greater<>());
    const TraceCommand* command = &commands_[startable_.back()];
    startable_.pop_back();
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
  SM89_ASSERT(running_ > 0, "a kernel that is not running has finished");
  --running_;
  MakeStartable(StreamOf(kernels_[kernel].stream_id));
  FillStreams();
}

}  // namespace sm89
