#include <cmath>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "sim/base/fault.h"
#include "sim/base/status_macros.h"
#include "sim/launch/json_tree.h"
#include "sim/launch/outputs.h"

namespace sm89::launch {
namespace {

// The bound on results that hold transcendentals or tensor sums: |d| <= 1e-3 max(|reference|, 1e-3).
constexpr double kRelativeBound = 1e-3;
constexpr double kSmallest = 1e-3;

const JsonNode* Member(const JsonNode& node, const std::string& key) {
  for (const auto& [name, value] : node.members) {
    if (name == key) return &value;
  }
  return nullptr;
}

std::optional<double> RealOf(const JsonNode& node) {
  if (node.is_number()) return node.real;
  if (node.kind != JsonNode::Kind::kString) return std::nullopt;
  if (node.text == "nan") return std::nan("");
  if (node.text == "inf") return HUGE_VAL;
  if (node.text == "-inf") return -HUGE_VAL;
  return std::nullopt;
}

class ReferenceParser {
 public:
  explicit ReferenceParser(const std::string& name) : name_(name) {}

  absl::Status Parse(const JsonNode& root) {
    if (const JsonNode* cases = Member(root, "cases"); cases != nullptr) {
      for (const JsonNode& node : cases->items) {
        const JsonNode* id = Member(node, "id");
        if (id == nullptr || id->kind != JsonNode::Kind::kString) {
          return Error(node, "cases[].id", "a string", "a case of the reference has no id");
        }
        RETURN_IF_ERROR(Case(id->text, node));
      }
    } else {
      for (const auto& [id, node] : root.members) RETURN_IF_ERROR(Case(id, node));
    }
    if (cases_.empty()) return Error(root, "", "cases with their outputs", "the reference holds no case");
    return absl::OkStatus();
  }

  std::vector<ReferenceCase>& cases() { return cases_; }

 private:
  absl::Status Case(const std::string& id, const JsonNode& node) {
    ReferenceCase parsed;
    parsed.id = id;
    const JsonNode* outputs = Member(node, "outputs");
    if (outputs != nullptr) {  // a recording of a launch that failed has none
      for (const auto& [name, output] : outputs->members) {
        RETURN_IF_ERROR(Output(absl::StrCat(id, ".outputs.", name), name, output, parsed));
      }
    }
    cases_.push_back(std::move(parsed));
    return absl::OkStatus();
  }

  absl::Status Output(const std::string& path, const std::string& name, const JsonNode& node,
                      ReferenceCase& parsed) {
    ReferenceOutput output;
    output.name = name;
    if (const JsonNode* digest = Member(node, "sha256"); digest != nullptr) output.sha256 = digest->text;
    if (const JsonNode* sum = Member(node, "sum"); sum != nullptr) {
      output.sum = RealOf(*sum);
      if (!output.sum.has_value()) return NotANumber(*sum, path + ".sum");
    }
    RETURN_IF_ERROR(List(node, "head", path, output.head));
    RETURN_IF_ERROR(List(node, "sample", path, output.sample));
    parsed.outputs.push_back(std::move(output));
    return absl::OkStatus();
  }

  absl::Status List(const JsonNode& node, const std::string& key, const std::string& path,
                    std::vector<double>& out) {
    const JsonNode* list = Member(node, key);
    if (list == nullptr) return absl::OkStatus();
    for (const JsonNode& item : list->items) {
      const std::optional<double> value = RealOf(item);
      if (!value.has_value()) return NotANumber(item, absl::StrCat(path, ".", key));
      out.push_back(*value);
    }
    return absl::OkStatus();
  }

  absl::Status NotANumber(const JsonNode& node, const std::string& path) {
    return Error(node, path, "a number", "a value of the reference has the wrong type");
  }

  absl::Status Error(const JsonNode& node, const std::string& path, const std::string& expected,
                     const std::string& message) {
    return InputError(absl::StatusCode::kInvalidArgument, {.file = name_,
                                                           .line = node.line,
                                                           .field = path,
                                                           .value = Describe(node),
                                                           .expected = expected,
                                                           .message = message});
  }

  const std::string& name_;
  std::vector<ReferenceCase> cases_;
};

double ToDouble(const Number& number) {
  return std::visit([](const auto value) { return static_cast<double>(value); }, number);
}

bool IsNear(double value, double reference) {
  if (std::isnan(reference)) return std::isnan(value);
  if (std::isinf(reference)) return value == reference;
  return std::abs(value - reference) <= kRelativeBound * std::max(std::abs(reference), kSmallest);
}

class Comparison {
 public:
  Comparison(const LaunchResult& result, Compare compare) : result_(result), compare_(compare) {}

  void Output(const ReferenceOutput& reference) {
    const OutputSummary* output = nullptr;
    for (const OutputSummary& candidate : result_.outputs) {
      if (candidate.name == reference.name) output = &candidate;
    }
    if (output == nullptr) {
      Add(reference.name, "", "an output", "the reference has an output that the run does not keep");
    } else if (compare_ == Compare::kExact) {
      if (reference.sha256.empty()) {
        Add(reference.name, output->sha256, "a digest", "the reference has no sha256 to compare with");
      } else if (output->sha256 != reference.sha256) {
        Add(reference.name + ".sha256", output->sha256, reference.sha256, "the output's bytes differ");
      }
    } else {
      Near(*output, reference);
    }
  }

  void NothingToCompare() {
    Add("outputs", "", "at least one output", "the reference has no output to compare with");
  }

  absl::Status Finish() const {
    if (faults_.empty()) return absl::OkStatus();
    const std::string summary =
        faults_.size() == 1 ? "" : absl::StrCat("launch ", result_.id, ": ", faults_.size(), " differences");
    return InputError(absl::StatusCode::kDataLoss, summary, faults_);
  }

 private:
  void Near(const OutputSummary& output, const ReferenceOutput& reference) {
    if (!reference.sum.has_value() && reference.head.empty() && reference.sample.empty()) {
      Add(reference.name, "", "sum, head or sample", "the reference has nothing to compare with");
      return;
    }
    if (reference.sum.has_value()) Value(reference.name + ".sum", ToDouble(output.sum), *reference.sum);
    List(reference.name + ".head", output.head, reference.head);
    List(reference.name + ".sample", output.sample, reference.sample);
  }

  void List(const std::string& field, const std::vector<Number>& values,
            const std::vector<double>& reference) {
    if (reference.empty()) return;
    if (values.size() != reference.size()) {
      Add(field, absl::StrCat(values.size(), " elements"), absl::StrCat(reference.size(), " elements"),
          "the output has another size");
      return;
    }
    for (size_t i = 0; i < values.size(); ++i) {
      Value(absl::StrCat(field, "[", i, "]"), ToDouble(values[i]), reference[i]);
    }
  }

  void Value(const std::string& field, double value, double reference) {
    if (IsNear(value, reference)) return;
    Add(field, absl::StrFormat("%.9g", value), absl::StrFormat("%.9g within 1e-3", reference),
        "the output differs by more than the bound");
  }

  void Add(const std::string& field, const std::string& value, const std::string& expected,
           const std::string& message) {
    faults_.push_back({.field = field,
                       .value = value,
                       .expected = expected,
                       .message = absl::StrCat("launch \"", result_.id, "\": ", message)});
  }

  const LaunchResult& result_;
  Compare compare_;
  std::vector<Fault> faults_;
};

}  // namespace

absl::StatusOr<std::vector<ReferenceCase>> ParseReference(std::string_view text, const std::string& name) {
  ASSIGN_OR_RETURN(const JsonNode root, ParseJson(text, name));
  ReferenceParser parser(name);
  RETURN_IF_ERROR(parser.Parse(root));
  return std::move(parser.cases());
}

absl::Status CompareWithReference(const LaunchResult& result, Compare compare,
                                  const ReferenceCase& reference) {
  if (compare == Compare::kNone) return absl::OkStatus();
  Comparison comparison(result, compare);
  if (reference.outputs.empty()) comparison.NothingToCompare();
  for (const ReferenceOutput& output : reference.outputs) comparison.Output(output);
  return comparison.Finish();
}

}  // namespace sm89::launch
