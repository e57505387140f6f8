// errno -> absl::Status, one mapping for all of server/.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace sm89 {

// "<what>: <strerror>". ENOENT NOT_FOUND; EEXIST ALREADY_EXISTS; ENOSPC, EDQUOT, EMFILE, ENFILE, ENOMEM
// RESOURCE_EXHAUSTED; EACCES, EPERM, EROFS PERMISSION_DENIED; EAGAIN UNAVAILABLE; the rest INTERNAL.
absl::Status ErrnoStatus(int error, std::string_view what);

}  // namespace sm89
