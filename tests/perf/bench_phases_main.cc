// One run in three phases that a profiler can tell apart by function: the text is ingested, the simulator set
// up, the simulation run to its end and reported. One thread; RTX4090 configuration.
//
//   bench_phases TRACE        prints warp instructions and GPU cycles
//   bench_phases --compiler   what it was built with: compiler, flags
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "sim/api/simulator.h"
#include "sim/base/assert.h"
#include "sim/ingest/ingest.h"

// Plain names: callgrind.py collects by them.
extern "C" {
void Sm89PerfIngest(const char* trace, const char* compact);
void Sm89PerfSetUp(const char* compact, std::unique_ptr<sm89::Simulator>* simulator);
void Sm89PerfSimulate(sm89::Simulator* simulator, sm89::RunReport* report);

__attribute__((noinline)) void Sm89PerfIngest(const char* trace, const char* compact) {
  const auto ingested = sm89::IngestTrace(trace, compact, {});
  SM89_ASSERT(ingested.ok(), ingested.status().ToString().c_str());
}

__attribute__((noinline)) void Sm89PerfSetUp(const char* compact,
                                             std::unique_ptr<sm89::Simulator>* simulator) {
  auto config = sm89::LoadConfig("RTX4090", {}, {});
  SM89_ASSERT(config.ok(), config.status().ToString().c_str());
  sm89::SimulatorOptions options;
  options.config = *std::move(config);
  options.trace_path = compact;
  auto created = sm89::Simulator::Create(std::move(options));
  SM89_ASSERT(created.ok(), created.status().ToString().c_str());
  *simulator = *std::move(created);
}

__attribute__((noinline)) void Sm89PerfSimulate(sm89::Simulator* simulator, sm89::RunReport* report) {
  while (true) {
    const auto progress = simulator->Advance(uint64_t{1} << 20);
    SM89_ASSERT(progress.ok(), progress.status().ToString().c_str());
    if (progress->done) break;
  }
  *report = simulator->Report();
}
}

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: bench_phases (TRACE | --compiler)\n", stderr);
    return 2;
  }
  if (argv[1] == std::string_view("--compiler")) {
    std::puts(SM89_COMPILER "\n" SM89_COMPILE_FLAGS);
    return 0;
  }
  const std::string compact =
      (std::filesystem::temp_directory_path() / ("sm89_phases_" + std::to_string(getpid()))).string();
  std::unique_ptr<sm89::Simulator> simulator;
  sm89::RunReport report;
  Sm89PerfIngest(argv[1], compact.c_str());
  Sm89PerfSetUp(compact.c_str(), &simulator);
  std::filesystem::remove(compact);
  Sm89PerfSimulate(simulator.get(), &report);
  if (report.status != sm89::RunStatus::kComplete) return 1;
  std::printf("%llu %llu\n", static_cast<unsigned long long>(report.totals.sm.warp_instructions),
              static_cast<unsigned long long>(report.total_cycles));
  return 0;
}
