// Dependent chains of loads and atomics, one thread unless the launch says otherwise. Only the last CTA of a
// launch runs its chain: the size of the grid chooses its SM, since the way to the L2 differs from SM to SM.
#include "clock.h"

#define CHASE(NAME, LOAD, INIT)                                                                    \
  __global__ void NAME(uint32_t* clocks, uint64_t* sink, uint64_t* next, uint32_t count) {         \
    if (blockIdx.x + 1 != gridDim.x) return;                                                       \
    if (INIT) {                                                                                    \
      for (uint32_t i = 0; i + 1 < count; ++i) next[i] = reinterpret_cast<uint64_t>(next + i + 1); \
      next[count - 1] = reinterpret_cast<uint64_t>(next);                                          \
    }                                                                                              \
    uint64_t p;                                                                                    \
    asm volatile(LOAD " %0, [%1];" : "=l"(p) : "l"(next + threadIdx.x) : "memory");                \
    Barrier();                                                                                     \
    const uint32_t start = Clock();                                                                \
    for (uint32_t i = 0; i < kLoopSteps; ++i) asm volatile(LOAD " %0, [%0];" : "+l"(p)::"memory"); \
    const uint32_t stop = Clock();                                                                 \
    clocks[threadIdx.x] = stop - start;                                                            \
    sink[threadIdx.x] = p;                                                                         \
  }

extern "C" {

constexpr uint32_t kLoopSteps = 32768;

// One thread writes a cyclic list of neighbouring 8-byte words, reads its first word, then follows it. The
// stores leave nothing in L1, so that the first time round one load in four brings a sector from the L2.
CHASE(chase_ca, "ld.global.ca.u64", true)
CHASE(chase_cg, "ld.global.cg.u64", true)

// A list in memory that nobody has touched; all threads follow the same one.
__global__ void chase_cv(uint32_t* clocks, uint64_t* sink, const uint64_t* next, uint32_t steps) {
  if (blockIdx.x + 1 != gridDim.x) return;
  uint64_t p;
  asm volatile("ld.global.cv.u64 %0, [%1];" : "=l"(p) : "l"(next) : "memory");
  Barrier();
  const uint32_t start = Clock();
  for (uint32_t i = 0; i < steps; ++i) asm volatile("ld.global.cv.u64 %0, [%0];" : "+l"(p)::"memory");
  const uint32_t stop = Clock();
  clocks[threadIdx.x] = stop - start;
  sink[threadIdx.x] = p;
}

__global__ void chase_cold_cg(uint32_t* clocks, uint64_t* sink, const uint64_t* next, uint32_t steps) {
  if (blockIdx.x + 1 != gridDim.x) return;
  uint64_t p;
  asm volatile("ld.global.cv.u64 %0, [%1];" : "=l"(p) : "l"(next) : "memory");
  Barrier();
  const uint32_t start = Clock();
  for (uint32_t i = 0; i < steps; ++i) asm volatile("ld.global.cg.u64 %0, [%0];" : "+l"(p)::"memory");
  const uint32_t stop = Clock();
  clocks[threadIdx.x] = stop - start;
  sink[threadIdx.x] = p;
}

__device__ __forceinline__ const int64_t* Follow(const int64_t* p, uint32_t steps) {
#pragma unroll 1
  for (uint32_t n = 0; n < steps; n += 32) {
#pragma unroll
    for (int u = 0; u < 32; ++u) p = reinterpret_cast<const int64_t*>(*p);
  }
  return p;
}

// 32 loads in a row, then the loop's own instructions: `warm` steps, then `steps` that count.
__global__ void chase_unrolled(uint32_t* clocks, const int64_t** sink, const int64_t* next, uint32_t warm,
                               uint32_t steps) {
  if (blockIdx.x + 1 != gridDim.x) return;
  const int64_t* p = Follow(next, warm);
  if (p == nullptr) return;
  const uint32_t start = Clock();
  p = Follow(p, steps);
  sink[threadIdx.x] = p;
  const uint32_t stop = Clock();
  clocks[threadIdx.x] = stop - start;
}

// The same over `nodes` nodes 64 bytes apart in an order without pattern: the first word of a node holds the
// number of its successor's word. All CTAs turn the numbers into addresses; the last one to finish goes round
// once, then `steps` further.
__global__ void chase_permuted(uint32_t* clocks, const int64_t** sink, int64_t* words, uint32_t nodes,
                               uint32_t steps, uint32_t* arrived) {
  for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < nodes; i += gridDim.x * blockDim.x) {
    int64_t* word = words + 8ull * i;
    *word = reinterpret_cast<int64_t>(words + *word);
  }
  __threadfence();
  __syncthreads();
  __shared__ bool last;
  if (threadIdx.x == 0) last = atomicAdd(arrived, 1) == gridDim.x - 1;
  __syncthreads();
  if (!last || threadIdx.x >= 4) return;
  __threadfence();
  const int64_t* p = Follow(words, nodes);
  if (p == nullptr) return;
  const uint32_t start = Clock();
  p = Follow(p, steps);
  sink[threadIdx.x] = p;
  const uint32_t stop = Clock();
  clocks[threadIdx.x] = stop - start;
}

// idx = a[idx] over 32-bit numbers.
__global__ void chase_index(uint32_t* clocks, int* sink, const int* a, int warm, int steps) {
  if (blockIdx.x + 1 != gridDim.x) return;
  int idx = 0;
  for (int i = 0; i < warm; ++i) idx = a[idx];
  if (idx < 0) return;
  const uint32_t start = Clock();
  for (int i = 0; i < steps; ++i) idx = a[idx];
  const uint32_t stop = Clock();
  clocks[0] = stop - start;
  sink[0] = idx;
}

#define SHARED_CHASE(NAME, TYPE, BYTES)                                                                   \
  __global__ void NAME(uint32_t* clocks, TYPE* sink, uint32_t stride) {                                   \
    constexpr uint32_t kCount = BYTES / sizeof(TYPE);                                                     \
    __shared__ TYPE next[kCount];                                                                         \
    for (uint32_t i = threadIdx.x; i < kCount - stride; i += blockDim.x) next[i] = (i + stride) % kCount; \
    if (threadIdx.x != 0) return;                                                                         \
    TYPE p = 0;                                                                                           \
    const uint32_t start = Clock();                                                                       \
    for (uint32_t i = 0; i < 2048; ++i) p = next[p];                                                      \
    const uint32_t stop = Clock();                                                                        \
    clocks[0] = stop - start;                                                                             \
    sink[0] = p;                                                                                          \
  }

SHARED_CHASE(chase_shared_32k, uint64_t, 32 * 1024)
SHARED_CHASE(chase_shared_48k, uint64_t, 48 * 1024)

// The index of each add is what the one before returned, which leads through all words. The source's host had
// just copied them, which leaves them in the L2; here loads do.
__global__ void atomic_chain(uint32_t* clocks, int* sink, int* words) {
  if (blockIdx.x + 1 != gridDim.x) return;
  uint32_t index = 0;
  int sum = 0;
  for (int i = 0; i < 1024; i += 8) sum += __ldcg(words + i);
  if (sum == 0) return;
  Barrier();
  const uint32_t start = Clock();
  for (int i = 0; i < 1024; ++i) index = atomicAdd(&words[index], 10);
  Barrier();
  const uint32_t stop = Clock();
  clocks[0] = stop - start;
  sink[0] = words[0] + index;
}
}
