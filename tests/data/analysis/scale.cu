// Source of scale.sm_89.cubin and scale.ptx.
__device__ __noinline__ float Smooth(float x, int steps) {
  for (int i = 0; i < steps; ++i) x = x * 0.5f + __sinf(x);
  return x;
}

extern "C" __global__ void Scale(const float* in, float* out, int n, float factor) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float value = in[i];
  if (value > 1.0f) {
    value = Smooth(value, n & 7);
  }
  out[i] = value / factor;
}

// More values than the launch bounds leave registers for: spills.
extern "C" __global__ void __launch_bounds__(128, 12) Spilling(const float* in, float* out, int n) {
  float window[64];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
#pragma unroll
  for (int k = 0; k < 64; ++k) window[k] = in[i + k];
  for (int step = 0; step < n; ++step) {
#pragma unroll
    for (int k = 0; k < 64; ++k) window[k] = fmaf(window[k], window[(k + 17) & 63], window[(k + 5) & 63]);
  }
#pragma unroll
  for (int k = 0; k < 64; ++k) out[i + 64 * k] = window[k];
}

// A local array that registers cannot hold: its index is known at run time only.
extern "C" __global__ void Picked(const float* in, float* out, int which) {
  float local[16];
  for (int k = 0; k < 16; ++k) local[k] = 0.0f;
  for (int k = 0; k < 4; ++k) local[(threadIdx.x * which + k) & 15] = in[threadIdx.x + k];
  out[threadIdx.x] = local[which & 15];
}
