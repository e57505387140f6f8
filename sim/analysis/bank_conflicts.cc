#include "sim/analysis/bank_conflicts.h"

#include <algorithm>
#include <array>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "sim/analysis/effects.h"
#include "sim/analysis/json_text.h"
#include "sim/analysis/mix.h"
#include "sim/sass/decode.h"

namespace sm89::analysis {
namespace {

constexpr size_t kCacheSlots = 3;  // operands A, B, C
constexpr uint16_t kNoRegister = 255;

std::optional<size_t> CacheSlot(sass::Slot slot) {
  switch (slot) {
    case sass::Slot::kA:
      return 0;
    case sass::Slot::kB:
      return 1;
    case sass::Slot::kC:
      return 2;
    default:
      return std::nullopt;
  }
}

// Only what reads its operands right behind issue meets the ports in order; memory, special functions and the
// rest wait in a queue first.
bool ReadsAtIssue(ExecUnit unit) {
  switch (unit) {
    case ExecUnit::kFp32:
    case ExecUnit::kInt:
    case ExecUnit::kImad:
    case ExecUnit::kHalf:
    case ExecUnit::kFp64:
    case ExecUnit::kTensor:
      return true;
    default:
      return false;
  }
}

class RegisterCache {
 public:
  void Clear() {
    for (auto& slot : entries_) slot.fill(kNoRegister);
  }
  RegisterCache() { Clear(); }

  // One register of an operand: true when the cache has it. A read replaces the entry, or empties it when the
  // reuse bit is not set.
  bool Read(size_t slot, uint16_t reg, bool reuse) {
    uint16_t& entry = entries_[slot][reg % kRegisterBanks];
    const bool hit = entry == reg;
    entry = reuse ? reg : kNoRegister;
    return hit;
  }
  void Write(const RegSet& written) {
    for (auto& slot : entries_) {
      for (uint16_t& entry : slot) {
        if (entry != kNoRegister && written.Has(RegFile::kGeneral, entry)) entry = kNoRegister;
      }
    }
  }

 private:
  std::array<std::array<uint16_t, kRegisterBanks>, kCacheSlots> entries_;
};

// Adds what `inst` reads to `report`; gives its row.
BankConflict ReadOperands(const sass::Instruction& inst, RegisterCache* cache, BankReport* report) {
  BankConflict row;
  RegSet from_file;  // a register in two slots is read once: an assumption
  unsigned widest = 1;
  unsigned operands = 0;
  for (int i = 0; i < inst.num_operands; ++i) {
    const sass::Operand& operand = inst.operands[static_cast<size_t>(i)];
    if (operand.is_dest || !operand.IsReg() || operand.IsZeroReg()) continue;
    ++operands;
    widest = std::max<unsigned>(widest, (operand.regs + kRegisterBanks - 1) / kRegisterBanks);
    const auto slot = CacheSlot(operand.slot);
    bool cached = slot.has_value();
    for (uint16_t r = operand.index; r < operand.index + operand.regs && r < kNoRegister; ++r) {
      if (slot && cache->Read(*slot, r, operand.reuse)) continue;
      cached = false;
      from_file.Add(RegFile::kGeneral, r);
    }
    if (cached) ++row.cached;
  }
  from_file.ForEach([&row](RegFile, unsigned reg) { ++row.reads[reg % kRegisterBanks]; });
  const unsigned most = *std::max_element(std::begin(row.reads), std::end(row.reads));
  row.extra_cycles = static_cast<uint8_t>(most > widest ? most - widest : 0);
  report->register_operands += operands;
  report->cached_operands += row.cached;
  if (operands >= 2) ++report->instructions;
  return row;
}

}  // namespace

BankReport FindBankConflicts(const Code& code, const Cfg& cfg) {
  BankReport report;
  RegisterCache cache;
  const size_t used = code.NumUsed();
  for (const Block& block : cfg.blocks) {
    cache.Clear();
    for (uint32_t i = block.first; i < block.end && i < used; ++i) {
      const sass::Instruction& inst = code.insts[i];
      if (ReadsAtIssue(UnitOf(inst))) {
        BankConflict row = ReadOperands(inst, &cache, &report);
        row.instruction = i;
        report.extra_cycles += row.extra_cycles;
        if (row.extra_cycles > 0) report.conflicts.push_back(row);
      }
      cache.Write(EffectsOf(inst).writes);
    }
  }
  return report;
}

std::string ToText(const BankReport& report, const Code& code) {
  std::string text = absl::StrFormat(
      "register banks: %d instructions with two or more register operands, %d of %d operands from the reuse "
      "cache, %d conflicts, %d extra port cycles\n",
      report.instructions, report.cached_operands, report.register_operands, report.conflicts.size(),
      report.extra_cycles);
  for (const BankConflict& row : report.conflicts) {
    const sass::Instruction& inst = code.insts[row.instruction];
    absl::StrAppendFormat(&text, "  %s  +%d  banks %d/%d  %s\n", PcText(code.PcOf(row.instruction)),
                          row.extra_cycles, row.reads[0], row.reads[1],
                          sass::Print(inst, {.pc = code.PcOf(row.instruction)}));
  }
  return text;
}

std::string ToJson(const BankReport& report, const Code& code) {
  Json root;
  root["format"] = "sm89-cubin-banks/1";
  root["function"] = code.function->name;
  root["instructions"] = report.instructions;
  root["register_operands"] = report.register_operands;
  root["cached_operands"] = report.cached_operands;
  root["extra_cycles"] = report.extra_cycles;
  root["conflicts"] = Json::array();
  for (const BankConflict& row : report.conflicts) {
    root["conflicts"].push_back({{"pc", code.PcOf(row.instruction)},
                                 {"source", LineJson(code, code.LineOf(row.instruction))},
                                 {"bank_reads", Json::array({row.reads[0], row.reads[1]})},
                                 {"cached_operands", row.cached},
                                 {"extra_cycles", row.extra_cycles}});
  }
  return Dump(root);
}

}  // namespace sm89::analysis
