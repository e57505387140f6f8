#include "sim/isa/operands.h"

#include <algorithm>
#include <string_view>

#include "sim/isa/issue_class.h"
#include "sim/isa/modifiers.h"

namespace sm89 {
namespace {

// Operands in reading order, first registers and run lengths.
struct OperandLists {
  std::array<RegRange, kMaxDests> dests{};
  std::array<RegRange, kMaxSources> sources{};
  int num_dests = 0;
  int num_sources = 0;
};

uint8_t ZeroIndex(RegFile file) {
  switch (file) {
    case RegFile::kGeneral:
      return 255;
    case RegFile::kUniform:
      return 63;
    case RegFile::kPredicate:
    case RegFile::kUniformPredicate:
      return 7;
  }
  return 255;
}

bool IsData(RegFile file) { return file == RegFile::kGeneral || file == RegFile::kUniform; }

void Widen(RegRange* range, uint8_t count) {
  if (IsData(range->file)) range->count = count;
}

// Pairs start at an even register; an odd one is a 32-bit value (an offset to a uniform base, say).
void WidenIfEven(RegRange* range, uint8_t count) {
  if (range->first % 2 == 0) Widen(range, count);
}

uint8_t RegsOfBytes(uint32_t bytes) { return static_cast<uint8_t>(bytes < 4 ? 1 : bytes / 4); }

// Puts each register where it belongs: tracers list operand 0 as the destination when it is a register and
// every other register as a source.
OperandLists Sort(const OpcodeRow& row, const StaticInst& raw) {
  OperandLists lists;
  const bool first_is_source = row.Has(kFirstIsSource);
  bool has_data_dest = false;
  for (int i = 0; i < raw.num_dests && i < kMaxDests; ++i) {
    const RegRange range{raw.dests[i].file, raw.dests[i].index, 1};
    if (row.Has(kDiscardsResult)) continue;
    if (first_is_source) {
      lists.sources[lists.num_sources++] = range;
    } else {
      has_data_dest |= IsData(range.file);
      lists.dests[lists.num_dests++] = range;
    }
  }
  // A load keeps at least its address; anything else may have the hidden destination alone.
  const int needed = row.mem_op == MemOp::kLoad ? 2 : 1;
  bool hidden = row.Has(kHiddenDest) && !has_data_dest && raw.num_sources >= needed;
  for (int i = 0; i < raw.num_sources && i < kMaxSources; ++i) {
    const RegRange range{raw.sources[i].file, raw.sources[i].index, 1};
    if (hidden && IsData(range.file) && lists.num_dests < kMaxDests) {
      lists.dests[lists.num_dests++] = range;
      hidden = false;
    } else if (lists.num_sources < kMaxSources) {
      lists.sources[lists.num_sources++] = range;
    }
  }
  return lists;
}

// The run of the address: a pair for 64-bit (".E") addresses.
void WidenAddress(std::string_view opcode, RegRange* address) {
  if (HasModifier(opcode, "E")) WidenIfEven(address, 2);
}

void WidenMemory(const OpcodeRow& row, std::string_view opcode, uint8_t width, OperandLists* ops) {
  const uint8_t regs = RegsOfBytes(width);
  for (int i = 0; i < ops->num_dests; ++i) Widen(&ops->dests[i], regs);
  if (ops->num_sources == 0) return;
  const bool store = row.rule == OperandRule::kStore || row.rule == OperandRule::kSurfaceStore;
  const bool has_address = !store || ops->num_sources > 1;
  if (has_address) WidenAddress(opcode, &ops->sources[0]);
  for (int i = has_address ? 1 : 0; i < ops->num_sources; ++i) {
    if (store || row.rule == OperandRule::kAtomic) Widen(&ops->sources[i], regs);
  }
}

void WidenTensor(const DecodedInst& inst, std::string_view opcode, OperandLists* ops) {
  const FragmentRegs regs = FragmentsOf(inst.tensor, opcode.find(".STEP") != std::string_view::npos);
  for (int i = 0; i < ops->num_dests; ++i) Widen(&ops->dests[i], regs.c);
  const uint8_t counts[] = {regs.a, regs.b,
                            regs.c};  // a fourth source is the sparsity metadata: one register
  for (int i = 0; i < std::min(ops->num_sources, 3); ++i) Widen(&ops->sources[i], counts[i]);
}

// The addend of .WIDE and .HI is a pair. It is the third register; with two registers it is the second one
// only when the recorded immediate shows that the factor was a constant of the text (otherwise the addend
// itself is usually a constant bank entry, which traces do not show).
void WidenIntWide(const StaticInst& raw, OperandLists* ops) {
  const bool wide = HasModifier(raw.opcode, "WIDE");
  if (!wide && !HasModifier(raw.opcode, "HI")) return;
  if (wide && ops->num_dests > 0) Widen(&ops->dests[0], 2);
  int data_sources = 0;
  int last = -1;
  for (int i = 0; i < ops->num_sources; ++i) {
    if (!IsData(ops->sources[i].file)) continue;
    ++data_sources;
    last = i;
  }
  const bool immediate_factor = data_sources == 2 && raw.has_immediate && raw.immediate != 0;
  if (data_sources == 3 || immediate_factor) WidenIfEven(&ops->sources[last], 2);
}

// F2F.<to>.<from>, F2I.<to>[.<from>], I2F.<to>[.<from>], FRND.<type>.
void WidenConvert(std::string_view opcode, OperandLists* ops) {
  const std::string_view base = BaseMnemonic(opcode);
  bool to64 = false;
  bool from64 = false;
  if (base == "F2F") {
    ModifierReader reader(opcode);
    int types = 0;
    for (std::string_view m; reader.Next(&m);) {
      const bool is_type = m == "F64" || m == "F32" || m == "F16" || m == "BF16";
      if (!is_type) continue;
      (types++ == 0 ? to64 : from64) = m == "F64";
    }
  } else {
    const bool f64 = HasModifier(opcode, "F64");
    const bool i64 = HasModifier(opcode, "S64") || HasModifier(opcode, "U64");
    to64 = base == "F2I" ? i64 : f64;
    from64 = base == "I2F" ? i64 : f64;
  }
  if (to64) {
    for (int i = 0; i < ops->num_dests; ++i) Widen(&ops->dests[i], 2);
  }
  if (from64) {
    for (int i = 0; i < ops->num_sources; ++i) Widen(&ops->sources[i], 2);
  }
}

void WidenPairs(OperandLists* ops, bool dests, bool sources) {
  for (int i = 0; dests && i < ops->num_dests; ++i) WidenIfEven(&ops->dests[i], 2);
  for (int i = 0; sources && i < ops->num_sources; ++i) WidenIfEven(&ops->sources[i], 2);
}

void ApplyRule(const OpcodeRow& row, const StaticInst& raw, const DecodedInst& inst, OperandLists* ops) {
  switch (row.rule) {
    case OperandRule::kSingle:
      break;
    case OperandRule::kLoad:
    case OperandRule::kStore:
    case OperandRule::kAtomic:
    case OperandRule::kSurfaceLoad:
    case OperandRule::kSurfaceStore:
      WidenMemory(row, raw.opcode, inst.width_bytes, ops);
      break;
    case OperandRule::kLoadMatrix:
      for (int i = 0; i < ops->num_dests; ++i) Widen(&ops->dests[i], inst.matrices);
      break;
    case OperandRule::kAsyncCopy:
      if (ops->num_sources > 0) WidenAddress(raw.opcode, &ops->sources[ops->num_sources - 1]);
      break;
    case OperandRule::kConstant: {
      const uint8_t regs = HasModifier(raw.opcode, "128") ? 4 : HasModifier(raw.opcode, "64") ? 2 : 1;
      for (int i = 0; i < ops->num_dests; ++i) Widen(&ops->dests[i], regs);
      break;
    }
    case OperandRule::kAddress:
      if (ops->num_sources > 0) WidenAddress(raw.opcode, &ops->sources[0]);
      break;
    case OperandRule::kTexture:
      WidenPairs(ops, true, true);
      break;
    case OperandRule::kTensor:
      WidenTensor(inst, raw.opcode, ops);
      break;
    case OperandRule::kDouble:
      WidenPairs(ops, true, true);
      break;
    case OperandRule::kIntWide:
      WidenIntWide(raw, ops);
      break;
    case OperandRule::kConvert:
      WidenConvert(raw.opcode, ops);
      break;
    case OperandRule::kSystemPair:
      WidenPairs(ops, !HasModifier(raw.opcode, "32"), false);
      break;
    case OperandRule::kMatch:
      WidenPairs(ops, false, HasModifier(raw.opcode, "U64"));
      break;
    case OperandRule::kJump:
      WidenPairs(ops, false, true);
      break;
  }
}

// A run never reaches the zero register: R253 as a 128-bit operand is R253 and R254.
bool Keep(RegRange* range) {
  const uint8_t zero = ZeroIndex(range->file);
  if (range->first >= zero) return false;
  range->count = static_cast<uint8_t>(std::min<int>(range->count, zero - range->first));
  return true;
}

bool IsGeneral(const RegRange& range) { return range.file == RegFile::kGeneral; }

// A lone source of a store is its data, not its address.
bool DataAlone(const OperandLists& ops, const OpcodeRow& row) {
  const bool store = row.rule == OperandRule::kStore || row.rule == OperandRule::kSurfaceStore;
  return store && ops.num_sources == 1;
}

// RZ holds its slot without reading the register file.
void AssignSlots(const OpcodeRow& row, const OperandLists& ops, DecodedInst* inst) {
  const std::string_view order = DataAlone(ops, row) ? SlotOrder(row).substr(1) : SlotOrder(row);
  size_t at = 0;
  for (int i = 0; i < ops.num_sources && at < order.size(); ++i) {
    RegRange range = ops.sources[i];
    if (!IsGeneral(range)) continue;
    const auto slot = static_cast<size_t>(order[at++]);
    if (Keep(&range)) inst->slots[slot] = range;
  }
}

// Tracers list no uniform register: an access without a general one has its address elsewhere.
bool HasUniformAddress(const OpcodeRow& row, const OperandLists& ops) {
  if (row.mem_op == MemOp::kNone || row.mem_op == MemOp::kShuffle) return false;
  if (DataAlone(ops, row) || ops.num_sources == 0) return true;
  const int addresses = row.rule == OperandRule::kAsyncCopy ? ops.num_sources : 1;
  for (int i = 0; i < addresses; ++i) {
    RegRange range = ops.sources[i];
    if (IsGeneral(range) && Keep(&range)) return false;
  }
  return true;
}

}  // namespace

void DecodeOperands(const OpcodeRow& row, const StaticInst& raw, DecodedInst* inst) {
  OperandLists ops = Sort(row, raw);
  ApplyRule(row, raw, *inst, &ops);
  AssignSlots(row, ops, inst);
  inst->uniform_address = HasUniformAddress(row, ops);
  inst->num_dests = 0;
  inst->num_sources = 0;
  for (int i = 0; i < ops.num_dests; ++i) {
    if (Keep(&ops.dests[i])) inst->dests[inst->num_dests++] = ops.dests[i];
  }
  for (int i = 0; i < ops.num_sources; ++i) {
    if (Keep(&ops.sources[i])) inst->sources[inst->num_sources++] = ops.sources[i];
  }
}

}  // namespace sm89
