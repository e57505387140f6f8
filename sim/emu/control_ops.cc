// Branches, convergence, barriers, special registers: every mnemonic that moves control or asks where a
// thread is.
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "sim/emu/machine.h"
#include "sim/emu/special_registers.h"
#include "sim/sass/decode.h"

namespace sm89::emu {

namespace {

using sass::Field;
using sass::Op;
using sass::Slot;

// Lanes that the instruction concerns: guard (x.lanes) and its own predicate operand.
LaneMask Concerned(const Exec& x, const Compiled& c) { return x.lanes & ReadPred(x, c.p); }

void Nothing(Exec&, const Compiled&) {}

// --- Jumps ---

// Instruction number of a code address; false and a finding when it is none.
bool CodeIndex(Exec& x, uint64_t address, uint32_t lane, uint32_t* index) {
  if (address % 16 == 0 && address / 16 < x.machine->program->num_instructions()) {
    *index = static_cast<uint32_t>(address / 16);
    return true;
  }
  const std::vector<std::string>& imports = x.machine->program->imports();
  const uint64_t import = (address - kImportBase) / 16;
  Report(x, {.kind = FindingKind::kTrap,
             .space = "code",
             .lane = lane,
             .address = address,
             .detail = address >= kImportBase && import < imports.size()
                           ? absl::StrCat("call of ", imports[import], ", which is not in this file")
                           : absl::StrFormat("jump to 0x%x, which is no instruction", address)});
  return false;
}

void RunBra(Exec& x, const Compiled& c) { Branch(x, Concerned(x, c), static_cast<uint32_t>(c.imm)); }

// BRA.DIV / BRA.CONV: jump when the concerned lanes differ from / equal the named ones. A guard takes lanes
// out of the comparison; a warp found divergent jumps as a whole (ptxas guards BRA.DIV with "my mask is not
// that of the lanes that it names", and what follows it is for converged warps only).
void RunBraIf(Exec& x, const Compiled& c) {
  const uint32_t value = x.w->ur[c.src[kSrcA].ureg];
  const LaneMask named = c.src[kSrcA].inv ? ~value : value;
  const LaneMask existing = x.machine->warp->existing, lanes = Concerned(x, c);
  const bool converged = (x.active & ~existing) == 0 && (named & existing) == lanes;
  if (c.mod[0] == 0 && !converged) Branch(x, x.active, static_cast<uint32_t>(c.imm));
  if (c.mod[0] != 0 && converged) Branch(x, lanes, static_cast<uint32_t>(c.imm));
}

// Jumps to base + register: lanes with equal registers go together. mod[0]: the base is the next instruction.
void RunIndirect(Exec& x, const Compiled& c) {
  LaneMask rest = Concerned(x, c);
  const Row* a = &x.w->rows[c.src[kSrcA].row];
  const bool pair = c.mod[1] != 0;
  while (rest != 0) {
    const auto lane = static_cast<uint32_t>(__builtin_ctz(rest));
    const uint32_t lo = a[0].lane[lane], hi = pair ? a[1].lane[lane] : 0;
    LaneMask same = 0;
    for (LaneMask m = rest; m != 0; m &= m - 1) {
      const int i = __builtin_ctz(m);
      if (a[0].lane[i] == lo && (!pair || a[1].lane[i] == hi)) same |= LaneMask{1} << i;
    }
    uint32_t target = 0;
    const uint64_t base = static_cast<uint64_t>(c.imm);
    if (!CodeIndex(x, base + (uint64_t{hi} << 32 | lo), lane, &target)) return;
    x.active = x.machine->split().mask;
    Branch(x, same, target);
    rest &= ~same;
  }
}

void RunExit(Exec& x, const Compiled& c) { ExitLanes(x, Concerned(x, c)); }

void RunTrap(Exec& x, const Compiled& c) {
  const LaneMask lanes = Concerned(x, c);
  if (lanes == 0) return;
  Report(x, {.kind = FindingKind::kTrap,
             .space = "code",
             .lane = static_cast<uint32_t>(__builtin_ctz(lanes)),
             .detail = "the kernel trapped"});
}

// --- Convergence ---

void RunBssy(Exec& x, const Compiled& c) { ArmBarrier(x, c.mod[0], Concerned(x, c)); }
void RunBsync(Exec& x, const Compiled& c) { WaitBarrier(x, c.mod[0], Concerned(x, c)); }
void RunBreak(Exec& x, const Compiled& c) { BreakBarrier(x, c.mod[0], Concerned(x, c)); }

void RunWarpsync(Exec& x, const Compiled& c) {
  LaneMask rest = Concerned(x, c);
  Row scratch;
  const Row& named = c.mod[0] != 0 ? scratch : ReadRaw(x, c.src[kSrcB], 0, scratch);
  if (c.mod[0] != 0) scratch.lane.fill(kAllLanes);  // .ALL
  LaneMask awaited = 0;
  for (LaneMask m = rest; m != 0; m &= m - 1) awaited |= named.lane[static_cast<size_t>(__builtin_ctz(m))];
  // Groups that are all here, as tiles of a warp, pass side by side: seen on an H200.
  if (c.mod[1] == 0 && (awaited & x.machine->warp->live & ~rest) == 0) return;
  while (rest != 0) {
    const LaneMask mask = named.lane[static_cast<size_t>(__builtin_ctz(rest))];
    LaneMask same = 0;
    for (LaneMask m = rest; m != 0; m &= m - 1) {
      const int i = __builtin_ctz(m);
      if (named.lane[static_cast<size_t>(i)] == mask) same |= LaneMask{1} << i;
    }
    const bool last = (rest & ~same) == 0;
    WarpSync(x, same, mask);
    rest &= ~same;
    if (!last) x.active &= ~same;
  }
}

void RunYield(Exec& x, const Compiled& c) {
  if (Concerned(x, c) == 0) return;
  GiveWay(x);
  NoteYield(x);
}

void RunNanosleep(Exec& x, const Compiled& c) {
  if (Concerned(x, c) == 0) return;
  GiveWay(x);
  x.end_turn = true;
}

// The instruction's own address: what ptxas adds to it before CALL.ABS gives the place after the call.
void RunLepc(Exec& x, const Compiled& c) {
  const uint64_t address = uint64_t{c.index} * 16;
  Row low, high;
  low.lane.fill(static_cast<uint32_t>(address));
  high.lane.fill(static_cast<uint32_t>(address >> 32));
  WriteRow(x, c.d, low);
  WriteRow(x, c.d + 1, high);
}

// BMOV.32: a lane's own barrier mask to and from a register.
void RunBmovRead(Exec& x, const Compiled& c) {
  std::array<LaneMask, kWarpSize>& armed = x.machine->warp->armed[c.mod[0]];
  Row& d = x.w->rows[c.d];
  for (LaneMask m = x.lanes; m != 0; m &= m - 1) {
    const int i = __builtin_ctz(m);
    d.lane[static_cast<size_t>(i)] = armed[static_cast<size_t>(i)];
    if (c.mod[1] != 0) armed[static_cast<size_t>(i)] = 0;
  }
}

void RunBmovWrite(Exec& x, const Compiled& c) {
  Warp& w = *x.machine->warp;
  w.used_armed = static_cast<uint16_t>(w.used_armed | (1u << c.mod[0]));
  Row scratch;
  const Row& value = ReadRaw(x, c.src[kSrcB], 0, scratch);
  for (LaneMask m = x.lanes; m != 0; m &= m - 1) {
    const auto i = static_cast<size_t>(__builtin_ctz(m));
    w.armed[c.mod[0]][i] = value.lane[i] & w.live;
  }
}

// --- CTA barriers ---

// mod: 0 kind, 1 barrier number or kRegister, 2 reduction AND; imm: threads or kRegister.
constexpr uint32_t kRegister = 0xffffffff;

void RunBar(Exec& x, const Compiled& c) {
  BarArrival arrival;
  arrival.kind = static_cast<BarKind>(c.mod[0]);
  arrival.lanes = x.lanes;
  arrival.reduce_all = c.mod[2] != 0;
  if (arrival.kind == BarKind::kReduce) arrival.predicate = ReadPred(x, c.p);
  const auto lane = static_cast<size_t>(__builtin_ctz(x.lanes));
  Row scratch;
  arrival.barrier = c.mod[1];
  // One register may hold the barrier's number and, in its high half, the count.
  uint32_t packed = 0;
  if (c.mod[1] == kRegister) {
    packed = ReadRaw(x, c.src[kSrcB], 0, scratch).lane[lane];
    arrival.barrier = packed & 0xf;
  }
  arrival.expected_threads = static_cast<uint32_t>(c.imm);
  if (c.imm == kRegister) arrival.expected_threads = ReadRaw(x, c.src[kSrcC], 0, scratch).lane[lane] & 0xfff;
  if (c.mod[3] != 0) arrival.expected_threads = packed >> 16 & 0xfff;
  ArriveAtBarrier(x, arrival);
}

void RunB2r(Exec& x, const Compiled& c) {
  const Warp& w = *x.machine->warp;
  Row value;
  value.lane.fill(w.reduced_count);
  WriteRow(x, c.d, value);
  WritePred(x, c.pu, w.reduced_flag ? kAllLanes : 0);
}

// --- Compile ---

uint32_t NextIndex(const Compiled& c) { return c.index + 1; }

absl::Status CompileBra(const sass::Instruction& inst, Compiled* c) {
  const sass::Operand* target = inst.Target();
  if (target == nullptr) return absl::UnimplementedError(sass::PrintOpcode(inst));
  c->imm = int64_t{NextIndex(*c)} + target->value / 16;
  if (target->value % 16 != 0 || c->imm < 0) {
    return absl::InvalidArgumentError(absl::StrCat("branch target outside the code at ", c->index * 16));
  }
  const uint32_t cond = inst.Get(Field::kCond);
  c->run = RunBra;
  if (cond == 2 || cond == 3) {
    const sass::Operand* named = inst.Find(Slot::kUa);
    if (named == nullptr || !named->IsUReg()) return absl::UnimplementedError(sass::PrintOpcode(inst));
    c->src[kSrcA].ureg = static_cast<uint8_t>(named->index);
    c->src[kSrcA].inv = named->inv;
    c->mod[0] = cond == 3;
    c->run = RunBraIf;
  }
  return absl::OkStatus();
}

// BRX, JMX, CALL and RET through registers; CALL and JMP to fixed places.
absl::Status CompileJump(const sass::Instruction& inst, Compiled* c) {
  const sass::Operand* target = inst.Target();
  const sass::Operand* a = inst.Find(Slot::kA);
  if (target == nullptr) target = inst.Find(Slot::kOffset);
  const bool absolute = inst.op == Op::kJmp || inst.op == Op::kJmx || inst.Get(Field::kAbsolute) != 0;
  const int64_t base = absolute ? 0 : int64_t{NextIndex(*c)} * 16;
  c->imm = base + (target != nullptr ? target->value : 0);
  if (a == nullptr) {
    if (target == nullptr || c->imm < 0 || c->imm % 16 != 0) {
      return absl::InvalidArgumentError(absl::StrCat("call target outside the code at ", c->index * 16));
    }
    c->imm /= 16;
    c->run = RunBra;
    return absl::OkStatus();
  }
  if (!a->IsReg()) return absl::UnimplementedError(sass::PrintOpcode(inst));
  c->mod[1] = 1;
  c->run = RunIndirect;
  return absl::OkStatus();
}

absl::Status CompileBarrierRegister(const sass::Instruction& inst, Compiled* c, Handler handler) {
  const sass::Operand* barrier = inst.Find(Slot::kBarrier);
  if (barrier == nullptr || barrier->index >= kConvergenceBarriers) {
    return absl::UnimplementedError(sass::PrintOpcode(inst));
  }
  c->mod[0] = barrier->index;
  c->run = handler;
  return absl::OkStatus();
}

absl::Status CompileBmov(const sass::Instruction& inst, Compiled* c) {
  const sass::Operand* state = inst.Find(Slot::kCbu);
  if (state == nullptr || state->index >= kConvergenceBarriers || inst.Get(Field::kPquad) != 0) {
    return absl::UnimplementedError(absl::StrCat(sass::PrintOpcode(inst), " of that state"));
  }
  c->mod[0] = state->index;
  c->mod[1] = inst.Get(Field::kClear);
  c->run = inst.Find(Slot::kD) != nullptr ? RunBmovRead : RunBmovWrite;
  return absl::OkStatus();
}

absl::Status CompileBar(const sass::Instruction& inst, Compiled* c) {
  switch (inst.Get(Field::kBarMode)) {
    case sass::kBarSync:
      c->mod[0] = static_cast<uint32_t>(BarKind::kSync);
      break;
    case sass::kBarArv:
      c->mod[0] = static_cast<uint32_t>(BarKind::kArrive);
      break;
    case sass::kBarRed:
      c->mod[0] = static_cast<uint32_t>(BarKind::kReduce);
      break;
    default:
      return absl::UnimplementedError(sass::PrintOpcode(inst));
  }
  c->mod[2] = inst.Get(Field::kBarRed) == 1;
  const sass::Operand* number = inst.Find(Slot::kB);
  const sass::Operand* count = inst.Find(Slot::kCount);
  if (number == nullptr) return absl::UnimplementedError(sass::PrintOpcode(inst));
  c->mod[1] = number->IsReg() ? kRegister : static_cast<uint32_t>(number->value);
  if (!number->IsReg() && c->mod[1] >= kNamedBarriers)
    return absl::UnimplementedError(sass::PrintOpcode(inst));
  if (count != nullptr && count->IsReg()) {
    c->src[kSrcC] = {.kind = Src::Kind::kRow, .row = count->index};
    c->imm = kRegister;
  } else {
    c->imm = count != nullptr ? count->value : 0;
  }
  c->mod[3] = number->IsReg() && count != nullptr && count->IsReg();  // one register: number and count
  c->run = RunBar;
  return absl::OkStatus();
}

absl::Status CompileWarpsync(const sass::Instruction& inst, Compiled* c) {
  const bool in_a = inst.Find(Slot::kB) == nullptr && inst.Find(Slot::kA) != nullptr;  // .COLLECTIVE
  if (in_a) c->src[kSrcB] = c->src[kSrcA];
  c->mod[0] = !in_a && inst.Find(Slot::kB) == nullptr;
  c->mod[1] = in_a;
  c->run = RunWarpsync;
  return absl::OkStatus();
}

}  // namespace

void RunPastEnd(Exec& x, const Compiled&) {
  x.pc = x.machine->program->num_instructions() - 1;
  Report(x,
         {.kind = FindingKind::kTrap, .space = "code", .detail = "the kernel ran past its last instruction"});
}

absl::Status CompileControl(const sass::Instruction& inst, Compiled* c) {
  switch (inst.op) {
    case Op::kBra:
      return CompileBra(inst, c);
    case Op::kBrx:
    case Op::kJmx:
    case Op::kJmp:
    case Op::kCall:
    case Op::kRet:
      return CompileJump(inst, c);
    case Op::kBssy:
      return CompileBarrierRegister(inst, c, RunBssy);
    case Op::kBsync:
      return CompileBarrierRegister(inst, c, RunBsync);
    case Op::kBreak:
      return CompileBarrierRegister(inst, c, RunBreak);
    case Op::kBmov:
      return CompileBmov(inst, c);
    case Op::kBar:
      return CompileBar(inst, c);
    case Op::kWarpsync:
      return CompileWarpsync(inst, c);
    case Op::kB2r:
      c->run = RunB2r;
      return absl::OkStatus();
    case Op::kLepc:
      if (inst.Find(Slot::kD) == nullptr || inst.Find(Slot::kD)->IsZeroReg())
        return absl::UnimplementedError(sass::PrintOpcode(inst));
      c->run = RunLepc;
      return absl::OkStatus();
    case Op::kExit:
      c->run = RunExit;
      return absl::OkStatus();
    case Op::kBpt:
    case Op::kKill:
      c->run = inst.op == Op::kBpt && inst.Get(Field::kBpt) != 3 ? Nothing : RunTrap;
      return absl::OkStatus();
    case Op::kYield:
      c->run = RunYield;
      return absl::OkStatus();
    case Op::kNanosleep:
      c->run = RunNanosleep;
      return absl::OkStatus();
    case Op::kNop:
    case Op::kPmtrig:
    case Op::kEndcollective:  // the lanes that WARPSYNC.COLLECTIVE gathered stay together
    case Op::kMembar:
    case Op::kErrbar:
    case Op::kCgaerrbar:
    case Op::kDepbar:
    case Op::kLdgdepbar:
    case Op::kCctl:
    case Op::kCctll:
      c->run = Nothing;
      return absl::OkStatus();
    case Op::kS2r:
    case Op::kS2ur:
    case Op::kCs2r:
      return CompileSpecial(inst, c);
    default:
      return absl::NotFoundError("");
  }
}

}  // namespace sm89::emu
