// Line programs put together by hand: the versions that our compilers do not write, and the bounds.
#include "sim/cubin/debug_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sm89::cubin {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class Bytes {
 public:
  Bytes& U8(uint64_t value) { return Number(value, 1); }
  Bytes& U16(uint64_t value) { return Number(value, 2); }
  Bytes& U32(uint64_t value) { return Number(value, 4); }
  Bytes& U64(uint64_t value) { return Number(value, 8); }
  Bytes& Text(const std::string& text) {
    bytes_ += text + '\0';
    return *this;
  }
  Bytes& Raw(const std::string& bytes) {
    bytes_ += bytes;
    return *this;
  }
  const std::string& str() const { return bytes_; }
  size_t size() const { return bytes_.size(); }

 private:
  Bytes& Number(uint64_t value, int size) {
    for (int i = 0; i < size; ++i) bytes_ += static_cast<char>(value >> (8 * i));
    return *this;
  }
  std::string bytes_;
};

// A unit of `version` whose file tables are `files`.
std::string Unit(uint16_t version, const std::string& files, const std::string& program) {
  Bytes after_length;
  after_length.U8(1);                         // minimum instruction length
  if (version >= 4) after_length.U8(1);       // operations an instruction
  after_length.U8(1).U8(0xfb).U8(14).U8(10);  // is_stmt, line base -5, line range 14, opcode base 10
  for (const int operands : {0, 1, 1, 1, 1, 0, 0, 0, 1}) after_length.U8(operands);
  after_length.Raw(files);
  Bytes header;
  header.U16(version);
  if (version >= 5) header.U8(8).U8(0);
  header.U32(after_length.size()).Raw(after_length.str()).Raw(program);
  return Bytes().U32(header.size()).Raw(header.str()).str();
}

const std::string kFilesV2 = Bytes().Text("src").U8(0).Text("a.cu").U8(1).U8(0).U8(0).U8(0).str();

// The operand of the first set_address in a program that begins with one.
constexpr uint64_t kOperandInProgram = 3;
std::string SetAddress() { return Bytes().U8(0).U8(9).U8(2).U64(0).str(); }
std::string EndSequence() { return Bytes().U8(0).U8(1).U8(1).str(); }

struct Result {
  absl::Status status;
  std::vector<SourceLine> lines;
  std::vector<std::string> files;
};

// Reads one unit about one function of four instructions.
Result Read(const std::string& section, size_t program_bytes, ByteView strings = {}) {
  const std::map<uint64_t, LineAddress> addresses = {
      {section.size() - program_bytes + kOperandInProgram, LineAddress{0, 0}}};
  const std::string name = "test.cubin";
  const std::vector<uint64_t> instructions = {4};
  LineReader reader(name, addresses, instructions);
  reader.set_strings(strings, strings);
  const absl::Status status = reader.Read(ByteView(section, 0x1000));
  return {status, reader.lines()[0], reader.files()};
}

TEST(DebugLine, SpecialAndStandardOpcodesMakeRows) {
  const std::string program = SetAddress() +
                              Bytes()
                                  .U8(3)
                                  .U8(4)                     // advance line by 4 to 5
                                  .U8(1)                     // row at 0
                                  .U8(10 + 14 * 16 + 5 + 1)  // special: address + 16, line + 1
                                  .U8(2)
                                  .U8(32)  // advance address by 32: the row covers it
                                  .str() +
                              EndSequence();
  const Result result = Read(Unit(2, kFilesV2, program), program.size());
  ASSERT_TRUE(result.status.ok()) << result.status;
  EXPECT_THAT(result.files, ElementsAre("src/a.cu"));
  EXPECT_THAT(result.lines, ElementsAre(SourceLine{0, 5}, SourceLine{0, 6}, SourceLine{0, 6}, SourceLine{}));
}

TEST(DebugLine, ConstAndFixedAddPcMoveTheAddress) {
  // const_add_pc moves by what opcode 255 would: (255 - 10) / 14 = 17 bytes.
  const std::string program =
      SetAddress() + Bytes().U8(1).U8(8).U8(9).U16(15).U8(3).U8(9).U8(1).U8(9).U16(32).str() + EndSequence();
  const Result result = Read(Unit(3, kFilesV2, program), program.size());
  ASSERT_TRUE(result.status.ok()) << result.status;
  EXPECT_THAT(result.lines,
              ElementsAre(SourceLine{0, 1}, SourceLine{0, 1}, SourceLine{0, 10}, SourceLine{0, 10}));
}

TEST(DebugLine, Version5ReadsItsTablesOfForms) {
  const std::string strings("\0b.cu\0", 6);
  Bytes files;
  files.U8(1).U8(1).U8(0x08);                                // directories: path as a string
  files.U8(2).Text("/build").Text("inc");                    // two of them
  files.U8(3).U8(1).U8(0x1f).U8(2).U8(0x0b).U8(5).U8(0x1e);  // files: path in the strings, directory, MD5
  files.U8(1).U32(1).U8(1).Raw(std::string(16, 'm'));
  const std::string program = SetAddress() + Bytes().U8(4).U8(0).U8(1).U8(2).U8(64).str() + EndSequence();
  const Result result = Read(Unit(5, files.str(), program), program.size(), ByteView(strings));
  ASSERT_TRUE(result.status.ok()) << result.status;
  EXPECT_THAT(result.files, ElementsAre("inc/b.cu"));
  EXPECT_EQ(result.lines, std::vector<SourceLine>(4, SourceLine{0, 1}));
}

TEST(DebugLine, UnknownFormsAndTablesLongerThanTheFileAreRefused) {
  const std::string program = SetAddress() + EndSequence();
  const std::string unknown_form = Bytes().U8(1).U8(1).U8(0x7f).U8(1).U8(0).U8(0).str();
  EXPECT_THAT(Read(Unit(5, unknown_form, program), program.size()).status.message(),
              HasSubstr("unknown form"));
  // A thousand million entries of no bytes.
  const std::string endless = Bytes().U8(0).Raw("\xff\xff\xff\xff\x7f").str();
  EXPECT_THAT(Read(Unit(5, endless, program), program.size()).status.message(), HasSubstr("damaged"));
}

TEST(DebugLine, ALineOfAFileThatIsNotNamedIsUnknownButPtxNeedsNone) {
  const std::string program = SetAddress() + Bytes().U8(4).U8(7).U8(1).U8(2).U8(64).str() + EndSequence();
  const Result unknown = Read(Unit(2, kFilesV2, program), program.size());
  ASSERT_TRUE(unknown.status.ok()) << unknown.status;
  EXPECT_EQ(unknown.lines, std::vector<SourceLine>(4, SourceLine{0, 0}));
  const Result ptx = Read(Unit(2, std::string(2, '\0'), program), program.size());
  ASSERT_TRUE(ptx.status.ok()) << ptx.status;
  EXPECT_EQ(ptx.lines, std::vector<SourceLine>(4, SourceLine{0, 1}));
}

TEST(DebugLine, CompilersOwnOpcodesArePassedOver) {
  const std::string program =
      SetAddress() + Bytes().U8(0).U8(3).U8(0x90).U16(0x0102).U8(1).U8(2).U8(64).str() + EndSequence();
  const Result result = Read(Unit(2, kFilesV2, program), program.size());
  ASSERT_TRUE(result.status.ok()) << result.status;
  EXPECT_EQ(result.lines, std::vector<SourceLine>(4, SourceLine{0, 1}));
}

TEST(DebugLine, CodeOfOtherFilesIsPassedOver) {
  const std::string program = SetAddress() + Bytes().U8(1).U8(2).U8(64).str() + EndSequence();
  const Result result = Read(Unit(2, kFilesV2, program), 0);  // no relocation at the operand
  ASSERT_TRUE(result.status.ok()) << result.status;
  EXPECT_THAT(result.lines, IsEmpty());
}

TEST(DebugLine, AddressesThatGoBackwardsAndWorkWithoutEndAreRefused) {
  const std::string back =
      SetAddress() +
      Bytes().U8(2).U8(32).U8(1).U8(2).Raw("\xf0\xff\xff\xff\xff\xff\xff\xff\xff\x01").U8(1).str();
  EXPECT_THAT(Read(Unit(2, kFilesV2, back), back.size()).status.message(), HasSubstr("go backwards"));

  const std::string one = SetAddress() + Bytes().U8(1).U8(2).U8(64).str() + EndSequence();
  std::string section;
  std::map<uint64_t, LineAddress> addresses;
  for (int i = 0; i < 65; ++i) {
    section += Unit(2, kFilesV2, one);
    addresses[section.size() - one.size() + kOperandInProgram] = {0, 0};
  }
  const std::string name = "test.cubin";
  const std::vector<uint64_t> instructions = {4};
  LineReader reader(name, addresses, instructions);
  EXPECT_EQ(reader.Read(ByteView(section)).code(), absl::StatusCode::kResourceExhausted);
}

}  // namespace
}  // namespace sm89::cubin
