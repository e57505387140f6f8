#include "sim/replay/cooperative_recording.h"

#include <bit>

#include "absl/strings/str_cat.h"
#include "sim/base/assert.h"
#include "sim/base/status_macros.h"

namespace sm89 {

void CooperativeRecording::Record(uint32_t warp, uint32_t inst_index, LaneMask executed,
                                  std::span<const uint64_t> addresses) {
  if (!status_.ok()) return;
  SM89_ASSERT(current_ != nullptr, "a record outside any CTA");
  SM89_ASSERT(addresses.empty() || addresses.size() == static_cast<size_t>(std::popcount(executed)),
              "one address a lane");
  bytes_ += sizeof(Entry) + addresses.size_bytes();
  if (bytes_ > max_bytes_) {
    status_ = absl::ResourceExhaustedError(
        absl::StrCat("the records of a cooperative launch take more than ", max_bytes_, " bytes"));
    return;
  }
  current_->entries.push_back({warp, inst_index, executed, !addresses.empty()});
  current_->addresses.insert(current_->addresses.end(), addresses.begin(), addresses.end());
}

absl::Status CooperativeRecording::Replay(uint64_t index, CtaRecorder* recorder) {
  const Cta cta = std::move(ctas_[index]);
  ctas_[index] = {};
  size_t at = 0;
  for (const Entry& entry : cta.entries) {
    const size_t lanes = entry.has_addresses ? static_cast<size_t>(std::popcount(entry.executed)) : 0;
    RETURN_IF_ERROR(recorder->Add(entry.warp, {.static_id = entry.inst_index,
                                               .mask = entry.executed,
                                               .addresses = std::span(cta.addresses).subspan(at, lanes)}));
    at += lanes;
  }
  return absl::OkStatus();
}

}  // namespace sm89
