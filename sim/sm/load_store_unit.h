// The memory pipeline that the four sub-cores of an SM share: per-sub-core queues and address units, one
// port, the data path of L1 and shared memory, MSHRs with sector merging. Times are reserved when an
// instruction issues; only what misses waits for a reply.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "sim/base/line_map.h"
#include "sim/base/slot_pool.h"
#include "sim/base/types.h"
#include "sim/config/gpu_config.h"
#include "sim/link/mem_message.h"
#include "sim/sm/coalescer.h"
#include "sim/sm/kernel_code.h"
#include "sim/sm/l1_cache.h"
#include "sim/sm/lru_tags.h"
#include "sim/sm/timeline.h"
#include "sim/sm/warp.h"
#include "sim/stats/sim_stats.h"

namespace sm89 {

// Who waits for an access.
struct AccessOwner {
  uint32_t warp = 0;    // slot in the SM
  uint32_t group = 0;   // LDGSTS group, else 0
  uint32_t kernel = 0;  // run index
  KernelSmStats* stats = nullptr;
  PcCounters* row = nullptr;               // of the instruction; null without a profile
  RegRange result;                         // registers written
  uint8_t counter = kNoDependenceCounter;  // falls when they are
  MemOp op = MemOp::kNone;
};

// What is known when an instruction has issued.
struct AccessTicket {
  bool pending = false;  // some sectors are on their way; a Completion follows
  Cycle ready = 0;       // otherwise: dependent instructions may issue from here on
  Cycle released = 0;    // source registers may be overwritten by instructions that issue from here on
  uint32_t stores = 0;   // acknowledgements to come
};

// A load, atomic or LDGSTS whose last sector has arrived, or a store's acknowledgement.
struct Completion {
  AccessOwner owner;
  Cycle ready = 0;
  bool store_ack = false;
};

// What an instruction needs entries of before it can issue.
enum class RoomPool : uint8_t { kReads, kStores };  // MSHRs, write buffers
inline constexpr size_t kNumRoomPools = 2;
constexpr RoomPool PoolOf(MemOp op) { return IsAcknowledged(op) ? RoomPool::kStores : RoomPool::kReads; }

class LoadStoreUnit {
 public:
  LoadStoreUnit(const GpuConfig& config, uint16_t sm);

  // A new kernel's carve-out: empties L1 and the translation buffer.
  void Configure(uint32_t l1_kib);

  // First cycle at which the queue of sub-core `sub` has room for one more instruction.
  Cycle QueueRoom(uint32_t sub) const { return queue_[sub][queue_head_[sub] % queue_size_]; }
  // Whether the access finds the entries that it needs; otherwise not before a reply or a Release frees some.
  bool HasRoomFor(const SmInst& code, const CoalescedAccess& access) const;
  // Whether it needs any: not when all of it hits or joins fills.
  bool NeedsRoom(const SmInst& code, const CoalescedAccess& access) const {
    return EntriesNeeded(code, access.global(), access.local()) != 0;
  }
  // Keeps the entries that an access needs as things stand; nothing when there are not so many.
  std::optional<uint32_t> Reserve(const SmInst& code, std::span<const LineAccess> global,
                                  std::span<const LineAccess> local);
  void Release(RoomPool pool, uint32_t entries) { room_[Index(pool)].reserved -= entries; }

  // Performs the access. `access` comes from Coalesce.
  AccessTicket Issue(uint32_t sub, Cycle now, const SmInst& code, const CoalescedAccess& access,
                     const AccessOwner& owner);
  // SHFL and other users of the pipeline without memory.
  AccessTicket IssueWithoutMemory(uint32_t sub, Cycle now, const SmInst& code);
  // No active lane: through queue and address unit, then nothing is left to do.
  AccessTicket IssueMaskedOff(uint32_t sub, Cycle now, const SmInst& code);

  // A reply arrived; completions are appended.
  void HandleReply(const MemReply& reply, std::vector<Completion>* completions);

  // Instructions in the queue of sub-core `sub` at `now`, the dispatch latch included, and room for how many.
  uint32_t Queued(uint32_t sub, Cycle now) const;
  uint32_t queue_size() const { return queue_size_; }

  std::vector<MemRequest>& outbox() { return outbox_; }
  uint32_t pending_reads() const { return room_[Index(RoomPool::kReads)].taken; }
  uint32_t pending_stores() const { return room_[Index(RoomPool::kStores)].taken; }
  // Kept for warps that have not issued yet.
  uint32_t reserved(RoomPool pool) const { return room_[Index(pool)].reserved; }

 private:
  static constexpr uint32_t kNil = ~0u;
  // One instruction waiting for sectors.
  struct Token {
    AccessOwner owner;
    uint32_t requests_left = 0;
    Cycle min_ready = 0;
    Cycle width_cycles = 0;
  };
  struct Waiter {
    uint32_t token = kNil;
    uint32_t next = kNil;
  };
  struct Room {
    uint32_t entries = 0;
    uint32_t taken = 0;
    uint32_t reserved = 0;

    // An access larger than the whole pool goes alone.
    bool Has(uint32_t needed) const { return taken + reserved + needed <= std::max(entries, needed); }
  };
  enum class OutKind : uint8_t { kFill, kDirect, kStore };
  // One request under way. kFill: an MSHR that fills L1; kDirect: bypassing load or atomic; kStore: an ack.
  struct Out {
    OutKind kind = OutKind::kFill;
    uint8_t sector_mask = 0;
    uint64_t line = 0;
    uint32_t first_waiter = kNil;
    uint32_t next_same_line = kNil;
    AccessOwner owner;  // kStore
    bool acknowledged_by_warp = false;
  };

  static constexpr size_t Index(RoomPool pool) { return static_cast<size_t>(pool); }
  // Sectors of a load's line that are neither present nor on their way.
  uint8_t Missing(const LineAccess& access) const;
  uint32_t EntriesNeeded(const SmInst& code, std::span<const LineAccess> global,
                         std::span<const LineAccess> local) const;
  uint32_t AddressCycles(const SmInst& code) const;
  // Address unit, SM port, queue entry. Returns the cycle at the port; *released as in AccessTicket.
  Cycle ReservePort(uint32_t sub, Cycle now, const SmInst& code, Cycle* released);
  // Issue to port when nothing is in the way.
  Cycle UnloadedPort(const SmInst& code) const;
  // Cycles of address translation that the request of `line` adds.
  Cycle Translate(uint64_t line, SmStats* stats);
  // The data path, from `at` on. Returns the start; where others pass in between, so long before the end as
  // if none did.
  Cycle ReserveData(Cycle at, Cycle cycles) { return data_.Take(at, cycles).end - cycles; }
  void Send(uint32_t out, const LineAccess& access, MemRequestKind kind, Cycle at, const AccessOwner& owner);
  void AddWaiter(uint32_t out, uint32_t token);
  // Loads one line; returns the number of requests the token waits for.
  uint32_t LoadLine(const LineAccess& access, bool local, Cycle send_at, uint32_t token);
  uint32_t Load(const SmInst& code, const CoalescedAccess& access, Cycle send_at, uint32_t token);
  uint32_t Store(const SmInst& code, const CoalescedAccess& access, Cycle send_at, const AccessOwner& owner);
  void WriteBack(const L1Cache::Evicted& evicted, Cycle at, const AccessOwner& owner);
  uint32_t Atomic(const CoalescedAccess& access, Cycle send_at, uint32_t token);
  Cycle SharedCycles(const SmInst& code, const CoalescedAccess& access) const;
  Cycle GlobalCycles(const CoalescedAccess& access) const;
  // When the result of an access that misses nothing is there.
  Cycle HitReady(const SmInst& code, const CoalescedAccess& access, Cycle data_start) const;
  void CountShared(const CoalescedAccess& access, L1Stats* stats) const;
  void FinishFill(uint32_t out, const MemReply& reply, std::vector<Completion>* completions);

  L1Config config_;
  TlbConfig tlb_config_;
  LruTags tlb_;
  uint32_t queue_size_;  // queue entries and the dispatch latch
  uint16_t sm_;
  Cycle port_to_release_;
  std::array<Room, kNumRoomPools> room_;
  L1Cache cache_;
  std::array<Cycle, 8> address_free_{};
  std::array<std::array<Cycle, 17>, 8> queue_{};  // departure of the last entries of each sub-core
  std::array<uint32_t, 8> queue_head_{};
  Timeline port_;
  Timeline data_;
  LineMap fills_;  // line -> first kFill request of its chain
  SlotPool<Out> outs_;
  SlotPool<Token> tokens_;
  SlotPool<Waiter> waiters_;
  std::vector<MemRequest> outbox_;
};

}  // namespace sm89
