// Register-file bank conflicts: operands that one bank has to deliver one after another.
//
// Model (core-model notes 1.3, from a published study of Ampere and Ada): two banks a sub-core, register r in
// bank r mod 2, one port a bank and cycle, a three-cycle read window; a cache entry for each of three operand
// slots and two banks that the reuse bits fill.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/analysis/cfg.h"
#include "sim/analysis/code.h"

namespace sm89::analysis {

inline constexpr unsigned kRegisterBanks = 2;

struct BankConflict {
  uint32_t instruction = 0;
  uint8_t reads[kRegisterBanks] = {};  // ports' cycles needed in each bank after the cache
  uint8_t cached = 0;                  // operands that the cache delivered
  // Port cycles of the most loaded bank beyond those of the widest operand alone: bubbles when nothing hides
  // them (FADD with both operands in one bank 1, FFMA with three 2).
  uint8_t extra_cycles = 0;
};
struct BankReport {
  std::vector<BankConflict> conflicts;  // instructions with extra_cycles > 0
  uint32_t instructions = 0;            // that read two or more registers
  uint32_t register_operands = 0;
  uint32_t cached_operands = 0;
  uint32_t extra_cycles = 0;
};
BankReport FindBankConflicts(const Code& code, const Cfg& cfg);

std::string ToText(const BankReport& report, const Code& code);
std::string ToJson(const BankReport& report, const Code& code);

}  // namespace sm89::analysis
