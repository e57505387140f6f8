// Which rows of the dependence and timing tables an instruction belongs to.
#pragma once

#include <cstdint>
#include <string_view>

#include "sim/isa/decoded_inst.h"
#include "sim/isa/opcode_table.h"

namespace sm89 {

// Row and column of the dependence table. `inst` needs its unit, tensor operation and destinations;
// `binary_version` tells whether FP64 has a fixed latency (sm_80, sm_90) or is shared by the SM and signals
// its end through a counter (sm_86, sm_89), as the counters in ptxas output show.
DepClass DepClassOf(const OpcodeRow& row, std::string_view opcode, const DecodedInst& inst,
                    uint32_t binary_version);

// Row of the timing table finer than the unit.
TimingClass TimingClassOf(const OpcodeRow& row);

IssueRule IssueRuleOf(const OpcodeRow& row);

// True for instructions whose result time is unknown when they issue: consumers wait for a dependence
// counter.
constexpr bool HasVariableLatency(DepClass dep) {
  return dep == DepClass::kDecoupled || dep == DepClass::kAddress;
}

// Where the text's general-register sources sit in the encoding: slot numbers (A = 0, B = 1, C = 2) in
// reading order. FADD R1, R2, R3 reads through A and C; MUFU R1, R2 through B.
std::string_view SlotOrder(const OpcodeRow& row);

// HiddenOperand bits of an instruction known from text alone. A trace shows no predicate: comparisons are
// taken to be what the next selection, vote or branch of their block reads, adders to give the next ".X" its
// carry, and the uniform datapath to be one chain.
struct HiddenOperands {
  uint8_t reads = 0;
  uint8_t writes = 0;
};
HiddenOperands HiddenOperandsOf(const OpcodeRow& row, std::string_view opcode, const DecodedInst& inst);

}  // namespace sm89
