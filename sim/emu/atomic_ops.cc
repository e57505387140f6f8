#include "sim/emu/atomic_ops.h"

#include <algorithm>
#include <cstring>

#include "sim/emu/memory_access.h"
#include "sim/num/fp16x2.h"
#include "sim/num/fp32.h"
#include "sim/num/fp64.h"
#include "sim/sass/decode.h"

namespace sm89::emu {

namespace {

using sass::Field;
using sass::Op;

// mod[kModExtra]: AtomOp | AtomSize << 8 | kind flags.
constexpr int kSizeShift = 8;
constexpr uint32_t kCasFlag = 1u << 16;    // store C where memory holds B
constexpr uint32_t kCastFlag = 1u << 17;   // likewise, the result says whether it did
constexpr uint32_t kNoResult = 1u << 18;   // RED
constexpr uint32_t kFallsBack = 1u << 19;  // ATOM with a predicate: see Refused
constexpr uint32_t kOne = 1u << 20;        // no operand B: POPC.INC, ARRIVE

bool Is64(uint32_t size) { return size == sass::kAtU64 || size == sass::kAtS64 || size == sass::kAtF64; }

bool IsFloat(uint32_t size) {
  return size == sass::kAtF32 || size == sass::kAtF64 || size == sass::kAtF16x2 || size == sass::kAtBf16x2;
}

uint64_t Float(uint32_t size, uint64_t a, uint64_t b) {
  const auto lo = [](uint64_t v) { return static_cast<uint32_t>(v); };
  switch (size) {
    case sass::kAtF32:
      return num::Fadd(lo(a), lo(b), {.ftz = true});
    case sass::kAtF64: {
      // The L2's adder passes a NaN on as it is, the operand's first (measured on an H200: tests/silicon).
      const auto is_nan = [](uint64_t v) { return (v << 1) > 0xffe0000000000000u; };
      if (is_nan(b)) return b;
      return is_nan(a) ? a : num::Dadd(a, b, num::Round::kRn);
    }
    case sass::kAtBf16x2:
      return num::Hadd2(lo(a), lo(b), {.out = num::HalfOut::kBf16});
    default:
      return num::Hadd2(lo(a), lo(b), {});
  }
}

template <typename U, typename S>
U Integer(uint32_t op, bool is_signed, U a, U b) {
  switch (op) {
    case sass::kAopAdd:
      return static_cast<U>(a + b);
    case sass::kAopMin:
      if (is_signed) return static_cast<U>(std::min(static_cast<S>(a), static_cast<S>(b)));
      return std::min(a, b);
    case sass::kAopMax:
      if (is_signed) return static_cast<U>(std::max(static_cast<S>(a), static_cast<S>(b)));
      return std::max(a, b);
    case sass::kAopInc:
      return a >= b ? 0 : static_cast<U>(a + 1);
    case sass::kAopDec:
      return a == 0 || a > b ? b : static_cast<U>(a - 1);
    case sass::kAopAnd:
      return a & b;
    case sass::kAopOr:
      return a | b;
    case sass::kAopXor:
      return a ^ b;
    default:  // EXCH
      return b;
  }
}

uint64_t Apply(uint32_t op, uint32_t size, uint64_t a, uint64_t b) {
  if (IsFloat(size)) return Float(size, a, b);  // addition is the only one: IsKnown
  if (Is64(size)) return Integer<uint64_t, int64_t>(op, size == sass::kAtS64, a, b);
  return Integer<uint32_t, int32_t>(op, size == sass::kAtS32, static_cast<uint32_t>(a),
                                    static_cast<uint32_t>(b));
}

uint64_t LaneValue(const Exec& x, const Src& s, size_t lane, bool is_64) {
  if (s.kind != Src::Kind::kRow) return 0;
  const Row* rows = x.w->rows + s.row;
  return rows[0].lane[lane] | (is_64 ? uint64_t{rows[1].lane[lane]} << 32 : 0);
}

// Generic ATOM does 64-bit and floating-point operations in global memory only; elsewhere its predicate is
// false and the code that ptxas puts behind it does the work.
bool Refused(uint32_t extra, Space space, uint64_t address) {
  if ((extra & kFallsBack) == 0 || space != Space::kGeneric || SpaceOf(address) == Space::kGlobal)
    return false;
  const uint32_t size = extra >> kSizeShift & 0xff;
  return size != sass::kAtU32 && size != sass::kAtS32;
}

template <Space kSpace>
void RunAtomic(Exec& x, const Compiled& c) {
  LaneAddresses a;
  if constexpr (kSpace == Space::kShared) {
    ShortAddresses(x, c, &a);
  } else {
    GlobalAddresses(x, c, &a);
  }
  NoteAddresses(x, x.lanes, a);
  const uint32_t extra = c.mod[kModExtra];
  const uint32_t op = extra & 0xff, size = extra >> kSizeShift & 0xff;
  const bool is_64 = c.mod[kModSize] == 8;
  Row* d = x.w->rows + c.d;
  LaneMask done = 0;
  for (LaneMask rest = x.lanes; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<uint32_t>(__builtin_ctz(rest));
    if (Refused(extra, kSpace, a.at[lane])) continue;
    const Place place = Locate(x, kSpace, lane, a.at[lane], c.mod[kModSize]);
    if (place.bytes == nullptr) return;
    CheckWritten(x, place, lane, a.at[lane], c.mod[kModSize]);
    uint64_t old = 0;
    std::memcpy(&old, place.bytes, c.mod[kModSize]);
    uint64_t result = old, next = old;
    const uint64_t b = LaneValue(x, c.src[kSrcB], lane, is_64);
    if ((extra & (kCasFlag | kCastFlag)) != 0) {
      const bool equal = old == b;
      if (equal) next = LaneValue(x, c.src[kSrcC], lane, is_64);
      if ((extra & kCastFlag) != 0) result = equal;
    } else if ((extra & kOne) != 0) {
      next = op == sass::kAopArriveOrSafeAdd ? ArriveOnce(old) : old + 1;
    } else {
      next = Apply(op, size, old, b);
    }
    std::memcpy(place.bytes, &next, c.mod[kModSize]);
    MarkWritten(place, c.mod[kModSize]);
    done |= LaneMask{1} << lane;
    if ((extra & kNoResult) != 0) continue;
    d[0].lane[lane] = static_cast<uint32_t>(result);
    if (is_64) d[1].lane[lane] = static_cast<uint32_t>(result >> 32);
  }
  WritePred(x, c.pu, done);
}

// The lane's earlier LDGSTS are complete (they always are here): it arrives.
void RunArrives(Exec& x, const Compiled& c) {
  LaneAddresses a;
  ShortAddresses(x, c, &a);
  NoteAddresses(x, x.lanes, a);
  for (LaneMask rest = x.lanes; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<uint32_t>(__builtin_ctz(rest));
    const Place place = Locate(x, Space::kShared, lane, a.at[lane], 8);
    if (place.bytes == nullptr) return;
    CheckWritten(x, place, lane, a.at[lane], 8);
    uint64_t word;
    std::memcpy(&word, place.bytes, 8);
    word = ArriveOnce(word);
    std::memcpy(place.bytes, &word, 8);
  }
}

// Not SAFEADD, and of floats the addition only: the tables allow others, no code was met with them.
bool IsKnown(const sass::Instruction& inst, uint32_t size, uint32_t flags) {
  const uint32_t op = inst.Get(Field::kAtomOp);
  if (inst.Get(Field::kCas) != 0) return !IsFloat(size);
  if ((flags & kOne) != 0) return true;
  return IsFloat(size) ? op == sass::kAopAdd : op <= sass::kAopExch;
}

absl::Status CompileOne(const sass::Instruction& inst, uint32_t size, uint32_t flags, Compiled* c) {
  if (!IsKnown(inst, size, flags)) return absl::UnimplementedError(sass::PrintOpcode(inst));
  uint32_t extra = inst.Get(Field::kAtomOp) | size << kSizeShift | flags;
  if (inst.Get(Field::kCas) != 0) extra |= inst.Get(Field::kCast) != 0 ? kCastFlag : kCasFlag;
  if (c->pu != 7) extra |= kFallsBack;
  absl::Status status = CompileAddress(inst, Is64(size) ? 8 : 4, c);
  c->mod[kModExtra] = extra;
  return status;
}

}  // namespace

uint64_t ArriveOnce(uint64_t word) {
  constexpr uint32_t kPhase = 0x80000000u, kExpected = 0x40000000u;
  auto lo = static_cast<uint32_t>(word), hi = static_cast<uint32_t>(word >> 32);
  const uint32_t phase = hi & kPhase;
  const uint32_t count = (hi & ~kPhase) + 1;
  hi = count == kPhase ? (phase ^ kPhase) | ((lo + kExpected) & ~kPhase) : phase | count;
  return uint64_t{hi} << 32 | lo;
}

absl::Status CompileAtomic(const sass::Instruction& inst, Compiled* c) {
  switch (inst.op) {
    case Op::kAtom:
      c->run = RunAtomic<Space::kGeneric>;
      return CompileOne(inst, sass::AtomSizeOf(inst), 0, c);
    case Op::kAtomg:
      c->run = RunAtomic<Space::kGlobal>;
      return CompileOne(inst, sass::AtomSizeOf(inst), 0, c);
    case Op::kRed:
    case Op::kRedg:
      c->run = RunAtomic<Space::kGeneric>;
      return CompileOne(inst, sass::AtomSizeOf(inst), kNoResult, c);
    case Op::kAtoms: {
      c->run = RunAtomic<Space::kShared>;
      const bool no_operand = inst.Find(sass::Slot::kB) == nullptr;
      return CompileOne(inst, inst.Get(Field::kAtomSharedSize), no_operand ? kOne : 0, c);
    }
    case Op::kArrives:
      if (inst.Get(Field::kArriveOp) != 0) return absl::UnimplementedError(sass::PrintOpcode(inst));
      c->run = RunArrives;
      return CompileAddress(inst, 8, c);
    default:
      return absl::NotFoundError("");
  }
}

}  // namespace sm89::emu
