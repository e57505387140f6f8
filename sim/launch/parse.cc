#include <array>
#include <filesystem>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "sim/base/fault.h"
#include "sim/base/status_macros.h"
#include "sim/base/strings.h"
#include "sim/launch/json_tree.h"
#include "sim/launch/launch.h"
#include "sim/launch/object_reader.h"
#include "sim/launch/parse_args.h"

namespace sm89::launch {
namespace {

constexpr uint64_t kMaxU32 = 0xffffffff;

constexpr std::array<std::pair<std::string_view, Compare>, 3> kCompares = {
    {{"exact", Compare::kExact}, {"approx", Compare::kApprox}, {"none", Compare::kNone}}};

// One to three dimensions; what is not given is 1.
Dim3 ParseDim3(ObjectReader& reader, std::string_view key) {
  constexpr char kExpected[] = "an array of one to three positive integers";
  Dim3 dims{1, 1, 1};
  const JsonNode* node = reader.Required(key, kExpected);
  if (node == nullptr) return dims;
  if (node->kind != JsonNode::Kind::kArray || node->items.empty() || node->items.size() > 3) {
    reader.faults().Add(*node, reader.Path(key), kExpected, "a value has the wrong type");
    return dims;
  }
  uint32_t* const parts[] = {&dims.x, &dims.y, &dims.z};
  for (size_t i = 0; i < node->items.size(); ++i) {
    const JsonNode& item = node->items[i];
    if (item.kind != JsonNode::Kind::kUnsigned || item.natural == 0 || item.natural > kMaxU32) {
      reader.faults().Add(item, absl::StrCat(reader.Path(key), "[", i, "]"), "a positive 32-bit integer",
                          "a dimension is not possible");
      continue;
    }
    *parts[i] = static_cast<uint32_t>(item.natural);
  }
  return dims;
}

Compare ParseCompare(ObjectReader& reader, bool required) {
  if (!required && !reader.Has("compare")) {
    reader.Find("compare");
    return Compare::kNone;
  }
  const std::string text = reader.Text("compare");
  for (const auto& [name, compare] : kCompares) {
    if (name == text) return compare;
  }
  if (!text.empty()) {
    reader.faults().Add(*reader.Find("compare"), reader.Path("compare"), "exact, approx or none",
                        "an unknown way to compare");
  }
  return Compare::kNone;
}

std::vector<std::string> ParseTags(ObjectReader& reader) {
  std::vector<std::string> tags;
  size_t index = 0;
  for (const JsonNode& node : reader.Array("tags", false)) {
    if (node.kind != JsonNode::Kind::kString) {
      reader.faults().Add(node, absl::StrCat(reader.Path("tags"), "[", index, "]"), "a string",
                          "a value has the wrong type");
    }
    tags.push_back(node.text);
    ++index;
  }
  return tags;
}

class LaunchParser {
 public:
  LaunchParser(const ParseOptions& options, FaultList& faults) : options_(options), faults_(faults) {
    file_.name = options.name;
  }

  void Document(const JsonNode& root) {
    ObjectReader reader(root, "", faults_);
    if (!reader.is_object()) return;
    const bool is_list = reader.Has("launches");
    file_.is_manifest = !is_list && reader.Has("cases");
    if (!is_list && !file_.is_manifest) {
      if (!reader.Has("kernel")) {
        faults_.AddMissing(root, "launches", "\"launches\", \"cases\" or one launch with its \"kernel\"");
        return;
      }
      Launch(reader);
      return;
    }
    const std::string key = is_list ? "launches" : "cases";
    const std::vector<JsonNode>& items = reader.Array(key, true);
    for (size_t i = 0; i < items.size(); ++i) {
      ObjectReader launch(items[i], absl::StrCat(key, "[", i, "]"), faults_);
      Launch(launch);
    }
    const JsonNode* list = reader.Find(key);
    if (list->kind == JsonNode::Kind::kArray && items.empty()) {
      faults_.Add(*list, key, "at least one launch", "nothing to run");
    }
    reader.Finish();
  }

  LaunchFile& file() { return file_; }

 private:
  void Launch(ObjectReader& reader) {
    LaunchSpec spec;
    spec.file = options_.name;
    spec.line = reader.node().line;
    spec.kernel = reader.Text("kernel");
    spec.id = file_.is_manifest ? reader.Text("id") : reader.TextOr("id", spec.kernel);
    if (file_.is_manifest) spec.module = ParseModule(reader);
    spec.grid = ParseDim3(reader, "grid");
    spec.block = ParseDim3(reader, "block");
    spec.dynamic_shared_bytes = reader.NaturalOr("dynamic_smem", 0, kMaxU32, 0);
    spec.cooperative = reader.BoolOr("cooperative", false);
    spec.compare = ParseCompare(reader, file_.is_manifest);
    spec.tags = ParseTags(reader);
    ParseBuffersAndArgs(reader, options_.folder, spec);
    reader.Finish();
    CheckUnique(reader, spec);
    file_.launches.push_back(std::move(spec));
  }

  // The module's name becomes part of a path.
  std::string ParseModule(ObjectReader& reader) {
    std::string module = reader.Text("module");
    if (module.find('/') != std::string::npos || (!module.empty() && module.front() == '.')) {
      faults_.Add(*reader.Find("module"), reader.Path("module"), "a plain file name without its suffix",
                  "a module cannot lie in another folder");
    }
    return module;
  }

  void CheckUnique(ObjectReader& reader, const LaunchSpec& spec) {
    if (spec.id.empty()) return;
    const auto [at, is_new] = ids_.emplace(spec.id, spec.line);
    if (is_new) return;
    const JsonNode* id = reader.Find("id");
    faults_.Add(
        id != nullptr ? *id : reader.node(), reader.Path("id"), "an \"id\" of its own for each launch",
        absl::StrCat("the id \"", spec.id, "\" belongs to the launch on line ", at->second, " already"));
  }

  const ParseOptions& options_;
  FaultList& faults_;
  LaunchFile file_;
  std::map<std::string, uint64_t> ids_;  // id -> line
};

}  // namespace

std::string_view Name(Compare compare) { return kCompares[static_cast<size_t>(compare)].first; }

absl::StatusOr<LaunchFile> ParseLaunches(std::string_view text, const ParseOptions& options) {
  ASSIGN_OR_RETURN(const JsonNode root, ParseJson(text, options.name));
  FaultList faults(options.name);
  LaunchParser parser(options, faults);
  parser.Document(root);
  RETURN_IF_ERROR(faults.ToStatus());
  return std::move(parser.file());
}

absl::StatusOr<LaunchFile> ReadLaunches(const std::string& path) {
  ASSIGN_OR_RETURN(const std::string text, ReadJsonText(path));
  return ParseLaunches(text,
                       {.name = path, .folder = std::filesystem::path(path).parent_path().generic_string()});
}

absl::StatusOr<std::vector<const LaunchSpec*>> LaunchFile::Select(const std::vector<std::string>& ids) const {
  std::vector<const LaunchSpec*> chosen;
  std::vector<std::string> all;
  for (const LaunchSpec& launch : launches) {
    all.push_back(launch.id);
    if (ids.empty()) chosen.push_back(&launch);
  }
  std::vector<Fault> faults;
  for (const std::string& id : ids) {
    const size_t before = chosen.size();
    for (const LaunchSpec& launch : launches) {
      if (launch.id == id) chosen.push_back(&launch);
    }
    if (chosen.size() != before) continue;
    faults.push_back(
        {.file = name,
         .field = "case",
         .value = id,
         .expected = absl::StrCat("one of the ", all.size(), " ids; nearest", NearestNames(id, all)),
         .message = "there is no launch of this id"});
  }
  if (!faults.empty()) return InputError(absl::StatusCode::kNotFound, "", faults);
  return chosen;
}

std::string CubinPath(const std::string& folder, const std::string& module, uint32_t arch) {
  return (std::filesystem::path(folder) / absl::StrCat(module, ".sm_", arch, ".cubin")).generic_string();
}

}  // namespace sm89::launch
