// Fragment layouts of mma.sync and ldmatrix: which lane and register holds which element.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace sm89::analysis {

// One matrix of an instruction.
struct FragmentPicture {
  std::string matrix;  // "A", "B", "C/D", "metadata"
  uint32_t rows = 0, columns = 0;
  uint32_t registers = 0;  // 32-bit, a lane
  uint32_t bits = 0;       // of an element
  struct Cell {
    uint8_t lane = 0;
    uint8_t reg = 0;   // register of the operand, 0-based
    uint8_t part = 0;  // element in the register, from the low end
  };
  std::vector<Cell> cells;  // rows x columns, row by row
};
struct MmaPicture {
  std::string name;  // "mma.m16n8k16.f16"
  std::vector<FragmentPicture> fragments;
};
// Every layout there is, in a fixed order.
std::vector<std::string> MmaNames();
// NOT_FOUND listing the names.
absl::StatusOr<MmaPicture> DrawMma(std::string_view name);

std::string ToText(const MmaPicture& picture);
std::string ToJson(const MmaPicture& picture);
std::string ToSvg(const MmaPicture& picture);

}  // namespace sm89::analysis
