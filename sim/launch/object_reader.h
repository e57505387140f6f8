// Strict reading of one JSON object: every fault is kept, with its line and its path; what nobody asked for
// is a fault as well.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "sim/base/fault.h"
#include "sim/launch/json_tree.h"

namespace sm89::launch {

// All faults of one file.
class FaultList {
 public:
  explicit FaultList(std::string file) : file_(std::move(file)) {}

  void Add(const JsonNode& node, const std::string& path, const std::string& expected,
           const std::string& message);
  void AddMissing(const JsonNode& object, const std::string& path, const std::string& expected);

  // More faults than an error carries: looking for further ones is no use.
  bool is_full() const;
  // INVALID_ARGUMENT with all faults, or OK.
  absl::Status ToStatus() const;

 private:
  void Keep(const JsonNode& node, Fault fault);

  std::string file_;
  std::vector<Fault> faults_;
  size_t num_faults_ = 0;
};

// Up to three of `names` nearest to `name` by edit distance, as ": \"a\", \"b\"", for "there are ..." texts.
std::string NearestNames(std::string_view name, const std::vector<std::string>& names);

class ObjectReader {
 public:
  // `path` is the object's own, "launches[0]", empty for the document. A node of another kind is a fault and
  // reads as an object without members.
  ObjectReader(const JsonNode& node, std::string path, FaultList& faults);

  bool is_object() const { return is_object_; }
  bool Has(std::string_view key) const { return Peek(key) != nullptr; }

  // The member, now known; null where absent. Required: absence is a fault that names `expected`.
  const JsonNode* Find(std::string_view key);
  const JsonNode* Required(std::string_view key, const std::string& expected);

  // Members of a kind. A wrong kind or range is a fault; then, and where an optional key is absent,
  // `otherwise`.
  std::string Text(std::string_view key);  // required, not empty
  std::string TextOr(std::string_view key, const std::string& otherwise);
  uint64_t Natural(std::string_view key, uint64_t least, uint64_t most);  // required
  uint64_t NaturalOr(std::string_view key, uint64_t least, uint64_t most, uint64_t otherwise);
  double Finite(std::string_view key);  // required
  bool BoolOr(std::string_view key, bool otherwise);
  const std::vector<JsonNode>& Array(std::string_view key, bool required);

  std::string Path(std::string_view key) const;
  const JsonNode& node() const { return node_; }
  FaultList& faults() { return faults_; }

  // Faults for all members that nobody asked for.
  void Finish();

 private:
  const JsonNode* Peek(std::string_view key) const;

  const JsonNode& node_;
  std::string path_;
  FaultList& faults_;
  bool is_object_;
  std::vector<std::string> known_;
};

}  // namespace sm89::launch
