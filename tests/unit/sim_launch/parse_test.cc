#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "sim/base/fault.h"
#include "sim/launch/launch.h"

namespace sm89::launch {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

absl::StatusOr<LaunchFile> Parse(const std::string& text) {
  return ParseLaunches(text, {.name = "l.json", .folder = "data"});
}

// One launch with these buffers and arguments.
std::string WithArgs(const std::string& args) {
  return R"({"kernel":"k","grid":[1],"block":[32],"args":[)" + args + "]}";
}

Fault OnlyFault(const std::string& text) {
  const auto file = Parse(text);
  EXPECT_EQ(file.status().code(), absl::StatusCode::kInvalidArgument) << text;
  const std::vector<Fault> faults = FaultsOf(file.status());
  EXPECT_EQ(faults.size(), 1u) << text << "\n" << file.status();
  return faults.empty() ? Fault{} : faults.front();
}

TEST(ParseLaunches, ReadsALaunchFile) {
  const auto file = Parse(R"({"launches": [
    {"id": "first", "kernel": "add", "grid": [4, 2], "block": [64, 1, 1], "dynamic_smem": 512,
     "cooperative": true, "compare": "approx", "tags": ["a", "b"],
     "args": [{"buffer": "x", "dtype": "f16", "count": 100, "init": "uniform", "seed": 3, "lo": -1, "hi": 1.5,
               "output": true, "align": 4096}, {"i32": -7}, {"u8": 255}]},
    {"kernel": "scale", "grid": [1], "block": [1], "args": []}]})");
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_FALSE(file->is_manifest);
  ASSERT_EQ(file->launches.size(), 2u);
  const LaunchSpec& first = file->launches[0];
  EXPECT_EQ(first.id, "first");
  EXPECT_EQ(first.kernel, "add");
  EXPECT_EQ(first.grid, (Dim3{4, 2, 1}));
  EXPECT_EQ(first.block, (Dim3{64, 1, 1}));
  EXPECT_EQ(first.dynamic_shared_bytes, 512u);
  EXPECT_TRUE(first.cooperative);
  EXPECT_EQ(first.compare, Compare::kApprox);
  EXPECT_THAT(first.tags, ElementsAre("a", "b"));
  EXPECT_EQ(first.line, 2u);
  ASSERT_EQ(first.buffers.size(), 1u);
  EXPECT_EQ(first.buffers[0].type, DataType::kF16);
  EXPECT_EQ(first.buffers[0].size_bytes(), 200u);
  EXPECT_EQ(first.buffers[0].align_bytes, 4096u);
  EXPECT_TRUE(first.buffers[0].output);
  EXPECT_EQ(first.buffers[0].generator.init, Init::kUniform);
  EXPECT_EQ(first.buffers[0].generator.hi, 1.5);
  ASSERT_EQ(first.args.size(), 3u);
  EXPECT_THAT(first.args[1].bytes, ElementsAre(0xf9, 0xff, 0xff, 0xff));
  EXPECT_THAT(first.args[2].bytes, ElementsAre(255));
  EXPECT_EQ(file->launches[1].id, "scale");
  EXPECT_EQ(file->launches[1].compare, Compare::kNone);
}

TEST(ParseLaunches, ASingleLaunchNeedsNoList) {
  const auto file = Parse(WithArgs(R"({"u64": 18446744073709551615})"));
  ASSERT_TRUE(file.ok()) << file.status();
  ASSERT_EQ(file->launches.size(), 1u);
  EXPECT_THAT(file->launches[0].args[0].bytes, ::testing::Each(0xff));
}

TEST(ParseLaunches, ScalarsRoundOnceToTheirType) {
  const auto file = Parse(WithArgs(
      R"({"f32": 0.1}, {"f64": 0.1}, {"f16": 0.1}, {"bf16": 0.1}, {"f32": "-inf"}, {"f16": "nan"}, {"i64": -1})"));
  ASSERT_TRUE(file.ok()) << file.status();
  const std::vector<Arg>& args = file->launches[0].args;
  EXPECT_THAT(args[0].bytes, ElementsAre(0xcd, 0xcc, 0xcc, 0x3d));
  EXPECT_THAT(args[1].bytes, ElementsAre(0x9a, 0x99, 0x99, 0x99, 0x99, 0x99, 0xb9, 0x3f));
  EXPECT_THAT(args[2].bytes, ElementsAre(0x66, 0x2e));
  EXPECT_THAT(args[3].bytes, ElementsAre(0xcd, 0x3d));
  EXPECT_THAT(args[4].bytes, ElementsAre(0, 0, 0x80, 0xff));
  EXPECT_EQ(args[5].bytes[1] & 0x7c, 0x7c);
  EXPECT_THAT(args[6].bytes, SizeIs(8));
}

TEST(ParseLaunches, ReferencesAndRawBytesPointAtBuffers) {
  const auto file = Parse(R"({"kernel":"k","grid":[1],"block":[1],
    "buffers":[{"name":"hidden","dtype":"u8","count":64,"init":"zero"}],
    "args":[{"ref":"late","add":8},
            {"name":"desc","bytes_hex":"000102030405060708090A0b0c0d0e0f","pointers":[{"offset":8,"ref":"hidden"}]},
            {"buffer":"late","dtype":"u32","count":4,"init":"iota"}]})");
  ASSERT_TRUE(file.ok()) << file.status();
  const LaunchSpec& launch = file->launches[0];
  ASSERT_EQ(launch.buffers.size(), 2u);
  EXPECT_EQ(launch.buffers[0].name, "hidden");
  ASSERT_EQ(launch.args[0].pointers.size(), 1u);
  EXPECT_EQ(launch.args[0].pointers[0].buffer, 1u);
  EXPECT_EQ(launch.args[0].pointers[0].add_bytes, 8u);
  EXPECT_EQ(launch.args[1].name, "desc");
  EXPECT_EQ(launch.args[1].bytes[10], 0x0a);
  ASSERT_EQ(launch.args[1].pointers.size(), 1u);
  EXPECT_EQ(launch.args[1].pointers[0].buffer, 0u);
  EXPECT_EQ(launch.args[1].pointers[0].offset, 8u);
  EXPECT_EQ(launch.args[2].pointers[0].buffer, 1u);
}

TEST(ParseLaunches, RawFilesAreFoundNextToTheLaunchFile) {
  const std::string text =
      WithArgs(R"({"buffer":"w","dtype":"f32","count":4,"init":"file","file":"in/w.bin"})");
  const auto file = Parse(text);
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ(file->launches[0].buffers[0].generator.file, "data/in/w.bin");
  const auto refused = ParseLaunches(text, {.name = "upload"});
  ASSERT_EQ(FaultsOf(refused.status()).size(), 1u);
  EXPECT_EQ(FaultsOf(refused.status())[0].field, "args[0].file");
}

TEST(ParseLaunches, AllFaultsComeAtOnceWithLinesAndPaths) {
  const auto file = Parse(R"({"launches": [
  {"kernel": "k", "grid": [1, 0], "block": "32",
   "args": [
     {"buffer": "x", "dtype": "f33", "count": 8, "init": "zero"},
     {"i32": 2147483648},
     {"buffer": "y", "dtype": "f32", "count": 8, "init": "uniform", "lo": 0}],
   "sharedmem": 5}]})");
  ASSERT_FALSE(file.ok());
  std::vector<std::string> seen;
  for (const Fault& fault : FaultsOf(file.status())) {
    EXPECT_EQ(fault.file, "l.json");
    seen.push_back(std::to_string(fault.line) + " " + fault.field);
  }
  EXPECT_THAT(seen, ElementsAre("2 launches[0].grid[1]", "2 launches[0].block", "4 launches[0].args[0].dtype",
                                "5 launches[0].args[1].i32", "6 launches[0].args[2].seed",
                                "6 launches[0].args[2].hi", "7 launches[0].sharedmem"));
}

TEST(ParseLaunches, AFaultSaysWhatWasFoundAndWhatIsRight) {
  const Fault range = OnlyFault(WithArgs(R"({"u8": 256})"));
  EXPECT_EQ(range.value, "256");
  EXPECT_EQ(range.expected, "an integer from 0 to 255");
  const Fault unknown =
      OnlyFault(WithArgs(R"({"buffer":"x","dtype":"u8","count":1,"init":"zero","outptu":true})"));
  EXPECT_EQ(unknown.field, "args[0].outptu");
  EXPECT_THAT(unknown.expected, HasSubstr("\"output\""));
  const Fault reference =
      OnlyFault(WithArgs(R"({"buffer":"input","dtype":"u8","count":1,"init":"zero"}, {"ref":"inptu"})"));
  EXPECT_EQ(reference.value, "\"inptu\"");
  EXPECT_THAT(reference.expected, HasSubstr("\"input\""));
}

TEST(ParseLaunches, WhatCannotBeMeantIsRefused) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {R"({"i32": 1.5})", "args[0].i32"},
      {R"({"u32": -1})", "args[0].u32"},
      {R"({"i8": -129})", "args[0].i8"},
      {R"({"f16": 65520})", "args[0].f16"},
      {R"({"f32": "many"})", "args[0].f32"},
      {R"({"i32": 1, "f32": 1})", "args[0].f32"},
      {R"({})", "args[0].<type>"},
      {R"(7)", "args[0]"},
      {R"({"bytes_hex": "012"})", "args[0].bytes_hex"},
      {R"({"bytes_hex": "0g"})", "args[0].bytes_hex"},
      {R"({"buffer":"x","dtype":"i32","count":4,"init":"uniform","seed":1,"lo":0,"hi":1})", "args[0].dtype"},
      {R"({"buffer":"x","dtype":"u32","count":4,"init":"chase","stride":8})", "args[0].dtype"},
      {R"({"buffer":"x","dtype":"u64","count":4,"init":"chase","stride":12})", "args[0].stride"},
      {R"({"buffer":"x","dtype":"u32","count":4,"init":"affine","mul":1,"add":0,"mod":0})", "args[0].mod"},
      {R"({"buffer":"x","dtype":"u32","count":0,"init":"zero"})", "args[0].count"},
      {R"({"buffer":"x","dtype":"u32","count":4,"init":"random"})", "args[0].init"},
      {R"({"buffer":"x","dtype":"u32","count":4,"init":"zero","align":24})", "args[0].align"},
      {R"({"buffer":"x","dtype":"u32","count":4,"init":"zero","seed":1})", "args[0].seed"},
      {R"({"buffer":"","dtype":"u32","count":4,"init":"zero"})", "args[0].buffer"},
      {R"({"buffer":"x","dtype":"u8","count":8,"init":"zero"},{"ref":"x","add":9})", "args[1].ref"},
      {R"({"buffer":"x","dtype":"u8","count":8,"init":"zero"},{"buffer":"x","dtype":"u8","count":8,"init":"zero"})",
       "args[1].buffer"},
      {R"({"buffer":"x","dtype":"u8","count":8,"init":"zero"},
          {"bytes_hex":"00000000000000","pointers":[{"offset":0,"ref":"x"}]})",
       "args[1].pointers[0].offset"},
  };
  for (const auto& [args, field] : cases) EXPECT_EQ(OnlyFault(WithArgs(args)).field, field) << args;
}

TEST(ParseLaunches, DocumentsOfAnotherKindAreRefused) {
  EXPECT_EQ(OnlyFault("[]").expected, "an object");
  EXPECT_EQ(OnlyFault("{}").field, "launches");
  EXPECT_EQ(OnlyFault(R"({"launches":[]})").message, "nothing to run");
  EXPECT_EQ(OnlyFault(R"({"launches":5})").field, "launches");
  const std::string launch = R"({"kernel":"k","grid":[1],"block":[1],"args":[]})";
  EXPECT_EQ(OnlyFault(R"({"launches":[)" + launch + R"(],"cases":[]})").field, "cases");
  EXPECT_EQ(OnlyFault(R"({"launches":[)" + launch + ",\n" + launch + "]}").line, 2u);  // one id twice
  EXPECT_THAT(OnlyFault("{\n\"kernel\": \"k\",\n\"kernel\": \"l\"}").message, HasSubstr("line 2"));
  EXPECT_EQ(OnlyFault("{\n\"kernel\": ,\n}").line, 2u);
  EXPECT_EQ(OnlyFault("").line, 1u);
  EXPECT_THAT(OnlyFault(std::string(1000, '[')).message, HasSubstr("nested"));
}

TEST(ParseLaunches, AManifestNeedsModulesAndAWayToCompare) {
  const auto file = Parse(R"({"cases":[{"kernel":"k","grid":[1],"block":[1],"args":[]}]})");
  std::vector<std::string> missing;
  for (const Fault& fault : FaultsOf(file.status())) missing.push_back(fault.field);
  EXPECT_THAT(missing, ElementsAre("cases[0].id", "cases[0].module", "cases[0].compare"));
  EXPECT_EQ(OnlyFault(R"({"cases":[{"id":"a","module":"../m","kernel":"k","grid":[1],"block":[1],"args":[],
                          "compare":"none"}]})")
                .field,
            "cases[0].module");
  EXPECT_EQ(OnlyFault(R"({"module":"m","kernel":"k","grid":[1],"block":[1],"args":[]})").field, "module");
}

TEST(ParseLaunches, TheDocumentedExampleIsALaunchFile) {
  std::ifstream in(SM89_SOURCE_DIR "/sim/launch/LAUNCH.md");
  const std::string page((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  const size_t from = page.find("```json\n") + 8;
  const auto file = Parse(page.substr(from, page.find("```", from) - from));
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ(file->launches[0].buffers.size(), 2u);
}

TEST(ParseLaunches, ATextOfMoreThanSixteenMebibytesIsNotRead) {
  const std::string text = "{\"kernel\":\"k\"}" + std::string(size_t{16} << 20, ' ');
  const auto file = ParseLaunches(text, {.name = "l.json", .folder = {}});
  ASSERT_EQ(file.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(FaultsOf(file.status())[0].message, HasSubstr("too large"));
}

TEST(Select, KeepsTheOrderAskedForAndNamesTheNearestIds) {
  const auto file = Parse(R"({"launches":[
    {"id":"vector_add","kernel":"k","grid":[1],"block":[1],"args":[]},
    {"id":"sgemm","kernel":"k","grid":[1],"block":[1],"args":[]},
    {"id":"reduce","kernel":"k","grid":[1],"block":[1],"args":[]}]})");
  ASSERT_TRUE(file.ok()) << file.status();
  const auto two = file->Select({"reduce", "vector_add"});
  ASSERT_TRUE(two.ok());
  EXPECT_EQ((*two)[0]->id, "reduce");
  EXPECT_EQ((*two)[1]->id, "vector_add");
  EXPECT_THAT(*file->Select({}), SizeIs(3));
  const auto none = file->Select({"vectoradd"});
  EXPECT_EQ(none.status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(FaultsOf(none.status())[0].expected, HasSubstr("nearest: \"vector_add\""));
}

TEST(ReadLaunches, AnAbsentFileIsNamed) {
  const auto file = ReadLaunches("/nowhere/launch.json");
  EXPECT_EQ(file.status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(FaultsOf(file.status())[0].file, "/nowhere/launch.json");
  EXPECT_EQ(ReadLaunches(SM89_SOURCE_DIR).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(CubinPath, JoinsModuleAndArchitecture) {
  EXPECT_EQ(CubinPath("cubin", "memory", 89), "cubin/memory.sm_89.cubin");
}

}  // namespace
}  // namespace sm89::launch
