#include "client/kineto/trace_reader.h"

#include <istream>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/kineto/gz_file.h"
#include "client/macros.h"

namespace sm89::client {
namespace {

constexpr char kEvents[] = "traceEvents";

// Builds one value at a time from the parser's calls. Depth 1 is the outer object, depth 2 the array of
// events or a member's value.
class Builder : public nlohmann::json_sax<TraceJson> {
 public:
  Builder(const std::string& path, const TraceVisitor& visitor, GzInput& input)
      : path_(path), visitor_(visitor), input_(input) {
    input_.Allow(kTraceValueBytesMax);
  }

  const absl::Status& status() const { return status_; }
  bool saw_events() const { return saw_events_; }

  bool null() override { return Value(nullptr); }
  bool boolean(bool value) override { return Value(value); }
  bool number_integer(number_integer_t value) override { return Value(value); }
  bool number_unsigned(number_unsigned_t value) override { return Value(value); }
  bool number_float(number_float_t value, const string_t&) override { return Value(value); }
  bool string(string_t& value) override { return Value(std::move(value)); }
  bool binary(binary_t&) override { return Fail("binary values are no JSON"); }
  bool start_object(std::size_t) override { return Open(TraceJson::object()); }
  bool start_array(std::size_t) override { return Open(TraceJson::array()); }
  bool end_object() override { return Close(); }
  bool end_array() override { return Close(); }
  bool key(string_t& name) override {
    key_ = std::move(name);
    return true;
  }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception& error) override {
    return Fail(error.what());
  }

 private:
  bool Fail(const std::string& what) {
    // What the file itself could not give is the better reason.
    status_ =
        input_.status().ok() ? absl::InvalidArgumentError(absl::StrCat(path_, ": ", what)) : input_.status();
    return false;
  }
  bool Keep(absl::Status status) {
    status_ = std::move(status);
    return status_.ok();
  }

  bool Open(TraceJson value) {
    if (++depth_ > kTraceDepthMax) {
      return Keep(
          absl::ResourceExhaustedError(absl::StrCat(path_, ": values nest deeper than ", kTraceDepthMax)));
    }
    if (depth_ == 1) {
      return value.is_object() || Fail("expected an object with an array traceEvents, as Kineto writes it");
    }
    if (depth_ == 2 && key_ == kEvents) {
      if (!value.is_array()) return Fail("traceEvents is no array");
      if (std::exchange(saw_events_, true)) return Fail("traceEvents is there twice");
      in_events_ = true;
      return true;
    }
    if (stack_.empty()) {
      if (in_events_ && !value.is_object()) return Fail("an event is no object");
      root_ = std::move(value);
      root_key_ = key_;
      stack_.push_back(&root_);
      return true;
    }
    stack_.push_back(Insert(std::move(value)));
    return true;
  }

  bool Close() {
    --depth_;
    if (depth_ == 0) return true;
    if (in_events_ && stack_.empty()) {
      in_events_ = false;
      return true;
    }
    stack_.pop_back();
    return !stack_.empty() || Deliver();
  }

  bool Value(TraceJson value) {
    if (depth_ == 0) return Fail("expected an object with an array traceEvents, as Kineto writes it");
    if (!stack_.empty()) {
      Insert(std::move(value));
      return true;
    }
    if (in_events_) return Fail("an event is no object");
    if (key_ == kEvents) return Fail("traceEvents is no array");
    root_ = std::move(value);
    root_key_ = key_;
    return Deliver();
  }

  TraceJson* Insert(TraceJson value) {
    TraceJson& parent = *stack_.back();
    if (parent.is_array()) {
      parent.push_back(std::move(value));
      return &parent.back();
    }
    TraceJson& member = parent[key_];
    member = std::move(value);
    return &member;
  }

  bool Deliver() {
    input_.Allow(kTraceValueBytesMax);
    if (visitor_.stop.stop_requested()) return Keep(absl::CancelledError("interrupted"));
    return Keep(in_events_ ? visitor_.on_event(std::move(root_))
                           : visitor_.on_member(root_key_, std::move(root_)));
  }

  const std::string& path_;
  const TraceVisitor& visitor_;
  GzInput& input_;
  absl::Status status_;
  size_t depth_ = 0;
  bool in_events_ = false;
  bool saw_events_ = false;
  std::string key_, root_key_;
  TraceJson root_;
  std::vector<TraceJson*> stack_;  // open containers of root_, outermost first
};

}  // namespace

absl::Status ReadTrace(const std::string& path, const TraceVisitor& visitor) {
  CLIENT_ASSIGN_OR_RETURN(const std::unique_ptr<GzInput> input, GzInput::Open(path));
  std::istream stream(input.get());
  Builder builder(path, visitor, *input);
  const bool parsed = TraceJson::sax_parse(stream, &builder);
  CLIENT_RETURN_IF_ERROR(builder.status());
  CLIENT_RETURN_IF_ERROR(input->status());
  if (!parsed) return absl::InvalidArgumentError(absl::StrCat(path, ": not JSON"));
  if (!builder.saw_events()) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": there is no array traceEvents"));
  }
  return absl::OkStatus();
}

}  // namespace sm89::client
