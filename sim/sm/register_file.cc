#include "sim/sm/register_file.h"

#include <algorithm>

#include "sim/base/assert.h"
#include "sim/base/bits.h"

namespace sm89 {

namespace {

// One read of a register serves every operand slot of the instruction that names it (H200: FFMA on two
// registers, one of them twice, costs no bubble beside IMAD).
bool ReadBefore(const SmInst& inst, uint32_t slot, uint32_t reg) {
  for (uint32_t s = 0; s < slot; ++s) {
    if (reg - inst.slots[s].first < inst.slots[s].count) return true;
  }
  return false;
}

}  // namespace

std::array<uint32_t, RegisterFile::kMaxBanks> RegisterFile::PortReads(uint32_t warp, const SmInst& inst,
                                                                      SmStats* stats) {
  std::array<uint32_t, kMaxBanks> reads{};
  for (uint32_t s = 0; s < inst.slots.size(); ++s) {
    const RegRange& slot = inst.slots[s];
    const bool keep = (inst.bits.reuse_mask >> s & 1) != 0;
    for (uint32_t reg = slot.first; reg < uint32_t{slot.first} + slot.count; ++reg) {
      const uint32_t bank = reg % config_.banks;
      uint32_t& entry = reuse_[s][bank];
      const uint32_t tag = Tag(warp, reg);
      const bool hit = config_.reuse_cache && entry == tag;
      entry = keep ? tag : kEmpty;
      if (hit) {
        ++stats->register_reuse_hits;
      } else if (!ReadBefore(inst, s, reg)) {
        ++reads[bank];
        ++stats->register_reads;
      }
    }
  }
  return reads;
}

bool RegisterFile::Fits(uint32_t bank, uint32_t reads, Cycle first, uint32_t window) const {
  const uint64_t mask = ((uint64_t{1} << window) - 1) << (first - base_[bank]);
  uint32_t free = 0;
  for (uint32_t port = 0; port < config_.read_ports; ++port) {
    free += window - CountBits(reads_[bank][port] & mask);
  }
  return free >= reads;
}

void RegisterFile::Take(uint32_t bank, uint32_t reads, Cycle first) {
  for (uint64_t bit = uint64_t{1} << (first - base_[bank]); reads != 0; bit <<= 1) {
    for (uint32_t port = 0; port < config_.read_ports && reads != 0; ++port) {
      if ((reads_[bank][port] & bit) != 0) continue;
      reads_[bank][port] |= bit;
      --reads;
    }
  }
}

Cycle RegisterFile::Read(uint32_t warp, const SmInst& inst, Cycle now, SmStats* stats) {
  const std::array<uint32_t, kMaxBanks> reads = PortReads(warp, inst, stats);
  if (config_.read_ports == 0) return now + 1;
  for (uint32_t bank = 0; bank < config_.banks; ++bank) {
    Cycle base = base_[bank];
    for (uint32_t port = 0; port < config_.read_ports; ++port) {
      base = base_[bank];
      MoveTo(now, &base, &reads_[bank][port]);
    }
    base_[bank] = base;
  }
  Cycle allocate = now + kIssueToAllocate;
  const Cycle unheld = allocate;
  for (uint32_t bank = 0; bank < config_.banks; ++bank) {
    if (reads[bank] == 0) continue;
    // No operand needs more than its window: 3 slots of at most 4 registers over 2 banks in 6 cycles.
    const uint32_t needed = std::min(reads[bank], inst.read_window_cycles * config_.read_ports);
    while (!Fits(bank, needed, allocate + 1, inst.read_window_cycles)) ++allocate;
  }
  for (uint32_t bank = 0; bank < config_.banks; ++bank) Take(bank, reads[bank], allocate + 1);
  stats->register_port_stall_cycles += allocate - unheld;
  return now + 1 + (allocate - unheld);
}

void RegisterFile::Write(const RegRange& result, Cycle cycle) {
  if (result.count == 0) return;
  if (cycle >= write_base_ + 64) {
    const Cycle base = cycle - 63;
    const Cycle by = base - write_base_;
    for (uint64_t& bits : writes_) bits = by < 64 ? bits >> by : 0;
    write_base_ = base;
  }
  if (cycle < write_base_) return;
  const uint32_t last = uint32_t{result.first} + result.count;
  for (uint32_t reg = result.first; reg < last && reg < result.first + config_.banks; ++reg) {
    writes_[reg % config_.banks] |= uint64_t{1} << (cycle - write_base_);
  }
}

Cycle RegisterFile::WriteBack(const RegRange& result, Cycle cycle) const {
  if (result.count == 0) return cycle;
  const uint64_t bits = writes_[result.first % config_.banks];
  while (cycle >= write_base_ && cycle < write_base_ + 64 && (bits >> (cycle - write_base_) & 1) != 0) {
    ++cycle;
  }
  return cycle;
}

void RegisterFile::Forget(uint32_t warp) {
  for (auto& slot : reuse_) {
    for (uint32_t& entry : slot) {
      if (entry != kEmpty && entry >> 8 == warp) entry = kEmpty;
    }
  }
}

}  // namespace sm89
