// Addresses written as Accel-Sim text and read back.
#include "sim/tools/accel_sim_writer.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "sim/ingest/ingest.h"
#include "sim/trace/compact_reader.h"
#include "tests/support/temp_dir.h"
#include "tests/support/trace_builder.h"

namespace sm89 {
namespace {

std::vector<uint64_t> AddressesOf(const std::string& path) {
  std::vector<uint64_t> addresses;
  const auto reader = CompactReader::Open(path);
  EXPECT_TRUE(reader.ok()) << reader.status();
  if (!reader.ok()) return addresses;
  const auto cta = (*reader)->OpenCta(0, 0);
  EXPECT_TRUE(cta.ok()) << cta.status();
  const std::unique_ptr<WarpCursor> cursor = (*cta)->OpenWarp(0);
  for (DynInst inst; cursor->Next(&inst);) {
    if (inst.shape == nullptr) continue;
    for (const uint64_t offset : inst.shape->offsets) addresses.push_back(inst.base + offset);
  }
  return addresses;
}

TEST(AccelSimWriter, LanesWithGapsKeepTheirAddresses) {
  testing::KernelScript kernel;
  kernel.warp = [](uint32_t, uint32_t) {
    testing::WarpScript script;
    for (const LaneMask mask : {0x55555555u, 0xffffffffu, 0x0000ff00u, 0x80000001u, 0x00000010u}) {
      script.Mem("LDG.E", {4}, {2}, 0x7f5a20000000, 4, mask);
    }
    return script.Op("EXIT");
  };
  const std::string original = testing::WriteTrace({kernel});
  const testing::TempDir dir;
  const auto reader = CompactReader::Open(original);
  ASSERT_TRUE(reader.ok()) << reader.status();
  ASSERT_TRUE(WriteAccelSimFolder(**reader, dir.path() + "/text").ok());
  const auto ingested = IngestTrace(dir.path() + "/text", dir.path() + "/again", {});
  ASSERT_TRUE(ingested.ok()) << ingested.status();
  const std::vector<uint64_t> expected = AddressesOf(original);
  EXPECT_EQ(expected.size(), 16u + 32 + 8 + 2 + 1);
  EXPECT_EQ(AddressesOf(dir.path() + "/again"), expected);
}

}  // namespace
}  // namespace sm89
