#include "sim/gpu/memory_side.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "sim/base/assert.h"

namespace sm89 {
MemorySide::MemorySide(const GpuConfig& config)
    : config_(config),
      map_(config_.l2, config_.dram),
      compression_(config_.l2.features),
      crossbar_(config_.noc, config_.sm.num_sms, config_.l2.slices),
      held_(config_.sm.num_sms),
      channel_wake_(config_.dram.channels, kNever),
      slices_of_channel_(config_.dram.channels),
      slice_stats_(config_.l2.slices),
      channel_stats_(config_.dram.channels),
      counted_(config_.dram.channels) {
  slices_.reserve(config_.l2.slices);
  slice_states_.reserve(config_.l2.slices);
  for (uint32_t i = 0; i < config_.l2.slices; ++i) {
    slices_.emplace_back(config_.l2, map_);
    slice_states_.push_back({0, 0, false, Ring<Cycle>(), Ring<uint16_t>(), Ring<uint32_t>(),
                             LineMap(config_.l2.cache.mshr_entries + 1), AtomicUnit(config_.l2)});
    slices_of_channel_[map_.Channel(i)].push_back(i);
    if (config_.l2.features.prefetch_distance != 0) prefetchers_.emplace_back(config_.l2, map_);
  }
  for (uint32_t i = 0; i < config_.dram.channels; ++i) channels_.emplace_back(config_.dram, config_.clocks);
}

void MemorySide::AddKernel() {
  kernels_.emplace_back();
  sectors_by_slice_.emplace_back(slices_.size(), 0);
  slice_loads_.emplace_back();
}

SliceLoad MemorySide::slice_load(uint32_t kernel) const {
  const std::vector<uint64_t>& of_slice = sectors_by_slice_[kernel];
  if (of_slice.empty()) return slice_loads_[kernel];
  SliceLoad load;
  load.slices = static_cast<uint32_t>(of_slice.size());
  load.min_sectors = *std::min_element(of_slice.begin(), of_slice.end());
  load.max_sectors = *std::max_element(of_slice.begin(), of_slice.end());
  for (const uint64_t sectors : of_slice) load.sectors += sectors;
  return load;
}

void MemorySide::FinishKernel(uint32_t kernel) {
  slice_loads_[kernel] = slice_load(kernel);
  sectors_by_slice_[kernel] = {};
}

void MemorySide::FreeRequest(uint32_t index) {
  requests_[index].used = false;
  requests_.Free(index);
}

void MemorySide::Submit(std::vector<MemRequest>* requests) {
  if (map_.NumParts() > 1) {
    for (const MemRequest& request : *requests) SubmitParts(request);
    return;
  }
  for (const MemRequest& request : *requests) Send(request, compression_.Covers(request.line), kNil);
}

void MemorySide::Send(const MemRequest& part, bool compressed, uint32_t join) {
  const uint32_t index = requests_.Add({.request = part,
                                        .slice = map_.Slice(part.line),
                                        .next = kNil,
                                        .last = kNil,
                                        .used = true,
                                        .compressed = compressed,
                                        .join = join});
  sends_.Push(std::max(part.cycle, sent_until_), index);
}

void MemorySide::SubmitParts(const MemRequest& request) {
  const SliceParts split = SplitBySlice(request, map_);
  const uint32_t join = split.count == 1 ? kNil : joins_.Add({.left = split.count});
  for (uint32_t i = 0; i < split.count; ++i) Send(split.parts[i], false, join);
}

void MemorySide::RunCredits(Cycle until) {
  for (Cycle now = credits_.NextCycle(); now < until; now = credits_.NextCycle()) {
    // By slice: in what order they were foreseen depends on the window.
    Cycle at = 0;
    uint32_t slice = 0;
    due_credits_.clear();
    while (credits_.Pop(now + 1, &at, &slice)) due_credits_.push_back(slice);
    std::sort(due_credits_.begin(), due_credits_.end());
    for (const uint32_t due : due_credits_) HandleCredit(due, now);
  }
}

void MemorySide::RunSends(Cycle until) {
  for (;;) {
    // Of one cycle, places that slices have again go to those who wait for them first.
    const Cycle send = std::min(sends_.NextCycle(), until);
    RunCredits(send == until ? until : send + 1);
    if (send == until) break;
    // By SM: in what order those of one cycle were submitted depends on the window.
    Cycle at = 0;
    uint32_t index = 0;
    due_sends_.clear();
    while (sends_.Pop(send + 1, &at, &index)) {
      due_sends_.push_back({requests_[index].request.sm, static_cast<uint32_t>(due_sends_.size()), index});
    }
    if (!std::is_sorted(due_sends_.begin(), due_sends_.end())) {
      std::sort(due_sends_.begin(), due_sends_.end());
    }
    for (const DueSend& due : due_sends_) HandleSend(due.index, send);
  }
  sent_until_ = std::max(sent_until_, until);
}

void MemorySide::HandleSend(uint32_t index, Cycle now) {
  const uint32_t slice = requests_[index].slice;
  const uint16_t sm = requests_[index].request.sm;
  slices_[slice].PrefetchSet(requests_[index].request.line);
  Held& held = held_[sm];
  if (held.count == 0) {
    if (TrySend(index, now)) return;
    held.first = index;
    slice_states_[slice].held_sms.push_back(sm);
    ExpectCredit(slice);
  } else {
    requests_[held.last].next = index;
  }
  held.last = index;
  ++held.count;
}

bool MemorySide::TrySend(uint32_t index, Cycle now) {
  const InFlight& in_flight = requests_[index];
  SliceState& state = slice_states_[in_flight.slice];
  for (; !state.starts.empty() && state.starts.front() <= now; state.starts.pop_front()) --state.outstanding;
  if (state.outstanding >= config_.l2.queue_entries) return false;
  ++state.outstanding;
  const MemRequest& request = in_flight.request;
  const Cycle arrival = crossbar_.SendRequest(request, now, in_flight.slice, &kernels_[request.kernel].noc);
  arrivals_.Push(arrival, index);
  return true;
}

void MemorySide::ExpectCredit(uint32_t slice) {
  SliceState& state = slice_states_[slice];
  if (state.credit_pending || state.held_sms.empty() || state.starts.empty()) return;
  state.credit_pending = true;
  credits_.Push(std::max(state.starts.front(), sent_until_), slice);
}

void MemorySide::HandleCredit(uint32_t slice, Cycle now) {
  SliceState& state = slice_states_[slice];
  state.credit_pending = false;
  while (!state.held_sms.empty()) {
    const uint16_t sm = state.held_sms.front();
    Held& held = held_[sm];
    if (!TrySend(held.first, now)) break;
    state.held_sms.pop_front();
    held.first = requests_[held.first].next;
    --held.count;
    // What was behind it goes as far as its own slices let it.
    while (held.count != 0 && TrySend(held.first, now)) {
      held.first = requests_[held.first].next;
      --held.count;
    }
    if (held.count == 0) continue;
    const uint32_t next = requests_[held.first].slice;
    slice_states_[next].held_sms.push_back(sm);
    if (next != slice) ExpectCredit(next);
  }
  ExpectCredit(slice);
}

Cycle MemorySide::NextEvent() const {
  const Cycle send = std::min(sends_.NextCycle(), credits_.NextCycle());
  return std::min(
      {wheel_.NextCycle(), arrivals_.NextCycle(), send == kNever ? kNever : send + crossbar_.MinLatency()});
}

void MemorySide::Handle(const Event& event, Cycle now, std::vector<std::vector<MemReply>>* inboxes) {
  switch (event.kind) {
    case EventKind::kReady:
      return HandleReady(event.index, now);
    case EventKind::kAtSm:
      return HandleAtSm(event.index, now, inboxes);
    case EventKind::kFill:
      return HandleFill(event.index, now);
    case EventKind::kDram:
      return HandleDram(event.index, now);
  }
}

void MemorySide::RunUntil(Cycle horizon, std::vector<std::vector<MemReply>>* inboxes) {
  RunSends(horizon - std::min<Cycle>(horizon, crossbar_.MinLatency()));
  for (;;) {
    // Of one cycle, arrivals come last: in what order they and the rest were foreseen depends on the window.
    const Cycle arrival = std::min(arrivals_.NextCycle(), horizon);
    Cycle now = 0;
    Event event;
    while (wheel_.Pop(arrival == horizon ? horizon : arrival + 1, &now, &event)) Handle(event, now, inboxes);
    if (arrival == horizon) break;
    uint32_t index = 0;
    while (arrivals_.Pop(arrival + 1, &now, &index)) HandleArrive(index, now);
  }
}

void MemorySide::HandleArrive(uint32_t index, Cycle now) {
  requests_[index].arrived = now;
  SliceState& state = slice_states_[requests_[index].slice];
  // Requests behind a blocked one wait their turn: the slice's input queue is in order.
  if (!state.blocked.empty() || !Access(index, now)) state.blocked.push_back(index);
}

void MemorySide::NoteStart(uint32_t slice, Cycle start) {
  slice_states_[slice].starts.push_back(start);
  ExpectCredit(slice);
}

Cycle MemorySide::ReadyAt(uint32_t index, Cycle data) {
  const InFlight& in_flight = requests_[index];
  const MemRequest& request = in_flight.request;
  const bool modifies = request.kind == MemRequestKind::kAtomic || request.kind == MemRequestKind::kReduction;
  if (!modifies) return data + (ReadsCompressed(in_flight) ? config_.l2.features.decompress_cycles : 0);
  return slice_states_[in_flight.slice].atomics.Reserve(data, request.line, request.lanes,
                                                        request.same_address_lanes);
}

uint64_t MemorySide::BusyHundredths(const InFlight& in_flight) const {
  const MemRequest& request = in_flight.request;
  const uint32_t sectors = compression_.Moved(CountSectors(request.sector_mask), ReadsCompressed(in_flight));
  const L2Config& l2 = config_.l2;
  uint64_t read = uint64_t{(sectors + l2.sectors_per_cycle - 1) / l2.sectors_per_cycle} * kHundredths;
  if (l2.slice_gb_per_s_x10 != 0) {
    // bytes x GHz / (GB/s), rounded: hundredths of a cycle that the bound gives them.
    const uint64_t work = uint64_t{sectors} * kSectorBytes * config_.clocks.core_khz;
    const uint64_t rate = uint64_t{l2.slice_gb_per_s_x10} * 1'000;
    read = std::max(read, (work + rate / 2) / rate);
  }
  if (request.kind == MemRequestKind::kRead) return read;
  const uint64_t flits = DataFlits(request);
  // Packets of one lane are taken as fast as operations on one address follow each other.
  const bool single_lanes = request.kind != MemRequestKind::kWrite && flits == request.same_address_lanes;
  return std::max(read, flits * (single_lanes ? l2.atomic_interval_x100 : l2.write_sector_hundredths));
}

bool MemorySide::Access(uint32_t index, Cycle now) {
  const MemRequest& request = requests_[index].request;
  const uint32_t slice = requests_[index].slice;
  if (channels_[map_.Channel(slice)].queued_writes() >= config_.dram.write_queue_entries &&
      slices_[slice].WouldWriteBack(request.line)) {
    return false;
  }
  const StatPair<L2Stats> stats{&kernels_[request.kernel].l2, &slice_stats_[slice]};
  const bool compressed = requests_[index].compressed;
  const L2Outcome outcome = slices_[slice].Access(request, stats, compressed);
  if (outcome.blocked) return false;
  requests_[index].hits = outcome.hits;
  SliceState& state = slice_states_[slice];
  state.free_hundredths = std::max(now * kHundredths, state.free_hundredths);
  const Cycle start = (state.free_hundredths + kHundredths - 1) / kHundredths;
  state.free_hundredths += BusyHundredths(requests_[index]);
  if (!sectors_by_slice_[request.kernel].empty()) {
    sectors_by_slice_[request.kernel][slice] += CountSectors(request.sector_mask);
  }
  if (compressed && request.kind == MemRequestKind::kRead) {
    stats.Add(&L2Stats::compressed_sectors, CountSectors(request.sector_mask));
  }
  stats.Add(&L2Stats::queue_wait_cycles, start - requests_[index].arrived);
  NoteStart(slice, start);

  const Cycle looked_up = start + config_.l2.latency_cycles;
  if (outcome.writeback_mask != 0) {
    WriteToDram(outcome, request.kernel, looked_up);
  }
  if (outcome.fetch_mask != 0) ReadFromDram(request, compressed, outcome, looked_up);
  const bool demand = outcome.fetch_mask != 0 || outcome.first_use;
  if (!prefetchers_.empty() && demand && request.kind == MemRequestKind::kRead) {
    RunPrefetcher(request, slice, looked_up);
  }
  if (outcome.wait_mask != 0) {
    requests_[index].waiting = outcome.wait_mask;
    requests_[index].earliest = looked_up;
    AddWaiter(&state, index);
    return true;
  }
  wheel_.Push(ReadyAt(index, looked_up), {EventKind::kReady, index});
  return true;
}

void MemorySide::AddWaiter(SliceState* state, uint32_t index) {
  const uint64_t line = requests_[index].request.line;
  const uint32_t head = state->waiters.Find(line);
  requests_[index].next = kNil;
  // Oldest first, so that replies leave in the order of the requests.
  if (head == LineMap::kAbsent) {
    state->waiters.Insert(line, index);
    requests_[index].last = index;
    return;
  }
  requests_[requests_[head].last].next = index;
  requests_[head].last = index;
}

void MemorySide::HandleFill(uint32_t index, Cycle now) {
  const PendingFill fill = fills_[index];
  fills_.Free(index);
  slices_[fill.slice].Fill(fill.line, fill.way, fill.mask);
  SliceState& state = slice_states_[fill.slice];
  uint32_t request = state.waiters.Find(fill.line);
  SM89_ASSERT(request != LineMap::kAbsent || !prefetchers_.empty(), "a fill without a waiting request");
  if (request == LineMap::kAbsent) return RetryBlocked(fill.slice, now);
  state.waiters.Erase(fill.line);
  uint32_t kept_head = kNil;
  while (request != kNil) {
    const uint32_t next = requests_[request].next;
    requests_[request].waiting &= static_cast<uint8_t>(~fill.mask);
    requests_[request].next = kNil;
    if (requests_[request].waiting == 0) {
      const Cycle data = std::max(now + 1, requests_[request].earliest);
      wheel_.Push(ReadyAt(request, data), {EventKind::kReady, request});
    } else if (kept_head == kNil) {
      kept_head = request;
      requests_[request].last = request;
    } else {
      requests_[requests_[kept_head].last].next = request;
      requests_[kept_head].last = request;
    }
    request = next;
  }
  if (kept_head != kNil) state.waiters.Insert(fill.line, kept_head);
  RetryBlocked(fill.slice, now);
}

void MemorySide::RetryBlocked(uint32_t slice, Cycle now) {
  Ring<uint32_t>& blocked = slice_states_[slice].blocked;
  while (!blocked.empty() && Access(blocked.front(), now)) blocked.pop_front();
}

uint32_t MemorySide::ReplyBytes(const InFlight& in_flight) const {
  switch (in_flight.request.kind) {
    case MemRequestKind::kRead:
    case MemRequestKind::kAtomic:
      return compression_.Moved(CountSectors(in_flight.request.sector_mask), ReadsCompressed(in_flight)) *
             kSectorBytes;
    case MemRequestKind::kWrite:
    case MemRequestKind::kReduction:
      return 0;
  }
  return 0;
}

void MemorySide::HandleReady(uint32_t index, Cycle now) {
  const InFlight& in_flight = requests_[index];
  const MemRequest& request = in_flight.request;
  const Cycle arrival = crossbar_.SendReply(now, in_flight.slice, request.sm, ReplyBytes(in_flight),
                                            &kernels_[request.kernel].noc);
  wheel_.Push(arrival, {EventKind::kAtSm, index});
}

void MemorySide::HandleAtSm(uint32_t index, Cycle now, std::vector<std::vector<MemReply>>* inboxes) {
  const MemRequest& request = requests_[index].request;
  const uint32_t bytes = ReplyBytes(requests_[index]);
  const Cycle delivered = crossbar_.ReceiveReply(now, request.sm, bytes, &kernels_[request.kernel].noc);
  const uint32_t join = requests_[index].join;
  const bool read = request.kind == MemRequestKind::kRead;
  Answer answer{static_cast<uint8_t>(read ? CountSectors(request.sector_mask) : 0), requests_[index].hits};
  bool last = true;
  if (join != kNil) {
    last = --joins_[join].left == 0;
    answer.sectors += joins_[join].so_far.sectors;
    answer.hits += joins_[join].so_far.hits;
    joins_[join].so_far = answer;
  }
  if (last) (*inboxes)[request.sm].push_back({delivered, request.token, answer.sectors, answer.hits});
  if (last && join != kNil) joins_.Free(join);
  FreeRequest(index);
}

void MemorySide::ReadFromDram(const MemRequest& request, bool compressed, const L2Outcome& outcome,
                              Cycle at) {
  DramJob job;
  job.line = request.line;
  job.kernel = request.kernel;
  job.moved_sectors = static_cast<uint8_t>(compression_.Moved(CountSectors(outcome.fetch_mask), compressed));
  job.sector_mask = outcome.fetch_mask;
  job.way = outcome.way;
  const uint32_t slice = map_.Slice(request.line);
  if (compressed) NoteSaving(request.kernel, slice, outcome.asked_sectors, job.moved_sectors);
  EnqueueDram(job, slice, at);
}

void MemorySide::WriteToDram(const L2Outcome& outcome, uint32_t kernel, Cycle at) {
  DramJob job;
  job.line = outcome.evicted_line;
  job.kernel = kernel;
  job.sector_mask = outcome.writeback_mask;
  job.write = true;
  // A line of which bytes are missing is not compressed again.
  const uint32_t sectors = CountSectors(outcome.writeback_mask);
  const bool whole = sectors == kSectorsPerLine && !outcome.partial_writeback;
  const bool compressed = whole && compression_.Covers(job.line);
  job.moved_sectors = static_cast<uint8_t>(compression_.Moved(sectors, compressed));
  const uint32_t slice = map_.Slice(job.line);
  if (compressed) NoteSaving(kernel, slice, sectors, job.moved_sectors);
  EnqueueDram(job, slice, at);
}

void MemorySide::NoteSaving(uint32_t kernel, uint32_t slice, uint32_t plain_sectors, uint32_t moved_sectors) {
  const StatPair<L2Stats> stats{&kernels_[kernel].l2, &slice_stats_[slice]};
  if (moved_sectors < plain_sectors) {
    stats.Add(&L2Stats::compression_saved_sectors, plain_sectors - moved_sectors);
  } else {
    stats.Add(&L2Stats::compression_extra_sectors, moved_sectors - plain_sectors);
  }
}

void MemorySide::RunPrefetcher(const MemRequest& request, uint32_t slice, Cycle at) {
  const StatPair<L2Stats> stats{&kernels_[request.kernel].l2, &slice_stats_[slice]};
  const DramChannel& channel = channels_[map_.Channel(slice)];
  uint32_t taken = 0;
  for (const uint64_t line : prefetchers_[slice].OnDemand(request.line, request.local)) {
    const bool full =
        channel.queued_writes() >= config_.dram.write_queue_entries && slices_[slice].WouldWriteBack(line);
    const L2Outcome outcome = full ? L2Outcome{.blocked = true} : slices_[slice].Prefetch(line, stats);
    if (outcome.blocked) {
      // This one and what lies behind it: wanted again with the stream's next line.
      stats.Add(&L2Stats::prefetch_dropped, 1);
      break;
    }
    ++taken;
    if (outcome.writeback_mask != 0) WriteToDram(outcome, request.kernel, at);
    if (outcome.fetch_mask == 0) continue;
    MemRequest prefetch = request;
    prefetch.line = line;
    ReadFromDram(prefetch, compression_.Covers(line), outcome, at);
  }
  prefetchers_[slice].Taken(taken);
}

void MemorySide::EnqueueDram(const DramJob& job, uint32_t slice, Cycle at) {
  const uint32_t channel = map_.Channel(slice);
  DramJob placed = job;
  placed.sectors = job.moved_sectors;
  placed.row = map_.Row(job.line);
  placed.bank = map_.Bank(job.line);
  placed.arrival = at;
  channels_[channel].Enqueue(placed);
  if (channel_wake_[channel] > at) {
    channel_wake_[channel] = at;
    wheel_.Push(at, {EventKind::kDram, channel});
  }
}

void MemorySide::PushFill(const DramJob& job, Cycle at) {
  const uint32_t slice = map_.Slice(job.line);
  const uint32_t index = fills_.Add({job.line, slice, job.way, job.sector_mask});
  slices_[slice].PrefetchWay(job.way);
  wheel_.Push(at, {EventKind::kFill, index});
}

void MemorySide::HandleDram(uint32_t channel, Cycle now) {
  // A wake-up that an earlier one has replaced does nothing.
  if (channel_wake_[channel] != now) return;
  channel_wake_[channel] = kNever;
  DramJob job;
  Cycle done = 0;
  bool wrote = false;
  DramStats& unit = channel_stats_[channel];
  Counted& counted = counted_[channel];
  while (channels_[channel].Schedule(now, &job, &done, &unit)) {
    DramStats& kernel = kernels_[job.kernel].dram;
    ++(job.opened_row ? kernel.row_misses : kernel.row_hits);
    (job.write ? kernel.write_sectors : kernel.read_sectors) += job.moved_sectors;
    kernel.queue_wait_cycles += now - job.arrival;
    // What serves several kernels is the kernel's whose line was finished next.
    kernel.busy_cycles += unit.busy_cycles - counted.busy_cycles;
    kernel.refreshes += unit.refreshes - counted.refreshes;
    counted = {unit.busy_cycles, unit.refreshes};
    if (job.write) {
      wrote = true;
    } else {
      PushFill(job, std::max(done, now + 1));
    }
  }
  if (wrote) {
    for (const uint32_t slice : slices_of_channel_[channel]) RetryBlocked(slice, now);
  }
  const Cycle wake = channels_[channel].NextWake(now);
  if (wake < channel_wake_[channel]) {
    channel_wake_[channel] = wake;
    wheel_.Push(wake, {EventKind::kDram, channel});
  }
}

void MemorySide::FillFromHost(uint64_t line, uint8_t mask) {
  for (uint32_t i = 0; i < map_.NumParts(); ++i) {
    const LinePart part = map_.Part(line, i);
    const uint32_t own = mask >> part.first_sector & ((1u << part.sectors) - 1);
    if (own == 0) continue;
    const uint32_t slice = map_.Slice(part.line);
    slices_[slice].FillFromHost(part.line, static_cast<uint8_t>(own << part.sector_shift),
                                &slice_stats_[slice]);
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
    FillFromHost(line, mask);
    host_copies_.memcpy_fill_sectors += CountSectors(mask);
  }
  return last_sector / kSectorsPerLine - first_sector / kSectorsPerLine + 1;
}

std::string MemorySide::DescribeSlice(uint32_t slice) const {
  const SliceState& state = slice_states_[slice];
  uint32_t filling = 0;
  uint32_t oldest = kNil;
  for (uint32_t i = 0; i < requests_.size(); ++i) {
    if (!requests_[i].used || requests_[i].slice != slice || requests_[i].waiting == 0) continue;
    ++filling;
    if (oldest == kNil || requests_[i].arrived < requests_[oldest].arrived) oldest = i;
  }
  if (state.outstanding == state.starts.size() && filling == 0 && state.held_sms.empty()) return "";
  std::string text = absl::StrCat("  L2 slice ", slice, ": ", state.outstanding - state.starts.size(),
                                  " requests on their way or blocked, ", state.blocked.size(), " blocked, ",
                                  slices_[slice].pending_lines(), " lines pending, ", filling,
                                  " requests waiting for them, ", state.held_sms.size(), " SMs held back\n");
  for (const uint32_t i : {state.blocked.empty() ? kNil : state.blocked.front(), oldest}) {
    if (i == kNil) continue;
    absl::StrAppend(&text, "    ", i == oldest ? "oldest waiting" : "first blocked", ": line ",
                    requests_[i].request.line, " of SM ", requests_[i].request.sm, ", arrived at ",
                    requests_[i].arrived, "\n");
  }
  return text;
}

std::string MemorySide::DescribeQueues() const {
  std::string text = absl::StrCat("memory side: ", wheel_.size(), " events, ", arrivals_.size(),
                                  " requests in the crossbar, ", sends_.size(), " to be sent\n");
  for (size_t sm = 0; sm < held_.size(); ++sm) {
    if (held_[sm].count == 0) continue;
    const InFlight& first = requests_[held_[sm].first];
    absl::StrAppend(&text, "  SM ", sm, " holds ", held_[sm].count, " requests, the first for slice ",
                    first.slice, " since ", first.request.cycle, "\n");
  }
  for (uint32_t slice = 0; slice < slices_.size(); ++slice) text += DescribeSlice(slice);
  for (size_t i = 0; i < channels_.size(); ++i) {
    const DramChannel::Queues queues = channels_[i].queues();
    if (channels_[i].idle()) continue;
    absl::StrAppend(&text, "  DRAM channel ", i, ": ", queues.incoming, " requests incoming, ", queues.reads,
                    " reads, ", queues.writes, " writes, oldest arrival ", queues.oldest_arrival, "\n");
  }
  return text;
}

}  // namespace sm89
