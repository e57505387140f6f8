// Speed and size of the compact trace format: items a second are warp instructions, on one thread.
//
//   trace_bench [--benchmark_filter=Read]
//
// Target: reading at 20 million warp instructions a second. Kernels are made here: a tiled matrix product
// (shared memory, strided and two-level global addresses), a stream, and a gather with random addresses.
//
// Record: what a live source hands over, warps one instruction in turn. Targets: 10 million plain
// instructions a second, 3 million with addresses.
#include <benchmark/benchmark.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "sim/base/assert.h"
#include "sim/trace/compact_reader.h"
#include "sim/trace/compact_writer.h"
#include "sim/trace/cta_recorder.h"

namespace sm89 {
namespace {

enum class Kind { kTile, kStream, kGather };

constexpr uint32_t kCtas = 128;
constexpr uint32_t kWarps = 8;
constexpr uint32_t kIterations = 8;
constexpr uint64_t kArray = 0x7f4e00000000;

void Check(const absl::Status& status) { SM89_ASSERT(status.ok(), status.ToString().c_str()); }

// One kernel written instruction by instruction.
class BenchKernel {
 public:
  BenchKernel(Kind kind, CompactWriter* writer) : kind_(kind), writer_(*writer) {}

  uint64_t Write() {
    KernelInfo info;
    info.grid = {kCtas, 1, 1};
    info.block = {32 * kWarps, 1, 1};
    info.binary_version = 89;
    Check(writer_.BeginKernel(info));
    for (uint32_t i = 0; i < kBody; ++i) {
      StaticInst inst;
      inst.pc = 16 * i;
      inst.opcode = IsAccess(i) ? "LDG.E" : "FFMA";
      ids_.push_back(writer_.AddStatic(inst));
    }
    for (uint32_t c = 0; c < kCtas; ++c) WriteCta(c);
    Check(writer_.EndKernel(info));
    return instructions_;
  }

 private:
  static constexpr uint32_t kBody = 40;
  // Every tenth instruction of the body has addresses: about what real kernels have.
  static bool IsAccess(uint32_t i) { return i % 10 == 0; }

  void WriteCta(uint32_t cta) {
    Check(writer_.BeginCta({cta, 0, 0}));
    for (uint32_t w = 0; w < kWarps; ++w) {
      Check(writer_.BeginWarp(w));
      for (uint32_t it = 0; it < kIterations; ++it) {
        for (uint32_t i = 0; i < kBody; ++i)
          WriteInst(i, (uint64_t{cta} * kWarps + w) * 4096 + it * 128 + i * 65536);
      }
      Check(writer_.EndWarp());
    }
    Check(writer_.EndCta());
  }

  void WriteInst(uint32_t i, uint64_t offset) {
    addresses_.clear();
    for (uint64_t lane = 0; IsAccess(i) && lane < 32; ++lane) addresses_.push_back(Address(offset, lane));
    Check(writer_.Add({ids_[i], ~LaneMask{0}, addresses_}));
    ++instructions_;
  }

  uint64_t Address(uint64_t offset, uint64_t lane) {
    switch (kind_) {
      case Kind::kTile:
        return kArray + offset + lane / 4 * 4096 + lane % 4 * 16;
      case Kind::kStream:
        return kArray + offset + lane * 4;
      case Kind::kGather:
        return kArray + random_() % (1 << 24) / 4 * 4;
    }
    return 0;
  }

  const Kind kind_;
  CompactWriter& writer_;
  std::vector<uint32_t> ids_;
  std::vector<uint64_t> addresses_;
  std::mt19937 random_{1};
  uint64_t instructions_ = 0;
};

// A trace in the temporary folder for as long as the object lives.
struct BenchTrace {
  explicit BenchTrace(Kind kind)
      : path(std::filesystem::temp_directory_path() / ("sm89_bench_" + std::to_string(getpid()))) {
    auto writer = CompactWriter::Create(path);
    Check(writer.status());
    instructions = BenchKernel(kind, writer->get()).Write();
    const auto written = (*writer)->Finish({});
    Check(written.status());
    bytes = written->file_bytes;
  }
  ~BenchTrace() { std::filesystem::remove(path); }

  std::string path;
  uint64_t instructions = 0;
  uint64_t bytes = 0;
};

void BM_Write(benchmark::State& state) {
  for (auto _ : state) {
    const BenchTrace trace(static_cast<Kind>(state.range(0)));
    state.SetItemsProcessed(state.items_processed() + static_cast<int64_t>(trace.instructions));
    state.counters["bits_per_inst"] =
        8.0 * static_cast<double>(trace.bytes) / static_cast<double>(trace.instructions);
  }
}

// All warps, one after the other; the file is opened anew each time, so nothing is unpacked yet.
void BM_Read(benchmark::State& state) {
  const BenchTrace trace(static_cast<Kind>(state.range(0)));
  uint64_t total = 0;
  for (auto _ : state) {
    const auto reader = CompactReader::Open(trace.path);
    Check(reader.status());
    uint64_t sum = 0;
    for (uint64_t c = 0; c < (*reader)->NumCtas(0); ++c) {
      const auto cta = (*reader)->OpenCta(0, c);
      Check(cta.status());
      for (uint32_t w = 0; w < kWarps; ++w) {
        const std::unique_ptr<WarpCursor> cursor = (*cta)->OpenWarp(w);
        DynInst inst;
        while (cursor->Next(&inst)) sum += inst.static_id + inst.base;
        Check(cursor->status());
      }
    }
    benchmark::DoNotOptimize(sum);
    total += trace.instructions;
  }
  state.SetItemsProcessed(static_cast<int64_t>(total));
}

void BM_Verify(benchmark::State& state) {
  const BenchTrace trace(static_cast<Kind>(state.range(0)));
  for (auto _ : state) Check(CompactReader::Open(trace.path).value()->VerifyAll());
  state.SetItemsProcessed(static_cast<int64_t>(state.iterations() * trace.instructions));
}

// Every instruction has addresses of the kind, made before the clock runs; kind 3: none has.
void BM_Record(benchmark::State& state) {
  constexpr uint64_t kPlain = 3;
  constexpr uint32_t kStatics = 40;
  constexpr size_t kRows = 1 << 16;  // more gathers than one arena of shapes holds
  const auto kind = static_cast<uint64_t>(state.range(0));
  std::mt19937_64 random(1);
  std::vector<uint64_t> addresses(kRows * 32);
  for (size_t i = 0; i < addresses.size(); ++i) {
    const uint64_t lane = i % 32;
    addresses[i] = kArray + i / 32 * 128 + (kind == 0 ? lane / 4 * 4096 + lane % 4 * 16 : lane * 4);
    if (kind == 2) addresses[i] = kArray + random() % (1 << 24) / 4 * 4;
  }
  CtaRecorder recorder;
  recorder.BeginKernel(kStatics);
  uint64_t bytes = 0;
  size_t row = 0;
  for (auto _ : state) {
    Check(recorder.BeginCta({}, kWarps));
    for (uint32_t i = 0; i < kIterations * kStatics; ++i) {
      for (uint32_t w = 0; w < kWarps; ++w) {
        const std::span<const uint64_t> all(addresses);
        const auto lanes = kind == kPlain ? all.first(0) : all.subspan(row++ % kRows * 32, 32);
        Check(recorder.Add(w, {i % kStatics, ~LaneMask{0}, lanes}));
      }
    }
    const auto cta = recorder.EndCta();
    Check(cta.status());
    bytes = recorder.live_bytes();
  }
  constexpr uint32_t kInstructions = kIterations * kStatics * kWarps;
  state.SetItemsProcessed(static_cast<int64_t>(state.iterations()) * kInstructions);
  state.counters["live_bytes"] = static_cast<double>(bytes);
}

void Kinds(benchmark::internal::Benchmark* b) {
  b->ArgName("kind");
  for (const Kind kind : {Kind::kTile, Kind::kStream, Kind::kGather}) b->Arg(static_cast<int64_t>(kind));
  b->Unit(benchmark::kMillisecond);
}
BENCHMARK(BM_Write)->Apply(Kinds);
BENCHMARK(BM_Read)->Apply(Kinds);
BENCHMARK(BM_Verify)->Apply(Kinds);
BENCHMARK(BM_Record)->ArgName("kind")->DenseRange(0, 3)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace sm89

BENCHMARK_MAIN();
