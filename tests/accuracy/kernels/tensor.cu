// mma.sync in all types and shapes of sm_89: four independent accumulators a warp, so that with four warps a
// sub-core the tensor core never waits.
#include <cuda_fp16.h>
#include <mma.h>

#include "clock.h"

#define A1 "{%4}"
#define A2 "{%4,%5}"
#define A4 "{%4,%5,%6,%7}"
#define B1 "{%8}"
#define B2 "{%8,%9}"
#define B4 "{%8,%9,%10,%11}"
#define C2 "{%0,%1}"
#define C4 "{%0,%1,%2,%3}"

// TAIL: what follows the accumulator, as the metadata of a sparse operation.
#define MMA(NAME, OP, A, B, C, TAIL)                                                                   \
  __global__ void NAME(uint32_t* clocks, uint32_t* sink, uint32_t seed, int rounds) {                  \
    uint32_t a[4], b[4], d[4][4];                                                                      \
    for (int i = 0; i < 4; ++i) a[i] = seed + i, b[i] = seed * 3 + i;                                  \
    for (int j = 0; j < 4; ++j)                                                                        \
      for (int i = 0; i < 4; ++i) d[j][i] = seed;                                                      \
    Barrier();                                                                                         \
    const uint32_t start = Clock();                                                                    \
    _Pragma("unroll 1") for (int n = 0; n < rounds; ++n) {                                             \
      _Pragma("unroll") for (int j = 0; j < 4; ++j) asm volatile(                                      \
          OP " " C "," A "," B "," C TAIL ";" : "+r"(d[j][0]), "+r"(d[j][1]), "+r"(d[j][2]),           \
          "+r"(d[j][3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(b[2]), \
          "r"(b[3]), "r"(0x44444444));                                                                 \
    }                                                                                                  \
    Barrier();                                                                                         \
    const uint32_t stop = Clock();                                                                     \
    uint32_t sum = 0;                                                                                  \
    for (int j = 0; j < 4; ++j)                                                                        \
      for (int i = 0; i < 4; ++i) sum += d[j][i];                                                      \
    clocks[threadIdx.x] = stop - start;                                                                \
    sink[threadIdx.x] = sum;                                                                           \
  }

#define SP ",%12,0x0"
#define DENSE(SHAPE, TYPES) "mma.sync.aligned." SHAPE ".row.col." TYPES
#define SPARSE(SHAPE, TYPES) "mma.sp::ordered_metadata.sync.aligned." SHAPE ".row.col." TYPES

// 16 x 16 x 16 through the warp-matrix interface, one accumulator a warp.
#define WMMA(NAME, ACC)                                                                             \
  __global__ void NAME(uint32_t* clocks, ACC* sink, const __half* a, const __half* b, int rounds) { \
    using namespace nvcuda;                                                                         \
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> fa;                         \
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::col_major> fb;                         \
    wmma::fragment<wmma::accumulator, 16, 16, 16, ACC> fc;                                          \
    const int warp = threadIdx.x / 32;                                                              \
    wmma::load_matrix_sync(fa, a + warp * 256, 16);                                                 \
    wmma::fill_fragment(fc, 0.0f);                                                                  \
    wmma::load_matrix_sync(fb, b + warp * 256, 16);                                                 \
    Barrier();                                                                                      \
    const uint32_t start = Clock();                                                                 \
    for (int j = 0; j < rounds; ++j) wmma::mma_sync(fc, fa, fb, fc);                                \
    Barrier();                                                                                      \
    const uint32_t stop = Clock();                                                                  \
    wmma::store_matrix_sync(sink + warp * 256, fc, 16, wmma::mem_row_major);                        \
    clocks[threadIdx.x] = stop - start;                                                             \
  }

extern "C" {
MMA(f16_f16_k16, DENSE("m16n8k16", "f16.f16.f16.f16"), A4, B2, C2, "")
MMA(f16_f32_k16, DENSE("m16n8k16", "f32.f16.f16.f32"), A4, B2, C4, "")
MMA(f16_f16_k8, DENSE("m16n8k8", "f16.f16.f16.f16"), A2, B1, C2, "")
MMA(f16_f32_k8, DENSE("m16n8k8", "f32.f16.f16.f32"), A2, B1, C4, "")
MMA(bf16_k16, DENSE("m16n8k16", "f32.bf16.bf16.f32"), A4, B2, C4, "")
MMA(bf16_k8, DENSE("m16n8k8", "f32.bf16.bf16.f32"), A2, B1, C4, "")
MMA(tf32_k8, DENSE("m16n8k8", "f32.tf32.tf32.f32"), A4, B2, C4, "")
MMA(tf32_k4, DENSE("m16n8k4", "f32.tf32.tf32.f32"), A2, B1, C4, "")
MMA(s8_k32, DENSE("m16n8k32", "s32.s8.s8.s32"), A4, B2, C4, "")
MMA(s8_k16, DENSE("m16n8k16", "s32.s8.s8.s32"), A2, B1, C4, "")
MMA(s4_k64, DENSE("m16n8k64", "s32.s4.s4.s32"), A4, B2, C4, "")
MMA(s4_k32, DENSE("m16n8k32", "s32.s4.s4.s32"), A2, B1, C4, "")
MMA(s4_m8_k32, DENSE("m8n8k32", "s32.s4.s4.s32"), A1, B1, C2, "")
MMA(fp8_f32_k32, DENSE("m16n8k32", "f32.e4m3.e4m3.f32"), A4, B2, C4, "")
MMA(fp8_f16_k32, DENSE("m16n8k32", "f16.e4m3.e4m3.f16"), A4, B2, C2, "")
MMA(sp_f16_f32_k32, SPARSE("m16n8k32", "f32.f16.f16.f32"), A4, B4, C4, SP)
MMA(sp_f16_f16_k32, SPARSE("m16n8k32", "f16.f16.f16.f16"), A4, B4, C2, SP)
MMA(sp_bf16_k32, SPARSE("m16n8k32", "f32.bf16.bf16.f32"), A4, B4, C4, SP)
MMA(sp_tf32_k16, SPARSE("m16n8k16", "f32.tf32.tf32.f32"), A4, B4, C4, SP)
MMA(sp_s8_k64, SPARSE("m16n8k64", "s32.s8.s8.s32"), A4, B4, C4, SP)
MMA(sp_s4_k128, SPARSE("m16n8k128", "s32.s4.s4.s32"), A4, B4, C4, SP)
MMA(sp_fp8_f32_k64, SPARSE("m16n8k64", "f32.e4m3.e4m3.f32"), A4, B4, C4, SP)
WMMA(wmma_f32, float)
WMMA(wmma_f16, __half)
}
