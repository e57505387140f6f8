// Every cubin of the reference data, against what is known about it from elsewhere: the disassembler's
// listing, the driver's attributes, the sources. Skipped where the data is not there.
#include "tests/unit/sim_cubin/corpus.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "sim/cubin/reader.h"

namespace sm89::cubin {
namespace {

constexpr uint32_t kExit = 0x94d;  // EXIT, low twelve bits (listing)

uint32_t Opcode(const Function& function, size_t instruction) {
  return (function.code[instruction * 16] | function.code[instruction * 16 + 1] << 8) & 0xfff;
}

uint64_t Word(const Function& function, size_t byte) {
  uint64_t word = 0;
  for (size_t i = 0; i < 8; ++i) word |= uint64_t{function.code[byte + i]} << (8 * i);
  return word;
}

// Modules by the listing's name ("k01_vecadd", "compute.sm_89"), and the seven public ones.
const std::map<std::string, Module>& Corpus() {
  static const std::map<std::string, Module> corpus = [] {
    std::map<std::string, Module> modules;
    const auto add = [&](const std::string& name, const std::string& bytes) {
      auto module = ParseCubin(bytes, name);
      EXPECT_TRUE(module.ok()) << module.status();
      if (module.ok()) modules.emplace(name, *std::move(module));
    };
    for (const char* folder : {"sass/cubin", "silicon/cubin"}) {
      for (const auto& path : CubinsIn(Shared(folder))) add(path.stem(), ReadAll(path));
    }
    if (std::filesystem::exists(Shared("sass/public_sm89.tar.xz"))) {
      for (const auto& [name, bytes] : Unarchive(Shared("sass/public_sm89.tar.xz"))) {
        if (name.ends_with(".cubin")) add("public/" + name.substr(name.rfind('/') + 1), bytes);
      }
    }
    return modules;
  }();
  return corpus;
}

class CubinCorpus : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(Shared("sass/cubin"))) GTEST_SKIP() << "there is no ../shared/sass/cubin";
  }
};

TEST_F(CubinCorpus, EveryFileIsRead) {
  const size_t files = CubinsIn(Shared("sass/cubin")).size() + CubinsIn(Shared("silicon/cubin")).size() + 7;
  EXPECT_EQ(Corpus().size(), files);
  for (const auto& [name, module] : Corpus()) {
    EXPECT_EQ(module.arch, name.ends_with("sm_90") ? 90u : 89u) << name;
    const bool is_public = name.starts_with("public/");
    EXPECT_EQ(module.abi_version, is_public ? 7u : 8u) << name;
    // The public ones are of CUDA 11.8 and 12.1.
    EXPECT_EQ(module.toolkit, !is_public                               ? "13.0"
                              : name.find("mhca") != std::string::npos ? "12.1"
                                                                       : "11.8")
        << name;
    EXPECT_FALSE(module.functions.empty()) << name;
  }
}

// The disassembler found the same functions with the same instructions.
TEST_F(CubinCorpus, FunctionsAndCodeEqualTheListing) {
  if (!std::filesystem::exists(Shared("sass/listing.tsv.xz"))) GTEST_SKIP() << "no listing";
  std::istringstream listing(Unarchive(Shared("sass/listing.tsv.xz"))["data"]);
  std::map<std::string, std::map<std::string, size_t>> rows;  // cubin -> function -> instructions
  size_t wrong_words = 0;
  std::string line;
  std::getline(listing, line);
  while (std::getline(listing, line)) {
    std::istringstream fields(line);
    std::string cubin;
    std::string name;
    std::string offset;
    std::string low;
    std::string high;
    fields >> cubin >> name >> offset >> low >> high;
    ++rows[cubin][name];
    const auto module = Corpus().find(cubin);
    const Function* function = module == Corpus().end() ? nullptr : module->second.Find(name);
    const size_t at = std::stoull(offset, nullptr, 16);
    const bool is_equal = function != nullptr && at + 16 <= function->code.size() &&
                          Word(*function, at) == std::stoull(low, nullptr, 16) &&
                          Word(*function, at + 8) == std::stoull(high, nullptr, 16);
    if (!is_equal && ++wrong_words < 5) ADD_FAILURE() << cubin << " " << name << " " << offset;
  }
  EXPECT_EQ(wrong_words, 0u);
  for (const auto& [cubin, functions] : rows) {
    const auto module = Corpus().find(cubin);
    ASSERT_NE(module, Corpus().end()) << cubin;
    EXPECT_EQ(module->second.functions.size(), functions.size()) << cubin;
    for (const Function& function : module->second.functions) {
      const auto found = functions.find(function.name);
      ASSERT_NE(found, functions.end()) << cubin << " " << function.name;
      EXPECT_EQ(function.num_instructions(), found->second) << cubin << " " << function.name;
    }
  }
  EXPECT_EQ(rows.size(), 101u);
}

TEST_F(CubinCorpus, ExitOffsetsAreTheExitInstructions) {
  size_t kernels = 0;
  for (const auto& [name, module] : Corpus()) {
    for (const Function& function : module.functions) {
      if (!function.is_kernel) continue;
      ++kernels;
      std::vector<uint32_t> exits;
      for (size_t i = 0; i < function.num_instructions(); ++i) {
        if (Opcode(function, i) == kExit) exits.push_back(static_cast<uint32_t>(i * 16));
      }
      auto said = function.exit_offsets;
      std::sort(said.begin(), said.end());
      EXPECT_EQ(said, exits) << name << " " << function.name;
    }
  }
  EXPECT_GT(kernels, 1200u);
}

TEST_F(CubinCorpus, ParametersFillTheirBank) {
  size_t with_parameters = 0;
  for (const auto& [name, module] : Corpus()) {
    for (const Function& function : module.functions) {
      if (!function.is_kernel) continue;
      const std::string what = name + " " + function.name;
      uint32_t end = 0;
      for (size_t i = 0; i < function.params.size(); ++i) {
        EXPECT_EQ(function.params[i].ordinal, i) << what;
        EXPECT_GE(function.params[i].offset, end) << what;
        end = function.params[i].offset + function.params[i].size_bytes;
      }
      EXPECT_EQ(end, function.param_bytes) << what;
      if (function.param_bytes == 0) continue;
      ++with_parameters;
      EXPECT_EQ(function.param_base, module.arch == 90 ? 0x210u : 0x160u) << what;
      ASSERT_TRUE(function.constants.contains(0)) << what;
      EXPECT_EQ(function.constants.at(0).size(), function.param_base + function.param_bytes) << what;
    }
  }
  EXPECT_GT(with_parameters, 1200u);
}

TEST_F(CubinCorpus, RegistersAndSharedMemoryEqualTheDriversOnSm90) {
  if (!std::filesystem::exists(Shared("silicon/suite.json"))) GTEST_SKIP() << "no silicon suite";
  const auto suite = nlohmann::json::parse(ReadAll(Shared("silicon/suite.json")));
  const auto runs = nlohmann::json::parse(ReadAll(Shared("silicon/measured/h200_runs.json")));
  size_t compared = 0;
  for (const auto& launch : suite["cases"]) {
    const auto& run = runs.at(launch["id"].get<std::string>());
    const Module& module = Corpus().at(launch["module"].get<std::string>() + ".sm_90");
    const Function* function = module.Find(launch["kernel"]);
    ASSERT_NE(function, nullptr) << launch["kernel"];
    EXPECT_EQ(function->registers, run["regs"].get<uint32_t>()) << launch["id"];
    EXPECT_EQ(function->static_shared_bytes, run["smem"].get<uint32_t>()) << launch["id"];
    EXPECT_EQ(function->reserved_shared_bytes, 1024u);
    ++compared;
  }
  EXPECT_EQ(compared, 125u);
}

TEST_F(CubinCorpus, LineTablesCoverTheCodeAndStayInTheSources) {
  size_t files = 0;
  for (const auto& [name, module] : Corpus()) {
    const bool is_silicon = name.ends_with(".sm_89") || name.ends_with(".sm_90");
    const bool has_lines = name.ends_with("_li") || (is_silicon && !name.starts_with("micro2."));
    if (!has_lines) continue;
    ++files;
    const std::string source = ReadAll(Shared("silicon/src/" + name.substr(0, name.find('.')) + ".cu"));
    const auto source_lines = static_cast<size_t>(std::count(source.begin(), source.end(), '\n'));
    EXPECT_EQ(is_silicon, source_lines > 0) << name;
    const auto ptx_lines = static_cast<size_t>(std::count(module.ptx.begin(), module.ptx.end(), '\n'));
    EXPECT_GT(ptx_lines, 10u) << name;
    size_t all = 0;
    size_t known = 0;
    for (const Function& function : module.functions) {
      ASSERT_EQ(function.lines.size(), function.num_instructions()) << name << " " << function.name;
      ASSERT_EQ(function.ptx_lines.size(), function.num_instructions()) << name << " " << function.name;
      for (size_t i = 0; i < function.lines.size(); ++i) {
        ++all;
        known += function.lines[i].line != 0 && function.ptx_lines[i].line != 0 ? 1 : 0;
        ASSERT_LT(function.lines[i].file, module.files.size());
        EXPECT_LE(function.ptx_lines[i].line, ptx_lines) << name << " " << function.name;
        const bool is_own = is_silicon && module.files[function.lines[i].file].ends_with(".cu");
        if (is_own) {
          EXPECT_LE(function.lines[i].line, source_lines) << name << " " << function.name;
        }
      }
    }
    EXPECT_GE(static_cast<double>(known), 0.99 * static_cast<double>(all)) << name;
  }
  EXPECT_EQ(files, 30u + 10u);
}

TEST_F(CubinCorpus, PtxLinesAreThoseOfTheInstructions) {
  const Module& module = Corpus().at("memory.sm_89");
  std::vector<std::string> ptx = {""};
  for (std::istringstream in(module.ptx); in;) std::getline(in, ptx.emplace_back());
  // Names read off the listing: stores to global memory, 16-byte loads through L1, barriers.
  const std::map<uint32_t, std::string> expected = {{0x986, "st.global"}, {0xb1d, "bar.sync"}};
  size_t compared = 0;
  for (const Function& function : module.functions) {
    for (size_t i = 0; i < function.num_instructions(); ++i) {
      const auto found = expected.find(Opcode(function, i));
      if (found == expected.end()) continue;
      ++compared;
      EXPECT_THAT(ptx.at(function.ptx_lines[i].line), ::testing::HasSubstr(found->second)) << function.name;
    }
  }
  EXPECT_GT(compared, 10u);
}

TEST_F(CubinCorpus, IndirectBranchesAreBrxWithTheirTableInBank2) {
  const Function* sw = Corpus().at("k15_switch").Find("sw");
  ASSERT_NE(sw, nullptr);
  EXPECT_EQ(sw->indirect_branches.size(), 4u);
  std::vector<uint32_t> words;
  const auto& table = sw->constants.at(2);
  for (size_t i = 0; i + 4 <= table.size(); i += 4) {
    words.push_back(table[i] | table[i + 1] << 8 | table[i + 2] << 16 | uint32_t{table[i + 3]} << 24);
  }
  size_t targets = 0;
  for (const IndirectBranch& branch : sw->indirect_branches) {
    targets += branch.targets.size();
    EXPECT_EQ(Opcode(*sw, branch.offset / 16), 0x949u);
    EXPECT_NE(std::search(words.begin(), words.end(), branch.targets.begin(), branch.targets.end()),
              words.end())
        << "the targets stand in the table in this order";
  }
  EXPECT_EQ(targets, words.size());
}

TEST_F(CubinCorpus, RecursionHasNoKnownStack) {
  const Module& module = Corpus().at("k16_calls_G");
  EXPECT_TRUE(module.Find("calls")->stack_unbounded) << "it calls fib";
  EXPECT_EQ(module.Find("calls")->stack_bytes, 0u);
  EXPECT_FALSE(module.Find("virt")->stack_unbounded);
  EXPECT_GT(module.Find("virt")->stack_bytes, 0u);
}

TEST_F(CubinCorpus, CalleesLieInTheirKernelsAndOffsetsAreInstructions) {
  size_t callees = 0;
  for (const auto& [name, module] : Corpus()) {
    for (const Function& function : module.functions) {
      for (const CodeSymbol& symbol : function.symbols) {
        ++callees;
        EXPECT_EQ(symbol.offset % 16, 0u) << name << " " << symbol.name;
        EXPECT_GT(symbol.size_bytes, 0u) << name << " " << symbol.name;
      }
      for (const Relocation& relocation : function.code_relocations) {
        EXPECT_EQ(relocation.offset % 16, 0u) << name;
      }
    }
  }
  EXPECT_GT(callees, 100u);
}

}  // namespace
}  // namespace sm89::cubin
