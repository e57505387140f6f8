// Names of resources: random, not guessable, safe as file names.
#pragma once

#include <string>
#include <string_view>

namespace sm89 {

class IdSource {
 public:
  virtual ~IdSource() = default;
  // 16 characters of a-z2-7 (80 random bits). Thread-safe.
  virtual std::string NewId() = 0;
};

// Ids from the kernel's random source. Thread-safe, lives for ever.
IdSource& SystemIdSource();

// True for what NewId gives (any source).
bool IsId(std::string_view id);

}  // namespace sm89
