// One decision of the reordering stage (a research model, sim/sm/SER.md).
#pragma once

#include <cstdint>
#include <string_view>

#include "sim/base/types.h"

namespace sm89 {

enum class SerReason : uint8_t {
  kMemoryStall,   // its own sub-core's memory queue is full
  kBranchDiv,     // lanes of diverged warps at one instruction issue together
  kIdleExecUnit,  // its own issue slot or unit is taken, another sub-core's is idle
};
enum class SerUnit : uint8_t { kSp, kSfu, kTc, kMem };

constexpr std::string_view Name(SerReason reason) {
  constexpr std::string_view kNames[] = {"MEMORY_STALL", "BRANCH_DIV", "IDLE_EXEC_UNIT"};
  return kNames[static_cast<size_t>(reason)];
}
constexpr std::string_view Name(SerUnit unit) {
  constexpr std::string_view kNames[] = {"SP", "SFU", "TC", "MEM"};
  return kNames[static_cast<size_t>(unit)];
}

struct SerRecord {
  Cycle cycle = 0;
  uint32_t kernel = 0;  // run index
  uint32_t pc = 0;      // of the instruction that moves
  LaneMask lanes = 0;   // that move
  uint16_t sm = 0;
  uint16_t warp = 0;   // slot in the SM
  uint16_t joins = 0;  // kBranchDiv: the warp whose issue slot it shares; else the same as `warp`
  uint8_t source = 0;  // scheduler
  uint8_t target = 0;  // scheduler
  SerReason reason = SerReason::kBranchDiv;
  SerUnit unit = SerUnit::kSp;
  bool issued = false;  // false: decided, but the target refused it in this cycle

  friend bool operator==(const SerRecord&, const SerRecord&) = default;
};

}  // namespace sm89
