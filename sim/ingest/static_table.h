// The static instructions of the kernel being read, with what was counted for each.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "sim/trace/compact_writer.h"
#include "sim/trace/trace_types.h"

namespace sm89 {

struct StaticUse {
  uint64_t count = 0;              // executed warp instructions
  uint64_t first_line = 0;         // of the kernel file; 0 in formats without lines
  uint64_t zero_address_uses = 0;  // executed with an active lane at address 0
  uint64_t first_zero_line = 0;
  bool is_exit = false;
  bool is_async_copy = false;  // LDGSTS
};

// Not thread-safe.
class StaticTable {
 public:
  explicit StaticTable(CompactWriter& writer) : writer_(writer) {}

  // The id that the writer gave; nothing once the table is full.
  std::optional<uint32_t> Intern(const StaticInst& inst, uint64_t line);
  std::span<const StaticInst> insts() const { return insts_; }
  StaticUse& use(uint32_t id) { return uses_[id]; }
  const StaticUse& use(uint32_t id) const { return uses_[id]; }

 private:
  CompactWriter& writer_;
  std::vector<StaticInst> insts_;
  std::vector<StaticUse> uses_;
};

}  // namespace sm89
