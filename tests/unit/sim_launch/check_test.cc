// Bounds of a launch and its arguments against the kernel's parameters.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "sim/base/fault.h"
#include "sim/launch/buffers.h"
#include "sim/launch/launch.h"

namespace sm89::launch {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// kernel(float* x, int n, double scale): parameters at 0, 8 and 16.
cubin::Function Kernel() {
  cubin::Function function;
  function.name = "scale";
  function.registers = 32;
  function.param_bytes = 24;
  function.params = {{0, 0, 8}, {1, 8, 4}, {2, 16, 8}};
  return function;
}

LaunchSpec Launch(const std::string& args) {
  const auto file = ParseLaunches(R"({"kernel":"scale","grid":[4],"block":[256],"args":[)" + args + "]}",
                                  {.name = "l.json"});
  EXPECT_TRUE(file.ok()) << file.status();
  return file->launches.at(0);
}

constexpr char kGoodArgs[] =
    R"({"buffer":"x","dtype":"f32","count":1024,"init":"zero"}, {"i32":1024}, {"f64":1.5})";

std::vector<std::string> FieldsOf(const absl::Status& status) {
  std::vector<std::string> fields;
  for (const Fault& fault : FaultsOf(status)) fields.push_back(fault.field);
  return fields;
}

TEST(CheckLaunch, TakesALaunchWithinAllBounds) {
  EXPECT_TRUE(CheckLaunch(Launch(kGoodArgs), Kernel(), 89).ok());
}

TEST(CheckLaunch, TheLargestGridAndBlockAreStillRight) {
  LaunchSpec launch = Launch(kGoodArgs);
  launch.grid = {0x7fffffff, 65535, 65535};
  launch.block = {1, 16, 64};
  EXPECT_TRUE(CheckLaunch(launch, Kernel(), 89).ok());
  launch.grid = {0x80000000, 65536, 65536};
  launch.block = {1, 1, 65};
  EXPECT_THAT(FieldsOf(CheckLaunch(launch, Kernel(), 89)),
              ElementsAre("grid[0]", "grid[1]", "grid[2]", "block[2]"));
}

TEST(CheckLaunch, ThreadsAreBoundedByHardwareLaunchBoundsAndRegisters) {
  LaunchSpec launch = Launch(kGoodArgs);
  launch.block = {1024, 1, 1};
  cubin::Function kernel = Kernel();
  EXPECT_TRUE(CheckLaunch(launch, kernel, 89).ok());
  kernel.registers = 64;
  EXPECT_TRUE(CheckLaunch(launch, kernel, 89).ok());  // 65,536 registers exactly
  kernel.registers = 65;                              // allocated as 72
  EXPECT_THAT(CheckLaunch(launch, kernel, 89).ToString(), HasSubstr("the block needs 73728"));
  kernel.registers = 32;
  kernel.max_threads = Dim3{512, 1, 1};
  EXPECT_THAT(CheckLaunch(launch, kernel, 89).ToString(), HasSubstr("launch bounds"));
  launch.block = {1024, 2, 1};
  EXPECT_THAT(CheckLaunch(launch, kernel, 89).ToString(), HasSubstr("'2048', expected at most 1024"));
}

TEST(CheckLaunch, SharedMemoryIsBoundedByTheArchitecture) {
  LaunchSpec launch = Launch(kGoodArgs);
  cubin::Function kernel = Kernel();
  kernel.static_shared_bytes = 1024;
  launch.dynamic_shared_bytes = 98 * 1024;
  EXPECT_TRUE(CheckLaunch(launch, kernel, 89).ok());
  launch.dynamic_shared_bytes = 98 * 1024 + 1;
  const absl::Status status = CheckLaunch(launch, kernel, 89);
  EXPECT_THAT(FieldsOf(status), ElementsAre("dynamic_smem"));
  EXPECT_THAT(FaultsOf(status)[0].expected, HasSubstr("at most 100352 bytes"));
  EXPECT_TRUE(CheckLaunch(launch, kernel, 90).ok());
  launch.dynamic_shared_bytes = 226 * 1024 + 1;
  EXPECT_FALSE(CheckLaunch(launch, kernel, 90).ok());
}

TEST(CheckLaunch, BuffersTogetherAreBounded) {
  LaunchSpec launch = Launch(kGoodArgs);
  EXPECT_TRUE(CheckLaunch(launch, Kernel(), 89, {.buffer_bytes = 4096}).ok());
  EXPECT_THAT(CheckLaunch(launch, Kernel(), 89, {.buffer_bytes = 4095}).ToString(),
              HasSubstr("'4096', expected at most 4095"));
  launch.buffers[0].count = uint64_t{1} << 44;  // no overflow on the way
  launch.buffers.resize(1 << 20, launch.buffers[0]);
  EXPECT_FALSE(CheckLaunch(launch, Kernel(), 89).ok());
}

TEST(CheckLaunch, ArgumentsOfAnotherSizeAreNamed) {
  const absl::Status status =
      CheckLaunch(Launch(R"({"i32":1}, {"name":"n","i64":1}, {"f64":1}, {"i32":2})"), Kernel(), 89);
  EXPECT_THAT(FieldsOf(status), ElementsAre("args", "args[0]", "args[1]"));
  const Fault n = FaultsOf(status)[2];
  EXPECT_THAT(n.message, HasSubstr("argument 1 (n)"));
  EXPECT_EQ(n.value, "i64, 8 bytes");
  EXPECT_EQ(n.expected, "4 bytes: i32, u32 or f32");
  EXPECT_EQ(n.line, 1u);
}

TEST(CheckLaunch, ParametersOutsideTheirBlockOrAlignmentAreTheCubinsFault) {
  cubin::Function kernel = Kernel();
  kernel.params[1].offset = 10;
  kernel.params[2].offset = 24;
  EXPECT_THAT(FieldsOf(CheckLaunch(Launch(kGoodArgs), kernel, 89)), ElementsAre("args[1]", "args[2]"));
}

TEST(PackParams, PutsEachArgumentAtItsOffset) {
  const LaunchSpec launch = Launch(kGoodArgs);
  AddressPlan plan;
  plan.buffers = {{0x7f1122334400, 4096}};
  const auto block = PackParams(Kernel(), launch, plan);
  ASSERT_TRUE(block.ok()) << block.status();
  EXPECT_THAT(*block, ElementsAre(0x00, 0x44, 0x33, 0x22, 0x11, 0x7f, 0, 0,  // x
                                  0x00, 0x04, 0, 0,                          // n
                                  0, 0, 0, 0,                                // padding
                                  0, 0, 0, 0, 0, 0, 0xf8, 0x3f));            // scale
}

TEST(PackParams, StructsTakeAddressesAtTheirSlots) {
  cubin::Function kernel = Kernel();
  kernel.param_bytes = 24;
  kernel.params = {{0, 0, 24}};
  LaunchSpec launch = Launch(
      R"({"bytes_hex":"0102030405060708090a0b0c0d0e0f101112131415161718","pointers":[{"offset":8,"ref":"x","add":16}]})"
      R"(,{"buffer":"x","dtype":"f32","count":1024,"init":"zero"})");
  EXPECT_FALSE(PackParams(kernel, launch, PlanAddresses(launch)).ok());  // one argument too many
  launch.args.pop_back();
  const auto block = PackParams(kernel, launch, PlanAddresses(launch));
  ASSERT_TRUE(block.ok()) << block.status();
  EXPECT_EQ((*block)[7], 8);
  EXPECT_EQ((*block)[16], 0x11);
  uint64_t address = 0;
  std::memcpy(&address, &(*block)[8], sizeof(address));
  EXPECT_EQ(address, PlanAddresses(launch).buffers[0].address + 16);
}

}  // namespace
}  // namespace sm89::launch
