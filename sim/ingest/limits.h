// Bounds of the text readers. Each is far above anything a tracer writes and small enough that a hostile
// input cannot take the machine's memory or time with it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sm89 {

inline constexpr size_t kReadChunkBytes = size_t{256} << 10;   // one refill of a line reader
inline constexpr size_t kMaxLineBytes = size_t{1} << 20;       // longest line of a kernel file
inline constexpr size_t kMaxHeaderLines = 4096;                // lines before the first '#'
inline constexpr size_t kMaxListLineBytes = size_t{64} << 10;  // longest line of a kernels list
inline constexpr size_t kMaxListCommands = 2'000'000;
inline constexpr size_t kMaxIgnoredTextBytes = 120;  // kept of a list line that has no effect
inline constexpr size_t kMaxKernelNameBytes = size_t{64} << 10;
inline constexpr size_t kMaxVersionTextBytes = 64;  // of NVBit
inline constexpr size_t kMaxOpcodeBytes = 128;
inline constexpr size_t kMaxStaticInsts = size_t{1} << 20;     // distinct static instructions a kernel
inline constexpr size_t kMaxCtaRunsAKernel = size_t{1} << 22;  // runs of consecutive CTA ids kept a kernel
inline constexpr size_t kMaxFaultyKernels = 50;                // kernels read on after the first refused one

// Decoder memory: xz -9 needs 65 MiB and zstd --ultra -22 a 128 MiB window; larger ones are refused.
inline constexpr uint64_t kXzMemoryLimitBytes = uint64_t{160} << 20;
inline constexpr int kZstdWindowLogMax = 27;
inline constexpr uint64_t kMaxTracezDictBytes = uint64_t{1} << 20;  // the writer caps it at 64 KiB
inline constexpr uint64_t kMaxTracezFrameBytes = uint64_t{64}
                                                 << 20;  // 2,048 lines of at most 1,000 bytes are 2 MiB

// LDGSTS has two memory operands. Older post-processing keeps a line for each, the shared one first. Offsets
// in shared memory lie below this (an SM of any architecture has less), device memory above.
inline constexpr uint64_t kSharedSideEnd = uint64_t{1} << 20;

// Folders and archives.
inline constexpr int kMaxFolderDepth = 16;
inline constexpr size_t kMaxFolderEntries = 1'000'000;
inline constexpr size_t kMaxMemberPathBytes = 4096;

}  // namespace sm89
