#include "sim/config/text_value.h"

#include <gtest/gtest.h>

#include <clocale>
#include <cstdint>
#include <locale>
#include <string>

#include "absl/strings/str_cat.h"

namespace sm89::settings {
namespace {

std::string UintMessage(std::string_view text, uint64_t min = 0, uint64_t max = 1000) {
  uint64_t value = 77;
  const Outcome bad = ReadUint(text, min, max, &value);
  if (!bad) return absl::StrCat("= ", value);
  EXPECT_EQ(value, 77u) << "a refused text must not change the value";
  return bad->message;
}

std::string DecimalMessage(std::string_view text) {
  uint64_t value = 77;
  const Outcome bad = ReadDecimal(text, {3, 1000, 9'000'000}, &value);
  if (!bad) return absl::StrCat("= ", value);
  EXPECT_EQ(value, 77u);
  return bad->message;
}

TEST(ReadUint, TakesDecimalAndHexadecimal) {
  EXPECT_EQ(UintMessage("0"), "= 0");
  EXPECT_EQ(UintMessage("1000"), "= 1000");
  EXPECT_EQ(UintMessage("0x3E8"), "= 1000");
  EXPECT_EQ(UintMessage("0X3e8"), "= 1000");
  EXPECT_EQ(UintMessage("18446744073709551615", 0, ~uint64_t{0}), "= 18446744073709551615");
}

TEST(ReadUint, LeadingZeroIsNotOctal) {
  EXPECT_EQ(UintMessage("010"), "= 10");
  EXPECT_EQ(UintMessage("08"), "= 8");
}

TEST(ReadUint, RefusesWhatIsNotExactlyANumber) {
  EXPECT_EQ(UintMessage(""), "the value is empty");
  EXPECT_EQ(UintMessage("X"), "not a number");
  EXPECT_EQ(UintMessage("+5"), "not a number");
  EXPECT_EQ(UintMessage("0x"), "'x' follows the number");
  EXPECT_EQ(UintMessage("0xg"), "not a number");
  EXPECT_EQ(UintMessage("24x"), "'x' follows the number");
  EXPECT_EQ(UintMessage("1e3"), "'e3' follows the number");
  EXPECT_EQ(UintMessage("3.5"), "a whole number is needed, not a fraction");
  EXPECT_EQ(UintMessage("-1"), "a negative value is not possible");
  EXPECT_EQ(UintMessage("--1"), "not a number");
}

TEST(ReadUint, RefusesWhatIsOutsideTheRange) {
  EXPECT_EQ(UintMessage("1001"), "outside the range 0..1000");
  EXPECT_EQ(UintMessage("4", 5, 6), "outside the range 5..6");
  EXPECT_EQ(UintMessage("18446744073709551616", 0, ~uint64_t{0}),
            "outside the range 0..18446744073709551615");
  EXPECT_EQ(UintMessage("99999999999999999999999"), "outside the range 0..1000");
}

TEST(ReadDecimal, IsExact) {
  EXPECT_EQ(DecimalMessage("5250.5"), "= 5250500");
  EXPECT_EQ(DecimalMessage("5250.500000"), "= 5250500");
  EXPECT_EQ(DecimalMessage("1.001"), "= 1001");
  EXPECT_EQ(DecimalMessage("9000"), "= 9000000");
}

TEST(ReadDecimal, RefusesOtherSpellings) {
  EXPECT_EQ(DecimalMessage("5250,5"), "',5' follows the number");
  EXPECT_EQ(DecimalMessage("5250."), "'.' follows the number");
  EXPECT_EQ(DecimalMessage(".5"), "not a number");
  EXPECT_EQ(DecimalMessage("5.5x"), "'x' follows the number");
  EXPECT_EQ(DecimalMessage("1.5.5"), "'.5' follows the number");
  EXPECT_EQ(DecimalMessage("nan"), "not a number");
  EXPECT_EQ(DecimalMessage("-2.5"), "a negative value is not possible");
  EXPECT_EQ(DecimalMessage("1.0001"), "more than 3 places behind the dot");
  EXPECT_EQ(DecimalMessage("0.999"), "outside the range 1..9000");
  EXPECT_EQ(DecimalMessage("9000.001"), "outside the range 1..9000");
  EXPECT_EQ(DecimalMessage("99999999999999999999999.5"), "outside the range 1..9000");
}

struct CommaPoint : std::numpunct<char> {
  char do_decimal_point() const override { return ','; }
  char do_thousands_sep() const override { return '.'; }
  std::string do_grouping() const override { return "\3"; }
};

TEST(ReadDecimal, DoesNotDependOnTheLocale) {
  const std::locale before = std::locale::global(std::locale(std::locale::classic(), new CommaPoint));
  std::setlocale(LC_ALL, "de_DE.UTF-8");  // where it is installed
  EXPECT_EQ(DecimalMessage("5250.5"), "= 5250500");
  EXPECT_EQ(DecimalMessage("5250,5"), "',5' follows the number");
  EXPECT_EQ(WriteDecimal(5'250'500, 3), "5250.5");
  EXPECT_EQ(UintMessage("1001"), "outside the range 0..1000");
  std::locale::global(before);
  std::setlocale(LC_ALL, "C");
}

TEST(WriteDecimal, IsTheShortestText) {
  EXPECT_EQ(WriteDecimal(0, 3), "0");
  EXPECT_EQ(WriteDecimal(5'250'500, 3), "5250.5");
  EXPECT_EQ(WriteDecimal(5'250'005, 3), "5250.005");
  EXPECT_EQ(WriteDecimal(2'520'000, 3), "2520");
  EXPECT_EQ(WriteDecimal(1005, 1), "100.5");
}

TEST(ReadBool, TakesFourWords) {
  bool value = false;
  EXPECT_FALSE(ReadBool("1", &value));
  EXPECT_TRUE(value);
  EXPECT_FALSE(ReadBool("false", &value));
  EXPECT_FALSE(value);
  EXPECT_TRUE(ReadBool("2", &value));
  EXPECT_TRUE(ReadBool("yes", &value));
  EXPECT_TRUE(ReadBool("", &value));
}

TEST(Split, KeepsEmptyPieces) {
  EXPECT_EQ(Split("a:b", ':'), (std::vector<std::string_view>{"a", "b"}));
  EXPECT_EQ(Split(":b:", ':'), (std::vector<std::string_view>{"", "b", ""}));
  EXPECT_EQ(Split("", ':'), (std::vector<std::string_view>{""}));
}

TEST(Printable, KeepsUtf8AndEscapesTheRest) {
  EXPECT_EQ(Printable("gr\xC3\xB6\xC3\x9F"
                      "e"),
            "gr\xC3\xB6\xC3\x9F"
            "e");
  EXPECT_EQ(Printable("\xF0\x9F\x98\x80"), "\xF0\x9F\x98\x80");
  EXPECT_EQ(Printable("a\nb\x1b[0m"), "a\\x0ab\\x1b[0m");
  EXPECT_EQ(Printable("\xFF"), "\\xff");
  EXPECT_EQ(Printable("\xC3"), "\\xc3");                    // cut
  EXPECT_EQ(Printable("\xC0\xAF"), "\\xc0\\xaf");           // overlong
  EXPECT_EQ(Printable("\xED\xA0\x80"), "\\xed\\xa0\\x80");  // surrogate
  EXPECT_EQ(Printable("\xF4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");
}

TEST(Printable, IsBounded) {
  EXPECT_LE(Printable(std::string(100'000, 'x')).size(), 203u);
  EXPECT_LE(Printable(std::string(100'000, '\x01')).size(), 203u);
}

TEST(EditDistance, CountsEditsUpToALimit) {
  EXPECT_EQ(EditDistance("", "", 9), 0u);
  EXPECT_EQ(EditDistance("abc", "", 9), 3u);
  EXPECT_EQ(EditDistance("kitten", "sitting", 9), 3u);
  EXPECT_EQ(EditDistance("kitten", "sitting", 4), 3u);
  EXPECT_EQ(EditDistance("kitten", "sitting", 3), 3u);
  EXPECT_EQ(EditDistance("kitten", "sitting", 2), 2u);
  EXPECT_EQ(EditDistance("-gpugpu_shmem_option", "-gpgpu_shmem_option", 9), 1u);
  EXPECT_EQ(EditDistance(std::string(10'000, 'a'), std::string(10'000, 'b'), 1000), 128u);
}

}  // namespace
}  // namespace sm89::settings
