// Bytes of a trace file as they were before compression: streamed, in this process, in bounded memory.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "sim/ingest/ingest_context.h"
#include "sim/ingest/input_file.h"

namespace sm89 {

// Not thread-safe.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  // Up to `size` bytes into `out`; 0 = the clean end. DATA_LOSS: the compressed stream ends early (the
  // bytes given before it are good). INVALID_ARGUMENT: corrupt. RESOURCE_EXHAUSTED: a bound was reached.
  virtual absl::StatusOr<size_t> Read(char* out, size_t size) = 0;
};

enum class Packing { kPlain, kGzip, kXz, kZstd };

// By the file's first bytes, whatever its name says; a name that promises another packing is
// INVALID_ARGUMENT.
absl::StatusOr<Packing> SniffPacking(InputFile& file);

// The file's unpacked bytes; charges the context's budget and polls its cancellation. Takes the file over.
absl::StatusOr<std::unique_ptr<ByteSource>> OpenByteSource(std::unique_ptr<InputFile> file,
                                                           IngestContext& context);

// One a packing; `file` is at its start.
std::unique_ptr<ByteSource> MakeGzipSource(std::unique_ptr<InputFile> file, IngestContext& context);
std::unique_ptr<ByteSource> MakeXzSource(std::unique_ptr<InputFile> file, IngestContext& context);
std::unique_ptr<ByteSource> MakeZstdSource(std::unique_ptr<InputFile> file, IngestContext& context);

// Faults that the three share.
absl::Status TruncatedStream(const std::string& file, const char* packing);
absl::Status CorruptStream(const std::string& file, const char* packing, const std::string& why);

// Buffered compressed input of the packed sources.
class PackedInput {
 public:
  PackedInput(std::unique_ptr<InputFile> file, IngestContext& context);

  const std::string& name() const { return file_->name(); }
  // Refills when all was consumed. Polls cancellation.
  absl::Status Fill();
  const char* data() const { return buffer_.data() + begin_; }
  size_t size() const { return end_ - begin_; }
  bool at_end() const { return at_end_ && begin_ == end_; }
  void Consume(size_t bytes) { begin_ += bytes; }

 private:
  std::unique_ptr<InputFile> file_;
  IngestContext& context_;
  std::string buffer_;
  size_t begin_ = 0;
  size_t end_ = 0;
  bool at_end_ = false;
};

}  // namespace sm89
