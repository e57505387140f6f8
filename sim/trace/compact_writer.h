// Writes the compact trace format (FORMAT.md). Feed it kernel by kernel, CTA by CTA, warp by warp; memory
// use is bounded by one CTA's encoded bytes (a few bytes a warp instruction) plus the static tables.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "sim/trace/trace_source.h"

namespace sm89 {

struct WrittenTrace {
  std::string digest;  // SHA-256 (hex) over the canonical content: independent of compression level,
                       // of the upload's packing, and of the machine
  uint64_t file_bytes = 0;
};

class CompactWriter {
 public:
  // Writes to `path`.tmp and renames on Finish; an abandoned writer leaves nothing behind.
  static absl::StatusOr<std::unique_ptr<CompactWriter>> Create(const std::string& path);
  virtual ~CompactWriter() = default;

  // `kernel.file`, names, dimensions etc. as read; counts are filled in by EndKernel.
  virtual absl::Status BeginKernel(const KernelInfo& kernel) = 0;
  // Id of the static instruction in this kernel; equal instructions give the same id. A caller that keeps
  // ids does not pay the look-up again.
  virtual uint32_t AddStatic(const StaticInst& inst) = 0;
  virtual absl::Status BeginCta(const Dim3& id) = 0;
  virtual absl::Status BeginWarp(uint32_t warp_id) = 0;
  virtual absl::Status Add(const DynInstRecord& inst) = 0;
  virtual absl::Status EndWarp() = 0;
  virtual absl::Status EndCta() = 0;
  // The final header, counts included.
  virtual absl::Status EndKernel(const KernelInfo& kernel) = 0;
  // Commands, marks, warnings; then seals the file.
  virtual absl::StatusOr<WrittenTrace> Finish(const TraceSetInfo& set) = 0;
};

}  // namespace sm89
