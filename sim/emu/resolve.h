// Operands of a decoded instruction as a handler reads them.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "sim/emu/exec.h"
#include "sim/sass/instruction.h"

namespace sm89::emu {

// The 32-bit word of constant bank `bank` at byte `offset`. An error ends the launch's compilation.
using ConstantReader = std::function<absl::StatusOr<uint32_t>(uint32_t bank, uint32_t offset)>;

// Broadcast rows of a launch's constants and immediates. Rows stay where they are for the pool's life; equal
// values share theirs.
class FixedRows {
 public:
  // `values`: the 32-bit parts, low one first.
  const Row* Broadcast(const std::vector<uint32_t>& values);

 private:
  std::map<std::vector<uint32_t>, std::unique_ptr<Row[]>> rows_;
};

// Fills guard, d, d_uniform, d_regs, src, p/q/r, pu/pv and pu_uniform of `c` (and inst). `num_regs`:
// registers of the function; the warp's rows continue with kZeroRows and kTrashRows.
//
// - An FP64 immediate has two rows, low part (0) first; a pair of FP16 immediates is one packed row in the
// slot
//   of its operand.
// - A constant has as many rows as the instruction reads registers there (2 for FP64, 64-bit integers, the
// sum
//   of IMAD.WIDE/HI).
// - src[i] is kNone where the form has no such operand. Operands of other slots (kImm, kLut, kScale, kOffset,
//   kPnz ...) are the handlers' own.
// - INVALID_ARGUMENT for a register that the function does not have.
// - UNIMPLEMENTED for a constant whose bank is chosen at run time (c[URx]) outside loads of constants.
absl::Status ResolveOperands(const sass::Instruction& inst, uint32_t num_regs,
                             const ConstantReader& constants, FixedRows* pool, Compiled* c);

}  // namespace sm89::emu
