// Which spellings of an opcode are one word's: nothing true refused, nothing false taken.
#include "sim/sass/opcode_text.h"

#include <gtest/gtest.h>

#include "sim/sass/decode.h"
#include "tests/unit/sim_sass/listing.h"

namespace sm89::sass {
namespace {

TEST(OpcodeText, SpellingsOfOneWord) {
  EXPECT_TRUE(SameOpcodeText("LDG.E.64", "LDG.E.64"));
  EXPECT_TRUE(SameOpcodeText("IMAD.MOV.U32", "IMAD.U32"));
  EXPECT_TRUE(SameOpcodeText("IMAD.IADD", "IMAD"));
  EXPECT_TRUE(SameOpcodeText("BAR.SYNC", "BAR.SYNC.DEFER_BLOCKING"));
  EXPECT_TRUE(SameOpcodeText("WARPSYNC.EXCLUSIVE", "WARPSYNC.COLLECTIVE"));
  EXPECT_TRUE(SameOpcodeText("HSETP2.H0_H0.GT.AND", "HSETP2.GT.AND.H0_H0")) << "the order is a guess";
}

TEST(OpcodeText, AnotherWord) {
  EXPECT_FALSE(SameOpcodeText("LDG.E.64", "LDG.E"));
  EXPECT_FALSE(SameOpcodeText("ISETP.GE.AND", "ISETP.GT.AND"));
  EXPECT_FALSE(SameOpcodeText("FADD.FTZ", "FADD"));
  EXPECT_FALSE(SameOpcodeText("IMAD.WIDE", "IMAD"));
  EXPECT_FALSE(SameOpcodeText("IADD.MOV", "IADD")) << "only IMAD is renamed";
  EXPECT_FALSE(SameOpcodeText("BAR.SYNC", "BAR.ARV"));
  EXPECT_FALSE(SameOpcodeText("FADD", "FMUL"));
}

// The vendor's spelling of each row is that of the word beside it.
TEST(OpcodeText, EveryRowOfTheListing) {
  const auto& rows = testing::Listing();
  if (rows.empty()) GTEST_SKIP() << "../shared/sass/listing.tsv.xz is not here";
  for (const testing::ListingRow& row : rows) {
    std::string_view text = row.text;
    if (text[0] == '@') text.remove_prefix(text.find(' ') + 1);
    const auto inst = Decode(row.word, row.arch());
    ASSERT_TRUE(inst.ok());
    ASSERT_TRUE(SameOpcodeText(text.substr(0, text.find(' ')), PrintOpcode(*inst)))
        << row.text << " against " << PrintOpcode(*inst);
  }
}

}  // namespace
}  // namespace sm89::sass
