#include "sim/ingest/text_scan.h"

#include <gtest/gtest.h>

#include "sim/ingest/inst_scan.h"

namespace sm89 {
namespace {

TEST(TextScanTest, NumbersAreWholeTexts) {
  EXPECT_EQ(ParseUnsigned("18446744073709551615"), ~uint64_t{0});
  EXPECT_FALSE(ParseUnsigned("18446744073709551616"));
  EXPECT_FALSE(ParseUnsigned(""));
  EXPECT_FALSE(ParseUnsigned("12x"));
  EXPECT_FALSE(ParseUnsigned("-1"));
  EXPECT_EQ(ParseSigned("-3"), -3);
  EXPECT_EQ(ParseHex("0X7F4C80003000"), 0x7f4c80003000u);
  EXPECT_FALSE(ParseHex("0x"));
  EXPECT_FALSE(ParseHex("0x10000000000000000"));
}

TEST(TextScanTest, TriplesHaveThreeNumbers) {
  EXPECT_EQ(ParseTriple(" 1, 2 ,3"), (Dim3{1, 2, 3}));
  EXPECT_FALSE(ParseTriple("1,2"));
  EXPECT_FALSE(ParseTriple("1,2,3,4"));
  EXPECT_FALSE(ParseTriple("1,2,4294967296"));
  EXPECT_EQ(FormatTriple({4, 5, 6}), "4,5,6");
}

TEST(CursorTest, DecimalsCoverTheWholeRange) {
  int64_t value = 0;
  EXPECT_TRUE(Cursor("-9223372036854775808").Decimal(&value));
  EXPECT_EQ(value, INT64_MIN);
  EXPECT_TRUE(Cursor(" 18446744073709551615").Decimal(&value));
  EXPECT_EQ(value, -1);
  EXPECT_FALSE(Cursor("18446744073709551616").Decimal(&value));
  EXPECT_FALSE(Cursor("-9223372036854775809").Decimal(&value));
  EXPECT_FALSE(Cursor("-").Decimal(&value));
  EXPECT_FALSE(Cursor("1x").Decimal(&value));
}

TEST(CursorTest, HexNeedsDigitsAndABoundary) {
  uint64_t value = 0;
  EXPECT_TRUE(Cursor("0x00ff800000000000").Hex(&value));
  EXPECT_EQ(value, 0x00ff800000000000u);
  EXPECT_TRUE(Cursor("ff").Hex(&value));
  EXPECT_FALSE(Cursor("ff").Hex(&value, true));
  EXPECT_FALSE(Cursor("0x1g").Hex(&value));
  EXPECT_FALSE(Cursor("0x10000000000000000").Hex(&value));
  EXPECT_FALSE(Cursor("").Hex(&value));
}

}  // namespace
}  // namespace sm89
