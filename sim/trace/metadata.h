// Everything of a compact trace but its chunks, to bytes and back: header, set, kernels, static tables,
// chunk index.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "sim/trace/byte_io.h"
#include "sim/trace/format.h"
#include "sim/trace/trace_types.h"

namespace sm89 {

struct SectionEntry {
  SectionKind kind = SectionKind::kSet;
  uint32_t crc = 0;  // of the stored bytes
  uint64_t offset = 0;
  uint64_t stored_bytes = 0;
  uint64_t raw_bytes = 0;
};

struct FileHeader {
  uint64_t file_bytes = 0;
  std::string digest_hex;
  std::array<SectionEntry, kSectionOrder.size()> sections;
};
std::string EncodeHeader(const FileHeader& header);
// `bytes` are the first kCompactHeaderBytes of the file (or fewer: truncated). INVALID_ARGUMENT for another
// format or version, DATA_LOSS for a damaged header; plain texts.
absl::StatusOr<FileHeader> DecodeHeader(std::string_view bytes);

// CTAs with consecutive linear ids (x fastest) and equally many segments.
struct CtaRun {
  uint64_t first_index = 0;   // in file order
  uint64_t first_linear = 0;  // linear id of its first CTA
  uint64_t count = 0;
  uint64_t segments = 1;     // pieces a CTA
  uint64_t first_piece = 0;  // number in the file
};

struct KernelRecord {
  KernelInfo info;
  uint32_t table = 0;  // static table number
  std::vector<CtaRun> runs;
};

// A static table as a reader uses it.
struct StreamStatic {
  uint32_t static_id = 0;      // place in `insts`
  uint32_t slot = UINT32_MAX;  // predictor slot; UINT32_MAX = never with addresses
};
struct StaticTableData {
  std::vector<StaticInst> insts;           // by (pc, order met)
  std::vector<StreamStatic> by_stream_id;  // numbers in the warp streams, in the order met
  uint32_t num_slots = 0;
};

struct ChunkEntry {
  uint64_t stored_bytes = 0;
  uint64_t raw_bytes = 0;
  uint64_t pieces = 0;
  uint64_t shapes = 0;
  uint32_t crc = 0;  // of the stored bytes
};

// 1 to kMaxWarpsPerCta * kWarpSize threads.
bool IsPossibleBlock(const Dim3& block);

void AppendKernelInfo(std::string* out, const KernelInfo& kernel);
void AppendStaticInst(std::string* out, const StaticInst& inst);
void AppendCommand(std::string* out, const TraceCommand& command);

std::string EncodeSet(const TraceSetInfo& set);  // kernels excepted
std::string EncodeKernels(const std::vector<KernelRecord>& kernels);
// `slots` by stream id; UINT32_MAX = none.
std::string EncodeStaticTable(const std::vector<const StaticInst*>& by_stream_id,
                              const std::vector<uint32_t>& slots);
std::string EncodeChunks(const std::vector<ChunkEntry>& chunks);

// The decoders answer false for bytes that no encoder wrote.
bool DecodeSet(std::string_view bytes, uint64_t num_kernels, TraceSetInfo* set);
bool DecodeKernels(std::string_view bytes, uint64_t num_tables, std::vector<KernelRecord>* kernels);
bool DecodeStaticTables(std::string_view bytes, std::vector<StaticTableData>* tables);
bool DecodeChunks(std::string_view bytes, std::vector<ChunkEntry>* chunks);

}  // namespace sm89
