// Reading the first line of a case folder's expect.txt: the machine-checked facts of the case.
#pragma once

#include <cctype>
#include <cstddef>
#include <fstream>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace sm89::testing {

// True for "name=..." where name is a letter or '_' followed by letters, digits, '_' or '.'.
inline bool StartsFact(std::string_view token) {
  const size_t equals = token.find('=');
  if (equals == std::string_view::npos || equals == 0) return false;
  for (size_t i = 0; i < equals; ++i) {
    const auto c = static_cast<unsigned char>(token[i]);
    const bool letter = std::isalpha(c) != 0 || c == '_';
    if (!letter && (i == 0 || (std::isdigit(c) == 0 && c != '.'))) return false;
  }
  return true;
}

// Facts of one line, "key=value key=value ...". A word that does not start a fact belongs to the value
// before it, so values may hold blanks ("key=block dim"). Words before the first fact are dropped.
inline std::map<std::string, std::string> ParseExpectLine(std::string_view line) {
  std::map<std::string, std::string> facts;
  std::string* value = nullptr;
  for (size_t at = 0; at < line.size();) {
    size_t end = line.find(' ', at);
    if (end == std::string_view::npos) end = line.size();
    const std::string_view word = line.substr(at, end - at);
    at = end + 1;
    if (StartsFact(word)) {
      const size_t equals = word.find('=');
      value = &facts[std::string(word.substr(0, equals))];
      *value = std::string(word.substr(equals + 1));
    } else if (value != nullptr && !word.empty()) {
      value->append(" ").append(word);
    }
  }
  return facts;
}

// Facts of the first line of the file at `path`; empty when it cannot be read.
inline std::map<std::string, std::string> ReadExpect(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::string line;
  if (!in || !std::getline(in, line)) return {};
  if (!line.empty() && line.back() == '\r') line.pop_back();
  return ParseExpectLine(line);
}

// "1,2,3" -> {"1","2","3"}; an empty text gives no items.
inline std::vector<std::string> SplitFact(std::string_view text, char separator = ',') {
  std::vector<std::string> items;
  if (text.empty()) return items;
  size_t at = 0;
  for (size_t end = 0; end != std::string_view::npos; at = end + 1) {
    end = text.find(separator, at);
    items.emplace_back(text.substr(at, end == std::string_view::npos ? end : end - at));
  }
  return items;
}

}  // namespace sm89::testing
