// The static analyses through their one door, and through sm89-cubin.
#include "sim/tools/analysis_command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "sim/base/strings.h"
#include "sim/replay/program.h"
#include "sim/tools/cubin_command.h"
#include "sim/tools/exit_codes.h"

namespace sm89 {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr const char* kKernels[] = {"vector_add", "sgemm_tiled", "sgemm_register", "tensor_gemm",
                                    "reduction",  "divergent",   "histogram"};

std::string Cubin(const std::string& kernel) {
  return absl::StrCat(SM89_SOURCE_DIR, "/tests/data/kernels/", kernel, ".sm_89.cubin");
}

std::string ReadFile(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string Message(const absl::Status& status) { return std::string(Sv(status.message())); }

// "" when every tag of an XML text is closed by its own name and text and attributes hold no bare '<' or '&'.
std::string XmlFault(const std::string& text) {
  std::vector<std::string> open;
  for (size_t at = 0; at < text.size();) {
    if (text[at] == '&' && text.find(';', at) > at + 6) return absl::StrCat("a bare & at ", at);
    if (text[at] != '<') {
      ++at;
      continue;
    }
    const size_t end = text.find('>', at);
    if (end == std::string::npos) return "an open tag at the end";
    const std::string tag = text.substr(at + 1, end - at - 1);
    at = end + 1;
    if (tag.find('<') != std::string::npos) return absl::StrCat("a bare < in ", tag);
    if (tag[0] == '?' || tag[0] == '!' || tag.back() == '/') continue;
    const std::string name = tag.substr(0, tag.find_first_of(" \n"));
    if (name[0] != '/') {
      open.push_back(name);
    } else if (open.empty() || "/" + open.back() != name) {
      return absl::StrCat("<", name, "> closes nothing");
    } else {
      open.pop_back();
    }
  }
  return open.empty() ? "" : absl::StrCat("<", open.back(), "> is not closed");
}

TEST(RunAnalysis, EveryKindOfEveryExampleAsTextAndJson) {
  for (const AnalysisKind& kind : AnalysisKinds()) {
    if (kind.name == "mma-layout") continue;
    for (const char* kernel : kKernels) {
      AnalysisRequest request{.kind = kind.name, .image_path = Cubin(kernel)};
      const auto text = RunAnalysis(request);
      ASSERT_TRUE(text.ok()) << kind.name << " " << text.status();
      EXPECT_THAT(*text, HasSubstr(kernel)) << kind.name << ": the function is named";
      EXPECT_TRUE(text->ends_with("\n")) << kind.name;
      request.format = "json";
      const auto json = RunAnalysis(request);
      ASSERT_TRUE(json.ok()) << kind.name << " " << json.status();
      const Json root = Json::parse(*json, nullptr, false);
      ASSERT_TRUE(root.is_object()) << kind.name;
      EXPECT_EQ(root["kind"], kind.name);
      const Json& list = root[kind.name == "info" ? "modules" : "functions"];
      ASSERT_EQ(list.size(), 1u) << kind.name;
      EXPECT_TRUE(list[0].is_object() && !list[0].empty()) << kind.name;
      EXPECT_EQ(RunAnalysis(request).value(), *json) << "the same bytes again";
    }
  }
}

TEST(RunAnalysis, OccupancyOfALaunchNamesWhatLimitsIt) {
  AnalysisRequest request{.kind = "info", .image_path = Cubin("vector_add")};
  request.threads = 256;
  EXPECT_THAT(RunAnalysis(request).value(), HasSubstr("100.0 %, limited by warps"));
  request.dynamic_shared_bytes = 40'000;  // two fit into 100 KiB: 16 of 48 warps
  EXPECT_THAT(RunAnalysis(request).value(), HasSubstr("33.3 %, limited by shared memory"));
}

TEST(RunAnalysis, RequestsThatCannotBeAnsweredSayWhy) {
  const std::string cubin = Cubin("vector_add");
  const std::pair<AnalysisRequest, const char*> rows[] = {
      {{.kind = "lint", .image_path = cubin}, "no such analysis"},
      {{.kind = "dis", .format = "svg", .image_path = cubin}, "text or json"},
      {{.kind = "mma-layout", .format = "xml"}, "text, json or svg"},
      {{.kind = "dis"}, "no file given"},
      {{.kind = "dis", .image_path = cubin + ".absent"}, "absent"},
      {{.kind = "dis", .image_path = SM89_SOURCE_DIR}, "not a regular file"},
      {{.kind = "dis", .image_path = cubin, .function = "vector_sub"}, "one of vector_add"},
      {{.kind = "info", .image_path = cubin, .function = "vector_sub"}, "one of vector_add"},
      {{.kind = "dis", .image_path = cubin, .arch = 90}, "sm_90"},
      {{.kind = "ptx", .image_path = cubin, .ptx_path = cubin + ".ptx"}, ".ptx"},
      {{.kind = "info", .image_path = cubin, .dynamic_shared_bytes = 5}, "threads"},
      {{.kind = "mma-layout", .shape = "m16n8k5"}, "no layout"},
      {{.kind = "mma-layout", .format = "svg"}, "one layout"},
      {{.kind = "mma-layout", .format = "svg", .shape = "m16n8k16"}, "mma.m16n8k16.f16.f32"},
  };
  for (const auto& [request, message] : rows) {
    const auto answer = RunAnalysis(request);
    ASSERT_FALSE(answer.ok()) << message;
    EXPECT_THAT(Message(answer.status()), HasSubstr(message));
  }
}

// Of code with library functions, which have no PTX, the others are shown.
TEST(RunAnalysis, FunctionsWithoutPtxAreLeftOutUnlessAskedFor) {
  const std::string cubin = SM89_SOURCE_DIR "/../shared/sass/cubin/k16_calls_G.cubin";
  if (!fs::exists(cubin)) GTEST_SKIP() << cubin << " is not here";
  AnalysisRequest request{.kind = "ptx", .format = "json", .image_path = cubin};
  const auto json = RunAnalysis(request);
  ASSERT_TRUE(json.ok()) << json.status();
  EXPECT_FALSE(Json::parse(*json)["functions"].empty());
  request.function = "__cuda_sm20_div_rn_f64_full";
  EXPECT_THAT(Message(RunAnalysis(request).status()), HasSubstr("__cuda_sm20_div_rn_f64_full"));
  request = {.kind = "ptx", .image_path = SM89_SOURCE_DIR "/../shared/sass/cubin/k16_calls.cubin"};
  EXPECT_THAT(Message(RunAnalysis(request).status()), HasSubstr("k16_calls.cubin holds no PTX"));
}

TEST(RunAnalysis, LayoutsAreChosenByWholePartsOfTheirNames) {
  const auto names = [](const std::string& shape, const std::string& type) {
    AnalysisRequest request{.kind = "mma-layout", .format = "json"};
    request.shape = shape;
    request.type = type;
    std::vector<std::string> found;
    const Json root = Json::parse(RunAnalysis(request).value());
    for (const Json& layout : root["layouts"]) {
      found.push_back(layout["name"]);
    }
    return found;
  };
  using ::testing::ElementsAre;
  EXPECT_THAT(names("m16n8k4", ""), ElementsAre("mma.m16n8k4.tf32.f32", "mma.m16n8k4.f64.f64"));
  EXPECT_THAT(names("m16n8k8", "bf16.f32"), ElementsAre("mma.m16n8k8.bf16.f32"));
  EXPECT_THAT(names("m16n8k16", "f16.f32"), ElementsAre("mma.m16n8k16.f16.f32", "mma.sp.m16n8k16.f16.f32"));
  EXPECT_THAT(names("ldmatrix.x4", ""), ElementsAre("ldmatrix.x4"));
  EXPECT_THAT(names("mma.m8n8k4", "f64"), ElementsAre("mma.m8n8k4.f64.f64"));
}

TEST(RunAnalysis, APictureIsWellFormedAndHasEveryLane) {
  for (const char* name : {"mma.m16n8k16.f16.f32", "mma.sp.m16n8k32.f16.f32", "mma.m8n8k4.f64.f64",
                           "mma.m16n8k256.b1.s32", "ldmatrix.x4.trans"}) {
    AnalysisRequest request{.kind = "mma-layout", .format = "svg"};
    request.shape = name;
    const auto svg = RunAnalysis(request);
    ASSERT_TRUE(svg.ok()) << svg.status();
    EXPECT_THAT(*svg, HasSubstr("<svg ")) << name;
    EXPECT_THAT(*svg, HasSubstr("xmlns=\"http://www.w3.org/2000/svg\"")) << name;
    EXPECT_EQ(XmlFault(*svg), "") << name;
    for (int lane = 0; lane < 32; ++lane) EXPECT_THAT(*svg, HasSubstr(absl::StrCat("T", lane))) << name;
  }
  AnalysisRequest dense{.kind = "mma-layout", .format = "svg"};
  dense.shape = "m16n8k16";
  dense.type = "f16.f32";
  EXPECT_TRUE(RunAnalysis(dense).ok()) << "the dense one unless sp is asked for";
}

TEST(RunAnalysis, AProgramPackageIsAnImageToo) {
  std::string pattern = (fs::temp_directory_path() / "sm89_analysis_XXXXXX").string();
  ASSERT_NE(mkdtemp(pattern.data()), nullptr);
  Program program;
  program.name = "p";
  program.modules["one"] = ReadFile(Cubin("vector_add"));
  AnalysisRequest request{.kind = "dis", .image_path = pattern + "/p"};
  std::ofstream(request.image_path, std::ios::binary) << EncodeProgram(program);
  EXPECT_THAT(RunAnalysis(request).value(), StartsWith("vector_add:")) << "its only module";
  program.modules["two"] = ReadFile(Cubin("histogram"));
  std::ofstream(request.image_path, std::ios::binary) << EncodeProgram(program);
  EXPECT_THAT(Message(RunAnalysis(request).status()), HasSubstr("one of one, two"));
  request.module = "two";
  EXPECT_THAT(RunAnalysis(request).value(), StartsWith("histogram:"));
  fs::remove_all(pattern);
}

struct Outcome {
  int code = -1;
  std::string out, err;
};

Outcome Command(const std::vector<std::string>& args) {
  std::ostringstream out, err;
  Outcome outcome;
  outcome.code = CubinMain(args, {.out = out, .err = err});
  outcome.out = out.str();
  outcome.err = err.str();
  return outcome;
}

TEST(AnalysisCommand, PrintsWhatRunAnalysisAnswers) {
  const std::string cubin = Cubin("divergent");
  EXPECT_EQ(Command({"dis", cubin}).out, RunAnalysis({.kind = "dis", .image_path = cubin}).value());
  EXPECT_EQ(Command({"live", cubin, "--json"}).out,
            RunAnalysis({.kind = "live", .format = "json", .image_path = cubin}).value());
  const Outcome mma = Command({"mma-layout", "--shape", "m16n8k8", "--type", "f16.f32"});
  EXPECT_EQ(mma.code, kExitOk);
  EXPECT_THAT(mma.out, StartsWith("mma.m16n8k8.f16.f32\n"));
}

TEST(AnalysisCommand, WritesFilesWholeOrNotAtAll) {
  std::string pattern = (fs::temp_directory_path() / "sm89_analysis_XXXXXX").string();
  ASSERT_NE(mkdtemp(pattern.data()), nullptr);
  EXPECT_EQ(Command({"mix", Cubin("divergent"), "--output", pattern + "/mix.txt"}).code, kExitOk);
  EXPECT_EQ(ReadFile(pattern + "/mix.txt"), Command({"mix", Cubin("divergent")}).out);
  EXPECT_EQ(Command({"mma-layout", "--shape", "ldmatrix.x1", "--svg", pattern + "/x.svg"}).code, kExitOk);
  EXPECT_EQ(XmlFault(ReadFile(pattern + "/x.svg")), "");
  EXPECT_EQ(Command({"dis", Cubin("divergent"), "--function", "f", "--output", pattern + "/no"}).code,
            kExitBadInput);
  EXPECT_FALSE(fs::exists(pattern + "/no"));
  fs::remove_all(pattern);
}

TEST(AnalysisCommand, MistakesAreCode2) {
  const std::string cubin = Cubin("vector_add");
  const std::pair<std::vector<std::string>, const char*> rows[] = {
      {{"dis"}, "FILE"},
      {{"dis", cubin, cubin}, "not expected"},
      {{"dis", "--arch", "sm_70", cubin}, "sm_70"},
      {{"info", "--threads", "0", cubin}, "--threads"},
      {{"info", "--threads", "1025", cubin}, "--threads"},
      {{"info", "--threads", "-1", cubin}, "--threads"},
      {{"info", "--dynamic-shared", "-1", cubin}, "--dynamic-shared"},
      {{"dis", "--output", "/absent/folder/x", cubin}, "/absent/folder/x"},
      {{"dis", "--svg", "x", cubin}, "--svg"},
  };
  for (const auto& [args, message] : rows) {
    const Outcome outcome = Command(args);
    EXPECT_EQ(outcome.code, kExitBadInput) << message;
    EXPECT_THAT(outcome.err, HasSubstr(message));
    EXPECT_EQ(outcome.out, "") << message;
  }
}

}  // namespace
}  // namespace sm89
