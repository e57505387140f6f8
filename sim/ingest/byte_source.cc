#include "sim/ingest/byte_source.h"

#include <array>
#include <string_view>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "sim/base/fault.h"
#include "sim/base/status_macros.h"
#include "sim/base/strings.h"
#include "sim/ingest/limits.h"

namespace sm89 {
namespace {

constexpr size_t kPackedBufferBytes = size_t{64} << 10;

struct PackingRow {
  Packing packing;
  std::string_view magic;
  std::string_view suffix;
  const char* name;
};
constexpr std::array<PackingRow, 3> kPackings = {{
    {Packing::kGzip, "\x1f\x8b", ".gz", "gzip"},
    {Packing::kXz,
     std::string_view("\xfd"
                      "7zXZ\0",
                      6),
     ".xz", "xz"},
    {Packing::kZstd, "\x28\xb5\x2f\xfd", ".zst", "zstd"},
}};

class PlainSource final : public ByteSource {
 public:
  PlainSource(std::unique_ptr<InputFile> file, IngestContext& context)
      : file_(std::move(file)), context_(context) {}

  absl::StatusOr<size_t> Read(char* out, size_t size) override {
    RETURN_IF_ERROR(context_.CheckCancelled());
    ASSIGN_OR_RETURN(const size_t got, file_->Read(out, size));
    context_.CountInputBytes(got);
    return got;
  }

 private:
  std::unique_ptr<InputFile> file_;
  IngestContext& context_;
};

// Charges what another source gives.
class BudgetedSource final : public ByteSource {
 public:
  BudgetedSource(std::unique_ptr<ByteSource> inner, std::string name, IngestContext& context)
      : inner_(std::move(inner)), name_(std::move(name)), context_(context) {}

  absl::StatusOr<size_t> Read(char* out, size_t size) override {
    ASSIGN_OR_RETURN(const size_t got, inner_->Read(out, size));
    RETURN_IF_ERROR(context_.ChargeUnpacked(got, name_));
    return got;
  }

 private:
  std::unique_ptr<ByteSource> inner_;
  const std::string name_;
  IngestContext& context_;
};

}  // namespace

absl::StatusOr<Packing> SniffPacking(InputFile& file) {
  std::array<char, 6> head{};
  ASSIGN_OR_RETURN(const size_t got, file.ReadAt(0, head.data(), head.size()));
  const absl::string_view bytes(head.data(), got);
  Packing found = Packing::kPlain;
  for (const PackingRow& row : kPackings) {
    if (absl::StartsWith(bytes, Av(row.magic))) found = row.packing;
  }
  for (const PackingRow& row : kPackings) {
    if (!absl::EndsWith(file.name(), Av(row.suffix)) || row.packing == found || got == 0) continue;
    Fault fault;
    fault.file = file.name();
    fault.expected = absl::StrCat(row.name, " data, as the name says");
    fault.message = absl::StrCat("the name ends in ", Av(row.suffix), " but the content is not ", row.name);
    return InputError(absl::StatusCode::kInvalidArgument, fault);
  }
  return found;
}

absl::StatusOr<std::unique_ptr<ByteSource>> OpenByteSource(std::unique_ptr<InputFile> file,
                                                           IngestContext& context) {
  const std::string name = file->name();
  ASSIGN_OR_RETURN(const Packing packing, SniffPacking(*file));
  if (packing == Packing::kPlain && context.plain_bytes_charged()) {
    return std::unique_ptr<ByteSource>(std::make_unique<PlainSource>(std::move(file), context));
  }
  std::unique_ptr<ByteSource> source;
  switch (packing) {
    case Packing::kPlain:
      source = std::make_unique<PlainSource>(std::move(file), context);
      break;
    case Packing::kGzip:
      source = MakeGzipSource(std::move(file), context);
      break;
    case Packing::kXz:
      source = MakeXzSource(std::move(file), context);
      break;
    case Packing::kZstd:
      source = MakeZstdSource(std::move(file), context);
      break;
  }
  return std::unique_ptr<ByteSource>(std::make_unique<BudgetedSource>(std::move(source), name, context));
}

absl::Status TruncatedStream(const std::string& file, const char* packing) {
  Fault fault;
  fault.file = file;
  fault.expected = absl::StrCat("a complete ", packing, " stream");
  fault.message = absl::StrCat("the ", packing, " stream is truncated");
  fault.facts = {{"truncated", packing}};
  return InputError(absl::StatusCode::kDataLoss, fault);
}

absl::Status CorruptStream(const std::string& file, const char* packing, const std::string& why) {
  Fault fault;
  fault.file = file;
  fault.expected = absl::StrCat("valid ", packing, " data");
  fault.message = absl::StrCat("the ", packing, " stream is corrupt: ", why);
  fault.facts = {{"corrupt", packing}};
  return InputError(absl::StatusCode::kInvalidArgument, fault);
}

PackedInput::PackedInput(std::unique_ptr<InputFile> file, IngestContext& context)
    : file_(std::move(file)), context_(context), buffer_(kPackedBufferBytes, '\0') {}

absl::Status PackedInput::Fill() {
  if (begin_ < end_ || at_end_) return absl::OkStatus();
  RETURN_IF_ERROR(context_.CheckCancelled());
  ASSIGN_OR_RETURN(const size_t got, file_->Read(buffer_.data(), buffer_.size()));
  context_.CountInputBytes(got);
  begin_ = 0;
  end_ = got;
  at_end_ = got == 0;
  return absl::OkStatus();
}

}  // namespace sm89
