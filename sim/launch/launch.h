// What to run: one kernel launch as a launch file or a suite manifest describes it (LAUNCH.md). Plain values,
// checked for meaning but not yet against a cubin; CheckLaunch and PackParams do that.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "sim/base/types.h"
#include "sim/cubin/module.h"

namespace sm89::launch {

enum class DataType : uint8_t { kI8, kU8, kI16, kU16, kI32, kU32, kI64, kU64, kF16, kBf16, kF32, kF64 };

uint32_t SizeBytes(DataType type);
std::string_view Name(DataType type);  // "i8" ... "f64"
bool IsFloat(DataType type);

enum class Init : uint8_t { kZero, kIota, kUniform, kHash, kCsrRows, kAffine, kChase, kSelf, kLevel, kFile };

std::string_view Name(Init init);  // "zero", "csr_rows" ...

// How a buffer is filled. Only the fields of its `init` mean something (LAUNCH.md has the formulas).
struct Generator {
  Init init = Init::kZero;
  uint64_t seed = 0;          // uniform, hash, csr_rows, level
  double lo = 0;              // uniform
  double hi = 1;              // uniform
  uint64_t mod = 0;           // hash (0 = none), affine
  uint64_t mul = 0;           // affine
  uint64_t add = 0;           // affine
  uint64_t min = 0;           // csr_rows
  uint64_t span = 0;          // csr_rows
  uint64_t stride_bytes = 0;  // chase, self
  std::string file;           // file: the path to open, already joined with the launch file's folder
  std::shared_ptr<const std::string>
      content;  // file: its bytes where they travel with the launch; then none is opened
};

struct BufferSpec {
  std::string name;
  DataType type = DataType::kU32;
  uint64_t count = 0;  // elements
  Generator generator;
  bool output = false;
  uint32_t align_bytes = 256;  // of its device address; a power of two

  uint64_t size_bytes() const { return count * SizeBytes(type); }
};

// A buffer's device address inside an argument's bytes.
struct PointerSlot {
  uint32_t offset = 0;     // bytes from the argument's start; eight bytes, little-endian
  uint32_t buffer = 0;     // index into LaunchSpec::buffers
  uint64_t add_bytes = 0;  // added to the buffer's address
};

// One kernel argument: its bytes (little-endian) with the slots that take device addresses. A scalar has no
// slot, a buffer is eight zero bytes with one.
struct Arg {
  std::string name;  // the buffer's name, the given "name", else "#2"
  std::string type;  // "i32", "buffer", "raw": for messages
  std::vector<uint8_t> bytes;
  std::vector<PointerSlot> pointers;
};

// How results are judged: bytes, values within a bound, not at all.
enum class Compare : uint8_t { kExact, kApprox, kNone };

std::string_view Name(Compare compare);

struct LaunchSpec {
  std::string id;      // unique in its file; a launch without one is called as its kernel
  std::string module;  // manifests only: stem of the cubin's name, "memory" -> memory.sm_89.cubin
  std::string kernel;
  Dim3 grid;
  Dim3 block;
  uint64_t dynamic_shared_bytes = 0;
  bool cooperative = false;
  std::vector<BufferSpec> buffers;  // "buffers" first, then those that arguments declare
  std::vector<Arg> args;
  Compare compare = Compare::kNone;
  std::vector<std::string> tags;

  std::string file;  // where it was read, for messages
  uint64_t line = 0;
};

// A launch file ("launches", or one launch object) or a manifest ("cases").
struct LaunchFile {
  std::string name;
  bool is_manifest = false;
  std::vector<LaunchSpec> launches;  // in file order, never empty

  // The launches called `ids`, in that order; all when it is empty. NOT_FOUND names the nearest ids.
  absl::StatusOr<std::vector<const LaunchSpec*>> Select(const std::vector<std::string>& ids) const;
};

struct ParseOptions {
  std::string name;  // of the text, for messages
  // Folder that "file" paths start from. Absent: raw files are refused (a service must not open local files).
  std::optional<std::string> folder;
};

// The text of a launch file or manifest; every fault at once (INVALID_ARGUMENT).
absl::StatusOr<LaunchFile> ParseLaunches(std::string_view text, const ParseOptions& options);
// Reads `path`; raw files are looked up next to it.
absl::StatusOr<LaunchFile> ReadLaunches(const std::string& path);

// "memory", `arch` 89 -> "<folder>/memory.sm_89.cubin".
std::string CubinPath(const std::string& folder, const std::string& module, uint32_t arch);

struct LaunchLimits {
  uint64_t buffer_bytes = uint64_t{8} << 30;  // all buffers of a launch; assumption: a host's free memory
};

// Dynamic + static shared memory that a CTA may have, reserved part not counted: 99 KiB on sm_86 and sm_89,
// 163 KiB on sm_80, 227 KiB on sm_90 (CUDA C++ programming guide, table of compute capabilities).
uint64_t MaxSharedBytes(uint32_t arch);

// Bounds of the hardware and of `limits`: grid, block, shared memory, launch bounds, registers, buffers; and
// that the arguments fit the kernel's parameters. Every fault at once.
absl::Status CheckLaunch(const LaunchSpec& spec, const cubin::Function& function, uint32_t arch,
                         const LaunchLimits& limits = {});

}  // namespace sm89::launch
