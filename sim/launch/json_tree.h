// JSON text as a tree that remembers lines, for error messages that point at them. Stricter than a plain
// reader: a key that comes twice is a fault.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace sm89::launch {

struct JsonMember;

struct JsonNode {
  enum class Kind : uint8_t { kNull, kBool, kInteger, kUnsigned, kReal, kString, kArray, kObject };

  Kind kind = Kind::kNull;
  uint64_t line = 0;                // 1-based: where the value starts (of an object or array: its bracket)
  bool boolean = false;             // kBool
  int64_t integer = 0;              // kInteger: below zero; kUnsigned below 2^63 has it too
  uint64_t natural = 0;             // kUnsigned
  double real = 0;                  // every number
  std::string text;                 // kString: the value; numbers: as written or as short as possible
  std::vector<JsonNode> items;      // kArray
  std::vector<JsonMember> members;  // kObject, in file order

  bool is_number() const { return kind == Kind::kInteger || kind == Kind::kUnsigned || kind == Kind::kReal; }
};

struct JsonMember {
  std::string key;
  JsonNode node;
};

// For messages: strings in quotes, long texts cut, "an object" and "an array" for what holds others.
std::string Describe(const JsonNode& node);

// `name` is the file's name in messages.
absl::StatusOr<JsonNode> ParseJson(std::string_view text, const std::string& name);

// Reads a whole JSON file of at most 16 MiB: launch files are small, data belongs in raw files.
absl::StatusOr<std::string> ReadJsonText(const std::string& path);

}  // namespace sm89::launch
