// What a cubin can say about its kernels: bounds, shared and local memory, tables, callees, variables.
__device__ int counter;
__device__ int limits[3] = {7, 11, 13};
__device__ int* where = &limits[1];
__constant__ int offsets[8] = {1, 2, 3, 4, 5, 6, 7, 8};

__device__ __noinline__ int steps(int n) {
  int count = 0;
  while (n > 1) {
    n = n % 2 != 0 ? 3 * n + 1 : n / 2;
    ++count;
  }
  return count;
}

extern "C" __global__ void __launch_bounds__(128) collatz(int* out, const int* in, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i < n) out[i] = steps(in[i]) + offsets[i & 7];
}

extern "C" __global__ void reverse(int* data) {
  __shared__ int tile[64];
  tile[threadIdx.x] = data[threadIdx.x];
  __syncthreads();
  data[threadIdx.x] = tile[63 - threadIdx.x] + limits[threadIdx.x % 3] + *where;
  if (threadIdx.x == 0) atomicAdd(&counter, 1);
}

extern "C" __global__ void pick(float* out, char which, double scale, short bias) {
  float table[16];
  for (int i = 0; i < 16; ++i) table[i] = out[i];
  float x = table[which & 15];
  switch (which) {
    case 0: x = sinf(x) + 1; break;
    case 1: x = x * 3 - 2; break;
    case 2: x = sqrtf(x); break;
    case 3: x = 1 / x; break;
    case 4: x = expf(x); break;
    case 5: x = x * x * x; break;
    case 6: x = fabsf(x) + 5; break;
    default: x = 0;
  }
  out[threadIdx.x] = x * static_cast<float>(scale) + bias;
}
