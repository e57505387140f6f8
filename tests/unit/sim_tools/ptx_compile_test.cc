// PTX: recognised by its text, compiled where ptxas is, refused with advice where it is not.
#include "sim/tools/ptx_compile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/str_split.h"
#include "sim/base/strings.h"
#include "sim/cubin/reader.h"

namespace sm89 {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kPtx[] =
    "// a kernel\n.version 7.8\n.target sm_80\n.address_size 64\n"
    ".visible .entry store(.param .u64 p) {\n"
    "  .reg .b64 %rd<2>;\n  ld.param.u64 %rd1, [p];\n  st.global.u32 [%rd1], 7;\n  ret;\n}\n";

std::string Message(const absl::Status& status) { return std::string(Sv(status.message())); }

bool HavePtxas() {
  const char* path = std::getenv("PATH");
  if (path == nullptr) return false;
  const std::vector<std::string> folders = absl::StrSplit(path, ':');
  for (const std::string& folder : folders) {
    if (access((folder + "/ptxas").c_str(), X_OK) == 0) return true;
  }
  return false;
}

// PATH and TMPDIR of this process for one test.
class PtxCompile : public ::testing::Test {
 protected:
  void SetUp() override {
    path_ = std::getenv("PATH") == nullptr ? "" : std::getenv("PATH");
    std::string pattern = (fs::temp_directory_path() / "sm89_ptx_XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    root_ = pattern;
    fs::create_directory(root_ + "/tmp");
    setenv("TMPDIR", (root_ + "/tmp").c_str(), 1);
  }
  void TearDown() override {
    EXPECT_TRUE(fs::is_empty(root_ + "/tmp")) << "nothing temporary is left";
    setenv("PATH", path_.c_str(), 1);
    unsetenv("TMPDIR");
    fs::remove_all(root_);
  }
  // A program that stands in for ptxas.
  std::string Script(const std::string& name, const std::string& text) const {
    const std::string path = root_ + "/" + name;
    std::ofstream(path) << "#!/bin/sh\n" << text;
    chmod(path.c_str(), 0755);
    return path;
  }

  std::string path_, root_;
};

TEST(LooksLikePtx, ByItsFirstDirective) {
  EXPECT_TRUE(LooksLikePtx(kPtx));
  EXPECT_TRUE(LooksLikePtx("\n /* .target */ // x\n\t.version 8.0"));
  for (const char* text : {"", "//", "// .version", "/* .version", "/*", ".target sm_89",
                           "\x7f"
                           "ELF",
                           "{"}) {
    EXPECT_FALSE(LooksLikePtx(text)) << text;
  }
}

TEST_F(PtxCompile, WithoutPtxasTheErrorSaysWhatToInstall) {
  setenv("PATH", root_.c_str(), 1);
  const absl::Status status = CompilePtx(kPtx, "kernel.ptx", 89).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  for (const char* text : {"kernel.ptx", "ptxas", "install", "cuda-nvcc", "PATH"}) {
    EXPECT_THAT(Message(status), HasSubstr(text));
  }
  unsetenv("PATH");
  EXPECT_EQ(CompilePtx(kPtx, "kernel.ptx", 89).status().code(), absl::StatusCode::kFailedPrecondition);
}

TEST_F(PtxCompile, GivesTheCubinThatPtxasMakes) {
  if (!HavePtxas()) GTEST_SKIP() << "ptxas is not on PATH";
  const auto bytes = CompilePtx(kPtx, "kernel.ptx", 89);
  ASSERT_TRUE(bytes.ok()) << bytes.status();
  const auto module = cubin::ParseCubin(*bytes, "kernel");
  ASSERT_TRUE(module.ok()) << module.status();
  EXPECT_EQ(module->arch, 89u);
  ASSERT_NE(module->Find("store"), nullptr);
  EXPECT_TRUE(module->Find("store")->is_kernel);
}

TEST_F(PtxCompile, WhatPtxasSaysOfTheTextNamesTheUsersFile) {
  if (!HavePtxas()) GTEST_SKIP() << "ptxas is not on PATH";
  std::string wrong = kPtx;
  wrong.replace(wrong.find("st.global"), 9, "zt.global");
  const absl::Status status = CompilePtx(wrong, "kernel.ptx", 89).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(Message(status), HasSubstr("kernel.ptx, line 8"));
  EXPECT_THAT(Message(status), Not(HasSubstr(root_)));
}

TEST_F(PtxCompile, TheArchitectureAndTheFilesArePassedOn) {
  const std::string ptxas = Script("ptxas", "echo \"$@\" > $6\ncat \"$4\" >> $6\n");
  const auto bytes = CompilePtx("text", "kernel.ptx", 86, {.program = ptxas});
  ASSERT_TRUE(bytes.ok()) << bytes.status();
  EXPECT_THAT(*bytes, HasSubstr("--gpu-name sm_86 -lineinfo "));
  EXPECT_THAT(*bytes, HasSubstr("\ntext"));
  setenv("PATH", (path_ + "::" + root_).c_str(), 1);
  if (!HavePtxas()) FAIL() << "the stand-in is on PATH now";
  EXPECT_TRUE(CompilePtx(kPtx, "kernel.ptx", 89).ok()) << "found on PATH";
}

TEST_F(PtxCompile, APtxasThatFailsHangsOrIsAbsentIsAnError) {
  const auto with = [](const std::string& program) {
    return CompilePtx(kPtx, "kernel.ptx", 89, {.program = program, .wall_seconds = 1}).status();
  };
  EXPECT_EQ(with(Script("fails", "echo no good >&2\nexit 1\n")).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(Message(with(root_ + "/fails")), HasSubstr("no good"));
  EXPECT_EQ(with(Script("silent", "exit 0\n")).code(), absl::StatusCode::kInvalidArgument) << "no cubin";
  EXPECT_EQ(with(Script("hangs", "exec sleep 100\n")).code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(with(root_ + "/absent").code(), absl::StatusCode::kUnavailable);
}

}  // namespace
}  // namespace sm89
