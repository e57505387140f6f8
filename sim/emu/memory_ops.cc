// Loads and stores of all spaces, constants, copies to shared memory, matrix loads.
#include <algorithm>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "sim/emu/atomic_ops.h"
#include "sim/emu/memory_access.h"
#include "sim/num/mma.h"
#include "sim/sass/decode.h"

namespace sm89::emu {

namespace {

using sass::Field;
using sass::Op;
using sass::Slot;

// A kind of access: bytes and, for narrow loads, the sign.
template <uint32_t kBytes, bool kSigned>
struct Shape {
  static constexpr uint32_t bytes = kBytes;

  static void Load(Row* d, size_t lane, const uint8_t* from) {
    if constexpr (kBytes >= 4) {
      for (uint32_t w = 0; w < kBytes / 4; ++w) std::memcpy(&d[w].lane[lane], from + w * 4, 4);
    } else if constexpr (kBytes == 2) {
      uint16_t value;
      std::memcpy(&value, from, 2);
      d->lane[lane] = kSigned ? static_cast<uint32_t>(static_cast<int16_t>(value)) : value;
    } else {
      d->lane[lane] = kSigned ? static_cast<uint32_t>(static_cast<int8_t>(*from)) : *from;
    }
  }
  static void Store(const Row* s, size_t lane, uint8_t* to) {
    if constexpr (kBytes >= 4) {
      for (uint32_t w = 0; w < kBytes / 4; ++w) std::memcpy(to + w * 4, &s[w].lane[lane], 4);
    } else {
      std::memcpy(to, &s->lane[lane], kBytes);  // little-endian host
    }
  }
  static void Zero(Row* d, size_t lane) {
    for (uint32_t w = 0; w < std::max(kBytes / 4, 1u); ++w) d[w].lane[lane] = 0;
  }
};

template <typename F>
void ForLanes(LaneMask lanes, F f) {
  if (lanes == kAllLanes) {
    for (size_t i = 0; i < kWarpSize; ++i) f(i);
    return;
  }
  for (LaneMask rest = lanes; rest != 0; rest &= rest - 1) f(static_cast<size_t>(__builtin_ctz(rest)));
}

template <typename S>
void LoadSlowly(Exec& x, Space space, LaneMask lanes, const LaneAddresses& a, Row* d) {
  for (LaneMask rest = lanes; rest != 0 && !x.machine->failed; rest &= rest - 1) {
    const auto lane = static_cast<uint32_t>(__builtin_ctz(rest));
    const Place place = Locate(x, space, lane, a.at[lane], S::bytes);
    if (place.bytes == nullptr) return;
    CheckWritten(x, place, lane, a.at[lane], S::bytes);
    S::Load(d, lane, place.bytes);
  }
}

// The lanes whose load really happens; the others of a load with a predicate operand get 0.
LaneMask LoadedLanes(Exec& x, const Compiled& c) {
  if (c.mod[kModExtra] == 0) return x.lanes;
  return x.lanes & ReadPred(x, c.q);
}

template <typename S, Space kSpace>
void RunLoad(Exec& x, const Compiled& c) {
  LaneAddresses a;
  GlobalAddresses(x, c, &a);
  const LaneMask lanes = LoadedLanes(x, c);
  NoteAddresses(x, x.lanes, a);
  Row* d = x.w->rows + c.d;
  if (lanes != x.lanes) ForLanes(x.lanes & ~lanes, [&](size_t i) { S::Zero(d, i); });
  if (lanes == 0) return;
  const Allocation* allocation = SameAllocation(x, c, lanes, a, S::bytes);
  if (allocation == nullptr) return LoadSlowly<S>(x, kSpace, lanes, a, d);
  const uint8_t* bytes = allocation->bytes.data();
  const uint64_t base = allocation->base;
  ForLanes(lanes, [&](size_t i) { S::Load(d, i, bytes + (a.at[i] - base)); });
}

template <typename S, Space kSpace>
void RunStore(Exec& x, const Compiled& c) {
  LaneAddresses a;
  GlobalAddresses(x, c, &a);
  NoteAddresses(x, x.lanes, a);
  const Row* s = x.w->rows + c.src[kSrcB].row;
  if (const Allocation* allocation = SameAllocation(x, c, x.lanes, a, S::bytes); allocation != nullptr) {
    uint8_t* bytes = const_cast<uint8_t*>(allocation->bytes.data());
    const uint64_t base = allocation->base;
    ForLanes(x.lanes, [&](size_t i) { S::Store(s, i, bytes + (a.at[i] - base)); });
    return;
  }
  for (LaneMask rest = x.lanes; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<uint32_t>(__builtin_ctz(rest));
    const Place place = Locate(x, kSpace, lane, a.at[lane], S::bytes);
    if (place.bytes == nullptr) return;
    MarkWritten(place, S::bytes);
    S::Store(s, lane, place.bytes);
  }
}

// True when every byte of the access has a value.
template <uint32_t kBytes>
bool AllWritten(const uint8_t* written) {
  if constexpr (kBytes == 1) {
    return *written != 0;
  } else if constexpr (kBytes == 2) {
    return (written[0] & written[1]) != 0;
  } else {
    constexpr uint32_t kOnes = 0x01010101;
    uint32_t all = kOnes;
    for (uint32_t w = 0; w < kBytes / 4; ++w) {
      uint32_t part;
      std::memcpy(&part, written + w * 4, 4);
      all &= part;
    }
    return all == kOnes;
  }
}

template <Space kSpace>
WindowOf Window(Exec& x) {
  return kSpace == Space::kShared ? SharedWindow(*x.machine) : LocalWindow(*x.machine);
}

template <typename S, Space kSpace>
void RunWindowLoad(Exec& x, const Compiled& c) {
  LaneAddresses a;
  ShortAddresses(x, c, &a);
  NoteAddresses(x, x.lanes, a);
  Row* d = x.w->rows + c.d;
  const WindowOf window = Window<kSpace>(x);
  const uint8_t* bytes = window.memory->bytes.data();
  const uint8_t* written = window.memory->written.empty() ? nullptr : window.memory->written.data();
  bool slow = window.end < window.first + S::bytes;
  if (!slow) {
    const uint64_t last = window.end - S::bytes - window.first;
    ForLanes(x.lanes, [&](size_t i) {
      const uint64_t at = a.at[i];
      if (at - window.first > last || (at & (S::bytes - 1)) != 0) {
        slow = true;
        return;
      }
      const uint64_t place = window.start + i * window.step + at;
      if (written != nullptr && !AllWritten<S::bytes>(written + place)) slow = true;
      S::Load(d, i, bytes + place);
    });
  }
  if (slow) LoadSlowly<S>(x, kSpace, x.lanes, a, d);
}

template <typename S, Space kSpace>
void RunWindowStore(Exec& x, const Compiled& c) {
  LaneAddresses a;
  ShortAddresses(x, c, &a);
  NoteAddresses(x, x.lanes, a);
  const Row* s = x.w->rows + c.src[kSrcB].row;
  const WindowOf window = Window<kSpace>(x);
  uint8_t* bytes = window.memory->bytes.data();
  uint8_t* written = window.memory->written.empty() ? nullptr : window.memory->written.data();
  LaneMask bad = window.end < window.first + S::bytes ? x.lanes : 0;
  if (bad == 0) {
    const uint64_t last = window.end - S::bytes - window.first;
    ForLanes(x.lanes, [&](size_t i) {
      const uint64_t at = a.at[i];
      if (at - window.first > last || (at & (S::bytes - 1)) != 0) {
        bad |= LaneMask{1} << i;
        return;
      }
      const uint64_t place = window.start + i * window.step + at;
      if (written != nullptr) std::memset(written + place, 1, S::bytes);
      S::Store(s, i, bytes + place);
    });
  }
  if (bad == 0) return;
  const auto lane = static_cast<uint32_t>(__builtin_ctz(bad));
  Locate(x, kSpace, lane, a.at[lane], S::bytes);
}

// --- LDGSTS: global to shared, 4, 8 or 16 bytes a lane ---

void RunLdgsts(Exec& x, const Compiled& c) {
  LaneAddresses from, to;
  GlobalAddresses(x, c, &from);
  Row scratch;
  const Row& shared = ReadRaw(x, c.src[kSrcC], 0, scratch);
  for (size_t i = 0; i < kWarpSize; ++i) to.at[i] = shared.lane[i] + c.mod[kModOwn];
  NoteAddresses(x, x.lanes, from);
  const uint32_t size = c.mod[kModSize];
  const bool zfill = c.mod[kModExtra] != 0;
  const LaneMask copied = x.lanes & ReadPred(x, c.q);
  for (LaneMask rest = x.lanes; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<uint32_t>(__builtin_ctz(rest));
    const Place dst = Locate(x, Space::kShared, lane, to.at[lane], size);
    if (dst.bytes == nullptr) return;
    MarkWritten(dst, size);
    std::memset(dst.bytes, 0, size);
    if ((copied >> lane & 1) == 0) continue;
    // .ZFILL: the low bits of the address say how many bytes at the end are zeros instead.
    const uint64_t missing = zfill ? from.at[lane] & (size - 1) : 0;
    const Place src = Locate(x, Space::kGlobal, lane, from.at[lane] - missing, size);
    if (src.bytes == nullptr) return;
    std::memcpy(dst.bytes, src.bytes, size - missing);
  }
}

// --- Constants ---

// Narrow values are extended as the size says.
uint32_t Extend(uint32_t value, uint32_t mem_size) {
  switch (mem_size) {
    case sass::kSzS8:
      return static_cast<uint32_t>(static_cast<int8_t>(value));
    case sass::kSzS16:
      return static_cast<uint32_t>(static_cast<int16_t>(value));
    default:
      return value;
  }
}

constexpr uint32_t kSizeBytes[] = {1, 1, 2, 2, 4, 8, 16, 16};

uint32_t NarrowBytes(uint32_t mem_size) { return std::min(kSizeBytes[mem_size & 7], 4u); }

// mod: 0 size bytes, 1 bank, 2 MemSize; imm: offset.
uint32_t ConstantPart(const Exec& x, const Compiled& c, uint32_t index, uint32_t word) {
  const uint64_t at = static_cast<uint32_t>(index + static_cast<uint32_t>(c.imm)) + uint64_t{word} * 4;
  return Extend(x.machine->program->ConstantWord(c.mod[1], at, NarrowBytes(c.mod[2])), c.mod[2]);
}

void RunLdc(Exec& x, const Compiled& c) {
  Row scratch;
  const Row index = ReadRaw(x, c.src[kSrcA], 0, scratch);  // a copy: the result may overlay it
  for (uint32_t w = 0; w < std::max(c.mod[0] / 4, 1u); ++w) {
    Row value;
    ForLanes(x.lanes, [&](size_t i) { value.lane[i] = ConstantPart(x, c, index.lane[i], w); });
    WriteRow(x, c.d + w, value);
  }
}

void RunLdcFixed(Exec& x, const Compiled& c) {
  for (uint32_t w = 0; w < std::max(c.mod[0] / 4, 1u); ++w) {
    Row value;
    value.lane.fill(ConstantPart(x, c, 0, w));
    WriteRow(x, c.d + w, value);
  }
}

void RunUldc(Exec& x, const Compiled& c) {
  const uint32_t index = c.src[kSrcA].kind == Src::Kind::kUniform ? x.w->ur[c.src[kSrcA].ureg] : 0;
  for (uint32_t w = 0; w < std::max(c.mod[0] / 4, 1u); ++w) WriteUr(x, c.d + w, ConstantPart(x, c, index, w));
}

// --- LDSM, QSPC ---

void RunLdsm(Exec& x, const Compiled& c) {
  constexpr uint32_t kRowBytes = 16, kRows = 8;
  LaneAddresses a;
  ShortAddresses(x, c, &a);
  const uint32_t matrices = c.mod[kModExtra];  // lanes 8i .. 8i+7 hold the row addresses of matrix i
  NoteAddresses(x, x.lanes, a);
  std::array<uint8_t, kRowBytes * kRows> matrix;
  for (uint32_t i = 0; i < matrices; ++i) {
    matrix.fill(0);
    for (uint32_t r = 0; r < kRows; ++r) {
      const uint32_t lane = i * kRows + r;
      if ((x.lanes >> lane & 1) == 0) continue;
      const Place place = Locate(x, Space::kShared, lane, a.at[lane], kRowBytes);
      if (place.bytes == nullptr) return;
      CheckWritten(x, place, lane, a.at[lane], kRowBytes);
      std::memcpy(matrix.data() + r * kRowBytes, place.bytes, kRowBytes);
    }
    Row value;
    num::Ldmatrix(matrix.data(), value.lane.data(), c.mod[kModOwn] != 0);
    WriteRow(x, c.d + i, value);
  }
}

void RunQspc(Exec& x, const Compiled& c) {
  constexpr Space kAsked[] = {Space::kGlobal, Space::kLocal, Space::kShared};
  LaneAddresses a;
  GlobalAddresses(x, c, &a);
  LaneMask yes = 0;
  Row value;
  ForLanes(x.lanes, [&](size_t i) {
    const bool is = SpaceOf(a.at[i]) == kAsked[c.mod[kModExtra]];
    yes |= LaneMask{is} << i;
    value.lane[i] = is;
  });
  WriteRow(x, c.d, value);
  WritePred(x, c.pu, yes);
}

// --- Compile ---

struct Choice {
  Handler u8, s8, u16, s16, b4, b8, b16;
};

template <Space kSpace>
Choice Loads() {
  if constexpr (kSpace == Space::kShared || kSpace == Space::kLocal) {
    return {RunWindowLoad<Shape<1, false>, kSpace>, RunWindowLoad<Shape<1, true>, kSpace>,
            RunWindowLoad<Shape<2, false>, kSpace>, RunWindowLoad<Shape<2, true>, kSpace>,
            RunWindowLoad<Shape<4, false>, kSpace>, RunWindowLoad<Shape<8, false>, kSpace>,
            RunWindowLoad<Shape<16, false>, kSpace>};
  } else {
    return {RunLoad<Shape<1, false>, kSpace>, RunLoad<Shape<1, true>, kSpace>,
            RunLoad<Shape<2, false>, kSpace>, RunLoad<Shape<2, true>, kSpace>,
            RunLoad<Shape<4, false>, kSpace>, RunLoad<Shape<8, false>, kSpace>,
            RunLoad<Shape<16, false>, kSpace>};
  }
}

template <Space kSpace>
Choice Stores() {
  if constexpr (kSpace == Space::kShared || kSpace == Space::kLocal) {
    return {RunWindowStore<Shape<1, false>, kSpace>, RunWindowStore<Shape<1, false>, kSpace>,
            RunWindowStore<Shape<2, false>, kSpace>, RunWindowStore<Shape<2, false>, kSpace>,
            RunWindowStore<Shape<4, false>, kSpace>, RunWindowStore<Shape<8, false>, kSpace>,
            RunWindowStore<Shape<16, false>, kSpace>};
  } else {
    return {RunStore<Shape<1, false>, kSpace>, RunStore<Shape<1, false>, kSpace>,
            RunStore<Shape<2, false>, kSpace>, RunStore<Shape<2, false>, kSpace>,
            RunStore<Shape<4, false>, kSpace>, RunStore<Shape<8, false>, kSpace>,
            RunStore<Shape<16, false>, kSpace>};
  }
}

absl::Status CompileAccess(const sass::Instruction& inst, const Choice& choice, Compiled* c) {
  if (c->pu != 7) return absl::UnimplementedError(sass::PrintOpcode(inst));  // LDG with a result predicate
  const uint32_t size = inst.Get(Field::kMemSize) & 7;
  const Handler handlers[] = {choice.u8, choice.s8, choice.u16, choice.s16,
                              choice.b4, choice.b8, choice.b16, choice.b16};
  c->run = handlers[size];
  absl::Status status = CompileAddress(inst, kSizeBytes[size], c);
  const sass::Operand* enable = inst.Find(Slot::kPnz);
  if (enable != nullptr && !(enable->IsZeroReg() && !enable->inv)) {
    c->q = {enable->kind == sass::OperandKind::kUPred, enable->inv, static_cast<uint8_t>(enable->index)};
    c->mod[kModExtra] = 1;
  }
  return status;
}

absl::Status CompileLdgsts(const sass::Instruction& inst, Compiled* c) {
  c->run = RunLdgsts;
  absl::Status status = CompileAddress(inst, kSizeBytes[inst.Get(Field::kMemSize) & 7], c);
  c->mod[kModExtra] = inst.Get(Field::kFill);
  const sass::Operand* shared = inst.Find(Slot::kSharedA);
  const sass::Operand* offset = inst.Find(Slot::kSharedOffset);
  if (shared != nullptr && !shared->IsZeroReg())
    c->src[kSrcC] = {.kind = Src::Kind::kRow, .row = shared->index};
  c->mod[kModOwn] = offset != nullptr ? static_cast<uint32_t>(offset->value) : 0;
  const sass::Operand* enable = inst.Find(Slot::kPnz);
  if (enable != nullptr) c->q = {false, enable->inv, static_cast<uint8_t>(enable->index)};
  return status;
}

absl::Status CompileConstant(const sass::Instruction& inst, Compiled* c) {
  const sass::Operand* constant = inst.Find(Slot::kC);
  if (constant == nullptr || constant->kind != sass::OperandKind::kConst || inst.Get(Field::kAdMode) != 0) {
    return absl::UnimplementedError(sass::PrintOpcode(inst));
  }
  const uint32_t size = inst.Get(Field::kMemSize) & 7;
  c->mod[0] = kSizeBytes[size];
  c->mod[1] = constant->index;
  c->mod[2] = size;
  c->imm = constant->value;
  const sass::Operand* index = inst.Find(Slot::kA);
  const bool fixed = index == nullptr || index->IsZeroReg();
  c->run = inst.op == Op::kUldc ? RunUldc : fixed ? RunLdcFixed : RunLdc;
  return absl::OkStatus();
}

absl::Status CompileLdsm(const sass::Instruction& inst, Compiled* c) {
  const uint32_t mode = inst.Get(Field::kMatrixMode);
  if (inst.Get(Field::kMatrixSize) != 0 || mode > 1 || inst.Get(Field::kMatrixNum) > 2) {
    return absl::UnimplementedError(sass::PrintOpcode(inst));
  }
  absl::Status status = CompileAddress(inst, 16, c);
  c->mod[kModExtra] = 1u << inst.Get(Field::kMatrixNum);
  c->mod[kModOwn] = mode;
  c->run = RunLdsm;
  return status;
}

}  // namespace

absl::Status CompileMemory(const sass::Instruction& inst, Compiled* c) {
  switch (inst.op) {
    case Op::kLdg:
      return CompileAccess(inst, Loads<Space::kGlobal>(), c);
    case Op::kLd:
      return CompileAccess(inst, Loads<Space::kGeneric>(), c);
    case Op::kLds:
      return CompileAccess(inst, Loads<Space::kShared>(), c);
    case Op::kLdl:
      return CompileAccess(inst, Loads<Space::kLocal>(), c);
    case Op::kStg:
      return CompileAccess(inst, Stores<Space::kGlobal>(), c);
    case Op::kSt:
      return CompileAccess(inst, Stores<Space::kGeneric>(), c);
    case Op::kSts:
      return CompileAccess(inst, Stores<Space::kShared>(), c);
    case Op::kStl:
      return CompileAccess(inst, Stores<Space::kLocal>(), c);
    case Op::kLdgsts:
      return CompileLdgsts(inst, c);
    case Op::kLdc:
    case Op::kUldc:
      return CompileConstant(inst, c);
    case Op::kLdsm:
      return CompileLdsm(inst, c);
    case Op::kQspc:
      c->run = RunQspc;
      c->mod[kModExtra] = inst.Get(Field::kQuerySpace);
      if (c->mod[kModExtra] > 2) return absl::UnimplementedError(sass::PrintOpcode(inst));
      {
        const uint32_t space = c->mod[kModExtra];
        absl::Status status = CompileAddress(inst, 1, c);
        c->mod[kModExtra] = space;
        return status;
      }
    case Op::kTex:
    case Op::kTld:
    case Op::kTld4:
    case Op::kTmml:
    case Op::kTxd:
    case Op::kTxq:
    case Op::kSuatom:
    case Op::kSuld:
    case Op::kSured:
    case Op::kSust:
      return absl::UnimplementedError(
          absl::StrCat(sass::PrintOpcode(inst), " (textures and surfaces are not emulated)"));
    default:
      return CompileAtomic(inst, c);
  }
}

}  // namespace sm89::emu
