#include "sim/gpu/memory_side.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "sim/base/assert.h"

namespace sm89 {
namespace {

// Sectors that a slice's data array serves a cycle (64 bytes: rtx4090-facts.md section 3).
constexpr uint32_t kSliceSectorsPerCycle = 2;

// Write-backs that a channel takes before its slices hold requests back: above its drain's high mark.
constexpr size_t kMaxQueuedWrites = 128;

uint32_t Count(uint8_t mask) { return static_cast<uint32_t>(__builtin_popcount(mask)); }

}  // namespace

MemorySide::MemorySide(const GpuConfig& config)
    : config_(config),
      map_(config_.l2, config_.dram),
      crossbar_(config_.noc, config_.sm.num_sms, config_.l2.slices),
      channel_wake_(config_.dram.channels, kNever),
      slice_stats_(config_.l2.slices),
      channel_stats_(config_.dram.channels) {
  slices_.reserve(config_.l2.slices);
  slice_states_.reserve(config_.l2.slices);
  for (uint32_t i = 0; i < config_.l2.slices; ++i) {
    slices_.emplace_back(config_.l2, map_);
    slice_states_.push_back({0, {}, LineMap(config_.l2.cache.mshr_entries + 1)});
  }
  for (uint32_t i = 0; i < config_.dram.channels; ++i) channels_.emplace_back(config_.dram, config_.clocks);
}

uint32_t MemorySide::NewRequest(const MemRequest& request) {
  uint32_t index = 0;
  if (free_requests_.empty()) {
    index = static_cast<uint32_t>(requests_.size());
    requests_.emplace_back();
  } else {
    index = free_requests_.back();
    free_requests_.pop_back();
  }
  requests_[index] = {request, 0, 0, map_.Slice(request.line), kNil, 0};
  return index;
}

void MemorySide::Submit(std::vector<MemRequest>* requests) {
  std::stable_sort(requests->begin(), requests->end(),
                   [](const MemRequest& a, const MemRequest& b) { return a.cycle < b.cycle; });
  for (const MemRequest& request : *requests) {
    const uint32_t index = NewRequest(request);
    const Cycle arrival =
        crossbar_.SendRequest(request, requests_[index].slice, &kernels_[request.kernel].noc);
    wheel_.Push(arrival, {EventKind::kArrive, index});
  }
}

void MemorySide::RunUntil(Cycle horizon, std::vector<std::vector<MemReply>>* inboxes) {
  Cycle now = 0;
  Event event;
  while (wheel_.Pop(horizon, &now, &event)) {
    switch (event.kind) {
      case EventKind::kArrive:
        HandleArrive(event.index, now);
        break;
      case EventKind::kReady:
        HandleReady(event.index, now);
        break;
      case EventKind::kAtSm:
        HandleAtSm(event.index, now, inboxes);
        break;
      case EventKind::kFill:
        HandleFill(event.index, now);
        break;
      case EventKind::kDram:
        HandleDram(event.index, now);
        break;
    }
  }
}

void MemorySide::HandleArrive(uint32_t index, Cycle now) {
  requests_[index].arrived = now;
  SliceState& state = slice_states_[requests_[index].slice];
  // Requests behind a blocked one wait their turn: the slice's input queue is in order.
  if (!state.blocked.empty() || !Access(index, now)) state.blocked.push_back(index);
}

bool MemorySide::Access(uint32_t index, Cycle now) {
  const InFlight in_flight = requests_[index];
  const MemRequest& request = in_flight.request;
  L2Slice& slice = slices_[in_flight.slice];
  if (channels_[map_.Channel(in_flight.slice)].queued_writes() >= kMaxQueuedWrites &&
      slice.WouldWriteBack(request.line)) {
    return false;
  }
  L2Stats delta;
  const L2Outcome outcome = slice.Access(request, &delta);
  if (outcome.blocked) return false;
  SliceState& state = slice_states_[in_flight.slice];
  const Cycle start = std::max(now, state.free);
  state.free = start + (Count(request.sector_mask) + kSliceSectorsPerCycle - 1) / kSliceSectorsPerCycle;
  delta.queue_wait_cycles = start - in_flight.arrived;
  AddStats(delta, &kernels_[request.kernel].l2);
  AddStats(delta, &slice_stats_[in_flight.slice]);

  const bool modifies = request.kind == MemRequestKind::kAtomic || request.kind == MemRequestKind::kReduction;
  const Cycle looked_up = start + config_.l2.latency_cycles;
  if (outcome.writeback_mask != 0) {
    WriteToDram(outcome.evicted_line, outcome.writeback_mask, request.kernel, looked_up);
  }
  if (outcome.fetch_mask != 0) ReadFromDram(index, outcome.fetch_mask, looked_up);
  if (outcome.wait_mask != 0) {
    requests_[index].waiting = outcome.wait_mask;
    requests_[index].earliest = looked_up;
    AddWaiter(&slice_states_[in_flight.slice], index);
    return true;
  }
  wheel_.Push(looked_up + (modifies ? config_.l2.atomic_latency_cycles : 0), {EventKind::kReady, index});
  return true;
}

void MemorySide::AddWaiter(SliceState* state, uint32_t index) {
  const uint64_t line = requests_[index].request.line;
  const uint32_t head = state->waiters.Find(line);
  requests_[index].next = kNil;
  if (head == LineMap::kAbsent) {
    state->waiters.Insert(line, index);
    return;
  }
  // Oldest first, so that replies leave in the order of the requests.
  uint32_t last = head;
  while (requests_[last].next != kNil) last = requests_[last].next;
  requests_[last].next = index;
}

void MemorySide::HandleFill(uint32_t index, Cycle now) {
  const PendingFill fill = fills_[index];
  free_fills_.push_back(index);
  slices_[fill.slice].Fill(fill.line, fill.mask);
  SliceState& state = slice_states_[fill.slice];
  uint32_t request = state.waiters.Find(fill.line);
  SM89_ASSERT(request != LineMap::kAbsent, "a fill without a waiting request");
  state.waiters.Erase(fill.line);
  uint32_t kept_head = kNil;
  uint32_t kept_tail = kNil;
  while (request != kNil) {
    const uint32_t next = requests_[request].next;
    requests_[request].waiting &= ~fill.mask;
    requests_[request].next = kNil;
    if (requests_[request].waiting == 0) {
      const MemRequestKind kind = requests_[request].request.kind;
      const bool modifies = kind == MemRequestKind::kAtomic || kind == MemRequestKind::kReduction;
      const Cycle ready = std::max(now + 1, requests_[request].earliest);
      wheel_.Push(ready + (modifies ? config_.l2.atomic_latency_cycles : 0), {EventKind::kReady, request});
    } else if (kept_head == kNil) {
      kept_head = kept_tail = request;
    } else {
      requests_[kept_tail].next = request;
      kept_tail = request;
    }
    request = next;
  }
  if (kept_head != kNil) state.waiters.Insert(fill.line, kept_head);
  RetryBlocked(fill.slice, now);
}

void MemorySide::RetryBlocked(uint32_t slice, Cycle now) {
  std::deque<uint32_t>& blocked = slice_states_[slice].blocked;
  while (!blocked.empty() && Access(blocked.front(), now)) blocked.pop_front();
}

uint32_t MemorySide::ReplyBytes(const MemRequest& request) const {
  switch (request.kind) {
    case MemRequestKind::kRead:
    case MemRequestKind::kAtomic:
      return Count(request.sector_mask) * kSectorBytes;
    case MemRequestKind::kWrite:
    case MemRequestKind::kReduction:
      return 0;
  }
  return 0;
}

void MemorySide::HandleReady(uint32_t index, Cycle now) {
  const InFlight& in_flight = requests_[index];
  const MemRequest& request = in_flight.request;
  const Cycle arrival = crossbar_.SendReply(now, in_flight.slice, request.sm, ReplyBytes(request),
                                            &kernels_[request.kernel].noc);
  wheel_.Push(arrival, {EventKind::kAtSm, index});
}

void MemorySide::HandleAtSm(uint32_t index, Cycle now, std::vector<std::vector<MemReply>>* inboxes) {
  const MemRequest& request = requests_[index].request;
  const uint32_t bytes = ReplyBytes(request);
  const Cycle delivered = crossbar_.ReceiveReply(now, request.sm, bytes, &kernels_[request.kernel].noc);
  (*inboxes)[request.sm].push_back({delivered, request.token, bytes != 0});
  free_requests_.push_back(index);
}

void MemorySide::ReadFromDram(uint32_t index, uint8_t mask, Cycle at) {
  const InFlight& in_flight = requests_[index];
  DramJob job;
  job.line = in_flight.request.line;
  job.kernel = in_flight.request.kernel;
  job.sectors = static_cast<uint8_t>(Count(mask));
  job.sector_mask = mask;
  EnqueueDram(job, in_flight.slice, at);
}

void MemorySide::WriteToDram(uint64_t line, uint8_t mask, uint32_t kernel, Cycle at) {
  DramJob job;
  job.line = line;
  job.kernel = kernel;
  job.sectors = static_cast<uint8_t>(Count(mask));
  job.sector_mask = mask;
  job.write = true;
  EnqueueDram(job, map_.Slice(line), at);
}

void MemorySide::EnqueueDram(const DramJob& job, uint32_t slice, Cycle at) {
  const uint32_t channel = map_.Channel(slice);
  DramJob placed = job;
  placed.row = map_.Row(job.line);
  placed.bank = map_.Bank(job.line);
  placed.arrival = at;
  channels_[channel].Enqueue(placed);
  if (channel_wake_[channel] > at) {
    channel_wake_[channel] = at;
    wheel_.Push(at, {EventKind::kDram, channel});
  }
}

void MemorySide::HandleDram(uint32_t channel, Cycle now) {
  // A wake-up that an earlier one has replaced does nothing.
  if (channel_wake_[channel] != now) return;
  channel_wake_[channel] = kNever;
  DramJob job;
  Cycle done = 0;
  bool wrote = false;
  for (;;) {
    DramStats delta;
    const bool scheduled = channels_[channel].Schedule(now, &job, &done, &delta);
    // What was counted without a job (refreshes, rows opened) is the last job's kernel's.
    AddStats(delta, &kernels_[job.kernel].dram);
    AddStats(delta, &channel_stats_[channel]);
    if (!scheduled) break;
    if (job.write) {
      wrote = true;
      continue;
    }
    uint32_t index = 0;
    if (free_fills_.empty()) {
      index = static_cast<uint32_t>(fills_.size());
      fills_.emplace_back();
    } else {
      index = free_fills_.back();
      free_fills_.pop_back();
    }
    fills_[index] = {job.line, map_.Slice(job.line), job.sector_mask};
    wheel_.Push(std::max(done, now + 1), {EventKind::kFill, index});
  }
  if (wrote) {
    for (uint32_t s = 0; s < slices_.size(); ++s) {
      if (map_.Channel(s) == channel) RetryBlocked(s, now);
    }
  }
  const Cycle wake = channels_[channel].NextWake(now);
  if (wake != kNever) {
    channel_wake_[channel] = wake;
    wheel_.Push(wake, {EventKind::kDram, channel});
  }
}

uint64_t MemorySide::CopyFromHost(uint64_t address, uint64_t bytes) {
  if (!config_.l2.memcpy_fills) return 0;
  bytes = std::min(bytes, ~uint64_t{0} - address);  // a copy ends with the address space at the latest
  if (bytes == 0) return 0;
  // Only what can still be there afterwards is walked: the last L2's worth of the copy.
  const uint64_t capacity =
      uint64_t{config_.l2.slices} * config_.l2.cache.sets * config_.l2.cache.ways * kLineBytes;
  const uint64_t first_byte = bytes > capacity ? address + (bytes - capacity) : address;
  const uint64_t first_sector = first_byte / kSectorBytes;
  const uint64_t last_sector = (address + bytes - 1) / kSectorBytes;
  for (uint64_t line = first_sector / kSectorsPerLine; line <= last_sector / kSectorsPerLine; ++line) {
    uint8_t mask = 0;
    for (uint32_t s = 0; s < kSectorsPerLine; ++s) {
      const uint64_t sector = line * kSectorsPerLine + s;
      if (sector >= first_sector && sector <= last_sector) mask |= static_cast<uint8_t>(1u << s);
    }
    const uint32_t slice = map_.Slice(line);
    slices_[slice].FillFromHost(line, mask, &slice_stats_[slice]);
    host_copies_.memcpy_fill_sectors += Count(mask);
  }
  return last_sector / kSectorsPerLine - first_sector / kSectorsPerLine + 1;
}

std::string MemorySide::DescribeQueues() const {
  std::string text;
  absl::StrAppend(&text, "memory side: ", wheel_.size(), " events under way\n");
  for (size_t i = 0; i < slices_.size(); ++i) {
    if (slices_[i].pending_lines() == 0 && slice_states_[i].blocked.empty()) continue;
    absl::StrAppend(&text, "  L2 slice ", i, ": ", slices_[i].pending_lines(), " lines pending, ",
                    slice_states_[i].blocked.size(), " requests blocked\n");
  }
  return text;
}

}  // namespace sm89
