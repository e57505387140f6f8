// Packages back into programs. A package comes from anywhere: what does not fit stops the parser where it
// stands, so that neither depth nor size of what was sent is followed.
#include <algorithm>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "sim/base/fault.h"
#include "sim/base/status_macros.h"
#include "sim/replay/program.h"
#include "sim/replay/program_format.h"

namespace sm89 {
namespace {

using Json = nlohmann::json;

constexpr uint64_t kMaxArch = 999;
constexpr const char* kKeys[] = {"version",     "name",  "arch",    "launch_name",
                                 "launch_text", "cases", "modules", "raw_files"};

absl::Status BadPackage(const std::string& name, const std::string& field, const std::string& why) {
  Fault fault;
  fault.file = name;
  fault.field = field;
  fault.expected = "a program package as 'sm89 submit --cubin' writes it";
  fault.message = why;
  return InputError(absl::StatusCode::kInvalidArgument, fault);
}

// Takes the parser's events. Every handler's false ends the parsing.
class PackageHandler : public nlohmann::json_sax<Json> {
 public:
  explicit PackageHandler(std::string name) : name_(std::move(name)) {}

  // After the parser has ended.
  absl::StatusOr<Program> Finish(bool parsed) && {
    RETURN_IF_ERROR(status_);
    if (!parsed) return BadPackage(name_, "", "the package is damaged");
    for (const char* key : kKeys) {
      if (!seen_.contains(key)) return BadPackage(name_, key, "not in the package");
    }
    return std::move(program_);
  }

  bool start_object(size_t) override {
    if (place_ == Place::kOutside) return Enter(Place::kTop);
    if (place_ == Place::kTop && Files() != nullptr) return Enter(Place::kFiles);
    return Misplaced("a map");
  }
  bool end_object() override { return Leave(); }
  bool start_array(size_t) override {
    if (place_ == Place::kTop && key_ == "cases") return Enter(Place::kCases);
    return Misplaced("an array");
  }
  bool end_array() override { return Leave(); }

  bool key(std::string& text) override {
    if (place_ == Place::kFiles) {
      file_ = text;
      return !Files()->contains(file_) || Fail(Field(), "the name comes twice");
    }
    key_ = text;
    if (std::find(std::begin(kKeys), std::end(kKeys), key_) == std::end(kKeys)) {
      return Fail(key_, absl::StrCat("unknown; only version ", kProgramVersion, " is known"));
    }
    return seen_.insert(key_).second || Fail(key_, "the key comes twice");
  }
  bool string(std::string& text) override {
    if (place_ == Place::kCases) {
      program_.cases.push_back(text);
      return true;
    }
    std::string* const value = place_ != Place::kTop   ? nullptr
                               : key_ == "name"        ? &program_.name
                               : key_ == "launch_name" ? &program_.launch_name
                               : key_ == "launch_text" ? &program_.launch_text
                                                       : nullptr;
    if (value == nullptr) return Misplaced("a text");
    *value = std::move(text);
    return true;
  }
  bool binary(Json::binary_t& bytes) override {
    if (place_ != Place::kFiles) return Misplaced("a byte string");
    Files()->emplace(file_, std::string(bytes.begin(), bytes.end()));
    return true;
  }
  bool number_unsigned(uint64_t value) override {
    if (place_ == Place::kTop && key_ == "version") {
      return value == kProgramVersion ||
             Fail(key_, absl::StrCat("version ", value, "; only version ", kProgramVersion, " is known"));
    }
    if (place_ != Place::kTop || key_ != "arch") return Misplaced("a number");
    program_.arch = static_cast<uint32_t>(std::min(value, kMaxArch + 1));
    return value <= kMaxArch || Fail(key_, "no architecture has this number");
  }
  bool null() override { return Misplaced("null"); }
  bool boolean(bool) override { return Misplaced("a truth value"); }
  bool number_integer(int64_t) override { return Misplaced("a negative number"); }
  bool number_float(double, const std::string&) override { return Misplaced("a fraction"); }
  bool parse_error(size_t, const std::string&, const nlohmann::detail::exception&) override { return false; }

 private:
  enum class Place : uint8_t { kOutside, kTop, kFiles, kCases };

  bool Enter(Place place) {
    place_ = place;
    return true;
  }
  bool Leave() {
    place_ = place_ == Place::kTop ? Place::kOutside : Place::kTop;
    return true;
  }
  std::map<std::string, std::string>* Files() {
    return key_ == "modules" ? &program_.modules : key_ == "raw_files" ? &program_.raw_files : nullptr;
  }
  std::string Field() const { return place_ == Place::kFiles ? absl::StrCat(key_, ".", file_) : key_; }
  bool Misplaced(const char* what) { return Fail(Field(), absl::StrCat("cannot be ", what)); }
  bool Fail(const std::string& field, const std::string& why) {
    status_ = BadPackage(name_, field, why);
    return false;
  }

  const std::string name_;
  Place place_ = Place::kOutside;
  std::string key_, file_;
  std::set<std::string> seen_;
  Program program_;
  absl::Status status_;
};

}  // namespace

absl::StatusOr<Program> DecodeProgram(std::string_view bytes, const std::string& name) {
  if (bytes.substr(0, kProgramMagic.size()) != kProgramMagic) {
    return BadPackage(name, "", "not a program package");
  }
  bytes.remove_prefix(kProgramMagic.size());
  PackageHandler handler(name);
  const bool parsed = Json::sax_parse(bytes.begin(), bytes.end(), &handler, Json::input_format_t::cbor);
  return std::move(handler).Finish(parsed);
}

}  // namespace sm89
