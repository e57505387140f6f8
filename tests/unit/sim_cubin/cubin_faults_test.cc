// Damaged files: each gives a fault that names the file, the byte and the reason.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "absl/strings/numbers.h"
#include "sim/base/fault.h"
#include "sim/cubin/elf.h"
#include "sim/cubin/reader.h"
#include "tests/unit/sim_cubin/corpus.h"

namespace sm89::cubin {
namespace {

using ::testing::HasSubstr;

constexpr uint64_t kSectionInfo = 44;  // offsets in a section header
constexpr uint64_t kSectionSize = 32;
constexpr uint64_t kSectionOffset = 24;
constexpr uint64_t kSectionAlign = 48;

class Damaged {
 public:
  explicit Damaged(const std::string& fixture) : bytes_(ReadAll(Fixture(fixture))) {}

  template <typename T>
  Damaged& Put(uint64_t offset, T value) {
    std::memcpy(bytes_.data() + offset, &value, sizeof value);
    return *this;
  }
  template <typename T>
  T Get(uint64_t offset) const {
    T value{};
    std::memcpy(&value, bytes_.data() + offset, sizeof value);
    return value;
  }
  // Offset of the header of a section.
  uint64_t Header(const std::string& name) const {
    const auto elf = ElfFile::Open(bytes_, "fixture");
    if (elf.ok()) {
      for (size_t i = 0; i < elf->sections().size(); ++i) {
        if (elf->sections()[i].name == name) return Get<uint64_t>(40) + 64 * i;
      }
    }
    ADD_FAILURE() << "no section " << name;
    return 0;
  }
  uint64_t Contents(const std::string& name) const { return Get<uint64_t>(Header(name) + kSectionOffset); }
  const std::string& bytes() const { return bytes_; }
  void Cut(size_t size) { bytes_.resize(size); }

 private:
  std::string bytes_;
};

void ExpectFault(const Damaged& damaged, const std::string& reason, std::optional<uint64_t> offset,
                 absl::StatusCode code = absl::StatusCode::kInvalidArgument) {
  const auto module = ParseCubin(damaged.bytes(), "bad.cubin");
  ASSERT_FALSE(module.ok()) << reason;
  EXPECT_EQ(module.status().code(), code) << module.status();
  const auto faults = FaultsOf(module.status());
  ASSERT_EQ(faults.size(), 1u);
  EXPECT_EQ(faults[0].file, "bad.cubin");
  EXPECT_THAT(faults[0].message, HasSubstr(reason));
  EXPECT_THAT(faults[0].field, ::testing::StartsWith("byte 0x"));
  ASSERT_FALSE(faults[0].facts.empty());
  EXPECT_EQ(faults[0].facts[0].first, "offset");
  uint64_t found = 0;
  EXPECT_TRUE(absl::SimpleAtoi(faults[0].facts[0].second, &found));
  if (offset.has_value()) {
    EXPECT_EQ(found, *offset) << reason;
  }
}

constexpr char kFixture[] = "kernels.cubin";

TEST(CubinFaults, HeaderThatIsNotACubins) {
  Damaged d(kFixture);
  ExpectFault(Damaged(kFixture).Put<uint8_t>(0, 0), "no ELF magic", 0);
  ExpectFault(Damaged(kFixture).Put<uint8_t>(4, 1), "64-bit little-endian", 4);
  ExpectFault(Damaged(kFixture).Put<uint8_t>(7, 0), "unknown ABI", 7);
  ExpectFault(Damaged(kFixture).Put<uint16_t>(16, 3), "ELF type", 16);
  ExpectFault(Damaged(kFixture).Put<uint16_t>(18, 62), "another machine", 18);
  ExpectFault(Damaged(kFixture).Put<uint32_t>(48, 0x06004b04), "not read", 48);
  ExpectFault(Damaged(kFixture).Put<uint16_t>(58, 40), "unknown size", 58);
  ExpectFault(Damaged(kFixture).Put<uint16_t>(62, 9999), "does not exist", 62);
  ExpectFault(Damaged(kFixture).Put<uint64_t>(40, ~uint64_t{0}), "outside the file", 40);
  d.Cut(63);
  ExpectFault(d, "cut off", 0);
}

TEST(CubinFaults, CutFileNamesTheFirstThingThatIsNotThere) {
  Damaged d(kFixture);
  d.Cut(d.bytes().size() / 2);
  ExpectFault(d, "outside the file", 40);
}

TEST(CubinFaults, SectionsThatReachOutOfTheFile) {
  const uint64_t text = Damaged(kFixture).Header(".text.collatz");
  ExpectFault(Damaged(kFixture).Put<uint64_t>(text + kSectionOffset, 1 << 30), "past the end", text);
  ExpectFault(Damaged(kFixture).Put<uint64_t>(text + kSectionSize, ~uint64_t{0} - 7), "past the end", text);
}

TEST(CubinFaults, CodeThatIsNotWholeInstructions) {
  const Damaged whole(kFixture);
  ExpectFault(Damaged(kFixture).Put<uint64_t>(whole.Header(".text.collatz") + kSectionSize, 768 - 8),
              "not a whole number of instructions", whole.Contents(".text.collatz"));
}

TEST(CubinFaults, SymbolsOutsideTheirSections) {
  const Damaged whole(kFixture);
  const uint64_t symbols = whole.Contents(".symtab");
  const uint64_t count = whole.Get<uint64_t>(whole.Header(".symtab") + kSectionSize) / 24;
  const auto elf = [&] {
    static const std::string bytes = ReadAll(Fixture(kFixture));
    auto file = *ElfFile::Open(bytes, "fixture");
    EXPECT_TRUE(file.ReadSymbols().ok());
    return file;
  }();
  uint64_t callee = 0;
  uint64_t variable = 0;
  for (uint32_t i = 0; i < count; ++i) {
    if (elf.SymbolName(i) == "$collatz$_Z5stepsi") callee = symbols + 24 * i;
    if (elf.SymbolName(i) == "limits") variable = symbols + 24 * i;
  }
  ExpectFault(Damaged(kFixture).Put<uint64_t>(callee + 8, 1 << 20), "not inside its code",
              whole.Contents(".text.collatz"));
  ExpectFault(Damaged(kFixture).Put<uint64_t>(variable + 16, 1 << 20), "variable 'limits' is not inside",
              whole.Contents(".nv.global.init"));
}

TEST(CubinFaults, InfoRecordsThatAreCutOffOrOfAnUnknownForm) {
  const Damaged whole(kFixture);
  const uint64_t info = whole.Contents(".nv.info.collatz");
  ExpectFault(Damaged(kFixture).Put<uint8_t>(info, 9), "unknown form", info);
  ExpectFault(Damaged(kFixture).Put<uint16_t>(info + 2, 0xffff), "cut off", info);
  const uint64_t module_info = whole.Contents(".nv.info");
  ExpectFault(Damaged(kFixture).Put<uint32_t>(module_info + 4, 99999), "symbol that does not exist",
              module_info + 4);
}

TEST(CubinFaults, MoreRegistersThanAThreadCanHave) {
  const Damaged whole(kFixture);
  const uint64_t info = whole.Contents(".nv.info");
  const uint64_t size = whole.Get<uint64_t>(whole.Header(".nv.info") + kSectionSize);
  for (uint64_t at = info; at < info + size;) {
    const bool has_payload = whole.Get<uint8_t>(at) == 4;
    if (whole.Get<uint8_t>(at + 1) == 0x2f) {
      ExpectFault(Damaged(kFixture).Put<uint32_t>(at + 8, 0xffffffff), "more registers", at + 4);
      return;
    }
    at += 4 + (has_payload ? whole.Get<uint16_t>(at + 2) : 0);
  }
  FAIL() << "no record of registers";
}

TEST(CubinFaults, IndirectBranchesOutsideTheCode) {
  const Damaged whole(kFixture);
  const uint64_t info = whole.Contents(".nv.info.pick");
  const uint64_t size = whole.Get<uint64_t>(whole.Header(".nv.info.pick") + kSectionSize);
  for (uint64_t at = info; at < info + size;) {
    const bool has_payload = whole.Get<uint8_t>(at) == 4;
    if (whole.Get<uint8_t>(at + 1) == 0x34) {
      ExpectFault(Damaged(kFixture).Put<uint32_t>(at + 4 + 12, 1 << 24), "outside its code", at + 4);
      ExpectFault(Damaged(kFixture).Put<uint32_t>(at + 4 + 8, 1 << 30), "outside its code", at + 4);
      return;
    }
    at += 4 + (has_payload ? whole.Get<uint16_t>(at + 2) : 0);
  }
  FAIL() << "no record of indirect branches";
}

TEST(CubinFaults, RelocationsOutsideTheirSectionOrOfNoSymbol) {
  const Damaged whole(kFixture);
  const uint64_t table = whole.Contents(".rel.nv.constant4");
  ExpectFault(Damaged(kFixture).Put<uint64_t>(table, 1 << 20), "is not inside '.nv.constant4'", table);
  ExpectFault(Damaged(kFixture).Put<uint32_t>(table + 12, 1 << 20), "symbol that does not exist", table);
  const uint64_t header = whole.Header(".rel.nv.constant4");
  ExpectFault(Damaged(kFixture).Put<uint32_t>(header + kSectionInfo, 1 << 20), "section that does not exist",
              table);
  ExpectFault(Damaged(kFixture).Put<uint64_t>(header + kSectionSize, 15), "whole number of relocations",
              table);
}

TEST(CubinFaults, ConstantBanksWithoutBytesOrTwice) {
  constexpr uint64_t kSectionType = 4;
  const Damaged whole(kFixture);
  const uint64_t constants = whole.Contents(".nv.constant3");
  const uint64_t header = whole.Header(".nv.constant3");
  ExpectFault(Damaged(kFixture).Put<uint32_t>(header + kSectionType, 8), "without its bytes", constants);
  // The name of bank 3 for bank 4's section, too.
  ExpectFault(Damaged(kFixture).Put<uint32_t>(whole.Header(".nv.constant4"), whole.Get<uint32_t>(header)),
              "is there twice", std::max(constants, whole.Contents(".nv.constant4")));
}

TEST(CubinFaults, SizesThatNoMachineHas) {
  const Damaged whole(kFixture);
  ExpectFault(Damaged(kFixture).Put<uint64_t>(whole.Header(".nv.shared.reverse") + kSectionSize, 1 << 30),
              "too large", std::nullopt, absl::StatusCode::kResourceExhausted);
  ExpectFault(Damaged(kFixture).Put<uint64_t>(whole.Header(".nv.global") + kSectionSize, uint64_t{1} << 50),
              "too much memory", std::nullopt, absl::StatusCode::kResourceExhausted);
  ExpectFault(Damaged(kFixture).Put<uint64_t>(whole.Header(".nv.global.init") + kSectionAlign, 3),
              "bad alignment", whole.Contents(".nv.global.init"));
  const std::string bytes = ReadAll(Fixture(kFixture));
  EXPECT_EQ(ParseCubin(bytes, "f", {.image_bytes = 1000}).status().code(),
            absl::StatusCode::kResourceExhausted);
}

TEST(CubinFaults, LineTablesThatAreDamaged) {
  const uint64_t lines = Damaged(kFixture).Contents(".debug_line");
  ExpectFault(Damaged(kFixture).Put<uint32_t>(lines, 1 << 28), "cut off", lines);
  ExpectFault(Damaged(kFixture).Put<uint16_t>(lines + 4, 7), "unknown version", lines + 4);
  ExpectFault(Damaged(kFixture).Put<uint8_t>(lines + 13, 0), "damaged", lines + 4);  // line_range
}

// A cut at any byte is refused or read, and never worse.
TEST(CubinFaults, EveryPrefixIsAnsweredWithAFaultOrAModule) {
  const std::string bytes = ReadAll(Fixture(kFixture));
  size_t refused = 0;
  for (size_t size = 0; size < bytes.size(); size += 37) {
    const auto module = ParseCubin(std::string_view(bytes).substr(0, size), "cut.cubin");
    if (module.ok()) continue;
    ++refused;
    EXPECT_EQ(FaultsOf(module.status()).size(), 1u) << size;
  }
  EXPECT_GT(refused, bytes.size() / 37 / 2);
}

}  // namespace
}  // namespace sm89::cubin
