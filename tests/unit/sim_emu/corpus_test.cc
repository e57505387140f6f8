// Kernels that ptxas made from our own sources: cooperative grids, mbarriers, and the same source compiled
// in different ways.
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <string>

#include "sim/cubin/reader.h"
#include "sim/emu/emulator.h"
#include "tests/unit/sim_emu/code_builder.h"

namespace sm89::emu {
namespace {

const std::string& Folder() {
  static const std::string folder = std::string(SM89_SOURCE_DIR) + "/../shared/sass/cubin/";
  return folder;
}

bool Have() { return std::filesystem::exists(Folder()); }

cubin::Module Open(const std::string& name) {
  auto module = cubin::OpenCubin(Folder() + name + ".cubin", 89);
  EXPECT_TRUE(module.ok()) << module.status();
  return module.ok() ? *std::move(module) : cubin::Module{};
}

// Pointers become FP32 buffers of numbers in [1, 2), words become 16.
launch::LaunchSpec LaunchOf(const cubin::Function& f) {
  launch::LaunchSpec s;
  s.id = s.kernel = f.name;
  s.grid = {1, 1, 1};
  s.block = {32, 1, 1};
  s.dynamic_shared_bytes = 4096;
  for (const cubin::KernelParam& p : f.params) {
    launch::Arg arg{.name = "#" + std::to_string(p.ordinal), .bytes = std::vector<uint8_t>(p.size_bytes)};
    if (p.size_bytes == 8) {
      launch::BufferSpec b{.name = arg.name, .type = launch::DataType::kF32, .count = 65536};
      b.generator = {.init = launch::Init::kUniform, .seed = p.ordinal + 1, .lo = 1, .hi = 2};
      arg.pointers.push_back({.offset = 0, .buffer = static_cast<uint32_t>(s.buffers.size())});
      s.buffers.push_back(b);
    } else if (p.size_bytes == 4) {
      arg.bytes[0] = 16;
    }
    s.args.push_back(arg);
  }
  return s;
}

struct Ran {
  absl::Status status;
  std::vector<std::vector<uint8_t>> buffers;
};

Ran RunIt(const cubin::Module& m, const launch::LaunchSpec& launch, const EmuOptions& options = {}) {
  auto emulator = Emulator::Create(m, launch, options);
  if (!emulator.ok()) return {emulator.status(), {}};
  Ran ran{(*emulator)->RunAll(nullptr), {}};
  for (size_t i = 0; i < launch.buffers.size(); ++i) {
    ran.buffers.emplace_back((*emulator)->buffer(i).begin(), (*emulator)->buffer(i).end());
  }
  return ran;
}

// Every build of a source gives the same bytes: with and without optimisation, line information, debug code,
// functions in sections of their own. Kernels that our arguments send out of bounds are left out.
TEST(Corpus, BuildsOfOneSourceAgree) {
  if (!Have()) GTEST_SKIP() << "no ../shared/sass next to the repository";
  const std::map<std::string, std::vector<std::string>> builds = {{"k01_vecadd", {"_li"}},
                                                                  {"k02_reduce", {"_G", "_O0", "_li"}},
                                                                  {"k03_sgemm", {"_O0", "_li"}},
                                                                  {"k07_mma_f16", {"_O0"}},
                                                                  {"k09_mma_fp8", {"_O0"}},
                                                                  {"k15_switch", {"_O0"}},
                                                                  {"k16_calls", {"_G", "_O0", "_rdc"}},
                                                                  {"k17_bits", {"_O0"}},
                                                                  {"k19_conv", {"_O0"}},
                                                                  {"k21_warp", {"_O0"}},
                                                                  {"k24_const", {"_G", "_O0"}},
                                                                  {"k25_local", {"_O0"}},
                                                                  {"k26_int", {"_O0"}},
                                                                  {"k27_mem", {"_O0"}}};
  int compared = 0;
  for (const auto& [name, others] : builds) {
    const cubin::Module base = Open(name);
    std::vector<cubin::Module> modules;
    for (const std::string& other : others) modules.push_back(Open(name + other));
    for (const cubin::Function& f : base.functions) {
      if (!f.is_kernel) continue;
      SCOPED_TRACE(name + " " + f.name);
      const launch::LaunchSpec launch = LaunchOf(f);
      const Ran first = RunIt(base, launch, {.max_warp_instructions = 1000000});
      if (!first.status.ok()) continue;
      for (const cubin::Module& m : modules) {
        SCOPED_TRACE(m.name);
        const Ran second = RunIt(m, launch, {.max_warp_instructions = 1000000});
        ASSERT_TRUE(second.status.ok()) << second.status;
        EXPECT_EQ(first.buffers, second.buffers);
        ++compared;
      }
    }
  }
  EXPECT_GT(compared, 60);
}

TEST(Corpus, MbarrierHandsDataOver) {
  if (!Have()) GTEST_SKIP() << "no ../shared/sass next to the repository";
  const cubin::Module m = Open("k22_barriers");
  launch::LaunchSpec launch = LaunchOf(*m.Find("mbar"));
  launch.block = {64, 1, 1};
  launch.args.back().bytes = {64, 0, 0, 0};
  const Ran ran = RunIt(m, launch, {.max_warp_instructions = 1000000});
  ASSERT_TRUE(ran.status.ok()) << ran.status;
  const std::vector<uint32_t> in = Words(ran.buffers[0]), out = Words(ran.buffers[1]);
  for (uint32_t i = 0; i < 64; ++i) {
    EXPECT_EQ(out[i], in[i ^ 1]) << i;              // stored by a thread, ATOMS.ARRIVE
    EXPECT_EQ(out[64 + i], in[64 + (i ^ 3)]) << i;  // copied by LDGSTS, ARRIVES.LDGSTSBAR
  }
}

TEST(Corpus, CooperativeGridMeetsAtItsBarrier) {
  if (!Have()) GTEST_SKIP() << "no ../shared/sass next to the repository";
  const cubin::Module m = Open("k21_warp");
  launch::LaunchSpec launch = LaunchOf(*m.Find("gsync"));
  launch.grid = {8, 1, 1};
  launch.block = {64, 1, 1};
  EXPECT_FALSE(RunIt(m, launch).status.ok());  // not launched as a cooperative one: the kernel traps
  launch.cooperative = true;
  const Ran ran = RunIt(m, launch, {.max_warp_instructions = 10000000});
  ASSERT_TRUE(ran.status.ok()) << ran.status;
  EXPECT_EQ(ran.buffers, RunIt(m, launch).buffers);
}

TEST(Corpus, CooperativeGridThatDoesNotFitIsRefused) {
  if (!Have()) GTEST_SKIP() << "no ../shared/sass next to the repository";
  const cubin::Module m = Open("k21_warp");
  launch::LaunchSpec launch = LaunchOf(*m.Find("gsync"));
  launch.grid = {9, 1, 1};
  launch.cooperative = true;
  const Ran ran = RunIt(m, launch, {.resident_ctas = 8});
  EXPECT_EQ(ran.status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(ran.status.message(), "a cooperative launch of 9 CTAs: all have to be resident at once, 8 fit");
}

TEST(Corpus, TexturesAreRefusedByNameWithPlaces) {
  if (!Have()) GTEST_SKIP() << "no ../shared/sass next to the repository";
  const cubin::Module m = Open("k23_tex");
  launch::LaunchSpec launch = LaunchOf(*m.Find("tex"));
  const absl::Status status = RunIt(m, launch).status;
  EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented);
  EXPECT_NE(status.message().find("TEX.SCR.LL (textures and surfaces are not emulated)"), std::string::npos);
  EXPECT_NE(status.message().find("tex+0x"), std::string::npos);
}

}  // namespace
}  // namespace sm89::emu
