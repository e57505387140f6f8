// sm89-trace from its command line to its bytes.
#include "sim/tools/trace_command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "sim/ingest/ingest.h"
#include "sim/tools/exit_codes.h"

namespace sm89 {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
using Json = nlohmann::json;

struct Result {
  int code = 0;
  std::string out, err;
};

class TraceCommand : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = ::testing::TempDir() + "sm89_trace_command_" + std::to_string(getpid());
    std::filesystem::create_directories(folder_);
    Put("kernelslist.g", "MemcpyHtoD,0x00007f4c80000000,4096\nkernel-1.traceg\nMemset,1\n");
    Put("kernel-1.traceg", Kernel(89, 2, 2));
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  void Put(const std::string& name, const std::string& text) { std::ofstream(folder_ + "/" + name) << text; }

  // A vector addition's kernel of `blocks` thread blocks out of `grid`.
  static std::string Kernel(int binary, int grid, int blocks) {
    std::ostringstream t;
    t << "-kernel name = _Z3addPf \"quoted\"\n-kernel id = 1\n-grid dim = (" << grid
      << ",1,1)\n-block dim = (64,1,1)\n-shmem = 0\n-nregs = 16\n-binary version = " << binary
      << "\n-cuda stream id = 0\n-shmem base_addr = 0x00007f5a10000000\n"
         "-local mem base_addr = 0x00007f5a0e000000\n-nvbit version = 1.7.2\n-accelsim tracer version = 5\n"
         "-enable lineinfo = 0\n#traces format = x\n";
    for (int b = 0; b < blocks; ++b) {
      t << "#BEGIN_TB\nthread block = " << b << ",0,0\n";
      for (int w = 0; w < 2; ++w) {
        t << "warp = " << w
          << "\ninsts = 4\n0000 ffffffff 1 R1 MOV 0 0 -3 \n0010 ffffffff 1 R4 LDG.E.64 1 R2 8 1 0x"
          << std::hex << 0x7f4c80000000 + b * 512 + w * 256 << std::dec
          << " 8 0 \n0020 0000000f 1 R5 LDS 1 R3 4 1 0x0 128 0 \n0030 ffffffff 0 EXIT 0 0 0 \n";
      }
      t << "#END_TB\n";
    }
    return t.str();
  }

  Result Run(std::vector<std::string> args, const std::atomic<bool>* interrupted = nullptr) {
    std::ostringstream out, err;
    Result result;
    result.code = TraceMain(args, {.out = out, .err = err, .interrupted = interrupted});
    result.out = out.str();
    result.err = err.str();
    return result;
  }

  std::string folder_;
};

TEST_F(TraceCommand, InfoText) {
  const Result r = Run({"info", folder_});
  EXPECT_EQ(r.code, kExitOk) << r.err;
  EXPECT_THAT(r.out, StartsWith("trace    "));
  EXPECT_THAT(r.out, HasSubstr("kernels  1, 16 warp instructions, 400 thread instructions"));
  EXPECT_THAT(r.out, HasSubstr("MemcpyHtoD 0x7f4c80000000, 4096 bytes"));
  EXPECT_THAT(r.out, HasSubstr("ignored: Memset,1"));
  EXPECT_THAT(r.out, HasSubstr("thread blocks       2 of 2"));
}

TEST_F(TraceCommand, InfoJson) {
  const Result r = Run({"info", "--json", folder_});
  ASSERT_EQ(r.code, kExitOk) << r.err;
  const Json j = Json::parse(r.out);
  EXPECT_EQ(j["marks"], Json::array());
  EXPECT_EQ(j["kernels"][0]["name"], "_Z3addPf \"quoted\"");
  EXPECT_EQ(j["kernels"][0]["warp_instructions"], 16);
  EXPECT_EQ(j["kernels"][0]["static_instructions"], 4);
  EXPECT_EQ(j["commands"].size(), 3u);
  EXPECT_EQ(j["trace_digest"].get<std::string>().size(), 64u);
}

TEST_F(TraceCommand, DumpTextShowsTheFirstThreadBlock) {
  const Result r = Run({"dump", folder_});
  EXPECT_EQ(r.code, kExitOk) << r.err;
  EXPECT_THAT(r.out, HasSubstr("dest R4-R5  source R2-R3  global load 8 bytes"));
  EXPECT_THAT(r.out, HasSubstr("thread block 0,0,0 warp 1"));
  EXPECT_THAT(r.out, Not(HasSubstr("thread block 1,0,0")));
  EXPECT_THAT(r.out, HasSubstr("MOV  imm -3"));
  EXPECT_THAT(r.out, HasSubstr("global 8 sectors"));
  EXPECT_THAT(r.out, HasSubstr("shared 4 passes (3 by bank conflicts)"));
  EXPECT_THAT(r.out, HasSubstr("31:0x7f4c800000f8"));
  EXPECT_THAT(r.out, HasSubstr("1 thread blocks left out: --all or --cta shows them"));
}

TEST_F(TraceCommand, DumpJsonIsOneDocument) {
  const Result r = Run({"dump", "--json", "--all", folder_});
  ASSERT_EQ(r.code, kExitOk) << r.err;
  const Json j = Json::parse(r.out);
  EXPECT_EQ(j["kernels"][0]["code"].size(), 4u);
  const Json& executed = j["kernels"][0]["executed"];
  ASSERT_EQ(executed.size(), 16u);
  EXPECT_EQ(executed[1]["pc"], "0x10");
  EXPECT_EQ(executed[1]["addresses"][31], "0x7f4c800000f8");
  EXPECT_EQ(executed[1]["global"]["sectors"], 8);
  EXPECT_EQ(executed[2]["lanes"], Json::array({0, 1, 2, 3}));
  EXPECT_EQ(executed[2]["shared"]["bank_conflict_passes"], 3);
  EXPECT_EQ(executed[0]["immediate"], -3);
  EXPECT_EQ(j["left_out_thread_blocks"], 0);
  EXPECT_EQ(j["limit_reached"], false);
}

TEST_F(TraceCommand, FiltersSelect) {
  const auto count = [&](std::vector<std::string> filters) {
    filters.insert(filters.begin(), {"dump", "--json", folder_});
    const Result r = Run(filters);
    EXPECT_EQ(r.code, kExitOk) << r.err;
    const Json j = Json::parse(r.out);
    EXPECT_EQ(j["shown_instructions"], j["kernels"][0]["executed"].size());
    return j["shown_instructions"].get<int>();
  };
  EXPECT_EQ(count({}), 8);
  EXPECT_EQ(count({"--all"}), 16);
  EXPECT_EQ(count({"--all", "--warp", "1"}), 8);
  EXPECT_EQ(count({"--cta", "1,0,0", "--warp", "0"}), 4);
  EXPECT_EQ(count({"--cta", "1", "--pc", "0x10"}), 2);
  EXPECT_EQ(count({"--all", "--pc", "30"}), 4);
  EXPECT_EQ(count({"--code-only"}), 0);
  EXPECT_EQ(count({"--all", "--limit", "3"}), 3);
}

TEST_F(TraceCommand, LimitIsTold) {
  EXPECT_THAT(Run({"dump", folder_, "--limit", "3"}).out, HasSubstr("stopped at --limit"));
  EXPECT_EQ(Json::parse(Run({"dump", folder_, "--json", "--limit", "3"}).out)["limit_reached"], true);
  EXPECT_THAT(Run({"dump", folder_, "--limit", "8"}).out, Not(HasSubstr("stopped at --limit")));
}

TEST_F(TraceCommand, CompactInputGivesTheSameDump) {
  const std::string compact = folder_ + "/trace.compact";
  ASSERT_TRUE(IngestTrace(folder_, compact, {}).ok());
  Json from_text = Json::parse(Run({"dump", "--json", "--all", folder_}).out);
  Json from_compact = Json::parse(Run({"dump", "--json", "--all", compact}).out);
  from_text.erase("trace");
  from_compact.erase("trace");
  EXPECT_EQ(from_text, from_compact);
}

TEST_F(TraceCommand, PartialAndForeignTracesAreMarkedEverywhere) {
  Put("kernel-1.traceg", Kernel(80, 3, 2));
  EXPECT_EQ(Run({"info", folder_}).code, kExitBadInput);
  const std::vector<std::string> consent = {"--foreign-arch", "--allow-partial", folder_};
  for (const std::string mode : {"info", "dump"}) {
    std::vector<std::string> args = {mode};
    args.insert(args.end(), consent.begin(), consent.end());
    const Result text = Run(args);
    EXPECT_EQ(text.code, kExitOk) << text.err;
    EXPECT_THAT(text.out, StartsWith("MARKED: "));
    EXPECT_THAT(text.out.substr(0, text.out.find('\n')), HasSubstr("foreign_arch"));
    EXPECT_THAT(text.out.substr(0, text.out.find('\n')), HasSubstr("allow_partial"));
    args.push_back("--json");
    const Json j = Json::parse(Run(args).out);
    EXPECT_EQ(j["marks"].size(), 2u) << j["marks"];
    EXPECT_EQ(j["kernels"][0]["complete"], false);
  }
}

TEST_F(TraceCommand, MarksOfACompactTraceAreWarnedAboutUnlessTheirFlagIsGiven) {
  Put("kernel-1.traceg", Kernel(80, 3, 2));
  const std::string compact = folder_ + "/trace.compact";
  ASSERT_TRUE(IngestTrace(folder_, compact, {.foreign_arch = true, .allow_partial = true}).ok());
  const Result r = Run({"info", compact, "--foreign-arch"});
  EXPECT_EQ(r.code, kExitOk);
  EXPECT_THAT(r.err, StartsWith("sm89-trace: warning: the compact trace is marked allow_partial"));
  EXPECT_THAT(r.err, Not(HasSubstr("foreign_arch")));
  EXPECT_EQ(Run({"info", compact, "--foreign-arch", "--allow-partial"}).err, "");
}

TEST_F(TraceCommand, MistakesExitWithTwoAndSayWhy) {
  EXPECT_EQ(Run({}).code, kExitBadInput);
  EXPECT_EQ(Run({"info"}).code, kExitBadInput);
  EXPECT_EQ(Run({"show", folder_}).code, kExitBadInput);
  EXPECT_EQ(Run({"info", folder_ + "/none"}).code, kExitBadInput);
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
      {{"--cta", "1,2"}, "X,Y,Z or a number"},
      {{"--cta", "9"}, "the trace does not have this"},
      {{"--cta", "9,0,0"}, "--cta = '9,0,0'"},
      {{"--kernel", "2"}, "at most 1"},
      {{"--pc", "zz"}, "a hexadecimal number"},
      {{"--pc", "-1"}, "a hexadecimal number"},
      {{"--pc", "0x100000010"}, "a hexadecimal number"},
      {{"--pc", "0x50"}, "--pc = '0x50'"},
      {{"--warp", "-1"}, "a whole number"},
      {{"--warp", "2"}, "below 2"},
      {{"--limit", "-1"}, "a whole number"},
      {{"--cta", "-1"}, "X,Y,Z or a number"}};
  for (const auto& [filter, text] : cases) {
    std::vector<std::string> args = {"dump", folder_};
    args.insert(args.end(), filter.begin(), filter.end());
    const Result r = Run(args);
    EXPECT_EQ(r.code, kExitBadInput);
    EXPECT_THAT(r.err, HasSubstr(text));
    EXPECT_EQ(r.out, "") << "nothing is written for a filter that selects nothing";
  }
}

TEST_F(TraceCommand, DamagedCompactFileExitsWithTwo) {
  const std::string compact = folder_ + "/trace.compact";
  ASSERT_TRUE(IngestTrace(folder_, compact, {}).ok());
  std::filesystem::resize_file(compact, std::filesystem::file_size(compact) - 1);
  const Result r = Run({"info", compact});
  EXPECT_EQ(r.code, kExitBadInput);
  EXPECT_THAT(r.err, HasSubstr("damaged compact trace"));
}

TEST_F(TraceCommand, HelpVersionAndInterrupt) {
  const Result help = Run({"--help"});
  EXPECT_EQ(help.code, kExitOk);
  EXPECT_THAT(help.out, HasSubstr("Exit codes:"));
  EXPECT_THAT(Run({"dump", "--help"}).out, HasSubstr("--code-only"));
  EXPECT_THAT(Run({"--version"}).out, StartsWith("sm89-trace "));
  const std::string compact = folder_ + "/trace.compact";
  ASSERT_TRUE(IngestTrace(folder_, compact, {}).ok());
  const std::atomic<bool> interrupted{true};
  EXPECT_EQ(Run({"dump", compact}, &interrupted).code, kExitCancelled);
}

}  // namespace
}  // namespace sm89
