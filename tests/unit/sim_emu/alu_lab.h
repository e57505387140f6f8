// One warp on which a test executes one machine word.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "gtest/gtest.h"
#include "sim/emu/exec.h"
#include "sim/emu/resolve.h"
#include "sim/sass/decode.h"

namespace sm89::emu {

__extension__ using i128 = __int128;
__extension__ using u128 = unsigned __int128;

class AluLab {
 public:
  static constexpr uint32_t kRegs = 160;
  // Registers, uniform registers and predicates filled from `seed`: random numbers and special values.
  explicit AluLab(uint64_t seed = 1) : state_(seed), rows_(kRegs + kZeroRows + kTrashRows) {
    for (uint32_t r = 0; r < kRegs; ++r) {
      for (uint32_t& lane : rows_[r].lane) lane = Value();
    }
    for (uint32_t r = 0; r < 63; ++r) warp.ur[r] = Value();
    for (uint32_t p = 0; p < 7; ++p) {
      warp.pred[p] = static_cast<uint32_t>(Next());
      warp.upred[p] = (Next() & 1) != 0;
    }
    warp.pred[7] = kAllLanes;
    warp.upred[7] = true;
    warp.rows = rows_.data();
  }

  uint32_t& reg(uint32_t r, int lane) { return rows_[r].lane[lane]; }
  uint64_t pair(uint32_t r, int lane) { return reg(r, lane) | static_cast<uint64_t>(reg(r + 1, lane)) << 32; }
  void SetPair(uint32_t r, int lane, uint64_t value) {
    reg(r, lane) = static_cast<uint32_t>(value);
    reg(r + 1, lane) = static_cast<uint32_t>(value >> 32);
  }
  void Fill(uint32_t r, uint32_t value) { rows_[r].lane.fill(value); }
  bool pred(int p, int lane) const { return (warp.pred[p] >> lane & 1) != 0; }
  // What constant bank 0 holds at an offset.
  static uint32_t Constant(uint32_t offset) { return offset * 2654435761u ^ 0x5bd1e995u; }

  // Decodes, compiles and executes on `lanes`, guard left out.
  absl::Status Run(uint64_t lo, uint64_t hi, LaneMask lanes = kAllLanes, uint32_t arch = sass::kSm89) {
    absl::StatusOr<sass::Instruction> inst = sass::Decode({lo, hi}, arch);
    if (!inst.ok()) return inst.status();
    text = sass::Print(*inst, {});
    Compiled c;
    const ConstantReader read = [](uint32_t, uint32_t offset) -> absl::StatusOr<uint32_t> {
      return Constant(offset);
    };
    if (absl::Status s = ResolveOperands(*inst, kRegs, read, &pool_, &c); !s.ok()) return s;
    if (absl::Status s = CompileAlu(*inst, &c); !s.ok()) return s;
    Exec x;
    x.w = &warp;
    x.active = x.lanes = lanes;
    c.run(x, c);
    return absl::OkStatus();
  }

  uint64_t Next() {  // splitmix64
    uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  uint32_t Value() {
    static constexpr uint32_t kSpecial[] = {0, 1, 2, 31, 32, 33, 63, 64, 0x7fffffff, 0x80000000, 0xffffffff};
    const uint64_t n = Next();
    return (n & 3) == 0 ? kSpecial[(n >> 8) % std::size(kSpecial)] : static_cast<uint32_t>(n >> 32);
  }

  WarpRegs warp;
  std::string text;  // the word as the disassembler prints it

 private:
  uint64_t state_;
  std::vector<Row> rows_;
  FixedRows pool_;
};

// Executes the word on warps of several seeds, with all lanes and with some of them, and compares lane by
// lane with expect(before, lane), the new value of register `d`. `then`, when given, looks at more:
// then(before, after, lane) for executed lanes. Nothing else may change: no register in lanes that do not
// execute, none but d and d + 1 in the others.
template <typename Expect, typename Then>
void ExpectLanes(uint64_t lo, uint64_t hi, uint32_t d, Expect expect, Then then,
                 uint32_t arch = sass::kSm89) {
  for (uint64_t seed = 1; seed <= 12; ++seed) {
    AluLab before(seed), after(seed);
    const LaneMask lanes = seed % 3 == 0 ? static_cast<LaneMask>(before.Next()) : kAllLanes;
    const absl::Status status = after.Run(lo, hi, lanes, arch);
    ASSERT_TRUE(status.ok()) << status;
    for (int i = 0; i < kWarpSize; ++i) {
      const bool executed = (lanes >> i & 1) != 0;
      for (uint32_t r = 0; r < AluLab::kRegs; ++r) {
        if (executed && (r == d || r == d + 1)) continue;
        ASSERT_EQ(after.reg(r, i), before.reg(r, i)) << after.text << " lane " << i << " R" << r;
      }
      if (!executed) continue;
      ASSERT_EQ(after.reg(d, i), expect(before, i)) << after.text << " lane " << i << " seed " << seed;
      then(before, after, i);
    }
  }
}
template <typename Expect>
void ExpectLanes(uint64_t lo, uint64_t hi, uint32_t d, Expect expect) {
  ExpectLanes(lo, hi, d, expect, [](AluLab&, AluLab&, int) {});
}

}  // namespace sm89::emu
