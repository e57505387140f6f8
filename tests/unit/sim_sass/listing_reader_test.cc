// Listings of the vendor's disassemblers: functions, addresses, encodings.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "absl/strings/str_format.h"
#include "sim/base/fault.h"
#include "sim/sass/listing.h"
#include "tests/unit/sim_sass/listing.h"

namespace sm89::sass {
namespace {

// "~" stands for a tab.
std::string Tabs(std::string text) {
  std::replace(text.begin(), text.end(), '~', '\t');
  return text;
}

const std::string kDumped = Tabs(R"sass(
Fatbin elf code:
================
arch = sm_89
code version = [1,8]

~code for sm_89
~.target~sm_89

~~Function : _Z5scalePff
~.headerflags~@"EF_CUDA_SM89 EF_CUDA_VIRTUAL_SM(EF_CUDA_SM89)"
        /*0000*/                   MOV R1, c[0x0][0x28] ;                      /* 0x00000a0000017a02 */
                                                                               /* 0x000fe40000000f00 */
        /*0010*/               @P0 EXIT ;                                      /* 0x000000000000094d */
                                                                               /* 0x000fea0003800000 */
~~..........


~~Function : other
~.headerflags~@"EF_CUDA_SM89 EF_CUDA_VIRTUAL_SM(EF_CUDA_SM89)"
        /*0000*/                   EXIT ;                                      /* 0x000000000000794d */
                                                                               /* 0x000fea0003800000 */
)sass");

const std::string kDisassembled =
    Tabs(R"sass(~.headerflags~@"EF_CUDA_TEXMODE_UNIFIED EF_CUDA_SM89 EF_CUDA_VIRTUAL_SM(EF_CUDA_SM89)"
~.elftype~@"ET_EXEC"

//--------------------- .text._Z5scalePff          --------------------------
~.section~.text._Z5scalePff,"ax",@progbits
~.sectioninfo~@"SHI_REGISTERS=8"
~.align~128
        .global         _Z5scalePff
        .type           _Z5scalePff,@function
_Z5scalePff:
.text._Z5scalePff:
        /*0000*/                   MOV R1, c[0x0][0x28] ;                /* 0x00000a0000017a02 */
                                                                         /* 0x000fe40000000f00 */
~//## File "scale.cu", line 3
.L_x_0:
        /*0010*/              @P0  BRA `(.L_x_0) ;  /* 0x0000000000007947 */  /* 0x000fea000383ffff */
.L_x_1:
)sass");

TEST(ListingReader, OfCuobjdump) {
  const auto functions = ReadListing(kDumped, "a.sass");
  ASSERT_TRUE(functions.ok()) << functions.status();
  ASSERT_EQ(functions->size(), 2u);
  const ListedFunction& scale = (*functions)[0];
  EXPECT_EQ(scale.name, "_Z5scalePff");
  EXPECT_EQ(scale.arch, 89u);
  ASSERT_EQ(scale.insts.size(), 2u);
  EXPECT_EQ(scale.insts[1].pc, 0x10u);
  EXPECT_EQ(scale.insts[1].word, (Word128{0x000000000000094d, 0x000fea0003800000}));
  EXPECT_EQ((*functions)[1].name, "other");
  EXPECT_EQ((*functions)[1].insts.size(), 1u);
}

TEST(ListingReader, OfNvdisasm) {
  const auto functions = ReadListing(kDisassembled, "a.sass");
  ASSERT_TRUE(functions.ok()) << functions.status();
  ASSERT_EQ(functions->size(), 1u);
  EXPECT_EQ((*functions)[0].name, "_Z5scalePff");
  EXPECT_EQ((*functions)[0].arch, 89u);
  ASSERT_EQ((*functions)[0].insts.size(), 2u);
  EXPECT_EQ((*functions)[0].insts[0].word, (Word128{0x00000a0000017a02, 0x000fe40000000f00}));
  EXPECT_EQ((*functions)[0].insts[1].word, (Word128{0x0000000000007947, 0x000fea000383ffff}))
      << "both on one line";
}

TEST(ListingReader, WindowsLineEndsAndNoLastOne) {
  std::string text;
  for (const char c : kDumped) text += c == '\n' ? std::string("\r\n") : std::string(1, c);
  while (text.ends_with('\n') || text.ends_with('\r')) text.pop_back();
  const auto functions = ReadListing(text, "a.sass");
  ASSERT_TRUE(functions.ok()) << functions.status();
  EXPECT_EQ((*functions)[0].name, "_Z5scalePff");
  EXPECT_EQ((*functions)[1].insts.size(), 1u);
}

struct BadRow {
  const char* text;
  uint64_t line;
  const char* message;
};

TEST(ListingReader, FaultsNameTheLine) {
  const BadRow rows[] = {
      {"", 0, "no instruction with its encoding"},
      {"hello\nworld\n", 2, "no instruction with its encoding"},
      {"  /*0000*/ EXIT ; /* 0x000000000000794d */\n", 1, "an instruction outside a function"},
      {"Function : f\n  /*0000*/ EXIT ; /* 0x000000000000794d */\n  /*0010*/ EXIT ;\n", 3,
       "an instruction without its encoding"},
      {"Function : f\n  /*0000*/ EXIT ;\n", 2, "an instruction without its encoding"},
      {"Function : f\n  /*0010*/ A ; /* 0x000000000000794d */ /* 0x000fea0003800000 */\n"
       "  /*0010*/ B ; /* 0x000000000000794d */\n",
       3, "addresses of a function do not ascend"},
      {"Function : f\n /*0*/ A ; /* 0x000000000000794d */ /* 0x000fea0003800000 */ /* 0x000fea0003800000 */",
       2, "an instruction with a third word"}};
  for (const BadRow& row : rows) {
    const auto functions = ReadListing(row.text, "b.sass");
    ASSERT_FALSE(functions.ok()) << row.text;
    const std::vector<Fault> faults = FaultsOf(functions.status());
    ASSERT_EQ(faults.size(), 1u);
    EXPECT_EQ(faults[0].file, "b.sass");
    EXPECT_EQ(faults[0].line, row.line) << row.text;
    EXPECT_EQ(faults[0].message, row.message) << row.text;
  }
}

// The vendor's own text and words of every function of the corpus, laid out as cuobjdump lays them out.
TEST(ListingReader, ReadsTheWholeCorpus) {
  const auto& rows = sm89::testing::Listing();
  if (rows.empty()) GTEST_SKIP() << "../shared/sass/listing.tsv.xz is not here";
  std::string text;
  std::string last;
  for (const auto& row : rows) {
    const std::string function = row.cubin + "/" + row.function;
    if (function != last) {
      absl::StrAppendFormat(&text, "\tcode for sm_%d\n\n\t\tFunction : %s\n", row.arch(), function);
    }
    last = function;
    absl::StrAppendFormat(&text, "        /*%04x*/  %s ;  /* 0x%016x */\n   /* 0x%016x */\n", row.offset,
                          row.text, row.word.lo, row.word.hi);
  }
  const auto functions = ReadListing(text, "corpus.sass");
  ASSERT_TRUE(functions.ok()) << functions.status();
  size_t at = 0, differ = 0;
  for (const ListedFunction& function : *functions) {
    for (const ListedInst& inst : function.insts) {
      const auto& row = rows.at(at++);
      const bool same = function.arch == row.arch() && inst.pc == row.offset && inst.word == row.word &&
                        function.name == row.cubin + "/" + row.function;
      differ += !same;
    }
  }
  EXPECT_EQ(at, rows.size());
  EXPECT_EQ(differ, 0u);
}

}  // namespace
}  // namespace sm89::sass
