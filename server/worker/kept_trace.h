// The file that an attempt keeps its executed instructions in until they are delivered.
#pragma once

#include <string>

namespace sm89 {

// Removes the file when it goes. A worker that dies leaves its file behind: the next one that keeps a trace
// in the same folder removes what processes that are gone have left.
class KeptTrace {
 public:
  explicit KeptTrace(const std::string& folder);
  ~KeptTrace();
  KeptTrace(const KeptTrace&) = delete;
  KeptTrace& operator=(const KeptTrace&) = delete;

  const std::string& path() const { return path_; }

 private:
  const std::string path_;
};

}  // namespace sm89
