#include "sim/ingest/archive_unpack.h"

#include <archive.h>
#include <archive_entry.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "sim/base/assert.h"
#include "sim/base/fault.h"
#include "sim/base/status_macros.h"
#include "sim/base/strings.h"
#include "sim/ingest/limits.h"
#include "sim/ingest/text_scan.h"

namespace sm89 {
namespace {

constexpr size_t kBlockBytes = size_t{256} << 10;

class OutputFd {
 public:
  explicit OutputFd(int fd) : fd_(fd) {}
  ~OutputFd() {
    if (fd_ >= 0) close(fd_);
  }
  OutputFd(const OutputFd&) = delete;
  OutputFd& operator=(const OutputFd&) = delete;
  int get() const { return fd_; }

 private:
  const int fd_;
};

absl::Status WriteError(const std::string& path, int error) {
  const std::string text = absl::StrCat("cannot write ", path, ": ", std::strerror(error));
  return error == ENOSPC || error == EDQUOT ? absl::ResourceExhaustedError(text)
                                            : absl::UnavailableError(text);
}

// The member's path as plain names; nothing when it leads outside or holds odd characters.
std::optional<std::vector<std::string>> SafePath(std::string_view path) {
  if (path.empty() || path.size() > kMaxMemberPathBytes || path.front() == '/') return std::nullopt;
  std::vector<std::string> parts;
  while (!path.empty()) {
    const std::string_view part = path.substr(0, path.find('/'));
    path.remove_prefix(std::min(path.size(), part.size() + 1));
    if (part.empty() || part == ".") continue;
    if (!IsPlainName(part)) return std::nullopt;
    parts.emplace_back(part);
  }
  if (parts.size() > kMaxFolderDepth) return std::nullopt;
  return parts;
}

// What an ingest can use. "._x" are resource forks that one system's archiver adds.
bool IsWanted(const std::string& name) {
  if (absl::StartsWith(name, "._")) return false;
  return absl::StartsWith(name, "kernel") || absl::StrContains(name, ".trace");
}

class Unpacker {
 public:
  Unpacker(InputFile& file, const std::string& folder, IngestContext& context)
      : file_(file), folder_(folder), context_(context), archive_(archive_read_new()) {
    SM89_ASSERT(archive_ != nullptr, "out of memory for an archive reader");
  }
  ~Unpacker() { archive_read_free(archive_); }

  absl::Status Run() {
    RETURN_IF_ERROR(Open());
    for (uint64_t members = 0;; ++members) {
      RETURN_IF_ERROR(context_.CheckCancelled());
      archive_entry* entry = nullptr;
      const int code = archive_read_next_header(archive_, &entry);
      if (code == ARCHIVE_EOF) return absl::OkStatus();
      if (code < ARCHIVE_WARN) return Damaged();
      RETURN_IF_ERROR(ChargeStream());
      if (members >= context_.options().max_archive_members) return TooManyMembers();
      RETURN_IF_ERROR(Member(entry));
    }
  }

 private:
  // Only these: other filters and formats are rarely used, and some start programs.
  absl::Status Open() {
    archive_read_support_filter_gzip(archive_);
    archive_read_support_filter_bzip2(archive_);
    archive_read_support_filter_xz(archive_);
    archive_read_support_filter_zstd(archive_);
    archive_read_support_format_tar(archive_);
    archive_read_support_format_zip(archive_);
    const int code = archive_read_open_fd(archive_, file_.fd(), kBlockBytes);
    if (code != ARCHIVE_OK) return Damaged();
    // The library counts the plain file as one filter.
    const int filters = archive_filter_count(archive_) - 1;
    if (filters <= 1) return absl::OkStatus();
    Fault fault;
    fault.file = file_.name();
    fault.value = absl::StrCat(filters, " layers");
    fault.expected = "a tar that is packed at most once";
    fault.message = "the archive is packed in several layers of compression";
    return InputError(absl::StatusCode::kInvalidArgument, fault);
  }

  absl::Status Charge(uint64_t bytes) {
    charged_ += bytes;
    return context_.ChargeUnpacked(bytes, file_.name());
  }

  // Headers and padding count too: the unpacked stream, as far as it is longer than what its members were
  // charged for.
  absl::Status ChargeStream() {
    const la_int64_t bytes = archive_filter_bytes(archive_, 0);
    if (bytes <= 0 || static_cast<uint64_t>(bytes) <= charged_) return absl::OkStatus();
    return Charge(static_cast<uint64_t>(bytes) - charged_);
  }

  absl::Status Member(archive_entry* entry) {
    const char* raw = archive_entry_pathname(entry);
    const std::string path = raw != nullptr ? raw : "";
    const std::optional<std::vector<std::string>> parts = SafePath(path);
    if (!parts) {
      return Refused(path, "a relative path without .. and control characters",
                     "an archive member's name leads outside the archive");
    }
    const bool is_regular =
        archive_entry_filetype(entry) == AE_IFREG && archive_entry_hardlink(entry) == nullptr;
    if (!is_regular && archive_entry_filetype(entry) != AE_IFDIR) {
      context_.warnings().Add(
          "archive_member_skipped",
          absl::StrCat(file_.name(), ": '", Excerpt(path), "' is a link or a device and was skipped"));
    }
    if (is_regular && !parts->empty() && IsWanted(parts->back())) return WriteFile(*parts, path);
    // What is passed over is unpacked all the same.
    const auto size = archive_entry_size_is_set(entry) ? archive_entry_size(entry) : 0;
    return Charge(size > 0 ? static_cast<uint64_t>(size) : 0);
  }

  absl::Status WriteFile(const std::vector<std::string>& parts, const std::string& member) {
    std::string path = folder_;
    for (size_t i = 0; i + 1 < parts.size(); ++i) {
      absl::StrAppend(&path, "/", parts[i]);
      if (mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) return WriteError(path, errno);
    }
    absl::StrAppend(&path, "/", parts.back());
    const OutputFd out(open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (out.get() < 0) {
      if (errno != EEXIST && errno != ENOTDIR) return WriteError(path, errno);
      return Refused(member, "each member once", "an archive member is there twice");
    }
    return CopyData(out.get(), path);
  }

  absl::Status CopyData(int out, const std::string& path) {
    uint64_t written = 0;  // length so far, holes included
    while (true) {
      RETURN_IF_ERROR(context_.CheckCancelled());
      const void* block = nullptr;
      size_t size = 0;
      la_int64_t offset = 0;
      const int code = archive_read_data_block(archive_, &block, &size, &offset);
      if (code == ARCHIVE_EOF) break;
      if (code < ARCHIVE_WARN || offset < 0) return Damaged();
      const uint64_t end = static_cast<uint64_t>(offset) + size;
      RETURN_IF_ERROR(Charge(end > written ? end - written : 0));
      written = std::max(written, end);
      RETURN_IF_ERROR(
          WriteAll(out, static_cast<const char*>(block), size, static_cast<uint64_t>(offset), path));
      ReportProgress();
    }
    // A sparse member may end in a hole.
    return ftruncate(out, static_cast<off_t>(written)) == 0 ? absl::OkStatus() : WriteError(path, errno);
  }

  static absl::Status WriteAll(int out, const char* data, size_t size, uint64_t offset,
                               const std::string& path) {
    while (size > 0) {
      const ssize_t done = pwrite(out, data, size, static_cast<off_t>(offset));
      if (done < 0 && errno != EINTR) return WriteError(path, errno);
      if (done <= 0) continue;
      data += done;
      size -= static_cast<size_t>(done);
      offset += static_cast<uint64_t>(done);
    }
    return absl::OkStatus();
  }

  void ReportProgress() {
    const la_int64_t packed = archive_filter_bytes(archive_, -1);
    if (packed <= 0 || static_cast<uint64_t>(packed) <= reported_) return;
    context_.CountInputBytes(static_cast<uint64_t>(packed) - reported_);
    reported_ = static_cast<uint64_t>(packed);
  }

  absl::Status Damaged() const {
    const char* why = archive_error_string(archive_);
    Fault fault;
    fault.file = file_.name();
    fault.expected = "a complete tar (plain, gzip, bzip2, xz, zstd) or zip archive";
    fault.message = absl::StrCat("the archive cannot be read: ", why != nullptr ? why : "damaged");
    fault.facts = {{"corrupt", "archive"}};
    return InputError(absl::StatusCode::kInvalidArgument, fault);
  }

  absl::Status Refused(const std::string& member, std::string expected, std::string message) const {
    Fault fault;
    fault.file = file_.name();
    fault.field = "archive member";
    fault.value = Excerpt(member);
    fault.expected = std::move(expected);
    fault.message = std::move(message);
    return InputError(absl::StatusCode::kInvalidArgument, fault);
  }

  absl::Status TooManyMembers() const {
    const uint64_t limit = context_.options().max_archive_members;
    Fault fault;
    fault.file = file_.name();
    fault.field = "max_archive_members";
    fault.expected = absl::StrCat("at most ", limit, " members");
    fault.message = "the archive has too many members";
    fault.facts = {{"limit_members", absl::StrCat(limit)}};
    return InputError(absl::StatusCode::kResourceExhausted, fault);
  }

  InputFile& file_;
  const std::string folder_;
  IngestContext& context_;
  archive* archive_;
  uint64_t reported_ = 0;
  uint64_t charged_ = 0;  // bytes unpacked
};

}  // namespace

absl::Status UnpackArchive(InputFile& archive, const std::string& folder, IngestContext& context) {
  return Unpacker(archive, folder, context).Run();
}

}  // namespace sm89
