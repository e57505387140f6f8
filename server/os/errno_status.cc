#include "server/os/errno_status.h"

#include <cerrno>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "sim/base/strings.h"

namespace sm89 {
namespace {

absl::StatusCode CodeOf(int error) {
  switch (error) {
    case ENOENT:
      return absl::StatusCode::kNotFound;
    case EEXIST:
      return absl::StatusCode::kAlreadyExists;
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
    case EMFILE:
    case ENFILE:
    case ENOMEM:
      return absl::StatusCode::kResourceExhausted;
    case EACCES:
    case EPERM:
    case EROFS:
      return absl::StatusCode::kPermissionDenied;
    case EAGAIN:
      return absl::StatusCode::kUnavailable;
    default:
      return absl::StatusCode::kInternal;
  }
}

}  // namespace

absl::Status ErrnoStatus(int error, std::string_view what) {
  return absl::Status(CodeOf(error), absl::StrCat(Av(what), ": ", std::generic_category().message(error)));
}

}  // namespace sm89
