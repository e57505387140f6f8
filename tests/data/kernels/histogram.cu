// bins[v] += number of bytes of value v in data[0 .. count), four bytes a word. Each block counts in shared
// memory with atomics and adds its counts to the global bins at the end; bins must be zero at the start.
constexpr int kBins = 256;

extern "C" __global__ void histogram(const unsigned* data, unsigned* bins, int count) {
  __shared__ unsigned local[kBins];
  for (int bin = threadIdx.x; bin < kBins; bin += blockDim.x) local[bin] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
    const unsigned word = data[i];
#pragma unroll
    for (int shift = 0; shift < 32; shift += 8) atomicAdd(&local[word >> shift & 255u], 1u);
  }
  __syncthreads();
  for (int bin = threadIdx.x; bin < kBins; bin += blockDim.x) {
    if (local[bin] != 0) atomicAdd(&bins[bin], local[bin]);
  }
}
