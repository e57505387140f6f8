// Kernels of any words: the first byte picks the architecture, the words after it that the emulator knows
// become a kernel, which runs up to a limit. Whatever it does, it ends with a status, and what the trace sink
// is told fits the code.
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/base/assert.h"
#include "sim/emu/emulator.h"

namespace {

using namespace sm89;
using Code = std::vector<uint8_t>;

constexpr size_t kWordBytes = 16;
constexpr size_t kMaxWords = 64;
constexpr uint32_t kSharedBytes = 4096;

cubin::Module ModuleOf(const Code& code, uint32_t arch) {
  cubin::Function kernel{.name = "k", .is_kernel = true};
  kernel.code = code;
  kernel.registers = 64;
  kernel.static_shared_bytes = kSharedBytes;
  kernel.param_base = arch >= 90 ? 0x210 : 0x160;
  kernel.param_bytes = 8;
  kernel.params = {{.ordinal = 0, .offset = 0, .size_bytes = 8}};
  cubin::Module module;
  module.name = "fuzz.cubin";
  module.arch = arch;
  module.functions.push_back(std::move(kernel));
  return module;
}

// One buffer, two CTAs of two warps, the last of which is not full.
launch::LaunchSpec Launch() {
  launch::LaunchSpec spec;
  spec.id = spec.kernel = "k";
  spec.grid = {2, 1, 1};
  spec.block = {40, 1, 1};
  launch::BufferSpec buffer{.name = "data", .type = launch::DataType::kU32, .count = 1024};
  buffer.generator.init = launch::Init::kIota;
  buffer.output = true;
  launch::Arg arg{.name = "data", .type = "buffer", .bytes = std::vector<uint8_t>(8)};
  arg.pointers.push_back({.offset = 0, .buffer = 0});
  spec.buffers.push_back(buffer);
  spec.args.push_back(arg);
  return spec;
}

class Checker : public emu::TraceSink {
 public:
  explicit Checker(size_t num_instructions) : num_instructions_(num_instructions) {}
  void BeginCta(uint64_t) override {}
  void EndCta(uint64_t) override {}
  void Record(uint32_t warp, uint32_t inst, LaneMask executed, std::span<const uint64_t> addresses) override {
    SM89_ASSERT(warp < 2, "a warp of the CTA");
    SM89_ASSERT(inst < num_instructions_, "an instruction of the code");
    const bool fits = addresses.empty() || addresses.size() == static_cast<size_t>(std::popcount(executed));
    SM89_ASSERT(fits, "one address a lane, or none");
  }

 private:
  size_t num_instructions_;
};

// The words that compile alone, between others so that short jumps stay inside.
Code Known(const uint8_t* data, size_t size, uint32_t arch) {
  Code known;
  for (size_t at = 0; at + kWordBytes <= size && known.size() < kMaxWords * kWordBytes; at += kWordBytes) {
    const cubin::Module one = ModuleOf(Code(data + at, data + at + kWordBytes), arch);
    const absl::Status status = emu::Emulator::Create(one, Launch(), {}).status();
    const bool jumps_out =
        absl::IsInvalidArgument(status) && status.message().find("leaves") != status.message().npos;
    if (status.ok() || jumps_out) known.insert(known.end(), data + at, data + at + kWordBytes);
  }
  return known;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const uint32_t arch = (data[0] & 1) != 0 ? 90 : 89;
  const cubin::Module module = ModuleOf(Known(data + 1, size - 1, arch), arch);
  const auto emulator = emu::Emulator::Create(module, Launch(), {.max_warp_instructions = 2000});
  if (!emulator.ok()) {
    SM89_ASSERT(!emulator.status().message().empty(), "a refusal says why");
    return 0;
  }
  Checker checker((*emulator)->instructions().size());
  const absl::Status status = (*emulator)->RunAll(&checker);
  SM89_ASSERT(status.ok() || !status.message().empty(), "an error says why");
  return 0;
}
