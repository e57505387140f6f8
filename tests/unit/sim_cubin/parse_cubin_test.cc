// What a cubin of our own says (tests/data/cubin/kernels.cu), each fact known from the source.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/cubin/reader.h"
#include "tests/unit/sim_cubin/corpus.h"

namespace sm89::cubin {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;

Module Parse(const std::string& fixture) {
  const std::string bytes = ReadAll(Fixture(fixture));
  auto module = ParseCubin(bytes, fixture);
  EXPECT_TRUE(module.ok()) << module.status();
  return module.ok() ? *std::move(module) : Module();
}

const Function& Kernel(const Module& module, const std::string& name) {
  static const Function none;
  const Function* function = module.Find(name);
  EXPECT_NE(function, nullptr) << name;
  return function == nullptr ? none : *function;
}

const Variable& Named(const Module& module, const std::string& name) {
  static const Variable none;
  for (const Variable& variable : module.variables) {
    if (variable.name == name) return variable;
  }
  ADD_FAILURE() << "no variable " << name;
  return none;
}

TEST(ParseCubin, SaysWhatTheFileIs) {
  const Module module = Parse("kernels.cubin");
  EXPECT_EQ(module.name, "kernels.cubin");
  EXPECT_EQ(module.arch, 89u);
  EXPECT_EQ(module.abi_version, 8u);
  EXPECT_EQ(module.toolkit, "13.0");
  EXPECT_FALSE(module.relocatable);
  EXPECT_EQ(module.functions.size(), 3u);
  for (const Function& function : module.functions) {
    EXPECT_TRUE(function.is_kernel) << function.name;
    EXPECT_GT(function.num_instructions(), 10u) << function.name;
  }
}

TEST(ParseCubin, GivesParametersByOrdinalWithTheLayoutOfC) {
  const Module module = Parse("kernels.cubin");
  const Function& pick = Kernel(module, "pick");  // float*, char, double, short
  EXPECT_EQ(pick.param_base, 0x160u);
  EXPECT_EQ(pick.param_bytes, 26u);
  std::vector<std::vector<uint32_t>> params;
  for (const KernelParam& p : pick.params) params.push_back({p.ordinal, p.offset, p.size_bytes});
  EXPECT_THAT(params, ElementsAre(ElementsAre(0, 0, 8), ElementsAre(1, 8, 1), ElementsAre(2, 16, 8),
                                  ElementsAre(3, 24, 2)));
  ASSERT_TRUE(pick.constants.contains(0));
  EXPECT_EQ(pick.constants.at(0).size(), 0x160u + 26);
}

TEST(ParseCubin, GivesResources) {
  const Module module = Parse("kernels.cubin");
  const Function& reverse = Kernel(module, "reverse");
  EXPECT_EQ(reverse.static_shared_bytes, 64u * 4);
  EXPECT_EQ(reverse.reserved_shared_bytes, 0u);
  EXPECT_EQ(reverse.num_barriers, 1u);
  EXPECT_EQ(reverse.local_bytes, 0u);
  EXPECT_FALSE(reverse.max_threads.has_value());
  EXPECT_EQ(reverse.max_registers, 0u) << "no -maxrregcount";

  const Function& pick = Kernel(module, "pick");
  EXPECT_GE(pick.local_bytes, 16u * 4) << "the table is indexed at run time";
  EXPECT_EQ(pick.stack_bytes, pick.local_bytes);
  EXPECT_FALSE(pick.stack_unbounded);
  EXPECT_EQ(pick.num_barriers, 0u);

  EXPECT_EQ(Kernel(module, "collatz").max_threads, (Dim3{128, 1, 1})) << "__launch_bounds__(128)";
}

TEST(ParseCubin, TellsExactBlocksFromLargestOnes) {
  const Module module = Parse("bounds.cubin");
  const Function& exact = Kernel(module, "exact");
  EXPECT_EQ(exact.max_threads, (Dim3{64, 2, 1}));
  EXPECT_TRUE(exact.threads_exact);
  const Function& at_most = Kernel(module, "at_most");
  EXPECT_EQ(at_most.max_threads, (Dim3{32, 4, 1}));
  EXPECT_FALSE(at_most.threads_exact);
  EXPECT_EQ(at_most.max_registers, 128u) << "four CTAs of 128 threads in 65,536 registers";
  EXPECT_EQ(at_most.param_base, 0x160u) << "though there are none";
  EXPECT_EQ(at_most.param_bytes, 0u);
}

TEST(ParseCubin, ReadsSm90) {
  const Module module = Parse("kernels_sm90.cubin");
  EXPECT_EQ(module.arch, 90u);
  const Function& reverse = Kernel(module, "reverse");
  EXPECT_EQ(reverse.static_shared_bytes, 256u);
  EXPECT_EQ(reverse.reserved_shared_bytes, 1024u);
  EXPECT_EQ(reverse.param_base, 0x210u);
  EXPECT_EQ(reverse.max_registers, 40u) << "-maxrregcount=40";
  for (const auto& [bank, relocations] : Kernel(module, "pick").constant_relocations) {
    EXPECT_FALSE(relocations.empty()) << bank;
  }
}

TEST(ParseCubin, GivesCalleesInsideTheirKernel) {
  const Module module = Parse("kernels.cubin");
  const Function& collatz = Kernel(module, "collatz");
  ASSERT_EQ(collatz.symbols.size(), 1u);
  EXPECT_EQ(collatz.symbols[0].name, "$collatz$_Z5stepsi");
  EXPECT_GT(collatz.symbols[0].offset, 0u);
  EXPECT_EQ(collatz.symbols[0].offset % 16, 0u);
  EXPECT_LE(collatz.symbols[0].offset + collatz.symbols[0].size_bytes, collatz.code.size());
}

TEST(ParseCubin, GivesIndirectBranchesWithTargetsInTheCode) {
  const Module module = Parse("kernels.cubin");
  const Function& pick = Kernel(module, "pick");
  ASSERT_EQ(pick.indirect_branches.size(), 2u);
  for (const IndirectBranch& branch : pick.indirect_branches) {
    EXPECT_GE(branch.targets.size(), 3u);
    // BRX, opcode 0x949 in the low twelve bits.
    EXPECT_EQ((pick.code[branch.offset] | pick.code[branch.offset + 1] << 8) & 0xfff, 0x949);
    for (const uint32_t target : branch.targets) EXPECT_EQ(target % 16, 0u);
  }
  // The tables themselves are literals of the kernel.
  EXPECT_EQ(pick.constants.at(2).size(), 40u);
}

TEST(ParseCubin, GivesVariablesWithTheirFirstValues) {
  const Module module = Parse("kernels.cubin");
  const Variable& limits = Named(module, "limits");
  EXPECT_FALSE(limits.in_constant);
  ASSERT_EQ(limits.size_bytes, 12u);
  const auto at = module.globals.begin() + static_cast<ptrdiff_t>(limits.offset);
  EXPECT_EQ(std::vector<uint8_t>(at, at + 12), (std::vector<uint8_t>{7, 0, 0, 0, 11, 0, 0, 0, 13, 0, 0, 0}));
  const Variable& counter = Named(module, "counter");
  EXPECT_EQ(counter.size_bytes, 4u);
  EXPECT_GE(counter.offset, limits.offset + 12) << "zeros come after what has a value";
  EXPECT_LE(counter.offset + 4, module.globals.size());
  const Variable& offsets = Named(module, "offsets");
  EXPECT_TRUE(offsets.in_constant);
  EXPECT_EQ(offsets.size_bytes, 32u);
  EXPECT_EQ(module.constant3[offsets.offset + 4], 2);
}

TEST(ParseCubin, RelocationsSayWhatTheyPointTo) {
  const Module module = Parse("kernels.cubin");
  // int* where = &limits[1]
  ASSERT_EQ(module.global_relocations.size(), 1u);
  const Relocation& pointer = module.global_relocations[0];
  EXPECT_EQ(pointer.type, kRelocGeneric64);
  EXPECT_EQ(pointer.offset, Named(module, "where").offset);
  EXPECT_EQ(pointer.symbol, "limits");
  EXPECT_EQ(pointer.place, SymbolPlace::kGlobal);
  EXPECT_EQ(pointer.target_offset, Named(module, "limits").offset);
  EXPECT_EQ(pointer.addend, 4);

  // The kernels load addresses of variables from bank 4.
  const Function& reverse = Kernel(module, "reverse");
  std::map<std::string, uint64_t> places;
  for (const Relocation& relocation : reverse.constant_relocations.at(4)) {
    places[relocation.symbol] = relocation.target_offset;
    EXPECT_LE(relocation.offset + 8, reverse.constants.at(4).size());
  }
  ASSERT_TRUE(places.contains("counter"));
  EXPECT_EQ(places["counter"], Named(module, "counter").offset);
}

TEST(ParseCubin, ReadsRelocatableObjects) {
  const Module module = Parse("kernels_rdc.cubin");
  EXPECT_TRUE(module.relocatable);
  const Function& steps = Kernel(module, "_Z5stepsi");
  EXPECT_FALSE(steps.is_kernel);
  const Function& collatz = Kernel(module, "collatz");
  EXPECT_TRUE(collatz.is_kernel);
  bool calls_steps = false;
  for (const Relocation& relocation : collatz.code_relocations) {
    EXPECT_LT(relocation.offset, collatz.code.size());
    if (relocation.type != kRelocCodeAbs47) continue;
    calls_steps = calls_steps || relocation.symbol == "_Z5stepsi";
    EXPECT_EQ(relocation.place, SymbolPlace::kFunction);
    EXPECT_EQ(module.functions.at(relocation.target_index).name, relocation.symbol);
  }
  EXPECT_TRUE(calls_steps);
}

TEST(ParseCubin, GivesSourceAndPtxLines) {
  const Module module = Parse("kernels.cubin");
  const Function& collatz = Kernel(module, "collatz");
  ASSERT_EQ(collatz.lines.size(), collatz.num_instructions());
  ASSERT_EQ(collatz.ptx_lines.size(), collatz.num_instructions());
  std::vector<std::string> source = {""};
  for (std::ifstream in(Fixture("kernels.cu")); in;) std::getline(in, source.emplace_back());
  std::vector<std::string> ptx = {""};
  for (std::istringstream in(module.ptx); in;) std::getline(in, ptx.emplace_back());
  bool saw_callee = false;
  for (size_t i = 0; i < collatz.num_instructions(); ++i) {
    ASSERT_THAT(module.files.at(collatz.lines[i].file), EndsWith("/kernels.cu"));
    ASSERT_LT(collatz.lines[i].line, source.size());
    ASSERT_LT(collatz.ptx_lines[i].line, ptx.size());
    const uint32_t opcode = (collatz.code[i * 16] | collatz.code[i * 16 + 1] << 8) & 0xfff;
    const std::string& at = source[collatz.lines[i].line];
    if (opcode == 0x986) {  // STG
      EXPECT_THAT(at, HasSubstr("out[i] ="));
      EXPECT_THAT(ptx[collatz.ptx_lines[i].line], HasSubstr("st.global"));
    }
    saw_callee = saw_callee || at.find("n / 2") != std::string::npos;
  }
  EXPECT_TRUE(saw_callee) << "lines of the function that was not inlined";
}

}  // namespace
}  // namespace sm89::cubin
