// What the way from an SM to the L2 costs, by kind of packet: stores, loads, reductions and atomics, from one
// SM, one TPC, eight TPCs, 64 SMs and all. Each warp works on lines of its SM's own 128 KB, all in the L2.
// Prints clocks a warp instruction of the slowest SM.
//   nvcc -arch=sm_90 -O2 -o requests requests.cu && ./requests > h200.txt
#include <algorithm>
#include <cstdint>
#include <cstdio>

#include <cuda_runtime.h>

enum Op { kStore, kLoad, kReduction, kAtomic };

// Addresses of a warp's lanes.
enum Pattern {
  k1Sector,      // 8 lanes, whole sectors of one line
  k2Sectors,     // 16 lanes
  k3Sectors,     // 24 lanes
  k4Sectors,     // 32 lanes
  kWordASector,  // 4 lanes, one in each sector of a line
  kOneLane,
  kStride64,   // 16 lines of 2 words in 2 sectors
  kStride32,   // 8 lines of 4 words in 4 sectors
  kStride128,  // 32 lines of 1 word
  kWide,       // 16 bytes a lane: 4 whole lines (atomics: a word each)
  kSame,       // all at one word
  kPairs,      // 16 words of 2 lanes
  kFourWords,  // 4 words of 8 lanes
};

constexpr uint32_t kRegion = 128 << 10;

template <Op op, Pattern pattern>
__global__ __launch_bounds__(1024) void Requests(char* buffer, int iterations, uint64_t sms0, uint64_t sms1,
                                                 uint64_t sms2, long long* clocks, unsigned* sink) {
  unsigned sm;
  asm volatile("mov.u32 %0,%%smid;" : "=r"(sm));
  const uint64_t sms = sm < 64 ? sms0 : sm < 128 ? sms1 : sms2;
  if ((sms >> (sm & 63) & 1) == 0) return;
  const unsigned lane = threadIdx.x & 31, warp = threadIdx.x >> 5, warps = blockDim.x >> 5;
  bool on = true;
  uint32_t offset = lane * 4, lines = 1;
  if (pattern <= k4Sectors) on = lane < 8 * (pattern + 1);
  if (pattern == kWordASector) on = lane < 4, offset = lane * 32;
  if (pattern == kOneLane) on = lane == 0;
  if (pattern == kStride64) offset = lane * 64, lines = 16;
  if (pattern == kStride32) offset = lane * 32, lines = 8;
  if (pattern == kStride128) offset = lane * 128, lines = 32;
  if (pattern == kWide) offset = lane * 16, lines = 4;
  if (pattern == kSame) offset = 0;
  if (pattern == kPairs) offset = lane / 2 * 4;
  if (pattern == kFourWords) offset = lane / 8 * 4;
  char* const base = buffer + size_t{sm} * kRegion;
  const uint32_t step = lines * 128 * warps;
  uint32_t position = lines * 128 * warp;
  unsigned sum = lane;
  __syncthreads();
  const long long start = clock64();
  if (on) {
    for (int i = 0; i < iterations; i += 8) {
#pragma unroll
      for (int j = 0; j < 8; ++j) {
        char* const p = base + (position & (kRegion - 1)) + offset;
        position += step;
        unsigned r = 0, x, y, z;
        if (op == kStore && pattern == kWide) {
          asm volatile("st.global.v4.u32 [%0],{%1,%1,%1,%1};" ::"l"(p), "r"(sum) : "memory");
        } else if (op == kStore) {
          asm volatile("st.global.u32 [%0],%1;" ::"l"(p), "r"(sum) : "memory");
        } else if (op == kReduction) {
          asm volatile("red.global.add.u32 [%0],%1;" ::"l"(p), "r"(sum) : "memory");
        } else if (op == kAtomic) {
          asm volatile("atom.global.add.u32 %0,[%1],%2;" : "=r"(r) : "l"(p), "r"(lane) : "memory");
        } else if (pattern == kWide) {
          asm volatile("ld.global.cg.v4.u32 {%0,%1,%2,%3},[%4];"
                       : "=r"(r), "=r"(x), "=r"(y), "=r"(z)
                       : "l"(p)
                       : "memory");
          r ^= x ^ y ^ z;
        } else {
          asm volatile("ld.global.cg.u32 %0,[%1];" : "=r"(r) : "l"(p) : "memory");
        }
        sum ^= r;
      }
    }
  }
  __syncthreads();
  if (threadIdx.x == 0) clocks[sm] = clock64() - start;
  if (sum == 0x12345678) *sink = sum;
}

constexpr int kSms = 132;
char* buffer;
long long* clocks;
unsigned* sink;

template <Op op, Pattern pattern>
void Case(uint64_t sms0, uint64_t sms1, uint64_t sms2, int threads, int iterations) {
  double best = 1e30, mean = 0;
  for (int round = 0; round < 2; ++round) {
    cudaMemset(clocks, 0, kSms * sizeof(long long));
    // The shared memory keeps a second CTA off each SM.
    Requests<op, pattern><<<kSms, threads, 100 << 10>>>(buffer, iterations, sms0, sms1, sms2, clocks, sink);
    if (cudaDeviceSynchronize() != cudaSuccess) {
      std::printf("failed: %s\n", cudaGetErrorString(cudaGetLastError()));
      return;
    }
    long long of[kSms];
    cudaMemcpy(of, clocks, sizeof(of), cudaMemcpyDeviceToHost);
    double most = 0, sum = 0;
    int count = 0;
    for (const long long c : of) {
      most = std::max(most, double(c));
      sum += c;
      count += c != 0;
    }
    const double instructions = double(iterations) * (threads / 32);
    best = std::min(best, most / instructions);
    mean = sum / count / instructions;
  }
  std::printf(" %8.2f (mean %8.2f)", best, mean);
}

template <Op op, Pattern pattern>
void Row(const char* name) {
  cudaFuncSetAttribute(Requests<op, pattern>, cudaFuncAttributeMaxDynamicSharedMemorySize, 100 << 10);
  const bool many = pattern == kStride128 || pattern == kStride32 || pattern == kStride64;
  const int iterations = (many || (pattern == kSame && op >= kReduction) ? 128 : 512) / (op >= kReduction ? 2 : 1);
  static const char* const ops[] = {"store", "load", "reduction", "atomic"};
  std::printf("%-9s %-10s", ops[op], name);
  Case<op, pattern>(1, 0, 0, 1024, iterations);
  Case<op, pattern>(1, 0, 0, 128, 2 * iterations);
  Case<op, pattern>(3, 0, 0, 1024, iterations);
  Case<op, pattern>(0x5555, 0, 0, 1024, iterations);
  Case<op, pattern>(~0ull, 0, 0, 1024, iterations);
  Case<op, pattern>(~0ull, ~0ull, 15, 1024, iterations);
  std::printf("\n");
}

template <Op op>
void Rows() {
  Row<op, k1Sector>("1sector");
  Row<op, k2Sectors>("2sectors");
  Row<op, k3Sectors>("3sectors");
  Row<op, k4Sectors>("4sectors");
  Row<op, kWordASector>("word_each");
  Row<op, kOneLane>("one_lane");
  Row<op, kStride64>("stride64");
  Row<op, kStride32>("stride32");
  Row<op, kStride128>("stride128");
  Row<op, kWide>("wide");
  Row<op, kSame>("same");
  Row<op, kPairs>("pairs");
  Row<op, kFourWords>("four_words");
}

int main() {
  if (cudaMalloc(&buffer, size_t{kSms} * kRegion + 65536) != cudaSuccess ||
      cudaMalloc(&clocks, kSms * sizeof(long long)) != cudaSuccess || cudaMalloc(&sink, 4) != cudaSuccess ||
      cudaMemset(buffer, 0, size_t{kSms} * kRegion) != cudaSuccess) {
    std::printf("no memory\n");
    return 1;
  }
  std::printf("# op pattern: 1 SM; 1 SM of 4 warps; 1 TPC; 8 SMs of 8 TPCs; 64 SMs; 132 SMs\n");
  Rows<kStore>();
  Rows<kLoad>();
  Rows<kReduction>();
  Rows<kAtomic>();
  return 0;
}
