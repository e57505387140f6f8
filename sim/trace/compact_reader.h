// Reads the compact trace format (FORMAT.md): memory-mapped, checked, seekable by CTA.
//
// Chunks are unpacked on demand, shared by the CTAs and segments inside them and dropped with the last user,
// so memory is bounded by what is resident.
#pragma once

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "sim/trace/trace_source.h"

namespace sm89 {

class CompactReader : public TraceSource {
 public:
  // Checks magic, version, section checksums; chunk checksums are checked as chunks are unpacked.
  static absl::StatusOr<std::shared_ptr<CompactReader>> Open(const std::string& path);

  // Any CTA, in any order, from several threads at once.
  absl::StatusOr<std::unique_ptr<CtaTrace>> OpenCta(uint32_t kernel, uint64_t index) override = 0;
  // Verifies every chunk's checksum, decodes everything once and recomputes the digest.
  virtual absl::Status VerifyAll() = 0;
};

}  // namespace sm89
