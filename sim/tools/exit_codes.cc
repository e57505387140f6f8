#include "sim/tools/exit_codes.h"

namespace sm89 {

int ExitCodeOf(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kOk:
      return kExitOk;
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kNotFound:
    case absl::StatusCode::kAlreadyExists:
    case absl::StatusCode::kFailedPrecondition:
    case absl::StatusCode::kPermissionDenied:
    case absl::StatusCode::kOutOfRange:
    case absl::StatusCode::kDataLoss:
    case absl::StatusCode::kUnimplemented:
      return kExitBadInput;
    case absl::StatusCode::kResourceExhausted:
      return kExitLimit;
    case absl::StatusCode::kCancelled:
      return kExitCancelled;
    default:
      return kExitInternal;
  }
}

}  // namespace sm89
