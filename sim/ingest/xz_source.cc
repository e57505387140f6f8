// xz through liblzma: concatenated streams, decoder memory bounded.
#include <lzma.h>

#include "absl/strings/str_cat.h"
#include "sim/base/assert.h"
#include "sim/base/fault.h"
#include "sim/base/status_macros.h"
#include "sim/ingest/byte_source.h"
#include "sim/ingest/limits.h"

namespace sm89 {
namespace {

absl::Status NeedsTooMuchMemory(const std::string& file, uint64_t needed_bytes) {
  Fault fault;
  fault.file = file;
  fault.field = "xz dictionary";
  fault.value = absl::StrCat(needed_bytes, " bytes");
  fault.expected = absl::StrCat("at most ", kXzMemoryLimitBytes, " bytes to unpack (xz -9 is fine)");
  fault.message = "the xz stream needs more memory to unpack than is allowed";
  fault.facts = {{"limit_bytes", absl::StrCat(kXzMemoryLimitBytes)}};
  return InputError(absl::StatusCode::kResourceExhausted, fault);
}

class XzSource final : public ByteSource {
 public:
  XzSource(std::unique_ptr<InputFile> file, IngestContext& context) : input_(std::move(file), context) {
    const lzma_ret code = lzma_stream_decoder(&stream_, kXzMemoryLimitBytes, LZMA_CONCATENATED);
    SM89_ASSERT(code == LZMA_OK, "out of memory for an xz decoder");
  }
  ~XzSource() override { lzma_end(&stream_); }

  absl::StatusOr<size_t> Read(char* out, size_t size) override {
    stream_.next_out = reinterpret_cast<uint8_t*>(out);
    stream_.avail_out = size;
    while (stream_.avail_out == size && !done_) RETURN_IF_ERROR(Step());
    return size - stream_.avail_out;
  }

 private:
  absl::Status Step() {
    RETURN_IF_ERROR(input_.Fill());
    stream_.next_in = reinterpret_cast<const uint8_t*>(input_.data());
    stream_.avail_in = input_.size();
    const lzma_ret code = lzma_code(&stream_, input_.at_end() ? LZMA_FINISH : LZMA_RUN);
    input_.Consume(input_.size() - stream_.avail_in);
    switch (code) {
      case LZMA_OK:
        return absl::OkStatus();
      case LZMA_STREAM_END:
        done_ = true;
        return absl::OkStatus();
      case LZMA_MEMLIMIT_ERROR:
        return NeedsTooMuchMemory(input_.name(), lzma_memusage(&stream_));
      case LZMA_BUF_ERROR:
        return TruncatedStream(input_.name(), "xz");
      case LZMA_FORMAT_ERROR:
        return CorruptStream(input_.name(), "xz", "not an xz stream");
      case LZMA_OPTIONS_ERROR:
        return CorruptStream(input_.name(), "xz", "unsupported options");
      default:
        return CorruptStream(input_.name(), "xz", "bad data or checksum");
    }
  }

  PackedInput input_;
  lzma_stream stream_ = LZMA_STREAM_INIT;
  bool done_ = false;
};

}  // namespace

std::unique_ptr<ByteSource> MakeXzSource(std::unique_ptr<InputFile> file, IngestContext& context) {
  return std::make_unique<XzSource>(std::move(file), context);
}

}  // namespace sm89
