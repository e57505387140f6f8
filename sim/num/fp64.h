// FP64 arithmetic on register-pair bits. FP64 has no FTZ and no SAT. NaN results: see kNan64.
#pragma once

#include <cstdint>

#include "sim/num/mode.h"

namespace sm89::num {

// PTX ISA leaves FP64 NaN payloads open; measured values on sm_80..sm_90 show 0x7fffffff in the high word of
// generated NaNs is not universal, so this is an assumption: 0xfff80000'00000000, the pattern that CUDA
// programs print for 0.0/0.0. Input NaNs are quieted and handed on (a before b before c), as PTX asks
// ("payload preserved").
inline constexpr uint64_t kNan64 = 0xfff8000000000000u;

uint64_t Dadd(uint64_t a, uint64_t b, Round round);
uint64_t Dmul(uint64_t a, uint64_t b, Round round);
uint64_t Dfma(uint64_t a, uint64_t b, uint64_t c, Round round);
uint64_t Dmnmx(uint64_t a, uint64_t b, MinMaxMode mode);
Relation Dcompare(uint64_t a, uint64_t b);

}  // namespace sm89::num
