#include "client/temporary_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>

#include "absl/strings/str_cat.h"

namespace sm89::client {

Descriptor::~Descriptor() {
  if (fd_ >= 0) close(fd_);
}

absl::StatusOr<Descriptor> TemporaryFile() {
  const char* chosen = std::getenv("TMPDIR");
  std::string path =
      absl::StrCat(chosen != nullptr && *chosen != '\0' ? chosen : "/tmp", "/sm89-pack-XXXXXX");
  Descriptor fd(mkostemp(path.data(), O_CLOEXEC));
  if (fd.get() < 0) {
    return absl::FailedPreconditionError(absl::StrCat("cannot create ", path, ": ", std::strerror(errno)));
  }
  unlink(path.c_str());
  return fd;
}

}  // namespace sm89::client
