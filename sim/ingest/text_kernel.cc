// .traceg: a header, then thread blocks of warps of instruction lines (accel-sim text format).
#include <limits>
#include <optional>
#include <string_view>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "sim/base/assert.h"
#include "sim/base/fault.h"
#include "sim/base/status_macros.h"
#include "sim/base/strings.h"
#include "sim/ingest/kernel_reader.h"
#include "sim/ingest/limits.h"
#include "sim/ingest/line_reader.h"
#include "sim/ingest/text_scan.h"

namespace sm89 {
namespace {

enum class LineKind { kInstruction, kBeginBlock, kEndBlock, kComment, kBlockId, kWarp, kCount, kCluster };

// By the first word; everything else is an instruction.
LineKind KindOf(std::string_view line) {
  const char c = line.front();
  if (c == '#') {
    if (absl::StartsWith(Av(line), "#BEGIN_TB")) return LineKind::kBeginBlock;
    if (absl::StartsWith(Av(line), "#END_TB")) return LineKind::kEndBlock;
    return LineKind::kComment;
  }
  if (c != 't' && c != 'w' && c != 'i' && c != 'c') return LineKind::kInstruction;
  const std::string_view word = line.substr(0, line.find_first_of(" \t="));
  if (word == "thread") return LineKind::kBlockId;
  if (word == "warp") return LineKind::kWarp;
  if (word == "insts") return LineKind::kCount;
  if (word == "cluster") return LineKind::kCluster;
  return LineKind::kInstruction;
}

class TextKernelReader final : public KernelReader {
 public:
  TextKernelReader(std::unique_ptr<ByteSource> source, const std::string& file, IngestContext& context)
      : context_(context), lines_(std::move(source), file, kMaxLineBytes) {}

  absl::StatusOr<KernelHeader> ReadHeader() override;
  absl::Status ReadBody(KernelBuilder& builder, uint64_t max_ctas) override;

 private:
  absl::StatusOr<bool> NextLine(std::string_view* line);
  // False when instructions follow the header without a block around them.
  absl::StatusOr<bool> PeekBody();
  Fault NotGrouped() const;
  absl::Status Structure(LineKind kind, std::string_view line);
  absl::Status BeginBlock();
  absl::Status BlockId(std::string_view line);
  absl::Status Warp(std::string_view line);
  absl::Status Count(std::string_view line);
  absl::Status EndBlock();
  absl::Status CloseWarp();
  absl::Status Instruction(std::string_view line);
  absl::Status TooManyInstructions();
  absl::Status AtEndOfFile();
  absl::Status Truncated(const std::string& why);
  absl::Status Malformed(std::string field, std::string_view value, std::string expected,
                         std::string message);
  absl::Status Misplaced(std::string_view line, const char* expected) {
    return Malformed("structure", line, expected, "the line is out of place");
  }

  IngestContext& context_;
  LineReader lines_;
  std::optional<std::string_view> peeked_;  // first line of the body, met while reading the header
  KernelHeader header_;
  KernelBuilder* builder_ = nullptr;  // during ReadBody
  std::optional<InstParser> parser_;
  ParsedInst inst_;
  bool in_block_ = false;         // behind #BEGIN_TB
  std::optional<uint64_t> warp_;  // "warp =" met, "insts =" not yet
};

absl::StatusOr<KernelHeader> TextKernelReader::ReadHeader() {
  KernelHeaderParser parser(lines_.file());
  std::string_view line;
  while (true) {
    absl::StatusOr<bool> more = lines_.Next(&line);
    // A header that is cut short is told by what it lacks.
    if (!more.ok() && more.status().code() != absl::StatusCode::kDataLoss) return more.status();
    if (!more.ok() || !*more) break;
    if (absl::StartsWith(Av(line), "#")) {
      if (KindOf(line) != LineKind::kComment) peeked_ = line;
      break;
    }
    parser.Line(line, lines_.line_number());
    if (lines_.line_number() > kMaxHeaderLines) break;
  }
  if (parser.num_keys() == 0) {
    Fault fault;
    fault.file = lines_.file();
    fault.expected = "a kernel header (-kernel name = ..., -grid dim = ..., ...)";
    fault.message =
        lines_.line_number() == 0 ? "the file is empty" : "this is no kernel trace: it has no header";
    fault.facts = {{"missing_part", "header"}};
    return InputError(absl::StatusCode::kInvalidArgument, fault);
  }
  std::vector<Fault> faults = parser.Finish(context_.options());
  ASSIGN_OR_RETURN(const bool grouped, PeekBody());
  if (!grouped) faults.push_back(NotGrouped());
  if (!faults.empty()) return InputError(absl::StatusCode::kInvalidArgument, "", faults);
  header_ = parser.header();
  return header_;
}

absl::StatusOr<bool> TextKernelReader::PeekBody() {
  std::string_view line;
  while (true) {
    const absl::StatusOr<bool> more = NextLine(&line);
    if (!more.ok() && more.status().code() != absl::StatusCode::kDataLoss) return more.status();
    if (!more.ok() || !*more) return true;  // ReadBody meets the same end
    const LineKind kind = KindOf(line);
    if (kind == LineKind::kComment) continue;
    peeked_ = line;
    return kind != LineKind::kInstruction;
  }
}

Fault TextKernelReader::NotGrouped() const {
  Fault fault;
  fault.file = lines_.file();
  fault.line = lines_.line_number();
  fault.expected = "thread blocks between #BEGIN_TB and #END_TB (a .traceg file)";
  fault.message = "the trace is not grouped: run post-processing (post-traces-processing) on it first";
  fault.facts = {{"reason", "not_grouped"}};
  return fault;
}

absl::StatusOr<bool> TextKernelReader::NextLine(std::string_view* line) {
  if (peeked_) {
    *line = *peeked_;
    peeked_.reset();
    return true;
  }
  while (true) {
    ASSIGN_OR_RETURN(const bool more, lines_.Next(line));
    if (!more) return false;
    while (!line->empty() && IsBlank(line->front())) line->remove_prefix(1);
    if (!line->empty()) return true;
  }
}

absl::Status TextKernelReader::ReadBody(KernelBuilder& builder, uint64_t max_ctas) {
  builder_ = &builder;
  parser_.emplace(header_.format, lines_.file(), builder.table());
  std::string_view line;
  while (builder.info().num_ctas < max_ctas) {
    absl::StatusOr<bool> more = NextLine(&line);
    if (!more.ok()) {
      if (more.status().code() != absl::StatusCode::kDataLoss) return more.status();
      return Truncated("the compressed stream ends early");
    }
    if (!*more) return AtEndOfFile();
    const LineKind kind = KindOf(line);
    // The last line without its end may have been cut anywhere; only the closing mark is sure to be whole.
    if (lines_.unterminated() && kind != LineKind::kEndBlock && kind != LineKind::kComment) {
      return Truncated("the last line is cut");
    }
    if (kind == LineKind::kInstruction) {
      RETURN_IF_ERROR(Instruction(line));
    } else {
      RETURN_IF_ERROR(Structure(kind, line));
    }
  }
  return absl::OkStatus();
}

absl::Status TextKernelReader::Structure(LineKind kind, std::string_view line) {
  switch (kind) {
    case LineKind::kBeginBlock:
      return BeginBlock();
    case LineKind::kBlockId:
      return BlockId(line);
    case LineKind::kWarp:
      return Warp(line);
    case LineKind::kCount:
      return Count(line);
    case LineKind::kEndBlock:
      return EndBlock();
    // Cluster ids (tracer of 2026): SM89 has no clusters and the block's own id says where it is.
    case LineKind::kCluster:
    case LineKind::kComment:
      return absl::OkStatus();
    case LineKind::kInstruction:
      break;
  }
  SM89_ASSERT(false, "instructions go elsewhere");
}

absl::Status TextKernelReader::BeginBlock() {
  if (in_block_) return Misplaced("#BEGIN_TB", "#END_TB of the block before");
  in_block_ = true;
  return absl::OkStatus();
}

absl::Status TextKernelReader::BlockId(std::string_view line) {
  if (!in_block_ || builder_->in_cta()) return Misplaced(line, "one thread block line behind #BEGIN_TB");
  const std::optional<KeyValue> pair = SplitKeyValue(line);
  const std::optional<Dim3> id = pair ? ParseTriple(pair->value) : std::nullopt;
  if (!id || pair->key != "thread block") {
    return Malformed("thread block", line, "thread block = x,y,z", "bad thread block line");
  }
  return builder_->BeginCta(*id, lines_.line_number());
}

absl::Status TextKernelReader::Warp(std::string_view line) {
  if (!builder_->in_cta() || warp_) return Misplaced(line, "a warp line inside a block");
  if (builder_->in_warp()) RETURN_IF_ERROR(CloseWarp());
  const std::optional<KeyValue> pair = SplitKeyValue(line);
  warp_ = pair ? ParseUnsigned(pair->value) : std::nullopt;
  if (!warp_) return Malformed("warp", line, "warp = <number>", "bad warp line");
  return absl::OkStatus();
}

absl::Status TextKernelReader::Count(std::string_view line) {
  if (!warp_) return Misplaced(line, "an insts line behind its warp line");
  const std::optional<KeyValue> pair = SplitKeyValue(line);
  const std::optional<uint64_t> declared = pair ? ParseUnsigned(pair->value) : std::nullopt;
  if (!declared) return Malformed("insts", line, "insts = <number>", "bad insts line");
  const uint64_t warp = *warp_;
  warp_.reset();
  RETURN_IF_ERROR(builder_->BeginWarp(warp, *declared, lines_.line_number()));
  parser_->SetSection(builder_->cta(), builder_->warp());
  return absl::OkStatus();
}

absl::Status TextKernelReader::EndBlock() {
  if (!in_block_ || !builder_->in_cta())
    return Misplaced("#END_TB", "#BEGIN_TB and a thread block line before it");
  if (warp_) return Misplaced("#END_TB", "the insts line of the warp");
  if (builder_->in_warp()) RETURN_IF_ERROR(CloseWarp());
  in_block_ = false;
  return builder_->EndCta();
}

absl::Status TextKernelReader::CloseWarp() {
  if (builder_->read() == builder_->declared()) return builder_->EndWarp();
  return InputError(absl::StatusCode::kInvalidArgument,
                    builder_->CountFault(builder_->read(), lines_.line_number()));
}

absl::Status TextKernelReader::Instruction(std::string_view line) {
  if (!builder_->in_warp() || warp_) [[unlikely]] {
    return Misplaced(line, "instructions behind the insts line of a warp");
  }
  if (builder_->read() == builder_->declared()) [[unlikely]]
    return TooManyInstructions();
  if (!parser_->Parse(line, lines_.line_number(), &inst_)) [[unlikely]] {
    return InputError(absl::StatusCode::kInvalidArgument, parser_->fault());
  }
  return builder_->Add(inst_, lines_.line_number());
}

// Counts on to the section's end, so that the message says how many there are.
absl::Status TextKernelReader::TooManyInstructions() {
  const uint64_t first_line = lines_.line_number();
  uint64_t read = builder_->read() + 1;
  std::string_view line;
  while (true) {
    ASSIGN_OR_RETURN(const bool more, NextLine(&line));
    if (!more || KindOf(line) != LineKind::kInstruction) break;
    ++read;
  }
  return InputError(absl::StatusCode::kInvalidArgument, builder_->CountFault(read, first_line));
}

absl::Status TextKernelReader::AtEndOfFile() {
  if (in_block_) return Truncated("#END_TB is missing");
  if (builder_->info().num_ctas > 0) return absl::OkStatus();
  Fault fault;
  fault.file = lines_.file();
  fault.line = lines_.line_number();
  fault.expected = "#BEGIN_TB and at least one thread block";
  fault.message = "the file has a header and no instruction section";
  fault.facts = {{"missing_part", "instructions"}, {"blocks", "0"}};
  return InputError(absl::StatusCode::kInvalidArgument, fault);
}

absl::Status TextKernelReader::Truncated(const std::string& why) {
  return InputError(absl::StatusCode::kDataLoss, builder_->TruncatedFault(why, lines_.line_number()));
}

absl::Status TextKernelReader::Malformed(std::string field, std::string_view value, std::string expected,
                                         std::string message) {
  Fault fault;
  fault.file = lines_.file();
  fault.line = lines_.line_number();
  fault.field = std::move(field);
  fault.value = Excerpt(value);
  fault.expected = std::move(expected);
  fault.message = std::move(message);
  return InputError(absl::StatusCode::kInvalidArgument, fault);
}

}  // namespace

std::unique_ptr<KernelReader> MakeTextKernelReader(std::unique_ptr<ByteSource> source,
                                                   const std::string& file, IngestContext& context) {
  return std::make_unique<TextKernelReader>(std::move(source), file, context);
}

}  // namespace sm89
