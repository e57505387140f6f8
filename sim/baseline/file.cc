// The baseline file: text to values and back.
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "nlohmann/json.hpp"
#include "sim/base/fault.h"
#include "sim/base/status_macros.h"
#include "sim/baseline/baseline.h"
#include "sim/baseline/json_fields.h"

namespace sm89::baseline {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr char kSchema[] = "sm89-baseline";

fs::path FolderOf(const std::string& file) { return fs::absolute(file).lexically_normal().parent_path(); }

// A path of the working directory as one of the file's folder. Names on a server stay what they are.
std::string ToFile(const std::string& path, const std::string& file) {
  if (path.empty() || fs::path(path).is_absolute()) return path;
  return fs::absolute(path).lexically_normal().lexically_proximate(FolderOf(file)).generic_string();
}
std::string FromFile(const std::string& path, const std::string& file) {
  if (path.empty() || fs::path(path).is_absolute()) return path;
  const fs::path folder = fs::path(file).parent_path();
  return (folder / path).lexically_normal().generic_string();
}

bool IsServerTrace(const std::string& trace) { return trace.starts_with("traces/"); }

void AddText(const char* key, const std::string& value, Json* object) {
  if (!value.empty()) (*object)[key] = value;
}

Json QuestionToJson(const Question& q, const std::string& file) {
  Json json;
  AddText(IsServerTrace(q.trace) ? "server_trace" : "trace",
          IsServerTrace(q.trace) ? q.trace : ToFile(q.trace, file), &json);
  AddText("cubin", ToFile(q.cubin, file), &json);
  AddText("launch", ToFile(q.launch, file), &json);
  AddText("suite", ToFile(q.suite, file), &json);
  AddText("cubin_dir", ToFile(q.cubin_folder, file), &json);
  AddText("arch", q.arch, &json);
  if (!q.cases.empty()) json["cases"] = q.cases;
  for (const std::string& path : q.sass) json["sass"].push_back(ToFile(path, file));
  if (q.foreign_arch) json["foreign_arch"] = true;
  if (q.allow_partial) json["allow_partial"] = true;
  if (q.unknown_as_nop) json["unknown_as_nop"] = true;
  AddText("config", q.config, &json);
  AddText("config_file", ToFile(q.config_file, file), &json);
  for (const auto& [name, value] : q.settings) json["settings"].push_back({{"name", name}, {"value", value}});
  AddText("kernels", q.kernels, &json);
  return json;
}

Question ReadQuestion(const Json& json, const std::string& where, const std::string& file,
                      FieldFaults* faults) {
  Fields fields(json, where, faults);
  Question q;
  q.trace = FromFile(fields.OptionalText("trace"), file);
  // A relative path that begins with "traces/" would read as a name on a server.
  if (IsServerTrace(q.trace)) q.trace = absl::StrCat("./", q.trace);
  if (const std::string name = fields.OptionalText("server_trace"); !name.empty()) {
    if (!IsServerTrace(name) || !q.trace.empty())
      fields.Fault("server_trace", name, "traces/{id}, without a trace beside it", "not usable");
    q.trace = name;
  }
  q.cubin = FromFile(fields.OptionalText("cubin"), file);
  q.launch = FromFile(fields.OptionalText("launch"), file);
  q.suite = FromFile(fields.OptionalText("suite"), file);
  q.cubin_folder = FromFile(fields.OptionalText("cubin_dir"), file);
  q.arch = fields.OptionalText("arch");
  q.cases = fields.Texts("cases");
  for (const std::string& path : fields.Texts("sass")) q.sass.push_back(FromFile(path, file));
  q.foreign_arch = fields.Flag("foreign_arch");
  q.allow_partial = fields.Flag("allow_partial");
  q.unknown_as_nop = fields.Flag("unknown_as_nop");
  q.config = fields.OptionalText("config");
  q.config_file = FromFile(fields.OptionalText("config_file"), file);
  fields.Each("settings", [&](const Json& setting, const std::string& place) {
    Fields pair(setting, place, faults);
    q.settings.emplace_back(pair.Text("name"), pair.Text("value"));
    pair.Finish();
  });
  q.kernels = fields.OptionalText("kernels");
  fields.Finish();
  const int inputs = (q.trace.empty() ? 0 : 1) + (q.cubin.empty() ? 0 : 1) + (q.suite.empty() ? 0 : 1);
  if (inputs != 1)
    fields.Fault("trace", "", "exactly one of trace, server_trace, cubin and suite", "not one input");
  if (q.config.empty() == q.config_file.empty())
    fields.Fault("config", q.config, "exactly one of config and config_file", "not one configuration");
  return q;
}

RecordedRun ReadRun(const Json& json, const std::string& where, const std::string& file,
                    FieldFaults* faults) {
  Fields fields(json, where, faults);
  RecordedRun run;
  if (const Json* question = fields.Object("question"))
    run.question = ReadQuestion(*question, absl::StrCat(where, ".question"), file, faults);
  run.band_percent = fields.Decimal("band_percent", kBandPercentMin, kBandPercentMax);
  run.measured.product_version = fields.Text("sm89_version");
  run.measured.model_version = fields.Text("model_version");
  run.measured.trace_digest = fields.Text("trace_digest");
  run.measured.config_digest = fields.Text("config_digest");
  run.measured.total_cycles = fields.Count("total_cycles");
  fields.Each("kernels", [&](const Json& kernel, const std::string& place) {
    Fields row(kernel, place, faults);
    std::string name = row.OptionalText("name");
    run.measured.kernels.push_back({std::move(name), row.Count("cycles")});
    row.Finish();
  });
  if (run.measured.kernels.empty()) fields.Fault("kernels", "", "at least one kernel", "there is none");
  fields.Finish();
  return run;
}

absl::Status TooMany(const std::string& what, size_t most) {
  return absl::ResourceExhaustedError(absl::StrCat("a baseline holds at most ", most, " ", what));
}

absl::Status CheckBounds(const Baseline& baseline) {
  if (baseline.runs.size() > kRunsMax) return TooMany("runs", kRunsMax);
  size_t kernels = 0;
  for (const RecordedRun& run : baseline.runs) kernels += run.measured.kernels.size();
  return kernels > kKernelsMax ? TooMany("kernels", kKernelsMax) : absl::OkStatus();
}

absl::Status SystemError(const std::string& what, const std::string& file) {
  const int error = errno;
  const auto code = error == ENOENT ? absl::StatusCode::kNotFound : absl::StatusCode::kFailedPrecondition;
  return InputError(code, Fault{.file = file, .message = absl::StrCat(what, ": ", std::strerror(error))});
}

std::string Dump(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

// The keys of a run but for its kernels, one a line.
void AppendRun(const RecordedRun& run, const std::string& file, std::string* text) {
  const std::pair<const char*, Json> fields[] = {
      {"question", QuestionToJson(run.question, file)}, {"band_percent", run.band_percent},
      {"sm89_version", run.measured.product_version},   {"model_version", run.measured.model_version},
      {"trace_digest", run.measured.trace_digest},      {"config_digest", run.measured.config_digest},
      {"total_cycles", run.measured.total_cycles}};
  absl::StrAppend(text, "  {\n");
  for (const auto& [key, value] : fields) absl::StrAppend(text, "   \"", key, "\": ", Dump(value), ",\n");
  absl::StrAppend(text, "   \"kernels\": [");
  const char* separator = "\n";
  for (const KernelCycles& kernel : run.measured.kernels) {
    absl::StrAppend(text, separator, "    ", Dump({{"name", kernel.name}, {"cycles", kernel.cycles}}));
    separator = ",\n";
  }
  absl::StrAppend(text, "\n   ]\n  }");
}

absl::StatusOr<Json> ParseText(std::string_view text, const std::string& file) {
  if (text.size() > kFileBytesMax) return TooMany("bytes", kFileBytesMax);
  try {
    return Json::parse(text);
  } catch (const Json::parse_error& error) {
    const size_t at = std::min(error.byte, text.size());
    const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n');
    return InputError(absl::StatusCode::kInvalidArgument,
                      Fault{.file = file,
                            .line = static_cast<uint64_t>(line),
                            .expected = "JSON that 'baseline record' wrote",
                            .message = "not JSON"});
  } catch (const Json::exception& error) {  // a number that no double holds
    return InputError(
        absl::StatusCode::kInvalidArgument,
        Fault{.file = file, .expected = "numbers that a double holds", .message = error.what()});
  }
}

absl::Status CheckSchema(const Json& root, const std::string& file) {
  const auto wrong = [&](const std::string& field, const std::string& value, const std::string& expected) {
    return InputError(absl::StatusCode::kInvalidArgument, Fault{.file = file,
                                                                .field = field,
                                                                .value = value,
                                                                .expected = expected,
                                                                .message = "not a baseline of this version"});
  };
  if (!root.is_object() || !root.contains("schema") || root["schema"] != kSchema)
    return wrong("schema", root.is_object() && root.contains("schema") ? Dump(root["schema"]) : "", kSchema);
  const bool right = root.contains("schema_version") && root["schema_version"] == kSchemaVersion;
  if (right) return absl::OkStatus();
  return wrong("schema_version", root.contains("schema_version") ? Dump(root["schema_version"]) : "",
               absl::StrCat(kSchemaVersion));
}

}  // namespace

std::string LabelOf(const Question& q) {
  std::string label = !q.trace.empty() ? q.trace : !q.cubin.empty() ? q.cubin : q.suite;
  if (!q.launch.empty()) absl::StrAppend(&label, " ", q.launch);
  for (const std::string& id : q.cases) absl::StrAppend(&label, " ", id);
  absl::StrAppend(&label, " @ ", q.config.empty() ? q.config_file : q.config);
  for (const auto& [name, value] : q.settings) absl::StrAppend(&label, " ", name, "=", value);
  if (!q.kernels.empty()) absl::StrAppend(&label, " kernels ", q.kernels);
  return label;
}

absl::Status Put(RecordedRun run, Baseline* baseline) {
  const std::string identity = Dump(QuestionToJson(run.question, "x"));
  for (RecordedRun& old : baseline->runs) {
    if (Dump(QuestionToJson(old.question, "x")) != identity) continue;
    old = std::move(run);
    return CheckBounds(*baseline);
  }
  baseline->runs.push_back(std::move(run));
  return CheckBounds(*baseline);
}

absl::StatusOr<Baseline> Parse(std::string_view text, const std::string& file) {
  ASSIGN_OR_RETURN(const Json root, ParseText(text, file));
  RETURN_IF_ERROR(CheckSchema(root, file));
  FieldFaults faults{.file = file};
  Fields fields(root, "", &faults);
  fields.Text("schema");
  fields.Count("schema_version");
  Baseline baseline;
  fields.Each("runs", [&](const Json& run, const std::string& where) {
    baseline.runs.push_back(ReadRun(run, where, file, &faults));
  });
  if (baseline.runs.empty()) fields.Fault("runs", "", "at least one run", "there is none");
  fields.Finish();
  if (!faults.faults.empty()) return InputError(absl::StatusCode::kInvalidArgument, "", faults.faults);
  RETURN_IF_ERROR(CheckBounds(baseline));
  return baseline;
}

std::string ToJson(const Baseline& baseline, const std::string& file) {
  std::string text = absl::StrCat("{\n \"schema\": \"", kSchema, "\",\n \"schema_version\": ", kSchemaVersion,
                                  ",\n \"runs\": [");
  const char* separator = "\n";
  for (const RecordedRun& run : baseline.runs) {
    absl::StrAppend(&text, separator);
    AppendRun(run, file, &text);
    separator = ",\n";
  }
  absl::StrAppend(&text, "\n ]\n}\n");
  return text;
}

absl::StatusOr<Baseline> ReadFile(const std::string& file) {
  std::error_code ignored;
  if (fs::is_directory(file, ignored)) {
    errno = EISDIR;
    return SystemError("cannot be read", file);
  }
  std::ifstream in(file, std::ios::binary);
  if (!in) return SystemError("cannot be read", file);
  std::string text(kFileBytesMax + 1, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(in.gcount()));
  return Parse(text, file);
}

absl::Status WriteFile(const Baseline& baseline, const std::string& file) {
  const std::string temporary = absl::StrCat(file, ".tmp.", getpid());
  std::ofstream out(temporary, std::ios::binary | std::ios::trunc);
  out << ToJson(baseline, file) << std::flush;
  if (out.good() && std::rename(temporary.c_str(), file.c_str()) == 0) return absl::OkStatus();
  const absl::Status failed = SystemError("cannot be written", file);
  std::remove(temporary.c_str());
  return failed;
}

}  // namespace sm89::baseline
