#include "sim/tools/sim_output.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <ostream>

#include "absl/strings/str_cat.h"

namespace sm89 {
namespace {

absl::Status FileError(std::string_view what, const std::string& path) {
  return absl::FailedPreconditionError(
      absl::StrCat("cannot ", std::string(what), " '", path, "': ", std::strerror(errno)));
}

}  // namespace

bool SameFile(const std::string& a, const std::string& b) {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::path first = fs::weakly_canonical(a, error);
  const fs::path second = fs::weakly_canonical(b, error);
  if (error) return a == b;
  // Pipes and devices take what several outputs write.
  if (fs::exists(first, error) && !fs::is_regular_file(first, error)) return false;
  return first == second || fs::equivalent(first, second, error);
}

absl::StatusOr<std::unique_ptr<ResultOutput>> ResultOutput::Open(const std::string& path,
                                                                 std::ostream& standard_out) {
  std::unique_ptr<ResultOutput> output(new ResultOutput);
  if (path == "-") {
    output->standard_out_ = &standard_out;
    return output;
  }
  // Follow a link, so that the file it names is replaced and not the link.
  std::error_code error;
  const std::filesystem::path real = std::filesystem::canonical(path, error);
  output->path_ = error ? path : real.string();
  struct stat info {};
  const bool exists = stat(output->path_.c_str(), &info) == 0;
  if (exists && S_ISDIR(info.st_mode)) {
    return absl::FailedPreconditionError(absl::StrCat("cannot write '", path, "': it is a folder"));
  }
  if (exists && !S_ISREG(info.st_mode)) {
    output->file_ = open(output->path_.c_str(), O_WRONLY | O_CLOEXEC);
    if (output->file_ < 0) return FileError("write", path);
    return output;
  }
  output->temporary_ = absl::StrCat(output->path_, ".tmp.", getpid());
  output->file_ = open(output->temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (output->file_ < 0) {
    output->temporary_.clear();
    return FileError("write", path);
  }
  return output;
}

ResultOutput::~ResultOutput() {
  if (file_ >= 0) close(file_);
  if (!temporary_.empty()) unlink(temporary_.c_str());
}

absl::Status ResultOutput::Append(std::string_view bytes) {
  if (standard_out_ != nullptr) {
    *standard_out_ << bytes;
    return standard_out_->good() ? absl::OkStatus()
                                 : absl::FailedPreconditionError("cannot write standard output");
  }
  while (!bytes.empty()) {
    const ssize_t written = write(file_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return FileError("write", path_);
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return absl::OkStatus();
}

absl::Status ResultOutput::Commit(std::string_view bytes) {
  if (const absl::Status status = Append(bytes); !status.ok()) return status;
  if (standard_out_ != nullptr) {
    *standard_out_ << std::flush;
    return standard_out_->good() ? absl::OkStatus()
                                 : absl::FailedPreconditionError("cannot write standard output");
  }
  // The last chance to learn of a write that failed late (full disk, quota).
  const int closed = close(file_);
  file_ = -1;
  if (closed != 0) return FileError("write", path_);
  if (temporary_.empty()) return absl::OkStatus();
  if (std::rename(temporary_.c_str(), path_.c_str()) != 0) return FileError("write", path_);
  temporary_.clear();
  return absl::OkStatus();
}

}  // namespace sm89
