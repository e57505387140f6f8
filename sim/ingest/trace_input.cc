#include "sim/ingest/trace_input.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "sim/base/fault.h"
#include "sim/base/status_macros.h"
#include "sim/base/strings.h"
#include "sim/ingest/archive_unpack.h"
#include "sim/ingest/byte_source.h"
#include "sim/ingest/input_file.h"
#include "sim/ingest/kernels_list.h"
#include "sim/ingest/limits.h"
#include "sim/ingest/text_scan.h"

namespace sm89 {
namespace {

namespace fs = std::filesystem;

constexpr char kListName[] = "kernelslist.g";
constexpr size_t kSniffBytes = 4096;  // a tar header is 512; a first line is shorter than this

Fault FileFault(const std::string& file, std::string expected, std::string message) {
  Fault fault;
  fault.file = file;
  fault.expected = std::move(expected);
  fault.message = std::move(message);
  return fault;
}

// A tar header's checksum (POSIX.1-1988 ustar, offset 148): octal sum of all bytes, itself counted as blanks.
bool IsTarHeader(std::string_view head) {
  constexpr size_t kHeader = 512;
  constexpr size_t kSumAt = 148;
  constexpr size_t kSumBytes = 8;
  if (head.size() < kHeader || head[0] == '\0') return false;
  uint64_t sum = 0;
  for (size_t i = 0; i < kHeader; ++i) {
    const bool in_sum = i >= kSumAt && i < kSumAt + kSumBytes;
    sum += in_sum ? uint64_t{' '} : static_cast<unsigned char>(head[i]);
  }
  uint64_t stated = 0;
  bool any = false;
  for (size_t i = kSumAt; i < kSumAt + kSumBytes; ++i) {
    const char c = head[i];
    if (c == ' ' && !any) continue;
    if (c < '0' || c > '7') break;
    stated = stated * 8 + static_cast<uint64_t>(c - '0');
    any = true;
  }
  return any && stated == sum;
}

enum class ContentKind { kArchive, kKernel, kList };

bool StartsLikeKernel(std::string_view head) {
  while (!head.empty() && (IsBlank(head.front()) || head.front() == '\n' || head.front() == '\r')) {
    head.remove_prefix(1);
  }
  return absl::StartsWith(Av(head), "-") || absl::StartsWith(Av(head), "#traces") ||
         absl::StartsWith(Av(head), "#BEGIN_TB");
}

// The first bytes as they are before compression. A stream that is too short to tell is no error here.
absl::StatusOr<std::string> UnpackedHead(const std::string& path, IngestContext& context) {
  const IngestContext::Quiet quiet(context);
  ASSIGN_OR_RETURN(std::unique_ptr<InputFile> file, InputFile::OpenPath(path));
  ASSIGN_OR_RETURN(const std::unique_ptr<ByteSource> source, OpenByteSource(std::move(file), context));
  std::string head(kSniffBytes, '\0');
  size_t size = 0;
  while (size < head.size()) {
    const absl::StatusOr<size_t> got = source->Read(head.data() + size, head.size() - size);
    if (!got.ok() && got.status().code() != absl::StatusCode::kDataLoss) return got.status();
    if (!got.ok() || *got == 0) break;
    size += *got;
  }
  head.resize(size);
  return head;
}

absl::StatusOr<ContentKind> KindOf(const std::string& path, InputFile& file, IngestContext& context) {
  std::array<char, 4> magic{};
  ASSIGN_OR_RETURN(const size_t got, file.ReadAt(0, magic.data(), magic.size()));
  const std::string_view start(magic.data(), got);
  if (start == std::string_view("PK\x03\x04", 4) || start == std::string_view("PK\x05\x06", 4) ||
      absl::StartsWith(Av(start), "BZh")) {
    return ContentKind::kArchive;
  }
  if (absl::EndsWith(file.name(), ".tracez")) return ContentKind::kKernel;
  ASSIGN_OR_RETURN(const std::string head, UnpackedHead(path, context));
  if (IsTarHeader(head)) return ContentKind::kArchive;
  if (HasTraceSuffix(file.name()) || StartsLikeKernel(head)) return ContentKind::kKernel;
  ASSIGN_OR_RETURN(const Packing packing, SniffPacking(file));
  if (packing != Packing::kPlain) {
    return InputError(absl::StatusCode::kInvalidArgument,
                      FileFault(file.name(), "a kernel trace or a tar archive inside",
                                "the packed file holds neither a kernel trace nor an archive"));
  }
  return ContentKind::kList;
}

// What a folder tree offers to an ingest.
struct FolderFinds {
  std::vector<std::string> lists;      // paths below the folder, sorted
  std::vector<std::string> raw_files;  // lists and kernels that the post-processing has not grouped
  size_t kernels = 0;
};

void Classify(const std::string& relative, const std::string& name, FolderFinds* finds) {
  if (name == kListName) {
    finds->lists.push_back(relative);
  } else if (absl::StartsWith(name, "kernelslist") || absl::EndsWith(name, ".trace") ||
             absl::StrContains(name, ".trace.")) {
    finds->raw_files.push_back(relative);
  } else if (HasTraceSuffix(name)) {
    ++finds->kernels;
  }
}

absl::StatusOr<FolderFinds> SearchFolder(const std::string& folder, IngestContext& context) {
  FolderFinds finds;
  std::error_code error;
  size_t entries = 0;
  fs::recursive_directory_iterator it(folder, fs::directory_options::skip_permission_denied, error);
  for (; !error && it != fs::recursive_directory_iterator(); it.increment(error)) {
    RETURN_IF_ERROR(context.CheckCancelled());
    if (++entries > kMaxFolderEntries) {
      return InputError(absl::StatusCode::kResourceExhausted,
                        FileFault(folder, absl::StrCat("at most ", kMaxFolderEntries, " entries"),
                                  "the folder is too large to look for kernelslist.g in"));
    }
    if (it.depth() >= kMaxFolderDepth) it.disable_recursion_pending();
    std::error_code ignored;
    if (it->symlink_status(ignored).type() != fs::file_type::regular) continue;
    Classify(it->path().lexically_relative(folder).string(), it->path().filename().string(), &finds);
  }
  if (error) return absl::UnavailableError(absl::StrCat("cannot list ", folder, ": ", error.message()));
  std::sort(finds.lists.begin(), finds.lists.end());
  std::sort(finds.raw_files.begin(), finds.raw_files.end());
  return finds;
}

absl::Status NoList(const std::string& name, const FolderFinds& finds) {
  Fault fault = FileFault(name, "a kernelslist.g and the kernel files it names", "");
  if (!finds.raw_files.empty()) {
    fault.message =
        absl::StrCat("no kernelslist.g, only files that are not grouped (", finds.raw_files.front(),
                     "): run post-processing (post-traces-processing) on them first");
    fault.facts = {{"reason", "not_grouped"}};
  } else if (finds.kernels > 0) {
    fault.message = absl::StrCat("no kernelslist.g beside the ", finds.kernels,
                                 " kernel files: give one of them, or write the list (a file name a line)");
    fault.facts = {{"missing_part", kListName}};
  } else {
    fault.message = "no kernelslist.g and no kernel files";
    fault.facts = {{"missing_part", kListName}};
  }
  return InputError(absl::StatusCode::kInvalidArgument, fault);
}

absl::Status ManyLists(const std::string& name, const std::vector<std::string>& lists) {
  constexpr size_t kNamed = 20;
  const std::vector<std::string> named(
      lists.begin(), lists.begin() + static_cast<std::ptrdiff_t>(std::min(lists.size(), kNamed)));
  Fault fault = FileFault(name, "exactly one kernelslist.g", "");
  fault.message =
      absl::StrCat(lists.size(), " lists are in it, give one of them: ", absl::StrJoin(named, ", "),
                   lists.size() > kNamed ? " ..." : "");
  fault.facts = {{"lists", absl::StrJoin(named, ",")}, {"list_count", absl::StrCat(lists.size())}};
  return InputError(absl::StatusCode::kInvalidArgument, fault);
}

// Fills folder and list_file from the tree below `root`.
absl::Status LocateList(const std::string& root, IngestContext& context, TraceInput* input) {
  std::error_code ignored;
  if (fs::is_regular_file(fs::symlink_status(root + "/" + kListName, ignored))) {
    input->folder = root;
    input->list_file = kListName;
    return absl::OkStatus();
  }
  ASSIGN_OR_RETURN(const FolderFinds finds, SearchFolder(root, context));
  if (finds.lists.empty()) return NoList(input->name, finds);
  if (finds.lists.size() > 1) return ManyLists(input->name, finds.lists);
  input->folder = (fs::path(root) / finds.lists.front()).parent_path().string();
  input->list_file = kListName;
  return absl::OkStatus();
}

// A folder and an archive of it are one trace and go by one name in results: "bfs.tar.zst" is "bfs".
std::string WithoutPacking(const std::string& name) {
  for (const absl::string_view packing : {".gz", ".xz", ".zst", ".bz2", ".tgz", ".txz", ".tar", ".zip"}) {
    const absl::string_view rest = absl::StripSuffix(name, packing);
    if (rest.size() != name.size() && !rest.empty()) return std::string(absl::StripSuffix(rest, ".tar"));
  }
  return name;
}

absl::Status LocateInArchive(InputFile& file, const std::string& temp_prefix, IngestContext& context,
                             TraceInput* input) {
  ASSIGN_OR_RETURN(input->unpacked, TempFolder::Create(temp_prefix));
  input->archive_bytes = file.size();
  context.BeginPhase(file.size(), 0, file.size() / 2, file.size());
  RETURN_IF_ERROR(UnpackArchive(file, input->unpacked->path(), context));
  context.SetPlainBytesCharged();
  return LocateList(input->unpacked->path(), context, input);
}

}  // namespace

absl::StatusOr<TraceInput> LocateTrace(const std::string& input, const std::string& temp_prefix,
                                       IngestContext& context) {
  // Links on the way to what the user names are the user's own; inside a trace none is followed.
  std::error_code error;
  const fs::path path = fs::canonical(input, error);
  if (error) {
    Fault fault = FileFault(input, "a folder, a list, a kernel file or an archive", "");
    fault.message = absl::StrCat("cannot be found: ", error.message());
    fault.facts = {{"missing", input}};
    return InputError(absl::StatusCode::kNotFound, fault);
  }
  TraceInput found;
  found.name = path.filename().string();
  if (fs::is_directory(path, error)) {
    RETURN_IF_ERROR(LocateList(path.string(), context, &found));
    return found;
  }
  ASSIGN_OR_RETURN(const std::unique_ptr<InputFile> file, InputFile::OpenPath(path.string()));
  ASSIGN_OR_RETURN(const ContentKind kind, KindOf(path.string(), *file, context));
  if (kind == ContentKind::kArchive) {
    found.name = WithoutPacking(found.name);
    RETURN_IF_ERROR(LocateInArchive(*file, temp_prefix, context, &found));
    return found;
  }
  found.folder = path.parent_path().string();
  (kind == ContentKind::kKernel ? found.kernel_file : found.list_file) = path.filename().string();
  return found;
}

}  // namespace sm89
