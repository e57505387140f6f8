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

// Two 16-bit numbers a word, computed apart: so do the headers of CUDA 12.1 before sm_90, with which the
// source's figures agree; later ones make other instructions.
struct Pair {
  __device__ __forceinline__ explicit Pair(int word)
      : lo(word & 0xFFFF), hi(static_cast<uint32_t>(word) >> 16) {}
  short lo, hi;
};

__device__ __forceinline__ int Join(short lo, short hi) {
  return static_cast<uint16_t>(lo) | static_cast<uint32_t>(static_cast<uint16_t>(hi)) << 16;
}

__device__ __forceinline__ short AddMax(short a, short b, short c) {
  return max(static_cast<short>(a + b), c);
}

__device__ __forceinline__ short Relu(short a) { return a < 0 ? 0 : a; }

__device__ __forceinline__ int AddMax16(int a, int b, int c) {
  const Pair x(a), y(b), z(c);
  return Join(AddMax(x.lo, y.lo, z.lo), AddMax(x.hi, y.hi, z.hi));
}

__device__ __forceinline__ int AddMaxRelu16(int a, int b, int c) {
  const Pair x(a), y(b), z(c);
  return Join(Relu(AddMax(x.lo, y.lo, z.lo)), Relu(AddMax(x.hi, y.hi, z.hi)));
}

__device__ __forceinline__ int Max316(int a, int b, int c) {
  const Pair x(a), y(b), z(c);
  return Join(max(max(x.lo, y.lo), z.lo), max(max(x.hi, y.hi), z.hi));
}

extern "C" {
DPX(viaddmax_s32, __viaddmax_s32, 1024)
DPX(viaddmax_s32_relu, __viaddmax_s32_relu, 1024)
DPX(vimax3_s32, __vimax3_s32, 1024)
DPX(vimax3_s32_relu, __vimax3_s32_relu, 1024)
DPX(viaddmax_s16x2, AddMax16, 256)
DPX(viaddmax_s16x2_relu, AddMaxRelu16, 256)
DPX(vimax3_s16x2, Max316, 256)
DPX(vimax_s32_relu, Max2Relu, 1024)
}
