#include "sim/analysis/mma_diagram.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "sim/base/fault.h"
#include "sim/num/mma_layout.h"

namespace sm89::analysis {
namespace {

using num::Matrix;
using num::MmaDesc;
using num::MmaType;

std::string TypeName(MmaType type) {
  switch (type) {
    case MmaType::kF16:
      return "f16";
    case MmaType::kBf16:
      return "bf16";
    case MmaType::kTf32:
      return "tf32";
    case MmaType::kF64:
      return "f64";
    case MmaType::kE4m3:
      return "e4m3";
    case MmaType::kE5m2:
      return "e5m2";
    case MmaType::kS8:
      return "s8";
    case MmaType::kU8:
      return "u8";
    case MmaType::kS4:
      return "s4";
    case MmaType::kU4:
      return "u4";
    case MmaType::kB1:
      return "b1";
    case MmaType::kF32:
      return "f32";
    case MmaType::kS32:
      return "s32";
  }
  return "";
}

struct NamedMma {
  std::string name;
  MmaDesc desc;
};

// Accumulators that go with an operand type.
std::vector<MmaType> AccumulatorsOf(MmaType type) {
  switch (type) {
    case MmaType::kF16:
      return {MmaType::kF16, MmaType::kF32};
    case MmaType::kF64:
      return {MmaType::kF64};
    case MmaType::kBf16:
    case MmaType::kTf32:
      return {MmaType::kF32};
    case MmaType::kE4m3:
    case MmaType::kE5m2:
      return {MmaType::kF16, MmaType::kF32};
    default:
      return {MmaType::kS32};
  }
}

// Every shape, operand type and accumulator that the arithmetic supports.
const std::vector<NamedMma>& AllMmas() {
  static const std::vector<NamedMma> all = [] {
    std::vector<NamedMma> list;
    for (const bool sparse : {false, true}) {
      for (const int m : {8, 16}) {
        for (const int k : {4, 8, 16, 32, 64, 128, 256}) {
          for (int t = 0; t <= static_cast<int>(MmaType::kB1); ++t) {
            const auto type = static_cast<MmaType>(t);
            for (const MmaType acc : AccumulatorsOf(type)) {
              const MmaDesc desc{.m = m, .n = 8, .k = k, .a = type, .b = type, .acc = acc, .sparse = sparse};
              if (!num::IsSupported(desc)) continue;
              list.push_back({absl::StrCat("mma.", sparse ? "sp." : "", "m", m, "n8k", k, ".", TypeName(type),
                                           ".", TypeName(acc)),
                              desc});
            }
          }
        }
      }
    }
    return list;
  }();
  return all;
}

FragmentPicture Fragment(const MmaDesc& desc, Matrix matrix, const std::string& name, unsigned bits) {
  FragmentPicture picture;
  picture.matrix = name;
  picture.rows = static_cast<uint32_t>(num::RowsOf(desc, matrix));
  picture.columns = static_cast<uint32_t>(num::ColsOf(desc, matrix));
  picture.registers = static_cast<uint32_t>(num::RegsOf(desc, matrix));
  picture.bits = bits;
  for (uint32_t r = 0; r < picture.rows; ++r) {
    for (uint32_t c = 0; c < picture.columns; ++c) {
      const num::Element e = num::Locate(desc, matrix, static_cast<int>(r), static_cast<int>(c));
      picture.cells.push_back({e.lane, e.reg, static_cast<uint8_t>(e.bit / bits)});
    }
  }
  return picture;
}

MmaPicture Draw(const NamedMma& mma) {
  MmaPicture picture;
  picture.name = mma.name;
  const MmaDesc& desc = mma.desc;
  picture.fragments.push_back(Fragment(desc, Matrix::kA, "A", num::BitsOf(desc.a)));
  picture.fragments.push_back(Fragment(desc, Matrix::kB, "B", num::BitsOf(desc.b)));
  picture.fragments.push_back(Fragment(desc, Matrix::kC, "C/D", num::BitsOf(desc.acc)));
  if (desc.sparse) picture.fragments.push_back(Fragment(desc, Matrix::kE, "metadata", 4));
  return picture;
}

// "ldmatrix.x4.trans": matrix j of 8x8 16-bit elements goes to register j.
MmaPicture DrawLdmatrix(int matrices, bool transposed) {
  MmaPicture picture;
  picture.name = absl::StrCat("ldmatrix.x", matrices, transposed ? ".trans" : "");
  for (int j = 0; j < matrices; ++j) {
    FragmentPicture fragment{
        .matrix = absl::StrCat("matrix ", j), .rows = 8, .columns = 8, .registers = 1, .bits = 16};
    for (int r = 0; r < 8; ++r) {
      for (int c = 0; c < 8; ++c) {
        const num::Element e = num::LocateLdmatrix(j, r, c, transposed);
        fragment.cells.push_back({e.lane, e.reg, static_cast<uint8_t>(e.bit / 16)});
      }
    }
    picture.fragments.push_back(std::move(fragment));
  }
  return picture;
}

}  // namespace

std::vector<std::string> MmaNames() {
  std::vector<std::string> names;
  for (const NamedMma& mma : AllMmas()) names.push_back(mma.name);
  for (const int matrices : {1, 2, 4}) {
    for (const char* suffix : {"", ".trans"}) names.push_back(absl::StrCat("ldmatrix.x", matrices, suffix));
  }
  return names;
}

absl::StatusOr<MmaPicture> DrawMma(std::string_view name) {
  for (const NamedMma& mma : AllMmas()) {
    if (mma.name == name) return Draw(mma);
  }
  for (const int matrices : {1, 2, 4}) {
    for (const bool transposed : {false, true}) {
      MmaPicture picture = DrawLdmatrix(matrices, transposed);
      if (picture.name == name) return picture;
    }
  }
  Fault fault;
  fault.field = "mma-layout";
  fault.value = std::string(name);
  fault.expected = absl::StrJoin(MmaNames(), ", ");
  fault.message = "no such matrix instruction";
  return InputError(absl::StatusCode::kNotFound, fault);
}

}  // namespace sm89::analysis
