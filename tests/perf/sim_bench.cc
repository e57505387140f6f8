// Speed and memory of the simulator on the four benchmark inputs (bench_kernels.h), RTX4090 configuration.
//
//   sim_bench [--benchmark_filter=gemm128]
//
// Run: the text trace to the finished report, as sm89-sim does it. Simulate: the same from a compact trace.
// Items a second are warp instructions; peak_MiB is the process's peak while the benchmark ran, this
// program's own memory (a few MiB) included. Threads are the simulator's; times are wall times.
#include <benchmark/benchmark.h>
#include <stdlib.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <system_error>
#include <utility>

#include "sim/api/simulator.h"
#include "sim/base/assert.h"
#include "sim/ingest/ingest.h"
#include "tests/perf/bench_kernels.h"

namespace sm89::perf {
namespace {

void Check(const absl::Status& status) { SM89_ASSERT(status.ok(), status.ToString().c_str()); }

// An input's text and compact traces, in a temporary folder until the program ends.
class PreparedInput {
 public:
  explicit PreparedInput(const BenchInput& input)
      : folder_((std::filesystem::temp_directory_path() / "sm89_bench_XXXXXX").string()) {
    SM89_ASSERT(mkdtemp(folder_.data()) != nullptr, "a temporary folder can be made");
    Check(WriteBenchTrace(input, folder_));
    Check(IngestTrace(folder_, compact(), {}).status());
  }
  ~PreparedInput() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  const std::string& text() const { return folder_; }
  std::string compact() const { return folder_ + "/input.sm89t"; }
  std::string scratch() const { return folder_ + "/scratch.sm89t"; }

 private:
  std::string folder_;
};

const PreparedInput& Prepared(size_t index) {
  static std::array<std::unique_ptr<PreparedInput>, 4> inputs;
  if (inputs[index] == nullptr) inputs[index] = std::make_unique<PreparedInput>(BenchInputs()[index]);
  return *inputs[index];
}

// Peak of the resident memory since ResetPeak (of the process where the kernel does not allow that).
void ResetPeak() { std::ofstream("/proc/self/clear_refs") << "5"; }
double PeakMib() {
  std::ifstream status("/proc/self/status");
  std::string line;
  unsigned long long kib = 0;
  while (std::getline(status, line)) {
    if (std::sscanf(line.c_str(), "VmHWM: %llu", &kib) == 1) break;
  }
  return static_cast<double>(kib) / 1024;
}

RunReport Simulate(const std::string& compact, uint32_t threads) {
  auto config = LoadConfig("RTX4090", {}, {});
  Check(config.status());
  SimulatorOptions options;
  options.config = *std::move(config);
  options.trace_path = compact;
  options.threads = threads;
  auto simulator = Simulator::Create(std::move(options));
  Check(simulator.status());
  while (true) {
    const auto progress = (*simulator)->Advance(1 << 20);
    Check(progress.status());
    if (progress->done) break;
  }
  RunReport report = (*simulator)->Report();
  SM89_ASSERT(report.status == RunStatus::kComplete, "the run is complete");
  return report;
}

void Measure(benchmark::State& state, size_t index, bool from_text) {
  const PreparedInput& input = Prepared(index);
  const auto threads = static_cast<uint32_t>(state.range(0));
  ResetPeak();
  uint64_t instructions = 0, cycles = 0;
  for (auto _ : state) {
    if (from_text) Check(IngestTrace(input.text(), input.scratch(), {}).status());
    const RunReport report = Simulate(from_text ? input.scratch() : input.compact(), threads);
    instructions += report.totals.sm.warp_instructions;
    cycles += report.total_cycles;
  }
  state.SetItemsProcessed(static_cast<int64_t>(instructions));
  state.counters["gpu_cycles/s"] =
      benchmark::Counter(static_cast<double>(cycles), benchmark::Counter::kIsRate);
  state.counters["peak_MiB"] = PeakMib();
}
void Register() {
  for (const bool from_text : {true, false}) {
    for (size_t i = 0; i < BenchInputs().size(); ++i) {
      const std::string name = (from_text ? "Run/" : "Simulate/") + BenchInputs()[i].name;
      const auto measure = [from_text, i](benchmark::State& state) { Measure(state, i, from_text); };
      auto* const bench = benchmark::RegisterBenchmark(name.c_str(), measure);
      bench->ArgName("threads")->Arg(1)->Arg(2);
      bench->Unit(benchmark::kMillisecond)->MeasureProcessCPUTime()->UseRealTime();
    }
  }
}

}  // namespace
}  // namespace sm89::perf

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  sm89::perf::Register();
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
