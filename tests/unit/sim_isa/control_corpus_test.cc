// Synthesised control bits beside those that ptxas wrote, on whole cubins.
#include <gtest/gtest.h>

#include <bit>
#include <cstdio>
#include <cstdlib>
#include <functional>

#include "sim/isa/control_synthesis.h"
#include "sim/isa/dependence.h"
#include "sim/isa/issue_class.h"
#include "tests/unit/sim_isa/cubin_code.h"

namespace sm89 {
namespace {

bool Overlaps(const RegRange& a, const RegRange& b) {
  return a.file == b.file && a.first < b.first + b.count && b.first < a.first + a.count;
}

// Cycles from one issue to the next; stall 0 with yield lasts 45.
int Cycles(const ControlBits& bits) { return bits.stall_cycles == 0 ? 45 : bits.stall_cycles; }

// Follows every path behind each instruction, by the edges of the machine code, without regard to how the
// bits came about.
class BitsChecker {
 public:
  BitsChecker(const testing::CubinKernel& kernel, const DecodedKernel& bits)
      : real_(kernel.real.insts), bits_(bits.insts), succs_(real_.size()) {
    for (const CodeEdge& edge : kernel.flow.edges) succs_[edge.from].push_back(edge.to);
  }

  // Dependences of fixed latency that ptxas keeps and these bits do not.
  int FixedViolations() {
    int violations = 0;
    for (uint32_t i = 0; i < real_.size(); ++i) {
      if (HasVariableLatency(real_[i].dep)) continue;
      for (int d = 0; d < real_[i].num_dests; ++d) {
        steps_left_ = kMaxSteps;
        violations += FollowFixed(i, i, real_[i].dests[d], 0, 0);
      }
    }
    return violations;
  }

  // Results of variable latency that something reads or overwrites before the path has waited for them.
  int CounterViolations() {
    int violations = 0;
    for (uint32_t i = 0; i < real_.size(); ++i) {
      if (!HasVariableLatency(real_[i].dep) || real_[i].num_dests == 0) continue;
      visited_.assign(real_.size(), false);
      steps_left_ = kMaxSteps;
      violations += FollowCounter(i, i, Bit(bits_[i].bits.write_counter));
    }
    return violations;
  }

 private:
  static constexpr int kMaxSteps = 2000;

  static uint32_t Bit(uint8_t counter) { return counter < 6 ? 1u << counter : 0; }

  int FollowFixed(uint32_t writer, uint32_t at, const RegRange& range, int real_cycles, int cycles) {
    real_cycles += Cycles(real_[at].bits);
    cycles += Cycles(bits_[at].bits);
    if (cycles > kMaxDependenceCycles || --steps_left_ < 0) return 0;
    int violations = 0;
    for (const uint32_t next : succs_[at]) {
      const DecodedInst& inst = real_[next];
      for (int s = 0; s < inst.num_sources; ++s) {
        if (!Overlaps(range, inst.sources[s])) continue;
        const bool guard = inst.guarded && s == inst.num_sources - 1;
        const bool accumulator =
            inst.unit == ExecUnit::kTensor && inst.sources[s].first == inst.slots[2].first;
        const ReadKind kind = guard         ? ReadKind::kGuard
                              : accumulator ? ReadKind::kAccumulator
                                            : ReadKind::kOperand;
        const int needed = DependenceCycles(real_[writer], inst, range.file, kind);
        violations += real_cycles >= needed && cycles < needed;
      }
      bool overwritten = false;
      for (int d = 0; d < inst.num_dests; ++d) overwritten |= Overlaps(range, inst.dests[d]);
      if (!overwritten) violations += FollowFixed(writer, next, range, real_cycles, cycles);
    }
    return violations;
  }

  // Shared-memory loads return in order, FP64 and MUFU results come in order: a wait for a later one is a
  // wait.
  bool InOrder(uint32_t a, uint32_t b) const {
    const auto group = [](const DecodedInst& inst) {
      const bool load = inst.mem_op == MemOp::kLoad || inst.mem_op == MemOp::kLoadMatrix;
      if (inst.space == MemSpace::kShared && load) return 1;
      if (inst.unit == ExecUnit::kFp64) return 2;
      return inst.unit == ExecUnit::kSfu && inst.timing == TimingClass::kUnit ? 3 : 0;
    };
    return group(real_[a]) != 0 && group(real_[a]) == group(real_[b]);
  }

  bool Touches(uint32_t writer, const DecodedInst& inst) const {
    for (int d = 0; d < real_[writer].num_dests; ++d) {
      const RegRange& range = real_[writer].dests[d];
      for (int s = 0; s < inst.num_sources; ++s) {
        if (Overlaps(range, inst.sources[s])) return true;
      }
      for (int o = 0; o < inst.num_dests; ++o) {
        if (Overlaps(range, inst.dests[o])) return true;
      }
    }
    return false;
  }

  int FollowCounter(uint32_t writer, uint32_t at, uint32_t waited_by) {
    int violations = 0;
    for (const uint32_t next : succs_[at]) {
      if (visited_[next] || --steps_left_ < 0) continue;
      visited_[next] = true;
      if (bits_[next].bits.wait_mask & waited_by) continue;
      if (Touches(writer, real_[next])) {
        // A second instruction of the unit writes later, whatever it does to the registers.
        violations += !InOrder(writer, next);
        continue;
      }
      const uint32_t more = InOrder(writer, next) ? Bit(bits_[next].bits.write_counter) : 0;
      violations += FollowCounter(writer, next, waited_by | more);
    }
    return violations;
  }

  const std::vector<DecodedInst>& real_;
  const std::vector<DecodedInst>& bits_;
  std::vector<std::vector<uint32_t>> succs_;
  std::vector<bool> visited_;
  int steps_left_ = 0;
};

DecodedKernel Synthesised(const testing::CubinKernel& kernel) {
  DecodeOptions options;
  options.binary_version = kernel.arch;
  options.ignore_control_bits = true;
  DecodedKernel decoded = DecodeKernel(kernel.table, options);
  SynthesiseControlBits(kernel.flow, &decoded);
  return decoded;
}

// What a tracer's text leaves: general registers, no encodings. Guards are what lane masks show.
DecodedKernel SynthesisedFromText(const testing::CubinKernel& kernel) {
  std::vector<StaticInst> table = kernel.table;
  for (StaticInst& inst : table) {
    StaticInst text = inst;
    text.has_encoding = false;
    text.encoding = {};
    text.num_dests = text.num_sources = 0;
    for (int i = 0; i < inst.num_dests; ++i) {
      if (inst.dests[i].file == RegFile::kGeneral) text.dests[text.num_dests++] = inst.dests[i];
    }
    for (int i = 0; i < inst.num_sources; ++i) {
      if (inst.sources[i].file == RegFile::kGeneral) text.sources[text.num_sources++] = inst.sources[i];
    }
    inst = text;
  }
  DecodedKernel decoded = DecodeKernel(table, {.binary_version = kernel.arch});
  CodeFlow flow = kernel.flow;
  for (uint32_t i = 0; i < kernel.real.insts.size(); ++i) {
    const DecodedInst& inst = kernel.real.insts[i];
    if (inst.guarded && inst.unit != ExecUnit::kBranch) flow.guarded.push_back(i);
  }
  SynthesiseControlBits(flow, &decoded);
  return decoded;
}

struct Closeness {
  long insts = 0, differ = 0, real_cycles = 0, cycles = 0, absolute = 0;
  long reuse = 0, reuse_real = 0, reuse_both = 0;
  long waits_real = 0, waits_both = 0;

  void Add(const DecodedKernel& real, const DecodedKernel& other) {
    for (size_t i = 0; i < real.insts.size(); ++i) {
      const ControlBits& r = real.insts[i].bits;
      const ControlBits& s = other.insts[i].bits;
      ++insts;
      differ += r.stall_cycles != s.stall_cycles;
      real_cycles += r.stall_cycles;
      cycles += s.stall_cycles;
      absolute += std::abs(r.stall_cycles - s.stall_cycles);
      reuse += std::popcount(s.reuse_mask);
      reuse_real += std::popcount(r.reuse_mask);
      reuse_both += std::popcount(static_cast<uint8_t>(r.reuse_mask & s.reuse_mask));
      waits_real += r.wait_mask != 0;
      waits_both += r.wait_mask != 0 && s.wait_mask != 0;
    }
  }
  double Share(long part) const { return static_cast<double>(part) / static_cast<double>(insts); }
  void Print(const char* what) const {
    std::printf(
        "%s: %ld instructions, mean stall %.3f of ptxas, %.3f synthesised, mean absolute difference %.3f, "
        "%.1f %% "
        "differ; waits found %.1f %%; reuse bits: recall %.3f, precision %.3f\n",
        what, insts, Share(real_cycles), Share(cycles), Share(absolute), 100 * Share(differ),
        100.0 * static_cast<double>(waits_both) / static_cast<double>(waits_real),
        static_cast<double>(reuse_both) / static_cast<double>(reuse_real),
        static_cast<double>(reuse_both) / static_cast<double>(reuse));
  }
};

TEST(Synthesis, KeepsEveryDependenceThatPtxasKeeps) {
  const std::vector<testing::CubinKernel> kernels = testing::CorpusKernels(89, true);
  if (kernels.empty()) GTEST_SKIP() << "../shared/sass/cubin is not here";
  int counter_real = 0, counter = 0, fixed = 0;
  for (const testing::CubinKernel& kernel : kernels) {
    const DecodedKernel synthesised = Synthesised(kernel);
    EXPECT_EQ(synthesised.control_source, ControlSource::kSynthesised);
    BitsChecker checker(kernel, synthesised);
    const int fixed_here = checker.FixedViolations();
    const int counter_here = checker.CounterViolations();
    EXPECT_EQ(fixed_here, 0) << kernel.name;
    EXPECT_EQ(counter_here, 0) << kernel.name;
    fixed += fixed_here;
    counter += counter_here;
    counter_real += BitsChecker(kernel, kernel.real).CounterViolations();
  }
  std::printf(
      "%zu kernels: %d fixed-latency and %d counted dependences broken; the checker finds %d in ptxas's own "
      "bits\n",
      kernels.size(), fixed, counter, counter_real);
}

TEST(Synthesis, TheCheckerSeesBitsThatAreWrong) {
  const std::vector<testing::CubinKernel> kernels = testing::CorpusKernels(89, true);
  if (kernels.empty()) GTEST_SKIP() << "../shared/sass/cubin is not here";
  int fixed = 0, counter = 0;
  for (const testing::CubinKernel& kernel : kernels) {
    DecodedKernel broken = Synthesised(kernel);
    for (DecodedInst& inst : broken.insts) {
      inst.bits.stall_cycles = std::min<uint8_t>(inst.bits.stall_cycles, 3);
      inst.bits.wait_mask &= 0x1f;
    }
    BitsChecker checker(kernel, broken);
    fixed += checker.FixedViolations();
    counter += checker.CounterViolations();
  }
  EXPECT_GT(fixed, 10'000);
  EXPECT_GT(counter, 500);
}

TEST(Synthesis, IsCloseToPtxas) {
  const std::vector<testing::CubinKernel> kernels = testing::CorpusKernels(89, true);
  if (kernels.empty()) GTEST_SKIP() << "../shared/sass/cubin is not here";
  Closeness exact, text;
  for (const testing::CubinKernel& kernel : kernels) {
    exact.Add(kernel.real, Synthesised(kernel));
    text.Add(kernel.real, SynthesisedFromText(kernel));
  }
  exact.Print("operands of machine code");
  text.Print("operands of text");
  EXPECT_LT(exact.Share(exact.differ), 0.07);
  EXPECT_LT(text.Share(text.differ), 0.11);
  EXPECT_NEAR(exact.Share(exact.cycles), exact.Share(exact.real_cycles), 0.1);
  EXPECT_NEAR(text.Share(text.cycles), text.Share(text.real_cycles), 0.1);
  EXPECT_GT(exact.reuse_both, exact.reuse_real * 95 / 100);
  EXPECT_GT(exact.reuse_both, exact.reuse * 95 / 100);
}

}  // namespace
}  // namespace sm89
