// Tensor instructions: HMMA IMMA BMMA DMMA QMMA, dense and sparse; MOVM.
#include "sim/base/assert.h"
#include "sim/emu/alu_families.h"
#include "sim/emu/alu_lanes.h"
#include "sim/num/mma.h"
#include "sim/sass/decode.h"

namespace sm89::emu {

namespace {

using num::Matrix;
using num::MmaDesc;
using num::MmaType;
using sass::Field;
using sass::Instruction;
using sass::Op;

// Compiled holds a description in mod[0..1]; everything in it is small.
void Pack(const MmaDesc& desc, Compiled* c) {
  c->mod[0] = static_cast<uint32_t>(desc.m) | static_cast<uint32_t>(desc.n) << 8 |
              static_cast<uint32_t>(desc.k) << 16;
  c->mod[1] = static_cast<uint32_t>(desc.a) | static_cast<uint32_t>(desc.b) << 4 |
              static_cast<uint32_t>(desc.acc) << 8 | (desc.sparse ? 1u << 12 : 0) |
              (desc.saturate ? 1u << 13 : 0) | static_cast<uint32_t>(desc.bit_op) << 14 |
              static_cast<uint32_t>(desc.selector) << 16 | static_cast<uint32_t>(desc.core) << 24;
}

MmaDesc Unpack(const Compiled& c) {
  MmaDesc desc;
  desc.m = static_cast<int>(c.mod[0] & 0xff);
  desc.n = static_cast<int>(c.mod[0] >> 8 & 0xff);
  desc.k = static_cast<int>(c.mod[0] >> 16);
  desc.a = static_cast<MmaType>(c.mod[1] & 15);
  desc.b = static_cast<MmaType>(c.mod[1] >> 4 & 15);
  desc.acc = static_cast<MmaType>(c.mod[1] >> 8 & 15);
  desc.sparse = (c.mod[1] >> 12 & 1) != 0;
  desc.saturate = (c.mod[1] >> 13 & 1) != 0;
  desc.bit_op = static_cast<num::BitOp>(c.mod[1] >> 14 & 3);
  desc.selector = static_cast<uint8_t>(c.mod[1] >> 16 & 0xff);
  desc.core = static_cast<num::TensorCore>(c.mod[1] >> 24);
  return desc;
}

const uint32_t* Source(const Exec& x, const Src& s, int part, Row& scratch) {
  return ReadRaw(x, s, static_cast<uint32_t>(part), scratch).lane.data();
}

// Defined with all 32 lanes only; others are written for the executed ones.
void Multiply(Exec& x, const Compiled& c) {
  const MmaDesc desc = Unpack(c);
  num::MmaRegs regs;
  Row scratch[4];
  Row out[8];
  const bool all = x.lanes == kAllLanes;
  const int results = num::RegsOf(desc, Matrix::kC);
  for (int r = 0; r < num::RegsOf(desc, Matrix::kA); ++r) regs.a[r] = Source(x, c.src[kSrcA], r, scratch[0]);
  for (int r = 0; r < num::RegsOf(desc, Matrix::kB); ++r) regs.b[r] = Source(x, c.src[kSrcB], r, scratch[1]);
  for (int r = 0; r < results; ++r) {
    regs.c[r] = Source(x, c.src[kSrcC], r, scratch[2]);
    regs.d[r] = all ? x.w->rows[c.d + static_cast<uint32_t>(r)].lane.data() : out[r].lane.data();
  }
  if (desc.sparse) regs.e = Source(x, c.src[kSrcE], 0, scratch[3]);
  num::Mma(desc, regs);
  if (all) return;
  for (int r = 0; r < results; ++r) WriteRow(x, c.d + static_cast<uint32_t>(r), out[r]);
}

bool IntType(uint32_t raw, MmaType* type) {
  switch (raw) {
    case 0:
      *type = MmaType::kU8;
      return true;
    case 1:
      *type = MmaType::kS8;
      return true;
    case 4:
      *type = MmaType::kU4;
      return true;
    case 5:
      *type = MmaType::kS4;
      return true;
    default:
      return false;
  }
}

// Types of the operands by mnemonic; false: none such.
bool TypesOf(const Instruction& inst, MmaDesc* desc) {
  const uint32_t a = inst.Get(Field::kMmaA), b = inst.Get(Field::kMmaB);
  const MmaType float_acc = inst.Get(Field::kMmaAcc) != 0 ? MmaType::kF32 : MmaType::kF16;
  switch (inst.op) {
    case Op::kHmma: {
      constexpr MmaType kTypes[4] = {MmaType::kF16, MmaType::kBf16, MmaType::kTf32, MmaType::kF32};
      desc->a = desc->b = kTypes[inst.Get(Field::kMmaSrc) & 3];
      desc->acc = float_acc;
      return inst.Get(Field::kMmaSat) == 0;
    }
    case Op::kImma:
      desc->acc = MmaType::kS32;
      desc->saturate = inst.Get(Field::kMmaSat) != 0;
      return IntType(a, &desc->a) && IntType(b, &desc->b);
    case Op::kBmma:
      desc->a = desc->b = MmaType::kB1;
      desc->acc = MmaType::kS32;
      desc->bit_op = static_cast<num::BitOp>(inst.Get(Field::kMmaBop));
      return inst.Get(Field::kMmaPopc, 1) == 1;
    case Op::kDmma:
      desc->a = desc->b = desc->acc = MmaType::kF64;
      return inst.Get(Field::kRound) == sass::kRn;
    case Op::kQmma:
      desc->a = a != 0 ? MmaType::kE5m2 : MmaType::kE4m3;
      desc->b = b != 0 ? MmaType::kE5m2 : MmaType::kE4m3;
      desc->acc = float_acc;
      return true;
    default:
      return false;
  }
}

int RegsOf(const Instruction& inst, sass::Slot slot) {
  const sass::Operand* operand = inst.Find(slot);
  return operand == nullptr ? 0 : operand->regs;
}

Handler ChooseMma(const Instruction& inst, Compiled* c) {
  const sass::MmaShape shape = sass::ShapeOf(inst);
  MmaDesc desc;
  desc.m = shape.m;
  desc.n = shape.n;
  desc.k = shape.k;
  desc.sparse = inst.Get(Field::kMmaSparse) != 0;
  desc.core = inst.arch >= sass::kSm90 ? num::TensorCore::kHopper : num::TensorCore::kAda;
  if (const sass::Operand* id = inst.Find(sass::Slot::kExtract))
    desc.selector = static_cast<uint8_t>(id->value);
  if (!TypesOf(inst, &desc) || !num::IsSupported(desc)) return nullptr;
  // Not met in what ptxas writes: negated operands, metadata by register offset, uniform or constant sources,
  // B by rows, a predicate operand.
  for (const Src& s : c->src) {
    if (s.neg || s.abs || s.kind == Src::Kind::kFixed || s.kind == Src::Kind::kUniform) return nullptr;
  }
  if (inst.Get(Field::kMmaSparseFmt) != 0 || inst.Get(Field::kMmaColB, 1) != 1) return nullptr;
  const sass::Operand* enable = inst.Find(sass::Slot::kPnz);
  if (enable != nullptr && (!enable->IsZeroReg() || enable->inv)) return nullptr;
  if (RegsOf(inst, sass::Slot::kA) != num::RegsOf(desc, Matrix::kA) ||
      RegsOf(inst, sass::Slot::kB) != num::RegsOf(desc, Matrix::kB) ||
      RegsOf(inst, sass::Slot::kC) != num::RegsOf(desc, Matrix::kC) ||
      RegsOf(inst, sass::Slot::kD) != num::RegsOf(desc, Matrix::kC)) {
    return nullptr;
  }
  Pack(desc, c);
  return Multiply;
}

void Transpose(Exec& x, const Compiled& c) {
  ScratchRow sa;
  ScratchRow out_space;
  Row& out = out_space;
  const Row& a = ReadRaw(x, c.src[kSrcA], 0, sa);
  num::MovmTranspose(a.lane.data(), out.lane.data());
  WriteRow(x, c.d, out);
}

}  // namespace

Handler ChooseTensor(const Instruction& inst, Compiled* c) {
  if (inst.op != Op::kMovm) return ChooseMma(inst, c);
  return inst.Get(Field::kMatrixSize) == 0 && inst.Get(Field::kMatrixMode) == 0 ? Transpose : nullptr;
}

}  // namespace sm89::emu
