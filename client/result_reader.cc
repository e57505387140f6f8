#include "client/result_reader.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/backoff.h"
#include "client/checksum.h"
#include "client/macros.h"

namespace sm89::client {
namespace {

absl::Status FileError(const char* what, const std::string& path) {
  const std::string text = absl::StrCat(what, " ", path, ": ", std::strerror(errno));
  if (errno == ENOSPC || errno == EDQUOT) return absl::ResourceExhaustedError(text);
  return absl::FailedPreconditionError(text);
}

// One artifact on its way in.
class Incoming {
 public:
  explicit Incoming(const WantedArtifact& wanted) : wanted_(wanted) {}

  absl::Status Take(const v1::ArtifactChunk& chunk) {
    if (last_seen_ || chunk.offset() != received_) {
      return absl::DataLossError(
          absl::StrCat(wanted_.name, ": expected offset ", received_, ", got ", chunk.offset()));
    }
    received_ += chunk.data().size();
    hash_.Update(chunk.data().data(), chunk.data().size());
    last_seen_ = chunk.last();
    return wanted_.sink->Append(chunk.data());
  }

  absl::Status Check(const v1::Result& result) {
    if (!last_seen_) {
      if (received_ > 0)
        return absl::UnavailableError(absl::StrCat(wanted_.name, ": the transfer broke off"));
      return absl::NotFoundError(absl::StrCat("the job has no artifact ", wanted_.name));
    }
    const std::string digest = hash_.FinishHex();
    for (const v1::ArtifactInfo& info : result.artifacts()) {
      if (info.name() != wanted_.name) continue;
      if (info.size_bytes() == received_ && (info.sha256().empty() || info.sha256() == digest)) {
        return absl::OkStatus();
      }
      return absl::DataLossError(absl::StrCat(wanted_.name, ": got ", received_, " bytes with SHA-256 ",
                                              digest, ", the server states ", info.size_bytes(),
                                              " bytes with ", info.sha256()));
    }
    return absl::OkStatus();
  }

  const std::string& name() const { return wanted_.name; }
  ArtifactSink& sink() { return *wanted_.sink; }

 private:
  WantedArtifact wanted_;
  uint64_t received_ = 0;
  bool last_seen_ = false;
  Sha256 hash_;
};

// The first message holds everything but the kernels that did not fit; the others add kernels.
void AddReport(const v1::Result& part, bool first, v1::Result& whole) {
  if (first) {
    whole = part;
    return;
  }
  for (const v1::KernelResult& kernel : part.kernels()) *whole.add_kernels() = kernel;
}

// `reached` becomes true when the server has sent anything.
absl::StatusOr<v1::Result> FetchOnce(Client& client, const std::string& job,
                                     const std::vector<WantedArtifact>& artifacts, bool* reached) {
  v1::GetResultRequest request;
  request.set_name(job);
  std::vector<std::unique_ptr<Incoming>> incoming;
  for (const WantedArtifact& wanted : artifacts) {
    request.add_artifacts(wanted.name);
    incoming.push_back(std::make_unique<Incoming>(wanted));
    CLIENT_RETURN_IF_ERROR(wanted.sink->Restart());
  }
  v1::Result result;
  bool first = true;
  const auto on_chunk = [&](const v1::ResultChunk& chunk) -> absl::Status {
    *reached = true;
    if (chunk.has_result()) {
      AddReport(chunk.result(), first, result);
      first = false;
      return absl::OkStatus();
    }
    for (const auto& one : incoming) {
      if (one->name() == chunk.artifact().name()) return one->Take(chunk.artifact());
    }
    return absl::OkStatus();
  };
  CLIENT_RETURN_IF_ERROR(client.ReadResult(request, on_chunk));
  if (first) return absl::UnavailableError("the result stream ended before the report");
  for (const auto& one : incoming) CLIENT_RETURN_IF_ERROR(one->Check(result));
  for (const auto& one : incoming) CLIENT_RETURN_IF_ERROR(one->sink().Commit());
  return result;
}

}  // namespace

absl::StatusOr<v1::Result> FetchResult(Client& client, const std::string& job,
                                       const std::vector<WantedArtifact>& artifacts) {
  Backoff first_contact(client.options().retry_seconds);
  Backoff backoff(client.options().reconnect_seconds);
  bool reached = false;
  while (true) {
    absl::StatusOr<v1::Result> result = FetchOnce(client, job, artifacts, &reached);
    if (result.ok() || !absl::IsUnavailable(result.status())) return result;
    if (!(reached ? backoff : first_contact).Wait(client.options().stop)) return result;
  }
}

absl::Status StringSink::Restart() {
  text_.clear();
  return absl::OkStatus();
}
absl::Status StringSink::Append(const std::string& data) {
  text_ += data;
  return absl::OkStatus();
}
absl::Status StringSink::Commit() { return absl::OkStatus(); }

bool IsOneFile(const std::string& a, const std::string& b) {
  namespace fs = std::filesystem;
  std::error_code first_error, second_error;
  const fs::path first = fs::weakly_canonical(a, first_error);
  const fs::path second = fs::weakly_canonical(b, second_error);
  if (first_error || second_error) return a == b;
  return first == second || fs::equivalent(first, second, first_error);
}

FileSink::FileSink(std::string path) : path_(std::move(path)) {
  static std::atomic<uint64_t> sinks = 0;
  temporary_ = absl::StrCat(path_, ".part-", getpid(), "-", ++sinks);
}

FileSink::~FileSink() {
  if (fd_ < 0) return;
  close(fd_);
  unlink(temporary_.c_str());
}

absl::Status FileSink::Restart() {
  if (fd_ >= 0) close(fd_);
  struct stat info {};
  if (stat(path_.c_str(), &info) == 0 && !S_ISREG(info.st_mode)) {
    return absl::InvalidArgumentError(absl::StrCat(
        path_, S_ISDIR(info.st_mode) ? ": it is a folder" : ": a device or pipe would be replaced",
        "; give the name of a file, or no name for the standard output"));
  }
  fd_ = open(temporary_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0666);
  return fd_ >= 0 ? absl::OkStatus() : FileError("cannot create", temporary_);
}

absl::Status FileSink::Append(const std::string& data) {
  size_t done = 0;
  while (done < data.size()) {
    const ssize_t n = write(fd_, data.data() + done, data.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return FileError("cannot write", temporary_);
    done += static_cast<size_t>(n);
  }
  return absl::OkStatus();
}

absl::Status FileSink::Commit() {
  const int fd = std::exchange(fd_, -1);
  if (close(fd) != 0) {
    const absl::Status status = FileError("cannot write", temporary_);
    unlink(temporary_.c_str());
    return status;
  }
  if (std::rename(temporary_.c_str(), path_.c_str()) == 0) return absl::OkStatus();
  const absl::Status status = FileError("cannot rename to", path_);
  unlink(temporary_.c_str());
  return status;
}

}  // namespace sm89::client
