// .tracez: the same lines in zstd frames behind an index. Written from the format's description in the
// tracer of 2026 (version 6); no file by a real tracer was at hand to verify it.
//
//   header text, NUL | u32 dictionary bytes | u32 lines a frame | dictionary
//   at each warp's offset: u32 lines | u32 frames | frames x (u32 bytes | zstd frame of lines joined by \n)
//   index: u32 blocks | blocks x (10 x u32: block xyz, cluster xyz, CTA in cluster xyz, rank | u32 warps |
//     warps x (u32 lines | u32 frames | u64 offset | frames x u32 lines))
//   last 8 bytes: u64 offset of the index. All little-endian.
#include <zstd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "sim/base/assert.h"
#include "sim/base/fault.h"
#include "sim/base/status_macros.h"
#include "sim/base/strings.h"
#include "sim/ingest/kernel_reader.h"
#include "sim/ingest/limits.h"
#include "sim/ingest/text_scan.h"

namespace sm89 {
namespace {

constexpr uint64_t kMaxHeaderBytes = uint64_t{1} << 20;
constexpr uint64_t kTrailerBytes = 8;

// Little-endian numbers of a part of a file, read in chunks.
class NumberReader {
 public:
  NumberReader(InputFile& file, uint64_t offset) : file_(file), next_(offset) {}

  absl::StatusOr<uint32_t> U32() {
    std::array<unsigned char, 4> b{};
    RETURN_IF_ERROR(Bytes(b.data(), b.size()));
    return static_cast<uint32_t>(b[0]) | static_cast<uint32_t>(b[1]) << 8 |
           static_cast<uint32_t>(b[2]) << 16 | static_cast<uint32_t>(b[3]) << 24;
  }
  absl::StatusOr<uint64_t> U64() {
    ASSIGN_OR_RETURN(const uint64_t low, U32());
    ASSIGN_OR_RETURN(const uint64_t high, U32());
    return high << 32 | low;
  }
  absl::Status Bytes(void* out, size_t size) {
    auto* to = static_cast<char*>(out);
    while (size > 0) {
      if (begin_ == buffer_.size()) RETURN_IF_ERROR(Refill());
      const size_t part = std::min(size, buffer_.size() - begin_);
      std::memcpy(to, buffer_.data() + begin_, part);
      to += part;
      size -= part;
      begin_ += part;
    }
    return absl::OkStatus();
  }

 private:
  absl::Status Refill() {
    constexpr size_t kChunk = size_t{64} << 10;
    buffer_.resize(kChunk);
    ASSIGN_OR_RETURN(const size_t got, file_.ReadAt(next_, buffer_.data(), kChunk));
    buffer_.resize(got);
    begin_ = 0;
    next_ += got;
    return got > 0 ? absl::OkStatus() : TruncatedStream(file_.name(), "tracez");
  }

  InputFile& file_;
  uint64_t next_;
  std::string buffer_;
  size_t begin_ = 0;
};

struct WarpEntry {
  uint32_t lines = 0;
  uint32_t frames = 0;
  uint64_t offset = 0;
};

class TracezKernelReader final : public KernelReader {
 public:
  TracezKernelReader(std::unique_ptr<InputFile> file, IngestContext& context)
      : file_(std::move(file)), context_(context), decoder_(ZSTD_createDCtx()) {
    SM89_ASSERT(decoder_ != nullptr, "out of memory for a zstd decoder");
  }
  ~TracezKernelReader() override {
    ZSTD_freeDDict(dictionary_);
    ZSTD_freeDCtx(decoder_);
  }

  absl::StatusOr<KernelHeader> ReadHeader() override;
  absl::Status ReadBody(KernelBuilder& builder, uint64_t max_ctas) override;

 private:
  absl::StatusOr<std::string> HeaderText();
  absl::Status ReadDictionary(uint64_t offset);
  absl::Status Block(NumberReader& index, KernelBuilder& builder);
  absl::StatusOr<WarpEntry> ReadWarpEntry(NumberReader& index);
  absl::Status Warp(const WarpEntry& entry, KernelBuilder& builder);
  absl::Status Frame(NumberReader& data, KernelBuilder& builder);
  absl::Status Lines(std::string_view text, KernelBuilder& builder);
  absl::Status Corrupt(const std::string& why) const { return CorruptStream(file_->name(), "tracez", why); }

  std::unique_ptr<InputFile> file_;
  IngestContext& context_;
  ZSTD_DCtx* decoder_;
  ZSTD_DDict* dictionary_ = nullptr;  // null = the file has none
  KernelHeader header_;
  std::optional<InstParser> parser_;
  ParsedInst inst_;
  std::vector<char> packed_;
  std::vector<char> text_;
};

absl::StatusOr<std::string> TracezKernelReader::HeaderText() {
  std::string text(std::min<uint64_t>(file_->size(), kMaxHeaderBytes), '\0');
  ASSIGN_OR_RETURN(const size_t got, file_->ReadAt(0, text.data(), text.size()));
  text.resize(got);
  const size_t end = text.find('\0');
  if (end == std::string::npos) return Corrupt("the header text has no end");
  text.resize(end);
  return text;
}

absl::StatusOr<KernelHeader> TracezKernelReader::ReadHeader() {
  ASSIGN_OR_RETURN(const std::string text, HeaderText());
  KernelHeaderParser parser(file_->name());
  uint64_t number = 0;
  for (std::string_view rest = text; !rest.empty() && number < kMaxHeaderLines;) {
    std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    if (absl::StartsWith(Av(line), "#")) break;
    parser.Line(line, ++number);
  }
  if (parser.num_keys() == 0) return Corrupt("it has no kernel header");
  const std::vector<Fault> faults = parser.Finish(context_.options());
  if (!faults.empty()) return InputError(absl::StatusCode::kInvalidArgument, "", faults);
  header_ = parser.header();
  RETURN_IF_ERROR(ReadDictionary(text.size() + 1));
  return header_;
}

absl::Status TracezKernelReader::ReadDictionary(uint64_t offset) {
  NumberReader numbers(*file_, offset);
  ASSIGN_OR_RETURN(const uint32_t size, numbers.U32());
  // Lines a frame: the frames say how long they are, nothing else depends on it.
  RETURN_IF_ERROR(numbers.U32().status());
  if (size > kMaxTracezDictBytes) return Corrupt("the dictionary is too large");
  if (size == 0) return absl::OkStatus();
  std::string bytes(size, '\0');
  RETURN_IF_ERROR(numbers.Bytes(bytes.data(), bytes.size()));
  dictionary_ = ZSTD_createDDict(bytes.data(), bytes.size());
  return dictionary_ != nullptr ? absl::OkStatus() : Corrupt("bad dictionary");
}

absl::Status TracezKernelReader::ReadBody(KernelBuilder& builder, uint64_t max_ctas) {
  parser_.emplace(header_.format, file_->name(), builder.table());
  if (file_->size() < kTrailerBytes) return TruncatedStream(file_->name(), "tracez");
  NumberReader trailer(*file_, file_->size() - kTrailerBytes);
  ASSIGN_OR_RETURN(const uint64_t index_offset, trailer.U64());
  // A file cut anywhere loses its trailer: without the index nothing in it can be found.
  if (index_offset > file_->size() - kTrailerBytes) return Corrupt("the index is outside the file");
  NumberReader index(*file_, index_offset);
  ASSIGN_OR_RETURN(const uint32_t num_blocks, index.U32());
  if (num_blocks == 0) {
    Fault fault;
    fault.file = file_->name();
    fault.expected = "at least one thread block";
    fault.message = "the file has a header and no instruction section";
    fault.facts = {{"missing_part", "instructions"}, {"blocks", "0"}};
    return InputError(absl::StatusCode::kInvalidArgument, fault);
  }
  for (uint32_t i = 0; i < num_blocks && builder.info().num_ctas < max_ctas; ++i) {
    RETURN_IF_ERROR(Block(index, builder));
  }
  return absl::OkStatus();
}

absl::Status TracezKernelReader::Block(NumberReader& index, KernelBuilder& builder) {
  std::array<uint32_t, 11> numbers{};  // block xyz, cluster xyz, CTA in cluster xyz, rank, warps
  for (uint32_t& number : numbers) {
    ASSIGN_OR_RETURN(number, index.U32());
  }
  const uint32_t num_warps = numbers[10];
  RETURN_IF_ERROR(builder.BeginCta({numbers[0], numbers[1], numbers[2]}, 0));
  for (uint32_t warp = 0; warp < num_warps; ++warp) {
    ASSIGN_OR_RETURN(const WarpEntry entry, ReadWarpEntry(index));
    RETURN_IF_ERROR(builder.BeginWarp(warp, entry.lines, 0));
    parser_->SetSection(builder.cta(), builder.warp());
    if (entry.lines > 0) RETURN_IF_ERROR(Warp(entry, builder));
    if (builder.read() != builder.declared()) {
      return InputError(absl::StatusCode::kInvalidArgument, builder.CountFault(builder.read(), 0));
    }
    RETURN_IF_ERROR(builder.EndWarp());
  }
  return builder.EndCta();
}

absl::StatusOr<WarpEntry> TracezKernelReader::ReadWarpEntry(NumberReader& index) {
  WarpEntry entry;
  ASSIGN_OR_RETURN(entry.lines, index.U32());
  ASSIGN_OR_RETURN(entry.frames, index.U32());
  ASSIGN_OR_RETURN(entry.offset, index.U64());
  for (uint32_t i = 0; i < entry.frames; ++i) RETURN_IF_ERROR(index.U32().status());
  if (entry.offset >= file_->size()) return Corrupt("a warp is outside the file");
  return entry;
}

absl::Status TracezKernelReader::Warp(const WarpEntry& entry, KernelBuilder& builder) {
  RETURN_IF_ERROR(context_.CheckCancelled());
  NumberReader data(*file_, entry.offset);
  ASSIGN_OR_RETURN(const uint32_t lines, data.U32());
  ASSIGN_OR_RETURN(const uint32_t frames, data.U32());
  if (lines != entry.lines || frames != entry.frames) return Corrupt("index and warp disagree");
  for (uint32_t i = 0; i < frames; ++i) RETURN_IF_ERROR(Frame(data, builder));
  return absl::OkStatus();
}

absl::Status TracezKernelReader::Frame(NumberReader& data, KernelBuilder& builder) {
  ASSIGN_OR_RETURN(const uint32_t packed_size, data.U32());
  if (packed_size > file_->size()) return Corrupt("a frame is larger than the file");
  if (packed_size > ZSTD_compressBound(kMaxTracezFrameBytes)) return Corrupt("a frame is too large");
  packed_.resize(packed_size);
  RETURN_IF_ERROR(data.Bytes(packed_.data(), packed_.size()));
  context_.CountInputBytes(packed_size);
  const unsigned long long size = ZSTD_getFrameContentSize(packed_.data(), packed_.size());
  if (size == ZSTD_CONTENTSIZE_ERROR || size == ZSTD_CONTENTSIZE_UNKNOWN)
    return Corrupt("a frame has no size");
  if (size > kMaxTracezFrameBytes) return Corrupt("a frame is too large");
  RETURN_IF_ERROR(context_.ChargeUnpacked(size, file_->name()));
  text_.resize(static_cast<size_t>(size));
  const size_t got =
      dictionary_ != nullptr
          ? ZSTD_decompress_usingDDict(decoder_, text_.data(), text_.size(), packed_.data(), packed_.size(),
                                       dictionary_)
          : ZSTD_decompressDCtx(decoder_, text_.data(), text_.size(), packed_.data(), packed_.size());
  if (ZSTD_isError(got) != 0 || got != text_.size()) return Corrupt("bad zstd frame");
  return Lines(std::string_view(text_.data(), text_.size()), builder);
}

absl::Status TracezKernelReader::Lines(std::string_view text, KernelBuilder& builder) {
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (TrimBlanks(line).empty()) continue;
    if (builder.read() == builder.declared()) {
      return InputError(absl::StatusCode::kInvalidArgument, builder.CountFault(builder.read() + 1, 0));
    }
    if (!parser_->Parse(line, 0, &inst_)) {
      Fault fault = parser_->fault();
      fault.facts.emplace_back("block", FormatTriple(builder.cta()));
      fault.facts.emplace_back("warp", absl::StrCat(builder.warp()));
      fault.facts.emplace_back("instruction", absl::StrCat(builder.read()));
      return InputError(absl::StatusCode::kInvalidArgument, fault);
    }
    RETURN_IF_ERROR(builder.Add(inst_, 0));
  }
  return absl::OkStatus();
}

}  // namespace

std::unique_ptr<KernelReader> MakeTracezKernelReader(std::unique_ptr<InputFile> file,
                                                     IngestContext& context) {
  return std::make_unique<TracezKernelReader>(std::move(file), context);
}

}  // namespace sm89
