// zstd: any number of frames, window bounded.
#include <zstd.h>
#include <zstd_errors.h>

#include "absl/strings/str_cat.h"
#include "sim/base/assert.h"
#include "sim/base/fault.h"
#include "sim/base/status_macros.h"
#include "sim/ingest/byte_source.h"
#include "sim/ingest/limits.h"

namespace sm89 {
namespace {

absl::Status WindowTooLarge(const std::string& file) {
  Fault fault;
  fault.file = file;
  fault.field = "zstd window";
  fault.expected = absl::StrCat("at most 2^", kZstdWindowLogMax, " bytes (the default of every level)");
  fault.message = "the zstd stream needs a larger window than is allowed";
  fault.facts = {{"limit_bytes", absl::StrCat(uint64_t{1} << kZstdWindowLogMax)}};
  return InputError(absl::StatusCode::kResourceExhausted, fault);
}

class ZstdSource final : public ByteSource {
 public:
  ZstdSource(std::unique_ptr<InputFile> file, IngestContext& context)
      : input_(std::move(file), context), decoder_(ZSTD_createDCtx()) {
    SM89_ASSERT(decoder_ != nullptr, "out of memory for a zstd decoder");
    const size_t code = ZSTD_DCtx_setParameter(decoder_, ZSTD_d_windowLogMax, kZstdWindowLogMax);
    SM89_ASSERT(ZSTD_isError(code) == 0, "zstd window limit");
  }
  ~ZstdSource() override { ZSTD_freeDCtx(decoder_); }

  absl::StatusOr<size_t> Read(char* out, size_t size) override {
    while (true) {
      RETURN_IF_ERROR(input_.Fill());
      // At the end of the input the decoder may still hold output of the last block.
      if (input_.at_end() && in_frame_ == 0) return size_t{0};
      ZSTD_inBuffer in = {input_.data(), input_.size(), 0};
      ZSTD_outBuffer to = {out, size, 0};
      const bool at_end = input_.at_end();
      in_frame_ = ZSTD_decompressStream(decoder_, &to, &in);
      input_.Consume(in.pos);
      if (ZSTD_isError(in_frame_) != 0) return DecodeError();
      if (to.pos > 0) return to.pos;
      if (at_end && in_frame_ != 0) return TruncatedStream(input_.name(), "zstd");
    }
  }

 private:
  absl::Status DecodeError() {
    const size_t code = in_frame_;
    in_frame_ = 1;
    if (ZSTD_getErrorCode(code) == ZSTD_error_frameParameter_windowTooLarge) {
      return WindowTooLarge(input_.name());
    }
    return CorruptStream(input_.name(), "zstd", ZSTD_getErrorName(code));
  }

  PackedInput input_;
  ZSTD_DCtx* decoder_;
  size_t in_frame_ = 1;  // 0 = between frames; an empty input is no complete stream
};

}  // namespace

std::unique_ptr<ByteSource> MakeZstdSource(std::unique_ptr<InputFile> file, IngestContext& context) {
  return std::make_unique<ZstdSource>(std::move(file), context);
}

}  // namespace sm89
