// The inputs of the probe kernels, by class: special values crossed with one another, then random ones.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace probe {

inline constexpr int kThreads = 512;
// 64-bit words of each buffer: 16 warps x 8 registers x 32 lanes x 4 bytes for the tensor probes.
inline constexpr int kWords = 16 * 8 * 32 / 2;

// 64-bit results that mean something: 4 register rows a warp for the tensor probes, one a thread else.
inline int OutWords(const std::string& cls) { return cls.rfind("mma_", 0) == 0 ? 16 * 4 * 32 / 2 : kThreads; }

struct Inputs {
  std::vector<uint64_t> a, b, c;
};

inline uint64_t Random(uint64_t* state) {  // splitmix64
  uint64_t z = (*state += 0x9E3779B97F4A7C15u);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

inline std::vector<uint64_t> Specials(const std::string& cls) {
  if (cls == "f32") {
    return {0x00000000, 0x80000000, 0x3f800000, 0xbf800000, 0x7f800000, 0xff800000, 0x7fc00001, 0xffa00003,
            0x00000001, 0x807fffff, 0x00800000, 0x7f7fffff, 0x3f7fffff, 0x4b000001, 0xcf000000, 0x40490fdb};
  }
  if (cls == "f64") {
    return {0x0000000000000000, 0x8000000000000000, 0x3ff0000000000000, 0xbff0000000000000,
            0x7ff0000000000000, 0xfff0000000000000, 0x7ff8000000000001, 0xfff4000000000003,
            0x0000000000000001, 0x800fffffffffffff, 0x0010000000000000, 0x7fefffffffffffff,
            0x3fefffffffffffff, 0x4330000000000001, 0xc1e0000000200000, 0x400921fb54442d18};
  }
  if (cls == "f16x2") {
    return {0x00008000, 0x3c00bc00, 0x7c00fc00, 0x7e01fd03, 0x000183ff, 0x04007bff, 0x3bff6400, 0xf8004248,
            0x80010400, 0x35553c01, 0xc5007bff, 0x00007c00, 0x7c003c00, 0x8400fbff, 0x2e6649ab, 0x5640d640};
  }
  if (cls == "bf16x2") {
    return {0x00008000, 0x3f80bf80, 0x7f80ff80, 0x7fc1ffa3, 0x0001807f, 0x00807f7f, 0x3f7f4b00, 0xcf004049,
            0x80010080, 0x3eab3f81, 0xc0a07f7f, 0x00007f80, 0x7f803f80, 0x8080ff7f, 0x3dcc4135, 0x42c8c2c8};
  }
  return {0,
          1,
          2,
          3,
          0x1f,
          0x20,
          0x7f,
          0x80,
          0xff,
          0x7fff,
          0xffff8000,
          0x7fffffff,
          0x80000000,
          0xffffffff,
          0x8000000080000001,
          0xfffffffffffffff0};
}

// Random value of a class; `round` picks how wild it is.
inline uint64_t RandomValue(const std::string& cls, int round, uint64_t* state) {
  const uint64_t r = Random(state);
  if (cls == "f32") {  // exponents near 1 so that sums and products meet; every 8th one any bits
    if (round % 8 == 7) return r & 0xffffffffu;
    return (r & 0x807fffffu) | ((127 - 12 + (r >> 40) % 24) << 23);
  }
  if (cls == "f64") {
    if (round % 8 == 7) return r;
    return (r & 0x800fffffffffffffu) | ((1023 - 24 + (Random(state) >> 40) % 48) << 52);
  }
  if (cls == "f16x2" || cls == "bf16x2") return r & 0xffffffffu;
  if (cls == "i32") return round % 4 == 3 ? (r & 0xffu) : (r & 0xffffffffu);
  return round % 4 == 3 ? (r & 0xffffu) : r;
}

// Elements of a tensor fragment word; warps 0-7 well behaved, 8-15 with spread exponents, 15 any bits.
inline uint32_t FragmentWord(const std::string& cls, int warp, uint64_t* state) {
  const uint64_t r = Random(state);
  const uint32_t spread = warp < 8 ? 4 : 12;
  if (warp == 15 || cls == "mma_int") return static_cast<uint32_t>(r);
  if (cls == "mma_f16") {
    const auto half = [&](uint64_t x) {
      return (x & 0x83ffu) | ((15 - spread / 2 + (x >> 20) % spread) << 10);
    };
    return static_cast<uint32_t>(half(r & 0xffffffffu) | half(r >> 32) << 16);
  }
  if (cls == "mma_bf16") {
    const auto half = [&](uint64_t x) {
      return (x & 0x807fu) | ((127 - spread / 2 + (x >> 20) % spread) << 7);
    };
    return static_cast<uint32_t>(half(r & 0xffffffffu) | half(r >> 32) << 16);
  }
  if (cls == "mma_f32") {
    return static_cast<uint32_t>((r & 0x807fffffu) | ((127 - spread / 2 + (r >> 40) % spread) << 23));
  }
  return static_cast<uint32_t>(warp < 8 ? r & 0xbfbfbfbfu : r);  // FP8: below 2 in the first half
}

// The accumulator: FP32 near the products' size, or two FP16, or integers.
inline uint32_t AccumulatorWord(const std::string& cls, int warp, uint64_t* state) {
  const uint64_t r = Random(state);
  if (warp == 15 || cls == "mma_int") return static_cast<uint32_t>(r);
  const uint32_t spread = warp < 4 ? 1 : warp < 8 ? 6 : 30;
  if (warp == 0) return 0;
  return static_cast<uint32_t>((r & 0x807fffffu) | ((127 - spread / 2 + (r >> 40) % spread) << 23));
}

inline Inputs MakeInputs(const std::string& cls) {
  Inputs in;
  uint64_t state = 0x5eed;
  if (cls.rfind("mma_", 0) == 0) {
    const auto fill = [&](std::vector<uint64_t>* words, bool accumulator) {
      for (int i = 0; i < kWords; ++i) {
        const int warp = 2 * i / (8 * 32);
        uint64_t low, high;
        if (accumulator) {
          low = AccumulatorWord(cls, 2 * i / (4 * 32) % 16, &state);
          high = AccumulatorWord(cls, 2 * i / (4 * 32) % 16, &state);
        } else {
          low = FragmentWord(cls, warp, &state);
          high = FragmentWord(cls, warp, &state);
        }
        words->push_back(low | high << 32);
      }
    };
    fill(&in.a, false);
    fill(&in.b, false);
    fill(&in.c, true);
    return in;
  }
  const std::vector<uint64_t> special = Specials(cls);
  for (int i = 0; i < kWords; ++i) {
    if (i < 256) {
      in.a.push_back(special[i / 16]);
      in.b.push_back(special[i % 16]);
      in.c.push_back(special[(i * 7 + i / 16) % 16]);
    } else {
      in.a.push_back(RandomValue(cls, i, &state));
      in.b.push_back(RandomValue(cls, i / 2, &state));
      in.c.push_back(RandomValue(cls, i / 3, &state));
    }
  }
  return in;
}

}  // namespace probe
