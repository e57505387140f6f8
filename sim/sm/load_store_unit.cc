#include "sim/sm/load_store_unit.h"

#include <algorithm>

#include "sim/base/assert.h"

namespace sm89 {
namespace {

// Issue to the address unit: control stage and dispatch latch (core-model.md 1.3, 1.6).
constexpr Cycle kDispatchCycles = 2;

uint32_t Count(uint8_t mask) { return static_cast<uint32_t>(__builtin_popcount(mask)); }

// 64- and 128-bit results take 2 cycles more a further 4 bytes of a lane (64 B/cycle return path).
Cycle ReturnCycles(uint32_t width_bytes) { return width_bytes <= 4 ? 0 : (width_bytes / 4 - 1) * Cycle{2}; }

uint32_t NumSectors(const CoalescedAccess& access) {
  uint32_t sectors = 0;
  for (uint32_t i = 0; i < access.num_lines; ++i) sectors += Count(access.lines[i].sector_mask);
  for (uint32_t i = 0; i < access.num_local_lines; ++i) sectors += Count(access.local_lines[i].sector_mask);
  return sectors;
}

}  // namespace

LoadStoreUnit::LoadStoreUnit(const GpuConfig& config, uint16_t sm)
    : config_(config.l1),
      sm_(sm),
      max_stores_(2 * config.l1.cache.mshr_entries),  // write buffers: assumption
      cache_(config.l1.cache.sets, config.sm.unified_l1_kib * 1024 / kLineBytes / config.l1.cache.sets),
      fills_(config.l1.cache.mshr_entries + kMaxLinesPerAccess) {
  SM89_ASSERT(config.sm.sub_cores <= address_free_.size(), "at most 8 sub-cores");
  SM89_ASSERT(config.l1.queue_entries <= queue_[0].size() && config.l1.queue_entries > 0, "queue size");
}

void LoadStoreUnit::Configure(uint32_t l1_kib) {
  cache_.Reset(l1_kib * 1024 / kLineBytes / config_.cache.sets);
}

bool LoadStoreUnit::HasRoomFor(const SmInst& code, const CoalescedAccess& access) const {
  const uint32_t lines = access.num_lines + access.num_local_lines;
  if (lines == 0) return true;
  const bool store = code.mem_op == MemOp::kStore || code.mem_op == MemOp::kReduction;
  // An access larger than the whole pool goes alone.
  if (store) return num_stores_ + lines <= std::max(max_stores_, lines);
  return num_reads_ + lines <= std::max(config_.cache.mshr_entries, lines);
}

Cycle LoadStoreUnit::ReservePort(uint32_t sub, Cycle now) {
  const Cycle start = std::max(now + kDispatchCycles, address_free_[sub]);
  address_free_[sub] = start + config_.address_cycles;
  const Cycle port = std::max(start + config_.address_cycles, port_free_);
  port_free_ = port + config_.request_interval_cycles;
  queue_[sub][queue_head_[sub]++ % config_.queue_entries] = port;
  return port;
}

Cycle LoadStoreUnit::ReserveData(Cycle at, uint32_t cycles) {
  const Cycle start = std::max(at, data_free_);
  data_free_ = start + cycles;
  return start + cycles;
}

Cycle LoadStoreUnit::IssueShuffle(uint32_t sub, Cycle now) {
  const Cycle port = ReservePort(sub, now);
  const Cycle unloaded = kDispatchCycles + config_.address_cycles + 1;
  return ReserveData(port, 1) + std::max<Cycle>(config_.shuffle_latency_cycles, unloaded) - unloaded;
}

uint32_t LoadStoreUnit::NewOut() {
  if (free_outs_.empty()) {
    outs_.emplace_back();
    return static_cast<uint32_t>(outs_.size() - 1);
  }
  const uint32_t index = free_outs_.back();
  free_outs_.pop_back();
  outs_[index] = Out{};
  return index;
}

uint32_t LoadStoreUnit::NewToken(const AccessOwner& owner) {
  if (free_tokens_.empty()) {
    tokens_.push_back({owner, 0, 0});
    return static_cast<uint32_t>(tokens_.size() - 1);
  }
  const uint32_t index = free_tokens_.back();
  free_tokens_.pop_back();
  tokens_[index] = {owner, 0, 0};
  return index;
}

void LoadStoreUnit::AddWaiter(uint32_t out, uint32_t token) {
  uint32_t index = 0;
  if (free_waiters_.empty()) {
    index = static_cast<uint32_t>(waiters_.size());
    waiters_.emplace_back();
  } else {
    index = free_waiters_.back();
    free_waiters_.pop_back();
  }
  waiters_[index] = {token, outs_[out].first_waiter};
  outs_[out].first_waiter = index;
}

void LoadStoreUnit::Send(uint32_t out, const LineAccess& access, MemRequestKind kind, Cycle at,
                         uint32_t kernel) {
  MemRequest request;
  request.cycle = at;
  request.line = access.line;
  request.token = out;
  request.kernel = kernel;
  request.sm = sm_;
  request.sector_mask = access.sector_mask;
  request.partial_mask = access.partial_mask;
  request.kind = kind;
  outbox_.push_back(request);
}

uint32_t LoadStoreUnit::LoadLine(const LineAccess& access, bool local, Cycle send_at, uint32_t token) {
  L1Stats& stats = *tokens_[token].owner.stats;
  const uint8_t present = cache_.Touch(access.line) & access.sector_mask;
  uint8_t missing = access.sector_mask & ~present;
  (local ? stats.local_load_sectors : stats.global_load_sectors) += Count(access.sector_mask);
  (local ? stats.local_load_hits : stats.global_load_hits) += Count(present);
  uint32_t waits = 0;
  const uint32_t head = fills_.Find(access.line);
  for (uint32_t out = head; out != kNil && missing != 0; out = outs_[out].next_same_line) {
    const uint8_t shared = missing & outs_[out].sector_mask;
    if (shared == 0) continue;
    stats.global_load_mshr_hits += local ? 0 : Count(shared);
    AddWaiter(out, token);
    ++waits;
    missing &= ~shared;
  }
  if (missing == 0) return waits;
  const uint32_t out = NewOut();
  outs_[out].kind = OutKind::kFill;
  outs_[out].line = access.line;
  outs_[out].sector_mask = missing;
  if (head == LineMap::kAbsent) {
    fills_.Insert(access.line, out);
  } else {
    outs_[out].next_same_line = outs_[head].next_same_line;
    outs_[head].next_same_line = out;
  }
  outs_[out].owner = tokens_[token].owner;
  AddWaiter(out, token);
  ++num_reads_;
  Send(out, {access.line, missing, 0}, MemRequestKind::kRead, send_at, tokens_[token].owner.kernel);
  return waits + 1;
}

uint32_t LoadStoreUnit::Load(const SmInst& code, const CoalescedAccess& access, Cycle send_at,
                             uint32_t token) {
  uint32_t waits = 0;
  const uint32_t kernel = tokens_[token].owner.kernel;
  for (uint32_t i = 0; i < access.num_lines; ++i) {
    if (!code.bypass_l1) {
      waits += LoadLine(access.lines[i], false, send_at, token);
      continue;
    }
    tokens_[token].owner.stats->bypass_sectors += Count(access.lines[i].sector_mask);
    const uint32_t out = NewOut();
    outs_[out].kind = OutKind::kDirect;
    AddWaiter(out, token);
    ++num_reads_;
    ++waits;
    Send(out, access.lines[i], MemRequestKind::kRead, send_at, kernel);
  }
  for (uint32_t i = 0; i < access.num_local_lines; ++i) {
    waits += LoadLine(access.local_lines[i], true, send_at, token);
  }
  return waits;
}

void LoadStoreUnit::WriteBack(const L1Cache::Evicted& evicted, Cycle at, uint32_t kernel) {
  if (evicted.dirty_mask == 0) return;
  const uint32_t out = NewOut();
  outs_[out].kind = OutKind::kStore;
  ++num_stores_;
  Send(out, {evicted.line, evicted.dirty_mask, 0}, MemRequestKind::kWrite, at, kernel);
}

uint32_t LoadStoreUnit::Store(const SmInst& code, const CoalescedAccess& access, Cycle send_at,
                              const AccessOwner& owner) {
  const bool reduction = code.mem_op == MemOp::kReduction;
  for (uint32_t i = 0; i < access.num_lines; ++i) {
    const LineAccess& line = access.lines[i];
    if (reduction) {
      owner.stats->atomic_sectors += Count(line.sector_mask);
    } else {
      owner.stats->global_store_sectors += Count(line.sector_mask);
      // Write-through, no allocation: sectors that are present take the new bytes.
      owner.stats->global_store_hits += Count(cache_.Touch(line.line) & line.sector_mask);
    }
    const uint32_t out = NewOut();
    outs_[out].kind = OutKind::kStore;
    outs_[out].owner = owner;
    outs_[out].acknowledged_by_warp = true;
    ++num_stores_;
    Send(out, line, reduction ? MemRequestKind::kReduction : MemRequestKind::kWrite, send_at, owner.kernel);
  }
  for (uint32_t i = 0; i < access.num_local_lines; ++i) {
    const LineAccess& line = access.local_lines[i];
    owner.stats->local_store_sectors += Count(line.sector_mask);
    owner.stats->local_store_hits += Count(cache_.Touch(line.line) & line.sector_mask);
    // Write-back: a warp's own local memory needs no other reader. Partly written sectors count as whole,
    // since interleaved words of one warp fill their sectors (assumption).
    WriteBack(cache_.Fill(line.line, line.sector_mask, line.sector_mask), send_at, owner.kernel);
  }
  return access.num_lines;
}

uint32_t LoadStoreUnit::Atomic(const CoalescedAccess& access, Cycle send_at, uint32_t token) {
  uint32_t waits = 0;
  const auto send = [&](const LineAccess& line) {
    tokens_[token].owner.stats->atomic_sectors += Count(line.sector_mask);
    const uint32_t out = NewOut();
    outs_[out].kind = OutKind::kDirect;
    AddWaiter(out, token);
    ++num_reads_;
    ++waits;
    Send(out, line, MemRequestKind::kAtomic, send_at, tokens_[token].owner.kernel);
  };
  for (uint32_t i = 0; i < access.num_lines; ++i) send(access.lines[i]);
  for (uint32_t i = 0; i < access.num_local_lines; ++i) send(access.local_lines[i]);
  return waits;
}

void LoadStoreUnit::CountShared(const CoalescedAccess& access, L1Stats* stats) const {
  if (access.shared_passes == 0) return;
  ++stats->shared_accesses;
  stats->shared_passes += access.shared_passes;
  stats->shared_bank_conflicts +=
      access.shared_passes - std::min(access.shared_passes, access.shared_passes_min);
}

AccessTicket LoadStoreUnit::Issue(uint32_t sub, Cycle now, const SmInst& code, const CoalescedAccess& access,
                                  const AccessOwner& owner) {
  AccessTicket ticket;
  const Cycle port = ReservePort(sub, now);
  const uint32_t lines = access.num_lines + access.num_local_lines;
  const uint32_t data_cycles =
      (NumSectors(access) + config_.sectors_per_cycle - 1) / config_.sectors_per_cycle;
  owner.stats->requests += lines != 0 ? 1 : 0;
  CountShared(access, owner.stats);
  // L1 and shared memory share one data path: 4 tags and 4 sectors a cycle, one pass over the banks a cycle.
  const uint32_t l1_cycles = std::max(data_cycles, (lines + 3) / 4);
  const Cycle data_end = ReserveData(port, std::max<uint32_t>(l1_cycles + access.shared_passes, 1));
  // The latencies of the configuration count from issue of an unloaded pipe with one data cycle.
  const Cycle unloaded = kDispatchCycles + config_.address_cycles + 1;
  const uint32_t hit_latency = lines != 0 ? config_.latency_cycles : config_.shmem_latency_cycles;
  const Cycle hit_ready =
      data_end + std::max<Cycle>(hit_latency, unloaded) - unloaded + ReturnCycles(code.width_bytes);
  ticket.long_latency = lines != 0;
  ticket.ready = hit_ready;
  if (lines == 0) return ticket;

  const Cycle send_at = data_end + config_.miss_detect_cycles;
  if (code.mem_op == MemOp::kStore || code.mem_op == MemOp::kReduction) {
    ticket.stores = Store(code, access, send_at, owner);
    return ticket;
  }
  const uint32_t token = NewToken(owner);
  const uint32_t waits =
      code.mem_op == MemOp::kAtomic ? Atomic(access, send_at, token) : Load(code, access, send_at, token);
  if (waits == 0) {
    free_tokens_.push_back(token);
    return ticket;
  }
  tokens_[token].requests_left = waits;
  tokens_[token].min_ready = hit_ready;
  ticket.pending = true;
  return ticket;
}

void LoadStoreUnit::FinishFill(uint32_t out_index, const MemReply& reply,
                               std::vector<Completion>* completions) {
  const Cycle ready = reply.cycle + config_.fill_cycles;
  for (uint32_t w = outs_[out_index].first_waiter; w != kNil;) {
    const Waiter waiter = waiters_[w];
    free_waiters_.push_back(w);
    w = waiter.next;
    Token& token = tokens_[waiter.token];
    SM89_ASSERT(token.requests_left > 0, "a token that waits for nothing");
    if (--token.requests_left != 0) continue;
    completions->push_back({token.owner, std::max(ready, token.min_ready), false});
    free_tokens_.push_back(waiter.token);
  }
}

void LoadStoreUnit::HandleReply(const MemReply& reply, std::vector<Completion>* completions) {
  const uint32_t index = reply.token;
  SM89_ASSERT(index < outs_.size(), "a reply to no request");
  const Out out = outs_[index];
  const uint32_t kernel = out.owner.kernel;
  if (out.kind == OutKind::kStore) {
    SM89_ASSERT(num_stores_ > 0, "store count");
    --num_stores_;
    if (out.acknowledged_by_warp) completions->push_back({out.owner, reply.cycle, true});
  } else {
    SM89_ASSERT(num_reads_ > 0, "read count");
    --num_reads_;
    if (out.kind == OutKind::kFill) {
      const uint32_t head = fills_.Find(out.line);
      SM89_ASSERT(head != LineMap::kAbsent, "a fill that is not in the MSHRs");
      if (head == index) {
        fills_.Erase(out.line);
        if (out.next_same_line != kNil) fills_.Insert(out.line, out.next_same_line);
      } else {
        uint32_t before = head;
        while (outs_[before].next_same_line != index) before = outs_[before].next_same_line;
        outs_[before].next_same_line = out.next_same_line;
      }
      const L1Cache::Evicted evicted = cache_.Fill(out.line, out.sector_mask, 0);
      WriteBack(evicted, reply.cycle + config_.fill_cycles, kernel);
    }
    FinishFill(index, reply, completions);
  }
  free_outs_.push_back(index);
}

}  // namespace sm89
