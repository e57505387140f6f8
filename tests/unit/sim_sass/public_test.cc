// Public sm_89 code that was not used to make the table: seven flash-attention cubins and 72 listings.
#include <gtest/gtest.h>

#include "sim/cubin/reader.h"
#include "sim/sass/decode.h"
#include "tests/unit/sim_sass/listing.h"

namespace sm89::sass {
namespace {

struct File {
  std::string name, bytes;
};

// Members of a tar archive that are plain files. A name that does not fit stands in a member of its own
// before.
std::vector<File> Untar(const std::string& archive) {
  constexpr size_t kBlock = 512;
  std::vector<File> files;
  std::string long_name;
  for (size_t at = 0; at + kBlock <= archive.size() && archive[at] != '\0';) {
    const size_t size = std::stoull(archive.substr(at + 124, 11), nullptr, 8);
    const char type = archive[at + 156];
    const std::string data = archive.substr(at + kBlock, size);
    if (type == 'L') {
      long_name = data.c_str();
    } else if (type == 'x') {
      if (const size_t path = data.find("path="); path != std::string::npos) {
        long_name = data.substr(path + 5, data.find('\n', path) - path - 5);
      }
    } else {
      const std::string name = long_name.empty() ? std::string(archive.substr(at, 100).c_str()) : long_name;
      if (type == '0' || type == '\0') files.push_back({name, data});
      long_name.clear();
    }
    at += kBlock + (size + kBlock - 1) / kBlock * kBlock;
  }
  return files;
}

const std::vector<File>& PublicFiles() {
  static const std::vector<File> files =
      Untar(::sm89::test::ReadXz(std::string(testing::kSassFolder) + "/public_sm89.tar.xz"));
  return files;
}

TEST(Public, EveryWordOfTheFlashAttentionCubinsDecodes) {
  if (PublicFiles().empty()) GTEST_SKIP() << "../shared/sass/public_sm89.tar.xz is not here";
  size_t cubins = 0, words = 0;
  for (const File& file : PublicFiles()) {
    if (!file.name.ends_with(".cubin")) continue;
    ++cubins;
    const auto module = cubin::ParseCubin(file.bytes, file.name);
    ASSERT_TRUE(module.ok()) << module.status().message();
    for (const cubin::Function& function : module->functions) {
      for (size_t at = 0; at + 16 <= function.code.size(); at += 16, ++words) {
        Word128 word;
        for (size_t i = 8; i-- > 0;) {
          word.lo = word.lo << 8 | function.code[at + i];
          word.hi = word.hi << 8 | function.code[at + 8 + i];
        }
        const auto inst = Decode(word, module->arch);
        ASSERT_TRUE(inst.ok()) << file.name << "+0x" << std::hex << at << ": " << inst.status().message();
      }
    }
  }
  std::printf("%zu words of %zu cubins\n", words, cubins);
  EXPECT_EQ(cubins, 7u);
  EXPECT_GT(words, 12000u);
}

// "        /*0010*/   S2R R0, SR_TID.X ;   /* 0x0000000000007919 */", and the high word on the next line.
struct Line {
  uint64_t pc = 0, word = 0;
  std::string text;
};

bool ParseWord(const std::string& line, uint64_t& word) {
  const size_t at = line.find("/* 0x");
  if (at == std::string::npos) return false;
  word = std::stoull(line.substr(at + 5, 16), nullptr, 16);
  return true;
}

bool ParseLine(const std::string& line, Line& parsed) {
  const size_t open = line.find("/*"), close = line.find("*/"), end = line.rfind(';');
  if (!ParseWord(line, parsed.word) || end == std::string::npos || close > end) return false;
  parsed.pc = std::stoull(line.substr(open + 2), nullptr, 16);
  const size_t begin = line.find_first_not_of(' ', close + 2);
  parsed.text = line.substr(begin, line.find_last_not_of(' ', end - 1) + 1 - begin);
  return true;
}

TEST(Public, ListingsPrintTheSame) {
  if (PublicFiles().empty()) GTEST_SKIP() << "../shared/sass/public_sm89.tar.xz is not here";
  size_t listings = 0, instructions = 0, equal = 0;
  for (const File& file : PublicFiles()) {
    if (!file.name.ends_with(".sass")) continue;
    ++listings;
    const std::vector<std::string> lines = testing::SplitText(file.bytes, '\n');
    for (size_t i = 0; i + 1 < lines.size(); ++i) {
      Line line;
      Word128 word;
      if (!ParseLine(lines[i], line) || !ParseWord(lines[i + 1], word.hi)) continue;
      word.lo = line.word;
      const auto inst = Decode(word, 89);
      ASSERT_TRUE(inst.ok()) << line.text << ": " << inst.status().message();
      PrintOptions options;
      options.pc = line.pc;
      ++instructions;
      const std::string got = Print(*inst, options);
      EXPECT_EQ(got, line.text) << file.name;
      equal += got == line.text ? 1 : 0;
    }
  }
  std::printf("%zu of %zu instructions of %zu listings print the same\n", equal, instructions, listings);
  EXPECT_EQ(listings, 72u);
  EXPECT_GT(instructions, 3500u);
}

}  // namespace
}  // namespace sm89::sass
