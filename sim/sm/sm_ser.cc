// What the reordering stage does to warps (a research model, SER.md): lanes of diverged warps that stand at
// one instruction share an issue slot, and instructions of diverged warps that their own sub-core cannot take
// go to one that has nothing to do. Either way the instruction is its own warp's: it is issued once, its
// results and its next instruction are later by what moving takes.
#include <algorithm>

#include "sim/base/bits.h"
#include "sim/sm/sm.h"

namespace sm89 {
namespace {

SerUnit UnitOf(const SmInst& inst) {
  if (inst.path == IssuePath::kMemory) return SerUnit::kMem;
  if (inst.pipe == Pipe::kSfu) return SerUnit::kSfu;
  return inst.pipe == Pipe::kTensor ? SerUnit::kTc : SerUnit::kSp;
}

// Instructions that act on their warp as a whole stay at home, and so does what needs a constant of the
// sub-core's cache.
bool MayMove(const SmInst& inst) {
  return inst.control == ControlOp::kNone && !inst.reads_clock && inst.path != IssuePath::kNone &&
         inst.constant_bank == DecodedInst::kNoConstant && inst.depbar_mask == 0;
}

}  // namespace

void Sm::NoteSer(const Warp& warp, uint32_t slot, Cycle now) {
  ser_->NoteIssue(now, {static_cast<uint16_t>(slot), warp.inst().pc, warp.next.mask,
                        warp.resident_lanes & ~warp.next.mask});
}

bool Sm::SerDiverged(const Warp& warp) const {
  return MayMove(warp.inst()) && ser_->Diverged(warp.next.mask, warp.resident_lanes);
}

void Sm::IssueWithRiders(uint32_t slot, Cycle now) {
  const Warp& host = warps_[slot];
  const KernelCode* const code = host.code;
  const uint32_t static_id = host.next.static_id;
  auto lanes = CountBits(host.next.mask);
  // Accesses are coalesced by warp: those of two warps are two instructions of the memory pipeline.
  const bool takes_riders = SerDiverged(host) && host.inst().path != IssuePath::kMemory;
  const uint32_t home = SubOf(slot);
  Issue(slot, now, {home});
  if (!takes_riders) return;
  uint32_t left = ser_->depth();
  for (uint32_t i = 0; i < num_sub_cores_; ++i) {
    const uint32_t sub = (home + i) % num_sub_cores_;
    for (uint32_t rest = subs_[sub].scheduler.candidates(); rest != 0 && left != 0; rest &= rest - 1) {
      --left;
      const uint32_t rider = static_cast<uint32_t>(__builtin_ctz(rest)) * num_sub_cores_ + sub;
      const Warp& warp = warps_[rider];
      if (warp.code != code || warp.next.static_id != static_id || !SerDiverged(warp)) continue;
      const auto more = CountBits(warp.next.mask);
      if (lanes + more > kWarpSize) continue;
      lanes += more;
      ++warp.stats->sm.ser_merges;
      CountSer(rider, {.target = home, .joins = slot, .reason = SerReason::kBranchDiv, .issued = true}, now);
      Issue(rider, now, {home, ser_->ExtraCycles(), true});
    }
  }
}

// Counts and records a decision before the warp's next instruction is another.
void Sm::CountSer(uint32_t slot, const SerChoice& choice, Cycle now) {
  const Warp& warp = warps_[slot];
  const SmInst& inst = warp.inst();
  SerRecord record;
  record.cycle = now;
  record.kernel = warp.kernel;
  record.pc = inst.pc;
  record.lanes = warp.next.mask;
  record.sm = id_;
  record.warp = static_cast<uint16_t>(slot);
  record.joins = static_cast<uint16_t>(choice.joins);
  record.source = static_cast<uint8_t>(SubOf(slot));
  record.target = static_cast<uint8_t>(choice.target);
  record.reason = choice.reason;
  record.unit = UnitOf(inst);
  record.issued = choice.issued;
  ser_->Record(record);
  ++warp.stats->sm.ser_invocations;
  if (choice.issued) {
    warp.stats->sm.ser_moved_threads += CountBits(warp.next.mask);
  }
}

// A sub-core with warps of the kernel, none of which could issue, and with room for the instruction.
uint32_t Sm::IdleSubCoreFor(const Warp& warp, uint32_t home, Cycle now) const {
  const SmInst& inst = warp.inst();
  for (uint32_t i = 1; i < num_sub_cores_; ++i) {
    const uint32_t target = (home + i) % num_sub_cores_;
    const SubCore& sub = subs_[target];
    if (sub.scheduler.candidates() != 0 || sub.issued_at == now || sub.issue.free() > now) continue;
    if (warp.stats->slots[target].warps == 0) continue;
    const bool memory = inst.path == IssuePath::kMemory;
    if (memory ? sub.memory_queue.free() <= now : sub.units.Of(inst.pipe).free() <= now) return target;
  }
  return num_sub_cores_;
}

void Sm::Redirect(Cycle now) {
  uint32_t left = ser_->depth();
  for (uint32_t home = 0; home < num_sub_cores_; ++home) {
    for (uint32_t rest = subs_[home].scheduler.candidates(); rest != 0 && left != 0; rest &= rest - 1) {
      const uint32_t slot = static_cast<uint32_t>(__builtin_ctz(rest)) * num_sub_cores_ + home;
      const Warp& warp = warps_[slot];
      const SmInst& inst = warp.inst();
      --left;
      // The FP64 unit that all sub-cores share is as busy elsewhere.
      if (!SerDiverged(warp) || inst.pipe == Pipe::kFp64) continue;
      const uint32_t target = IdleSubCoreFor(warp, home, now);
      if (target == num_sub_cores_) continue;
      SerChoice choice{.target = target, .joins = slot, .reason = SerReason::kIdleExecUnit, .issued = true};
      if (inst.path == IssuePath::kMemory) {
        if (subs_[home].memory_queue.free() > now) choice.reason = SerReason::kMemoryStall;
        choice.issued = MemoryHasRoom(slot, now);
      }
      CountSer(slot, choice, now);
      if (!choice.issued) continue;
      ++warp.stats->sm.ser_redirects;
      Issue(slot, now, {target, ser_->ExtraCycles(), false});
    }
  }
}

}  // namespace sm89
