// Buffers of a launch: where they lie in device memory and what they hold before it starts.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "sim/launch/launch.h"

namespace sm89::launch {

// Assumption: addresses look like the ones that a 64-bit Linux process sees. Everything from here on belongs
// to launch buffers; module globals, local and shared windows must lie below.
inline constexpr uint64_t kBufferBase = 0x7f0000000000;
// Unmapped bytes before, between and after buffers, so that a stray index meets no other buffer.
inline constexpr uint64_t kGuardBytes = 64 * 1024;

struct PlacedBuffer {
  uint64_t address = 0;
  uint64_t size_bytes = 0;
};

// Deterministic: depends on the sizes and alignments alone.
struct AddressPlan {
  std::vector<PlacedBuffer> buffers;  // as LaunchSpec::buffers
  uint64_t end = kBufferBase;         // first address after the last guard
};

AddressPlan PlanAddresses(const LaunchSpec& spec);

// The bytes of `buffer` (size_bytes() of them) when it lies at `device_address`. Fails only for kFile: the
// file is absent or its size differs.
absl::StatusOr<std::vector<uint8_t>> MakeBuffer(const BufferSpec& buffer, uint64_t device_address);

// The kernel's parameter block (function.param_bytes bytes): each argument at its KPARAM_INFO offset, with
// buffer addresses filled in. Faults name the argument.
absl::StatusOr<std::vector<uint8_t>> PackParams(const cubin::Function& function, const LaunchSpec& spec,
                                                const AddressPlan& plan);

}  // namespace sm89::launch
