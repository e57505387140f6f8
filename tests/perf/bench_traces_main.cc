// Writes benchmark inputs as text traces, for scripts.
//
//   bench_traces OUT NAME                          one of gemm128, vecadd512, hmma128, stream1024
//   bench_traces OUT KERNEL CTAS ITERATIONS        KERNEL: gemm, vecadd, hmma, stream, gather
//
// --gzip compresses. Prints the number of warp instructions. OUT is made if it is not there.
#include <cstdio>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "absl/strings/numbers.h"
#include "tests/perf/bench_kernels.h"

namespace sm89::perf {
namespace {

std::optional<BenchInput> ParseInput(const std::vector<std::string>& args) {
  if (args.size() == 1) {
    for (const BenchInput& input : BenchInputs()) {
      if (input.name == args[0]) return input;
    }
    return std::nullopt;
  }
  const std::optional<BenchKernel> kernel = KernelByName(args[0]);
  if (args.size() != 3 || !kernel.has_value()) return std::nullopt;
  BenchInput input{args[0], *kernel};
  if (!absl::SimpleAtoi(args[1], &input.ctas) || !absl::SimpleAtoi(args[2], &input.iterations)) {
    return std::nullopt;
  }
  return input;
}

int Main(std::vector<std::string> args) {
  const bool gzip = !args.empty() && args.back() == "--gzip";
  if (gzip) args.pop_back();
  std::optional<BenchInput> input;
  if (args.size() > 1) input = ParseInput({args.begin() + 1, args.end()});
  if (!input.has_value()) {
    std::fputs("usage: bench_traces OUT (NAME | KERNEL CTAS ITERATIONS) [--gzip]\n", stderr);
    return 2;
  }
  std::error_code ignored;
  std::filesystem::create_directories(args[0], ignored);
  const absl::Status written = WriteBenchTrace(*input, args[0], gzip);
  if (!written.ok()) {
    std::fprintf(stderr, "bench_traces: %s\n", std::string(written.message()).c_str());
    return 1;
  }
  std::printf("%llu\n", static_cast<unsigned long long>(WarpInstructions(*input)));
  return 0;
}

}  // namespace
}  // namespace sm89::perf

int main(int argc, char** argv) { return sm89::perf::Main({argv + 1, argv + argc}); }
