// total = sum of x[0 .. count), in one launch: threads add up their share, warps by shuffles, blocks through
// shared memory; the block that finishes last adds the partial sums. The order of additions is fixed, so the
// result has the same bits whatever order the blocks run in. Block 256.
constexpr int kThreads = 256;
constexpr int kWarps = kThreads / 32;

__device__ __forceinline__ float WarpSum(float value) {
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2) value += __shfl_down_sync(~0u, value, distance);
  return value;
}

// The sum of all threads' values, in thread 0. Every thread must call it.
__device__ __forceinline__ float BlockSum(float value, float (&of_warps)[kWarps]) {
  const int lane = threadIdx.x % 32;
  const int warp = threadIdx.x / 32;
  value = WarpSum(value);
  if (lane == 0) of_warps[warp] = value;
  __syncthreads();
  if (warp == 0) value = WarpSum(lane < kWarps ? of_warps[lane] : 0.0f);
  return value;
}

// `arrived` counts finished blocks and must be zero at the start.
extern "C" __global__ void __launch_bounds__(kThreads)
    reduction(const float* x, float* partial, unsigned* arrived, float* total, int count) {
  __shared__ float of_warps[kWarps];
  __shared__ bool is_last;
  float sum = 0.0f;
  for (int i = blockIdx.x * kThreads + threadIdx.x; i < count; i += gridDim.x * kThreads) sum += x[i];
  sum = BlockSum(sum, of_warps);
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = sum;
    __threadfence();  // the partial sum is seen before the arrival
    is_last = atomicAdd(arrived, 1u) == gridDim.x - 1;
  }
  __syncthreads();
  if (!is_last) return;
  __threadfence();
  sum = 0.0f;
  for (unsigned i = threadIdx.x; i < gridDim.x; i += kThreads) sum += __ldcg(partial + i);  // not from this SM's L1
  sum = BlockSum(sum, of_warps);
  if (threadIdx.x == 0) *total = sum;
}
