// Files that the tests read: fixtures of the repository and the reference data beside it.
#pragma once

#include <archive.h>
#include <archive_entry.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

namespace sm89::cubin {

inline std::string Fixture(const std::string& name) {
  return std::string(SM89_SOURCE_DIR "/tests/data/cubin/") + name;
}

// Reference data that is not part of the repository; a test that finds none is skipped.
inline std::filesystem::path Shared(const std::string& path) {
  return std::filesystem::path(SM89_SOURCE_DIR "/../shared") / path;
}

inline std::string ReadAll(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

inline std::vector<std::filesystem::path> CubinsIn(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> paths;
  if (!std::filesystem::exists(folder)) return paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".cubin") paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

// Members of a compressed archive, or the one text of a compressed file (named "data" then).
inline std::map<std::string, std::string> Unarchive(const std::filesystem::path& path) {
  std::map<std::string, std::string> members;
  archive* in = archive_read_new();
  archive_read_support_filter_all(in);
  archive_read_support_format_tar(in);
  archive_read_support_format_raw(in);
  if (archive_read_open_filename(in, path.c_str(), 1 << 16) == ARCHIVE_OK) {
    archive_entry* entry = nullptr;
    while (archive_read_next_header(in, &entry) == ARCHIVE_OK) {
      std::string& text = members[archive_entry_pathname(entry)];
      std::vector<char> part(1 << 16);
      for (la_ssize_t n = 0; (n = archive_read_data(in, part.data(), part.size())) > 0;) {
        text.append(part.data(), static_cast<size_t>(n));
      }
    }
  }
  archive_read_free(in);
  return members;
}

}  // namespace sm89::cubin
