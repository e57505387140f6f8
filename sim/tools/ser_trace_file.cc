#include "sim/tools/ser_trace_file.h"

#include "absl/strings/match.h"
#include "sim/base/status_macros.h"

namespace sm89 {
namespace {

SerTraceFormat FormatOf(const std::string& path) {
  if (path == "-" || absl::EndsWith(path, ".csv")) return SerTraceFormat::kCsv;
  return absl::EndsWith(path, ".jsonl") ? SerTraceFormat::kJsonLines : SerTraceFormat::kCompact;
}

}  // namespace

SerTraceFile::SerTraceFile(SerTraceFormat format, std::unique_ptr<ResultOutput> file)
    : file_(std::move(file)), writer_(format, [this](std::string_view piece) {
        status_.Update(file_->Append(piece));
        return status_.ok();
      }) {}

absl::StatusOr<std::unique_ptr<SerTraceFile>> SerTraceFile::Create(const std::string& path,
                                                                   std::ostream& standard_out) {
  ASSIGN_OR_RETURN(std::unique_ptr<ResultOutput> file, ResultOutput::Open(path, standard_out));
  return std::make_unique<SerTraceFile>(FormatOf(path), std::move(file));
}

absl::Status SerTraceFile::Finish() {
  writer_.Finish();
  RETURN_IF_ERROR(status_);
  return file_->Commit("");
}

}  // namespace sm89
