// Reads everything a located trace holds into a compact writer.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "sim/base/fault.h"
#include "sim/ingest/ingest_context.h"
#include "sim/ingest/kernel_builder.h"
#include "sim/ingest/kernels_list.h"
#include "sim/ingest/opcode_check.h"
#include "sim/ingest/trace_input.h"
#include "sim/trace/compact_writer.h"
#include "sim/trace/trace_types.h"

namespace sm89 {

// Order of checks, each complete before the next: the list, presence of every file it names, every header,
// then the kernels one by one. After a kernel is refused the following ones are still read (not written), so
// that one answer names everything that is wrong. Not thread-safe.
class TraceSetReader {
 public:
  TraceSetReader(const TraceInput& input, CompactWriter& writer, IngestContext& context)
      : input_(input), writer_(writer), context_(context) {}

  // On success the writer holds all kernels and waits for Finish.
  absl::StatusOr<TraceSetInfo> Run();
  // Bytes of the files read (of the archive they came in); known after Run.
  uint64_t input_bytes() const { return input_bytes_; }

 private:
  absl::StatusOr<KernelsList> ReadList();
  absl::Status CheckFiles(const KernelsList& list);
  absl::Status CheckHeaders(const KernelsList& list);
  absl::Status ReadKernels(const KernelsList& list);
  absl::Status ReadKernel(const std::string& file, CompactWriter& writer);
  absl::Status ChargeAgain(const std::string& file);
  // The number of complete CTAs when the file is truncated and partial traces are allowed, else all.
  absl::StatusOr<uint64_t> UsableCtas(const std::string& file);
  absl::Status FinishKernel(KernelBuilder& builder, bool truncated, CompactWriter& writer);
  void Warn(const KernelInfo& kernel);
  void WarnAsyncCopies(const KernelBuilder& builder);
  // Keeps the faults of a refused file and says OK; hands on every error that is not about content.
  absl::Status KeepFaults(const absl::Status& status);
  absl::Status Refusal(size_t num_kernels) const;

  const TraceInput& input_;
  CompactWriter& writer_;
  IngestContext& context_;
  MarkTally marks_;
  TraceSetInfo set_;
  std::vector<Fault> faults_;
  size_t refused_kernels_ = 0;
  uint64_t kernel_bytes_ = 0;  // of the kernel files, each as often as it is listed
  uint64_t input_bytes_ = 0;
};

}  // namespace sm89
