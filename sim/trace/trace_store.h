// The open file behind a reader: its tables and its chunks, unpacked on demand. Shared by reader, CTAs and
// cursors; everything here may be used from several threads at once.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "sim/trace/chunk.h"
#include "sim/trace/mapped_file.h"
#include "sim/trace/metadata.h"

namespace sm89 {

// Where a piece lies.
struct PiecePlace {
  uint64_t chunk = 0;
  size_t piece = 0;  // inside the chunk
};

class TraceStore {
 public:
  static absl::StatusOr<std::shared_ptr<TraceStore>> Open(const std::string& path);

  const TraceSetInfo& info() const { return info_; }
  const std::string& digest() const { return header_.digest_hex; }
  const KernelRecord& kernel(uint32_t k) const { return kernels_[k]; }
  size_t num_kernels() const { return kernels_.size(); }
  const StaticTableData& table(uint32_t kernel) const { return tables_[kernels_[kernel].table]; }
  size_t num_chunks() const { return chunks_.size(); }

  // `piece` is the number in the file, below the number of pieces that the kernels' CTAs have.
  PiecePlace Locate(uint64_t piece) const;
  // Unpacked and parsed; the same object for everybody while anybody holds it, and for the last few chunks.
  absl::StatusOr<std::shared_ptr<const Chunk>> GetChunk(uint64_t chunk);
  // DATA_LOSS naming the file, `what` and where it lies.
  absl::Status Damage(std::string what, uint64_t offset, std::string message) const;
  uint64_t chunk_offset(uint64_t chunk) const { return chunks_[chunk].offset; }

 private:
  struct ChunkState {
    ChunkEntry entry;
    uint64_t offset = 0;  // in the file
    uint64_t first_piece = 0;
    uint32_t first_shape = 0;
    bool loading = false;               // guarded by mutex_
    std::weak_ptr<const Chunk> loaded;  // guarded by mutex_
  };
  // Chunks kept though nobody holds them: CTAs that share a chunk are often opened one after the other.
  static constexpr size_t kKeptChunks = 4;

  absl::Status ReadHeader();
  absl::StatusOr<std::string> ReadSection(SectionKind kind) const;
  absl::Status ReadTables();
  absl::Status PlaceChunks(const std::vector<ChunkEntry>& entries);
  absl::StatusOr<std::shared_ptr<const Chunk>> Load(uint64_t chunk) const;
  void Keep(const std::shared_ptr<const Chunk>& chunk);

  std::string path_;
  std::unique_ptr<MappedFile> file_;
  FileHeader header_;
  TraceSetInfo info_;
  std::vector<KernelRecord> kernels_;
  std::vector<StaticTableData> tables_;
  std::vector<uint32_t> slots_of_kernel_;
  std::mutex mutex_;
  std::condition_variable loaded_;
  std::vector<ChunkState> chunks_;
  std::deque<std::shared_ptr<const Chunk>> kept_;  // most recent first; guarded by mutex_
};

}  // namespace sm89
