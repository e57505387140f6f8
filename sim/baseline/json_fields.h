// Reading the keys of a JSON object with every fault collected: wrong types, missing and unknown keys.
#pragma once

#include <cmath>
#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "nlohmann/json.hpp"
#include "sim/base/fault.h"

namespace sm89::baseline {

struct FieldFaults {
  std::string file;
  std::vector<Fault> faults;
};

// The keys of `object`, which is at `where` ("runs[2]") in the file. Every key that is asked for is known;
// Finish reports the others.
class Fields {
 public:
  using Json = nlohmann::ordered_json;

  Fields(const Json& object, std::string where, FieldFaults* faults)
      : object_(object), where_(std::move(where)), faults_(faults) {
    if (!object_.is_object()) Fault("", Shown(object_), "an object", "wrong type");
  }

  std::string Text(const char* key) {
    const Json* value = Known(key);
    if (value != nullptr && value->is_string() && !value->get_ref<const std::string&>().empty())
      return *value;
    Fault(key, value == nullptr ? "" : Shown(*value), "a text that is not empty", Problem(value));
    return "";
  }
  std::string OptionalText(const char* key) {
    const Json* value = Known(key);
    if (value == nullptr) return "";
    if (value->is_string()) return *value;
    Fault(key, Shown(*value), "a text", Problem(value));
    return "";
  }
  std::vector<std::string> Texts(const char* key) {
    std::vector<std::string> texts;
    if (!object_.is_object() || !object_.contains(key)) return texts;
    Each(key, [&](const Json& value, const std::string& place) {
      if (value.is_string()) return texts.push_back(value.get<std::string>());
      faults_->faults.push_back({.file = faults_->file,
                                 .field = place,
                                 .value = Shown(value),
                                 .expected = "a text",
                                 .message = "wrong type"});
    });
    return texts;
  }
  bool Flag(const char* key) {
    const Json* value = Known(key);
    if (value == nullptr) return false;
    if (value->is_boolean()) return *value;
    Fault(key, Shown(*value), "true or false", Problem(value));
    return false;
  }
  // From 1.
  uint64_t Count(const char* key) {
    const Json* value = Known(key);
    if (value != nullptr && value->is_number_unsigned() && value->get<uint64_t>() > 0) return *value;
    Fault(key, value == nullptr ? "" : Shown(*value), "a whole number from 1", Problem(value));
    return 0;
  }
  double Decimal(const char* key, double least, double most) {
    const Json* value = Known(key);
    if (value != nullptr && value->is_number() && *value >= least && *value <= most) return *value;
    Fault(key, value == nullptr ? "" : Shown(*value), absl::StrCat("a number from ", least, " to ", most),
          Problem(value));
    return 0;
  }
  const Json* Object(const char* key) {
    const Json* value = Known(key);
    if (value == nullptr) Fault(key, "", "an object", "missing");
    return value;
  }
  // Each item of a list that may be absent, with its place.
  void Each(const char* key, const std::function<void(const Json&, const std::string&)>& visit) {
    const Json* value = Known(key);
    if (value == nullptr) return;
    if (!value->is_array()) return Fault(key, Shown(*value), "a list", Problem(value));
    for (size_t i = 0; i < value->size(); ++i) visit((*value)[i], absl::StrCat(Place(key), "[", i, "]"));
  }

  void Finish() {
    if (!object_.is_object()) return;
    for (const auto& [key, value] : object_.items()) {
      if (!known_.contains(key)) Fault(key, Shown(value), "", "unknown key");
    }
  }
  void Fault(const std::string& key, const std::string& value, const std::string& expected,
             const std::string& message) {
    faults_->faults.push_back({.file = faults_->file,
                               .field = Place(key),
                               .value = value,
                               .expected = expected,
                               .message = message});
  }

 private:
  static constexpr size_t kShownMax = 80;

  static std::string Shown(const Json& value) {
    return value.dump(-1, ' ', false, Json::error_handler_t::replace).substr(0, kShownMax);
  }
  static const char* Problem(const Json* value) { return value == nullptr ? "missing" : "not usable"; }
  std::string Place(const std::string& key) const {
    if (where_.empty() || key.empty()) return where_ + key;
    return absl::StrCat(where_, ".", key);
  }
  const Json* Known(const char* key) {
    known_.insert(key);
    return object_.is_object() && object_.contains(key) ? &object_[key] : nullptr;
  }

  const Json& object_;
  std::string where_;
  FieldFaults* faults_;
  std::set<std::string> known_;
};

}  // namespace sm89::baseline
