#include "sim/ingest/null_writer.h"

namespace sm89 {

absl::Status NullWriter::BeginKernel(const KernelInfo&) {
  insts_.clear();
  ids_.clear();
  return absl::OkStatus();
}

uint32_t NullWriter::AddStatic(const StaticInst& inst) {
  const uint64_t key = uint64_t{inst.pc} << 32 ^ static_cast<uint64_t>(inst.immediate);
  std::vector<uint32_t>& candidates = ids_[key];
  for (const uint32_t id : candidates) {
    if (insts_[id] == inst) return id;
  }
  const auto id = static_cast<uint32_t>(insts_.size());
  insts_.push_back(inst);
  candidates.push_back(id);
  return id;
}

}  // namespace sm89
