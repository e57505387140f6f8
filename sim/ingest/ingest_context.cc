#include "sim/ingest/ingest_context.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "sim/base/fault.h"

namespace sm89 {
namespace {

constexpr size_t kWarningsAKind = 20;

}  // namespace

void WarningLog::Add(const std::string& kind, const std::string& message) {
  const auto [it, is_new] = kinds_.try_emplace(kind);
  Kind& entry = it->second;
  if (is_new) entry.order = kinds_.size();
  if (entry.kept.size() < kWarningsAKind) {
    entry.kept.push_back({kind, message});
  } else {
    ++entry.dropped;
  }
}

std::vector<TraceWarning> WarningLog::Take() {
  std::vector<Kind*> in_order;
  for (auto& [name, kind] : kinds_) in_order.push_back(&kind);
  std::sort(in_order.begin(), in_order.end(),
            [](const Kind* a, const Kind* b) { return a->order < b->order; });
  std::vector<TraceWarning> all;
  for (Kind* kind : in_order) {
    const std::string name = kind->kept.front().kind;
    for (TraceWarning& warning : kind->kept) all.push_back(std::move(warning));
    if (kind->dropped > 0) all.push_back({name, absl::StrCat("and ", kind->dropped, " more of this kind")});
  }
  kinds_.clear();
  return all;
}

absl::Status IngestContext::ChargeUnpacked(uint64_t bytes, const std::string& file) {
  const uint64_t limit = options_.max_unpacked_bytes;
  uint64_t& total = quiet_ > 0 ? quiet_bytes_ : unpacked_bytes_;
  if (bytes <= limit && total <= limit - bytes) {
    total += bytes;
    return absl::OkStatus();
  }
  Fault fault;
  fault.file = file;
  fault.field = "max_unpacked_bytes";
  fault.expected = absl::StrCat("at most ", limit, " bytes unpacked");
  fault.message = absl::StrCat("the input unpacks to more than the limit of ", limit, " bytes");
  fault.facts = {{"limit_bytes", absl::StrCat(limit)}};
  return InputError(absl::StatusCode::kResourceExhausted, fault);
}

absl::Status IngestContext::CheckCancelled() const {
  if (options_.cancel != nullptr && options_.cancel->load(std::memory_order_relaxed)) {
    return absl::CancelledError("reading the trace was cancelled");
  }
  return absl::OkStatus();
}

void IngestContext::BeginPhase(uint64_t phase_bytes, uint64_t begin, uint64_t end, uint64_t total) {
  phase_done_ = 0;
  phase_bytes_ = phase_bytes;
  phase_begin_ = begin;
  phase_end_ = end;
  total_bytes_ = total;
}

void IngestContext::CountInputBytes(uint64_t bytes) {
  if (quiet_ > 0 || !options_.progress || phase_bytes_ == 0) return;
  phase_done_ = std::min(phase_done_ + bytes, phase_bytes_);
  const double share = static_cast<double>(phase_done_) / static_cast<double>(phase_bytes_);
  const double span = static_cast<double>(phase_end_ - phase_begin_);
  options_.progress(phase_begin_ + static_cast<uint64_t>(share * span), total_bytes_);
}

}  // namespace sm89
