// Where the text of a configuration and of its includes comes from: files, or the presets built in.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <variant>

namespace sm89::settings {

// One file of configs/, built into the program by CMake; `path` is relative to configs/.
struct EmbeddedFile {
  std::string_view path;
  std::string_view text;
};
// Sorted by path. Defined in a generated file.
std::span<const EmbeddedFile> EmbeddedFiles();

// The entry file of a preset, or null.
const EmbeddedFile* FindPreset(std::string_view name);

// One file read, or a text that was handed over.
struct Source {
  std::string name;      // as shown: as written, joined with the name of the including file
  std::string path;      // of a file on disk; empty otherwise
  std::string identity;  // equal for two ways to one file
  std::string text;
  bool embedded = false;
};

struct SourceProblem {
  std::string message;
  std::string tried;  // the path or name that was looked for
  bool not_found = false;
};

using SourceOrProblem = std::variant<Source, SourceProblem>;

inline constexpr size_t kMaxSourceBytes = size_t{1} << 20;

// What may be included: a text that came over the network sees the built-in files only.
enum class IncludeScope { kFilesAndPresets, kPresetsOnly };

// `name` is how the file is shown.
SourceOrProblem OpenFile(const std::string& path, const std::string& name);
Source FromEmbedded(const EmbeddedFile& file);

// The file that `from` names in an include. Relative to `from`; a preset's name stands for its entry file.
SourceOrProblem OpenInclude(const Source& from, std::string_view written, IncludeScope scope);

}  // namespace sm89::settings
