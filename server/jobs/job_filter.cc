#include "server/jobs/job_filter.h"

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "sim/base/digest.h"
#include "sim/base/fault.h"
#include "sim/base/status_macros.h"
#include "sim/base/strings.h"

namespace sm89 {
namespace {

constexpr size_t kTokenHashChars = 16;

absl::Status Refuse(const std::string& term, const std::string& message) {
  Fault fault;
  fault.field = "filter";
  fault.value = term;
  fault.expected = "state=STATE, trace=traces/ID, config=configs/ID or label.KEY=VALUE, joined by AND";
  fault.message = message;
  return InputError(absl::StatusCode::kInvalidArgument, fault);
}

// Splits at blanks outside double quotes. Quotes stay.
absl::StatusOr<std::vector<std::string>> Words(const std::string& text) {
  std::vector<std::string> words;
  std::string word;
  bool quoted = false;
  for (const char c : text) {
    if (c == '"') quoted = !quoted;
    if (c == ' ' && !quoted) {
      if (!word.empty()) words.push_back(std::move(word));
      word.clear();
    } else {
      word += c;
    }
  }
  if (quoted) return Refuse(word, "a double quote is not closed");
  if (!word.empty()) words.push_back(std::move(word));
  return words;
}

absl::Status AddTerm(const std::string& term, JobFilter* filter) {
  const size_t equals = term.find('=');
  if (equals == std::string::npos) return Refuse(term, "a term has the form name=value");
  const std::string name = term.substr(0, equals);
  absl::string_view value = absl::string_view(term).substr(equals + 1);
  if (value.size() >= 2 && value.front() == '"' && value.back() == '"') {
    value = value.substr(1, value.size() - 2);
  }
  if (absl::StrContains(value, '"')) return Refuse(term, "a double quote inside a value");
  absl::string_view key = name;
  if (absl::ConsumePrefix(&key, "label.")) {
    if (filter->labels.size() == kFilterLabelsMax) {
      return Refuse(term, absl::StrCat("more than ", kFilterLabelsMax, " label terms"));
    }
    filter->labels.emplace_back(key, value);
    return absl::OkStatus();
  }
  if (name == "state") {
    filter->state = ParseJobState(Sv(value));
    return filter->state.has_value() ? absl::OkStatus() : Refuse(term, "no such state");
  }
  if (name == "trace" && absl::ConsumePrefix(&value, "traces/") && !value.empty()) {
    filter->trace = std::string(value);
    return absl::OkStatus();
  }
  if (name == "config" && absl::ConsumePrefix(&value, "configs/") && !value.empty()) {
    filter->config = std::string(value);
    return absl::OkStatus();
  }
  return Refuse(term, "not a term of this filter");
}

std::string FilterHash(const std::string& filter) { return Sha256Hex(filter).substr(0, kTokenHashChars); }

}  // namespace

absl::StatusOr<JobFilter> ParseJobFilter(const std::string& text) {
  if (text.size() > kFilterBytesMax) {
    return Refuse(absl::StrCat(text.size(), " bytes"),
                  absl::StrCat("longer than ", kFilterBytesMax, " bytes"));
  }
  ASSIGN_OR_RETURN(const std::vector<std::string> words, Words(text));
  JobFilter filter;
  for (size_t i = 0; i < words.size(); ++i) {
    if (i % 2 == 1) {
      if (words[i] != "AND") return Refuse(words[i], "terms are joined by AND");
      if (i + 1 == words.size()) return Refuse(words[i], "nothing follows AND");
      continue;
    }
    RETURN_IF_ERROR(AddTerm(words[i], &filter));
  }
  return filter;
}

std::string MakePageToken(uint64_t before_number, const std::string& filter) {
  return absl::StrCat("1.", before_number, ".", FilterHash(filter));
}

absl::StatusOr<uint64_t> ParsePageToken(const std::string& token, const std::string& filter) {
  const std::vector<std::string> parts = absl::StrSplit(token, '.');
  uint64_t number = 0;
  Fault fault;
  fault.field = "page_token";
  fault.value = token.substr(0, 64);
  fault.expected = "next_page_token of the answer before, with the same filter";
  fault.message = "not a page token of this server";
  if (parts.size() != 3 || parts[0] != "1" || !absl::SimpleAtoi(parts[1], &number)) {
    return InputError(absl::StatusCode::kInvalidArgument, fault);
  }
  if (parts[2] != FilterHash(filter)) {
    fault.message = "the page token belongs to another filter";
    return InputError(absl::StatusCode::kInvalidArgument, fault);
  }
  return number;
}

}  // namespace sm89
