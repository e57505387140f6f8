// C = A B, row-major, with 8 x 8 results a thread in registers: a block of 64 threads makes a 64 x 64 tile from
// slices of 8 along k. m and n are multiples of 64, k of 8; grid (n / 64, m / 64). Sums run over k upwards, one
// fused multiply-add each.
constexpr int kTile = 64;   // rows and columns of C a block
constexpr int kSlice = 8;   // of k, in shared memory at a time
constexpr int kPatch = 8;   // rows and columns of C a thread
constexpr int kThreads = (kTile / kPatch) * (kTile / kPatch);

// Two floats of four: columns c and c + 32 keep a warp's reads of shared memory free of conflicts.
__device__ __forceinline__ void LoadPatch(const float* line, int first, float (&patch)[kPatch]) {
  const float4 low = *reinterpret_cast<const float4*>(line + first);
  const float4 high = *reinterpret_cast<const float4*>(line + first + kTile / 2);
  patch[0] = low.x, patch[1] = low.y, patch[2] = low.z, patch[3] = low.w;
  patch[4] = high.x, patch[5] = high.y, patch[6] = high.z, patch[7] = high.w;
}

__device__ __forceinline__ int PatchIndex(int first, int i) { return first + i % 4 + (i / 4) * (kTile / 2); }

extern "C" __global__ void __launch_bounds__(kThreads)
    sgemm_register(const float* a, const float* b, float* c, int m, int n, int k) {
  __shared__ __align__(16) float slice_a[kSlice][kTile];  // transposed: a thread's rows lie side by side
  __shared__ __align__(16) float slice_b[kSlice][kTile];
  const int thread = threadIdx.x;
  const int row0 = blockIdx.y * kTile;
  const int column0 = blockIdx.x * kTile;
  const int first_row = thread / (kTile / kPatch) * 4;
  const int first_column = thread % (kTile / kPatch) * 4;
  float sums[kPatch][kPatch] = {};

  for (int k0 = 0; k0 < k; k0 += kSlice) {
    const float* line_a = a + (row0 + thread) * k + k0;  // thread t brings row t of A's slice
#pragma unroll
    for (int i = 0; i < kSlice; i += 4) {
      const float4 part = *reinterpret_cast<const float4*>(line_a + i);
      slice_a[i][thread] = part.x;
      slice_a[i + 1][thread] = part.y;
      slice_a[i + 2][thread] = part.z;
      slice_a[i + 3][thread] = part.w;
    }
#pragma unroll
    for (int i = 0; i < kSlice; i += 4) {  // sixteen threads bring a row of B's slice
      const int row = i + thread / 16;
      const int column = thread % 16 * 4;
      *reinterpret_cast<float4*>(&slice_b[row][column]) =
          *reinterpret_cast<const float4*>(b + (k0 + row) * n + column0 + column);
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < kSlice; ++i) {
      float patch_a[kPatch];
      float patch_b[kPatch];
      LoadPatch(slice_a[i], first_row, patch_a);
      LoadPatch(slice_b[i], first_column, patch_b);
#pragma unroll
      for (int y = 0; y < kPatch; ++y) {
#pragma unroll
        for (int x = 0; x < kPatch; ++x) sums[y][x] = fmaf(patch_a[y], patch_b[x], sums[y][x]);
      }
    }
    __syncthreads();
  }

#pragma unroll
  for (int y = 0; y < kPatch; ++y) {
    float* line = c + (row0 + PatchIndex(first_row, y)) * n + column0 + first_column;
    *reinterpret_cast<float4*>(line) = make_float4(sums[y][0], sums[y][1], sums[y][2], sums[y][3]);
    *reinterpret_cast<float4*>(line + kTile / 2) = make_float4(sums[y][4], sums[y][5], sums[y][6], sums[y][7]);
  }
}
