// The kernels of tests/data/kernels: code that we compiled, launches, and what an H200 computed.
#pragma once

#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "sim/api/simulator.h"
#include "sim/base/status_macros.h"
#include "sim/replay/emulation.h"
#include "sim/replay/program.h"

namespace sm89::testing {

inline std::string ExampleKernelPath(const std::string& file) {
  return std::string(SM89_SOURCE_DIR) + "/tests/data/kernels/" + file;
}

inline std::vector<std::string> ExampleKernelNames() {
  return {"vector_add", "sgemm_tiled", "sgemm_register", "tensor_gemm",
          "reduction",  "divergent",   "histogram"};
}

inline std::string ExampleKernelText(const std::string& file) {
  std::ifstream in(ExampleKernelPath(file), std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// One simulation of one kernel's launch, executed as it is simulated.
struct ExampleRun {
  std::shared_ptr<Emulation> emulation;
  RunReport report;
};

// `slice`: cycles a call of Advance.
inline absl::StatusOr<ExampleRun> RunExampleKernel(const std::string& kernel, uint32_t threads,
                                                   uint64_t slice, bool profile = false) {
  ASSIGN_OR_RETURN(const Program program, CollectProgram({.cubin = ExampleKernelPath(kernel + ".sm_89.cubin"),
                                                          .cubin_folder = "",
                                                          .launches = ExampleKernelPath(kernel + ".json"),
                                                          .cases = {}}));
  ExampleRun run;
  SimulatorOptions options;
  ASSIGN_OR_RETURN(options.config, LoadConfig("RTX4090", {}, {}));
  ASSIGN_OR_RETURN(run.emulation, Emulation::Create(program, {}));
  options.emulation = run.emulation;
  options.threads = threads;
  options.profile = profile;
  ASSIGN_OR_RETURN(const std::unique_ptr<Simulator> simulator, Simulator::Create(std::move(options)));
  bool done = false;
  while (!done) {
    ASSIGN_OR_RETURN(const SimProgress progress, simulator->Advance(slice));
    done = progress.done;
  }
  run.report = simulator->Report();
  return run;
}

}  // namespace sm89::testing
