#include "server/jobs/job_limits.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "server/os/file_store.h"
#include "sim/base/fault.h"

namespace sm89 {
namespace {

class Faults {
 public:
  void Add(std::string field, std::string value, std::string expected, std::string message) {
    Fault fault;
    fault.field = std::move(field);
    fault.value = std::move(value);
    fault.expected = std::move(expected);
    fault.message = std::move(message);
    faults_.push_back(std::move(fault));
  }
  absl::Status ToStatus() const {
    return faults_.empty() ? absl::OkStatus() : InputError(absl::StatusCode::kInvalidArgument, "", faults_);
  }

 private:
  std::vector<Fault> faults_;
};

template <class T>
void CheckBound(const char* field, T minimum, T maximum, T standard, T* value, Faults* faults) {
  if (*value == 0) *value = standard;
  if (*value >= minimum && *value <= maximum) return;
  faults->Add(field, absl::StrCat(*value), absl::StrCat(minimum, "..", maximum, ", 0 = ", standard),
              "outside this server's bounds");
}

// As a resource label: what a metric, a shell or a filter can take without quoting.
bool IsLabelKey(const std::string& key) {
  return !key.empty() && key.size() <= kLabelKeyBytesMax && absl::ascii_isalnum(key[0]) &&
         std::all_of(key.begin(), key.end(), [](char c) {
           return absl::ascii_isalnum(c) || c == '-' || c == '_' || c == '.' || c == '/';
         });
}

bool IsShownText(const std::string& text) {
  return IsValidUtf8(text) && std::none_of(text.begin(), text.end(), absl::ascii_iscntrl);
}

void CheckLabels(const JobSpec& spec, Faults* faults) {
  if (spec.labels.size() > kLabelsMax) {
    faults->Add("labels", absl::StrCat(spec.labels.size()), absl::StrCat("at most ", kLabelsMax),
                "too many labels");
  }
  for (const auto& [key, value] : spec.labels) {
    if (!IsLabelKey(key)) {
      faults->Add("labels", key.substr(0, kLabelKeyBytesMax),
                  absl::StrCat("1..", kLabelKeyBytesMax, " of letters, digits, '-', '_', '.', '/'"),
                  "not a label key");
    }
    if (value.size() > kLabelValueBytesMax || !IsShownText(value) || value.find('"') != std::string::npos) {
      faults->Add(absl::StrCat("labels.", key.substr(0, kLabelKeyBytesMax)), "",
                  absl::StrCat("at most ", kLabelValueBytesMax, " bytes of text without quotes"),
                  "not a label value");
    }
  }
  if (spec.priority < -kPriorityMax || spec.priority > kPriorityMax) {
    faults->Add("priority", absl::StrCat(spec.priority), absl::StrCat(-kPriorityMax, "..", kPriorityMax),
                "outside the priorities");
  }
}

void CheckSassNames(const JobSpec& spec, Faults* faults) {
  if (!spec.sass_names.empty() && spec.sass_names.size() != spec.sass.size()) {
    faults->Add("sass_names", absl::StrCat(spec.sass_names.size()),
                absl::StrCat("none or ", spec.sass.size()), "not one name for each file of machine code");
  }
  for (const std::string& name : spec.sass_names) {
    if (name.empty() || (IsSafeFileName(name) && IsShownText(name))) continue;
    faults->Add("sass_names", "", "plain file names of at most 200 bytes of text", "not a file name");
    return;
  }
}

void CheckTexts(const JobSpec& spec, Faults* faults) {
  if (spec.trace.empty()) faults->Add("trace", "", "traces/ID", "a job needs a trace");
  if (spec.sass.size() > kSassMax) {
    faults->Add("sass", absl::StrCat(spec.sass.size()), absl::StrCat("at most ", kSassMax),
                "too many files of machine code");
  }
  CheckSassNames(spec, faults);
  if (spec.display_name.size() > kDisplayNameBytesMax || !IsShownText(spec.display_name)) {
    faults->Add("display_name", "", absl::StrCat("at most ", kDisplayNameBytesMax, " bytes of text"),
                "not a display name");
  }
  if (spec.overrides.size() > kOverridesMax) {
    faults->Add("overrides", absl::StrCat(spec.overrides.size()), absl::StrCat("at most ", kOverridesMax),
                "too many overrides");
  }
  for (const NamedOverride& o : spec.overrides) {
    if (o.name.size() + o.value.size() > kOverrideBytesMax || !IsShownText(o.name) || !IsShownText(o.value)) {
      faults->Add("overrides", o.name.substr(0, 64),
                  absl::StrCat("at most ", kOverrideBytesMax, " bytes of text"), "not an override");
    }
  }
}

}  // namespace

absl::Status CheckAndCompleteSpec(const JobLimits& limits, JobSpec* spec) {
  Faults faults;
  CheckTexts(*spec, &faults);
  CheckLabels(*spec, &faults);
  // A server that bounds the cycles does not let "to the end" through.
  const uint64_t cycles_max = limits.cycles_max == 0 ? ~uint64_t{0} : limits.cycles_max;
  const uint64_t cycles_default = limits.cycles_default == 0 ? limits.cycles_max : limits.cycles_default;
  CheckBound<uint64_t>("max_cycles", 0, cycles_max, cycles_default, &spec->max_cycles, &faults);
  CheckBound<uint64_t>("limits.memory_bytes", kJobMemoryMinBytes, limits.memory_max_bytes,
                       limits.memory_default_bytes, &spec->memory_bytes, &faults);
  CheckBound<uint32_t>("limits.wall_seconds", 1, limits.wall_max_seconds, limits.wall_default_seconds,
                       &spec->wall_seconds, &faults);
  CheckBound<uint32_t>("threads", 1, limits.threads_max, 1, &spec->threads, &faults);
  return faults.ToStatus();
}

absl::Status CheckLabelsAndPriority(const JobSpec& spec) {
  Faults faults;
  CheckLabels(spec, &faults);
  return faults.ToStatus();
}

absl::Status CheckRequestId(const std::string& request_id) {
  if (request_id.empty()) return absl::OkStatus();
  constexpr std::string_view kShape = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";
  bool good = request_id.size() == kShape.size();
  for (size_t i = 0; good && i < kShape.size(); ++i) {
    good = kShape[i] == '-' ? request_id[i] == '-' : absl::ascii_isxdigit(request_id[i]);
  }
  if (good) return absl::OkStatus();
  Faults faults;
  faults.Add("request_id", request_id.substr(0, 64), "a UUID", "not a request id");
  return faults.ToStatus();
}

}  // namespace sm89
