// Shapes of tensor instructions by the raw size field of their mnemonic.
#include "sim/sass/decode.h"

namespace sm89::sass {
namespace {

constexpr MmaShape kHmma[4] = {{16, 8, 8}, {16, 8, 16}, {16, 8, 4}, {}};
constexpr MmaShape kHmmaSparse[4] = {{16, 8, 8}, {16, 8, 16}, {}, {16, 8, 32}};
constexpr MmaShape kImma[8] = {{8, 8, 16}, {}, {8, 8, 32}, {}, {16, 8, 16}, {16, 8, 32}, {16, 8, 64}, {}};
constexpr MmaShape kImmaSparse[8] = {{}, {}, {}, {}, {}, {16, 8, 32}, {16, 8, 64}, {16, 8, 128}};
constexpr MmaShape kBmma[4] = {{8, 8, 128}, {16, 8, 128}, {16, 8, 256}, {}};
constexpr MmaShape kQmma[4] = {{16, 8, 16}, {16, 8, 32}, {}, {}};
constexpr MmaShape kQmmaSparse[4] = {{}, {16, 8, 32}, {16, 8, 64}, {}};

}  // namespace

MmaShape ShapeOf(const Instruction& inst) {
  const uint32_t size = inst.Get(Field::kMmaSize);
  const bool sparse = inst.Get(Field::kMmaSparse) != 0;
  switch (inst.op) {
    case Op::kHmma:
      return (sparse ? kHmmaSparse : kHmma)[size & 3];
    case Op::kImma:
      return (sparse ? kImmaSparse : kImma)[size & 7];
    case Op::kBmma:
      return kBmma[size & 3];
    case Op::kDmma:
      return {8, 8, 4};
    case Op::kQmma:
      return (sparse ? kQmmaSparse : kQmma)[size & 3];
    default:
      return {};
  }
}

}  // namespace sm89::sass
