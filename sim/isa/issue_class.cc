#include "sim/isa/issue_class.h"

#include <algorithm>
#include <array>

#include "sim/isa/modifiers.h"
#include "sim/isa/tensor_modes.h"

namespace sm89 {
namespace {

template <size_t N>
bool IsOneOf(std::string_view mnemonic, const std::array<std::string_view, N>& list) {
  return std::find(list.begin(), list.end(), mnemonic) != list.end();
}

constexpr auto kUniformLoads = std::to_array<std::string_view>({"ULDC", "UMOV", "VOTEU"});

// Outside the memory, branch, barrier and special function units, these too end when they end: ptxas gives
// every one of them a counter for its result.
constexpr auto kDecoupledMisc = std::to_array<std::string_view>(
    {"B2R", "GETLMEMBASE", "MATCH", "MOVM", "R2B", "R2UR", "S2R", "S2UR", "SETCTAID", "SETLMEMBASE"});

constexpr auto kConverts = std::to_array<std::string_view>({"F2F", "F2I", "FRND", "I2F"});
constexpr auto kIntegerSfu = std::to_array<std::string_view>({"BREV", "FLO", "POPC"});
constexpr auto kSpecialRegisters = std::to_array<std::string_view>({"B2R", "S2R", "S2UR"});
constexpr auto kVotes = std::to_array<std::string_view>({"MATCH", "R2UR", "REDUX"});

// Second source in slot C: the two-operand adders, which are fused multiply-adds without a factor.
constexpr auto kSourcesAC = std::to_array<std::string_view>(
    {"DADD", "DSETP", "FADD", "FADD32I", "HADD2", "HADD2_32I", "HSET2", "HSETP2"});
// One source, in slot B.
constexpr auto kSourceB =
    std::to_array<std::string_view>({"BREV", "F2F", "F2I", "FLO", "FRND", "I2F", "I2FP", "I2I", "IABS", "MOV",
                                     "MUFU", "NANOSLEEP", "POPC", "WARPSYNC"});

constexpr auto kCarryAdders = std::to_array<std::string_view>({"IADD3", "LEA", "UIADD3", "ULEA"});
constexpr auto kWideMultiplies = std::to_array<std::string_view>({"IMAD", "UIMAD"});
constexpr auto kPredicateReaders =
    std::to_array<std::string_view>({"FSEL", "P2R", "PLOP3", "PSETP", "SEL", "UPLOP3", "USEL", "VOTE"});
// Write a predicate where the text shows no register that they write.
constexpr auto kMaybePredicate = std::to_array<std::string_view>({"LOP3", "ULOP3", "VOTE"});
constexpr auto kUniformWithoutSource = std::to_array<std::string_view>({"ULDC", "UMOV", "VOTEU"});
constexpr auto kToUniform = std::to_array<std::string_view>({"R2UR", "REDUX", "S2UR"});

bool FixedLatencyFp64(uint32_t binary_version) {
  return binary_version == 70 || binary_version == 80 || binary_version == 90;
}

DepClass TensorClass(const TensorOp& op, uint32_t binary_version) {
  if (op.a == TensorType::kF64) {
    return FixedLatencyFp64(binary_version) ? DepClass::kDmma : DepClass::kDecoupled;
  }
  return IsHalfSize(op) ? DepClass::kMmaShort : DepClass::kMmaLong;
}

DepClass MiscClass(const OpcodeRow& row, std::string_view opcode) {
  if (row.mnemonic == "QSPC") return DepClass::kAddress;
  if (IsOneOf(row.mnemonic, kDecoupledMisc) || row.control == ControlOp::kNanosleep) {
    return DepClass::kDecoupled;
  }
  const bool pair = row.rule == OperandRule::kSystemPair && !HasModifier(opcode, "32");
  return pair || row.mnemonic == "LEPC" ? DepClass::kPair : DepClass::kAlu;
}

}  // namespace

DepClass DepClassOf(const OpcodeRow& row, std::string_view opcode, const DecodedInst& inst,
                    uint32_t binary_version) {
  switch (row.unit) {
    case ExecUnit::kFp32:
      return DepClass::kFma;
    case ExecUnit::kInt:
      return DepClass::kAlu;
    case ExecUnit::kImad: {
      const bool wide = HasModifier(opcode, "WIDE") || HasModifier(opcode, "HI");
      return wide ? DepClass::kImadWide : DepClass::kFma;
    }
    case ExecUnit::kHalf:
      return HasModifier(opcode, "MMA") ? DepClass::kFp64 : DepClass::kHalf;
    case ExecUnit::kFp64:
      return FixedLatencyFp64(binary_version) ? DepClass::kFp64 : DepClass::kDecoupled;
    case ExecUnit::kSfu:
    case ExecUnit::kBranch:
      return DepClass::kDecoupled;
    case ExecUnit::kTensor:
      return TensorClass(inst.tensor, binary_version);
    case ExecUnit::kUniform:
      if (IsOneOf(row.mnemonic, kDecoupledMisc)) return DepClass::kDecoupled;
      return IsOneOf(row.mnemonic, kUniformLoads) ? DepClass::kUniformLoad : DepClass::kUniform;
    case ExecUnit::kMisc:
      return MiscClass(row, opcode);
    case ExecUnit::kMem:
    case ExecUnit::kTexture:
    case ExecUnit::kBarrier:
      return DepClass::kAddress;
  }
  return DepClass::kAlu;
}

TimingClass TimingClassOf(const OpcodeRow& row) {
  if (IsOneOf(row.mnemonic, kConverts)) return TimingClass::kConvert;
  if (IsOneOf(row.mnemonic, kIntegerSfu)) return TimingClass::kIntegerSfu;
  if (IsOneOf(row.mnemonic, kSpecialRegisters)) return TimingClass::kSpecialRegister;
  return IsOneOf(row.mnemonic, kVotes) ? TimingClass::kVote : TimingClass::kUnit;
}

IssueRule IssueRuleOf(const OpcodeRow& row) {
  if (row.mnemonic == "VOTE") return IssueRule::kVote;
  if (row.mnemonic == "BSYNC") return IssueRule::kReconverge;
  if (row.mnemonic == "NOP") return IssueRule::kNop;
  return row.mnemonic == "ERRBAR" ? IssueRule::kErrorBarrier : IssueRule::kNone;
}

std::string_view SlotOrder(const OpcodeRow& row) {
  static constexpr char kAc[] = {0, 2};
  static constexpr char kB[] = {1};
  static constexpr char kAbc[] = {0, 1, 2};
  if (IsOneOf(row.mnemonic, kSourcesAC)) return {kAc, sizeof kAc};
  if (IsOneOf(row.mnemonic, kSourceB)) return {kB, sizeof kB};
  return {kAbc, sizeof kAbc};
}

HiddenOperands HiddenOperandsOf(const OpcodeRow& row, std::string_view opcode, const DecodedInst& inst) {
  HiddenOperands hidden;
  const bool uniform = row.unit == ExecUnit::kUniform && row.mnemonic != "R2UR";
  const uint8_t test = uniform ? kHiddenUniformTest : kHiddenTest;
  const uint8_t carry = uniform ? kHiddenUniformCarry : kHiddenCarry;
  const bool extended = HasModifier(opcode, "X");
  const bool adds = IsOneOf(row.mnemonic, kCarryAdders) ||
                    (IsOneOf(row.mnemonic, kWideMultiplies) && HasModifier(opcode, "WIDE"));
  const bool tests =
      row.Has(kWritesPredicate) || (IsOneOf(row.mnemonic, kMaybePredicate) && inst.num_dests == 0);
  if (adds) hidden.writes |= carry;
  if (tests) hidden.writes |= test;
  if (extended) hidden.reads |= carry;
  if (IsOneOf(row.mnemonic, kPredicateReaders) || HasModifier(opcode, "EX")) hidden.reads |= test;
  if (row.mnemonic == "PLOP3") hidden.reads |= kHiddenUniformTest;
  if (row.mnemonic == "BRA" || (row.control == ControlOp::kBarrier && HasModifier(opcode, "RED"))) {
    hidden.reads |= test;
  }
  if (uniform || IsOneOf(row.mnemonic, kToUniform)) hidden.writes |= kHiddenUniform;
  if (uniform && !IsOneOf(row.mnemonic, kUniformWithoutSource)) hidden.reads |= kHiddenUniform;
  return hidden;
}

}  // namespace sm89
