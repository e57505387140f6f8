#include "sim/config/config_source.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "sim/base/strings.h"
#include "sim/config/text_value.h"

namespace sm89::settings {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPresetEntry = "gpgpusim.config";

const EmbeddedFile* FindEmbedded(std::string_view path) {
  const auto files = EmbeddedFiles();
  const auto it =
      std::find_if(files.begin(), files.end(), [&](const EmbeddedFile& f) { return f.path == path; });
  return it == files.end() ? nullptr : &*it;
}

// The name to show for `written` as included by `file`: each "../" takes a folder off the name of `file`,
// whose own spelling stays as the user wrote it.
std::string Joined(const std::string& file, std::string_view written) {
  const fs::path inner = fs::path(written).lexically_normal();
  if (inner.is_absolute()) return inner.generic_string();
  fs::path folder = fs::path(file).parent_path();
  fs::path rest;
  for (const fs::path& part : inner) {
    const bool seam = rest.empty() && part == ".." && folder.has_filename() && folder.filename() != "..";
    if (seam && folder.filename() != ".") {
      folder = folder.parent_path();
    } else {
      rest /= part;
    }
  }
  return (folder / rest).generic_string();
}

SourceProblem NotBuiltIn(const std::string& tried) {
  std::string names;
  for (const EmbeddedFile& file : EmbeddedFiles())
    absl::StrAppend(&names, names.empty() ? "" : ", ", Av(file.path));
  return {absl::StrCat("no built-in file of this name; there are: ", names), tried, true};
}

SourceOrProblem OpenEmbedded(const Source& from, std::string_view written) {
  if (const EmbeddedFile* preset = FindPreset(written)) return FromEmbedded(*preset);
  // A text that was handed over has no folder of its own: its names start at configs/.
  const std::string path = Joined(from.embedded ? from.name : std::string(), written);
  if (const EmbeddedFile* file = FindEmbedded(path)) return FromEmbedded(*file);
  return NotBuiltIn(path);
}

}  // namespace

const EmbeddedFile* FindPreset(std::string_view name) {
  if (name.find('/') != std::string_view::npos) return nullptr;
  return FindEmbedded(absl::StrCat(Av(name), "/", Av(kPresetEntry)));
}

Source FromEmbedded(const EmbeddedFile& file) {
  const std::string path(file.path);
  return {.name = path,
          .identity = absl::StrCat("built-in:", path),
          .text = std::string(file.text),
          .embedded = true};
}

SourceOrProblem OpenFile(const std::string& path, const std::string& name) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (status.type() == fs::file_type::not_found) return SourceProblem{"not found", path, true};
  if (status.type() == fs::file_type::directory) return SourceProblem{"is a directory, not a file", path};
  if (error) return SourceProblem{absl::StrCat("cannot be opened: ", error.message()), path};
  // A pipe or device could block or never end.
  if (status.type() != fs::file_type::regular) return SourceProblem{"is not a regular file", path};
  std::ifstream in(path, std::ios::binary);
  if (!in) return SourceProblem{"cannot be opened for reading", path};
  std::string text(kMaxSourceBytes + 1, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (in.bad()) return SourceProblem{"cannot be read", path};
  text.resize(static_cast<size_t>(in.gcount()));
  if (text.size() > kMaxSourceBytes) {
    return SourceProblem{absl::StrCat("is larger than ", kMaxSourceBytes, " bytes"), path};
  }
  const fs::path canonical = fs::canonical(path, error);
  return Source{.name = name,
                .path = path,
                .identity = error ? path : canonical.generic_string(),
                .text = std::move(text)};
}

SourceOrProblem OpenInclude(const Source& from, std::string_view written, IncludeScope scope) {
  if (from.embedded || scope == IncludeScope::kPresetsOnly) return OpenEmbedded(from, written);
  // The path itself is not shortened: behind a symbolic link, "../" is not where its name suggests.
  const std::string path = (fs::path(from.path).parent_path() / fs::path(written)).generic_string();
  SourceOrProblem opened = OpenFile(path, Joined(from.name, written));
  const auto* problem = std::get_if<SourceProblem>(&opened);
  if (problem != nullptr && problem->not_found) {
    if (const EmbeddedFile* preset = FindPreset(written)) return FromEmbedded(*preset);
  }
  return opened;
}

}  // namespace sm89::settings
