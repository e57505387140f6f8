#include "sim/isa/dependence.h"

#include <algorithm>
#include <array>

#include "sim/isa/issue_class.h"

namespace sm89 {
namespace {

// Columns of the table: who reads.
enum Reader : uint8_t { kByAlu, kByFma, kByHalf, kByFp64, kByMma, kByAccumulator, kByDecoupled, kByAddress };
constexpr int kNumReaders = 8;
using Row = std::array<uint8_t, kNumReaders>;

//                         alu fma half fp64 mma acc decoupled address
constexpr Row kAluRow{4, 5, 5, 6, 7, 7, 4, 5};
constexpr Row kFmaRow{5, 4, 5, 6, 7, 7, 4, 5};  // IMAD.WIDE too, but for the next IMAD.WIDE
constexpr Row kHalfRow{5, 5, 4, 6, 7, 7, 4, 5};
constexpr Row kPairRow{6, 6, 6, 6, 7, 7, 4, 5};
constexpr Row kFp64Row{10, 10, 10, 8, 11, 11, 6, 7};        // of a sub-core, as in sm_90 code
constexpr Row kSharedFp64Row{10, 10, 10, 6, 11, 11, 6, 7};  // of the SM, besides its counter
constexpr Row kMma8x8Row{13, 13, 13, 13, 14, 13, 11, 12};
constexpr Row kMmaShortRow{16, 16, 16, 16, 17, 16, 14, 15};
constexpr Row kMmaLongRow{24, 24, 24, 24, 25, 24, 22, 23};
constexpr Row kDmmaRow{25, 25, 25, 25, 26, 25, 23, 24};
static_assert(kDmmaRow[kByMma] + 1 == kMaxDependenceCycles);

constexpr int kWideToWideCycles = 6;
constexpr int kGuardCycles = 13;
constexpr int kFp64GuardCycles = 14;
constexpr int kUniformGuardCycles = 11;
constexpr int kCounterVisibleCycles = 1;

const Row& RowOf(const DecodedInst& writer) {
  switch (writer.dep) {
    case DepClass::kFma:
    case DepClass::kImadWide:
      return kFmaRow;
    case DepClass::kHalf:
      return kHalfRow;
    case DepClass::kPair:
      return kPairRow;
    case DepClass::kFp64:
      return kFp64Row;
    case DepClass::kDecoupled:
      return kSharedFp64Row;
    case DepClass::kMmaShort:
      return writer.tensor.m == 8 ? kMma8x8Row : kMmaShortRow;
    case DepClass::kMmaLong:
      return kMmaLongRow;
    case DepClass::kDmma:
      return kDmmaRow;
    default:
      return kAluRow;
  }
}

bool IsUniform(DepClass dep) { return dep == DepClass::kUniform || dep == DepClass::kUniformLoad; }

Reader ReaderOf(const DecodedInst& reader, ReadKind kind) {
  switch (reader.dep) {
    case DepClass::kFma:
    case DepClass::kImadWide:
      return kByFma;
    case DepClass::kHalf:
      return kByHalf;
    case DepClass::kFp64:
      return kByFp64;
    case DepClass::kMmaShort:
    case DepClass::kMmaLong:
    case DepClass::kDmma:
      return kind == ReadKind::kAccumulator ? kByAccumulator : kByMma;
    case DepClass::kDecoupled:
      // The FP64 unit of the SM and DMMA take their operands as FP64 of a fixed latency does.
      return reader.unit == ExecUnit::kFp64 || reader.unit == ExecUnit::kTensor ? kByFp64 : kByDecoupled;
    case DepClass::kAddress:
      return reader.space == MemSpace::kConstant ? kByDecoupled : kByAddress;
    default:
      return kByAlu;
  }
}

int UniformCycles(const DecodedInst& writer, const DecodedInst& reader) {
  if (writer.dep == DepClass::kUniformLoad) return reader.unit == ExecUnit::kBranch ? 3 : 2;
  switch (reader.dep) {
    case DepClass::kUniform:
      return 4;
    case DepClass::kUniformLoad:
      return reader.space == MemSpace::kConstant ? 12 : 7;
    case DepClass::kDecoupled:
      return reader.unit == ExecUnit::kBranch ? 10 : 9;
    case DepClass::kAddress:
      return 9;
    default:
      return 6;
  }
}

// A vote reads predicates as a guard does.
bool ReadsLate(const DecodedInst& reader, ReadKind kind) {
  return kind == ReadKind::kGuard || HasVariableLatency(reader.dep) || reader.rule == IssueRule::kVote;
}

int PredicateCycles(const DecodedInst& writer, const DecodedInst& reader, ReadKind kind) {
  if (ReadsLate(reader, kind)) return writer.unit == ExecUnit::kFp64 ? kFp64GuardCycles : kGuardCycles;
  return RowOf(writer)[ReaderOf(reader, kind)];
}

int UniformPredicateCycles(const DecodedInst& reader, ReadKind kind) {
  if (ReadsLate(reader, kind)) return kUniformGuardCycles;
  return IsUniform(reader.dep) ? 4 : 6;
}

}  // namespace

int DependenceCycles(const DecodedInst& writer, const DecodedInst& reader, RegFile file, ReadKind kind) {
  // ptxas keeps FP64 results of the shared unit apart by the fixed distance besides counting them.
  if (HasVariableLatency(writer.dep) && writer.unit != ExecUnit::kFp64) return kCounterVisibleCycles;
  switch (file) {
    case RegFile::kGeneral:
      if (writer.dep == DepClass::kImadWide && reader.dep == DepClass::kImadWide) return kWideToWideCycles;
      return RowOf(writer)[ReaderOf(reader, kind)];
    case RegFile::kUniform:
      return UniformCycles(writer, reader);
    case RegFile::kPredicate:
      return PredicateCycles(writer, reader, kind);
    case RegFile::kUniformPredicate:
      return UniformPredicateCycles(reader, kind);
  }
  return 1;
}

int OverwriteCycles(const DecodedInst& first, const DecodedInst& second, RegFile file) {
  if (HasVariableLatency(first.dep) || HasVariableLatency(second.dep)) return 1;
  if (file == RegFile::kUniform || file == RegFile::kUniformPredicate) {
    return first.dep == DepClass::kUniformLoad ? 1 : 2;
  }
  // The later one's result must not be the earlier.
  const int later = RowOf(first)[kByAlu] - RowOf(second)[kByAlu] + 1;
  return std::max(later, 1);
}

IssuePipe IssuePipeOf(const DecodedInst& inst) {
  switch (inst.unit) {
    case ExecUnit::kInt:
      return IssuePipe::kInt;
    case ExecUnit::kImad:
      return IssuePipe::kImad;
    case ExecUnit::kHalf:
      return IssuePipe::kHalf;
    case ExecUnit::kFp64:
      return IssuePipe::kFp64;
    case ExecUnit::kSfu:
      return IssuePipe::kSfu;
    case ExecUnit::kTensor:
      return IssuePipe::kTensor;
    case ExecUnit::kUniform:
      return HasVariableLatency(inst.dep) ? IssuePipe::kNone : IssuePipe::kUniform;
    case ExecUnit::kMem:
      return IssuePipe::kMio;
    case ExecUnit::kBarrier: {
      const bool queued = inst.control == ControlOp::kBarrier || inst.control == ControlOp::kLdgDepbar;
      return queued ? IssuePipe::kMio : IssuePipe::kNone;
    }
    case ExecUnit::kMisc: {
      const bool vector = inst.num_dests > 0 && inst.dests[0].file == RegFile::kGeneral;
      return inst.timing == TimingClass::kSpecialRegister && vector ? IssuePipe::kMio : IssuePipe::kNone;
    }
    default:
      return IssuePipe::kNone;
  }
}

int SpacingCycles(const DecodedInst& inst, uint32_t binary_version) {
  const bool sm90 = binary_version >= 90;
  switch (IssuePipeOf(inst)) {
    case IssuePipe::kNone:
      return 1;
    case IssuePipe::kInt:
    case IssuePipe::kHalf:
      return 2;
    case IssuePipe::kUniform:
      return sm90 && inst.dep == DepClass::kUniformLoad ? 1 : 2;
    case IssuePipe::kImad:
      return inst.dep == DepClass::kImadWide ? 4 : 2;
    case IssuePipe::kFp64:
      return HasVariableLatency(inst.dep) ? 4 : 2;
    case IssuePipe::kMio:
      return 4;
    case IssuePipe::kSfu:
      return 8;
    case IssuePipe::kTensor:
      if (inst.dep != DepClass::kMmaLong) return 4;
      return sm90 && !inst.tensor.sparse ? 6 : 8;
  }
  return 1;
}

int MinStallCycles(const DecodedInst& inst, const DecodedInst* next) {
  if (inst.mem_op == MemOp::kCacheControl) return 5;
  switch (inst.control) {
    case ControlOp::kExit:
    case ControlOp::kBranch:
    case ControlOp::kCall:
    case ControlOp::kReturn:
      return 5;
    case ControlOp::kBarrier: {
      const bool computes =
          next != nullptr && (next->unit == ExecUnit::kInt || next->unit == ExecUnit::kImad ||
                              next->unit == ExecUnit::kFp32 || next->unit == ExecUnit::kHalf);
      return computes ? 1 : 6;
    }
    case ControlOp::kMembar:
      return 6;
    case ControlOp::kDepbar:
      return 4;
    default:
      break;
  }
  if (inst.rule == IssueRule::kNop) return 6;  // as __syncwarp leaves it
  return inst.rule == IssueRule::kReconverge ? 5 : 1;
}

}  // namespace sm89
