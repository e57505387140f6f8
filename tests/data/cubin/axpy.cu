// One small kernel for the containers.
__constant__ float coefficients[4];

extern "C" __global__ void axpy(float* y, const float* x, float a, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i] + coefficients[i & 3];
}
