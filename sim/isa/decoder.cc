#include <cstdint>
#include <set>
#include <string_view>

#include "sim/isa/decoded_inst.h"
#include "sim/isa/encoded_operands.h"
#include "sim/isa/issue_class.h"
#include "sim/isa/modifiers.h"
#include "sim/isa/opcode_table.h"
#include "sim/isa/operands.h"
#include "sim/isa/tensor_modes.h"

namespace sm89 {
namespace {

// Control field of the 128-bit word, bits 105..125 (core-model notes 1.1; checked against ptxas output).
ControlBits ReadControlBits(const std::array<uint8_t, 16>& encoding) {
  uint64_t high = 0;
  for (int i = 15; i >= 8; --i) high = high << 8 | encoding[i];
  const uint64_t field = high >> 41;
  ControlBits bits;
  bits.stall_cycles = field & 0xf;
  bits.yield = (field >> 4 & 1) == 0;  // stored inverted: 1 keeps the warp
  bits.write_counter = field >> 5 & 7;
  bits.read_counter = field >> 8 & 7;
  bits.wait_mask = field >> 11 & 0x3f;
  bits.reuse_mask = field >> 17 & 7;
  return bits;
}

// CS2R, S2R or S2UR of SR_CLOCKLO, SR_CLOCKHI or SR_GLOBALTIMERLO/HI: opcode in bits 0..11, special register
// in bits 72..79 (checked against ptxas output). The text of a trace does not name special registers.
bool ReadsClock(const std::array<uint8_t, 16>& encoding) {
  const uint32_t opcode = encoding[0] | (encoding[1] & 0xfu) << 8;
  if (opcode != 0x805 && opcode != 0x919 && opcode != 0x9c3) return false;
  return encoding[9] >= 0x50 && encoding[9] <= 0x53;
}

bool BypassesL1(const DecodedInst& inst, std::string_view opcode) {
  const bool device_memory =
      inst.space == MemSpace::kGlobal || inst.space == MemSpace::kGeneric || inst.space == MemSpace::kTexture;
  if (!device_memory) return false;
  if (inst.mem_op == MemOp::kAtomic || inst.mem_op == MemOp::kReduction) return true;
  // What volatile loads (.STRONG.SYS) do differs between chips: a setting (BuildKernelCode).
  return inst.scope == Scope::kGpu || HasModifier(opcode, "BYPASS") || HasModifier(opcode, "MMIO");
}

// The tracer keeps the last immediate of the text. For "BAR.SYNC id, count" that is the thread count, a
// positive multiple of 32 that no barrier number (0..15) reaches: the number is then unknown.
int64_t BarrierNumber(const StaticInst& raw) {
  if (!raw.has_immediate) return DecodedInst::kUnknownBarrier;
  return raw.immediate >= 0 && raw.immediate <= 15 ? raw.immediate : DecodedInst::kUnknownBarrier;
}

// "BAR.SYNC id, count" as the text leaves it: the count, or 0.
uint32_t BarrierThreads(const StaticInst& raw) {
  const bool count = raw.has_immediate && raw.immediate > 15 && raw.immediate % kWarpSize == 0;
  return count ? static_cast<uint32_t>(raw.immediate) : 0;
}

// False when the opcode is not one that SM89 has or can stand for.
bool DecodeOne(const StaticInst& raw, uint32_t binary_version, DecodedInst* inst) {
  const std::string_view base = BaseMnemonic(raw.opcode);
  const std::string_view counterpart = CounterpartOnSm89(base, binary_version);
  const OpcodeRow* row = FindOpcode(counterpart);
  if (row == nullptr) return false;
  if (row->unit == ExecUnit::kTensor) {
    const bool known = ParseTensorOp(raw.opcode, &inst->tensor) && FindTensorMode(inst->tensor) != nullptr;
    if (!known) return false;
  }
  inst->unit = row->unit;
  inst->space = row->space;
  inst->mem_op = row->mem_op;
  inst->control = row->control;
  inst->scope = ScopeOf(*row, raw.opcode);
  inst->width_bytes = AccessWidthBytes(*row, raw.opcode);
  inst->matrices = row->mem_op == MemOp::kLoadMatrix ? MatrixCount(raw.opcode) : 0;
  inst->bypass_l1 = BypassesL1(*inst, raw.opcode);
  inst->writes_predicate = row->Has(kWritesPredicate);
  inst->guessed = counterpart != base;
  const bool barrier = row->control == ControlOp::kBarrier;
  inst->immediate = barrier ? BarrierNumber(raw) : raw.immediate;
  inst->barrier_threads = barrier ? BarrierThreads(raw) : 0;
  inst->arrives_only = barrier && HasModifier(raw.opcode, "ARV");
  inst->dep = DepClassOf(*row, raw.opcode, *inst, binary_version);
  inst->timing = TimingClassOf(*row);
  inst->rule = IssueRuleOf(*row);
  DecodeOperands(*row, raw, inst);
  if (raw.has_encoding && DecodeEncodedOperands(raw, binary_version, inst)) return true;
  const HiddenOperands hidden = HiddenOperandsOf(*row, raw.opcode, *inst);
  inst->hidden_reads = hidden.reads;
  inst->hidden_writes = hidden.writes;
  return true;
}

}  // namespace

DecodedKernel DecodeKernel(std::span<const StaticInst> table, const DecodeOptions& options) {
  DecodedKernel kernel;
  kernel.insts.reserve(table.size());
  std::set<std::string_view> unknown;
  bool all_have_bits = !table.empty();
  for (size_t id = 0; id < table.size(); ++id) {
    const StaticInst& raw = table[id];
    DecodedInst inst;
    if (!DecodeOne(raw, options.binary_version, &inst)) {
      inst = DecodedInst{};  // a NOP that reads and writes nothing
      inst.guessed = true;
      if (unknown.insert(raw.opcode).second) {
        kernel.unknown.push_back({raw.opcode, static_cast<uint32_t>(id)});
      }
    }
    inst.pc = raw.pc;
    if (raw.has_encoding) inst.reads_clock = ReadsClock(raw.encoding);
    inst.has_control_bits = raw.has_encoding && !options.ignore_control_bits;
    if (inst.has_control_bits) inst.bits = ReadControlBits(raw.encoding);
    all_have_bits &= inst.has_control_bits;
    kernel.insts.push_back(inst);
  }
  if (all_have_bits) kernel.control_source = ControlSource::kMachineCode;
  return kernel;
}

}  // namespace sm89
