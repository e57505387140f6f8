// The whole listing: every word decodes, and prints as the vendor's disassembler prints it.
#include "tests/unit/sim_sass/listing.h"

#include <gtest/gtest.h>

#include <map>

#include "sim/sass/decode.h"

namespace sm89::sass {
namespace {

using testing::Listing;
using testing::ListingRow;

constexpr size_t kListingRows = 208984;

std::string LabelL(uint64_t, void*) { return "L"; }

// The listing's text without what only the symbol table knows: `(label) is L, 32@hi(...) is S, the list of
// targets behind a BRX is dropped.
std::string Placeheld(std::string text) {
  if (const size_t at = text.find(" (*\""); at != std::string::npos) text.resize(at);
  if (const size_t at = text.find("`("); at != std::string::npos) {
    text = text.substr(0, at) + "L" + text.substr(text.find(')', at) + 1);
  }
  if (const size_t at = text.find("32@"); at != std::string::npos) text = text.substr(0, at) + "S";
  return text;
}

// Our text of the same row: a relocated number has no symbol here, so it becomes the placeholder as well.
std::string OurText(const ListingRow& row, const Instruction& inst, const std::string& want) {
  PrintOptions options;
  options.pc = row.offset;
  if (want.find(" L") != std::string::npos) options.label = LabelL;
  std::string got = Print(inst, options);
  const bool symbol =
      want.ends_with(" S") || (inst.op == Op::kCall && inst.Get(Field::kAbsolute) && want.ends_with("L"));
  if (symbol) got = got.substr(0, got.rfind(' ') + 1) + want.back();
  return got;
}

TEST(Listing, EveryRowDecodesToItsMnemonic) {
  if (Listing().empty()) GTEST_SKIP() << "../shared/sass/listing.tsv.xz is not here";
  ASSERT_EQ(Listing().size(), kListingRows);
  size_t decoded = 0;
  for (const ListingRow& row : Listing()) {
    const auto inst = Decode(row.word, row.arch());
    ASSERT_TRUE(inst.ok()) << row.cubin << " " << row.function << ": " << row.text << ": "
                           << inst.status().message();
    std::string_view text = row.text;
    if (text[0] == '@') text.remove_prefix(text.find(' ') + 1);
    ASSERT_EQ(text.substr(0, text.find_first_of(". ")), Name(inst->op)) << row.text;
    ++decoded;
  }
  EXPECT_EQ(decoded, kListingRows);
}

TEST(Listing, TextIsTheDisassemblersOnEveryRow) {
  if (Listing().empty()) GTEST_SKIP() << "../shared/sass/listing.tsv.xz is not here";
  size_t equal = 0, shown = 0;
  for (const ListingRow& row : Listing()) {
    const auto inst = Decode(row.word, row.arch());
    ASSERT_TRUE(inst.ok()) << inst.status().message();
    const std::string want = Placeheld(row.text);
    const std::string got = OurText(row, *inst, want);
    equal += got == want ? 1 : 0;
    if (got != want && ++shown < 20)
      ADD_FAILURE() << row.cubin << " " << row.function << "\n" << want << "\n" << got;
  }
  std::printf("%zu of %zu rows print the same (%.4f %%)\n", equal, Listing().size(),
              100.0 * static_cast<double>(equal) / static_cast<double>(Listing().size()));
  EXPECT_EQ(equal, Listing().size());
}

// Branch targets without a label function are addresses: the listing of the same code with addresses in it.
TEST(Listing, TargetsLieInTheirFunction) {
  if (Listing().empty()) GTEST_SKIP() << "../shared/sass/listing.tsv.xz is not here";
  std::map<std::pair<std::string, std::string>, uint64_t> ends;
  for (const ListingRow& row : Listing()) ends[{row.cubin, row.function}] = row.offset + 16;
  size_t branches = 0;
  for (const ListingRow& row : Listing()) {
    const auto inst = Decode(row.word, row.arch());
    ASSERT_TRUE(inst.ok());
    const Operand* target = inst->Target();
    if (target == nullptr || (inst->op != Op::kBra && inst->op != Op::kBssy)) continue;
    ++branches;
    const uint64_t address = row.offset + 16 + static_cast<uint64_t>(target->value);
    ASSERT_LT(address, (ends[{row.cubin, row.function}])) << row.text;
    ASSERT_EQ(address % 16, 0u) << row.text;
  }
  EXPECT_GT(branches, 7000u);
}

}  // namespace
}  // namespace sm89::sass
