// FP64 arithmetic on register-pair bits. FP64 has no FTZ and no SAT. NaN results: see kNan64.
#pragma once

#include <cstdint>

#include "sim/num/mode.h"

namespace sm89::num {

// No public manual states the NaN that FP64 operations generate. Assumption: the pattern of CUDA's own
// CUDART_NAN; NaN sources are quieted and handed on (a before b before c), since the manuals promise one
// canonical NaN for FP32 alone.
inline constexpr uint64_t kNan64 = 0xfff8000000000000u;

uint64_t Dadd(uint64_t a, uint64_t b, Round round);
uint64_t Dmul(uint64_t a, uint64_t b, Round round);
uint64_t Dfma(uint64_t a, uint64_t b, uint64_t c, Round round);
uint64_t Dmnmx(uint64_t a, uint64_t b, MinMaxMode mode);
Relation Dcompare(uint64_t a, uint64_t b);

}  // namespace sm89::num
