#include "sim/launch/json_tree.h"

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <system_error>
#include <unordered_map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "sim/base/fault.h"
#include "sim/base/strings.h"

namespace sm89::launch {
namespace {

constexpr size_t kMaxDepth = 32;  // a launch nests seven deep; the tree is freed recursively
constexpr size_t kMaxFileBytes = size_t{16} << 20;
constexpr size_t kMaxShownBytes = 60;

// Line of the last character read that is not blank. The reader may look one character past a number, never
// past a line end and more, so this is the line of the token it reports.
struct Position {
  uint64_t line = 1;
  uint64_t token_line = 1;
};

class CountingIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  CountingIterator(const char* at, Position* position) : at_(at), position_(position) {}

  reference operator*() const { return *at_; }
  CountingIterator& operator++() {
    const char c = *at_++;
    if (c == '\n') {
      ++position_->line;
    } else if (c != ' ' && c != '\t' && c != '\r') {
      position_->token_line = position_->line;
    }
    return *this;
  }
  CountingIterator operator++(int) {
    CountingIterator old = *this;
    ++*this;
    return old;
  }
  friend bool operator==(const CountingIterator& a, const CountingIterator& b) { return a.at_ == b.at_; }

 private:
  const char* at_;
  Position* position_;
};

// Builds the tree from the reader's events; a false return ends the reading.
class TreeBuilder {
 public:
  using number_integer_t = int64_t;
  using number_unsigned_t = uint64_t;
  using number_float_t = double;
  using string_t = std::string;
  using binary_t = nlohmann::json::binary_t;

  TreeBuilder(const std::string& name, const Position& position) : name_(name), position_(position) {}

  bool null() { return Add(JsonNode::Kind::kNull) != nullptr; }
  bool boolean(bool value) {
    JsonNode* node = Add(JsonNode::Kind::kBool);
    if (node != nullptr) node->boolean = value;
    return node != nullptr;
  }
  bool number_integer(int64_t value) {
    JsonNode* node = Add(JsonNode::Kind::kInteger);
    if (node == nullptr) return false;
    node->integer = value;
    node->real = static_cast<double>(value);
    node->text = absl::StrCat(value);
    return true;
  }
  bool number_unsigned(uint64_t value) {
    JsonNode* node = Add(JsonNode::Kind::kUnsigned);
    if (node == nullptr) return false;
    node->natural = value;
    node->integer = static_cast<int64_t>(value);
    node->real = static_cast<double>(value);
    node->text = absl::StrCat(value);
    return true;
  }
  bool number_float(double value, const std::string& spelling) {
    JsonNode* node = Add(JsonNode::Kind::kReal);
    if (node == nullptr) return false;
    node->real = value;
    node->text = spelling;
    return true;
  }
  bool string(std::string& value) {
    JsonNode* node = Add(JsonNode::Kind::kString);
    if (node != nullptr) node->text = std::move(value);
    return node != nullptr;
  }
  bool binary(binary_t& /*value*/) { return false; }
  bool start_object(size_t /*size*/) { return Open(JsonNode::Kind::kObject); }
  bool start_array(size_t /*size*/) { return Open(JsonNode::Kind::kArray); }
  bool end_object() { return Close(); }
  bool end_array() { return Close(); }
  bool key(std::string& name) {
    const auto [at, is_new] = keys_.back().emplace(name, position_.token_line);
    if (!is_new) {
      return Fail(name, "each key once", absl::StrCat("the key was given on line ", at->second, " already"));
    }
    open_.back()->members.push_back({std::move(name), {}});
    return true;
  }
  bool parse_error(size_t /*byte*/, const std::string& last_token, const nlohmann::json::exception& e) {
    // The reader's text starts with its own error code and counts columns: the part after them is enough.
    std::string why = e.what();
    const size_t colon = why.find(": ");
    if (colon != std::string::npos) why.erase(0, colon + 2);
    return Fail(last_token.substr(0, kMaxShownBytes), "JSON", absl::StrCat("not valid JSON: ", why));
  }

  JsonNode& root() { return root_; }
  const Fault& fault() const { return fault_; }

 private:
  JsonNode* Add(JsonNode::Kind kind) {
    JsonNode* node = &root_;
    if (!open_.empty()) {
      JsonNode& parent = *open_.back();
      node =
          parent.kind == JsonNode::Kind::kArray ? &parent.items.emplace_back() : &parent.members.back().node;
    }
    node->kind = kind;
    node->line = position_.token_line;
    return node;
  }

  bool Open(JsonNode::Kind kind) {
    if (open_.size() == kMaxDepth) {
      return Fail("", absl::StrCat("at most ", kMaxDepth, " levels"), "too many nested arrays and objects");
    }
    open_.push_back(Add(kind));
    keys_.emplace_back();
    return true;
  }

  bool Close() {
    open_.pop_back();
    keys_.pop_back();
    return true;
  }

  bool Fail(const std::string& value, const std::string& expected, const std::string& message) {
    fault_ = {.file = name_,
              .line = position_.token_line,
              .value = value,
              .expected = expected,
              .message = message};
    return false;
  }

  const std::string& name_;
  const Position& position_;
  JsonNode root_;
  // Open brackets, outermost first. Pointers stay valid: a parent's list grows only after its last child
  // closed.
  std::vector<JsonNode*> open_;
  std::vector<std::unordered_map<std::string, uint64_t>> keys_;  // of the open objects: key -> line
  Fault fault_;
};

absl::Status TooLarge(const std::string& name) {
  return InputError(absl::StatusCode::kInvalidArgument,
                    {.file = name,
                     .expected = absl::StrCat("at most ", kMaxFileBytes, " bytes"),
                     .message = "the file is too large; data belongs in raw files (init \"file\")"});
}

}  // namespace

std::string Describe(const JsonNode& node) {
  switch (node.kind) {
    case JsonNode::Kind::kNull:
      return "null";
    case JsonNode::Kind::kBool:
      return node.boolean ? "true" : "false";
    case JsonNode::Kind::kArray:
      return absl::StrCat("an array of ", node.items.size());
    case JsonNode::Kind::kObject:
      return "an object";
    case JsonNode::Kind::kString:
      if (node.text.size() > kMaxShownBytes) {
        return absl::StrCat("\"", node.text.substr(0, kMaxShownBytes), "...\"");
      }
      return absl::StrCat("\"", node.text, "\"");
    default:
      return node.text.substr(0, kMaxShownBytes);
  }
}

absl::StatusOr<JsonNode> ParseJson(std::string_view text, const std::string& name) {
  if (text.size() > kMaxFileBytes) return TooLarge(name);  // the tree takes many times the text's memory
  Position position;
  TreeBuilder builder(name, position);
  const CountingIterator first(text.data(), &position);
  const CountingIterator last(text.data() + text.size(), &position);
  if (!nlohmann::json::sax_parse(first, last, &builder)) {
    return InputError(absl::StatusCode::kInvalidArgument, builder.fault());
  }
  return std::move(builder.root());
}

absl::StatusOr<std::string> ReadJsonText(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (status.type() == fs::file_type::not_found) {
    return InputError(absl::StatusCode::kNotFound, {.file = path, .message = "the file is not there"});
  }
  // A pipe or device could block or never end.
  if (status.type() != fs::file_type::regular) {
    return InputError(absl::StatusCode::kInvalidArgument, {.file = path, .message = "not a regular file"});
  }
  std::ifstream in(path, std::ios::binary);
  std::string text(kMaxFileBytes + 1, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (!in.is_open() || in.bad()) {
    return InputError(absl::StatusCode::kPermissionDenied,
                      {.file = path, .message = "the file cannot be read"});
  }
  text.resize(static_cast<size_t>(in.gcount()));
  if (text.size() > kMaxFileBytes) return TooLarge(path);
  return text;
}

}  // namespace sm89::launch
