#include "sim/sm/load_store_unit.h"

#include <algorithm>

#include "sim/base/assert.h"

namespace sm89 {
namespace {

// Issue to the address unit: control stage and dispatch latch (core-model.md 1.3, 1.6).
constexpr Cycle kDispatchCycles = 2;

// Port to released sources, an instruction that carries no data: the setting counts from the issue of a load
// from a uniform address (core-model notes 1.6, WAR of loads).
Cycle PortToRelease(const L1Config& config) {
  const Cycle to_port = kDispatchCycles + config.uniform_address_cycles;
  return config.read_release_cycles - std::min<Cycle>(config.read_release_cycles, to_port);
}

uint32_t Words(const SmInst& code) { return std::max<uint32_t>(code.width_bytes / 4, 1); }

bool CarriesData(const SmInst& code) { return IsAcknowledged(code.mem_op) || code.mem_op == MemOp::kAtomic; }

// Further cycles until the data registers are read: 64 B a cycle (same source, WAR of stores).
Cycle DataReadCycles(const SmInst& code) {
  if (code.mem_op == MemOp::kLoadToShared) return 2;
  if (!CarriesData(code)) return 0;
  return 2 * Words(code) + (code.uniform_address ? 0 : 2) - 1;
}

LineAccess WholeSectors(uint64_t line, uint8_t mask) {
  LineAccess access{.line = line, .sector_mask = mask};
  for (uint32_t s = 0; s < kSectorsPerLine; ++s) access.bytes[s] = (mask >> s & 1) != 0 ? ~uint32_t{0} : 0;
  return access;
}

}  // namespace

LoadStoreUnit::LoadStoreUnit(const GpuConfig& config, uint16_t sm)
    : config_(config.l1),
      tlb_config_(config.tlb),
      tlb_(1, std::max<uint32_t>(config.tlb.entries, 1)),
      queue_size_(config.l1.queue_entries + 1),
      sm_(sm),
      port_to_release_(PortToRelease(config.l1)),
      room_{Room{config.l1.cache.mshr_entries},
            Room{2 * config.l1.cache.mshr_entries}},  // buffers: assumption
      cache_(config.l1.cache.sets, config.sm.unified_l1_kib * 1024 / kLineBytes / config.l1.cache.sets),
      fills_(config.l1.cache.mshr_entries + kMaxLinesPerAccess) {
  SM89_ASSERT(config.sm.sub_cores <= address_free_.size(), "at most 8 sub-cores");
  SM89_ASSERT(config.l1.queue_entries < queue_[0].size() && config.l1.queue_entries > 0, "queue size");
}

void LoadStoreUnit::Configure(uint32_t l1_kib) {
  cache_.Reset(l1_kib * 1024 / kLineBytes / config_.cache.sets);
  tlb_.Clear();
}

uint8_t LoadStoreUnit::Missing(const LineAccess& access) const {
  uint8_t missing = access.sector_mask & ~cache_.Present(access.line);
  if (missing == 0) return 0;
  for (uint32_t out = fills_.Find(access.line); out != kNil; out = outs_[out].next_same_line) {
    missing &= ~outs_[out].sector_mask;
  }
  return missing;
}

// Nothing for a load's line that hits or joins a fill; a local store's may evict a line that has to be
// written.
uint32_t LoadStoreUnit::EntriesNeeded(const SmInst& code, std::span<const LineAccess> global,
                                      std::span<const LineAccess> local) const {
  const auto misses = [this](const LineAccess& access) { return Missing(access) != 0; };
  const auto absent = [this](const LineAccess& access) { return cache_.Present(access.line) == 0; };
  const auto count = [](std::span<const LineAccess> lines, const auto& needs) {
    return static_cast<uint32_t>(std::count_if(lines.begin(), lines.end(), needs));
  };
  const auto all = static_cast<uint32_t>(global.size());
  if (IsAcknowledged(code.mem_op)) return all + count(local, absent);
  if (code.mem_op == MemOp::kAtomic) return all + static_cast<uint32_t>(local.size());
  return (code.bypass_l1 ? all : count(global, misses)) + count(local, misses);
}

bool LoadStoreUnit::HasRoomFor(const SmInst& code, const CoalescedAccess& access) const {
  const Room& room = room_[Index(PoolOf(code.mem_op))];
  const uint32_t lines = access.num_lines + access.num_local_lines;
  if (room.taken + room.reserved + lines <= room.entries) return true;
  const uint32_t needed = EntriesNeeded(code, access.global(), access.local());
  return needed == 0 || room.Has(needed);
}

std::optional<uint32_t> LoadStoreUnit::Reserve(const SmInst& code, std::span<const LineAccess> global,
                                               std::span<const LineAccess> local) {
  Room& room = room_[Index(PoolOf(code.mem_op))];
  const uint32_t needed = EntriesNeeded(code, global, local);
  if (needed != 0 && !room.Has(needed)) return std::nullopt;
  room.reserved += needed;
  return needed;
}

uint32_t LoadStoreUnit::AddressCycles(const SmInst& code) const {
  if (code.space == MemSpace::kShared || code.mem_op == MemOp::kShuffle) return config_.shmem_address_cycles;
  return code.uniform_address ? config_.uniform_address_cycles : config_.address_cycles;
}

Cycle LoadStoreUnit::UnloadedPort(const SmInst& code) const { return kDispatchCycles + AddressCycles(code); }

uint32_t LoadStoreUnit::Queued(uint32_t sub, Cycle now) const {
  const auto first = queue_[sub].begin();
  return static_cast<uint32_t>(
      std::count_if(first, first + queue_size_, [&](Cycle left) { return left > now; }));
}

Cycle LoadStoreUnit::ReservePort(uint32_t sub, Cycle now, const SmInst& code, Cycle* released) {
  const uint32_t address_cycles = AddressCycles(code);
  const Cycle start = std::max(now + kDispatchCycles, address_free_[sub]);
  address_free_[sub] = start + address_cycles;
  const Cycle port = port_.Take(start + address_cycles, config_.request_interval_cycles).begin;
  *released = port + port_to_release_ + DataReadCycles(code);
  queue_[sub][queue_head_[sub]++ % queue_size_] = *released;
  return port;
}

Cycle LoadStoreUnit::Translate(uint64_t line, SmStats* stats) {
  if (tlb_config_.entries == 0) return 0;
  const uint64_t page = line / (uint64_t{tlb_config_.page_kib} * 1024 / kLineBytes);
  ++stats->tlb_accesses;
  if (tlb_.Find(page) != nullptr) return 0;
  ++stats->tlb_misses;
  tlb_.Insert(page, 0);
  return tlb_config_.miss_cycles;
}

AccessTicket LoadStoreUnit::IssueMaskedOff(uint32_t sub, Cycle now, const SmInst& code) {
  AccessTicket ticket;
  ReservePort(sub, now, code, &ticket.released);
  ticket.ready = ticket.released;  // assumption: a counter of the result falls with that of the reading
  return ticket;
}

AccessTicket LoadStoreUnit::IssueWithoutMemory(uint32_t sub, Cycle now, const SmInst& code) {
  AccessTicket ticket;
  const Cycle port = ReservePort(sub, now, code, &ticket.released);
  const Cycle start = ReserveData(port, config_.shuffle_interval_cycles);
  const Cycle unloaded = UnloadedPort(code);
  const Cycle lane = code.register_lane ? config_.shuffle_register_cycles : 0;
  ticket.ready = start + std::max<Cycle>(config_.shuffle_latency_cycles, unloaded) - unloaded + lane;
  return ticket;
}

void LoadStoreUnit::AddWaiter(uint32_t out, uint32_t token) {
  outs_[out].first_waiter = waiters_.Add({token, outs_[out].first_waiter});
}

void LoadStoreUnit::Send(uint32_t out, const LineAccess& access, MemRequestKind kind, Cycle at,
                         const AccessOwner& owner) {
  MemRequest request;
  request.cycle = at + Translate(access.line, &owner.stats->sm);
  request.line = access.line;
  request.token = out;
  request.kernel = owner.kernel;
  request.sm = sm_;
  request.sector_mask = access.sector_mask;
  request.partial_mask = access.partial_mask;
  request.lanes = access.lanes;
  request.same_address_lanes = access.same_address_lanes;
  request.atomic_flits = access.atomic_flits;
  request.byte_mask = {access.bytes[0] | uint64_t{access.bytes[1]} << 32,
                       access.bytes[2] | uint64_t{access.bytes[3]} << 32};
  request.kind = kind;
  outbox_.push_back(request);
}

uint32_t LoadStoreUnit::LoadLine(const LineAccess& access, bool local, Cycle send_at, uint32_t token) {
  L1Stats& stats = tokens_[token].owner.stats->l1;
  const uint8_t present = cache_.Touch(access.line) & access.sector_mask;
  uint8_t missing = access.sector_mask & ~present;
  (local ? stats.local_load_sectors : stats.global_load_sectors) += CountSectors(access.sector_mask);
  (local ? stats.local_load_hits : stats.global_load_hits) += CountSectors(present);
  uint32_t waits = 0;
  const uint32_t head = fills_.Find(access.line);
  for (uint32_t out = head; out != kNil && missing != 0; out = outs_[out].next_same_line) {
    const uint8_t shared = missing & outs_[out].sector_mask;
    if (shared == 0) continue;
    stats.global_load_mshr_hits += local ? 0 : CountSectors(shared);
    AddWaiter(out, token);
    ++waits;
    missing &= ~shared;
  }
  if (missing == 0) return waits;
  const uint32_t out = outs_.Add({});
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
  ++room_[Index(RoomPool::kReads)].taken;
  Send(out, {.line = access.line, .sector_mask = missing}, MemRequestKind::kRead, send_at,
       tokens_[token].owner);
  outbox_.back().local = local;
  return waits + 1;
}

uint32_t LoadStoreUnit::Load(const SmInst& code, const CoalescedAccess& access, Cycle send_at,
                             uint32_t token) {
  uint32_t waits = 0;
  for (uint32_t i = 0; i < access.num_lines; ++i) {
    if (!code.bypass_l1) {
      waits += LoadLine(access.lines[i], false, send_at, token);
      continue;
    }
    tokens_[token].owner.stats->l1.bypass_sectors += CountSectors(access.lines[i].sector_mask);
    const uint32_t out = outs_.Add({});
    outs_[out].kind = OutKind::kDirect;
    outs_[out].owner.row = tokens_[token].owner.row;
    AddWaiter(out, token);
    ++room_[Index(RoomPool::kReads)].taken;
    ++waits;
    Send(out, access.lines[i], MemRequestKind::kRead, send_at, tokens_[token].owner);
  }
  for (uint32_t i = 0; i < access.num_local_lines; ++i) {
    waits += LoadLine(access.local_lines[i], true, send_at, token);
  }
  return waits;
}

void LoadStoreUnit::WriteBack(const L1Cache::Evicted& evicted, Cycle at, const AccessOwner& owner) {
  if (evicted.dirty_mask == 0) return;
  const uint32_t out = outs_.Add({});
  outs_[out].kind = OutKind::kStore;
  ++room_[Index(RoomPool::kStores)].taken;
  Send(out, WholeSectors(evicted.line, evicted.dirty_mask), MemRequestKind::kWrite, at, owner);
}

uint32_t LoadStoreUnit::Store(const SmInst& code, const CoalescedAccess& access, Cycle send_at,
                              const AccessOwner& owner) {
  const bool reduction = code.mem_op == MemOp::kReduction;
  for (uint32_t i = 0; i < access.num_lines; ++i) {
    const LineAccess& line = access.lines[i];
    if (reduction) {
      owner.stats->l1.atomic_sectors += CountSectors(line.sector_mask);
    } else {
      owner.stats->l1.global_store_sectors += CountSectors(line.sector_mask);
      // Write-through, no allocation: sectors that are present take the new bytes.
      owner.stats->l1.global_store_hits += CountSectors(cache_.Touch(line.line) & line.sector_mask);
    }
    const uint32_t out = outs_.Add({});
    outs_[out].kind = OutKind::kStore;
    outs_[out].owner = owner;
    outs_[out].acknowledged_by_warp = true;
    ++room_[Index(RoomPool::kStores)].taken;
    Send(out, line, reduction ? MemRequestKind::kReduction : MemRequestKind::kWrite, send_at, owner);
  }
  for (uint32_t i = 0; i < access.num_local_lines; ++i) {
    const LineAccess& line = access.local_lines[i];
    owner.stats->l1.local_store_sectors += CountSectors(line.sector_mask);
    owner.stats->l1.local_store_hits += CountSectors(cache_.Touch(line.line) & line.sector_mask);
    // Write-back: a warp's own local memory needs no other reader. Partly written sectors count as whole,
    // since interleaved words of one warp fill their sectors (assumption).
    WriteBack(cache_.Fill(line.line, line.sector_mask, line.sector_mask), send_at, owner);
  }
  return access.num_lines;
}

uint32_t LoadStoreUnit::Atomic(const CoalescedAccess& access, Cycle send_at, uint32_t token) {
  uint32_t waits = 0;
  const auto send = [&](const LineAccess& line) {
    tokens_[token].owner.stats->l1.atomic_sectors += CountSectors(line.sector_mask);
    const uint32_t out = outs_.Add({});
    outs_[out].kind = OutKind::kDirect;
    AddWaiter(out, token);
    ++room_[Index(RoomPool::kReads)].taken;
    ++waits;
    Send(out, line, MemRequestKind::kAtomic, send_at, tokens_[token].owner);
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

Cycle LoadStoreUnit::SharedCycles(const SmInst& code, const CoalescedAccess& access) const {
  if (ModifiesMemory(code.mem_op)) {
    return uint64_t{access.shared_passes} * config_.shmem_atomic_cycles;
  }
  return access.shared_passes;
}

Cycle LoadStoreUnit::HitReady(const SmInst& code, const CoalescedAccess& access, Cycle data_start) const {
  const bool global = access.num_lines + access.num_local_lines != 0;
  const Cycle unloaded = UnloadedPort(code);
  const auto behind = [&](Cycle latency) { return data_start + std::max(latency, unloaded) - unloaded; };
  const uint32_t words = Words(code);
  Cycle ready = 0;
  if (global) {
    // The latency is that of an access that needs one data cycle a word of a lane.
    const Cycle conflict = GlobalCycles(access) - std::min<Cycle>(GlobalCycles(access), words);
    const Cycle address = code.uniform_address ? config_.address_cycles - config_.uniform_address_cycles : 0;
    ready = behind(config_.latency_cycles - std::min<Cycle>(address, config_.latency_cycles)) + conflict +
            (words - 1) * config_.wide_load_cycles;
  }
  if (access.shared_passes != 0 || !global) {
    Cycle extra = SharedCycles(code, access) - std::min<Cycle>(SharedCycles(code, access), words);
    if (ModifiesMemory(code.mem_op)) {
      extra += config_.shmem_atomic_latency_cycles;
    } else if (code.mem_op == MemOp::kLoadMatrix) {
      extra = SharedCycles(code, access) - std::min<Cycle>(SharedCycles(code, access), code.matrices) +
              (code.matrices - std::min<uint32_t>(code.matrices, 1)) * config_.ldsm_matrix_cycles;
    } else if (words > 2) {
      extra += (words - 2) * config_.shmem_wide_load_cycles;
    }
    ready = std::max(ready, behind(config_.shmem_latency_cycles) + extra);
  }
  return ready;
}

// 4 tags and 4 sectors a cycle.
Cycle LoadStoreUnit::GlobalCycles(const CoalescedAccess& access) const {
  const uint32_t lines = access.num_lines + access.num_local_lines;
  const uint32_t data = (NumSectors(access) + config_.sectors_per_cycle - 1) / config_.sectors_per_cycle;
  return std::max(data, (lines + 3) / 4);
}

AccessTicket LoadStoreUnit::Issue(uint32_t sub, Cycle now, const SmInst& code, const CoalescedAccess& access,
                                  const AccessOwner& owner) {
  AccessTicket ticket;
  const Cycle port = ReservePort(sub, now, code, &ticket.released);
  const uint32_t lines = access.num_lines + access.num_local_lines;
  owner.stats->l1.requests += lines != 0 ? 1 : 0;
  CountShared(access, &owner.stats->l1);
  // L1 and shared memory share one data path, one pass over the banks a cycle.
  const Cycle data_cycles = std::max<Cycle>(GlobalCycles(access) + SharedCycles(code, access), 1);
  const Cycle data_start = ReserveData(port, data_cycles);
  ticket.ready = HitReady(code, access, data_start);
  if (lines == 0) return ticket;

  const Cycle send_at = data_start + data_cycles + config_.miss_detect_cycles;
  if (IsAcknowledged(code.mem_op)) {
    ticket.stores = Store(code, access, send_at, owner);
    return ticket;
  }
  const uint32_t token = tokens_.Add({owner, 0, 0, 0});
  const uint32_t waits =
      code.mem_op == MemOp::kAtomic ? Atomic(access, send_at, token) : Load(code, access, send_at, token);
  if (waits == 0) {
    tokens_.Free(token);
    return ticket;
  }
  tokens_[token].requests_left = waits;
  tokens_[token].min_ready = ticket.ready;
  // What a miss adds to the width of its result is as for a hit.
  tokens_[token].width_cycles = (Words(code) - 1) * config_.wide_load_cycles;
  ticket.pending = true;
  return ticket;
}

void LoadStoreUnit::FinishFill(uint32_t out_index, const MemReply& reply,
                               std::vector<Completion>* completions) {
  for (uint32_t w = outs_[out_index].first_waiter; w != kNil;) {
    const Waiter waiter = waiters_[w];
    waiters_.Free(w);
    w = waiter.next;
    Token& token = tokens_[waiter.token];
    SM89_ASSERT(token.requests_left > 0, "a token that waits for nothing");
    if (--token.requests_left != 0) continue;
    const Cycle ready = reply.cycle + config_.fill_cycles + token.width_cycles;
    completions->push_back({token.owner, std::max(ready, token.min_ready), false});
    tokens_.Free(waiter.token);
  }
}

void LoadStoreUnit::HandleReply(const MemReply& reply, std::vector<Completion>* completions) {
  const uint32_t index = reply.token;
  SM89_ASSERT(index < outs_.size(), "a reply to no request");
  const Out out = outs_[index];
  Room& room = room_[Index(out.kind == OutKind::kStore ? RoomPool::kStores : RoomPool::kReads)];
  SM89_ASSERT(room.taken > 0, "a reply that frees nothing");
  --room.taken;
  if (out.kind == OutKind::kStore) {
    if (out.acknowledged_by_warp) completions->push_back({out.owner, reply.cycle, true});
  } else {
    if (out.owner.row != nullptr) {
      out.owner.row->memory.l2_read_sectors += reply.l2_read_sectors;
      out.owner.row->memory.l2_read_hits += reply.l2_read_hits;
    }
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
      WriteBack(evicted, reply.cycle + config_.fill_cycles, out.owner);
    }
    FinishFill(index, reply, completions);
  }
  outs_.Free(index);
}

}  // namespace sm89
