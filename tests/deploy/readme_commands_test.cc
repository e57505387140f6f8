// What newcomers run: every command of the README and of the client's manual, and what deploy/quickstart
// shows, on a real daemon.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <string>
#include <vector>

#include "tests/deploy/command.h"
#include "tests/support/daemon_fixture.h"

namespace sm89 {
namespace {

using testing::CommandResult;
using testing::DaemonFixture;
using testing::RunCommand;

const std::string kSource = SM89_SOURCE_DIR;

std::string TextOf(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// The lines of a page's shell blocks.
std::vector<std::string> CommandsOf(const std::string& page) {
  std::vector<std::string> commands;
  std::ifstream in(kSource + "/" + page);
  bool inside = false;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("```")) {
      inside = line == "```sh";
    } else if (inside && !line.empty()) {
      commands.push_back(line);
    }
  }
  return commands;
}

// "result JOB" becomes the newest job of the server.
std::string WithJob(const std::string& command) {
  const std::string job = "$(sm89 --json jobs | grep -om1 'jobs/[a-z0-9]*')";
  return std::regex_replace(command, std::regex("(result|profile) JOB"), "$1 " + job);
}

size_t Count(const std::string& text, const std::string& word) {
  size_t count = 0;
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + word.size())) ++count;
  return count;
}

class NewcomerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(DaemonFixture::Available()) << "the programs are not built in " << SM89_BIN_DIR;
    ASSERT_TRUE(daemon_.Start());
    // A stand-in for the working copy: its files, and this build where the README expects the programs.
    namespace fs = std::filesystem;
    fs::create_directories(folder_ / "build" / "release");
    fs::create_directory_symlink(SM89_BIN_DIR, folder_ / "build" / "release" / "bin");
    for (const char* name : {"deploy", "tests"})
      fs::create_directory_symlink(kSource + "/" + name, folder_ / name);
  }

  // As lines of a shell that stops at the first command that fails.
  CommandResult RunLines(const std::string& lines) {
    const std::string path = daemon_.File("script");
    std::ofstream(path) << "set -euo pipefail\n" << lines;
    return RunCommand("cd " + folder_.string() + " && SM89_ADDRESS=" + daemon_.address() +
                      " HOME=" + folder_.string() + " XDG_STATE_HOME= XDG_CONFIG_HOME= bash " + path);
  }

  DaemonFixture daemon_;
  const std::filesystem::path folder_ = daemon_.File("copy");
};

TEST_F(NewcomerTest, EveryCommandOfTheReadmeWorks) {
  std::string lines;
  size_t programs = 0;
  for (const std::string& command : CommandsOf("README.md")) {
    // The two that install packages and build.
    if (command.starts_with("deploy/quickstart") || command.starts_with("tests/run")) continue;
    lines +=
        "echo 'COMMAND " + std::regex_replace(command, std::regex("'"), "") + "'\n" + WithJob(command) + "\n";
    programs += command.starts_with("sm89") ? 1 : 0;
  }
  EXPECT_GE(programs, 15u) << "the README's shell blocks were not found";
  const CommandResult result = RunLines(lines + "echo ALL DONE\n");
  EXPECT_EQ(result.exit_code, 0) << result.output;
  EXPECT_TRUE(result.output.ends_with("ALL DONE\n")) << result.output;
  EXPECT_EQ(Count(result.output, "COMMAND sm89"), programs);
}

TEST_F(NewcomerTest, EveryShellBlockOfTheClientsManualWorks) {
  std::string lines = "export PATH=" SM89_BIN_DIR ":$PATH\n";
  size_t programs = 0;
  for (const std::string& command : CommandsOf("client/README.md")) {
    lines += WithJob(command) + "\n";
    programs += command.starts_with("sm89") ? 1 : 0;
  }
  EXPECT_GE(programs, 4u) << "the manual's shell blocks were not found";
  const CommandResult result = RunLines(lines + "echo ALL DONE\n");
  EXPECT_EQ(result.exit_code, 0) << result.output;
  EXPECT_TRUE(result.output.ends_with("ALL DONE\n")) << result.output;
}

TEST_F(NewcomerTest, ExamplesOfThePagesOnTheModelWork) {
  for (const char* page : {"sim/mem/L2.md", "sim/sm/SER.md", "sim/debug/DEBUG.md"}) {
    std::string lines = "export PATH=" SM89_BIN_DIR ":$PATH\n";
    const std::vector<std::string> commands = CommandsOf(page);
    EXPECT_FALSE(commands.empty()) << page;
    for (const std::string& command : commands) lines += command + "\n";
    const CommandResult result = RunLines(lines + "echo ALL DONE\n");
    EXPECT_EQ(result.exit_code, 0) << page << result.output;
    EXPECT_TRUE(result.output.ends_with("ALL DONE\n")) << page << result.output;
  }
}

TEST_F(NewcomerTest, QuickstartsExampleRuns) {
  std::string script = TextOf(kSource + "/deploy/quickstart");
  const std::string call = "\nmain \"$@\"\n";
  ASSERT_TRUE(script.ends_with(call));
  script.resize(script.size() - call.size());
  const CommandResult result =
      RunLines(script + "\nroot=" + kSource + " bin=" SM89_BIN_DIR "\nrun_example\n");
  EXPECT_EQ(result.exit_code, 0) << result.output;
  for (const char* kernel : {"vector_add", "sgemm_tiled", "sgemm_register", "tensor_gemm", "reduction",
                             "divergent", "histogram"}) {
    EXPECT_TRUE(std::regex_search(result.output, std::regex(std::string("\n +[1-7] ") + kernel + " +[0-9]")))
        << kernel << " has no row in\n"
        << result.output;
  }
  for (const char* channels : {"6", "12", "24"}) {
    const std::regex row(std::string("gpgpu_n_mem=") + channels + " +SUCCEEDED +[0-9]");
    EXPECT_TRUE(std::regex_search(result.output, row)) << channels << " has no row in\n" << result.output;
  }
  EXPECT_EQ(Count(result.output, "equal bytes"), 6u) << result.output;
  EXPECT_EQ(Count(result.output, "equal within 1e-3"), 1u) << result.output;
}

// Programs that the quickstart builds are those that are installed, however that is done.
TEST(Programs, AreNamedAlikeEverywhere) {
  const std::string quickstart = TextOf(kSource + "/deploy/quickstart");
  std::smatch list;
  ASSERT_TRUE(std::regex_search(quickstart, list, std::regex("\nprograms=\\(([^)]*)\\)")));
  const std::string dockerfile = TextOf(kSource + "/deploy/Dockerfile");
  const std::string readme = TextOf(kSource + "/deploy/README.md");
  std::istringstream words(list[1]);
  size_t count = 0;
  for (std::string program; words >> program; ++count) {
    const std::regex whole("[ ,{/]" + program + "[ ,}]");
    EXPECT_TRUE(std::regex_search(dockerfile, whole)) << program;
    EXPECT_TRUE(std::regex_search(readme, std::regex("release/bin/\\{[^}]*\\b" + program + "[,}]")))
        << program;
  }
  EXPECT_GE(count, 6u);
}

}  // namespace
}  // namespace sm89
