// What the digest depends on, and on what it does not.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <functional>

#include "tests/unit/sim_trace/trace_model.h"

namespace sm89 {
namespace {

using testing::ModelTrace;
using testing::SmallKernel;
using testing::Static;
using testing::TempPath;
using testing::Write;

// Fixed for good: a changed digest would orphan every stored trace and cached result.
constexpr char kGolden[] = "e8ee091f3d1d218bccbd2cecfd25d3117d3d7c97b728685352d88f85f53c013c";

ModelTrace Example() {
  ModelTrace trace;
  trace.kernels.push_back(SmallKernel(2, 2));
  auto& kernel = trace.kernels[0];
  kernel.statics = {Static(0, "MOV"), Static(16, "LDG.E"), Static(32, "EXIT")};
  for (auto& cta : kernel.ctas) {
    for (auto& warp : cta.warps) {
      const uint64_t base = 0x7f0000000000 + cta.id.x * 256 + warp.warp * 128;
      warp.insts = {{.id = 0, .mask = ~LaneMask{0}},
                    {.id = 1, .mask = 0xF, .addresses = {base, base + 4, base + 8, base + 12}},
                    {.id = 1, .mask = 0x7, .addresses = {base, base + 400, base + 8}},
                    {.id = 2, .mask = ~LaneMask{0}}};
    }
  }
  trace.set.name = std::string("example");
  trace.set.commands = {
      {.kind = CommandKind::kMemcpyHtoD, .address = 0x7f0000000000, .bytes = 1024, .line = 1},
      {.kind = CommandKind::kKernel, .kernel = 0, .line = 2}};
  return trace;
}

std::string DigestOf(const std::function<void(ModelTrace*)>& change) {
  ModelTrace trace = Example();
  change(&trace);
  const std::string path = TempPath("digest");
  const auto written = Write(trace, path);
  std::filesystem::remove(path);
  EXPECT_TRUE(written.ok()) << written.status();
  return written.ok() ? written->digest : "";
}

TEST(TraceDigest, Golden) {
  EXPECT_EQ(DigestOf([](ModelTrace*) {}), kGolden);
}

TEST(TraceDigest, IgnoresNamesPlacesAndWarnings) {
  EXPECT_EQ(DigestOf([](ModelTrace* t) { t->set.name = std::string("other"); }), kGolden);
  EXPECT_EQ(DigestOf([](ModelTrace* t) { t->kernels[0].info.file = std::string("kernel-1.traceg.xz"); }),
            kGolden);
  EXPECT_EQ(DigestOf([](ModelTrace* t) { t->set.commands[1].line = 77; }), kGolden);
  EXPECT_EQ(DigestOf([](ModelTrace* t) { t->set.warnings.push_back({"a", "b"}); }), kGolden);
  EXPECT_EQ(DigestOf([](ModelTrace* t) {
              std::swap(t->kernels[0].ctas[0].warps[0], t->kernels[0].ctas[0].warps[1]);
            }),
            kGolden);
}

TEST(TraceDigest, CoversContent) {
  const std::function<void(ModelTrace*)> changes[] = {
      [](ModelTrace* t) { t->kernels[0].ctas[1].warps[1].insts[1].addresses[3] += 4; },
      [](ModelTrace* t) { t->kernels[0].ctas[1].warps[1].insts[0].mask = 1; },
      [](ModelTrace* t) { t->kernels[0].ctas[1].warps[1].insts.pop_back(); },
      [](ModelTrace* t) { t->kernels[0].ctas[1].warps.pop_back(); },
      [](ModelTrace* t) { t->kernels[0].ctas.pop_back(); },
      [](ModelTrace* t) { std::swap(t->kernels[0].ctas[0], t->kernels[0].ctas[1]); },
      [](ModelTrace* t) { t->kernels[0].statics[0] = Static(0, "MOV32I"); },
      [](ModelTrace* t) { t->kernels[0].info.name = std::string("other"); },
      [](ModelTrace* t) { t->kernels[0].info.nregs = 40; },
      [](ModelTrace* t) { t->kernels[0].info.complete = false; },
      [](ModelTrace* t) { t->set.commands[0].bytes = 2048; },
      [](ModelTrace* t) { std::swap(t->set.commands[0], t->set.commands[1]); },
      [](ModelTrace* t) {
        t->set.marks.push_back({"foreign_arch", "80", 1});
      },
  };
  std::vector<std::string> digests = {kGolden};
  for (const auto& change : changes) digests.push_back(DigestOf(change));
  std::sort(digests.begin(), digests.end());
  EXPECT_EQ(std::unique(digests.begin(), digests.end()), digests.end())
      << "two different traces share a digest";
}

}  // namespace
}  // namespace sm89
