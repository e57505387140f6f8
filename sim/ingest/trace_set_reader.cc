#include "sim/ingest/trace_set_reader.h"

#include <limits>
#include <memory>
#include <set>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "sim/base/status_macros.h"
#include "sim/ingest/input_file.h"
#include "sim/ingest/kernel_reader.h"
#include "sim/ingest/limits.h"
#include "sim/ingest/line_reader.h"
#include "sim/ingest/null_writer.h"

namespace sm89 {
namespace {

constexpr size_t kMaxFaults = 1000;  // as many as an error carries
// A block is at least 40 bytes of text: more of them than this do not fit any bound on a trace's size.
constexpr uint64_t kMaxCompleteCtas = uint64_t{1} << 40;
constexpr uint64_t kAllCtas = std::numeric_limits<uint64_t>::max();

absl::StatusOr<std::unique_ptr<KernelReader>> OpenByName(const TraceInput& input, const std::string& file,
                                                         IngestContext& context) {
  ASSIGN_OR_RETURN(std::unique_ptr<InputFile> opened, InputFile::OpenInFolder(input.folder, file));
  return OpenKernel(std::move(opened), context);
}

}  // namespace

absl::StatusOr<TraceSetInfo> TraceSetReader::Run() {
  ASSIGN_OR_RETURN(KernelsList list, ReadList());
  RETURN_IF_ERROR(CheckFiles(list));
  RETURN_IF_ERROR(CheckHeaders(list));
  RETURN_IF_ERROR(ReadKernels(list));
  set_.name = input_.name;
  set_.commands = std::move(list.commands);
  set_.marks = marks_.Take();
  set_.warnings = context_.warnings().Take();
  return std::move(set_);
}

absl::StatusOr<KernelsList> TraceSetReader::ReadList() {
  if (input_.list_file.empty()) {
    KernelsList list;
    TraceCommand command;
    command.kind = CommandKind::kKernel;
    list.commands.push_back(std::move(command));
    list.kernels.push_back({input_.kernel_file, 0});
    return list;
  }
  ASSIGN_OR_RETURN(std::unique_ptr<InputFile> file, InputFile::OpenInFolder(input_.folder, input_.list_file));
  input_bytes_ += file->size();
  ASSIGN_OR_RETURN(std::unique_ptr<ByteSource> source, OpenByteSource(std::move(file), context_));
  LineReader lines(std::move(source), input_.list_file, kMaxListLineBytes);
  return ReadKernelsList(lines, context_);
}

absl::Status TraceSetReader::CheckFiles(const KernelsList& list) {
  std::vector<Fault> missing;
  size_t num_missing = 0;
  for (const ListedKernel& kernel : list.kernels) {
    RETURN_IF_ERROR(context_.CheckCancelled());
    const absl::StatusOr<std::unique_ptr<InputFile>> file =
        InputFile::OpenInFolder(input_.folder, kernel.file);
    if (file.ok()) {
      kernel_bytes_ += (*file)->size();
      continue;
    }
    if (file.status().code() != absl::StatusCode::kNotFound) {
      RETURN_IF_ERROR(KeepFaults(file.status()));
      continue;
    }
    if (++num_missing > kMaxFaults) continue;
    Fault fault;
    fault.file = list.file;
    fault.line = kernel.line;
    fault.field = "kernel file";
    fault.value = kernel.file;
    fault.message = absl::StrCat("the list names a file that is not there: ", kernel.file);
    fault.facts = {{"missing", absl::StrCat(kernel.file, "(line", kernel.line, ")")}};
    missing.push_back(std::move(fault));
  }
  if (num_missing > 0) {
    const std::string summary = absl::StrCat(list.file, ": ", num_missing, " of ", list.kernels.size(),
                                             " files that the list names are not there");
    return InputError(absl::StatusCode::kNotFound, summary, missing);
  }
  return faults_.empty() ? absl::OkStatus() : Refusal(list.kernels.size());
}

absl::Status TraceSetReader::CheckHeaders(const KernelsList& list) {
  const IngestContext::Quiet quiet(context_);
  std::set<std::string> seen;
  for (const ListedKernel& kernel : list.kernels) {
    RETURN_IF_ERROR(context_.CheckCancelled());
    if (!seen.insert(kernel.file).second || faults_.size() >= kMaxFaults) continue;
    absl::StatusOr<std::unique_ptr<KernelReader>> reader = OpenByName(input_, kernel.file, context_);
    if (!reader.ok()) {
      RETURN_IF_ERROR(KeepFaults(reader.status()));
      continue;
    }
    const absl::StatusOr<KernelHeader> header = (*reader)->ReadHeader();
    if (!header.ok()) RETURN_IF_ERROR(KeepFaults(header.status()));
    if (header.ok() && !header->assumed.empty()) {
      context_.warnings().Add("header_key_absent", absl::StrCat(kernel.file, ": the header does not give ",
                                                                header->assumed, "; taken as 0"));
    }
  }
  return faults_.empty() ? absl::OkStatus() : Refusal(seen.size());
}

absl::Status TraceSetReader::ReadKernels(const KernelsList& list) {
  input_bytes_ = input_.archive_bytes != 0 ? input_.archive_bytes : input_bytes_ + kernel_bytes_;
  context_.BeginPhase(kernel_bytes_, input_.archive_bytes / 2, input_bytes_, input_bytes_);
  NullWriter nowhere;
  std::set<std::string_view> read;
  for (const ListedKernel& kernel : list.kernels) {
    if (!read.insert(kernel.file).second) RETURN_IF_ERROR(ChargeAgain(kernel.file));
    const absl::Status status = ReadKernel(kernel.file, faults_.empty() ? writer_ : nowhere);
    if (!status.ok()) RETURN_IF_ERROR(KeepFaults(status));
    if (refused_kernels_ > kMaxFaultyKernels) break;
  }
  return faults_.empty() ? absl::OkStatus() : Refusal(list.kernels.size());
}

// Unpacking an archive charged each plain file once; a list may name one many times.
absl::Status TraceSetReader::ChargeAgain(const std::string& file) {
  if (!context_.plain_bytes_charged()) return absl::OkStatus();
  ASSIGN_OR_RETURN(const std::unique_ptr<InputFile> opened, InputFile::OpenInFolder(input_.folder, file));
  return context_.ChargeUnpacked(opened->size(), file);
}

absl::Status TraceSetReader::ReadKernel(const std::string& file, CompactWriter& writer) {
  uint64_t max_ctas = kAllCtas;
  std::optional<IngestContext::Quiet> read_before;
  if (context_.options().allow_partial) {
    ASSIGN_OR_RETURN(max_ctas, UsableCtas(file));
    read_before.emplace(context_);
  }
  ASSIGN_OR_RETURN(const std::unique_ptr<KernelReader> reader, OpenByName(input_, file, context_));
  ASSIGN_OR_RETURN(const KernelHeader header, reader->ReadHeader());
  // A legal grid can be larger than any file: it is read only to count what is missing.
  NullWriter nowhere;
  const bool can_be_complete = header.info.grid_ctas <= kMaxCompleteCtas || context_.options().allow_partial;
  CompactWriter& target = can_be_complete ? writer : nowhere;
  RETURN_IF_ERROR(target.BeginKernel(header.info));
  KernelBuilder builder(header.info, target);
  RETURN_IF_ERROR(reader->ReadBody(builder, max_ctas));
  return FinishKernel(builder, max_ctas != kAllCtas, target);
}

// The writer cannot take back a CTA, so a file that may be cut is read once to see where.
absl::StatusOr<uint64_t> TraceSetReader::UsableCtas(const std::string& file) {
  ASSIGN_OR_RETURN(const std::unique_ptr<KernelReader> reader, OpenByName(input_, file, context_));
  ASSIGN_OR_RETURN(const KernelHeader header, reader->ReadHeader());
  NullWriter nowhere;
  KernelBuilder builder(header.info, nowhere);
  const absl::Status status = reader->ReadBody(builder, kAllCtas);
  if (status.ok()) return kAllCtas;
  if (status.code() == absl::StatusCode::kDataLoss && builder.info().num_ctas > 0)
    return builder.info().num_ctas;
  return status;
}

absl::Status TraceSetReader::FinishKernel(KernelBuilder& builder, bool truncated, CompactWriter& writer) {
  const bool complete = !truncated && builder.HasAllCtas();
  if (!complete && !context_.options().allow_partial) {
    return InputError(absl::StatusCode::kInvalidArgument, builder.MissingCtasFault());
  }
  KernelInfo info = builder.info();
  info.complete = complete;
  const std::optional<Fault> fault = CheckOpcodes(info, builder.table(), context_, marks_);
  if (fault) return InputError(absl::StatusCode::kInvalidArgument, *fault);
  if (!complete) marks_.AddPartial(info);
  Warn(info);
  WarnAsyncCopies(builder);
  RETURN_IF_ERROR(writer.EndKernel(info));
  if (faults_.empty()) set_.kernels.push_back(std::move(info));  // else nobody will see it
  return absl::OkStatus();
}

void TraceSetReader::Warn(const KernelInfo& kernel) {
  const uint64_t without = kernel.empty_warps + kernel.absent_warps;
  if (without > 0) {
    context_.warnings().Add(
        "warps_without_instructions",
        absl::StrCat(kernel.file, ": ", without, " warps without instructions (", kernel.empty_warps,
                     " empty, ", kernel.absent_warps, " without a section) count as finished"));
  }
  if (kernel.warps_past_exit > 0) {
    context_.warnings().Add(
        "lanes_after_exit",
        absl::StrCat(kernel.file, ": ", kernel.warps_past_exit,
                     " warps have lanes that run on after their EXIT; a warp ends with its trace"));
  }
}

void TraceSetReader::WarnAsyncCopies(const KernelBuilder& builder) {
  if (builder.async_shared_sides() == 0) return;
  context_.warnings().Add(
      "async_copy_shared_side",
      absl::StrCat(builder.info().file, ":", builder.first_shared_side_line(), ": ",
                   builder.async_shared_sides(),
                   " executed LDGSTS give addresses of shared memory (older post-processing keeps two lines "
                   "each); these access no memory here"));
}

absl::Status TraceSetReader::KeepFaults(const absl::Status& status) {
  const bool about_content =
      status.code() == absl::StatusCode::kInvalidArgument || status.code() == absl::StatusCode::kDataLoss;
  if (!about_content) return status;
  std::vector<Fault> faults = FaultsOf(status);
  if (faults.empty()) return status;
  ++refused_kernels_;
  for (Fault& fault : faults) {
    if (faults_.size() < kMaxFaults) faults_.push_back(std::move(fault));
  }
  return absl::OkStatus();
}

absl::Status TraceSetReader::Refusal(size_t num_kernels) const {
  std::string summary;
  if (num_kernels > 1 && faults_.size() > 1) {
    summary = absl::StrCat(input_.name, ": ", refused_kernels_, " of ", num_kernels, " kernels are refused");
  }
  return InputError(absl::StatusCode::kInvalidArgument, summary, faults_);
}

}  // namespace sm89
