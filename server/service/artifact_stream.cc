#include "server/service/artifact_stream.h"

#include <atomic>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/os/file_store.h"
#include "server/service/job_messages.h"
#include "server/service/status_conversion.h"
#include "sim/base/status_macros.h"

namespace sm89 {
namespace {

// A step runs on the executor after each read; the next read starts when it is done. So nothing is touched by
// two threads at a time.
class ArtifactReactor final : public grpc::ServerReadReactor<v1::WriteArtifactRequest> {
 public:
  ArtifactReactor(const ArtifactDeps& deps, v1::WriteArtifactResponse* response)
      : deps_(deps), response_(response) {
    StartRead(&message_);
  }

 private:
  void OnReadDone(bool ok) override {
    // A message that does not parse looks like the end of the stream, so an end without `finish` is an error.
    if (!ok) {
      Finish(ToGrpc(absl::DataLossError("the artifact's stream ended without its finish mark"), "ARTIFACT"));
      return;
    }
    if (!deps_.executor.Post([this] { Step(); })) {
      Finish(ToGrpc(absl::UnavailableError("the server is overloaded: try again"), "ARTIFACT"));
    }
  }
  // A pending read then ends with ok = false.
  void OnCancel() override {}
  void OnDone() override { delete this; }

  void Step() {
    const absl::Status taken = Take();
    if (!taken.ok() || message_.finish()) {
      Finish(ToGrpc(taken, "ARTIFACT"));
      return;
    }
    message_.Clear();
    StartRead(&message_);
  }

  absl::Status Take() {
    if (writer_ == nullptr) RETURN_IF_ERROR(Open());
    if (message_.data().size() > deps_.bytes_max - writer_->size_bytes()) {
      return absl::ResourceExhaustedError(
          absl::StrCat("artifact ", name_, " is larger than ", deps_.bytes_max));
    }
    RETURN_IF_ERROR(writer_->Append(message_.data()));
    if (!message_.finish()) return absl::OkStatus();
    if (!IsSha256Hex(message_.sha256())) return absl::InvalidArgumentError("finish without a SHA-256");
    ASSIGN_OR_RETURN(BlobPin pin, writer_->Commit(message_.sha256()));
    response_->set_size_bytes(pin.size_bytes());
    return deps_.jobs.AddArtifact(session_, attempt_, name_, std::move(pin));
  }

  absl::Status Open() {
    session_ = message_.session();
    attempt_ = AttemptFromMessage(message_.attempt());
    name_ = message_.name();
    if (!IsSafeFileName(name_)) return absl::InvalidArgumentError("an artifact has a plain name");
    RETURN_IF_ERROR(deps_.jobs.CheckAttempt(session_, attempt_));
    ASSIGN_OR_RETURN(writer_, deps_.blobs.NewBlob());
    return absl::OkStatus();
  }

  const ArtifactDeps deps_;
  v1::WriteArtifactResponse* const response_;
  v1::WriteArtifactRequest message_;
  std::string session_;
  AttemptRef attempt_;
  std::string name_;
  std::unique_ptr<BlobWriter> writer_;
};

}  // namespace

grpc::ServerReadReactor<v1::WriteArtifactRequest>* StartArtifact(const ArtifactDeps& deps,
                                                                 v1::WriteArtifactResponse* response) {
  return new ArtifactReactor(deps, response);
}

}  // namespace sm89
