#include "sim/analysis/spills.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "sim/analysis/cfg.h"
#include "sim/analysis/effects.h"

namespace sm89::analysis {
namespace {

using sass::Op;
using sass::Operand;
using sass::Slot;

constexpr unsigned kStackPointer = 1;

// Bytes that one thread moves.
uint32_t AccessBytes(const sass::Instruction& inst) {
  static constexpr uint8_t kBytes[8] = {1, 1, 2, 2, 4, 8, 16, 16};
  return kBytes[inst.Get(sass::Field::kMemSize, sass::kSz32) & 7];
}

// R1 = R1 + constant: the frame of a function.
std::optional<int64_t> FrameStep(const sass::Instruction& inst) {
  if (inst.op != Op::kIadd3) return std::nullopt;
  std::optional<int64_t> step;
  bool from_pointer = false, to_pointer = false;
  for (int i = 0; i < inst.num_operands; ++i) {
    const Operand& operand = inst.operands[static_cast<size_t>(i)];
    if (operand.IsReg() && operand.index == kStackPointer)
      (operand.is_dest ? to_pointer : from_pointer) = true;
    if (operand.kind == sass::OperandKind::kImm) {
      step = static_cast<int32_t>(static_cast<uint32_t>(operand.value));
    }
  }
  return from_pointer && to_pointer ? step : std::nullopt;
}

class Finder {
 public:
  explicit Finder(const Code& code, SpillReport* report)
      : code_(code), cfg_(BuildCfg(code)), report_(report) {}

  void Run() {
    for (uint32_t f = 0; f < cfg_.functions.size(); ++f) RunFunction(cfg_.functions[f], f > 0);
  }

 private:
  void RunFunction(const CfgFunction& function, bool is_callee) {
    const uint32_t end = std::min<uint32_t>(function.end, static_cast<uint32_t>(code_.NumUsed()));
    const size_t first_access = report_->accesses.size();
    int64_t lowest_escape = std::numeric_limits<int64_t>::max();
    for (uint32_t i = function.first; i < end; ++i) {
      const sass::Instruction& inst = code_.insts[i];
      if (inst.op == Op::kLdl || inst.op == Op::kStl) {
        Record(i);
      } else if (!FrameStep(inst) && EffectsOf(inst).reads.Has(RegFile::kGeneral, kStackPointer)) {
        lowest_escape = std::min(lowest_escape, EscapeOffset(inst));
      }
    }
    for (size_t a = first_access; a < report_->accesses.size(); ++a) {
      Classify(lowest_escape, first_access, is_callee, &report_->accesses[a]);
    }
  }

  void Record(uint32_t index) {
    const sass::Instruction& inst = code_.insts[index];
    const Operand* base = inst.Find(Slot::kA);
    const Operand* offset = inst.Find(Slot::kOffset);
    LocalAccess access;
    access.instruction = index;
    access.is_store = inst.op == Op::kStl;
    access.bytes = AccessBytes(inst);
    access.fixed_offset = base != nullptr && base->index == kStackPointer;
    access.offset = offset != nullptr ? offset->value : 0;
    report_->accesses.push_back(access);
  }

  // R1 itself or R1 plus a constant; a scaled index added to R1 starts at 0.
  static int64_t EscapeOffset(const sass::Instruction& inst) {
    if (inst.op != Op::kIadd3) return 0;
    for (int i = 0; i < inst.num_operands; ++i) {
      const Operand& operand = inst.operands[static_cast<size_t>(i)];
      if (operand.kind == sass::OperandKind::kImm) {
        return static_cast<int32_t>(static_cast<uint32_t>(operand.value));
      }
    }
    return 0;
  }

  // True when every load of these bytes finds a store of the same place and width, and no store writes a
  // constant zero: what a spill slot looks like, and what an array that is cleared and indexed does not.
  bool IsMatchedSlot(size_t first_access, const LocalAccess& slot) const {
    bool stored = false, loaded = false;
    for (size_t a = first_access; a < report_->accesses.size(); ++a) {
      const LocalAccess& other = report_->accesses[a];
      const bool overlaps = other.fixed_offset && other.offset < slot.offset + slot.bytes &&
                            slot.offset < other.offset + other.bytes;
      if (!overlaps) continue;
      if (other.offset != slot.offset || other.bytes != slot.bytes) return false;
      (other.is_store ? stored : loaded) = true;
      if (!other.is_store) continue;
      const Operand* value = code_.insts[other.instruction].Find(Slot::kB);
      if (value == nullptr || value->IsZeroReg()) return false;
    }
    return stored && loaded;
  }

  void Classify(int64_t lowest_escape, size_t first_access, bool is_callee, LocalAccess* access) const {
    access->use = LocalUse::kArray;
    if (!access->fixed_offset) return;
    const bool reachable = access->offset + access->bytes > lowest_escape;
    if (reachable && !IsMatchedSlot(first_access, *access)) return;
    access->use = LocalUse::kSpill;
    if (is_callee && SavesForCaller(access->instruction)) access->use = LocalUse::kCallSave;
  }

  // A callee-saved register that goes to the stack before the callee wrote it, or comes back from there
  // before the return.
  bool SavesForCaller(uint32_t index) const {
    const sass::Instruction& inst = code_.insts[index];
    const Operand* data = inst.Find(inst.op == Op::kStl ? Slot::kB : Slot::kD);
    if (data == nullptr || !data->IsReg()) return false;
    const bool callee_saved = data->index == 2 || (data->index >= 16 && data->index < 32);
    if (!callee_saved) return false;
    const Block& block = cfg_.blocks[cfg_.block_of[index]];
    const bool store = inst.op == Op::kStl;
    const uint32_t first = store ? cfg_.functions[block.function].first : index + 1;
    const uint32_t end = store ? index : block.end;
    for (uint32_t i = first; i < end; ++i) {
      const Effects effects = EffectsOf(code_.insts[i]);
      const RegSet& touched = store ? effects.writes : effects.reads;
      if (touched.Has(RegFile::kGeneral, data->index)) return false;
    }
    return true;
  }

  const Code& code_;
  Cfg cfg_;
  SpillReport* report_;
};

void Count(const LocalAccess& access, LocalLine* line) {
  if (access.use == LocalUse::kCallSave) return;
  const bool spill = access.use == LocalUse::kSpill;
  if (access.is_store) {
    ++(spill ? line->spill_stores : line->array_stores);
    (spill ? line->spill_store_bytes : line->array_store_bytes) += access.bytes;
  } else {
    ++(spill ? line->spill_loads : line->array_loads);
    (spill ? line->spill_load_bytes : line->array_load_bytes) += access.bytes;
  }
}

}  // namespace

std::string_view Name(LocalUse use) {
  switch (use) {
    case LocalUse::kSpill:
      return "spill";
    case LocalUse::kCallSave:
      return "call save";
    case LocalUse::kArray:
      return "array";
  }
  return "";
}

SpillReport FindSpills(const Code& code) {
  SpillReport report;
  report.frame_bytes = code.function->local_bytes;
  Finder(code, &report).Run();
  std::map<std::pair<uint32_t, uint32_t>, LocalLine> lines;
  for (const LocalAccess& access : report.accesses) {
    const cubin::SourceLine source = code.LineOf(access.instruction);
    LocalLine& line = lines[{source.file, source.line}];
    line.line = source;
    Count(access, &line);
    Count(access, &report.total);
  }
  for (const auto& [key, line] : lines) report.lines.push_back(line);
  return report;
}

}  // namespace sm89::analysis
