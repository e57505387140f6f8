#include "sim/ingest/inst_parser.h"

#include <string>
#include <utility>
#include <vector>

#include "tests/unit/sim_ingest/ingest_fixtures.h"

namespace sm89 {
namespace {

using Immediate = LineFormat::Immediate;
using testing::RecordingWriter;

class InstParserTest : public ::testing::Test {
 protected:
  void Use(Immediate immediate, bool has_source_line = false) {
    parser_ = std::make_unique<InstParser>(LineFormat{immediate, has_source_line}, "f", table_);
  }
  bool Parse(const std::string& line) { return parser_->Parse(line, ++line_, &inst_); }
  std::string Fact(const std::string& key) const {
    for (const auto& [name, value] : parser_->fault().facts) {
      if (name == key) return value;
    }
    return "";
  }
  std::vector<uint64_t> Addresses() const {
    return {inst_.tail.addresses.begin(), inst_.tail.addresses.begin() + inst_.tail.num_addresses};
  }
  const StaticInst& Static() const { return table_.insts()[inst_.static_id]; }

  RecordingWriter writer_;
  StaticTable table_{writer_};
  std::unique_ptr<InstParser> parser_;
  ParsedInst inst_;
  uint64_t line_ = 0;
};

TEST_F(InstParserTest, ReadsEveryColumn) {
  Use(Immediate::kOne);
  ASSERT_TRUE(Parse("01a0 0000000f 1 R4 LDG.E.64 2 R2 R255 8 1 0x1000 -8 -3 "));
  EXPECT_EQ(inst_.mask, 0xfu);
  EXPECT_EQ(Static().pc, 0x1a0u);
  EXPECT_EQ(Static().opcode, "LDG.E.64");
  EXPECT_EQ(Static().num_dests, 1);
  EXPECT_EQ(Static().dests[0], (RegRef{RegFile::kGeneral, 4}));
  EXPECT_EQ(Static().num_sources, 2);
  EXPECT_EQ(Static().sources[1].index, 255);
  EXPECT_EQ(Static().declared_width_bytes, 8);
  EXPECT_TRUE(Static().has_immediate);
  EXPECT_EQ(Static().immediate, -3);
  EXPECT_EQ(Addresses(), (std::vector<uint64_t>{0x1000, 0xff8, 0xff0, 0xfe8}));
}

TEST_F(InstParserTest, TheSameLineAgainIsTheSameInstruction) {
  Use(Immediate::kOne);
  ASSERT_TRUE(Parse("0000 ffffffff 1 R1 MOV 0 0 5 "));
  const uint32_t first = inst_.static_id;
  ASSERT_TRUE(Parse("0000 00000001 1 R1 MOV 0 0 5 "));
  EXPECT_EQ(inst_.static_id, first);
  EXPECT_EQ(inst_.mask, 1u);
  ASSERT_TRUE(Parse("0000 ffffffff 1 R1 MOV 0 0 6 "));
  EXPECT_NE(inst_.static_id, first);
  ASSERT_TRUE(Parse("0000 ffffffff 1 R11 MOV 0 0 5"));
  ASSERT_TRUE(Parse("0000 ffffffff 1 R1 MOV 0 0 5"));
  EXPECT_EQ(inst_.static_id, first);
  EXPECT_EQ(table_.insts().size(), 3u);
}

TEST_F(InstParserTest, AMemoryWidthThatGoesOnIsAnotherText) {
  Use(Immediate::kNone);
  ASSERT_TRUE(Parse("0000 00000001 1 R1 LDG 1 R2 1 2 0x10"));
  ASSERT_TRUE(Parse("0000 00000001 1 R1 LDG 1 R2 16 2 0x10"));
  EXPECT_EQ(Static().declared_width_bytes, 16);
}

TEST_F(InstParserTest, ManyImmediatesAtOnePc) {
  Use(Immediate::kOne);
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 100; ++i) ASSERT_TRUE(Parse("0000 ffffffff 1 R1 MOV 0 0 " + std::to_string(i)));
  }
  EXPECT_EQ(table_.insts().size(), 100u);
}

TEST_F(InstParserTest, StrideFollowsTheLane) {
  Use(Immediate::kNone);
  ASSERT_TRUE(Parse("0000 00000700 1 R1 LDG 1 R2 4 1 0x7f00 -256"));
  EXPECT_EQ(Addresses(), (std::vector<uint64_t>{0x7f00, 0x7e00, 0x7d00}));
  ASSERT_TRUE(Parse("0000 00000005 1 R1 LDG 1 R2 4 1 0x100 4"));
  EXPECT_EQ(Addresses(), (std::vector<uint64_t>{0x100, 0x108}));
}

TEST_F(InstParserTest, DeltasAreOneFewerThanLanes) {
  Use(Immediate::kOne);
  ASSERT_TRUE(Parse("0000 80000101 1 R1 LDG 1 R2 4 2 0x7f4c80008000 32 4294967296 -3"));
  EXPECT_EQ(Addresses(), (std::vector<uint64_t>{0x7f4c80008000, 0x7f4c80008020, 0x7f4d80008020}));
  EXPECT_EQ(Static().immediate, -3);
  ASSERT_TRUE(Parse("0000 00000001 1 R1 LDG 1 R2 4 2 0x10 -3"));
  EXPECT_EQ(Addresses(), std::vector<uint64_t>{0x10});
}

TEST_F(InstParserTest, AddressesWrapAtSixtyFourBits) {
  Use(Immediate::kNone);
  ASSERT_TRUE(Parse("0000 00000003 1 R1 LDG 1 R2 4 2 0xfffffffffffffffc 8"));
  EXPECT_EQ(Addresses(), (std::vector<uint64_t>{0xfffffffffffffffc, 4}));
}

// Forms of a memory instruction without an active lane, by tracer version.
TEST_F(InstParserTest, EmptyMasksComeInEveryForm) {
  const std::vector<std::pair<Immediate, std::vector<std::string>>> good = {
      {Immediate::kNone, {"", "0", "1 0x0 0", "2 0x0"}},
      {Immediate::kOptional, {"", "0", "7", "1 0x0 0", "1 0x0 0 7", "2 0x0", "2 0x0 7", "0 7"}},
      {Immediate::kOne, {"7", "0 7", "1 0x0 0 7", "2 0x0 7"}},
      {Immediate::kTwo, {"7 0 NoVal", "0 7 0 NoVal", "1 0x0 0 7 0 NoVal", "2 0x0 7 0 NoVal"}},
  };
  for (const auto& [immediate, tails] : good) {
    Use(immediate);
    for (const std::string& tail : tails) {
      EXPECT_TRUE(Parse("0000 00000000 1 R1 LDG 1 R2 4 " + tail)) << tail;
      EXPECT_EQ(inst_.tail.num_addresses, 0u);
      EXPECT_EQ(inst_.tail.immediate, tail.find('7') == std::string::npos ? 0 : 7) << tail;
    }
  }
  Use(Immediate::kOne);
  for (const char* tail : {"", "1 0x0 0 0 0", "2 0x0", "3 0x0 0 0"}) {
    EXPECT_FALSE(Parse(std::string("0000 00000000 1 R1 LDG 1 R2 4 ") + tail)) << tail;
    EXPECT_FALSE(parser_->fault().message.empty());
  }
}

TEST_F(InstParserTest, ListsAreCountedAgainstTheMask) {
  Use(Immediate::kOne);
  EXPECT_FALSE(Parse("0030 0000000f 1 R5 LDG.E 1 R2 4 0 0x10 0x20 0x30 0 "));
  EXPECT_EQ(Fact("want_addresses"), "4");
  EXPECT_EQ(Fact("got_addresses"), "3");
  EXPECT_EQ(Fact("pc"), "0x30");
  EXPECT_FALSE(Parse("0030 00000003 1 R5 LDG.E 1 R2 4 0 0x10 0x20 0x30 0 "));
  EXPECT_EQ(Fact("got_addresses"), "3");
  EXPECT_FALSE(Parse("0030 00000007 1 R5 LDG.E 1 R2 4 2 0x10 4 0 "));
  EXPECT_EQ(Fact("got_addresses"), "2");
  // Version 4 may lack the immediate: 0x tells an address from it.
  Use(Immediate::kOptional);
  EXPECT_TRUE(Parse("0030 00000003 1 R5 LDG.E 1 R2 4 0 0x10 0x20"));
  EXPECT_FALSE(Parse("0030 00000003 1 R5 LDG.E 1 R2 4 0 0x10 0"));
  EXPECT_EQ(Fact("got_addresses"), "1");
}

TEST_F(InstParserTest, OnlyAnImmediateThatMayBeAbsentNeeds0x) {
  for (const Immediate immediate : {Immediate::kOne, Immediate::kTwo}) {
    Use(immediate);
    const std::string behind = immediate == Immediate::kTwo ? " 7 0 NoVal" : " 7";
    EXPECT_TRUE(Parse("0030 00000003 1 R5 LDG.E 1 R2 4 0 7f00 10" + behind));
    EXPECT_EQ(Addresses(), (std::vector<uint64_t>{0x7f00, 0x10}));
    EXPECT_EQ(Static().immediate, 7);
  }
  Use(Immediate::kOptional);
  EXPECT_FALSE(Parse("0030 00000003 1 R5 LDG.E 1 R2 4 0 7f00 0x10 7"));
  EXPECT_EQ(parser_->fault().value, "7f00");
}

TEST_F(InstParserTest, LeftOverOrMissingColumnsAreCounted) {
  Use(Immediate::kOne);
  EXPECT_FALSE(Parse("0000 ffffffff 1 R1 MOV 0 0 "));
  EXPECT_EQ(Fact("want_tokens"), "1");
  EXPECT_EQ(Fact("got_tokens"), "0");
  EXPECT_FALSE(Parse("0000 ffffffff 1 R1 MOV 0 0 1 2 "));
  EXPECT_EQ(Fact("got_tokens"), "2");
  EXPECT_FALSE(Parse("0000 ffffffff 1 R1 LDG 1 R2 4 1 0x10 0 "));
  EXPECT_EQ(Fact("want_tokens"), "2");
  Use(Immediate::kNone);
  EXPECT_FALSE(Parse("0000 ffffffff 1 R1 MOV 0 0 0"));
}

TEST_F(InstParserTest, UnknownAddressModesAreNamed) {
  Use(Immediate::kNone);
  EXPECT_FALSE(Parse("0000 ffffffff 1 R1 LDG 1 R2 4 7 0x10 0"));
  EXPECT_EQ(Fact("mode"), "7");
  EXPECT_FALSE(Parse("0000 ffffffff 1 R1 LDG 1 R2 4"));
  EXPECT_EQ(parser_->fault().message, "the addresses are missing");
}

TEST_F(InstParserTest, BadColumnsAreNamed) {
  Use(Immediate::kNone);
  const std::vector<std::pair<std::string, std::string>> bad = {
      {"000000000 ffffffff 0 NOP 0 0", "pc"},
      {"0000 ffffffff x NOP 0 0", "number of destinations"},
      {"0000 ffffffff 3 R1 R2 R3 NOP 0 0", "number of destinations"},
      {"0000 ffffffff 1 R256 NOP 0 0", "destinations"},
      {"0000 ffffffff 1 Q1 NOP 0 0", "destinations"},
      {"0000 ffffffff 0 nop 0 0", "opcode"},
      {"0000 ffffffff 0 A!B 0 0", "opcode"},
      {"0000 ffffffff 0 NOP 6 R1 R1 R1 R1 R1 R1 0", "number of sources"},
      {"0000 ffffffff 0 NOP 0 256", "mem_width"},
      {"0000 ffffffff 0 NOP 0", "mem_width"},
      {"0000 fffffff 0 NOP 0 0", "line"},
      {"garbage", "line"},
  };
  for (const auto& [line, field] : bad) {
    EXPECT_FALSE(Parse(line)) << line;
    EXPECT_EQ(parser_->fault().field, field) << line;
    EXPECT_EQ(parser_->fault().line, line_);
  }
}

TEST_F(InstParserTest, PrefixedLinesBelongToTheirSection) {
  Use(Immediate::kNone);
  parser_->SetSection({1, 2, 3}, 4);
  ASSERT_TRUE(Parse("1 2 3 4 0090 ffffffff 1 R4 LDG.E.64.SYS 1 R4 8 1 0x00007f2d93400000 8 "));
  EXPECT_EQ(Static().pc, 0x90u);
  EXPECT_FALSE(Parse("1 2 3 5 0090 ffffffff 1 R4 MOV 0 0"));
  EXPECT_EQ(parser_->fault().field, "block and warp");
}

TEST_F(InstParserTest, SourceLinesComeFirst) {
  Use(Immediate::kOptional, true);
  ASSERT_TRUE(Parse("4000000000 0040 ffffffff 0 EXIT 0 0 0"));
  EXPECT_EQ(Static().source_line, 4000000000u);
  EXPECT_EQ(Static().pc, 0x40u);
  EXPECT_FALSE(Parse("4294967296 0040 ffffffff 0 EXIT 0 0 0"));
  EXPECT_EQ(parser_->fault().field, "source line");
}

TEST_F(InstParserTest, TheForksSuffixIsPassedOver) {
  Use(Immediate::kOne);
  EXPECT_TRUE(
      Parse("00d0 ffffffff 0 STG.E.SYS 2 R6 R9 4 1 0x7fabb9200000 4 0 STORE_DATA I32 1 REG0:T0:0x00000000"));
}

// From the format's description; unverified against a real tracer of version 6.
TEST_F(InstParserTest, VersionSixHasTwoImmediatesAndValues) {
  Use(Immediate::kTwo);
  ASSERT_TRUE(Parse("0000 ffffffff 1 R1 IADD3 3 R2 UR4 UP1 0 7 -9 NoVal"));
  EXPECT_EQ(Static().sources[1], (RegRef{RegFile::kUniform, 4}));
  EXPECT_EQ(Static().sources[2], (RegRef{RegFile::kUniformPredicate, 1}));
  EXPECT_EQ(Static().immediate, 7);
  EXPECT_EQ(Static().immediate2, -9);
  std::string lanes;
  for (int i = 0; i < 32; ++i) lanes.append(" ").append(std::to_string(i));
  const std::string values = std::string("0000 ffffffff 1 R1 MOV 1 UR2 0 0 0 Val 32").append(lanes);
  EXPECT_TRUE(Parse(std::string(values).append(" 1 ff")));
  EXPECT_FALSE(Parse(values));
  EXPECT_FALSE(Parse("0000 ffffffff 1 R1 MOV 1 UR2 0 0 0"));
  EXPECT_TRUE(Parse("0010 ffffffff 1 R1 HGMMA.64x8x16.F32 1 R2 1 0 0 0 NoVal"));
  EXPECT_FALSE(Parse("0020 ffffffff 1 R1 HGMMA.64x8x16.F32 1 R2 5 0 0 0 NoVal"));
  EXPECT_TRUE(Parse("0030 ffffffff 0 UTMALDG.2D 1 UR4 16 0x400 0 4096 0 3 2 0x10 0x20 0 0 NoVal"));
  EXPECT_TRUE(Parse("0040 ffffffff 0 UTMALDG.2D 1 UR4 16 0x400 1 0xff 4096 0 4 0x10 3 16 16 0 0 NoVal"));
  EXPECT_FALSE(Parse("0050 ffffffff 0 UTMALDG.2D 1 UR4 16 0x400 0 4096 0 3 3 0x10 0x20 0 0 NoVal"));
}

TEST_F(InstParserTest, ZeroAddressesAreNoticed) {
  Use(Immediate::kNone);
  ASSERT_TRUE(Parse("0000 00000003 1 R1 LDG 1 R2 4 1 0x0 4"));
  EXPECT_TRUE(inst_.tail.has_zero_address);
  ASSERT_TRUE(Parse("0000 00000003 1 R1 LDG 1 R2 4 1 0x8 4"));
  EXPECT_FALSE(inst_.tail.has_zero_address);
}

}  // namespace
}  // namespace sm89
