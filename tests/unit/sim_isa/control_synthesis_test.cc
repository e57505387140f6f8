// Synthesised control bits of hand-made code, bit by bit.
#include "sim/isa/control_synthesis.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/unit/sim_isa/decode_helpers.h"

namespace sm89 {
namespace {

// Text code: PCs in order, everything falls through unless `flow` says more.
std::vector<ControlBits> Synthesise(std::initializer_list<StaticInst> insts, const CodeFlow& flow = {}) {
  std::vector<StaticInst> table(insts);
  for (size_t i = 0; i < table.size(); ++i) table[i].pc = static_cast<uint32_t>(16 * i);
  DecodedKernel kernel = DecodeKernel(table, {});
  EXPECT_TRUE(kernel.unknown.empty());
  SynthesiseControlBits(flow, &kernel);
  std::vector<ControlBits> bits;
  for (const DecodedInst& inst : kernel.insts) bits.push_back(inst.bits);
  return bits;
}

// "5 4 5": stall counts.
std::string Stalls(const std::vector<ControlBits>& bits) {
  std::string text;
  for (const ControlBits& b : bits) text += (text.empty() ? "" : " ") + std::to_string(b.stall_cycles);
  return text;
}

// "W0 - m0": write counter, read counter and waits of each instruction.
std::string Counters(const std::vector<ControlBits>& bits) {
  std::string text;
  for (const ControlBits& b : bits) {
    std::string one;
    if (b.write_counter != 7) one += "W" + std::to_string(b.write_counter);
    if (b.read_counter != 7) one += "R" + std::to_string(b.read_counter);
    for (int c = 0; c < 6; ++c) {
      if (b.wait_mask >> c & 1) one += "m" + std::to_string(c);
    }
    text += (text.empty() ? "" : " ") + (one.empty() ? "-" : one);
  }
  return text;
}

StaticInst WithUniform(StaticInst inst) {  // a uniform register as the last source, as tracer 6 lists it
  inst.sources[inst.num_sources++] = {RegFile::kUniform, 4};
  return inst;
}

TEST(Stalls, FixedLatenciesByPair) {
  struct Row {
    StaticInst writer, reader;
    int stall;
  };
  const Row rows[] = {{Inst("IADD3", {1}, {2}), Inst("LOP3.LUT", {3}, {1, 2}), 4},
                      {Inst("IADD3", {1}, {2}), Inst("FFMA", {3}, {1, 4, 5}), 5},
                      {Inst("FFMA", {1}, {2, 3, 4}), Inst("FADD", {5}, {1, 6}), 4},
                      {Inst("FFMA", {1}, {2, 3, 4}), Inst("ISETP.GE.AND", {}, {1}), 5},
                      {Inst("IMAD", {1}, {2, 3, 4}), Inst("MUFU.RCP", {5}, {1}), 4},
                      {Inst("IMAD.WIDE", {2}, {4, 5}), Inst("LDG.E", {6}, {2}), 5},
                      {Inst("IMAD.WIDE", {2}, {4, 5}), Inst("IMAD.WIDE", {6}, {2, 7}), 6},
                      {Inst("HFMA2", {1}, {2, 3, 4}), Inst("HADD2", {5}, {1, 6}), 4},
                      {Inst("CS2R", {2}), Inst("IADD3", {4}, {3, 5}), 6},
                      {Inst("IADD3", {1}, {2}), Inst("HMMA.16816.F32", {8}, {1, 16, 8}), 7},
                      {Inst("FADD", {1}, {2, 3}), Inst("FADD", {4}, {2, 3}), 1},
                      {Inst("IADD3", {1}, {2}), Inst("IADD3", {4}, {3}), 2},  // the half-pipe's interval
                      {Inst("IMAD.WIDE", {2}, {4, 5}), Inst("IMAD", {6}, {7, 8, 9}), 4},
                      {Inst("MUFU.RCP", {1}, {2}), Inst("MUFU.RCP", {3}, {4}), 8},
                      {Inst("LDS", {1}, {2}), Inst("LDS", {3}, {4}), 4}};
  for (const Row& row : rows) {
    const auto bits = Synthesise({row.writer, row.reader});
    EXPECT_EQ(bits[0].stall_cycles, row.stall) << row.writer.opcode << " to " << row.reader.opcode;
  }
}

TEST(Stalls, ElapsedIssueCyclesCount) {
  const auto bits = Synthesise({Inst("FFMA", {1}, {2, 3, 4}), Inst("FADD", {5}, {6, 7}),
                                Inst("FADD", {8}, {6, 7}), Inst("FADD", {9}, {1, 7}), Inst("EXIT")});
  EXPECT_EQ(Stalls(bits), "1 1 2 1 5") << "4 cycles from the FFMA, the rest in front of the reader";
}

TEST(Stalls, ALongLatencyIsHeldInFrontOfItsReader) {
  const auto bits = Synthesise({Inst("HMMA.16816.F32", {8}, {4, 16, 8}), Inst("FADD", {1}, {2, 3}),
                                Inst("HMMA.16816.F32", {8}, {4, 16, 8})});
  EXPECT_EQ(Stalls(bits), "1 23 1") << "24 cycles, more than the 15 that machine code can say";
  EXPECT_FALSE(bits[0].yield);
  EXPECT_TRUE(bits[1].yield) << "a stall above 11 needs the hint";
}

TEST(Stalls, TensorPipesOfSm90AreSpacedCloser) {
  const auto stalls = [](uint32_t binary_version) {
    CodeFlow flow;
    flow.binary_version = binary_version;
    return Stalls(
        Synthesise({Inst("HMMA.16816.F32", {8}, {4, 16, 8}), Inst("HMMA.16816.F32", {20}, {4, 16, 20}),
                    Inst("HMMA.1688.F32", {24}, {4, 16, 24}), Inst("HMMA.1688.F32", {28}, {4, 16, 28})},
                   flow));
  };
  EXPECT_EQ(stalls(89), "8 8 4 1");
  EXPECT_EQ(stalls(90), "6 6 4 1");
}

TEST(Stalls, NothingInFrontOfTheWriterWaitsForItsReader) {
  EXPECT_EQ(
      Stalls(Synthesise({Inst("FADD", {40}, {2, 3}), Inst("FADD", {41}, {2, 3}), Inst("FADD", {42}, {2, 3}),
                         Inst("HMMA.16816.F32", {8}, {4, 16, 8}), Inst("HMMA.16816.F32", {8}, {4, 16, 8})})),
      "1 1 1 24 1");
}

TEST(Stalls, PredicatesThatTextHides) {
  const CodeFlow loop{89, {{0, 1}, {1, 0}, {1, 2}}, {}};
  EXPECT_EQ(Stalls(Synthesise({Inst("ISETP.GE.AND", {}, {1}), Inst("BRA"), Inst("EXIT")}, loop)), "13 5 5");
  const CodeFlow always{89, {{0, 1}, {1, 0}}, {}};
  EXPECT_EQ(Stalls(Synthesise({Inst("ISETP.GE.AND", {}, {1}), Inst("BRA"), Inst("EXIT")}, always)), "1 5 5")
      << "a branch with one successor has no condition";
  EXPECT_EQ(Stalls(Synthesise({Inst("ISETP.GE.AND", {}, {1}), Inst("SEL", {2}, {3, 4}), Inst("EXIT")})),
            "4 1 5");
  EXPECT_EQ(Stalls(Synthesise({Inst("ISETP.GE.AND", {}, {1}), Inst("VOTE.ANY", {2}), Inst("EXIT")})),
            "13 1 5");
  EXPECT_EQ(Stalls(Synthesise({Inst("IADD3", {1}, {2, 3}), Inst("IADD3.X", {4}, {5, 6})})), "4 1") << "carry";
  CodeFlow guarded;
  guarded.guarded = {1};
  EXPECT_EQ(Stalls(Synthesise({Inst("ISETP.GE.AND", {}, {1}), Inst("FADD", {2}, {3, 4})}, guarded)), "13 1");
}

TEST(Stalls, ControlInstructionsHaveTheirOwn) {
  const auto bits =
      Synthesise({Inst("BAR.SYNC.DEFER_BLOCKING"), Inst("LDS", {1}, {2}), Inst("BAR.SYNC.DEFER_BLOCKING"),
                  Inst("FADD", {3}, {4, 5}), Inst("MEMBAR.SC.GPU"), Inst("ERRBAR"), Inst("DEPBAR.LE"),
                  Inst("CCTL.IVALL"), Inst("FADD", {3}, {4, 5}), Inst("BSYNC"), Inst("EXIT")});
  EXPECT_EQ(Stalls(bits), "6 4 1 1 6 0 4 5 2 5 5");
  EXPECT_TRUE(bits[5].yield) << "ERRBAR: stall 0 with yield";
}

TEST(Stalls, TheHeadOfABlockWaitsForTheWorstPredecessor) {
  // 0: FFMA, 1: BRA to 4, 2: FFMA R1 (the late writer), 3: falls through, 4: reader.
  const CodeFlow flow{89, {{0, 1}, {1, 2}, {1, 4}, {2, 3}, {3, 4}}, {}};
  const auto bits = Synthesise({Inst("FFMA", {1}, {2, 3, 4}), Inst("BRA"), Inst("FADD", {5}, {6, 7}),
                                Inst("FFMA", {1}, {2, 3, 4}), Inst("FADD", {8}, {1, 7})},
                               flow);
  EXPECT_EQ(Stalls(bits), "1 5 1 4 1") << "through the branch 5 cycles have passed";
}

TEST(Stalls, ALoopWaitsForItsOwnEnd) {
  const CodeFlow loop{89, {{0, 1}, {1, 2}, {2, 0}, {2, 3}}, {}};
  const auto bits = Synthesise(
      {Inst("HMMA.16816.F32", {8}, {4, 16, 8}), Inst("FADD", {1}, {2, 3}), Inst("BRA"), Inst("EXIT")}, loop);
  EXPECT_EQ(bits[0].stall_cycles + bits[1].stall_cycles + bits[2].stall_cycles, 24);
}

TEST(Counters, AReaderWaitsForALoad) {
  const auto bits = Synthesise({Inst("LDG.E", {4}, {2}), Inst("FADD", {5}, {4, 6}), Inst("EXIT")});
  EXPECT_EQ(Counters(bits), "W0 m0 -");
  EXPECT_EQ(Stalls(bits), "2 1 5") << "a counter is seen from the second cycle on";
  EXPECT_EQ(Counters(Synthesise({Inst("LDG.E", {4}, {2}), Inst("FADD", {5}, {6, 7}), Inst("EXIT")})), "- - -")
      << "nobody reads it";
  EXPECT_EQ(Counters(Synthesise({Inst("LDG.E", {4}, {2}), Inst("MOV", {4}, {7})})), "W0 m0") << "overwritten";
}

TEST(Counters, AnOverwriterWaitsForAStoreToRead) {
  EXPECT_EQ(Counters(Synthesise({Inst("STG.E", {}, {2, 4}), Inst("MOV", {4}, {7})})), "R0 m0");
  EXPECT_EQ(Counters(Synthesise({Inst("STG.E", {}, {2, 4}), Inst("MOV", {6}, {7})})), "- -");
  EXPECT_EQ(Counters(Synthesise({Inst("LDG.E", {4}, {2}), Inst("FADD", {5}, {4, 6}), Inst("MOV", {2}, {7})})),
            "W0 m0 -")
      << "the load has ended, so it has read its address";
  EXPECT_EQ(Counters(Synthesise({Inst("FADD", {5}, {4, 6}), Inst("MOV", {4}, {7})})), "- -")
      << "fixed latency";
}

TEST(Counters, AMemoryInstructionOverwritesAnOlderOnesSources) {
  const auto counters = [](uint32_t version) {
    CodeFlow flow;
    flow.binary_version = version;
    return Counters(Synthesise({Inst("STG.E", {}, {2, 4}), Inst("LDG.E", {4}, {6}), Inst("EXIT")}, flow));
  };
  EXPECT_EQ(counters(89), "R0 m0 -");
  EXPECT_EQ(counters(90), "- - -") << "ptxas relies on the order there";
}

TEST(Counters, SharedLoadsReturnInOrder) {
  const auto bits = Synthesise({Inst("LDS", {4}, {2}), Inst("LDS", {5}, {2}), Inst("FADD", {6}, {4, 5})});
  EXPECT_EQ(Counters(bits), "- W0 m0");
  const auto global =
      Synthesise({Inst("LDG.E", {4}, {2}), Inst("LDG.E", {5}, {2}), Inst("FADD", {6}, {4, 5})});
  EXPECT_EQ(Counters(global), "W0 W0 m0") << "one counter for one reader";
}

TEST(Counters, TheSeventhSharesWithTheNearestConsumer) {
  const auto bits =
      Synthesise({Inst("LDG.E", {10}, {2}), Inst("LDG.E", {11}, {2}), Inst("LDG.E", {12}, {2}),
                  Inst("LDG.E", {13}, {2}), Inst("LDG.E", {14}, {2}), Inst("LDG.E", {15}, {2}),
                  Inst("LDG.E", {16}, {2}), Inst("FADD", {20}, {10, 30}), Inst("FADD", {21}, {11, 30}),
                  Inst("FADD", {22}, {12, 30}), Inst("FADD", {23}, {13, 30}), Inst("FADD", {24}, {14, 30}),
                  Inst("FADD", {25}, {15, 30}), Inst("FADD", {26}, {16, 30})});
  EXPECT_EQ(Counters(bits), "W0 W1 W2 W3 W4 W5 W5 m0 m1 m2 m3 m4 m5 -");
}

TEST(Counters, AWaitAroundALoop) {
  // The reader stands in front of the load; the back edge brings the result.
  const CodeFlow loop{89, {{0, 1}, {1, 2}, {2, 0}, {2, 3}}, {}};
  const auto bits =
      Synthesise({Inst("FADD", {5}, {4, 6}), Inst("LDG.E", {4}, {2}), Inst("BRA"), Inst("EXIT")}, loop);
  EXPECT_EQ(Counters(bits), "m0 W0 - -");
}

TEST(Counters, AWaitThatTheLoopsOtherRoundsMakeNeedlessIsNotKept) {
  // Five loads keep their counters to the end. The load in the loop has the counter of the one in front of
  // it: the wait for the former, at the loop's head, covers the latter, whose reader behind it needs no wait
  // of its own. Without the way back, it would.
  const CodeFlow loop{89, {{9, 6}, {9, 10}}, {}};
  const auto bits =
      Synthesise({Inst("LDG.E", {20}, {40}), Inst("LDG.E", {21}, {40}), Inst("LDG.E", {22}, {40}),
                  Inst("LDG.E", {23}, {40}), Inst("LDG.E", {24}, {40}), Inst("LDG.E", {1}, {40}),
                  Inst("FADD", {2}, {3, 4}), Inst("FADD", {5}, {1, 1}), Inst("LDG.E", {3}, {40}), Inst("BRA"),
                  Inst("FADD", {6}, {20, 4}), Inst("FADD", {7}, {21, 4}), Inst("FADD", {8}, {22, 4}),
                  Inst("FADD", {9}, {23, 4}), Inst("FADD", {10}, {24, 4}), Inst("EXIT")},
                 loop);
  EXPECT_EQ(Counters(bits), "W0 W1 W2 W3 W4 W5 m5 - W5 - m0 m1 m2 m3 m4 -");
}

TEST(Counters, AGroupHasItsOwn) {
  std::vector<StaticInst> table = {Inst("LDGSTS.E.BYPASS.128", {}, {15, 4}), Inst("LDGDEPBAR"),
                                   Inst("LDG.E", {6}, {8}), Inst("DEPBAR.LE"), Inst("FADD", {9}, {6, 7})};
  for (size_t i = 0; i < table.size(); ++i) table[i].pc = static_cast<uint32_t>(16 * i);
  DecodedKernel kernel = DecodeKernel(table, {});
  SynthesiseControlBits({}, &kernel);
  EXPECT_EQ(kernel.insts[1].bits.write_counter, 0);
  EXPECT_EQ(kernel.insts[2].bits.write_counter, 1);
  EXPECT_EQ(kernel.insts[3].depbar_counter, 0);
  EXPECT_EQ(kernel.insts[4].bits.wait_mask, 2);
}

TEST(Counters, UniformResultsThatTextHides) {
  EXPECT_EQ(Counters(Synthesise({Inst("S2UR"), Inst("UIADD3"), Inst("EXIT")})), "W0 m0 -");
  EXPECT_EQ(Counters(Synthesise({Inst("S2UR"), Inst("ULDC.64"), Inst("EXIT")})), "- - -") << "reads none";
}

TEST(Reuse, TheNextReaderOfTheSlotReadsTheSame) {
  const auto reuse = [](std::initializer_list<StaticInst> insts) { return Synthesise(insts)[0].reuse_mask; };
  EXPECT_EQ(reuse({Inst("FFMA", {1}, {2, 3, 4}), Inst("FFMA", {5}, {2, 7, 8})}), 1);
  EXPECT_EQ(reuse({Inst("FFMA", {1}, {2, 3, 4}), Inst("FFMA", {5}, {6, 3, 4})}), 6);
  EXPECT_EQ(reuse({Inst("FFMA", {1}, {2, 3, 4}), Inst("FFMA", {5}, {3, 2, 8})}), 0) << "another slot";
  EXPECT_EQ(reuse({Inst("FFMA", {2}, {2, 3, 4}), Inst("FADD", {5}, {6, 7}), Inst("FFMA", {5}, {2, 7, 8})}), 0)
      << "overwritten";
  EXPECT_EQ(reuse({Inst("FFMA", {1}, {2, 3, 4}), Inst("FADD", {5}, {6, 7}), Inst("FFMA", {9}, {2, 7, 8})}), 0)
      << "R6 has taken the entry of slot A, even bank";
  EXPECT_EQ(reuse({Inst("FFMA", {1}, {2, 3, 4}), Inst("FADD", {5}, {7, 9}), Inst("FFMA", {9}, {2, 7, 8})}), 1)
      << "R7 is of the other bank";
  EXPECT_EQ(reuse({Inst("LDS", {1}, {2}), Inst("LDS", {3}, {2})}), 0) << "loads do not use the cache";
}

TEST(Synthesis, OnePcHasOneSetOfBits) {
  std::vector<StaticInst> table = {Inst("IADD3", {1}, {2}), Inst("IADD3", {1}, {2}),
                                   Inst("FFMA", {3}, {1, 4, 5})};
  table[1].has_immediate = true;  // the same instruction, seen with another immediate
  table[1].immediate = 3;
  table[2].pc = 16;
  DecodedKernel kernel = DecodeKernel(table, {});
  SynthesiseControlBits({}, &kernel);
  EXPECT_EQ(kernel.insts[0].bits.stall_cycles, 5);
  EXPECT_EQ(kernel.insts[1].bits.stall_cycles, 5);
  EXPECT_EQ(kernel.insts[2].bits.stall_cycles, 1);
}

TEST(Synthesis, GapsEndABlockAndNothingIsNothing) {
  std::vector<StaticInst> table = {Inst("IADD3", {1}, {2}), Inst("FFMA", {3}, {1, 4, 5})};
  table[1].pc = 0x100;  // code between that no warp ran
  DecodedKernel kernel = DecodeKernel(table, {});
  SynthesiseControlBits({}, &kernel);
  EXPECT_EQ(kernel.insts[0].bits.stall_cycles, 1);
  DecodedKernel empty;
  SynthesiseControlBits({}, &empty);
  EXPECT_TRUE(empty.insts.empty());
}

TEST(Synthesis, UniformDistances) {
  EXPECT_EQ(Stalls(Synthesise({WithUniform(Inst("UMOV")), Inst("EXIT")})), "1 5");
  StaticInst ulea = Inst("UIADD3");
  ulea.num_dests = 1;
  ulea.dests[0] = {RegFile::kUniform, 4};
  EXPECT_EQ(Stalls(Synthesise({ulea, WithUniform(Inst("IADD3", {1}, {2}))})), "6 1");
  EXPECT_EQ(Stalls(Synthesise({ulea, WithUniform(Inst("LDS", {1}))})), "9 1");
}

}  // namespace
}  // namespace sm89
