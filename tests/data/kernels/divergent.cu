// Data-dependent control flow: every lane runs its own number of rounds, takes its own side in each, and leaves
// through one of six cases. All integers.
//   steps[i]  = rounds of the Collatz rule (halve if even, 3 x + 1 if odd) until start[i] reaches 1
//   result[i] = see Finish, by steps[i] % 6
__device__ __forceinline__ unsigned Finish(unsigned start, unsigned steps, unsigned peak) {
  switch (steps % 6) {
    case 0:
      return start * 2654435761u + steps;
    case 1: {
      unsigned bits = 0;
      for (unsigned x = peak; x != 0; x &= x - 1) ++bits;
      return bits;
    }
    case 2:
      return __brev(start) ^ peak;
    case 3:
      return peak / (start + 1);
    case 4: {
      unsigned a = start, b = peak;
      while (b != 0) {
        const unsigned rest = a % b;
        a = b;
        b = rest;
      }
      return a;
    }
    default:
      return peak - start;
  }
}

extern "C" __global__ void divergent(const unsigned* start, unsigned* steps, unsigned* result, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const unsigned first = start[i] + 1;
  unsigned x = first;
  unsigned peak = first;
  unsigned rounds = 0;
  while (x != 1) {
    if (x % 2 == 0) {
      x /= 2;
    } else {
      x = 3 * x + 1;
      if (x > peak) peak = x;
    }
    ++rounds;
  }
  steps[i] = rounds;
  result[i] = Finish(first, rounds, peak);
}
