// The four benchmark inputs as text traces in Accel-Sim's layout (tracer version 4), made here so that speed
// can be measured anywhere. Synthetic kernels with the shapes of real ones; every warp of a kernel executes
// the same instructions. Registers and addresses are those of ../shared/bench/gen_traces.py, so that the
// recorded figures there compare: a test reads both programs' traces and wants equal digests.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace sm89::perf {

enum class BenchKernel : uint8_t {
  kVecAdd,  // 256 threads: prologue, two loads, one add, one store
  kStream,  // the same in a loop: `iterations` vectors a thread
  kGemm,    // 256 threads, 64 x 64 tile in shared memory, FFMA; `iterations` K tiles of 16
  kHmma,    // 128 threads, LDGSTS, LDSM and HMMA.16816.F32; `iterations` K tiles
  kGather,  // 256 threads, `iterations` loads from 32 scattered addresses each: a trace that does not
            // compress
};

struct BenchInput {
  std::string name;
  BenchKernel kernel = BenchKernel::kVecAdd;
  uint32_t ctas = 1;
  uint32_t iterations = 1;
};

// gemm128, vecadd512, hmma128, stream1024.
std::span<const BenchInput> BenchInputs();
// "vecadd", "stream", "gemm", "hmma", "gather".
const char* NameOf(BenchKernel kernel);
std::optional<BenchKernel> KernelByName(std::string_view name);

uint64_t WarpInstructions(const BenchInput& input);

// Writes kernelslist.g and the kernel's file, kernel-1.traceg or .traceg.gz, into an existing folder.
absl::Status WriteBenchTrace(const BenchInput& input, const std::string& folder, bool gzip = false);

}  // namespace sm89::perf
