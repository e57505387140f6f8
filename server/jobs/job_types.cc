#include "server/jobs/job_types.h"

#include <array>

namespace sm89 {
namespace {

constexpr std::array<std::string_view, kJobStates> kStateNames = {
    "QUEUED", "STARTING", "RUNNING", "LOST_CONTACT", "CANCELLING", "SUCCEEDED", "FAILED", "CANCELLED"};

}  // namespace

std::string_view Name(JobState state) { return kStateNames[static_cast<size_t>(state)]; }

std::optional<JobState> ParseJobState(std::string_view text) {
  for (size_t i = 0; i < kStateNames.size(); ++i) {
    if (kStateNames[i] == text) return static_cast<JobState>(i);
  }
  return std::nullopt;
}

std::vector<std::string> PromisedArtifacts(const JobSpec& spec) {
  std::vector<std::string> names = {std::string(kTypedResultArtifact)};
  if (spec.keep_trace) names.emplace_back("trace.sm89t");
  if (spec.profile) names.insert(names.end(), {"profile.json", "profile.csv"});
  if (spec.ser_trace != SerTraceFormat::kNone) names.emplace_back(KeptName(spec.ser_trace));
  return names;
}

}  // namespace sm89
