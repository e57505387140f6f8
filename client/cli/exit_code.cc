#include "client/cli/exit_code.h"

#include "client/error.h"

namespace sm89::client {

ExitCode ExitCodeOf(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kOk:
      return kExitOk;
    case absl::StatusCode::kCancelled:
      return kExitInterrupted;
    case absl::StatusCode::kNotFound:
      // Files that a trace's list names are an input that is bad; nothing that was asked for by name is
      // missing.
      return IsAboutFiles(status) ? kExitInvalid : kExitNotFound;
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kOutOfRange:
    case absl::StatusCode::kFailedPrecondition:
    case absl::StatusCode::kAlreadyExists:
    case absl::StatusCode::kAborted:
    case absl::StatusCode::kPermissionDenied:
    case absl::StatusCode::kUnauthenticated:
      return kExitInvalid;
    case absl::StatusCode::kUnavailable:
    case absl::StatusCode::kDeadlineExceeded:
    case absl::StatusCode::kResourceExhausted:
      return kExitUnavailable;
    default:
      return kExitInternal;
  }
}

ExitCode ExitCodeOf(const v1::Job& job) {
  if (job.state() == v1::Job::SUCCEEDED) return job.incomplete() ? kExitIncomplete : kExitOk;
  return kExitJobFailed;
}

ExitCode Worse(ExitCode a, ExitCode b) {
  const auto rank = [](ExitCode code) {
    switch (code) {
      case kExitOk:
        return 0;
      case kExitIncomplete:
        return 1;
      case kExitJobFailed:
        return 2;
      default:
        return 3;
    }
  };
  return rank(a) >= rank(b) ? a : b;
}

}  // namespace sm89::client
