#include "server/worker/ser_trace_keeper.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "sim/base/status_macros.h"

namespace sm89 {

absl::StatusOr<std::unique_ptr<SerTraceKeeper>> SerTraceKeeper::Create(FileStore& files,
                                                                       const std::string& folder,
                                                                       SerTraceFormat format,
                                                                       uint64_t bytes_max) {
  auto file = std::make_shared<const AttemptFile>(folder, ".ser");
  ASSIGN_OR_RETURN(std::unique_ptr<WritableFile> open, files.Create(file->path()));
  std::unique_ptr<SerTraceKeeper> keeper(new SerTraceKeeper(std::move(file), format, bytes_max));
  keeper->open_ = std::move(open);
  return keeper;
}

SerTraceKeeper::SerTraceKeeper(std::shared_ptr<const AttemptFile> file, SerTraceFormat format,
                               uint64_t bytes_max)
    : file_(std::move(file)),
      format_(format),
      bytes_max_(bytes_max),
      writer_(format, [this](std::string_view piece) {
        status_.Update(Write(piece));
        return status_.ok();
      }) {}

absl::Status SerTraceKeeper::Write(std::string_view piece) {
  bytes_ += piece.size();
  if (bytes_ > bytes_max_) {
    return absl::ResourceExhaustedError(
        absl::StrCat("the decisions of the reordering stage take more than ", bytes_max_,
                     " bytes (max_artifact_bytes): choose kernels",
                     format_ == SerTraceFormat::kCompact ? " or limit the cycles"
                                                         : ", limit the cycles, or keep them compact"));
  }
  return open_->Append(piece);
}

absl::StatusOr<FinishedArtifact> SerTraceKeeper::Finish() {
  writer_.Finish();
  RETURN_IF_ERROR(status_);
  open_ = nullptr;
  return FinishedArtifact{KeptName(format_), "", file_};
}

}  // namespace sm89
