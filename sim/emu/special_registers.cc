#include "sim/emu/special_registers.h"

#include "absl/strings/str_cat.h"
#include "sim/emu/machine.h"
#include "sim/sass/decode.h"

namespace sm89::emu {

namespace {

// Numbers beyond those in decode.h, as the disassembly of ptxas output pairs them with names.
constexpr uint32_t kSrTid = 0x20, kSrNtid = 0x28, kSrSmemSize = 0x32, kSrLmemHiOff = 0x37;
constexpr uint32_t kSrVirtualSmid = 0x43, kSrPm0 = 0x64, kSrPm7 = 0x6b, kSrCgaCtaId = 0x88;

// Nanoseconds of the global timer and clock cycles both grow by one a warp instruction of the launch: a
// functional clock, monotonic and deterministic.
uint64_t Clock(const Machine& m) { return m.now(); }

void LaneMasks(uint32_t index, Row* out) {
  for (uint32_t i = 0; i < kWarpSize; ++i) {
    const LaneMask eq = LaneMask{1} << i, lt = eq - 1;
    switch (index) {
      case sass::kSrEqmask:
        out->lane[i] = eq;
        break;
      case sass::kSrLtmask:
        out->lane[i] = lt;
        break;
      case sass::kSrLemask:
        out->lane[i] = lt | eq;
        break;
      case sass::kSrGtmask:
        out->lane[i] = ~(lt | eq);
        break;
      default:
        out->lane[i] = ~lt;
        break;
    }
  }
}

// The warp's slot on the SM in bits 8-14, as code for %warpid extracts it.
uint32_t VirtId(const Machine& m) { return m.warp->index << 8; }

void Read(const Machine& m, uint32_t index, Row* out) {
  const std::array<Row, 3>& ids = m.thread_ids[m.warp->index];
  switch (index) {
    case sass::kSrLaneid:
      for (uint32_t i = 0; i < kWarpSize; ++i) out->lane[i] = i;
      return;
    case sass::kSrTidX:
    case sass::kSrTidY:
    case sass::kSrTidZ:
      *out = ids[index - sass::kSrTidX];
      return;
    case kSrTid:
      for (uint32_t i = 0; i < kWarpSize; ++i) {
        out->lane[i] = ids[0].lane[i] | ids[1].lane[i] << 16 | ids[2].lane[i] << 26;
      }
      return;
    case sass::kSrEqmask:
    case sass::kSrLtmask:
    case sass::kSrLemask:
    case sass::kSrGtmask:
    case sass::kSrGemask:
      LaneMasks(index, out);
      return;
    case sass::kSrVirtid:
      out->lane.fill(VirtId(m));
      return;
    case sass::kSrCtaidX:
      out->lane.fill(m.cta->id.x);
      return;
    case sass::kSrCtaidY:
      out->lane.fill(m.cta->id.y);
      return;
    case sass::kSrCtaidZ:
      out->lane.fill(m.cta->id.z);
      return;
    case kSrSmemSize:
      out->lane.fill(m.shared_bytes);
      return;
    case sass::kSrClockLo:
    case sass::kSrGlobalTimerLo:
      out->lane.fill(static_cast<uint32_t>(Clock(m)));
      return;
    case sass::kSrClockHi:
    case sass::kSrGlobalTimerHi:
      out->lane.fill(static_cast<uint32_t>(Clock(m) >> 32));
      return;
    default:  // LMEMHIOFF, VIRTUALSMID, CgaCtaId, performance counters, SRZ
      out->lane.fill(0);
      return;
  }
}

bool Known(uint32_t index) {
  switch (index) {
    case sass::kSrLaneid:
    case sass::kSrVirtid:
    case kSrTid:
    case sass::kSrTidX:
    case sass::kSrTidY:
    case sass::kSrTidZ:
    case sass::kSrCtaidX:
    case sass::kSrCtaidY:
    case sass::kSrCtaidZ:
    case kSrSmemSize:
    case kSrLmemHiOff:
    case sass::kSrEqmask:
    case sass::kSrLtmask:
    case sass::kSrLemask:
    case sass::kSrGtmask:
    case sass::kSrGemask:
    case kSrVirtualSmid:
    case sass::kSrClockLo:
    case sass::kSrClockHi:
    case sass::kSrGlobalTimerLo:
    case sass::kSrGlobalTimerHi:
    case kSrCgaCtaId:
    case sass::kSrZero:
      return true;
    default:
      return index >= kSrPm0 && index <= kSrPm7;
  }
}

void RunS2r(Exec& x, const Compiled& c) {
  Row value;
  Read(*x.machine, c.mod[0], &value);
  WriteRow(x, c.d, value);
}

void RunS2ur(Exec& x, const Compiled& c) {
  Row value;
  Read(*x.machine, c.mod[0], &value);
  WriteUr(x, c.d, value.lane[static_cast<size_t>(__builtin_ctz(x.lanes))]);
}

// The register and the one after it: the low and high word of a 64-bit counter.
void RunCs2r64(Exec& x, const Compiled& c) {
  Row lo, hi;
  Read(*x.machine, c.mod[0], &lo);
  Read(*x.machine, c.mod[1], &hi);
  WriteRow(x, c.d, lo);
  WriteRow(x, c.d + 1, hi);
}

void RunCs2rZero(Exec& x, const Compiled& c) {
  const Row zero;
  WriteRow(x, c.d, zero);
  WriteRow(x, c.d + 1, zero);
}

}  // namespace

absl::Status CompileSpecial(const sass::Instruction& inst, Compiled* c) {
  const sass::Operand* special = inst.Find(sass::Slot::kSpecial);
  if (special == nullptr || !Known(special->index)) {
    return absl::UnimplementedError(
        special == nullptr
            ? sass::PrintOpcode(inst)
            : absl::StrCat(sass::PrintOpcode(inst), " ", sass::SpecialRegisterName(special->index)));
  }
  c->mod[0] = special->index;
  c->mod[1] = special->index == sass::kSrZero ? sass::kSrZero : special->index + 1u;
  if (inst.op == sass::Op::kS2ur) {
    c->run = RunS2ur;
  } else if (inst.op == sass::Op::kS2r || inst.Get(sass::Field::k64) == 0) {
    c->run = RunS2r;
  } else {
    c->run = special->index == sass::kSrZero ? RunCs2rZero : RunCs2r64;
  }
  return absl::OkStatus();
}

}  // namespace sm89::emu
