// c[i] = a[i] + b[i]: one element a thread, the last block ragged.
extern "C" __global__ void vector_add(const float* a, const float* b, float* c, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) c[i] = a[i] + b[i];
}
