#include "server/service/result_reader.h"

#include <google/protobuf/io/coded_stream.h>

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "sim/base/fault.h"
#include "sim/base/status_macros.h"

namespace sm89 {
namespace {

constexpr uint64_t kChunkBytes = uint64_t{1} << 20;
// Of one typed message as the worker writes them, with room for one large kernel.
constexpr uint64_t kTypedMessageBytesMax = uint64_t{3} << 20;
constexpr uint64_t kVarintBytesMax = 10;

}  // namespace

absl::StatusOr<std::unique_ptr<ResultReader>> ResultReader::Open(BlobStore& blobs,
                                                                 const std::string& job_name,
                                                                 const JobResult& result,
                                                                 const std::vector<std::string>& asked) {
  std::vector<ArtifactRef> shown;
  for (const ArtifactRef& artifact : result.artifacts) {
    if (artifact.name != kTypedResultArtifact) shown.push_back(artifact);
  }
  std::unique_ptr<ResultReader> reader(new ResultReader(job_name, shown));
  std::vector<std::string> names = {std::string(kTypedResultArtifact)};
  names.insert(names.end(), asked.begin(), asked.end());
  for (const std::string& name : names) {
    const auto it = std::find_if(result.artifacts.begin(), result.artifacts.end(),
                                 [&](const ArtifactRef& a) { return a.name == name; });
    const bool hidden = name == kTypedResultArtifact && !reader->sources_.empty();
    if (it == result.artifacts.end() || hidden) {
      Fault fault;
      fault.field = "artifacts";
      fault.value = name.substr(0, 64);
      fault.expected = "a name that the result's first message lists";
      fault.message = absl::StrCat(job_name, " has no such artifact");
      return InputError(absl::StatusCode::kNotFound, fault);
    }
    ASSIGN_OR_RETURN(std::unique_ptr<ReadableFile> file, blobs.OpenBlob(it->sha256));
    reader->sources_.push_back({name, std::move(file)});
  }
  return reader;
}

absl::StatusOr<bool> ResultReader::Next(v1::ResultChunk* chunk) {
  chunk->Clear();
  if (sources_.empty()) return false;
  RETURN_IF_ERROR(typed_ ? NextTyped(chunk) : NextArtifact(chunk));
  if (offset_ >= sources_.front().file->size()) {
    sources_.pop_front();
    offset_ = 0;
    typed_ = false;
  }
  return true;
}

absl::Status ResultReader::NextTyped(v1::ResultChunk* chunk) {
  const ReadableFile& file = *sources_.front().file;
  ASSIGN_OR_RETURN(const std::string head, file.Read(offset_, kVarintBytesMax));
  google::protobuf::io::CodedInputStream coded(reinterpret_cast<const uint8_t*>(head.data()),
                                               static_cast<int>(head.size()));
  uint64_t size = 0;
  if (!coded.ReadVarint64(&size) || size > kTypedMessageBytesMax) {
    return absl::DataLossError(absl::StrCat("the typed result of ", job_name_, " is damaged"));
  }
  const bool first = offset_ == 0;
  const uint64_t start = offset_ + static_cast<uint64_t>(coded.CurrentPosition());
  ASSIGN_OR_RETURN(const std::string bytes, file.Read(start, size));
  if (bytes.size() != size || !chunk->mutable_result()->ParseFromString(bytes)) {
    return absl::DataLossError(absl::StrCat("the typed result of ", job_name_, " is damaged"));
  }
  offset_ = start + size;
  // A cached result was made by another job.
  chunk->mutable_result()->set_job(job_name_);
  if (!first) return absl::OkStatus();
  for (const ArtifactRef& artifact : shown_) {
    v1::ArtifactInfo* info = chunk->mutable_result()->add_artifacts();
    info->set_name(artifact.name);
    info->set_size_bytes(artifact.size_bytes);
    info->set_sha256(artifact.sha256);
  }
  return absl::OkStatus();
}

absl::Status ResultReader::NextArtifact(v1::ResultChunk* chunk) {
  const Source& source = sources_.front();
  ASSIGN_OR_RETURN(std::string bytes, source.file->Read(offset_, kChunkBytes));
  const uint64_t left = source.file->size() - offset_;
  if (bytes.size() != std::min(left, kChunkBytes)) {
    return absl::DataLossError(absl::StrCat("artifact ", source.name, " of ", job_name_, " is cut short"));
  }
  v1::ArtifactChunk* artifact = chunk->mutable_artifact();
  artifact->set_name(source.name);
  artifact->set_offset(offset_);
  offset_ += bytes.size();
  artifact->set_last(offset_ >= source.file->size());
  artifact->set_data(std::move(bytes));
  return absl::OkStatus();
}

}  // namespace sm89
