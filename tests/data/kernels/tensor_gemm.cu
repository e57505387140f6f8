// C = A B on tensor cores: A (m x k) and B (k x n) in f16, C (m x n) in f32, all row-major; m and n multiples of
// 64, k of 32. A block of four warps makes a 64 x 64 tile, a warp a 32 x 32 quarter of it. Slices of 32 along k
// come through asynchronous copies into two stages of shared memory; ldmatrix hands them to mma.m16n8k16.
#include <cuda_fp16.h>

#include <cstdint>

constexpr int kTile = 64;
constexpr int kSlice = 32;
constexpr int kThreads = 128;
// Eight more halves a row: the eight rows that ldmatrix reads at once then lie in different banks.
constexpr int kStrideA = kSlice + 8;
constexpr int kStrideB = kTile + 8;
constexpr int kMmaM = 16, kMmaN = 8, kMmaK = 16;
constexpr int kWarpTile = 32;

struct Stage {
  __half a[kTile * kStrideA];
  __half b[kSlice * kStrideB];
};

__device__ __forceinline__ uint32_t SharedAddress(const void* pointer) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(pointer));
}

__device__ __forceinline__ void CopySixteenBytes(__half* to, const __half* from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(SharedAddress(to)), "l"(from) : "memory");
}

__device__ __forceinline__ void CommitCopies() { asm volatile("cp.async.commit_group;" ::: "memory"); }

template <int kPending>
__device__ __forceinline__ void WaitForCopies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kPending) : "memory");
}

__device__ __forceinline__ void LoadMatrices(uint32_t (&regs)[4], const __half* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(regs[0]), "=r"(regs[1]), "=r"(regs[2]), "=r"(regs[3])
               : "r"(SharedAddress(row))
               : "memory");
}

__device__ __forceinline__ void LoadMatricesTransposed(uint32_t (&regs)[4], const __half* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(regs[0]), "=r"(regs[1]), "=r"(regs[2]), "=r"(regs[3])
               : "r"(SharedAddress(row))
               : "memory");
}

__device__ __forceinline__ void MultiplyAdd(float (&c)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// Starts the copies of the slices at k0: each thread brings two pieces of A and two of B, sixteen bytes each.
__device__ __forceinline__ void StartSlice(Stage& stage, const __half* a, const __half* b, int n, int k, int k0) {
#pragma unroll
  for (int piece = threadIdx.x; piece < kTile * kSlice / 8; piece += kThreads) {
    const int row_a = piece / (kSlice / 8);
    const int column_a = piece % (kSlice / 8) * 8;
    CopySixteenBytes(&stage.a[row_a * kStrideA + column_a], a + row_a * k + k0 + column_a);
    const int row_b = piece / (kTile / 8);
    const int column_b = piece % (kTile / 8) * 8;
    CopySixteenBytes(&stage.b[row_b * kStrideB + column_b], b + (k0 + row_b) * n + column_b);
  }
  CommitCopies();
}

// One slice: two steps of 16 along k, each of 2 x 4 products for the warp's quarter.
__device__ __forceinline__ void MultiplySlice(const Stage& stage, int row, int column, float (&sums)[2][4][4]) {
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int k0 = 0; k0 < kSlice; k0 += kMmaK) {
    uint32_t a[2][4];
    uint32_t b[2][4];
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      LoadMatrices(a[i], &stage.a[(row + i * kMmaM + lane % 16) * kStrideA + k0 + lane / 16 * 8]);
      LoadMatricesTransposed(b[i], &stage.b[(k0 + lane % 16) * kStrideB + column + i * 16 + lane / 16 * 8]);
    }
#pragma unroll
    for (int y = 0; y < 2; ++y) {
#pragma unroll
      for (int x = 0; x < 4; ++x) MultiplyAdd(sums[y][x], a[y], b[x / 2][x % 2 * 2], b[x / 2][x % 2 * 2 + 1]);
    }
  }
}

extern "C" __global__ void __launch_bounds__(kThreads)
    tensor_gemm(const __half* a, const __half* b, float* c, int m, int n, int k) {
  __shared__ __align__(16) Stage stages[2];
  const int warp = threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  const int row = warp / 2 * kWarpTile;  // of the warp's quarter in the tile
  const int column = warp % 2 * kWarpTile;
  const __half* block_a = a + blockIdx.y * kTile * k;
  const __half* block_b = b + blockIdx.x * kTile;
  float sums[2][4][4] = {};

  StartSlice(stages[0], block_a, block_b, n, k, 0);
  for (int k0 = 0, stage = 0; k0 < k; k0 += kSlice, stage ^= 1) {
    if (k0 + kSlice < k) {
      StartSlice(stages[stage ^ 1], block_a, block_b, n, k, k0 + kSlice);
      WaitForCopies<1>();
    } else {
      WaitForCopies<0>();
    }
    __syncthreads();
    MultiplySlice(stages[stage], row, column, sums);
    __syncthreads();
  }

  // A lane holds two neighbours of row lane / 4 and two of the row eight below.
#pragma unroll
  for (int y = 0; y < 2; ++y) {
#pragma unroll
    for (int x = 0; x < 4; ++x) {
      const int out_row = blockIdx.y * kTile + row + y * kMmaM + lane / 4;
      const int out_column = blockIdx.x * kTile + column + x * kMmaN + lane % 4 * 2;
      float* out = c + out_row * n + out_column;
      *reinterpret_cast<float2*>(out) = make_float2(sums[y][x][0], sums[y][x][1]);
      *reinterpret_cast<float2*>(out + 8 * n) = make_float2(sums[y][x][2], sums[y][x][3]);
    }
  }
}
