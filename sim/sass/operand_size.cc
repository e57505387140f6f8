#include "sim/sass/operand_size.h"

#include <algorithm>
#include <bit>

#include "sim/sass/decode.h"

namespace sm89::sass {
namespace {

// Bits of one element of operand A (B for mixed integer types has the same width).
unsigned ElementBits(const Instruction& inst) {
  switch (inst.op) {
    case Op::kHmma:
      return inst.Get(Field::kMmaSrc) == 2 ? 32 : 16;
    case Op::kImma:
      return inst.Get(Field::kMmaA) >= 4 ? 4 : 8;
    case Op::kQmma:
      return 8;
    case Op::kBmma:
      return 1;
    default:
      return 64;
  }
}

// A fragment of an m x k matrix is m*k/32 elements a lane, and so on; sparse A holds half of its k.
unsigned MmaRegisters(Slot slot, const Instruction& inst) {
  const MmaShape shape = ShapeOf(inst);
  const unsigned bits = ElementBits(inst);
  const auto words = [](unsigned elements, unsigned width) {
    return std::max(1u, elements * width / 32 / 32);
  };
  switch (slot) {
    case Slot::kA:
      return words(shape.m * shape.k, bits) / (inst.Get(Field::kMmaSparse) != 0 ? 2 : 1);
    case Slot::kB:
      return words(shape.n * shape.k, bits);
    default: {
      const bool half = inst.Has(Field::kMmaAcc) && inst.Get(Field::kMmaAcc) == 0;
      return words(shape.m * shape.n, inst.op == Op::kDmma ? 64 : half ? 16 : 32);
    }
  }
}

// Coordinates of a surface by kSurf dimension: 1D, 1D_BUFFER, 1D_ARRAY, 2D, 2D_ARRAY, 3D.
unsigned SurfaceCoordinates(uint32_t dim) { return dim < 2 ? 1 : dim < 4 ? 2 : 3; }

// Coordinates of a texture by kDim, the layer of an array included.
unsigned TextureCoordinates(uint32_t dim) {
  static constexpr uint8_t kCoordinates[8] = {1, 2, 3, 3, 2, 3, 4, 4};
  return kCoordinates[dim & 7];
}

// The first two components that the mask names go to kD, the others to kD2. SCR spreads coordinates, level of
// detail and reference value evenly over both sources (seen for one to four of them); TXD has the derivatives
// in kB. Offsets and sample numbers are taken to need one more register (assumption).
unsigned TextureRegisters(Slot slot, const Instruction& inst) {
  const auto components = static_cast<unsigned>(std::popcount(inst.word.Bits(72, 4)));
  if (slot == Slot::kD) return std::min(2u, components);
  if (slot == Slot::kD2) return components > 2 ? components - 2 : 0;
  const uint32_t dim = inst.Get(Field::kDim);
  const unsigned coordinates = TextureCoordinates(dim);
  if (inst.op == Op::kTxd) return slot == Slot::kA ? coordinates : 2 * std::min(2u, dim % 4 + 1);
  unsigned extra = inst.Get(Field::kLod) >= 2 ? 1 : 0;
  for (const Field field : {Field::kDc, Field::kAoffi, Field::kToff, Field::kMs}) {
    extra += inst.Get(field) != 0 ? 1 : 0;
  }
  if (inst.Get(Field::kScr) == 0) return slot == Slot::kA ? coordinates : extra;
  const unsigned sum = coordinates + extra;
  return slot == Slot::kA ? (sum + 1) / 2 : sum / 2;
}

}  // namespace

uint32_t AtomSizeOf(const Instruction& inst) {
  static constexpr uint32_t kInteger90[] = {kAtU32, kAtS32, kAtU64, kAtS64};
  if (inst.Has(Field::kAtomSize90)) return kInteger90[inst.Get(Field::kAtomSize90) & 3];
  if (!inst.Has(Field::kFloatAtomSize)) return inst.Get(Field::kAtomSize);
  switch (inst.Get(Field::kFloatAtomSize)) {
    case 0:
      return kAtF16x2;
    case 9:
      return kAtF32;
    default:
      return kAtF64;
  }
}

uint8_t RegistersOf(const OperandSpec& spec, const Instruction& inst) {
  static constexpr uint8_t kMem[8] = {1, 1, 1, 1, 1, 2, 4, 4};
  static constexpr uint8_t kAtom[8] = {1, 1, 2, 1, 1, 2, 2, 1};
  static constexpr uint8_t kMatrices[4] = {1, 2, 4, 0};
  switch (spec.rule) {
    case RegsRule::kFixed:
      return spec.regs;
    case RegsRule::kMemSize:
      return kMem[inst.Get(Field::kMemSize) & 7];
    case RegsRule::kAtomSize:
      return kAtom[AtomSizeOf(inst) & 7];
    case RegsRule::kSharedSize:
      return inst.Get(Field::kAtomSharedSize) == 2 ? 2 : 1;
    case RegsRule::kExtended:
      return inst.Get(Field::kE) != 0 ? 2 : 1;
    case RegsRule::kIs64:
      return inst.Get(Field::k64) != 0 ? 2 : 1;
    case RegsRule::kMatch64:
      return inst.Get(Field::kMatch64) != 0 ? 2 : 1;
    case RegsRule::kMma:
      return static_cast<uint8_t>(MmaRegisters(spec.slot, inst));
    case RegsRule::kLdsm:
      return kMatrices[inst.Get(Field::kMatrixNum) & 3];
    case RegsRule::kMovm:
      return inst.Get(Field::kMatrixMode) == 0 ? 1 : 2;
    case RegsRule::kRa64:
      return inst.Get(Field::kRa64) != 0 ? 2 : 1;
    case RegsRule::kSurface:
      return static_cast<uint8_t>(SurfaceCoordinates(inst.Get(Field::kDim)));
    case RegsRule::kTexture:
      return static_cast<uint8_t>(TextureRegisters(spec.slot, inst));
  }
  return spec.regs;
}

}  // namespace sm89::sass
