// What the timing model needs to know of a static instruction, computed once a kernel.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "sim/trace/trace_types.h"

namespace sm89 {

// Execution resource that an instruction occupies. One latency/interval row each in the configuration
// (sim/config: ExecConfig), refined by `latency_class` where one unit has several.
enum class ExecUnit : uint8_t {
  kFp32,     // FADD FMUL FFMA ...: either FP32 half-pipe
  kInt,      // IADD3 LOP3 ISETP ...: the shared INT/FP32 half-pipe
  kImad,     // IMAD family: the FP32-only half's multiplier (FMA-heavy)
  kHalf,     // HADD2 HMUL2 HFMA2 ...
  kFp64,     // DADD DMUL DFMA ...: shared by the SM
  kSfu,      // MUFU and conversions with variable latency (F2F, F2I, I2F of 64-bit ...), POPC, FLO ...
  kTensor,   // HMMA IMMA BMMA DMMA QMMA
  kUniform,  // uniform datapath
  kBranch,   // BRA BSSY BSYNC EXIT CALL RET ...
  kMisc,     // S2R CS2R NOP VOTE B2R P2R PLOP3 ...
  kMem,      // LSU: global, local, shared, generic, constant by LDC, atomics, SHFL
  kTexture,  // TEX family, surfaces
  kBarrier,  // BAR, MEMBAR, DEPBAR, ERRBAR ...
};
inline constexpr int kNumExecUnits = 13;
std::string_view Name(ExecUnit unit);  // "fp32", "int", ...

enum class MemSpace : uint8_t { kNone, kGlobal, kShared, kLocal, kGeneric, kConstant, kTexture };
std::string_view Name(MemSpace space);

enum class MemOp : uint8_t {
  kNone,
  kLoad,
  kStore,
  kAtomic,        // returns a value
  kReduction,     // RED: no value
  kLoadToShared,  // LDGSTS: global read, shared write
  kLoadMatrix,    // LDSM
  kShuffle,       // SHFL: goes through the LSU, no memory
  kCacheControl,  // CCTL ...
};
std::string_view Name(MemOp op);

enum class ControlOp : uint8_t {
  kNone,
  kExit,
  kBranch,
  kCall,
  kReturn,
  kBarrier /*BAR*/,
  kConvergence /*BSSY BSYNC BREAK WARPSYNC*/,
  kMembar,
  kDepbar,
  kLdgDepbar,
  kNanosleep,
  kYield,
};

enum class Scope : uint8_t { kNone, kCta, kGpu, kSys };

enum class TensorType : uint8_t {
  kNone,
  kF16,
  kBf16,
  kTf32,
  kE4m3,
  kE5m2,
  kS8,
  kU8,
  kS4,
  kU4,
  kB1,
  kF64,
};

struct TensorOp {
  uint16_t m = 0, n = 0, k = 0;  // shape; k is the logical (dense-equivalent) depth
  TensorType a = TensorType::kNone, b = TensorType::kNone;
  bool fp32_accumulate = false;
  bool sparse = false;
};

// Control bits of the machine code (core-model.md 1.1). Present only when the trace has encodings.
struct ControlBits {
  uint8_t stall_cycles = 0;
  bool yield = false;
  uint8_t write_counter = 7;  // 7 = none
  uint8_t read_counter = 7;   // 7 = none
  uint8_t wait_mask = 0;
  uint8_t reuse_mask = 0;
};

// A run of registers read or written together: R4..R7 is {kGeneral, 4, 4}.
struct RegRange {
  RegFile file = RegFile::kGeneral;
  uint8_t first = 0;
  uint8_t count = 0;
};

// Row and column of the dependence table (core-model notes 1.4): which pair of instructions needs how many
// cycles when both have fixed latencies.
enum class DepClass : uint8_t {
  kAlu,       // integer, logic, compare, select, move
  kFma,       // FADD FMUL FFMA, IMAD
  kImadWide,  // IMAD.WIDE, IMAD.HI
  kHalf,      // HADD2 HMUL2 HFMA2
  kPair,      // CS2R.64, LEPC
  kFp64,      // DADD DMUL DFMA where it has a fixed latency, HFMA2.MMA
  kMmaShort,  // m16n8k8 of 16-bit types and the like
  kMmaLong,   // m16n8k16 and the like
  kDmma,
  kUniform,      // uniform datapath
  kUniformLoad,  // ULDC UMOV VOTEU: results a uniform reader sees after 2
  kDecoupled,    // variable latency: MUFU, conversions, S2R, branch unit
  kAddress,      // variable latency with an address unit: loads, stores, atomics, SHFL, BAR
};
inline constexpr int kNumDepClasses = 13;

// Rows of the timing table that are finer than ExecUnit.
enum class TimingClass : uint8_t {
  kUnit,             // the row of its ExecUnit
  kConvert,          // F2F F2I I2F FRND ... on the special function unit
  kIntegerSfu,       // POPC FLO BREV
  kSpecialRegister,  // S2R, B2R
  kVote,             // MATCH REDUX R2UR; VOTE has the ALU's timing
};

// Predicates and uniform registers that a trace's text does not list, as bits of hidden_reads and
// hidden_writes: results of comparisons, carries, the same of the uniform datapath, its registers.
enum HiddenOperand : uint8_t {
  kHiddenTest = 1,
  kHiddenCarry = 2,
  kHiddenUniformTest = 4,
  kHiddenUniformCarry = 8,
  kHiddenUniform = 16,
};

// Rules of issue that no other field tells.
enum class IssueRule : uint8_t {
  kNone,
  kVote,          // VOTE: reads its predicate as late as a guard is read
  kReconverge,    // BSYNC
  kErrorBarrier,  // ERRBAR
  kNop,
};

// Operands of a decoded instruction, which machine code names in full: predicates, the guard and uniform
// registers included. Traces name fewer (kMaxDests, kMaxSources).
inline constexpr int kMaxWrites = 4;
inline constexpr int kMaxReads = 10;

// Where an instruction's control bits come from.
enum class ControlSource : uint8_t {
  kMachineCode,  // of the instruction's own encoding
  kSynthesised,  // computed from the dependence table
};

struct DecodedInst {
  uint32_t pc = 0;
  ExecUnit unit = ExecUnit::kMisc;
  MemSpace space = MemSpace::kNone;
  MemOp mem_op = MemOp::kNone;
  ControlOp control = ControlOp::kNone;
  Scope scope = Scope::kNone;     // .STRONG.GPU, MEMBAR.SC.SYS ...
  uint8_t width_bytes = 0;        // a lane, from the opcode (never from the trace's mem_width)
  uint8_t matrices = 0;           // LDSM: 1, 2, 4
  bool bypass_l1 = false;         // .BYPASS, .STRONG.GPU/.SYS, atomics
  bool writes_predicate = false;  // ISETP and the like: the trace may not list the destination
  bool guessed = false;           // mapped from a foreign opcode or treated as NOP on request
  bool has_control_bits = false;
  bool arrives_only = false;  // BAR.ARV: counts at the barrier without waiting
  bool reads_clock = false;   // a clock or timer register; known from machine code only
  uint8_t num_dests = 0;
  uint8_t num_sources = 0;
  // Widened from the opcode (64/128-bit, tensor); exact from machine code, with data registers before
  // predicates and the guard last.
  std::array<RegRange, kMaxWrites> dests{};
  std::array<RegRange, kMaxReads> sources{};
  IssueRule rule = IssueRule::kNone;
  uint8_t hidden_reads = 0;  // HiddenOperand bits; 0 where machine code names every operand
  uint8_t hidden_writes = 0;
  // DEPBAR: group count. BAR: barrier number 0..15, kUnknownBarrier when the trace does not tell it.
  static constexpr int64_t kUnknownBarrier = -1;
  int64_t immediate = 0;
  TensorOp tensor;

  // Issue model. `bits` are always usable: real ones, else those of SynthesiseControlBits.
  DepClass dep = DepClass::kAlu;
  TimingClass timing = TimingClass::kUnit;
  ControlBits bits;
  // General registers read through the operand slots A, B and C of the register file; count 0 = the slot
  // holds no general register. Stores: A = address, B = data. LDGSTS: A = shared, B = global address.
  std::array<RegRange, 3> slots{};
  // A constant operand c[bank][offset] of a fixed-latency instruction, or the address of LDC with an
  // immediate offset; known from machine code only.
  static constexpr uint8_t kNoConstant = 0xff;
  uint8_t constant_bank = kNoConstant;
  uint32_t constant_offset = 0;  // bytes
  bool uniform_address = false;  // memory: no general register takes part in the address (UR or immediate)
  bool guarded = false;          // has a guard predicate other than PT (unknown in text traces: false)
  // DEPBAR.LE SBx, immediate, {mask}: kNoCounter when the trace does not name the counter.
  static constexpr uint8_t kNoCounter = 7;
  uint8_t depbar_counter = kNoCounter;
  uint8_t depbar_mask = 0;       // further counters that must be 0
  uint32_t barrier_threads = 0;  // BAR with a count: threads that take part; 0 = the whole CTA or unknown
};

struct DecodeOptions {
  // Binary version of the kernel (89; foreign ones are decoded through their SM89 counterpart).
  uint32_t binary_version = 89;
  bool unknown_as_nop = false;
  // Operands are taken from machine code where there is some, its control bits are not: control_source is
  // then kSynthesised.
  bool ignore_control_bits = false;
};

// An opcode that the decoder does not know.
struct UnknownOpcode {
  std::string opcode;      // full text
  uint32_t static_id = 0;  // first static instruction that has it
};

struct DecodedKernel {
  std::vector<DecodedInst> insts;  // parallel to the static table
  // kMachineCode when every instruction has an encoding. Otherwise `bits` are defaults until
  // SynthesiseControlBits has run.
  ControlSource control_source = ControlSource::kSynthesised;
  std::vector<UnknownOpcode> unknown;  // each text once; treated as NOP only when asked for
};

// Decodes a whole static table. Never fails: unknown opcodes are listed, the caller decides.
DecodedKernel DecodeKernel(std::span<const StaticInst> table, const DecodeOptions& options);

// True when binary version `version` can be mapped onto SM89 (70, 75, 80, 86, 90 and 89 itself).
bool IsMappableVersion(uint32_t version);

// SM89 counterpart of a base mnemonic of another architecture; equal text when it needs no mapping,
// empty when SM89 has no counterpart (wgmma, TMA ...).
std::string_view CounterpartOnSm89(std::string_view base_mnemonic, uint32_t binary_version);

}  // namespace sm89
