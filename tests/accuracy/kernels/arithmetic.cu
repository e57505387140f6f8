// Arithmetic chains: with one thread the latency of an operation, with 1,024 threads its throughput.
#include "clock.h"

#define FOUR(STEP) STEP "\n" STEP "\n" STEP "\n" STEP

// result = a * b + result, four a round: three source registers of which none is read twice in a row.
#define FMA_CHAIN(NAME, TYPE, CONSTRAINT, ROUNDS, STEP)                                        \
  __global__ void NAME(uint32_t* clocks, TYPE* sink, const TYPE* a, const TYPE* b) {           \
    const int id = blockIdx.x * blockDim.x + threadIdx.x;                                      \
    TYPE x = a[id], y = b[id], result = 0;                                                     \
    Barrier();                                                                                 \
    const uint32_t start = Clock();                                                            \
    for (int i = 0; i < ROUNDS; ++i)                                                           \
      asm volatile(FOUR(STEP) : "+" CONSTRAINT(result), "+" CONSTRAINT(x), "+" CONSTRAINT(y)); \
    Barrier();                                                                                 \
    const uint32_t stop = Clock();                                                             \
    clocks[id] = stop - start;                                                                 \
    sink[id] = result;                                                                         \
  }

extern "C" {

FMA_CHAIN(ffma_latency, float, "f", 4096, "fma.rn.f32 %0, %1, %2, %0;")
FMA_CHAIN(ffma_rate, float, "f", 1024, "fma.rn.f32 %0, %1, %2, %0;")
FMA_CHAIN(imad, int, "r", 1024, "mad.lo.s32 %0, %1, %2, %0;")
FMA_CHAIN(dfma_latency, double, "d", 4096, "fma.rn.f64 %0, %1, %2, %0;")
FMA_CHAIN(dfma_rate, double, "d", 128, "fma.rn.f64 %0, %1, %2, %0;")

// result = result * factor + result in both halves.
#define HFMA2_CHAIN(NAME, ROUNDS)                                                                \
  __global__ void NAME(uint32_t* clocks, uint32_t* sink, const uint32_t* a, const uint32_t* b) { \
    const int id = blockIdx.x * blockDim.x + threadIdx.x;                                        \
    const uint32_t factor = b[id];                                                               \
    uint32_t result = a[id];                                                                     \
    Barrier();                                                                                   \
    const uint32_t start = Clock();                                                              \
    for (int i = 0; i < ROUNDS; ++i)                                                             \
      asm volatile("fma.rn.f16x2 %0, %0, %1, %0;" : "+r"(result) : "r"(factor));                 \
    Barrier();                                                                                   \
    const uint32_t stop = Clock();                                                               \
    clocks[id] = stop - start;                                                                   \
    sink[id] = result;                                                                           \
  }

HFMA2_CHAIN(hfma2_latency, 4096)
HFMA2_CHAIN(hfma2_rate, 1024)

#define SFU_CHAIN(NAME, STEP)                                               \
  __global__ void NAME(uint32_t* clocks, float* sink, const float* a) {     \
    const int id = blockIdx.x * blockDim.x + threadIdx.x;                   \
    float result = a[id];                                                   \
    Barrier();                                                              \
    const uint32_t start = Clock();                                         \
    for (int i = 0; i < 1024; ++i) asm volatile(FOUR(STEP) : "+f"(result)); \
    Barrier();                                                              \
    const uint32_t stop = Clock();                                          \
    clocks[id] = stop - start;                                              \
    sink[id] = result;                                                      \
  }

SFU_CHAIN(sin_approx, "sin.approx.ftz.f32 %0, %0;")
SFU_CHAIN(sqrt_approx, "sqrt.approx.ftz.f32 %0, %0;")
}
