// Fuzz target: any text is either refused with faults, or a launch file whose launches can be placed, checked
// against a kernel, filled and packed.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "sim/base/assert.h"
#include "sim/base/fault.h"
#include "sim/launch/buffers.h"
#include "sim/launch/launch.h"
#include "sim/launch/outputs.h"

namespace {

constexpr uint64_t kMaxBufferBytes = 1 << 20;  // of a launch that is filled

// A kernel that takes exactly the launch's arguments.
sm89::cubin::Function FittingKernel(const sm89::launch::LaunchSpec& launch) {
  sm89::cubin::Function function;
  function.name = launch.kernel;
  function.registers = 32;
  for (const sm89::launch::Arg& arg : launch.args) {
    const auto size = static_cast<uint32_t>(arg.bytes.size());
    const uint32_t offset = (function.param_bytes + 7) / 8 * 8;
    function.params.push_back({static_cast<uint32_t>(function.params.size()), offset, size});
    function.param_bytes = offset + size;
  }
  return function;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto file = sm89::launch::ParseLaunches(text, {.name = "fuzz"});
  if (!file.ok()) {
    SM89_ASSERT(!sm89::FaultsOf(file.status()).empty(), "a refused text has at least one fault");
    return 0;
  }
  SM89_ASSERT(!file->launches.empty(), "a file that is read has something to run");
  for (const sm89::launch::LaunchSpec& launch : file->launches) {
    const sm89::cubin::Function function = FittingKernel(launch);
    if (!CheckLaunch(launch, function, 89, {.buffer_bytes = kMaxBufferBytes}).ok()) continue;
    const auto plan = PlanAddresses(launch);
    const auto block = PackParams(function, launch, plan);
    SM89_ASSERT(block.ok() && block->size() == function.param_bytes, "checked arguments can be packed");
    for (size_t i = 0; i < launch.buffers.size(); ++i) {
      const auto bytes = MakeBuffer(launch.buffers[i], plan.buffers[i].address);
      SM89_ASSERT(bytes.ok() && bytes->size() == launch.buffers[i].size_bytes(), "generators always succeed");
      SM89_ASSERT(Summarise(launch.buffers[i], *bytes).head.size() <= sm89::launch::kHeadElements, "a head");
    }
  }
  return 0;
}
