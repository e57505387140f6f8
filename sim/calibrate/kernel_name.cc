#include "sim/calibrate/kernel_name.h"

#include <cxxabi.h>

#include <cctype>
#include <cstdlib>
#include <memory>

namespace sm89::calibrate {
namespace {

constexpr size_t kNameBytesMax = 64 << 10;

std::string Demangled(std::string_view name) {
  if (!name.starts_with("_Z") || name.size() > kNameBytesMax) return std::string(name);
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(std::string(name).c_str(), nullptr, nullptr, &status), &std::free);
  return status == 0 && text != nullptr ? text.get() : std::string(name);
}

bool IsWordChar(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// Without the word wherever it stands alone.
std::string WithoutWord(const std::string& text, std::string_view word) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const bool begins = at == 0 || !IsWordChar(text[at - 1]);
    const size_t end = at + word.size();
    if (begins && text.compare(at, word.size(), word) == 0 &&
        (end == text.size() || !IsWordChar(text[end]))) {
      at = end;
    } else {
      out.push_back(text[at++]);
    }
  }
  return out;
}

// "(int)4", "(unsigned int)4" and "(bool)1" as template arguments: the cast goes; so does the suffix of "4u",
// "4ul".
std::string WithoutCasts(const std::string& text) {
  std::string out;
  for (size_t at = 0; at < text.size(); ++at) {
    const char before = out.empty() ? '\0' : out.back();
    const bool argument = before == '<' || before == ',' || before == ' ';
    if (text[at] == '(' && argument) {
      const size_t close = text.find(')', at);
      const bool value =
          close != std::string::npos && close + 1 < text.size() &&
          (std::isdigit(static_cast<unsigned char>(text[close + 1])) != 0 || text[close + 1] == '-');
      const bool plain = value && text.find_first_of("<>*&", at) > close;
      if (plain) {
        at = close;
        continue;
      }
    }
    out.push_back(text[at]);
    const bool suffix = std::isdigit(static_cast<unsigned char>(text[at])) != 0;
    size_t end = at + 1;
    while (suffix && end < text.size() && (text[end] == 'u' || text[end] == 'l')) ++end;
    const bool whole = end == text.size() || !IsWordChar(text[end]);
    size_t begin = at;
    while (begin > 0 && IsWordChar(text[begin - 1])) --begin;
    const bool number = std::isdigit(static_cast<unsigned char>(text[begin])) != 0;
    if (suffix && whole && number) at = end - 1;
  }
  return out;
}

// What a demangler puts before a template's name: the first blank outside of brackets ends it.
std::string WithoutReturnType(const std::string& text) {
  int depth = 0;
  size_t cut = 0;
  for (size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '<') ++depth;
    if (c == '>') --depth;
    if (c == '(' && depth == 0 && text.compare(at, 11, "(anonymous ") != 0) break;
    if (c == ' ' && depth == 0 && at + 1 < text.size() && text[at + 1] != '(' &&
        text.compare(at, 11, " namespace)") != 0) {
      cut = at + 1;
    }
  }
  return text.substr(cut);
}

}  // namespace

std::string CanonicalName(std::string_view name) {
  std::string text = Demangled(name);
  for (const std::string_view word : {"const", "volatile", "__restrict__", "__restrict"})
    text = WithoutWord(text, word);
  text = WithoutCasts(WithoutReturnType(text));
  std::string out;
  for (const char c : text) {
    if (c != ' ') out.push_back(c);
  }
  return out;
}

std::string BaseName(std::string_view canonical) {
  size_t begin = 0;
  constexpr std::string_view kAnonymous = "(anonymousnamespace)";
  int depth = 0;
  for (size_t at = 0; at < canonical.size(); ++at) {
    if (canonical.substr(at, kAnonymous.size()) == kAnonymous) {
      at += kAnonymous.size() - 1;
      continue;
    }
    const char c = canonical[at];
    if (depth == 0 && (c == '<' || c == '(')) return std::string(canonical.substr(begin, at - begin));
    if (c == '<') ++depth;
    if (c == '>') --depth;
    if (c == ':' && depth == 0) begin = at + 1;
  }
  return std::string(canonical.substr(begin));
}

}  // namespace sm89::calibrate
