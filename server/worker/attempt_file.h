// A file that an attempt keeps a large result in until it is delivered.
#pragma once

#include <string>

namespace sm89 {

// Removes the file when it goes. A worker that dies leaves its files behind: the next one that keeps any in
// the same folder removes what processes that are gone have left.
class AttemptFile {
 public:
  // One file a process and `suffix` (".sm89t") at a time.
  AttemptFile(const std::string& folder, const std::string& suffix);
  ~AttemptFile();
  AttemptFile(const AttemptFile&) = delete;
  AttemptFile& operator=(const AttemptFile&) = delete;

  const std::string& path() const { return path_; }

 private:
  const std::string path_;
};

}  // namespace sm89
