// Reads gzip in tests.
#pragma once

#include <gtest/gtest.h>
#include <zlib.h>

#include <array>
#include <string>

namespace sm89::testing {

// The whole file, plain or gzip; empty with a failure when it cannot be read.
inline std::string ReadGzipFile(const std::string& path) {
  const gzFile file = gzopen(path.c_str(), "rb");
  if (file == nullptr) {
    ADD_FAILURE() << "cannot open " << path;
    return "";
  }
  std::string text;
  std::array<char, 65536> buffer;
  int got = 0;
  while ((got = gzread(file, buffer.data(), buffer.size())) > 0)
    text.append(buffer.data(), static_cast<size_t>(got));
  int code = Z_OK;
  const char* const message = gzerror(file, &code);
  if (code != Z_OK && code != Z_STREAM_END) ADD_FAILURE() << path << ": " << message;
  gzclose(file);
  return text;
}

}  // namespace sm89::testing
