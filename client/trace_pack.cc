#include "client/trace_pack.h"

#include <archive.h>
#include <archive_entry.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/error.h"
#include "client/macros.h"
#include "client/temporary_file.h"

namespace sm89::client {
namespace {

constexpr char kListName[] = "kernelslist.g";
constexpr size_t kBlockBytes = 1 << 18;
constexpr size_t kFaultsMax = 1000;

struct Member {
  std::string name;
  uint64_t size_bytes = 0;
};

v1::Fault MakeFault(const std::string& file, uint64_t line, const std::string& value,
                    const std::string& expected, const std::string& message) {
  v1::Fault fault;
  fault.set_file(file);
  fault.set_line(line);
  fault.set_value(value);
  fault.set_expected(expected);
  fault.set_message(message);
  return fault;
}

std::string Trim(const std::string& text) {
  constexpr char kBlanks[] = " \t\r";
  const size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string::npos) return "";
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

bool IsPlainName(const std::string& name) {
  return !name.empty() && name != "." && name != ".." && name.find('/') == std::string::npos &&
         name.find('\0') == std::string::npos;
}

// The trace's folder and its list, before anything is packed.
class TraceFolder {
 public:
  TraceFolder(std::string list_path, const PackLimits& limits)
      : folder_(std::filesystem::path(list_path).parent_path()),
        list_path_(std::move(list_path)),
        limits_(limits) {}

  // Reads the list and looks at every file that it names.
  absl::Status Survey() {
    CLIENT_ASSIGN_OR_RETURN(LocalFile list, LocalFile::Open(list_path_, kListName));
    if (list.size_bytes() > limits_.list_bytes_max) {
      return absl::InvalidArgumentError(absl::StrCat(list_path_, " has ", list.size_bytes(),
                                                     " bytes; a list of kernels has at most ",
                                                     limits_.list_bytes_max));
    }
    CLIENT_ASSIGN_OR_RETURN(list_text_, list.Read(0, static_cast<size_t>(list.size_bytes())));
    total_bytes_ = list_text_.size();
    uint64_t line = 0;
    for (size_t at = 0; at < list_text_.size();) {
      const size_t end = std::min(list_text_.find('\n', at), list_text_.size());
      ++line;
      const std::string text = Trim(list_text_.substr(at, end - at));
      if (text.rfind("kernel", 0) == 0) AddKernel(text, line);
      at = end + 1;
    }
    if (!faults_.empty()) {
      return InputError("TRACE_FILES_UNUSABLE",
                        absl::StrCat(list_path_, ": the list does not match the folder (", fault_count_,
                                     fault_count_ == 1 ? " fault)" : " faults)"),
                        faults_);
    }
    if (total_bytes_ > limits_.input_bytes_max || members_.size() > limits_.files_max) {
      return absl::InvalidArgumentError(absl::StrCat(
          list_path_, " names ", members_.size(), " files with ", total_bytes_, " bytes; at most ",
          limits_.files_max, " files and ", limits_.input_bytes_max, " bytes can be packed"));
    }
    return absl::OkStatus();
  }

  const std::string& list_text() const { return list_text_; }
  const std::vector<Member>& members() const { return members_; }
  uint64_t total_bytes() const { return total_bytes_; }
  std::string PathOf(const std::string& name) const {
    return (folder_.empty() ? std::filesystem::path(name) : folder_ / name).string();
  }

 private:
  void AddFault(v1::Fault fault) {
    ++fault_count_;
    if (faults_.size() < kFaultsMax) faults_.push_back(std::move(fault));
  }

  void AddKernel(const std::string& name, uint64_t line) {
    const std::string list_name = std::filesystem::path(list_path_).filename().string();
    if (!IsPlainName(name)) {
      AddFault(MakeFault(list_name, line, name, "a plain file name inside the trace's folder",
                         "a list must not name files elsewhere"));
      return;
    }
    if (!seen_.insert(name).second) return;  // one kernel launched twice from one file
    struct stat info {};
    if (lstat(PathOf(name).c_str(), &info) != 0) {
      AddFault(MakeFault(list_name, line, name, "a file beside the list", std::strerror(errno)));
    } else if (!S_ISREG(info.st_mode)) {
      AddFault(MakeFault(list_name, line, name, "a regular file",
                         S_ISLNK(info.st_mode) ? "is a symbolic link" : "is not a regular file"));
    } else {
      members_.push_back({name, static_cast<uint64_t>(info.st_size)});
      total_bytes_ += members_.back().size_bytes;
    }
  }

  std::filesystem::path folder_;
  std::string list_path_;
  PackLimits limits_;
  std::string list_text_;
  std::set<std::string> seen_;
  std::vector<Member> members_;
  std::vector<v1::Fault> faults_;
  uint64_t fault_count_ = 0;
  uint64_t total_bytes_ = 0;
};

struct ArchiveDeleter {
  void operator()(struct archive* a) const { archive_write_free(a); }
};
struct EntryDeleter {
  void operator()(struct archive_entry* e) const { archive_entry_free(e); }
};

// A tar.zst being written to an open file.
class ArchiveWriter {
 public:
  absl::Status Open(int fd) {
    archive_.reset(archive_write_new());
    archive* a = archive_.get();
    const bool ok = a != nullptr && archive_write_add_filter_zstd(a) == ARCHIVE_OK &&
                    archive_write_set_format_pax_restricted(a) == ARCHIVE_OK &&
                    archive_write_open_fd(a, fd) == ARCHIVE_OK;
    return ok ? absl::OkStatus() : Failure();
  }

  // Nothing of owner, time or mode goes in: equal content must give equal bytes.
  absl::Status Begin(const std::string& name, uint64_t size_bytes) {
    const std::unique_ptr<archive_entry, EntryDeleter> entry(archive_entry_new());
    archive_entry_set_pathname(entry.get(), name.c_str());
    archive_entry_set_size(entry.get(), static_cast<la_int64_t>(size_bytes));
    archive_entry_set_filetype(entry.get(), AE_IFREG);
    archive_entry_set_perm(entry.get(), 0644);
    archive_entry_set_mtime(entry.get(), 0, 0);
    return archive_write_header(archive_.get(), entry.get()) == ARCHIVE_OK ? absl::OkStatus() : Failure();
  }

  absl::Status Data(const void* data, size_t size) {
    const la_ssize_t n = archive_write_data(archive_.get(), data, size);
    return n == static_cast<la_ssize_t>(size) ? absl::OkStatus() : Failure();
  }

  absl::Status Close() {
    return archive_write_close(archive_.get()) == ARCHIVE_OK ? absl::OkStatus() : Failure();
  }

 private:
  absl::Status Failure() const {
    const char* why = archive_ != nullptr ? archive_error_string(archive_.get()) : "out of memory";
    const int code = archive_ != nullptr ? archive_errno(archive_.get()) : ENOMEM;
    const std::string text = absl::StrCat("cannot write the temporary archive: ", why != nullptr ? why : "");
    if (code == ENOSPC || code == EDQUOT) {
      return absl::ResourceExhaustedError(absl::StrCat(text, " (set TMPDIR to a place with more room)"));
    }
    return absl::InternalError(text);
  }

  std::unique_ptr<archive, ArchiveDeleter> archive_;
};

// Copies exactly the surveyed number of bytes of one member.
absl::Status AddMember(ArchiveWriter& writer, const std::string& path, const Member& member,
                       const std::function<bool(uint64_t)>& progress) {
  const Descriptor in(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (in.get() < 0) return absl::FailedPreconditionError(absl::StrCat(path, ": ", std::strerror(errno)));
  CLIENT_RETURN_IF_ERROR(writer.Begin(member.name, member.size_bytes));
  std::array<char, kBlockBytes> block;
  uint64_t done = 0;
  while (done < member.size_bytes) {
    const auto want = static_cast<size_t>(std::min<uint64_t>(block.size(), member.size_bytes - done));
    const ssize_t n = read(in.get(), block.data(), want);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return absl::FailedPreconditionError(absl::StrCat(path, ": ", std::strerror(errno)));
    if (n == 0) return absl::FailedPreconditionError(absl::StrCat(path, " became shorter while it was read"));
    CLIENT_RETURN_IF_ERROR(writer.Data(block.data(), static_cast<size_t>(n)));
    done += static_cast<uint64_t>(n);
    if (!progress(done)) return absl::CancelledError("interrupted");
  }
  return absl::OkStatus();
}

absl::Status WriteArchive(int fd, const TraceFolder& folder,
                          const std::function<bool(uint64_t, uint64_t)>& progress) {
  ArchiveWriter writer;
  CLIENT_RETURN_IF_ERROR(writer.Open(fd));
  const std::string& list = folder.list_text();
  CLIENT_RETURN_IF_ERROR(writer.Begin(kListName, list.size()));
  CLIENT_RETURN_IF_ERROR(writer.Data(list.data(), list.size()));
  uint64_t before = list.size();
  for (const Member& member : folder.members()) {
    const auto on_bytes = [&](uint64_t done) { return progress(before + done, folder.total_bytes()); };
    CLIENT_RETURN_IF_ERROR(AddMember(writer, folder.PathOf(member.name), member, on_bytes));
    before += member.size_bytes;
  }
  return writer.Close();
}

absl::Status NoListIn(const std::string& folder) {
  const std::filesystem::path path(folder);
  std::error_code ignored;
  std::string message = "the folder holds no kernelslist.g";
  if (std::filesystem::exists(path / "kernelslist", ignored)) {
    message += "; it holds a raw kernelslist: run the tracer's post-processing first";
  }
  return InputError(
      "TRACE_LIST_MISSING", absl::StrCat("cannot upload ", folder),
      {MakeFault(folder, 0, "", "a folder with kernelslist.g and the files that it names", message)});
}

}  // namespace

bool NeedsPacking(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) return true;
  const std::string name = std::filesystem::path(path).filename().string();
  if (name.rfind("kernelslist", 0) == 0) {
    // "kernelslist.tar.zst" is an archive, not a list.
    return name.find('.') == std::string::npos || name.ends_with(".g");
  }
  return name.ends_with(".g");
}

absl::StatusOr<LocalFile> PackTrace(const std::string& path, const PackLimits& limits,
                                    const std::function<bool(uint64_t, uint64_t)>& progress) {
  std::error_code ignored;
  const bool is_folder = std::filesystem::is_directory(path, ignored);
  const std::filesystem::path list =
      is_folder ? std::filesystem::path(path) / kListName : std::filesystem::path(path);
  if (is_folder && !std::filesystem::exists(list, ignored)) return NoListIn(path);
  TraceFolder folder(list.string(), limits);
  CLIENT_RETURN_IF_ERROR(folder.Survey());
  CLIENT_ASSIGN_OR_RETURN(Descriptor fd, TemporaryFile());
  CLIENT_RETURN_IF_ERROR(WriteArchive(fd.get(), folder, progress));
  std::filesystem::path named = std::filesystem::absolute(list, ignored).lexically_normal().parent_path();
  std::string name = named.filename().string();
  if (name.empty()) name = "trace";
  return LocalFile::Adopt(fd.release(), name + ".tar.zst");
}

}  // namespace sm89::client
