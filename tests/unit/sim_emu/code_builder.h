// Small kernels written word by word. The words are ptxas's own for sm_89 with registers and immediates
// replaced; Print of every one is checked by code_builder_test.cc.
#pragma once

#include <cstdint>
#include <cstring>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "sim/cubin/module.h"
#include "sim/launch/launch.h"

namespace sm89::emu {

inline constexpr uint32_t kRz = 255;

// @P / @!P in front of an instruction.
struct Guard {
  uint32_t pred = 7;
  bool inv = false;
};

class CodeBuilder {
 public:
  // Raw word; the guard replaces bits [15:12].
  CodeBuilder& Word(uint64_t lo, uint64_t hi, Guard g = {}) {
    lo = (lo & ~uint64_t{0xf000}) | uint64_t{g.pred} << 12 | uint64_t{g.inv} << 15;
    words_.push_back({lo, hi});
    return *this;
  }

  CodeBuilder& Tid(uint32_t d) { return Word(0x0919 | uint64_t{d} << 16, 0x2100); }
  CodeBuilder& CtaidX(uint32_t d) { return Word(0x0919 | uint64_t{d} << 16, 0x2500); }
  CodeBuilder& Mov(uint32_t d, uint32_t imm, Guard g = {}) {
    return Word(0x0802 | uint64_t{d} << 16 | uint64_t{imm} << 32, 0xf00, g);
  }
  // d = a + imm
  CodeBuilder& Add(uint32_t d, uint32_t a, uint32_t imm, Guard g = {}) {
    return Word(0x0810 | uint64_t{d} << 16 | uint64_t{a} << 24 | uint64_t{imm} << 32, 0x07ffe0ff, g);
  }
  // d = a * imm + c
  CodeBuilder& Mad(uint32_t d, uint32_t a, uint32_t imm, uint32_t c, Guard g = {}) {
    return Word(0x0824 | uint64_t{d} << 16 | uint64_t{a} << 24 | uint64_t{imm} << 32, 0x078e0200 | c, g);
  }
  // d = a & imm
  CodeBuilder& And(uint32_t d, uint32_t a, uint32_t imm) {
    return Word(0x0812 | uint64_t{d} << 16 | uint64_t{a} << 24 | uint64_t{imm} << 32, 0x078ec0ff);
  }
  // d = a >> imm
  CodeBuilder& Shr(uint32_t d, uint32_t a, uint32_t imm) {
    return Word(0x0819 | uint64_t{d} << 16 | uint64_t{0xff} << 24 | uint64_t{imm} << 32, 0x00011600 | a);
  }
  // P = a != 0
  CodeBuilder& NotZero(uint32_t p, uint32_t a) {
    return Word(0x020c | uint64_t{a} << 24 | uint64_t{0xff} << 32, 0x03f05070 | uint64_t{p} << 17);
  }
  // pair d = a * 4 + the pointer at c[0x0][0x160 + 8 * param]; `four` holds 4
  CodeBuilder& Address(uint32_t d, uint32_t a, uint32_t four, uint32_t param) {
    return Word(0x0625 | uint64_t{d} << 16 | uint64_t{a} << 24 | uint64_t{0x58 + 2 * param} << 40,
                0x078e0000 | four);
  }
  CodeBuilder& Stg(uint32_t a, uint32_t value, uint32_t offset = 0, Guard g = {}) {
    return Word(0x0986 | uint64_t{a} << 24 | uint64_t{value} << 32 | uint64_t{offset} << 40, 0x0c101904, g);
  }
  CodeBuilder& Ldg(uint32_t d, uint32_t a, uint32_t offset = 0, Guard g = {}) {
    return Word(0x0981 | uint64_t{d} << 16 | uint64_t{a} << 24 | uint64_t{4} << 32 | uint64_t{offset} << 40,
                0x0c1e1900, g);
  }
  CodeBuilder& Lds(uint32_t d, uint32_t a, uint32_t offset = 0) {
    return Word(0x0984 | uint64_t{d} << 16 | uint64_t{a} << 24 | uint64_t{offset} << 40, 0x0800);
  }
  CodeBuilder& Sts(uint32_t a, uint32_t value, uint32_t offset = 0, Guard g = {}) {
    return Word(0x0388 | uint64_t{a} << 24 | uint64_t{value} << 32 | uint64_t{offset} << 40, 0x0800, g);
  }
  CodeBuilder& Ldl(uint32_t d, uint32_t a, uint32_t offset = 0) {
    return Word(0x0983 | uint64_t{d} << 16 | uint64_t{a} << 24 | uint64_t{offset} << 40, 0x00100800);
  }
  CodeBuilder& Stl(uint32_t a, uint32_t value, uint32_t offset = 0) {
    return Word(0x0387 | uint64_t{a} << 24 | uint64_t{value} << 32 | uint64_t{offset} << 40, 0x00100800);
  }
  CodeBuilder& Exit(Guard g = {}) { return Word(0x094d, 0x03800000, g); }
  CodeBuilder& Yield() { return Word(0x0946, 0x03800000); }
  CodeBuilder& Nop() { return Word(0x0918, 0); }
  CodeBuilder& Trap(Guard g = {}) { return Word(uint64_t{4} << 32 | 0x095c, 0x00300000, g); }
  CodeBuilder& Warpsync(uint32_t mask) { return Word(uint64_t{mask} << 32 | 0x0948, 0x03800000); }
  CodeBuilder& Bsync(uint32_t b) { return Word(0x0941 | uint64_t{b} << 16, 0x03800000); }
  CodeBuilder& Break(uint32_t b, Guard g = {}) { return Word(0x0942 | uint64_t{b} << 16, 0x03800000, g); }
  // `threads` 0: all of the CTA.
  CodeBuilder& BarSync(uint32_t id, uint32_t threads = 0) { return Bar(id, threads, 0x00010000); }
  CodeBuilder& BarArrive(uint32_t id, uint32_t threads) { return Bar(id, threads, 0x00002000); }
  // BAR.RED.POPC over `pred`, then its result.
  CodeBuilder& BarPopc(uint32_t id, uint32_t pred) { return Bar(id, 0, 0x00014000 | uint64_t{pred} << 23); }
  CodeBuilder& BarResult(uint32_t d) { return Word(0x031c | uint64_t{d} << 16, 0x000e4000); }

  CodeBuilder& Label(const std::string& name) {
    labels_[name] = words_.size();
    return *this;
  }
  CodeBuilder& Bra(const std::string& label, Guard g = {}) {
    uses_.push_back({words_.size(), label, 48});
    return Word(0x0947, 0x03800000, g);
  }
  // To the next instruction + the pair a, in bytes.
  CodeBuilder& Brx(uint32_t a) { return Word(0x0949 | uint64_t{a} << 24, 0x03800000); }
  CodeBuilder& Bssy(uint32_t b, const std::string& label) {
    uses_.push_back({words_.size(), label, 30});
    return Word(0x0945 | uint64_t{b} << 16, 0x03800000);
  }

  size_t size() const { return words_.size(); }
  const std::vector<std::pair<uint64_t, uint64_t>>& words() const { return words_; }

  // A module for sm_89 with one kernel "k": two pointers at 0x160 and 0x168.
  cubin::Module Build(uint32_t shared_bytes = 0) {
    for (const Use& use : uses_) {
      const auto field = static_cast<uint64_t>(
          (static_cast<int64_t>(labels_.at(use.label)) - static_cast<int64_t>(use.at) - 1) * 4);
      words_[use.at].first |= (field & 0x3fffffff) << 34;
      if (use.bits == 48) words_[use.at].second |= field >> 30 & 0x3ffff;
    }
    uses_.clear();
    cubin::Function f{.name = "k", .is_kernel = true};
    f.code.resize(words_.size() * 16);
    for (size_t i = 0; i < words_.size(); ++i) {
      std::memcpy(f.code.data() + i * 16, &words_[i].first, 8);
      std::memcpy(f.code.data() + i * 16 + 8, &words_[i].second, 8);
    }
    f.registers = 32;
    f.static_shared_bytes = shared_bytes;
    f.param_base = 0x160;
    f.param_bytes = 16;
    f.params = {{.ordinal = 0, .offset = 0, .size_bytes = 8}, {.ordinal = 1, .offset = 8, .size_bytes = 8}};
    cubin::Module m;
    m.name = "test.cubin";
    m.arch = 89;
    m.functions.push_back(std::move(f));
    return m;
  }

 private:
  struct Use {
    size_t at;
    std::string label;
    int bits;
  };

  CodeBuilder& Bar(uint32_t id, uint32_t threads, uint64_t hi) {
    return Word(0x0b1d | uint64_t{threads} << 42 | uint64_t{id} << 54, hi);
  }

  std::vector<std::pair<uint64_t, uint64_t>> words_;
  std::map<std::string, size_t> labels_;
  std::vector<Use> uses_;
};

// "k" with two u32 buffers, "in" (iota) and "out" (zeros), of `count` elements.
inline launch::LaunchSpec MakeLaunch(uint32_t ctas, uint32_t threads, uint64_t count) {
  launch::LaunchSpec spec;
  spec.id = "test";
  spec.kernel = "k";
  spec.grid = {ctas, 1, 1};
  spec.block = {threads, 1, 1};
  for (const char* name : {"in", "out"}) {
    launch::BufferSpec buffer{.name = name, .type = launch::DataType::kU32, .count = count};
    buffer.generator.init = spec.buffers.empty() ? launch::Init::kIota : launch::Init::kZero;
    buffer.output = !spec.buffers.empty();
    launch::Arg arg{.name = name, .type = "buffer", .bytes = std::vector<uint8_t>(8)};
    arg.pointers.push_back({.offset = 0, .buffer = static_cast<uint32_t>(spec.buffers.size())});
    spec.buffers.push_back(buffer);
    spec.args.push_back(arg);
  }
  return spec;
}

inline std::vector<uint32_t> Words(std::span<const uint8_t> bytes) {
  std::vector<uint32_t> words(bytes.size() / 4);
  std::memcpy(words.data(), bytes.data(), words.size() * 4);
  return words;
}

}  // namespace sm89::emu
