// Speed and memory of the emulator: items a second are warp instructions, on one thread.
//
//   emu_bench [--benchmark_filter=Execute]
//
// Target: 10 million warp instructions a second for vector_add- and sgemm-like kernels; memory in proportion
// to the buffers. Kernels are those of tests/data/kernels with their launch files.
//
// Execute: instructions only. Record: what they executed is encoded, too, as a timing run is fed; a thread
// block's records are dropped when it ends. Compiling the kernel and filling its buffers are left out.
#include <benchmark/benchmark.h>
#include <malloc.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "sim/base/assert.h"
#include "sim/cubin/reader.h"
#include "sim/emu/emulator.h"
#include "sim/launch/launch.h"
#include "sim/trace/cta_recorder.h"

namespace sm89 {
namespace {

constexpr char kFolder[] = SM89_SOURCE_DIR "/tests/data/kernels/";
constexpr const char* kKernels[] = {"vector_add", "sgemm_tiled", "sgemm_register", "tensor_gemm",
                                    "histogram"};

void Check(const absl::Status& status) { SM89_ASSERT(status.ok(), status.ToString().c_str()); }

// Of all allocations that are alive; glibc's own count, so that memory it keeps for later does not hide them.
int64_t AllocatedBytes() {
  const struct mallinfo2 info = mallinfo2();
  return static_cast<int64_t>(info.uordblks + info.hblkhd);
}

struct Bench {
  explicit Bench(const std::string& name)
      : module(Value(cubin::OpenCubin(kFolder + name + ".sm_89.cubin", 89))),
        launches(Value(launch::ReadLaunches(kFolder + name + ".json"))) {}

  template <class T>
  static T Value(absl::StatusOr<T> value) {
    Check(value.status());
    return *std::move(value);
  }
  std::unique_ptr<emu::Emulator> Make() const {
    return Value(emu::Emulator::Create(module, launches.launches.front(), {}));
  }
  uint64_t buffer_bytes() const {
    uint64_t bytes = 0;
    for (const launch::BufferSpec& buffer : launches.launches.front().buffers) bytes += buffer.size_bytes();
    return bytes;
  }

  const cubin::Module module;
  const launch::LaunchFile launches;
};

class Recording : public emu::TraceSink {
 public:
  explicit Recording(CtaRecorder* recorder) : recorder_(*recorder) {}
  void BeginCta(uint64_t) override {}
  void Record(uint32_t warp, uint32_t inst_index, LaneMask executed,
              std::span<const uint64_t> addresses) override {
    Check(recorder_.Add(warp, {inst_index, executed, addresses}));
  }
  void EndCta(uint64_t) override {}

 private:
  CtaRecorder& recorder_;
};

// `run`: executes all of the emulator's CTAs.
template <class Run>
void Measure(benchmark::State& state, const Run& run) {
  const Bench bench(kKernels[state.range(0)]);
  uint64_t instructions = 0;
  int64_t growth = 0;
  for (auto _ : state) {
    state.PauseTiming();
    const int64_t before = AllocatedBytes();
    auto emulator = bench.Make();
    state.ResumeTiming();
    run(emulator.get());
    state.PauseTiming();
    growth = std::max(growth, AllocatedBytes() - before);
    instructions += emulator->executed_warp_instructions();
    emulator.reset();
    state.ResumeTiming();
  }
  state.SetLabel(kKernels[state.range(0)]);
  state.SetItemsProcessed(static_cast<int64_t>(instructions));
  const auto bytes = [](auto value) {
    return benchmark::Counter(static_cast<double>(value), {}, benchmark::Counter::kIs1024);
  };
  state.counters["buffer_bytes"] = bytes(bench.buffer_bytes());
  // Of the emulator at the end of a run, its buffers included.
  state.counters["emulator_bytes"] = bytes(growth);
}

void BM_Execute(benchmark::State& state) {
  Measure(state, [](emu::Emulator* emulator) { Check(emulator->RunAll(nullptr)); });
}

void BM_Record(benchmark::State& state) {
  Measure(state, [](emu::Emulator* emulator) {
    CtaRecorder recorder;
    Recording sink(&recorder);
    recorder.BeginKernel(static_cast<uint32_t>(emulator->instructions().size()));
    for (uint64_t cta = 0; cta < emulator->num_ctas(); ++cta) {
      Check(recorder.BeginCta({static_cast<uint32_t>(cta), 0, 0}, emulator->warps_per_cta()));
      Check(emulator->RunCta(cta, &sink));
      Check(recorder.EndCta().status());
    }
  });
}

void Kernels(benchmark::internal::Benchmark* b) {
  b->ArgName("kernel")->DenseRange(0, std::size(kKernels) - 1)->Unit(benchmark::kMillisecond);
}
BENCHMARK(BM_Execute)->Apply(Kernels);
BENCHMARK(BM_Record)->Apply(Kernels);

}  // namespace
}  // namespace sm89

BENCHMARK_MAIN();
