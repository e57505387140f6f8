// Loads, copies and asynchronous copies at the rate of L1, shared memory, L2 and DRAM.
#include <cuda_pipeline.h>

#include "clock.h"

extern "C" {

constexpr uint32_t kL1Floats = 128 * 1024 / 8;  // half of L1
constexpr uint32_t kWarp = 32;

// Load and sums in one piece, as in the source: the next load comes behind them.
#define LOAD_V4(OP, P)                                                                              \
  asm volatile("{.reg .f32 a, b, c, d;\n" OP                                                        \
               " {a, b, c, d}, [%4];\n"                                                             \
               "add.f32 %0, a, %0;\n add.f32 %1, b, %1;\n add.f32 %2, c, %2;\n add.f32 %3, d, %3;}" \
               : "+f"(s0), "+f"(s1), "+f"(s2), "+f"(s3)                                             \
               : "l"(P)                                                                             \
               : "memory")
#define LOAD_V2(OP, P)                                                                             \
  asm volatile("{.reg .f32 a, b;\n" OP " {a, b}, [%2];\n add.f32 %0, a, %0;\n add.f32 %1, b, %1;}" \
               : "+f"(s0), "+f"(s1)                                                                \
               : "l"(P)                                                                            \
               : "memory")
#define LOAD_1(OP, ADD, TYPE, C, P) \
  asm volatile("{.reg ." TYPE " a;\n" OP " a, [%1];\n" ADD " %0, a, %0;}" : "+" C(s) : "l"(P) : "memory")

// One CTA: everybody reads half of L1 once, then 256 times four words (or one vector).
__global__ void l1_read_32(uint32_t* clocks, float* sink, const float* data) {
  const uint32_t tid = threadIdx.x;
  float s0 = 0, s1 = 0, s2 = 0, s3 = 0;
  for (uint32_t i = tid; i < kL1Floats; i += blockDim.x) {
    float v;
    asm volatile("ld.global.ca.f32 %0, [%1];" : "=f"(v) : "l"(data + i) : "memory");
    s0 += v;
  }
  Barrier();
  const uint32_t start = Clock();
  for (uint32_t j = 0; j < 256; ++j) {
    const float* p = &data[(tid + j * kWarp * 4) % kL1Floats];
    asm volatile(
        "{.reg .f32 a, b, c, d;\n"
        "ld.global.ca.f32 a, [%4];\n ld.global.ca.f32 b, [%4+128];\n"
        "ld.global.ca.f32 c, [%4+256];\n ld.global.ca.f32 d, [%4+384];\n"
        "add.f32 %0, a, %0;\n add.f32 %1, b, %1;\n add.f32 %2, c, %2;\n add.f32 %3, d, %3;}"
        : "+f"(s0), "+f"(s1), "+f"(s2), "+f"(s3)
        : "l"(p)
        : "memory");
  }
  Barrier();
  const uint32_t stop = Clock();
  clocks[tid] = stop - start;
  sink[tid] = s0 + s1 + s2 + s3;
}

__global__ void l1_read_64(uint32_t* clocks, float* sink, const float* data) {
  const uint32_t tid = threadIdx.x;
  float s0 = 0, s1 = 0;
  for (uint32_t i = tid * 2; i < kL1Floats; i += blockDim.x * 2) {
    LOAD_V2("ld.global.ca.v2.f32", data + i);
  }
  Barrier();
  const uint32_t start = Clock();
  for (uint32_t j = 0; j < 256; ++j) {
    const float* p = data + (tid * 2 + j * kWarp * 2) % kL1Floats;
    LOAD_V2("ld.global.ca.v2.f32", p);
  }
  Barrier();
  const uint32_t stop = Clock();
  clocks[tid] = stop - start;
  sink[tid] = s0 + s1;
}

__global__ void l1_read_128(uint32_t* clocks, float* sink, const float* data) {
  const uint32_t tid = threadIdx.x;
  float s0 = 0, s1 = 0, s2 = 0, s3 = 0;
  for (uint32_t i = tid * 4; i < kL1Floats; i += blockDim.x * 4) {
    LOAD_V4("ld.global.ca.v4.f32", data + i);
  }
  Barrier();
  const uint32_t start = Clock();
  for (uint32_t j = 0; j < 256; ++j) {
    LOAD_V4("ld.global.ca.v4.f32", data + (tid * 4 + j * kWarp * 4) % kL1Floats);
  }
  Barrier();
  const uint32_t stop = Clock();
  clocks[tid] = stop - start;
  sink[tid] = s0 + s1 + s2 + s3;
}

#define SHARED_READ(NAME, TYPE)                                                          \
  __global__ void NAME(uint32_t* clocks, TYPE* sink, uint32_t stride) {                  \
    constexpr uint32_t kCount = 32 * 1024 / sizeof(TYPE);                                \
    const uint32_t tid = threadIdx.x;                                                    \
    __shared__ TYPE next[kCount];                                                        \
    for (uint32_t i = tid; i < kCount; i += blockDim.x) next[i] = (i + stride) % kCount; \
    TYPE p = tid;                                                                        \
    Barrier();                                                                           \
    const uint32_t start = Clock();                                                      \
    for (uint32_t i = 0; i < 1024; ++i) p = next[p];                                     \
    Barrier();                                                                           \
    const uint32_t stop = Clock();                                                       \
    clocks[tid] = stop - start;                                                          \
    sink[tid] = p;                                                                       \
  }

SHARED_READ(shared_read_32, uint32_t)
SHARED_READ(shared_read_64, uint64_t)

// A shared and an L1 chase side by side. Only the first blockDim.x words of `global` lead anywhere: as in the
// source, whose host code fills no more, all lanes soon read one word.
__global__ void shared_and_l1_read_32(uint32_t* clocks, uint32_t* sink, uint32_t* global, uint32_t stride) {
  constexpr uint32_t kCount = 32 * 1024 / 4;
  const uint32_t tid = threadIdx.x;
  __shared__ uint32_t next[kCount];
  for (uint32_t i = tid; i < kCount; i += blockDim.x) next[i] = (i + stride + 7) % kCount;
  global[tid] = (tid + stride + 1) % kL1Floats;
  __syncthreads();
  uint32_t p = tid, q = tid;
  for (uint32_t i = 0; i < 64; ++i) q = global[q];
  Barrier();
  const uint32_t start = Clock();
  for (uint32_t i = 0; i < 1024; ++i) {
    p = next[p];
    q = global[q];
  }
  Barrier();
  const uint32_t stop = Clock();
  clocks[tid] = stop - start;
  sink[tid] = p + q;
}

// All SMs: the data is read once, then `repeats` times in overlapping pieces past L1. (The source's index
// modulo the size never wraps; it is left out.)
__global__ void l2_read_128(uint32_t* clocks, float* sink, const float* data, uint32_t count,
                            uint32_t repeats) {
  const uint32_t id = blockIdx.x * blockDim.x + threadIdx.x;
  float s0 = 0, s1 = 0, s2 = 0, s3 = 0;
  for (uint32_t i = id * 4; i < count; i += blockDim.x * gridDim.x * 4) {
    LOAD_V4("ld.global.cg.v4.f32", data + i);
  }
  Barrier();
  const uint32_t start = Clock();
  for (uint32_t i = 0; i < repeats; ++i) {
    LOAD_V4("ld.global.cg.v4.f32", data + i * kWarp * 4 + id * 4);
  }
  Barrier();
  const uint32_t stop = Clock();
  clocks[id] = stop - start;
  sink[id] = s0 + s1 + s2 + s3;
}

__global__ void l2_read_32(uint32_t* clocks, float* sink, const float* data, uint32_t count,
                           uint32_t repeats) {
  const uint32_t id = blockIdx.x * blockDim.x + threadIdx.x;
  float s = 0;
  for (uint32_t i = id; i < count; i += blockDim.x * gridDim.x) {
    LOAD_1("ld.global.cg.f32", "add.f32", "f32", "f", data + i);
  }
  Barrier();
  const uint32_t start = Clock();
  for (uint32_t i = 0; i < repeats; ++i) {
    LOAD_1("ld.global.cg.f32", "add.f32", "f32", "f", data + i * kWarp + id);
  }
  Barrier();
  const uint32_t stop = Clock();
  clocks[id] = stop - start;
  sink[id] = s;
}

// 64-bit words, each added in double precision.
__global__ void l2_read_f64(uint32_t* clocks, double* sink, const double* data, uint32_t count,
                            uint32_t repeats) {
  const uint32_t id = blockIdx.x * blockDim.x + threadIdx.x;
  double s = 0;
  for (uint32_t i = id; i < count; i += blockDim.x * gridDim.x) {
    LOAD_1("ld.global.cg.f64", "add.f64", "f64", "d", data + i);
  }
  Barrier();
  const uint32_t start = Clock();
  for (uint32_t i = 0; i < repeats; ++i) {
    LOAD_1("ld.global.cg.f64", "add.f64", "f64", "d", data + i * kWarp + id);
  }
  Barrier();
  const uint32_t stop = Clock();
  clocks[id] = stop - start;
  sink[id] = s;
}

// 5 arrays are read, 1 written, 16 bytes a thread and access.
__global__ void read5_write1(const float4* a, const float4* b, float4* c, const float4* d, const float4* e,
                             const float4* f, int count) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += blockDim.x * gridDim.x) {
    const float4 x = a[i], y = b[i], z = d[i], u = e[i], v = f[i];
    c[i] = make_float4(x.x + y.x + z.x + u.x + v.x, x.y + y.y + z.y + u.y + v.y, x.z + y.z + z.z + u.z + v.z,
                       x.w + y.w + z.w + u.w + v.w);
  }
}

// `loops` times through the data, 16 bytes a thread and access, four accesses under way a thread.
__global__ void read_128(float* sink, const float4* data, int count, int loops) {
  float s0 = 0, s1 = 0, s2 = 0, s3 = 0;
  const int step = blockDim.x * gridDim.x;
  for (int n = 0; n < loops; ++n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += 4 * step) {
      float v[4][4];
#pragma unroll
      for (int k = 0; k < 4; ++k)
        asm volatile("ld.global.cg.v4.f32 {%0,%1,%2,%3}, [%4];"
                     : "=f"(v[k][0]), "=f"(v[k][1]), "=f"(v[k][2]), "=f"(v[k][3])
                     : "l"(data + i + k * step));
#pragma unroll
      for (int k = 0; k < 4; ++k) s0 += v[k][0], s1 += v[k][1], s2 += v[k][2], s3 += v[k][3];
    }
  }
  if (s0 + s1 + s2 + s3 == 12345.0f) sink[0] = s0;
}

// To and fro between two arrays, 4 bytes a thread and access, every access volatile.
__global__ void copy_volatile_32(volatile int* d1, volatile int* d2, int loops, int count) {
  for (int i = 0; i < loops; ++i) {
    for (int j = threadIdx.x + blockDim.x * blockIdx.x; j < count; j += gridDim.x * blockDim.x) {
      if (i & 1)
        d1[j] = d2[j];
      else
        d2[j] = d1[j];
    }
  }
}

__global__ void read_volatile_32(volatile int* d1, int loops, int count) {
  for (int i = 0; i < loops; ++i) {
    for (int j = threadIdx.x + blockDim.x * blockIdx.x; j < count; j += gridDim.x * blockDim.x) (void)d1[j];
  }
}

// The CTA brings tile after tile of its region to shared memory, 16 bytes a thread and copy, each tile
// awaited; `loops` times. Several CTAs share a region.
__global__ void async_copy_128(const float4* data, int regions, int tiles, int loops) {
  extern __shared__ float4 tile[];
  const int per_thread = 4;
  for (int n = 0; n < loops; ++n) {
    for (int t = 0; t < tiles; ++t) {
      const float4* from = data + (blockIdx.x % regions * tiles + t) * blockDim.x * per_thread;
#pragma unroll
      for (int k = 0; k < per_thread; ++k) {
        const int i = k * blockDim.x + threadIdx.x;
        __pipeline_memcpy_async(&tile[i], &from[i], 16);
      }
      __pipeline_commit();
      __pipeline_wait_prior(0);
      __syncthreads();
    }
  }
}

// What a launch takes that does nothing.
__global__ void nothing() {}
}
