// Executed counts of every instruction equal those that a GPU's profiler counted (h200_ncu_source.csv.xz,
// sm_90 code): threads and predicated-on threads exactly, warps but for the BSYNCs listed here.
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "sim/ingest/byte_source.h"
#include "sim/ingest/input_file.h"
#include "sim/ingest/limits.h"
#include "sim/ingest/line_reader.h"
#include "sim/sass/decode.h"
#include "tests/suite/emu_fixture.h"

namespace sm89 {
namespace {

struct Counted {
  uint64_t offset = 0;
  std::string text;
  emu::PcCount count;
};

// One profiled launch.
struct Block {
  std::string kernel;
  std::vector<Counted> rows;
};

// Fields of a quoted CSV line; quotes do not occur inside.
std::vector<std::string> Fields(std::string_view line) {
  std::vector<std::string> fields;
  bool inside = false;
  for (const char c : line) {
    if (c == '"') {
      inside = !inside;
      if (inside) fields.emplace_back();
      continue;
    }
    if (inside) fields.back().push_back(c);
  }
  return fields;
}

uint64_t Number(const std::string& text) {
  uint64_t value = 0;
  EXPECT_TRUE(absl::SimpleAtoi(text, &value)) << text;
  return value;
}

// Columns that every block names alike, wherever they stand.
struct Columns {
  size_t address = 0, source = 0, warps = 0, threads = 0, on = 0;

  static Columns Of(const std::vector<std::string>& header) {
    Columns c;
    for (size_t i = 0; i < header.size(); ++i) {
      if (header[i] == "Address") c.address = i;
      if (header[i] == "Source") c.source = i;
      if (header[i] == "Instructions Executed") c.warps = i;
      if (header[i] == "Thread Instructions Executed") c.threads = i;
      if (header[i] == "Predicated-On Thread Instructions Executed") c.on = i;
    }
    return c;
  }
};

// The blocks of the file, each of which is printed twice.
std::vector<Block> ReadBlocks() {
  std::vector<Block> blocks;
  const IngestOptions options;
  IngestContext context(options);
  auto file = InputFile::OpenInFolder(SiliconFolder() + "/measured", "h200_ncu_source.csv.xz");
  EXPECT_TRUE(file.ok()) << file.status();
  if (!file.ok()) return blocks;
  auto source = OpenByteSource(std::move(*file), context);
  EXPECT_TRUE(source.ok()) << source.status();
  if (!source.ok()) return blocks;
  LineReader lines(std::move(*source), "h200_ncu_source.csv.xz", kMaxLineBytes);
  std::string_view line;
  Columns columns;
  uint64_t base = 0;
  while (true) {
    const auto more = lines.Next(&line);
    EXPECT_TRUE(more.ok()) << more.status();
    if (!more.ok() || !*more) break;
    const std::vector<std::string> fields = Fields(line);
    if (fields.empty()) continue;
    if (fields[0] == "Kernel Name") {
      blocks.push_back({.kernel = fields.at(1)});
    } else if (fields[0] == "Address") {
      columns = Columns::Of(fields);
    } else {
      const uint64_t address = std::stoull(fields.at(columns.address), nullptr, 16);
      if (blocks.back().rows.empty()) base = address;
      blocks.back().rows.push_back(
          {.offset = address - base,
           .text = fields.at(columns.source),
           .count = {Number(fields.at(columns.warps)), Number(fields.at(columns.threads)),
                     Number(fields.at(columns.on))}});
    }
  }
  std::vector<Block> once;
  for (size_t i = 0; i < blocks.size(); i += 2) once.push_back(std::move(blocks[i]));
  return once;
}

bool Profiled(const launch::LaunchSpec& launch) {
  for (const launch::BufferSpec& buffer : launch.buffers) {
    if (buffer.name == "clocks") return false;
  }
  return true;
}

// Silicon's own count of these differs from lane arithmetic by a few warps (the suite's README says so).
bool ListedBsync(const std::string& id, uint64_t offset) {
  return (id == "mandelbrot" && offset == 0x460) || (id == "spmv_csr" && offset == 0x390);
}

void Compare(const launch::LaunchSpec& launch, const Block& block, const emu::Emulator& emulator) {
  SCOPED_TRACE(launch.id);
  ASSERT_EQ(block.kernel, launch.kernel);
  ASSERT_EQ(block.rows.size(), emulator.counts().size());
  for (size_t i = 0; i < block.rows.size(); ++i) {
    const Counted& silicon = block.rows[i];
    const emu::PcCount& count = emulator.counts()[i];
    SCOPED_TRACE(absl::StrFormat("+0x%04x %s", silicon.offset, silicon.text));
    ASSERT_EQ(silicon.offset, i * 16);
    EXPECT_EQ(count.threads, silicon.count.threads);
    EXPECT_EQ(count.predicated_on, silicon.count.predicated_on);
    if (ListedBsync(launch.id, silicon.offset)) {
      EXPECT_TRUE(absl::StrContains(silicon.text, "BSYNC"));
      EXPECT_NE(count.warps, silicon.count.warps) << "no longer different: take it off the list";
    } else {
      EXPECT_EQ(count.warps, silicon.count.warps);
    }
  }
}

TEST(EmuCounts, EqualTheProfilersForEveryLaunch) {
  if (!HaveSilicon()) GTEST_SKIP() << "no ../shared/silicon next to the repository";
  const auto file = launch::ReadLaunches(SiliconFolder() + "/suite.json");
  ASSERT_TRUE(file.ok()) << file.status();
  const std::vector<Block> blocks = ReadBlocks();
  ASSERT_EQ(blocks.size(), 45u);
  SiliconModules modules;
  size_t next = 0;
  for (const launch::LaunchSpec& launch : file->launches) {
    if (!Profiled(launch)) continue;
    ASSERT_LT(next, blocks.size());
    const auto module = modules.Get(launch.module, 90);
    ASSERT_TRUE(module.ok()) << module.status();
    auto emulator = emu::Emulator::Create(**module, launch, {});
    ASSERT_TRUE(emulator.ok()) << emulator.status();
    const absl::Status run = (*emulator)->RunAll(nullptr);
    ASSERT_TRUE(run.ok()) << run;
    Compare(launch, blocks[next++], **emulator);
  }
  EXPECT_EQ(next, blocks.size());
}

}  // namespace
}  // namespace sm89
