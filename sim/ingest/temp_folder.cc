#include "sim/ingest/temp_folder.h"

#include <stdlib.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace sm89 {

absl::StatusOr<std::unique_ptr<TempFolder>> TempFolder::Create(const std::string& prefix) {
  std::string path = prefix + "XXXXXX";
  if (mkdtemp(path.data()) == nullptr) {
    return absl::UnavailableError(absl::StrCat("cannot make a folder at ", path, ": ", std::strerror(errno)));
  }
  return std::unique_ptr<TempFolder>(new TempFolder(path));
}

TempFolder::~TempFolder() {
  std::error_code ignored;  // nothing can be done about a folder that cannot be removed
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace sm89
