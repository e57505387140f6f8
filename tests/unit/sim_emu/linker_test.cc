// Addresses that the linker fills in.
#include "sim/emu/linker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "tests/unit/sim_emu/code_builder.h"

namespace sm89::emu {
namespace {

constexpr uint64_t kGlobalsBase = 0x7e1000000000;

// Two global variables of one name, as two linked objects bring them, at 0 and 16.
cubin::Module TwoStrings() {
  CodeBuilder b;
  b.Exit();
  cubin::Module m = b.Build();
  m.globals.assign(32, 0);
  m.variables = {{.name = "$str", .offset = 0, .size_bytes = 8},
                 {.name = "$str", .offset = 16, .size_bytes = 8}};
  return m;
}

cubin::Relocation Pointer(uint32_t type, uint64_t at, uint64_t target, int64_t addend) {
  return {.offset = at,
          .type = type,
          .symbol = "$str",
          .addend = addend,
          .place = cubin::SymbolPlace::kGlobal,
          .target_offset = target};
}

uint64_t At(const std::vector<uint8_t>& bytes, size_t offset) {
  uint64_t value = 0;
  std::memcpy(&value, bytes.data() + offset, 8);
  return value;
}

TEST(LinkCode, PointersInGlobalMemoryGoByPlaceNotByName) {
  cubin::Module m = TwoStrings();
  m.global_relocations = {Pointer(cubin::kRelocGeneric64, 8, 16, 4), Pointer(cubin::kRelocAbs64, 24, 0, 0)};
  ConstantBanks banks;
  const auto linked = LinkCode(m, m.functions[0], {.globals_base = kGlobalsBase}, &banks);
  ASSERT_TRUE(linked.ok()) << linked.status();
  EXPECT_EQ(At(linked->globals, 8), kGlobalsBase + 20);
  EXPECT_EQ(At(linked->globals, 24), kGlobalsBase);
}

TEST(LinkCode, PointersInConstantMemoryAreFilledIn) {
  cubin::Module m = TwoStrings();
  m.functions[0].constant_relocations[3] = {Pointer(cubin::kRelocGeneric64, 0, 16, 8)};
  ConstantBanks banks;
  banks[3].assign(8, 0);
  const auto linked = LinkCode(m, m.functions[0], {.globals_base = kGlobalsBase}, &banks);
  ASSERT_TRUE(linked.ok()) << linked.status();
  EXPECT_EQ(At(banks[3], 0), kGlobalsBase + 24);
}

TEST(LinkCode, GenericAddressOfAConstantLiesInTheWindowOfItsBank) {
  cubin::Module m = TwoStrings();
  cubin::Relocation r = Pointer(cubin::kRelocGeneric64, 8, 16, 4);
  r.place = cubin::SymbolPlace::kConstant;
  r.target_index = 3;
  m.global_relocations = {r};
  ConstantBanks banks;
  const LinkValues values{.globals_base = kGlobalsBase, .constants_base = 0x7e2000000000};
  const auto linked = LinkCode(m, m.functions[0], values, &banks);
  ASSERT_TRUE(linked.ok()) << linked.status();
  EXPECT_EQ(At(linked->globals, 8), 0x7e2000000000u + 20);

  m.global_relocations[0].target_index = 2;  // a kernel's literals have no generic window
  const auto refused = LinkCode(m, m.functions[0], values, &banks);
  EXPECT_EQ(refused.status().code(), absl::StatusCode::kUnimplemented);
  EXPECT_THAT(std::string(refused.status().message()), testing::HasSubstr("only variables"));
}

// All kernels of a module share bank 4: one that prints must not stop the others.
TEST(LinkCode, FunctionsOfTheDriverGetAddressesWithoutCode) {
  cubin::Module m = TwoStrings();
  cubin::Relocation print{.offset = 8, .type = cubin::kRelocAbs64, .symbol = "vprintf"};
  cubin::Relocation fail{.offset = 0, .type = cubin::kRelocAbs64, .symbol = "__assertfail"};
  cubin::Relocation again{.offset = 16, .type = cubin::kRelocAbs64, .symbol = "vprintf"};
  m.functions[0].constant_relocations[4] = {print, fail, again};
  ConstantBanks banks;
  banks[4].assign(24, 0);
  const auto linked = LinkCode(m, m.functions[0], {.globals_base = kGlobalsBase}, &banks);
  ASSERT_TRUE(linked.ok()) << linked.status();
  EXPECT_EQ(linked->imports, (std::vector<std::string>{"vprintf", "__assertfail"}));
  EXPECT_EQ(At(banks[4], 0), kImportBase + 16);
  EXPECT_EQ(At(banks[4], 8), kImportBase);
  EXPECT_EQ(At(banks[4], 16), kImportBase);

  m.functions[0].code_relocations = {{.offset = 0, .type = cubin::kRelocCodeAbs47, .symbol = "vprintf"}};
  EXPECT_EQ(LinkCode(m, m.functions[0], {}, &banks).status().code(), absl::StatusCode::kUnimplemented);
}

}  // namespace
}  // namespace sm89::emu
