#include "sim/analysis/ptx_source.h"

#include <algorithm>
#include <cctype>
#include <optional>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "sim/base/fault.h"
#include "sim/base/status_macros.h"
#include "sim/base/strings.h"

namespace sm89::analysis {
namespace {

std::vector<std::string> Words(std::string_view text) {
  return absl::StrSplit(Av(text), absl::ByAnyChar(" \t,"), absl::SkipEmpty());
}

bool IsNameChar(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$' || c == '%' || c == '.';
}

// The text with comments as blanks; lines stay where they are.
std::string WithoutComments(std::string_view text) {
  std::string out(text);
  enum { kCode, kLine, kBlock } state = kCode;
  for (size_t i = 0; i < out.size(); ++i) {
    const bool pair = i + 1 < out.size();
    if (out[i] == '\n' || out[i] == '\0') {
      if (state == kLine) state = kCode;
      continue;
    }
    if (state == kCode && pair && out[i] == '/' && (out[i + 1] == '/' || out[i + 1] == '*')) {
      state = out[i + 1] == '/' ? kLine : kBlock;
      out[i] = out[i + 1] = ' ';
    } else if (state == kBlock && pair && out[i] == '*' && out[i + 1] == '/') {
      out[i] = out[i + 1] = ' ';
      state = kCode;
    } else if (state != kCode) {
      out[i] = ' ';
    }
  }
  return out;
}

class Parser {
 public:
  explicit Parser(const std::string& name) { fault_.file = name; }

  absl::StatusOr<PtxSource> Parse(std::string_view text) {
    for (absl::string_view line : absl::StrSplit(Av(text), '\n')) source_.lines.emplace_back(line);
    const std::string code = WithoutComments(text);
    uint32_t number = 0;
    for (const absl::string_view line : absl::StrSplit(absl::string_view(code), '\n')) {
      line_ = ++number;
      RETURN_IF_ERROR(Line(Sv(line)));
    }
    if (depth_ != 0 || operand_depth_ != 0) return Bad("a '{' without its '}'");
    return std::move(source_);
  }

 private:
  absl::Status Bad(const std::string& message) {
    fault_.line = line_;
    fault_.message = "PTX: " + message;
    return InputError(absl::StatusCode::kInvalidArgument, fault_);
  }

  absl::Status Line(std::string_view line) {
    if (statement_.empty() && IsLineDirective(line)) {
      TakeLineDirective(line);
      return absl::OkStatus();
    }
    for (const char c : line) RETURN_IF_ERROR(Character(c));
    if (!statement_.empty() && statement_.back() != ' ') statement_.push_back(' ');
    return absl::OkStatus();
  }

  // Directives that end with their line.
  static bool IsLineDirective(std::string_view line) {
    const absl::string_view text = absl::StripLeadingAsciiWhitespace(Av(line));
    for (const char* name : {".loc", ".file", ".version", ".target", ".address_size"}) {
      const absl::string_view word = text.substr(0, text.find_first_of(" \t"));
      if (word == name) return true;
    }
    return false;
  }

  void TakeLineDirective(std::string_view line) {
    const std::vector<std::string> words = Words(line);
    const auto number = [&words](size_t at) {
      uint32_t value = 0;
      return at < words.size() && absl::SimpleAtoi(words[at], &value) ? value : 0;
    };
    if (words[0] == ".loc") {
      loc_file_ = number(1);
      loc_line_ = number(2);
    } else if (words[0] == ".version" && words.size() > 1) {
      source_.version = words[1];
    } else if (words[0] == ".target" && words.size() > 1) {
      source_.target = words[1];
    } else if (words[0] == ".file") {
      const size_t open = line.find('"'), close = line.rfind('"');
      if (open < close) source_.files[number(1)] = std::string(line.substr(open + 1, close - open - 1));
    }
  }

  absl::Status Character(char c) {
    switch (c) {
      case '{':
        return OpenBrace();
      case '}':
        return CloseBrace();
      case ';':
        return EndStatement();
      case ':':
        if (InBody() && operand_depth_ == 0 && IsOneName()) {
          statement_.clear();  // a label
          return absl::OkStatus();
        }
        break;
      case ' ':
      case '\t':
      case '\r':
        if (!statement_.empty() && statement_.back() != ' ') statement_.push_back(' ');
        return absl::OkStatus();
      default:
        break;
    }
    if (statement_.empty()) statement_line_ = line_;
    statement_.push_back(c);
    return absl::OkStatus();
  }

  bool InBody() const { return in_function_; }
  bool IsOneName() const {
    return !statement_.empty() && std::all_of(statement_.begin(), statement_.end(), IsNameChar);
  }

  absl::Status OpenBrace() {
    if (InBody()) {
      // Between operands: a vector; at a statement's start: a block.
      if (!statement_.empty()) {
        ++operand_depth_;
        statement_.push_back('{');
      } else {
        ++depth_;
      }
      return absl::OkStatus();
    }
    if (depth_ == 0 && StartsFunction()) {
      in_function_ = true;
      statement_.clear();
    }
    ++depth_;
    return absl::OkStatus();
  }

  absl::Status CloseBrace() {
    if (operand_depth_ > 0) {
      --operand_depth_;
      statement_.push_back('}');
      return absl::OkStatus();
    }
    if (depth_ == 0) return Bad("a '}' without its '{'");
    if (--depth_ == 0 && in_function_) {
      in_function_ = false;
      source_.functions.back().end_line = line_ + 1;
      loc_file_ = loc_line_ = 0;
      statement_.clear();
    } else if (depth_ == 0 && !absl::StrContains(statement_, "=")) {
      statement_.clear();  // the end of a .section
    }
    return absl::OkStatus();
  }

  // ".visible .entry Name(...)", ".func (.param .b32 r) Name(...)".
  bool StartsFunction() {
    const bool entry = absl::StrContains(statement_, ".entry ");
    const size_t at = entry ? statement_.find(".entry ") : statement_.find(".func ");
    if (at == std::string::npos || absl::StrContains(statement_, "=")) return false;
    std::string_view rest = std::string_view(statement_).substr(at + (entry ? 7 : 6));
    while (!rest.empty() && rest.front() == ' ') rest.remove_prefix(1);
    if (!rest.empty() && rest.front() == '(') {
      const size_t close = rest.find(')');
      if (close == std::string_view::npos) return false;
      rest.remove_prefix(close + 1);
      while (!rest.empty() && rest.front() == ' ') rest.remove_prefix(1);
    }
    size_t length = 0;
    while (length < rest.size() && IsNameChar(rest[length])) ++length;
    if (length == 0) return false;
    PtxFunction function;
    function.name = std::string(rest.substr(0, length));
    function.is_entry = entry;
    function.first_line = statement_line_;
    source_.functions.push_back(std::move(function));
    return true;
  }

  absl::Status EndStatement() {
    const std::string text(absl::StripAsciiWhitespace(statement_));
    if (operand_depth_ > 0) return Bad("a ';' inside an operand");
    statement_.clear();
    if (!InBody() || text.empty()) return absl::OkStatus();
    if (text[0] == '.') return Directive(text);
    PtxInstruction inst;
    inst.line = statement_line_;
    inst.last_line = line_;
    inst.text = text;
    inst.source_file = loc_file_;
    inst.source_line = loc_line_;
    std::string_view opcode = text;
    if (opcode.front() == '@') {
      const size_t space = opcode.find(' ');
      if (space == std::string_view::npos) return Bad("a guard without an instruction");
      opcode.remove_prefix(space + 1);
    }
    inst.opcode = std::string(opcode.substr(0, opcode.find(' ')));
    source_.functions.back().instructions.push_back(std::move(inst));
    return absl::OkStatus();
  }

  // A declaration in a body; only the stack's size matters here.
  absl::Status Directive(const std::string& text) {
    if (absl::StrContains(text, ".entry ") || absl::StrContains(text, ".func ")) {
      return Bad("a function inside a function");
    }
    const size_t open = text.rfind('['), close = text.rfind(']');
    if (!absl::StartsWith(text, ".local ") || open == std::string::npos || close < open) {
      return absl::OkStatus();
    }
    uint32_t count = 0;
    if (absl::SimpleAtoi(text.substr(open + 1, close - open - 1), &count) &&
        absl::StrContains(text, " .b8 ")) {
      source_.functions.back().depot_bytes += count;
    }
    return absl::OkStatus();
  }

  PtxSource source_;
  Fault fault_;
  uint32_t line_ = 0;
  std::string statement_;
  uint32_t statement_line_ = 0;
  uint32_t depth_ = 0;          // braces of functions, blocks, sections, initialisers
  uint32_t operand_depth_ = 0;  // braces inside the statement
  bool in_function_ = false;
  uint32_t loc_file_ = 0, loc_line_ = 0;
};

}  // namespace

const PtxFunction* PtxSource::Find(std::string_view name) const {
  for (const PtxFunction& function : functions) {
    if (function.name == name) return &function;
  }
  return nullptr;
}

absl::StatusOr<PtxSource> ParsePtx(std::string_view text, const std::string& name) {
  return Parser(name).Parse(text);
}

}  // namespace sm89::analysis
