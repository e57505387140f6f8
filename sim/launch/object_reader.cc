#include "sim/launch/object_reader.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "sim/base/strings.h"

namespace sm89::launch {
namespace {

constexpr size_t kNearestNames = 3;
constexpr size_t kMaxFaults = 1000;  // as many as an error carries

std::string NaturalRange(uint64_t least, uint64_t most) {
  return absl::StrCat("an integer from ", least, " to ", most);
}

// Levenshtein distance with one row.
size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

}  // namespace

void FaultList::Add(const JsonNode& node, const std::string& path, const std::string& expected,
                    const std::string& message) {
  Keep(node, {.field = path, .value = Describe(node), .expected = expected, .message = message});
}

void FaultList::AddMissing(const JsonNode& object, const std::string& path, const std::string& expected) {
  Keep(object, {.field = path, .expected = expected, .message = "a key is missing"});
}

void FaultList::Keep(const JsonNode& node, Fault fault) {
  ++num_faults_;
  if (is_full()) return;
  fault.file = file_;
  fault.line = node.line;
  faults_.push_back(std::move(fault));
}

bool FaultList::is_full() const { return faults_.size() >= kMaxFaults; }

absl::Status FaultList::ToStatus() const {
  if (faults_.empty()) return absl::OkStatus();
  const std::string summary =
      num_faults_ == 1 ? std::string() : absl::StrCat(file_, ": ", num_faults_, " faults");
  return InputError(absl::StatusCode::kInvalidArgument, summary, faults_);
}

std::string NearestNames(std::string_view name, const std::vector<std::string>& names) {
  std::vector<std::pair<size_t, size_t>> by_distance;  // distance, index: ties keep the order of `names`
  for (size_t i = 0; i < names.size(); ++i) by_distance.emplace_back(EditDistance(name, names[i]), i);
  std::sort(by_distance.begin(), by_distance.end());
  std::string out;
  for (size_t i = 0; i < std::min(kNearestNames, by_distance.size()); ++i) {
    absl::StrAppend(&out, i == 0 ? ": " : ", ", "\"", names[by_distance[i].second], "\"");
  }
  return out;
}

ObjectReader::ObjectReader(const JsonNode& node, std::string path, FaultList& faults)
    : node_(node), path_(std::move(path)), faults_(faults), is_object_(node.kind == JsonNode::Kind::kObject) {
  if (!is_object_) faults_.Add(node, path_, "an object", "a value has the wrong type");
}

const JsonNode* ObjectReader::Peek(std::string_view key) const {
  for (const auto& [name, node] : node_.members) {
    if (name == key) return &node;
  }
  return nullptr;
}

const JsonNode* ObjectReader::Find(std::string_view key) {
  known_.emplace_back(key);
  return Peek(key);
}

const JsonNode* ObjectReader::Required(std::string_view key, const std::string& expected) {
  const JsonNode* node = Find(key);
  if (node == nullptr && is_object_) faults_.AddMissing(node_, Path(key), expected);
  return node;
}

std::string ObjectReader::Text(std::string_view key) {
  const JsonNode* node = Required(key, "a string");
  if (node == nullptr) return {};
  if (node->kind != JsonNode::Kind::kString || node->text.empty()) {
    faults_.Add(*node, Path(key), "a string that is not empty", "a value has the wrong type");
    return {};
  }
  return node->text;
}

std::string ObjectReader::TextOr(std::string_view key, const std::string& otherwise) {
  return Has(key) ? Text(key) : (Find(key), otherwise);
}

uint64_t ObjectReader::Natural(std::string_view key, uint64_t least, uint64_t most) {
  const std::string expected = NaturalRange(least, most);
  const JsonNode* node = Required(key, expected);
  if (node == nullptr) return least;
  if (node->kind != JsonNode::Kind::kUnsigned || node->natural < least || node->natural > most) {
    faults_.Add(*node, Path(key), expected,
                node->is_number() ? "a number is out of range" : "a value has the wrong type");
    return least;
  }
  return node->natural;
}

uint64_t ObjectReader::NaturalOr(std::string_view key, uint64_t least, uint64_t most, uint64_t otherwise) {
  return Has(key) ? Natural(key, least, most) : (Find(key), otherwise);
}

double ObjectReader::Finite(std::string_view key) {
  const JsonNode* node = Required(key, "a number");
  if (node == nullptr) return 0;
  if (!node->is_number() || !std::isfinite(node->real)) {
    faults_.Add(*node, Path(key), "a number", "a value has the wrong type");
    return 0;
  }
  return node->real;
}

bool ObjectReader::BoolOr(std::string_view key, bool otherwise) {
  const JsonNode* node = Find(key);
  if (node == nullptr) return otherwise;
  if (node->kind != JsonNode::Kind::kBool) {
    faults_.Add(*node, Path(key), "true or false", "a value has the wrong type");
    return otherwise;
  }
  return node->boolean;
}

const std::vector<JsonNode>& ObjectReader::Array(std::string_view key, bool required) {
  static const std::vector<JsonNode> kNone;
  const JsonNode* node = required ? Required(key, "an array") : Find(key);
  if (node == nullptr) return kNone;
  if (node->kind != JsonNode::Kind::kArray) {
    faults_.Add(*node, Path(key), "an array", "a value has the wrong type");
    return kNone;
  }
  return node->items;
}

std::string ObjectReader::Path(std::string_view key) const {
  return path_.empty() ? std::string(key) : absl::StrCat(path_, ".", Av(key));
}

void ObjectReader::Finish() {
  for (const auto& [name, node] : node_.members) {
    if (faults_.is_full()) return;
    if (std::find(known_.begin(), known_.end(), name) != known_.end()) continue;
    faults_.Add(node, Path(name), absl::StrCat("a known key", NearestNames(name, known_)), "an unknown key");
  }
}

}  // namespace sm89::launch
