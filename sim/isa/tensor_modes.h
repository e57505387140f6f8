// The registry of tensor-core modes: one row for each combination of input type, accumulator, shape and
// sparsity that a tensor instruction of SM89, or of an architecture that maps to it, can have. Decoding takes
// its shapes from here, timing its rates (sim/tensor/tensor_timing.h), documents and listings all of it.
//
// To add a mode: a row. To add an input type: its TensorType and the name of its modifier (modifiers.cc), and
// the rows. A mode that is not timed by multiply-adds over a rate needs a TensorUnit and a class in
// tensor_timing.cc.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "sim/isa/decoded_inst.h"

namespace sm89 {

enum class TensorAccumulator : uint8_t { kF16, kF32, kS32, kF64 };
std::string_view Name(TensorAccumulator accumulator);  // "FP16", "FP32", "INT32", "FP64"

// What executes a mode: the tensor core, or FP64 units, of which a GeForce has one an SM and no FP64 tensor
// core.
enum class TensorUnit : uint8_t { kTensorCore, kFp64 };

struct TensorMode {
  std::string_view mnemonic;        // of the machine code: "HMMA"
  std::string_view inputs;          // "FP8 E4M3/E5M2"
  std::array<TensorType, 2> types;  // of A; kNone where there is one
  TensorAccumulator accumulator = TensorAccumulator::kF16;
  uint16_t m = 0, n = 0, k = 0;  // k is the logical (dense-equivalent) depth
  bool sparse = false;           // 2:4, A holds half of k
  // Multiply-adds a cycle, dense-equivalent, in eighths of those of dense FP16 with FP16 accumulation, before
  // what FP32 accumulation costs. Not used by kFp64.
  uint32_t rate_eighths = 8;
  TensorUnit unit = TensorUnit::kTensorCore;
  std::string_view source;  // of the rate

  // Multiply-adds of one warp instruction, dense-equivalent.
  uint32_t macs() const { return uint32_t{m} * n * k; }
  bool fp8() const { return types[0] == TensorType::kE4m3; }
};

// The whole registry; built into the program, the same order in every process.
std::span<const TensorMode> TensorModes();

// The row of an operation; null when there is none (no instruction of that kind exists).
const TensorMode* FindTensorMode(const TensorOp& op);

// An operation of a row.
TensorOp OpOf(const TensorMode& mode);

// Shapes of at most 16,384 stored bits of A times n: m16n8k8 of 16-bit types, m16n8k16 of 8-bit ones ...
bool IsHalfSize(const TensorOp& op);

}  // namespace sm89
