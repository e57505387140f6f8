// The DPX intrinsics, which sm_89 makes of several instructions: a dependent chain for one thread, four
// intertwined chains for 1,024.
#include "clock.h"

#define DPX(NAME, CALL, ROUNDS)                                                             \
  __global__ void NAME##_latency(uint32_t* clocks, int* sink, const int* a, const int* b) { \
    int s1 = a[threadIdx.x], s2 = b[threadIdx.x] + 1, s3 = s1 + 2;                          \
    Barrier();                                                                              \
    const uint32_t start = Clock();                                                         \
    for (int i = 0; i < 1024; ++i) s1 = CALL(s1, s2, s3);                                   \
    Barrier();                                                                              \
    const uint32_t stop = Clock();                                                          \
    clocks[threadIdx.x] = stop - start;                                                     \
    sink[threadIdx.x] = s1 + s2 + s3;                                                       \
  }                                                                                         \
  __global__ void NAME##_rate(uint32_t* clocks, int* sink, const int* a, const int* b) {    \
    const int id = threadIdx.x;                                                             \
    int s1 = a[id], s2 = b[id] + 1, s3 = s1 + 2, s4 = s2, s5 = a[id], s6 = b[id] + 1;       \
    Barrier();                                                                              \
    const uint32_t start = Clock();                                                         \
    for (int i = 0; i < ROUNDS; ++i) {                                                      \
      s1 = CALL(s1, s2, s3);                                                                \
      s2 = CALL(s2, s3, s4);                                                                \
      s3 = CALL(s3, s4, s5);                                                                \
      s4 = CALL(s4, s5, s6);                                                                \
    }                                                                                       \
    Barrier();                                                                              \
    const uint32_t stop = Clock();                                                          \
    clocks[id] = stop - start;                                                              \
    sink[id] = s1 + s2 + s3 + s4;                                                           \
  }

__device__ __forceinline__ int Max2Relu(int a, int b, int) { return __vimax_s32_relu(a, b); }

extern "C" {
DPX(viaddmax_s32, __viaddmax_s32, 1024)
DPX(viaddmax_s32_relu, __viaddmax_s32_relu, 1024)
DPX(vimax3_s32, __vimax3_s32, 1024)
DPX(vimax3_s32_relu, __vimax3_s32_relu, 1024)
DPX(viaddmax_s16x2, __viaddmax_s16x2, 256)
DPX(viaddmax_s16x2_relu, __viaddmax_s16x2_relu, 256)
DPX(vimax3_s16x2, __vimax3_s16x2, 256)
DPX(vimax_s32_relu, Max2Relu, 1024)
}
