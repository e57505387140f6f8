// Tensor-core products over register rows of 32 lanes: D = A x B + C for HMMA, IMMA, BMMA, DMMA, QMMA, dense
// and sparse; LDSM and MOVM data movement.
#pragma once

#include <cstdint>

#include "sim/num/mma_layout.h"

namespace sm89::num {

enum class MmaMode : uint8_t {
  // Model of the tensor core (README.md): groups of products aligned to the largest exponent, truncated, no
  // rounding
  // in between.
  kHardware,
  // Reference: one FP32 fused multiply-add a product, in k order, each rounded to nearest (FP16 results: once
  // more).
  kFmaChain,
};

// Each pointer is a row of 32 lanes. D may overlay A, B, C or E. Unused pointers may be null.
struct MmaRegs {
  const uint32_t* a[16] = {};
  const uint32_t* b[8] = {};
  const uint32_t* c[8] = {};
  uint32_t* d[8] = {};
  const uint32_t* e = nullptr;  // sparse metadata
};

// Precondition: IsSupported(desc).
void Mma(const MmaDesc& desc, const MmaRegs& regs, MmaMode mode = MmaMode::kHardware);

// The hardware model without wide vector instructions, for tests; float types only.
void MmaPortable(const MmaDesc& desc, const MmaRegs& regs);

// LDSM: rows[i] = the 8 rows' 16 bytes of matrix i (128 bytes, row after row), as read at the lanes'
// addresses; dst[i] = register row i.
void Ldmatrix(const uint8_t* matrix_bytes, uint32_t* dst, bool transposed);
// MOVM.16.MT88: transposes an 8x8 matrix of 16-bit elements held one register a lane.
void MovmTranspose(const uint32_t* src, uint32_t* dst);

}  // namespace sm89::num
