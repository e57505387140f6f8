// A writer that keeps nothing: for reading a kernel only to check it.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "sim/trace/compact_writer.h"

namespace sm89 {

class NullWriter final : public CompactWriter {
 public:
  absl::Status BeginKernel(const KernelInfo& kernel) override;
  uint32_t AddStatic(const StaticInst& inst) override;
  absl::Status BeginCta(const Dim3&) override { return absl::OkStatus(); }
  absl::Status BeginWarp(uint32_t) override { return absl::OkStatus(); }
  absl::Status Add(const DynInstRecord&) override { return absl::OkStatus(); }
  absl::Status EndWarp() override { return absl::OkStatus(); }
  absl::Status EndCta() override { return absl::OkStatus(); }
  absl::Status EndKernel(const KernelInfo&) override { return absl::OkStatus(); }
  absl::StatusOr<WrittenTrace> Finish(const TraceSetInfo&) override { return WrittenTrace{}; }

 private:
  std::vector<StaticInst> insts_;
  std::unordered_map<uint64_t, std::vector<uint32_t>> ids_;  // (pc, immediate) -> candidates
};

}  // namespace sm89
