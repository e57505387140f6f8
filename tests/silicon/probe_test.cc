// The emulator against what an H200 computed: 767 kernels of one PTX instruction each (tests/data/probe).
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <map>
#include <memory>
#include <sstream>

#include "absl/strings/match.h"
#include "absl/strings/str_format.h"
#include "sim/cubin/reader.h"
#include "sim/emu/emulator.h"
#include "tests/data/probe/probe_inputs.h"
#include "tests/support/xz_file.h"

namespace sm89 {
namespace {

constexpr char kFolder[] = SM89_SOURCE_DIR "/tests/data/probe/";

struct Probe {
  std::string kernel, inputs;
  std::vector<uint64_t> expected;
};

std::vector<Probe> AllProbes() {
  std::vector<Probe> probes;
  std::ifstream list(std::string(kFolder) + "probes.txt");
  const std::string results = test::ReadXz(std::string(kFolder) + "h200_results.bin.xz");
  size_t at = 0;
  Probe probe;
  while (list >> probe.kernel >> probe.inputs) {
    probe.expected.resize(static_cast<size_t>(probe::OutWords(probe.inputs)));
    if (at + 8 * probe.expected.size() > results.size()) return {};
    std::memcpy(probe.expected.data(), results.data() + at, 8 * probe.expected.size());
    at += 8 * probe.expected.size();
    probes.push_back(probe);
  }
  return at == results.size() ? probes : std::vector<Probe>();
}

launch::BufferSpec Buffer(const std::string& name, const std::vector<uint64_t>& words) {
  launch::BufferSpec buffer;
  buffer.name = name;
  buffer.type = launch::DataType::kU64;
  buffer.count = words.size();
  buffer.generator.init = launch::Init::kFile;
  buffer.generator.content =
      std::make_shared<const std::string>(reinterpret_cast<const char*>(words.data()), 8 * words.size());
  buffer.output = true;
  return buffer;
}

launch::LaunchSpec LaunchOf(const Probe& probe) {
  const probe::Inputs in = probe::MakeInputs(probe.inputs);
  launch::LaunchSpec spec;
  spec.id = spec.kernel = probe.kernel;
  spec.grid = {probe::kThreads / 256, 1, 1};
  spec.block = {256, 1, 1};
  spec.buffers = {Buffer("a", in.a), Buffer("b", in.b), Buffer("c", in.c),
                  Buffer("out", std::vector<uint64_t>(probe::kWords))};
  for (uint32_t i = 0; i < spec.buffers.size(); ++i) {
    launch::Arg arg;
    arg.name = spec.buffers[i].name;
    arg.type = "buffer";
    arg.bytes.resize(8);
    arg.pointers = {{.offset = 0, .buffer = i, .add_bytes = 0}};
    spec.args.push_back(arg);
  }
  return spec;
}

absl::StatusOr<std::vector<uint64_t>> Emulate(const cubin::Module& module, const Probe& probe) {
  auto emulator = emu::Emulator::Create(module, LaunchOf(probe), {});
  if (!emulator.ok()) return emulator.status();
  const absl::Status status = (*emulator)->RunAll(nullptr);
  if (!status.ok()) return status;
  std::vector<uint64_t> out(probe.expected.size());
  std::memcpy(out.data(), (*emulator)->buffer(3).data(), 8 * out.size());
  return out;
}

// The tensor cores of Ada and Hopper add with other widths (sim/num/README.md): sm_89 code computes Ada's
// sums.
bool IsFloatTensor(const std::string& kernel) {
  return absl::StartsWith(kernel, "mma_") &&
         (absl::EndsWith(kernel, "_f32") || kernel == "mma_f16_16816_f16");
}

bool IsApproximate(const std::string& kernel, uint32_t arch) {
  return absl::StrContains(kernel, "_approx") || (arch == 89 && IsFloatTensor(kernel));
}

// What one probe's results look like beside silicon's.
struct Comparison {
  size_t different = 0;
  size_t first = 0;
};

Comparison Compare(const std::vector<uint64_t>& got, const std::vector<uint64_t>& expected) {
  Comparison c;
  for (size_t i = 0; i < got.size(); ++i) {
    if (got[i] == expected[i]) continue;
    if (c.different++ == 0) c.first = i;
  }
  return c;
}

std::string Describe(const Probe& probe, const std::vector<uint64_t>& got, const Comparison& c) {
  const probe::Inputs in = probe::MakeInputs(probe.inputs);
  const size_t i = c.first;
  return absl::StrFormat(
      "%s: %d of %d differ; first at %d: a %016x b %016x c %016x gives %016x, silicon %016x", probe.kernel,
      c.different, got.size(), i, in.a[i], in.b[i], in.c[i], got[i], probe.expected[i]);
}

class ProbeTest : public testing::TestWithParam<uint32_t> {};

TEST_P(ProbeTest, EveryExactInstructionGivesSiliconsBits) {
  const std::vector<Probe> probes = AllProbes();
  ASSERT_EQ(probes.size(), 767u);
  const std::string name = absl::StrFormat("probe.sm_%d.cubin", GetParam());
  const std::string bytes = test::ReadXz(kFolder + name + ".xz");
  const auto module = cubin::ParseCubin(bytes, name);
  ASSERT_TRUE(module.ok()) << module.status();
  size_t equal = 0, compared = 0;
  for (const Probe& probe : probes) {
    if (IsApproximate(probe.kernel, GetParam())) continue;
    const auto got = Emulate(*module, probe);
    ++compared;
    if (!got.ok()) {
      ADD_FAILURE() << probe.kernel << ": " << got.status();
      continue;
    }
    const Comparison c = Compare(*got, probe.expected);
    equal += c.different == 0 ? 1 : 0;
    EXPECT_EQ(c.different, 0u) << Describe(probe, *got, c);
  }
  std::cout << equal << " of " << compared << " probes equal to silicon\n";
}

float AsFloat(uint32_t bits) { return std::bit_cast<float>(bits); }

// Both NaN, the same infinity, or no further apart than `relative` of silicon's value or `absolute`.
bool IsClose(float got, float silicon, double relative, double absolute) {
  if (std::isnan(silicon)) return std::isnan(got);
  if (std::isinf(silicon)) return got == silicon;
  const double distance = std::fabs(static_cast<double>(got) - silicon);
  return distance <= std::max(relative * std::fabs(static_cast<double>(silicon)), absolute);
}

// How far two results may lie apart that each keep the PTX ISA's bound ("Floating Point Instructions": ulps
// for RCP, SQRT, RSQRT and EX2, absolute for SIN, COS and LG2, 2^-11 relative for TANH).
struct Bound {
  const char* prefix;
  double relative, absolute;
};
constexpr Bound kBounds[] = {{"rcp_approx", 0x1p-22, 0},       {"rsqrt_approx", 0x1p-21, 0},
                             {"sqrt_approx", 0x1p-21, 0},      {"ex2_approx", 0x1p-21, 0},
                             {"lg2_approx", 0x1p-21, 0x1p-21}, {"sin_approx", 0, 0x1p-19},
                             {"cos_approx", 0, 0x1p-19},       {"tanh_approx_f32", 0x1p-10, 0}};

TEST_P(ProbeTest, SpecialFunctionsAreWithinTheDocumentedErrors) {
  const std::string name = absl::StrFormat("probe.sm_%d.cubin", GetParam());
  const auto module = cubin::ParseCubin(test::ReadXz(kFolder + name + ".xz"), name);
  ASSERT_TRUE(module.ok()) << module.status();
  size_t compared = 0;
  for (const Probe& probe : AllProbes()) {
    if (!absl::StrContains(probe.kernel, "_approx") || probe.inputs != "f32") continue;
    const Bound* bound = nullptr;
    for (const Bound& b : kBounds) bound = absl::StartsWith(probe.kernel, b.prefix) ? &b : bound;
    ASSERT_NE(bound, nullptr) << probe.kernel;
    const auto got = Emulate(*module, probe);
    ASSERT_TRUE(got.ok()) << got.status();
    const probe::Inputs in = probe::MakeInputs(probe.inputs);
    for (size_t i = 0; i < got->size(); ++i) {
      // Arguments beyond 2^10 periods: the reduction in front of the instruction decides, not its table.
      if (bound->relative == 0 && std::fabs(AsFloat(static_cast<uint32_t>(in.a[i]))) > 48039) continue;
      const float mine = AsFloat(static_cast<uint32_t>((*got)[i]));
      const float silicon = AsFloat(static_cast<uint32_t>(probe.expected[i]));
      EXPECT_TRUE(IsClose(mine, silicon, bound->relative, bound->absolute))
          << probe.kernel << " of " << AsFloat(static_cast<uint32_t>(in.a[i])) << ": " << mine << ", silicon "
          << silicon;
      ++compared;
    }
  }
  EXPECT_GT(compared, 5000u);
}

TEST_P(ProbeTest, AdasTensorSumsAreCloseToHoppers) {
  if (GetParam() != 89) GTEST_SKIP() << "sm_90 code gives Hopper's bits: the exact test has it";
  const std::string name = "probe.sm_89.cubin";
  const auto module = cubin::ParseCubin(test::ReadXz(kFolder + name + ".xz"), name);
  ASSERT_TRUE(module.ok()) << module.status();
  for (const Probe& probe : AllProbes()) {
    if (!IsFloatTensor(probe.kernel) || probe.kernel == "mma_f16_16816_f16") continue;
    const auto got = Emulate(*module, probe);
    ASSERT_TRUE(got.ok()) << got.status();
    const bool fp8 = probe.inputs == "mma_fp8";
    // The first half of the warps, whose operands lie between 1/16 and 16: four rows of 16 words a warp.
    for (size_t i = 0; i < 8 * 64; ++i) {
      for (int half = 0; half < 2; ++half) {
        const float mine = AsFloat(static_cast<uint32_t>((*got)[i] >> (32 * half)));
        const float silicon = AsFloat(static_cast<uint32_t>(probe.expected[i] >> (32 * half)));
        EXPECT_TRUE(IsClose(mine, silicon, 1e-3, fp8 ? 0.02 : 1e-3)) << probe.kernel << " word " << i;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Archs, ProbeTest, testing::Values(89u, 90u),
                         [](const auto& arch) { return absl::StrFormat("sm_%d", arch.param); });

}  // namespace
}  // namespace sm89
