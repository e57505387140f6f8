#include "sim/emu/memory_access.h"

#include "absl/strings/str_cat.h"
#include "sim/sass/decode.h"

namespace sm89::emu {

namespace {

using sass::Field;
using sass::Slot;

const char* NameOf(Space space) {
  switch (space) {
    case Space::kShared:
      return "shared";
    case Space::kLocal:
      return "local";
    case Space::kGlobal:
    case Space::kGeneric:
      break;
  }
  return "global";
}

constexpr uint32_t kStrideShift[] = {0, 2, 3, 4};  // X1 X4 X8 X16

Place InWindow(const WindowOf& window, uint32_t lane, uint64_t offset, uint32_t size_bytes) {
  Place place;
  if (offset < window.first || offset >= window.end || window.end - offset < size_bytes) return place;
  const uint64_t at = window.start + lane * window.step + offset;
  place.bytes = window.memory->bytes.data() + at;
  if (!window.memory->written.empty()) place.written = window.memory->written.data() + at;
  return place;
}

}  // namespace

absl::Status CompileAddress(const sass::Instruction& inst, uint32_t size_bytes, Compiled* c) {
  c->mod[kModSize] = size_bytes;
  uint32_t flags = 0;
  const sass::Operand* a = inst.Find(Slot::kA);
  if (a != nullptr && a->regs >= 2) flags |= kFlagAddress64;
  if (a == nullptr) c->src[kSrcA] = {};
  const sass::Operand* ua = inst.Find(Slot::kUa);
  const bool is_descriptor = inst.Get(Field::kMemDesc) != 0 || inst.Get(Field::kL2Hint) != 0;
  if (ua != nullptr && ua->IsUReg() && !ua->IsZeroReg() && !is_descriptor) {
    flags |= kFlagUniform;
    c->src[kSrcE] = {.kind = Src::Kind::kUniform, .ureg = static_cast<uint8_t>(ua->index)};
  }
  flags |= kStrideShift[inst.Get(Field::kStride) & 3] << kFlagStrideShift;
  const sass::Operand* offset = inst.Find(Slot::kOffset);
  c->imm = offset != nullptr ? offset->value : 0;
  c->mod[kModFlags] = flags;
  return absl::OkStatus();
}

void GlobalAddresses(const Exec& x, const Compiled& c, LaneAddresses* out) {
  const uint32_t flags = c.mod[kModFlags];
  uint64_t base = static_cast<uint64_t>(c.imm);
  if ((flags & kFlagUniform) != 0) {
    const uint8_t u = c.src[kSrcE].ureg;
    base += uint64_t{x.w->ur[u + 1u]} << 32 | x.w->ur[u];
  }
  Row scratch;
  const Row& lo = ReadRaw(x, c.src[kSrcA], 0, scratch);
  if ((flags & kFlagAddress64) != 0) {
    Row scratch_hi;
    const Row& hi = ReadRaw(x, c.src[kSrcA], 1, scratch_hi);
    for (size_t i = 0; i < kWarpSize; ++i) out->at[i] = (uint64_t{hi.lane[i]} << 32 | lo.lane[i]) + base;
    return;
  }
  for (size_t i = 0; i < kWarpSize; ++i) out->at[i] = lo.lane[i] + base;
}

void ShortAddresses(const Exec& x, const Compiled& c, LaneAddresses* out) {
  const uint32_t flags = c.mod[kModFlags];
  auto base = static_cast<uint32_t>(c.imm);
  if ((flags & kFlagUniform) != 0) base += x.w->ur[c.src[kSrcE].ureg];
  Row scratch;
  const Row& a = ReadRaw(x, c.src[kSrcA], 0, scratch);
  const uint32_t shift = flags >> kFlagStrideShift;
  for (size_t i = 0; i < kWarpSize; ++i) out->at[i] = static_cast<uint32_t>((a.lane[i] << shift) + base);
}

Place Locate(Exec& x, Space space, uint32_t lane, uint64_t address, uint32_t size_bytes) {
  Machine& m = *x.machine;
  uint64_t offset = address;
  if (space == Space::kGeneric) {
    space = SpaceOf(address);
    if (space == Space::kShared) offset = address - kSharedWindowBase;
    if (space == Space::kLocal) offset = address - kLocalWindowBase;
  }
  Place place;
  if ((address & (size_bytes - 1)) != 0) {
    Report(x, {.kind = FindingKind::kMisaligned,
               .space = NameOf(space),
               .lane = lane,
               .address = offset,
               .size_bytes = size_bytes});
    return place;
  }
  if (space == Space::kShared) {
    place = InWindow(SharedWindow(m), lane, offset, size_bytes);
  } else if (space == Space::kLocal) {
    place = InWindow(LocalWindow(m), lane, offset, size_bytes);
  } else if (Allocation* allocation = m.memory.Find(address, size_bytes); allocation != nullptr) {
    place.bytes = allocation->bytes.data() + (address - allocation->base);
  }
  place.space = space;
  if (place.bytes != nullptr) return place;
  FindingPlace finding{.kind = FindingKind::kOutOfBounds,
                       .space = NameOf(space),
                       .lane = lane,
                       .address = offset,
                       .size_bytes = size_bytes};
  if (space == Space::kShared)
    finding.detail = absl::StrCat("the CTA has ", m.shared_bytes - m.shared_first, " bytes");
  if (space == Space::kLocal) finding.detail = absl::StrCat("the thread has ", m.local_bytes, " bytes");
  Report(x, finding);
  return place;
}

void CheckWritten(Exec& x, const Place& place, uint32_t lane, uint64_t address, uint32_t size_bytes) {
  if (place.written == nullptr) return;
  bool reported = false;
  for (uint32_t i = 0; i < size_bytes; ++i) {
    if (place.written[i] != 0) continue;
    place.bytes[i] = 0;  // not what an earlier CTA left there
    place.written[i] = 1;
    if (reported) continue;
    reported = true;  // once: the bytes count as known from here on
    Report(x, {.kind = FindingKind::kUninitialised,
               .space = NameOf(place.space),
               .lane = lane,
               .address = address + i,
               .size_bytes = size_bytes});
  }
}

}  // namespace sm89::emu
