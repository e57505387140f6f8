// sm89-cubin run and trace, and sm89-sim on machine code: command lines, exit codes, what is written.
#include "sim/tools/cubin_command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "sim/base/digest.h"
#include "sim/ingest/ingest.h"
#include "sim/tools/exit_codes.h"
#include "sim/tools/findings_text.h"
#include "sim/trace/compact_reader.h"

namespace sm89 {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

std::string Kernels(const std::string& name) { return SM89_SOURCE_DIR "/tests/data/kernels/" + name; }
std::string Cubin(const std::string& kernel) { return Kernels(kernel + ".sm_89.cubin"); }

std::string ReadFile(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

struct Outcome {
  int code = -1;
  std::string out, err;
};

class CubinCommand : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "sm89_cubin_command_XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    root_ = pattern;
  }
  void TearDown() override { fs::remove_all(root_); }

  Outcome Run(const std::vector<std::string>& args, const std::atomic<bool>* interrupted = nullptr) {
    return With(CubinMain, args, interrupted);
  }
  Outcome Sim(const std::vector<std::string>& args, const std::atomic<bool>* interrupted = nullptr) {
    return With(SimMain, args, interrupted);
  }
  std::string File(const std::string& name) const { return root_ + "/" + name; }
  std::string Write(const std::string& name, const std::string& text) const {
    std::ofstream(File(name), std::ios::binary) << text;
    return File(name);
  }
  // vector_add over `count` elements, `written` of which are in the buffer that is written.
  std::string WriteLaunch(const std::string& name, uint64_t count, uint64_t written) const {
    Json launch = Json::parse(ReadFile(Kernels("vector_add.json")))["launches"][0];
    launch["grid"] = {(count + 255) / 256};
    for (Json& arg : launch["args"]) {
      if (arg.contains("count")) arg["count"] = arg["buffer"] == "c" ? written : count;
      if (arg.contains("i32")) arg["i32"] = count;
    }
    return Write(name, launch.dump(1));
  }

  std::string root_;

 private:
  static Outcome With(int (*program)(const std::vector<std::string>&, const SimCommandIo&),
                      const std::vector<std::string>& args, const std::atomic<bool>* interrupted) {
    std::ostringstream out, err;
    Outcome outcome;
    outcome.code =
        program(args, {.out = out, .err = err, .err_is_terminal = false, .interrupted = interrupted});
    outcome.out = out.str();
    outcome.err = err.str();
    return outcome;
  }
};

TEST_F(CubinCommand, MistakesOfUsageAreCode2AndSayWhatIsWrong) {
  const std::string cubin = Cubin("vector_add"), launch = Kernels("vector_add.json");
  const std::pair<std::vector<std::string>, const char*> rows[] = {
      {{}, "no subcommand given"},
      {{"bogus"}, "bogus"},
      {{"run"}, "--cubin with --launch, or --suite with --cubin-dir"},
      {{"run", "--cubin", cubin}, "--launch"},
      {{"run", "--launch", launch}, "--cubin"},
      {{"run", "--suite", launch}, "--cubin-dir"},
      {{"run", "--cubin-dir", root_}, "--suite"},
      {{"run", "--cubin", cubin, "--launch", launch, "--suite", launch}, "two ways"},
      {{"run", "--cubin", cubin, "--suite", launch}, "two ways"},
      {{"run", "--suite", launch, "--cubin-dir", root_}, "a launch file needs one cubin"},
      {{"run", "--cubin", File("absent"), "--launch", launch}, "absent"},
      {{"run", "--cubin", launch, "--launch", launch}, "not a cubin"},
      {{"run", "--cubin", cubin, "--launch", File("absent.json")}, "absent.json"},
      {{"run", "--cubin", cubin, "--launch", cubin}, "not valid JSON"},
      {{"run", "--cubin", cubin, "--launch", launch, "--arch", "sm_75"}, "sm_80, sm_86, sm_89 or sm_90"},
      {{"run", "--cubin", cubin, "--launch", launch, "--arch", "ada"}, "ada"},
      {{"run", "--cubin", cubin, "--launch", launch, "--arch", "sm_90"}, "no machine code for sm_90"},
      {{"run", "--cubin", cubin, "--launch", launch, "--case", "vector_ad"}, "\"vector_add\""},
      {{"run", "--cubin", cubin, "--launch", Kernels("histogram.json")}, "has no such kernel"},
      {{"run", "--cubin", cubin, "--launch", launch, "--max-instructions", "-5"}, "-5"},
      {{"run", "--cubin", cubin, "--launch", launch, "--max-instructions", "0"}, "max-instructions"},
      {{"run", "--cubin", cubin, "--launch", launch, "--max-instructions", "some"}, "some"},
      {{"run", "--cubin", cubin, "--launch", launch, "--json", File("no/such/x.json")}, "no/such/x.json"},
      {{"run", "--cubin", cubin, "--launch", launch, "--reference", File("absent")}, "absent"},
      {{"run", "--cubin", cubin, "--launch", launch, "--reference", cubin}, "vector_add.sm_89.cubin"},
      {{"trace", "--cubin", cubin, "--launch", launch}, "--output"},
      {{"trace", "--cubin", cubin, "--launch", launch, "--output", File("no/such/t")}, "no/such/t"},
      {{"trace", "--cubin", cubin, "--launch", launch, "--output", File("t"), "--format", "csv"}, "csv"},
  };
  for (const auto& [args, message] : rows) {
    const Outcome outcome = Run(args);
    EXPECT_EQ(outcome.code, kExitBadInput) << message << "\n" << outcome.out;
    EXPECT_THAT(outcome.err, HasSubstr(message));
    EXPECT_THAT(outcome.err, StartsWith("sm89-cubin: "));
    EXPECT_THAT(outcome.out, Not(HasSubstr("sha256"))) << message;
  }
  EXPECT_TRUE(fs::is_empty(root_));
}

TEST_F(CubinCommand, HelpAndVersion) {
  const Outcome help = Run({"--help"});
  EXPECT_EQ(help.code, kExitOk);
  for (const char* text : {"info", "dis", "mma-layout", "run", "trace", "Exit codes:", "Examples:"}) {
    EXPECT_THAT(help.out, HasSubstr(text));
  }
  EXPECT_THAT(Run({"run", "--help"}).out, HasSubstr("--max-instructions"));
  EXPECT_THAT(Run({"--version"}).out, StartsWith("sm89-cubin "));
}

TEST_F(CubinCommand, RunComparesEveryExampleWithTheRecordedResults) {
  for (const char* kernel : {"vector_add", "sgemm_tiled", "sgemm_register", "tensor_gemm", "reduction",
                             "divergent", "histogram"}) {
    const Outcome outcome =
        Run({"run", "--cubin", Cubin(kernel), "--launch", Kernels(absl::StrCat(kernel, ".json")),
             "--reference", Kernels("h200.json")});
    EXPECT_EQ(outcome.code, kExitOk) << kernel << outcome.err;
    EXPECT_THAT(outcome.out, HasSubstr("  equal ")) << kernel;
    EXPECT_THAT(outcome.err, IsEmpty());
  }
}

TEST_F(CubinCommand, RunPrintsATableAndWritesTheSameInJson) {
  const Outcome outcome = Run({"run", "--cubin", Cubin("reduction"), "--launch", Kernels("reduction.json"),
                               "--json", File("r.json"), "--counts"});
  ASSERT_EQ(outcome.code, kExitOk) << outcome.err;
  const Json json = Json::parse(ReadFile(File("r.json")));
  EXPECT_EQ(json["format"], "sm89-cubin-run");
  ASSERT_EQ(json["cases"].size(), 1u);
  const Json& run = json["cases"][0];
  EXPECT_EQ(run["id"], "reduction");
  EXPECT_EQ(run["kernel"], "reduction");
  EXPECT_EQ(run["arch"], 89);
  EXPECT_EQ(run["ok"], true);
  EXPECT_EQ(run["result"], "ran");
  EXPECT_EQ(run["findings_total"], 0);
  uint64_t warps = 0;
  for (const Json& row : run["counts"]) warps += row["warps"].get<uint64_t>();
  EXPECT_EQ(run["warp_instructions"], warps);
  const Json recorded = Json::parse(ReadFile(Kernels("h200.json")))["reduction"]["outputs"];
  ASSERT_EQ(run["outputs"].size(), recorded.size());
  for (const auto& [name, output] : recorded.items()) {
    EXPECT_EQ(run["outputs"][name]["sha256"], output["sha256"]) << name;
    EXPECT_THAT(outcome.out, HasSubstr(absl::StrCat("  ", name, ": ")));
    EXPECT_THAT(outcome.out, HasSubstr(output["sha256"].get<std::string>()));
  }
  EXPECT_THAT(outcome.out, StartsWith("case "));
  EXPECT_THAT(outcome.out, HasSubstr(absl::StrCat(" ", warps, "  ran\n")));
}

TEST_F(CubinCommand, DumpedBytesAreThoseOfTheDigest) {
  const Outcome outcome = Run({"run", "--cubin", Cubin("histogram"), "--launch", Kernels("histogram.json"),
                               "--dump", File("dump"), "--json", File("dump.json")});
  ASSERT_EQ(outcome.code, kExitOk) << outcome.err;
  const auto json = nlohmann::json::parse(ReadFile(File("dump.json")));
  const std::string bytes = ReadFile(File("dump/histogram.bins.bin"));
  EXPECT_FALSE(bytes.empty());
  EXPECT_EQ(json["cases"][0]["outputs"]["bins"]["sha256"], Sha256Hex(bytes));
}

TEST_F(CubinCommand, StandardOutputHoldsOnlyTheJsonAskedFor) {
  const std::vector<std::string> args = {
      "run", "--cubin", Cubin("histogram"), "--launch", Kernels("histogram.json"), "--json", "-"};
  const Outcome outcome = Run(args);
  ASSERT_EQ(outcome.code, kExitOk);
  EXPECT_EQ(Json::parse(outcome.out)["cases"][0]["ok"], true);
  EXPECT_FALSE(Json::parse(outcome.out)["cases"][0].contains("counts"));
  EXPECT_EQ(Run(args).out, outcome.out) << "the same bytes again";
}

TEST_F(CubinCommand, ResultsThatDifferAreCode7) {
  Json reference = Json::parse(ReadFile(Kernels("h200.json")));
  reference["histogram"]["outputs"]["bins"]["sha256"] = std::string(64, '0');
  Write("r.json", reference.dump());
  const std::vector<std::string> histogram = {
      "run", "--cubin", Cubin("histogram"), "--launch", Kernels("histogram.json"), "--reference"};
  const auto with = [&](const std::string& path) {
    std::vector<std::string> args = histogram;
    args.push_back(path);
    return Run(args);
  };
  const Outcome differs = with(File("r.json"));
  EXPECT_EQ(differs.code, kExitDiffers);
  EXPECT_THAT(differs.out, HasSubstr("DIFFERS"));
  EXPECT_THAT(differs.err, HasSubstr("bins"));
  // Nothing to compare with is not equality.
  reference.erase("histogram");
  const Outcome absent = with(Write("r.json", reference.dump()));
  EXPECT_EQ(absent.code, kExitDiffers);
  EXPECT_THAT(absent.err, HasSubstr("no results of this case"));
}

TEST_F(CubinCommand, ALaunchWithoutComparisonSaysSo) {
  Json launch = Json::parse(ReadFile(Kernels("histogram.json")))["launches"][0];
  launch.erase("compare");
  const Outcome outcome = Run({"run", "--cubin", Cubin("histogram"), "--launch",
                               Write("l.json", launch.dump()), "--reference", Kernels("h200.json")});
  EXPECT_EQ(outcome.code, kExitOk);
  EXPECT_THAT(outcome.out, HasSubstr("asks for no comparison"));
}

TEST_F(CubinCommand, AFaultIsSaidOnceWithPlaceAndThread) {
  const std::string launch = WriteLaunch("l.json", 1024, 100);
  const Outcome outcome =
      Run({"run", "--cubin", Cubin("vector_add"), "--launch", launch, "--json", File("r.json")});
  EXPECT_EQ(outcome.code, kExitBadInput);
  EXPECT_THAT(outcome.out, HasSubstr("FAILED"));
  EXPECT_THAT(outcome.err, HasSubstr("sm89-cubin: vector_add: error: out-of-bounds store of 4 bytes"));
  EXPECT_THAT(outcome.err, HasSubstr("vector_add.cu:"));
  EXPECT_THAT(outcome.err, HasSubstr("thread (100,0,0) of CTA (0,0,0)"));
  const std::vector<std::string> lines = absl::StrSplit(outcome.err, "out-of-bounds");
  EXPECT_EQ(lines.size(), 2u) << outcome.err;
  const Json run = Json::parse(ReadFile(File("r.json")))["cases"][0];
  EXPECT_EQ(run["ok"], false);
  EXPECT_EQ(run["result"], "FAILED");
  EXPECT_EQ(run["error"]["code"], "FAILED_PRECONDITION");
  ASSERT_EQ(run["findings"].size(), 1u);
  EXPECT_THAT(run["findings"][0].get<std::string>(), HasSubstr("thread (100,0,0)"));
  EXPECT_TRUE(run["outputs"].empty());
}

TEST_F(CubinCommand, OneCaseThatFailsDoesNotHideTheOthers) {
  const Json good = Json::parse(ReadFile(Kernels("vector_add.json")))["launches"][0];
  Json bad = Json::parse(ReadFile(WriteLaunch("bad.json", 1024, 100)));
  bad["id"] = "bad";
  const std::string launches = Write("l.json", Json{{"launches", {bad, good}}}.dump());
  const Outcome outcome = Run({"run", "--cubin", Cubin("vector_add"), "--launch", launches});
  EXPECT_EQ(outcome.code, kExitBadInput);
  EXPECT_THAT(outcome.out, HasSubstr("  FAILED\n"));
  EXPECT_THAT(outcome.out, HasSubstr("  ran\n"));
  EXPECT_EQ(Run({"run", "--cubin", Cubin("vector_add"), "--launch", launches, "--case", "vector_add"}).code,
            kExitOk);
}

TEST_F(CubinCommand, TheInstructionLimitIsCode3) {
  const std::vector<std::string> more = {
      "--cubin", Cubin("vector_add"), "--launch", Kernels("vector_add.json"), "--max-instructions", "1000"};
  std::vector<std::string> run = {"run"}, trace = {"trace", "--output", File("t")};
  run.insert(run.end(), more.begin(), more.end());
  trace.insert(trace.end(), more.begin(), more.end());
  for (const auto& args : {run, trace}) {
    const Outcome outcome = Run(args);
    EXPECT_EQ(outcome.code, kExitLimit);
    EXPECT_THAT(outcome.err, HasSubstr("1000 warp instructions, the limit"));
  }
  EXPECT_TRUE(fs::is_empty(root_)) << "no half trace";
}

TEST_F(CubinCommand, InterruptedIsCode5AndLeavesNothing) {
  const std::atomic<bool> interrupted{true};
  const std::vector<std::string> more = {"--cubin", Cubin("vector_add"), "--launch",
                                         Kernels("vector_add.json")};
  for (std::vector<std::string> args : {std::vector<std::string>{"run", "--json", File("r.json")},
                                        std::vector<std::string>{"trace", "--output", File("t")}}) {
    args.insert(args.end(), more.begin(), more.end());
    const Outcome outcome = Run(args, &interrupted);
    EXPECT_EQ(outcome.code, kExitCancelled);
    EXPECT_THAT(outcome.err, HasSubstr("interrupted"));
  }
  std::vector<std::string> args = more;
  args.insert(args.end(), {"--keep-trace", File("kept")});
  const Outcome outcome = Sim(args, &interrupted);
  EXPECT_EQ(outcome.code, kExitCancelled);
  EXPECT_THAT(outcome.err, HasSubstr("is not kept"));
  EXPECT_TRUE(fs::is_empty(root_));
}

TEST_F(CubinCommand, AManifestRunsItsModules) {
  Json one = Json::parse(ReadFile(Kernels("vector_add.json")))["launches"][0];
  Json two = Json::parse(ReadFile(Kernels("histogram.json")))["launches"][0];
  one["module"] = "vector_add";
  two["module"] = "histogram";
  Write("m.json", Json{{"cases", {one, two}}}.dump());
  const std::vector<std::string> args = {"run",    "--suite", File("m.json"), "--cubin-dir", Kernels(""),
                                         "--json", "-"};
  const Outcome all = Run(args);
  ASSERT_EQ(all.code, kExitOk) << all.err;
  const Json cases = Json::parse(all.out)["cases"];
  ASSERT_EQ(cases.size(), 2u);
  EXPECT_EQ(cases[0]["kernel"], "vector_add");
  EXPECT_EQ(cases[1]["kernel"], "histogram");
  std::vector<std::string> some = args;
  some.insert(some.end(), {"--case", "histogram"});
  EXPECT_EQ(Json::parse(Run(some).out)["cases"].size(), 1u);
  some.insert(some.end(), {"--arch", "sm_90"});
  EXPECT_THAT(Run(some).err, HasSubstr("histogram.sm_90.cubin"));
}

TEST_F(CubinCommand, TheTraceGivesTheLiveRunsStatistics) {
  for (const char* kernel : {"divergent", "tensor_gemm"}) {
    const std::vector<std::string> code = {"--cubin", Cubin(kernel), "--launch",
                                           Kernels(absl::StrCat(kernel, ".json"))};
    std::vector<std::string> live = code, trace = code;
    live.insert(live.end(), {"--json", File("live.json"), "--keep-trace", File("kept")});
    trace.insert(trace.begin(), {"trace", "--output", File("traced")});
    const Outcome run = Sim(live);
    ASSERT_EQ(run.code, kExitOk) << run.err;
    const Outcome traced = Run(trace);
    ASSERT_EQ(traced.code, kExitOk) << traced.err;
    EXPECT_EQ(ReadFile(File("kept")), ReadFile(File("traced"))) << "one trace, two ways";
    const Outcome again = Sim({"--trace", File("kept"), "--json", File("kept.json")});
    ASSERT_EQ(again.code, kExitOk) << again.err;
    Json a = Json::parse(ReadFile(File("live.json"))), b = Json::parse(ReadFile(File("kept.json")));
    EXPECT_EQ(a["totals"], b["totals"]);
    ASSERT_EQ(a["kernels"].size(), 1u);
    // What the launch left in memory is known to the live run alone.
    EXPECT_EQ(a["kernels"][0]["executed"], true);
    for (const char* key : {"case", "executed", "outputs", "findings", "findings_total"}) {
      a["kernels"][0].erase(key);
    }
    EXPECT_EQ(a["kernels"], b["kernels"]);
  }
}

TEST_F(CubinCommand, AccelSimTextReadsBackAsTheSameInstructions) {
  for (const char* kernel : {"reduction", "histogram", "tensor_gemm"}) {
    const std::vector<std::string> code = {"--cubin", Cubin(kernel), "--launch",
                                           Kernels(absl::StrCat(kernel, ".json"))};
    std::vector<std::string> compact = code, text = code;
    const std::string folder = File(absl::StrCat("text_", kernel));
    compact.insert(compact.begin(), {"trace", "--output", File("compact")});
    text.insert(text.begin(), {"trace", "--output", folder, "--format", "accelsim"});
    ASSERT_EQ(Run(compact).code, kExitOk);
    const Outcome exported = Run(text);
    ASSERT_EQ(exported.code, kExitOk) << exported.err;
    const auto ingested = IngestTrace(folder, File("ingested"), {});
    ASSERT_TRUE(ingested.ok()) << ingested.status();
    const auto original = CompactReader::Open(File("compact"));
    ASSERT_TRUE(original.ok()) << original.status();
    ASSERT_EQ(ingested->info.kernels.size(), 1u);
    const KernelInfo& a = (*original)->info().kernels[0];
    const KernelInfo& b = ingested->info.kernels[0];
    EXPECT_EQ(b.name, a.name);
    EXPECT_EQ(b.grid, a.grid);
    EXPECT_EQ(b.block, a.block);
    EXPECT_EQ(b.shmem_bytes, a.shmem_bytes);
    EXPECT_EQ(b.nregs, a.nregs);
    EXPECT_EQ(b.num_ctas, a.num_ctas);
    EXPECT_EQ(b.warp_instructions, a.warp_instructions);
    EXPECT_EQ(b.thread_instructions, a.thread_instructions);
    EXPECT_EQ(b.masked_off_instructions, a.masked_off_instructions);
    EXPECT_EQ(Run(text).code, kExitBadInput) << "the folder is in use";
  }
}

TEST_F(CubinCommand, SimTakesCodeInPlaceOfATrace) {
  const std::string cubin = Cubin("histogram"), launch = Kernels("histogram.json");
  const std::pair<std::vector<std::string>, const char*> mistakes[] = {
      {{"--cubin", cubin, "--launch", launch, "--trace", "x"}, "not both"},
      {{"--cubin", cubin}, "--launch"},
      {{"--trace", "x", "--keep-trace", File("t")}, "only what is executed can be kept"},
      {{"--cubin", cubin, "--launch", launch, "--arch", "sm_90"}, "no machine code for sm_90"},
      {{"--cubin", cubin, "--launch", launch, "--case", "other"}, "other"},
      {{"--cubin", Cubin("vector_add"), "--launch", WriteLaunch("l.json", 4096, 10)}, "out-of-bounds store"},
  };
  for (const auto& [args, message] : mistakes) {
    const Outcome outcome = Sim(args);
    EXPECT_EQ(outcome.code, kExitBadInput) << message;
    EXPECT_THAT(outcome.err, HasSubstr(message));
  }
  const Outcome outcome = Sim({"--cubin", cubin, "--launch", launch, "--json", "-"});
  ASSERT_EQ(outcome.code, kExitOk) << outcome.err;
  const Json kernel = Json::parse(outcome.out)["kernels"][0];
  const Json recorded = Json::parse(ReadFile(Kernels("h200.json")))["histogram"]["outputs"];
  EXPECT_EQ(kernel["case"], "histogram");
  EXPECT_EQ(kernel["outputs"]["bins"]["sha256"], recorded["bins"]["sha256"]);
}

TEST_F(CubinCommand, ATextureKernelIsRefusedByName) {
  const std::string cubin = SM89_SOURCE_DIR "/../shared/sass/cubin/k23_tex.cubin";
  if (!fs::exists(cubin)) GTEST_SKIP() << cubin << " is not here";
  const std::string launch = Write("l.json", R"({"kernel": "tex", "grid": [1], "block": [32], "args": [
      {"buffer": "a", "dtype": "f32", "count": 64, "init": "zero"}, {"u64": 1}, {"u64": 1}, {"u64": 1},
      {"u64": 1}, {"i32": 8}]})");
  for (const Outcome& outcome :
       {Run({"run", "--cubin", cubin, "--launch", launch}), Sim({"--cubin", cubin, "--launch", launch})}) {
    EXPECT_EQ(outcome.code, kExitBadInput);
    EXPECT_THAT(outcome.err, HasSubstr("TEX.SCR.LL"));
    EXPECT_THAT(outcome.err, HasSubstr("tex+0x0360"));
    EXPECT_THAT(outcome.err, HasSubstr("textures and surfaces are not emulated"));
  }
}

// PTX by way of ptxas, and a kernel that reads shared memory which nobody wrote.
TEST_F(CubinCommand, WarningsAreCountedAndDoNotEndTheRun) {
  const std::string ptx =
      Write("peek.ptx",
            ".version 7.8\n.target sm_80\n.address_size 64\n.visible .entry peek(.param .u64 out) {\n"
            "  .reg .b32 %r<3>;\n  .reg .b64 %rd<4>;\n  .shared .align 4 .b8 s[256];\n"
            "  ld.param.u64 %rd1, [out];\n  mov.u32 %r1, %tid.x;\n  mul.wide.u32 %rd2, %r1, 4;\n"
            "  mov.u64 %rd3, s;\n  add.u64 %rd3, %rd3, %rd2;\n  ld.shared.u32 %r2, [%rd3];\n"
            "  add.u64 %rd1, %rd1, %rd2;\n  st.global.u32 [%rd1], %r2;\n  ret;\n}\n");
  const std::string launch = Write("l.json", R"({"kernel": "peek", "grid": [1], "block": [64], "args": [
      {"buffer": "out", "dtype": "u32", "count": 64, "init": "iota", "output": true}]})");
  const Outcome outcome = Run({"run", "--cubin", ptx, "--launch", launch, "--json", File("r.json")});
  if (outcome.err.find("ptxas, which is not here") != std::string::npos) {
    EXPECT_EQ(outcome.code, kExitBadInput);
    GTEST_SKIP() << "ptxas is not on PATH";
  }
  ASSERT_EQ(outcome.code, kExitOk) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("sm89-cubin: peek: warning: uninitialised load of 4 bytes at shared"));
  EXPECT_THAT(outcome.err, HasSubstr("sm89-cubin: peek: warning: 54 more findings of the memory checker\n"));
  const Json run = Json::parse(ReadFile(File("r.json")))["cases"][0];
  EXPECT_EQ(run["ok"], true);
  EXPECT_EQ(run["findings_total"], 64);
  EXPECT_EQ(run["findings"].size(), 64u);
  EXPECT_EQ(run["outputs"]["out"]["sum"], 0) << "such reads give 0";
  const Outcome sim = Sim({"--cubin", ptx, "--launch", launch});
  EXPECT_EQ(sim.code, kExitOk) << sim.err;
  EXPECT_THAT(sim.err, HasSubstr("sm89-sim: peek: warning: 54 more findings"));
  // The same before a fault that ends the run: 32 lanes have read, the first one writes outside.
  const std::string too_small = Write("s.json", R"({"kernel": "peek", "grid": [1], "block": [32], "args": [
      {"buffer": "out", "dtype": "u32", "count": 8, "init": "iota", "output": true}]})");
  const Outcome ended = Sim({"--cubin", ptx, "--launch", too_small});
  EXPECT_EQ(ended.code, kExitBadInput);
  EXPECT_THAT(ended.err, HasSubstr("warning: 22 more findings"));
  EXPECT_THAT(ended.err, HasSubstr("sm89-sim: error: out-of-bounds store"));
}

TEST(FindingsText, OneLineAWarningAndTheRestCounted) {
  std::ostringstream err;
  PrintFindings("sm89-cubin", "case", {"first", "second"}, 5, absl::OkStatus(), err);
  EXPECT_EQ(err.str(),
            "sm89-cubin: case: warning: first\nsm89-cubin: case: warning: second\n"
            "sm89-cubin: case: warning: 3 more findings of the memory checker\n");
  std::ostringstream many;
  PrintFindings("p", "c", std::vector<std::string>(40, "x"), 50, absl::OkStatus(), many);
  EXPECT_THAT(many.str(),
              EndsWith("p: c: warning: x\np: c: warning: 40 more findings of the memory checker\n"));
  std::ostringstream ended;
  PrintFindings("sm89-cubin", "case", {"first", "fatal"}, 2, absl::FailedPreconditionError("fatal"), ended);
  EXPECT_EQ(ended.str(), "sm89-cubin: case: warning: first\n");
}

}  // namespace
}  // namespace sm89
