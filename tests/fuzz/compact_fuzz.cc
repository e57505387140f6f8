// Fuzz target: the compact trace reader behind its checksums. The first byte of the input chooses the parser;
// the checksums that would hide the parsers from a fuzzer are made here.
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/assert.h"
#include "sim/trace/byte_io.h"
#include "sim/trace/chunk.h"
#include "sim/trace/compact_reader.h"
#include "sim/trace/format.h"
#include "sim/trace/metadata.h"
#include "sim/trace/packing.h"

namespace sm89 {
namespace {

enum Mode : uint8_t { kHeader = '0', kSet, kKernels, kStatics, kChunks, kChunk, kFile };

// A chunk's own directory says how many shapes and pieces it claims to have.
ChunkEntry EntryOf(std::string_view raw) {
  ByteReader in(raw);
  ChunkEntry entry;
  entry.shapes = in.Varint();
  for (int i = 0; i < 4; ++i) in.Varint();
  entry.pieces = in.Varint();
  return entry;
}

void FuzzChunk(std::string_view raw) {
  const ChunkEntry entry = EntryOf(raw);
  const std::vector<uint32_t> slots(8, 64);
  const auto chunk = Chunk::Parse(std::string(raw),
                                  {.pieces = entry.pieces, .shapes = entry.shapes, .slots_of_kernel = slots});
  if (!chunk.ok()) return;
  for (size_t p = 0; p < chunk->num_pieces(); ++p) {
    for (const WarpSegment& warp : chunk->warps(p)) {
      SM89_ASSERT(chunk->FindWarp(p, warp.warp) == &warp, "every warp of a piece is found");
      if (warp.instructions == 0) continue;
      SM89_ASSERT(chunk->slot_list(warp).size() == chunk->first_bases(warp).size(), "one first base a slot");
    }
  }
}

// Sections set, kernels, statics, then chunks until the end, each with its length before it: a file around
// them.
std::string BuildFile(std::string_view input) {
  ByteReader in(input);
  std::array<std::string, kSectionOrder.size()> raw;
  for (size_t i = 0; i + 1 < raw.size(); ++i) raw[i] = in.Bytes();
  std::string file(kCompactHeaderBytes, '\0');
  std::vector<ChunkEntry> chunks;
  while (in.ok() && !in.AtEnd()) {
    const std::string_view chunk = in.Bytes();
    ChunkEntry entry = EntryOf(chunk);
    const std::string packed = Pack(chunk, 1);
    entry.stored_bytes = packed.size();
    entry.raw_bytes = chunk.size();
    entry.crc = Crc32(packed);
    chunks.push_back(entry);
    file += packed;
  }
  raw.back() = EncodeChunks(chunks);
  FileHeader header;
  header.digest_hex = std::string(64, '0');
  for (size_t i = 0; i < raw.size(); ++i) {
    const std::string packed = Pack(raw[i], 1);
    header.sections[i] = {kSectionOrder[i], Crc32(packed), file.size(), packed.size(), raw[i].size()};
    file += packed;
  }
  header.file_bytes = file.size();
  return EncodeHeader(header) + file.substr(kCompactHeaderBytes);
}

// Bytes as a file without a place in any folder.
class MemoryFile {
 public:
  explicit MemoryFile(std::string_view bytes) : fd_(memfd_create("compact_fuzz", MFD_CLOEXEC)) {
    SM89_ASSERT(fd_ >= 0, "memfd_create");
    SM89_ASSERT(write(fd_, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()), "write");
  }
  ~MemoryFile() { close(fd_); }
  std::string path() const { return "/proc/self/fd/" + std::to_string(fd_); }

 private:
  const int fd_;
};

void FuzzFile(std::string_view input) {
  const MemoryFile file(BuildFile(input));
  const auto reader = CompactReader::Open(file.path());
  if (!reader.ok()) return;
  // A hostile index may promise a run of 2^60 thread blocks that one piece backs; only the chunk index bounds
  // it.
  const absl::Status status = (*reader)->VerifyAll();
  SM89_ASSERT(!status.ok(), "the digest of zeros belongs to no trace");
}

void FuzzSection(uint8_t mode, std::string_view bytes) {
  TraceSetInfo set;
  std::vector<KernelRecord> kernels;
  std::vector<StaticTableData> tables;
  std::vector<ChunkEntry> chunks;
  switch (mode) {
    case kHeader:
      if (const auto header = DecodeHeader(bytes); header.ok()) {
        SM89_ASSERT(EncodeHeader(*header) == bytes.substr(0, kCompactHeaderBytes),
                    "a good header is canonical");
      }
      break;
    case kSet:
      DecodeSet(bytes, 8, &set);
      break;
    case kKernels:
      DecodeKernels(bytes, 8, &kernels);
      break;
    case kStatics:
      DecodeStaticTables(bytes, &tables);
      break;
    case kChunks:
      DecodeChunks(bytes, &chunks);
      break;
    default:
      break;
  }
}

}  // namespace
}  // namespace sm89

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0]) {
    case sm89::kChunk:
      sm89::FuzzChunk(bytes);
      break;
    case sm89::kFile:
      sm89::FuzzFile(bytes);
      break;
    default:
      sm89::FuzzSection(data[0], bytes);
      break;
  }
  return 0;
}
