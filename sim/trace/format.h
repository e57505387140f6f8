// Constants of the compact trace format. FORMAT.md is the description; this file is the only place where
// its numbers live in code.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace sm89 {

// First bytes of every file. The line feed catches transfers that rewrite line ends.
inline constexpr std::string_view kCompactMagic{"SM89TRC\n", 8};
inline constexpr uint32_t kCompactVersion = 1;
inline constexpr size_t kCompactHeaderBytes = 256;

enum class SectionKind : uint32_t { kSet = 1, kKernels = 2, kStatics = 3, kChunks = 4 };
// Sections in the order of the header's table and of the file.
inline constexpr std::array<SectionKind, 4> kSectionOrder = {SectionKind::kSet, SectionKind::kKernels,
                                                             SectionKind::kStatics, SectionKind::kChunks};
std::string_view Name(SectionKind kind);

// Control bytes of a warp's instruction stream.
inline constexpr uint8_t kOpExplicit = 0x80;  // clear: a run of (byte + 1) plain instructions
inline constexpr uint8_t kOpJump = 0x40;      // static id is not the previous one + 1
inline constexpr uint8_t kOpMask = 0x20;      // active mask changes (never together with kOpAddress)
inline constexpr uint8_t kOpAddress = 0x10;   // carries addresses
inline constexpr uint8_t kOpShape = 0x08;     // shape differs from the slot's last one
inline constexpr uint8_t kOpResidual = 0x04;  // base differs from the predicted one
inline constexpr uint8_t kOpReserved = 0x03;  // must be 0
inline constexpr uint32_t kMaxRun = 128;

// Shares of a chunk, in the order of its column table.
enum class Column : uint8_t { kShapes, kShapeLists, kSlotLists, kBlobs, kPieces, kBases, kOps, kAux };
inline constexpr size_t kNumColumns = 8;

// What a writer aims at. A reader does not depend on these.
inline constexpr uint32_t kSegmentInstructions = 4096;  // of one warp
inline constexpr uint32_t kSegmentBytes = 16 << 10;     // of one warp, encoded
inline constexpr uint32_t kSegmentShapeLanes = 256;     // of one warp: addresses held by its own shapes
// Of one warp: addresses held by all shapes that the segment uses. A chunk repeats each shape it uses, at
// most 10 bytes an address: 64 warps' segments with these bounds take 6 MiB, which kMaxChunkBytes has room
// for.
inline constexpr uint32_t kSegmentUsedLanes = 32 * kSegmentShapeLanes;
inline constexpr uint64_t kChunkTargetBytes = 1 << 20;  // unpacked, counting 8 bytes an address held
// The same of a chunk that ends inside a thread block, for each warp of the block. A chunk is in memory while
// a warp is inside it, and warps of a block drift apart, so that this bounds what long warps hold: with an
// RTX 4090 full of warps that load from scattered addresses a run takes 180 MiB (16 KiB here: 490 MiB).
inline constexpr uint64_t kChunkWarpBytes = 4 << 10;
inline constexpr uint64_t kMaxOpenCtaBytes = uint64_t{1} << 30;  // held of a CTA until it is complete

// What a reader accepts (writers keep well inside). Every allocation is checked against one of these first.
inline constexpr uint64_t kMaxSectionBytes = uint64_t{256} << 20;  // unpacked
inline constexpr uint64_t kMaxChunkBytes = uint64_t{16} << 20;     // unpacked
inline constexpr uint64_t kMaxChunkAddresses = uint64_t{8} << 20;  // lanes of shapes + first bases
inline constexpr uint64_t kMaxChunkWarps = uint64_t{1} << 20;
// Predictor cells that reading a chunk may create: a warp's highest slot + 1, again in each kernel. A
// writer's chunk stays below half of it: its kernels meet their slots one by one, 8 bytes of chunk weight
// each.
inline constexpr uint64_t kMaxChunkPredictors = uint64_t{1} << 28;
inline constexpr uint64_t kMaxShapes = UINT32_MAX;          // of all chunks: their ids are 32 bits
inline constexpr uint64_t kMaxStatics = uint64_t{4} << 20;  // of all tables of a file
inline constexpr uint64_t kMaxKernels = uint64_t{1} << 20;
inline constexpr uint64_t kMaxCtaRuns = uint64_t{16} << 20;  // of all kernels
inline constexpr uint64_t kMaxChunks = uint64_t{4} << 20;
inline constexpr uint64_t kMaxCommands = uint64_t{4} << 20;
inline constexpr uint64_t kMaxNotes = uint64_t{1} << 16;  // marks; warnings
// Memory instructions of a kernel with a predictor of their own; instruction n uses predictor n % kMaxSlots.
inline constexpr uint32_t kMaxSlots = 1 << 15;
inline constexpr uint32_t kMaxWarpsPerCta = 64;  // the architecture allows 32 (1024 threads)

}  // namespace sm89
