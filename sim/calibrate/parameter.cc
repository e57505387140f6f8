#include "sim/calibrate/parameter.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "sim/base/fault.h"
#include "sim/base/status_macros.h"
#include "sim/base/strings.h"

namespace sm89::calibrate {
namespace {

constexpr const char* kPartNames[] = {"latency", "interval"};
// How far a parameter without bounds of its own may go.
constexpr double kReach = 4;

absl::Status Mistake(const std::string& value, const std::string& expected, const std::string& message,
                     absl::StatusCode code = absl::StatusCode::kInvalidArgument) {
  return InputError(code,
                    Fault{.field = "parameter", .value = value, .expected = expected, .message = message});
}

// A setting's range as whole steps.
struct Range {
  int64_t min = 0, max = 0;
  int digits = 0;
  bool power_of_two = false;
};

int64_t Steps(double value, int digits) { return std::llround(value * std::pow(10.0, digits)); }

absl::StatusOr<Range> ReadRange(const SettingFact& fact, int part) {
  std::string text = fact.range;
  constexpr char kPairs[] = "latency,interval, each ";
  const bool pairs = text.starts_with(kPairs);
  if (pairs != (part >= 0)) {
    return Mistake(fact.name, pairs ? fact.name + ":latency or :interval" : fact.name,
                   pairs ? "the setting has two parts" : "the setting has no parts");
  }
  if (pairs) text = text.substr(sizeof(kPairs) - 1);
  Range range;
  const size_t comma = text.find(", ");
  const std::string more = comma == std::string::npos ? "" : text.substr(comma + 2);
  text = text.substr(0, comma);
  if (more == "a power of two") {
    range.power_of_two = true;
  } else if (more.starts_with("at most ")) {
    range.digits = more[8] - '0';
  } else if (!more.empty()) {
    return Mistake(fact.name, "a setting that is a number", absl::StrCat("its range is ", fact.range));
  }
  const std::pair<std::string, std::string> ends = absl::StrSplit(text, absl::MaxSplits("..", 1));
  double min = 0, max = 0;
  if (!absl::SimpleAtod(ends.first, &min) || !absl::SimpleAtod(ends.second, &max) || range.digits < 0 ||
      range.digits > 6) {
    return Mistake(fact.name, "a setting that is a number", absl::StrCat("its range is ", fact.range));
  }
  range.min = Steps(min, range.digits);
  range.max = Steps(max, range.digits);
  return range;
}

std::vector<std::string> Parts(const std::string& text) { return absl::StrSplit(text, ','); }

absl::StatusOr<int64_t> ReadValue(const Parameter& parameter) {
  std::string text = parameter.text;
  if (parameter.part >= 0) {
    const std::vector<std::string> parts = Parts(text);
    if (parts.size() != std::size(kPartNames))
      return Mistake(parameter.name, "latency,interval", "value " + text);
    text = parts[static_cast<size_t>(parameter.part)];
  }
  double value = 0;
  if (!absl::SimpleAtod(text, &value)) return Mistake(parameter.name, "a number", "value " + text);
  return Steps(value, parameter.digits);
}

// "assumption", "assumption: about an L2 hit", "...; how it divides: assumption"; of a part: "latency:
// assumption".
bool IsAssumed(const std::string& source, int part) {
  constexpr std::string_view kWord = "assumption";
  if (part >= 0 && source.find(absl::StrCat(kPartNames[part], ": assumption")) != std::string::npos)
    return true;
  return source.starts_with(kWord) || (part < 0 && source.ends_with(kWord));
}

absl::Status SetBounds(const ParameterSpec& spec, const Range& range, Parameter* parameter) {
  const double start = static_cast<double>(parameter->start);
  parameter->min = std::max<int64_t>(range.min, std::llround(std::ceil(start / kReach)));
  parameter->max = std::min<int64_t>(range.max, std::max<int64_t>(std::llround(start * kReach), 4));
  if (spec.min.has_value()) parameter->min = Steps(*spec.min, range.digits);
  if (spec.max.has_value()) parameter->max = Steps(*spec.max, range.digits);
  const auto text = [&](int64_t value) { return parameter->ValueText(value); };
  if (parameter->min < range.min || parameter->max > range.max || parameter->min > parameter->max) {
    return Mistake(absl::StrCat(parameter->label(), "=", text(parameter->min), ":", text(parameter->max)),
                   absl::StrCat("bounds inside ", text(range.min), ":", text(range.max)),
                   "the setting's range does not allow these bounds");
  }
  if (parameter->start < parameter->min || parameter->start > parameter->max) {
    return Mistake(absl::StrCat(parameter->label(), "=", text(parameter->min), ":", text(parameter->max)),
                   absl::StrCat("bounds around ", text(parameter->start)),
                   "the present value is outside the bounds");
  }
  return absl::OkStatus();
}

}  // namespace

std::span<const OfferedParameter> OfferedParameters() {
  static constexpr auto kOffered = std::to_array<OfferedParameter>({
      {"-gpgpu_kernel_launch_latency", -1, "every kernel by the same cycles; short ones most"},
      {"-gpgpu_TB_launch_latency", -1, "kernels of more CTAs than fit at once"},
      {"-gpgpu_sm89_cta_launch_interval", -1, "kernels of many short CTAs"},
      {"-gpgpu_sm89_branch_redirect_cycles", -1, "loops and divergent code"},
      {"-gpgpu_sm89_l0i_miss_cycles", -1, "long straight code"},
      {"-gpgpu_sm89_l1i_miss_cycles", -1, "the first pass over any code; short kernels"},
      {"-gpgpu_sm89_constant_l1_miss_cycles", -1, "first use of parameters and constants; short kernels"},
      {"-trace_opcode_latency_initiation_sfu", 0, "chains of special functions"},
      {"-trace_opcode_latency_initiation_tensor", 0, "chains of tensor instructions"},
      {"-gpgpu_l1_latency", -1, "dependent loads that hit the L1"},
      {"-gpgpu_smem_latency", -1, "dependent loads from shared memory"},
      {"-gpgpu_sm89_mem_request_interval", -1, "memory instructions at the SM's limit"},
      {"-gpgpu_sm89_l1_fill_cycles", -1, "dependent loads that miss the L1"},
      {"-gpgpu_sm89_shmem_atomic_cycles", -1, "atomics in shared memory"},
      {"-gpgpu_sm89_barrier_cycles", -1, "barriers"},
      {"-gpgpu_sm89_tlb_miss_cycles", -1, "accesses spread over many pages"},
      {"-gpgpu_sm89_noc_request_latency", -1,
       "everything behind the L1; with the next two only their sum shows"},
      {"-gpgpu_sm89_noc_reply_latency", -1, "everything behind the L1"},
      {"-gpgpu_sm89_l2_latency", -1, "everything behind the L1"},
      {"-gpgpu_sm89_noc_gpc_port_sectors", -1, "L2 bandwidth of the whole GPU"},
      {"-gpgpu_sm89_l2_sectors_per_cycle", -1, "L2 bandwidth of a slice"},
      {"-gpgpu_sm89_l2_atomic_latency", -1, "atomics in global memory"},
      {"-gpgpu_sm89_dram_base_latency", -1, "L2 misses"},
      {"-gpgpu_sm89_dram_refresh_time", -1, "DRAM bandwidth"},
  });
  return kOffered;
}

absl::StatusOr<ParameterSpec> ParseParameterSpec(const std::string& text) {
  ParameterSpec spec;
  const size_t equals = text.find('=');
  spec.name = text.substr(0, equals);
  if (!spec.name.starts_with('-')) spec.name = "-" + spec.name;
  for (size_t i = 0; i < std::size(kPartNames); ++i) {
    const std::string suffix = absl::StrCat(":", kPartNames[i]);
    if (!spec.name.ends_with(suffix)) continue;
    spec.part = static_cast<int>(i);
    spec.name.resize(spec.name.size() - suffix.size());
  }
  if (spec.name.size() < 2) return Mistake(text, "NAME or NAME=MIN:MAX", "no name");
  if (equals == std::string::npos) return spec;
  const std::pair<std::string, std::string> ends =
      absl::StrSplit(text.substr(equals + 1), absl::MaxSplits(':', 1));
  double min = 0, max = 0;
  if (!absl::SimpleAtod(ends.first, &min) || !absl::SimpleAtod(ends.second, &max) || !(min <= max)) {
    return Mistake(text, "NAME=MIN:MAX", "not bounds");
  }
  spec.min = min;
  spec.max = max;
  return spec;
}

std::string Parameter::label() const { return part < 0 ? name : absl::StrCat(name, ":", kPartNames[part]); }

std::string Parameter::ValueText(int64_t value) const {
  if (digits == 0) return absl::StrCat(value);
  return absl::StrFormat("%.*f", digits, static_cast<double>(value) / std::pow(10.0, digits));
}

absl::StatusOr<Parameter> MakeParameter(const ParameterSpec& spec, std::span<const SettingFact> settings) {
  const auto fact = std::find_if(settings.begin(), settings.end(),
                                 [&](const SettingFact& s) { return s.name == spec.name; });
  if (fact == settings.end())
    return Mistake(spec.name, "a setting of the configuration", "there is no such setting",
                   absl::StatusCode::kNotFound);
  ASSIGN_OR_RETURN(const Range range, ReadRange(*fact, spec.part));
  Parameter parameter{.name = spec.name,
                      .part = spec.part,
                      .unit = fact->unit,
                      .source = fact->source,
                      .text = fact->value,
                      .digits = range.digits,
                      .power_of_two = range.power_of_two,
                      .assumed = IsAssumed(fact->source, spec.part)};
  ASSIGN_OR_RETURN(parameter.start, ReadValue(parameter));
  RETURN_IF_ERROR(SetBounds(spec, range, &parameter));
  return parameter;
}

absl::StatusOr<std::vector<Parameter>> MakeParameters(std::span<const ParameterSpec> specs,
                                                      std::span<const SettingFact> settings) {
  std::vector<Parameter> parameters;
  if (specs.empty()) {
    for (const OfferedParameter& offered : OfferedParameters()) {
      const absl::StatusOr<Parameter> parameter =
          MakeParameter({.name = std::string(offered.name), .part = offered.part}, settings);
      // A configuration may have switched something off (0), or set it at the end of its range.
      if (parameter.ok() && parameter->min < parameter->max) parameters.push_back(*parameter);
    }
    return parameters;
  }
  if (specs.size() > kParametersMax)
    return Mistake(absl::StrCat(specs.size()), absl::StrCat("at most ", kParametersMax),
                   "too many parameters");
  for (const ParameterSpec& spec : specs) {
    ASSIGN_OR_RETURN(Parameter parameter, MakeParameter(spec, settings));
    const bool twice = std::any_of(parameters.begin(), parameters.end(),
                                   [&](const Parameter& p) { return p.label() == parameter.label(); });
    if (twice)
      return Mistake(parameter.label(), "each parameter once", "named twice",
                     absl::StatusCode::kAlreadyExists);
    parameters.push_back(std::move(parameter));
  }
  return parameters;
}

std::vector<std::pair<std::string, std::string>> SettingsFor(std::span<const Parameter> parameters,
                                                             std::span<const int64_t> values) {
  std::vector<std::pair<std::string, std::string>> settings;
  for (size_t i = 0; i < parameters.size(); ++i) {
    const Parameter& p = parameters[i];
    if (values[i] == p.start) continue;
    auto entry =
        std::find_if(settings.begin(), settings.end(), [&](const auto& s) { return s.first == p.name; });
    if (entry == settings.end()) entry = settings.insert(entry, {p.name, p.text});
    if (p.part < 0) {
      entry->second = p.ValueText(values[i]);
      continue;
    }
    std::vector<std::string> parts = Parts(entry->second);
    parts[static_cast<size_t>(p.part)] = p.ValueText(values[i]);
    entry->second = absl::StrCat(parts[0], ",", parts[1]);
  }
  return settings;
}

}  // namespace sm89::calibrate
