// What a package holds, how it is written and refused, what identifies it.
#include "sim/replay/program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "sim/base/digest.h"
#include "sim/base/fault.h"
#include "sim/base/strings.h"
#include "sim/replay/emulation.h"
#include "tests/unit/sim_replay/kernel_programs.h"

namespace sm89 {
namespace {

using Json = nlohmann::json;
using ::testing::HasSubstr;

constexpr size_t kMagicBytes = 8;

std::string Message(const absl::Status& status) { return std::string(Sv(status.message())); }

void ExpectEqual(const Program& a, const Program& b) {
  EXPECT_EQ(a.name, b.name);
  EXPECT_EQ(a.arch, b.arch);
  EXPECT_EQ(a.launch_name, b.launch_name);
  EXPECT_EQ(a.launch_text, b.launch_text);
  EXPECT_EQ(a.cases, b.cases);
  EXPECT_EQ(a.modules, b.modules);
  EXPECT_EQ(a.raw_files, b.raw_files);
}

Program Full() {
  Program program;
  program.name = "suite.json";
  program.arch = 90;
  program.launch_name = "suite.json";
  program.launch_text = "{\"cases\": []}\n";
  program.cases = {"two", "one"};
  program.modules = {{"b", std::string("\0\x7f\xff", 3)}, {"a", ""}};
  program.raw_files = {{"in/x.bin", std::string(300, '\xee')}};
  return program;
}

// The package with one key of its map changed (discarded: left out).
std::string With(const std::string& key, const Json& value) {
  const std::string bytes = EncodeProgram(Full());
  Json json = Json::from_cbor(bytes.begin() + kMagicBytes, bytes.end());
  if (value.is_discarded()) {
    json.erase(key);
  } else {
    json[key] = value;
  }
  const std::vector<uint8_t> body = Json::to_cbor(json);
  return bytes.substr(0, kMagicBytes) + std::string(body.begin(), body.end());
}

TEST(ProgramPackage, DecodesToWhatWasEncoded) {
  for (const Program& program : {Full(), Program{}, VectorAddProgram(100)}) {
    const auto decoded = DecodeProgram(EncodeProgram(program), "x");
    ASSERT_TRUE(decoded.ok()) << decoded.status();
    ExpectEqual(*decoded, program);
    EXPECT_EQ(EncodeProgram(*decoded), EncodeProgram(program));
  }
}

// PROGRAM.md, byte by byte: a client in another language has nothing else to go by.
TEST(ProgramPackage, BytesAreThoseOfTheDocument) {
  Program program;
  program.name = "n";
  program.launch_name = "l";
  program.launch_text = "t";
  program.cases = {"c"};
  program.modules = {{"", "\x01\x02"}};
  std::string expected("SM89PRG\n", kMagicBytes);
  expected += "\xa8";  // a map of eight
  expected +=
      "\x64"
      "arch"
      "\x18\x59";  // 89
  expected +=
      "\x65"
      "cases"
      "\x81\x61"
      "c";  // an array of one text
  expected +=
      "\x6b"
      "launch_name"
      "\x61"
      "l";
  expected +=
      "\x6b"
      "launch_text"
      "\x61"
      "t";
  expected +=
      "\x67"
      "modules"
      "\xa1\x60\x42\x01\x02";  // a map: empty text to two bytes
  expected +=
      "\x64"
      "name"
      "\x61"
      "n";
  expected +=
      "\x69"
      "raw_files"
      "\xa0";
  expected +=
      "\x67"
      "version"
      "\x01";
  EXPECT_EQ(EncodeProgram(program), expected);
}

// Lengths of every size, as a general encoder writes them (its maps are sorted).
TEST(ProgramPackage, LengthsAreInTheirShortestForm) {
  for (const size_t size : {0, 23, 24, 255, 256, 65'535, 65'536}) {
    Program program = Full();
    program.launch_text = std::string(size, 't');
    program.raw_files["x"] = std::string(size, 'b');
    program.cases.assign(size % 300, "case");
    Json files = Json::object(), modules = Json::object();
    for (const auto& [name, bytes] : program.raw_files) {
      files[name] = Json::binary(std::vector<uint8_t>(bytes.begin(), bytes.end()));
    }
    for (const auto& [name, bytes] : program.modules) {
      modules[name] = Json::binary(std::vector<uint8_t>(bytes.begin(), bytes.end()));
    }
    const std::vector<uint8_t> body = Json::to_cbor({{"version", 1},
                                                     {"name", program.name},
                                                     {"arch", program.arch},
                                                     {"launch_name", program.launch_name},
                                                     {"launch_text", program.launch_text},
                                                     {"cases", program.cases},
                                                     {"modules", modules},
                                                     {"raw_files", files}});
    EXPECT_TRUE(EncodeProgram(program) == "SM89PRG\n" + std::string(body.begin(), body.end())) << size;
  }
}

TEST(ProgramPackage, DamageIsRefusedByName) {
  const std::string whole = EncodeProgram(Full());
  struct Row {
    std::string bytes;
    const char* message;
  };
  const Row rows[] = {
      {"", "not a program package"},
      {"SM89PRG", "not a program package"},
      {whole.substr(1), "not a program package"},
      {whole.substr(0, kMagicBytes), "damaged"},
      {whole.substr(0, whole.size() - 1), "damaged"},
      {whole + "\x01", "damaged"},
      {whole.substr(0, kMagicBytes) + "\x80", "cannot be an array"},
      {whole.substr(0, kMagicBytes) + "\x01", "cannot be a number"},
      {whole.substr(0, kMagicBytes) + std::string(10'000'000, '\x81'), "cannot be an array"},
      {With("cases", Json::array({Json::array()})), "cannot be an array"},
      {With("extra", 1), "(extra, expected"},
      {With("version", Json(Json::value_t::discarded)), "(version, expected"},
      {With("version", 2), "only version 1"},
      {With("arch", -1), "(arch, expected"},
      {With("arch", 1000), "(arch, expected"},
      {With("arch", "89"), "(arch, expected"},
      {With("launch_text", Json::binary({1})), "launch_text, expected"},
      {With("name", Json(Json::value_t::discarded)), "(name, expected"},
      {With("cases", {1}), "cases, expected"},
      {With("cases", "one"), "cases, expected"},
      {With("modules", Json::array()), "modules, expected"},
      {With("modules", {{"a", "text"}}), "modules.a"},
      {With("raw_files", Json(Json::value_t::discarded)), "raw_files, expected"},
  };
  for (const Row& row : rows) {
    const auto decoded = DecodeProgram(row.bytes, "upload.bin");
    ASSERT_FALSE(decoded.ok()) << row.message;
    EXPECT_EQ(decoded.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(Message(decoded.status()), HasSubstr("upload.bin"));
    EXPECT_THAT(Message(decoded.status()), HasSubstr(row.message));
    EXPECT_FALSE(FaultsOf(decoded.status()).empty());
  }
}

TEST(ProgramPackage, EveryTruncationIsRefused) {
  const std::string whole = EncodeProgram(Full());
  for (size_t size = 0; size < whole.size(); ++size) {
    EXPECT_FALSE(DecodeProgram(whole.substr(0, size), "x").ok()) << size;
  }
}

TEST(ProgramDigest, CoversWhatIsExecutedAndNotTheNames) {
  const Program base = Full();
  Program renamed = base;
  renamed.name = "other";
  renamed.launch_name = "elsewhere.json";
  EXPECT_EQ(ProgramDigest(renamed), ProgramDigest(base));
  Program nameless = base;
  nameless.name.clear();
  nameless.launch_name.clear();
  EXPECT_EQ(ProgramDigest(base), Sha256Hex(EncodeProgram(nameless)));
  Program changed[6] = {base, base, base, base, base, base};
  changed[0].arch = 89;
  changed[1].launch_text += " ";
  changed[2].cases = {"one", "two"};
  changed[3].modules["a"] = "x";
  changed[4].raw_files["in/x.bin"][7] = 'x';
  changed[5].raw_files.clear();
  for (const Program& other : changed) EXPECT_NE(ProgramDigest(other), ProgramDigest(base));
}

TEST(ProgramFile, IsKnownByItsMagic) {
  const TestFolder folder;
  EXPECT_TRUE(IsProgramFile(folder.Write("p", EncodeProgram(Full()))));
  EXPECT_FALSE(IsProgramFile(folder.Write("short", "SM89PR")));
  EXPECT_FALSE(IsProgramFile(KernelFile("vector_add.sm_89.cubin")));
  EXPECT_FALSE(IsProgramFile(folder("absent")));
  EXPECT_FALSE(IsProgramFile(folder.path()));
  const auto read = ReadProgramFile(folder("p"));
  ASSERT_TRUE(read.ok()) << read.status();
  ExpectEqual(*read, Full());
  EXPECT_EQ(ReadProgramFile(folder("absent")).status().code(), absl::StatusCode::kNotFound);
  EXPECT_FALSE(ReadProgramFile(folder.path()).ok());
}

TEST(CollectProgram, TakesTheFilesThatSelectedLaunchesNeedAndNoOther) {
  const TestFolder folder;
  const std::string raw = std::string(64, '\x3f');
  folder.Write("x.bin", raw);
  const auto launch = [](const std::string& id, const std::string& module, const std::string& file) {
    return absl::StrCat("{\"id\": \"", id, "\", \"module\": \"", module,
                        "\", \"kernel\": \"k\", \"compare\": \"none\", \"grid\": [1], \"block\": [32], "
                        "\"args\": [{\"buffer\": \"x\", \"dtype\": \"f32\", \"count\": 16, \"init\": "
                        "\"file\", \"file\": \"",
                        file, "\"}]}");
  };
  folder.Write("m.json", absl::StrCat("{\"cases\": [", launch("one", "first", "x.bin"), ",",
                                      launch("two", "second", "absent.bin"), "]}"));
  folder.Write("first.sm_90.cubin", "code of 90");
  folder.Write("first.sm_89.cubin", "code of 89");
  ProgramPaths paths;
  paths.cubin_folder = folder.path();
  paths.launches = folder("m.json");
  paths.arch = 90;
  paths.cases = {"one"};
  const auto program = CollectProgram(paths);
  ASSERT_TRUE(program.ok()) << program.status();
  EXPECT_EQ(program->name, "m.json");
  EXPECT_EQ(program->arch, 90u);
  EXPECT_EQ(program->launch_text, FileBytes(folder("m.json")));
  EXPECT_EQ(program->modules, (std::map<std::string, std::string>{{"first", "code of 90"}}));
  EXPECT_EQ(program->raw_files, (std::map<std::string, std::string>{{"x.bin", raw}}));
  paths.cases = {};
  EXPECT_THAT(Message(CollectProgram(paths).status()), HasSubstr("second.sm_90.cubin"));
  paths.cases = {"on"};
  EXPECT_THAT(Message(CollectProgram(paths).status()), HasSubstr("one"));
}

TEST(CollectProgram, AMissingRawFileIsNamedWithItsBuffer) {
  const TestFolder folder;
  folder.Write("k.cubin", "code");
  folder.Write("l.json",
               "{\"kernel\": \"k\", \"grid\": [1], \"block\": [32], \"args\": [{\"buffer\": \"weights\", "
               "\"dtype\": \"f32\", \"count\": 16, \"init\": \"file\", \"file\": \"w.bin\"}]}");
  ProgramPaths paths;
  paths.cubin = folder("k.cubin");
  paths.launches = folder("l.json");
  const auto program = CollectProgram(paths);
  EXPECT_EQ(program.status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(Message(program.status()), HasSubstr(folder("w.bin")));
  EXPECT_THAT(Message(program.status()), HasSubstr("weights"));
}

TEST(CollectProgram, AManifestNeedsAFolderAndALaunchFileACubin) {
  const TestFolder folder;
  folder.Write("m.json",
               "{\"cases\": [{\"id\": \"a\", \"module\": \"m\", \"kernel\": \"k\", \"compare\": \"none\", "
               "\"grid\": [1], \"block\": [1], \"args\": []}]}");
  ProgramPaths paths;
  paths.cubin = KernelFile("vector_add.sm_89.cubin");
  paths.launches = folder("m.json");
  EXPECT_THAT(Message(CollectProgram(paths).status()), HasSubstr("a folder of cubins"));
  paths = {};
  paths.cubin_folder = folder.path();
  paths.launches = KernelFile("vector_add.json");
  EXPECT_THAT(Message(CollectProgram(paths).status()), HasSubstr("--cubin"));
}

TEST(LoadProgram, SelectsCasesInTheirOrderAndSharesModules) {
  Program program = KernelProgram("vector_add", absl::StrCat("{\"launches\": [", VectorAddLaunch("a", 64, 64),
                                                             ",", VectorAddLaunch("b", 128, 128), "]}"));
  program.cases = {"b", "a"};
  const auto loaded = LoadProgram(program);
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  ASSERT_EQ(loaded->launches.size(), 2u);
  EXPECT_EQ(loaded->launches[0].id, "b");
  EXPECT_EQ(loaded->launches[1].id, "a");
  ASSERT_EQ(loaded->modules.size(), 2u);
  EXPECT_EQ(loaded->modules[0], loaded->modules[1]);
}

TEST(LoadProgram, RefusesWhatThePackageDoesNotHold) {
  Program no_module = VectorAddProgram(64);
  no_module.modules.clear();
  EXPECT_EQ(LoadProgram(no_module).status().code(), absl::StatusCode::kNotFound);
  Program no_code = VectorAddProgram(64);
  no_code.arch = 90;
  EXPECT_THAT(Message(LoadProgram(no_code).status()), HasSubstr("sm_90"));
  Program no_case = VectorAddProgram(64);
  no_case.cases = {"ad"};
  EXPECT_THAT(Message(LoadProgram(no_case).status()), HasSubstr("add"));
  Program raw = KernelProgram("vector_add",
                              "{\"kernel\": \"vector_add\", \"grid\": [1], \"block\": [32], \"args\": "
                              "[{\"buffer\": \"x\", \"dtype\": "
                              "\"f32\", \"count\": 16, \"init\": \"file\", \"file\": \"/etc/hostname\"}]}");
  const absl::Status status = LoadProgram(raw).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound) << "no file of this machine is opened";
  EXPECT_THAT(Message(status), HasSubstr("/etc/hostname"));
}

}  // namespace
}  // namespace sm89
