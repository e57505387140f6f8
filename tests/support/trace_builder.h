// Writes small compact traces for tests, one warp instruction at a time, in the notation of the text traces.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "sim/api/simulator.h"
#include "sim/trace/compact_writer.h"
#include "tests/support/temp_dir.h"

namespace sm89::testing {

// One warp's instructions, built by name. Registers are general ones.
class WarpScript {
 public:
  struct Line {
    StaticInst inst;
    LaneMask mask = ~LaneMask{0};
    std::vector<uint64_t> addresses;
  };

  // Appends an instruction at the next PC.
  WarpScript& Op(const std::string& opcode, std::vector<int> dests = {}, std::vector<int> sources = {},
                 LaneMask mask = ~LaneMask{0}, int64_t immediate = 0) {
    Line line;
    line.inst.pc = next_pc_;
    next_pc_ += 16;
    line.inst.opcode = opcode;
    for (const int r : dests) {
      line.inst.dests[line.inst.num_dests++] = {RegFile::kGeneral, static_cast<uint8_t>(r)};
    }
    for (const int r : sources) {
      line.inst.sources[line.inst.num_sources++] = {RegFile::kGeneral, static_cast<uint8_t>(r)};
    }
    line.inst.has_immediate = true;
    line.inst.immediate = immediate;
    line.mask = mask;
    lines_.push_back(line);
    return *this;
  }

  // A memory instruction: lane l (of `mask`) accesses base + l * stride.
  WarpScript& Mem(const std::string& opcode, std::vector<int> dests, std::vector<int> sources, uint64_t base,
                  int64_t stride, LaneMask mask = ~LaneMask{0}) {
    Op(opcode, std::move(dests), std::move(sources), mask);
    lines_.back().inst.declared_width_bytes = 4;
    for (uint32_t lane = 0; lane < 32; ++lane) {
      if ((mask >> lane & 1) != 0) {
        lines_.back().addresses.push_back(base + static_cast<uint64_t>(int64_t{lane} * stride));
      }
    }
    return *this;
  }

  // Machine code of the instruction appended last.
  WarpScript& Encoded(uint64_t low, uint64_t high) {
    StaticInst& inst = lines_.back().inst;
    inst.has_encoding = true;
    for (size_t i = 0; i < 8; ++i) {
      inst.encoding[i] = static_cast<uint8_t>(low >> (8 * i));
      inst.encoding[8 + i] = static_cast<uint8_t>(high >> (8 * i));
    }
    return *this;
  }
  // CS2R of the clock, 64 bits, as ptxas encodes it.
  WarpScript& ReadClock(int dest, LaneMask mask = ~LaneMask{0}) {
    return Op("CS2R", {dest}, {}, mask).Encoded(0x0000000000047805, 0x000fe40000015000);
  }

  // Goes back to a PC: what follows is a loop's next iteration.
  WarpScript& At(uint32_t pc) {
    next_pc_ = pc;
    return *this;
  }

  const std::vector<Line>& lines() const { return lines_; }

 private:
  uint32_t next_pc_ = 0;
  std::vector<Line> lines_;
};

struct KernelScript {
  KernelInfo info;
  // Fills warp `w` of CTA `c`; an empty script is an absent warp.
  std::function<WarpScript(uint32_t c, uint32_t w)> warp;

  KernelScript() {
    info.name = "kernel";
    info.file = "kernel-1.traceg";
    info.id = 1;
    info.grid = {1, 1, 1};
    info.block = {32, 1, 1};
    info.nregs = 32;
    info.binary_version = 89;
    info.shmem_base = 0x7f5a10000000;
    info.local_base = 0x7f5a0e000000;
  }
};

// Writes the kernels (each a command, after `before` commands) to a fresh file; returns its path.
inline std::string WriteTrace(const std::vector<KernelScript>& kernels,
                              const std::vector<TraceCommand>& before = {}) {
  static int counter = 0;
  static const TempDir folder;  // of this process, gone when it ends
  const std::string path = folder.File(std::to_string(counter++) + ".sm89t");
  auto writer = CompactWriter::Create(path);
  EXPECT_TRUE(writer.ok()) << writer.status().message();
  TraceSetInfo set;
  set.name = "test";
  set.commands = before;
  for (const KernelScript& kernel : kernels) {
    KernelInfo info = kernel.info;
    EXPECT_TRUE((*writer)->BeginKernel(info).ok());
    const uint32_t threads = info.block.x * info.block.y * info.block.z;
    info.grid_ctas = SaturatingVolume(info.grid);
    for (uint32_t c = 0; c < info.grid_ctas; ++c) {
      EXPECT_TRUE((*writer)->BeginCta({c % info.grid.x, c / info.grid.x, 0}).ok());
      for (uint32_t w = 0; w < (threads + 31) / 32; ++w) {
        const WarpScript script = kernel.warp(c, w);
        if (script.lines().empty()) continue;
        EXPECT_TRUE((*writer)->BeginWarp(w).ok());
        for (const WarpScript::Line& line : script.lines()) {
          const uint32_t id = (*writer)->AddStatic(line.inst);
          EXPECT_TRUE((*writer)->Add({id, line.mask, line.addresses}).ok());
          ++info.warp_instructions;
          info.thread_instructions += static_cast<uint32_t>(__builtin_popcount(line.mask));
        }
        EXPECT_TRUE((*writer)->EndWarp().ok());
      }
      EXPECT_TRUE((*writer)->EndCta().ok());
    }
    info.num_ctas = info.grid_ctas;
    EXPECT_TRUE((*writer)->EndKernel(info).ok());
    TraceCommand command;
    command.kind = CommandKind::kKernel;
    command.kernel = static_cast<uint32_t>(set.kernels.size());
    set.commands.push_back(command);
    set.kernels.push_back(info);
  }
  const auto written = (*writer)->Finish(set);
  EXPECT_TRUE(written.ok()) << written.status().message();
  return path;
}

inline Config TestConfig(const std::vector<NamedOverride>& overrides = {}) {
  auto config = LoadConfig("RTX4090", overrides, {});
  EXPECT_TRUE(config.ok()) << config.status().message();
  return *config;
}

// Runs a trace to its end.
inline RunReport Simulate(const std::string& path, const Config& config, uint32_t threads = 1,
                          uint64_t max_cycles = 0, bool profile = false) {
  SimulatorOptions options;
  options.config = config;
  options.trace_path = path;
  options.threads = threads;
  options.max_cycles = max_cycles;
  options.profile = profile;
  auto simulator = Simulator::Create(std::move(options));
  EXPECT_TRUE(simulator.ok()) << simulator.status().message();
  if (!simulator.ok()) return {};
  for (int i = 0; i < 1'000'000; ++i) {
    const auto progress = (*simulator)->Advance(100'000);
    EXPECT_TRUE(progress.ok()) << progress.status().message();
    if (!progress.ok() || progress->done) break;
  }
  return (*simulator)->Report();
}

}  // namespace sm89::testing
