// Remembers, across runs of the program, the request id of an upload that was not finished, so that the next
// try resumes it. One small file an upload; losing it only costs the resume.
#pragma once

#include <string>

namespace sm89::client {

class UploadJournal {
 public:
  // `directory`: created when needed; empty = remember nothing.
  explicit UploadJournal(std::string directory);

  // The request id kept for `key` (anything that identifies server, content and options), else a new one,
  // which is kept from now on.
  std::string RequestIdFor(const std::string& key);

  // The upload came to an end, good or bad: the next one with this key starts afresh.
  void Forget(const std::string& key);

 private:
  std::string PathOf(const std::string& key) const;
  std::string directory_;
};

}  // namespace sm89::client
