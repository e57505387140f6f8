// The client and the simulator write the same program packages, though they share no code.
#include "client/program_pack.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "client/cli/upload_job.h"
#include "sim/api/machine_code.h"
#include "sim/replay/program.h"
#include "tests/support/temp_dir.h"

namespace sm89 {
namespace {

using ::testing::HasSubstr;

static_assert(client::kMachineCodeBytesMax == kMaxMachineCodeBytes);

class ProgramPackTest : public ::testing::Test {
 protected:
  std::string Write(const std::string& name, const std::string& bytes) const {
    std::ofstream(dir_.File(name), std::ios::binary) << bytes;
    return dir_.File(name);
  }

  // What both sides make of the same files.
  static void ExpectSameBytes(const client::ProgramFiles& files) {
    ProgramPaths paths;
    paths.cubin = files.cubin;
    paths.cubin_folder = files.cubin_folder;
    paths.launches = files.launch.empty() ? files.suite : files.launch;
    paths.arch = files.arch;
    paths.cases = files.cases;
    const absl::StatusOr<Program> collected = CollectProgram(paths);
    ASSERT_TRUE(collected.ok()) << collected.status();
    const absl::StatusOr<std::string> packed = client::ProgramBytes(files);
    ASSERT_TRUE(packed.ok()) << packed.status();
    EXPECT_EQ(*packed, EncodeProgram(*collected));
    const absl::StatusOr<Program> read = DecodeProgram(*packed, "packed");
    ASSERT_TRUE(read.ok()) << read.status();
    EXPECT_EQ(ProgramDigest(*read), ProgramDigest(*collected));
  }

  testing::TempDir dir_;
};

// Two launches, one with raw inputs in `buffers` and `args`. Names and sizes cross CBOR's length classes.
constexpr char kTwoLaunches[] = R"({"launches": [
  {"kernel": "plain", "grid": [1], "block": [32], "args": [{"u32": 1}]},
  {"id": "raw", "kernel": "k", "grid": [1], "block": [32],
   "buffers": [{"name": "b", "dtype": "u8", "count": 300, "init": "file", "file": "data/b.bin"}],
   "args": [{"buffer": "a", "dtype": "u8", "count": 5, "init": "file", "file": "a.bin"}, {"ref": "b"}]}]})";

TEST_F(ProgramPackTest, OneLaunchFile) {
  std::string code(70'000, '\0');
  for (size_t i = 0; i < code.size(); ++i) code[i] = static_cast<char>(i * 7);
  ASSERT_TRUE(std::filesystem::create_directories(dir_.File("data")));
  Write("a.bin", "12345");
  Write("data/b.bin", std::string(300, '\xff'));
  client::ProgramFiles files;
  files.cubin = Write("some code.cubin", code);
  files.launch = Write("l.json", kTwoLaunches);
  ExpectSameBytes(files);
  files.cases = {"plain"};  // needs no raw file
  ASSERT_TRUE(std::filesystem::remove(dir_.File("a.bin")));
  ExpectSameBytes(files);
  files.arch = 90;
  ExpectSameBytes(files);
}

TEST_F(ProgramPackTest, AManifestWithTheModulesOfItsCases) {
  client::ProgramFiles files;
  files.suite = Write("suite.json", R"({"cases": [
    {"id": "x", "module": "one", "kernel": "k", "grid": [1], "block": [1], "args": [], "compare": "none"},
    {"id": "y", "module": "two", "kernel": "k", "grid": [1], "block": [1], "args": [], "compare": "none"}]})");
  files.cubin_folder = dir_.File("");
  Write("one.sm_90.cubin", "code one");
  files.arch = 90;
  files.cases = {"x"};
  ExpectSameBytes(files);
  files.cases.clear();
  const auto missing = client::ProgramBytes(files);
  EXPECT_EQ(missing.status().code(), absl::StatusCode::kInvalidArgument);
  Write("two.sm_90.cubin", "code two");
  ExpectSameBytes(files);
}

TEST_F(ProgramPackTest, OneLaunchByItself) {
  client::ProgramFiles files;
  files.cubin = Write("c.cubin", "code");
  files.launch = Write("l.json", R"({"kernel": "k", "grid": [1], "block": [1], "args": []})");
  ExpectSameBytes(files);
}

TEST_F(ProgramPackTest, ANameReplacesTheFiles) {
  client::ProgramFiles files;
  files.cubin = Write("c.cubin", "code");
  files.launch = Write("l.json", kTwoLaunches);
  files.cases = {"plain"};
  files.name = "mine";
  const auto read = DecodeProgram(client::ProgramBytes(files).value(), "packed");
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->name, "mine");
  EXPECT_EQ(client::PackProgram(files)->display_name(), "mine");
}

TEST_F(ProgramPackTest, WhatCannotBePackedIsNamed) {
  client::ProgramFiles files;
  files.cubin = Write("c.cubin", "code");
  EXPECT_THAT(std::string(client::ProgramBytes(files).status().message()), HasSubstr("packed"));
  files.launch = Write("l.json", "{\n\"launches\": [\n!");
  EXPECT_EQ(client::ProgramBytes(files).status().code(), absl::StatusCode::kInvalidArgument);
  files.launch = Write("l.json", kTwoLaunches);
  EXPECT_EQ(client::ProgramBytes(files).status().code(), absl::StatusCode::kInvalidArgument);  // no raw files
  files.cases = {"absent"};
  EXPECT_EQ(client::ProgramBytes(files).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(client::ParseArch("sm_90").value(), 90u);
  EXPECT_EQ(client::ParseArch("89").value(), 89u);
  EXPECT_FALSE(client::ParseArch("sm_").ok());
}

}  // namespace
}  // namespace sm89
