// A database whose daemon dies at a chosen commit: before it (nothing of it is stored) or right after it
// (stored, but the daemon never learns). From then on every call fails, until the daemon is built anew.
#pragma once

#include <cstdint>

#include "server/store/database.h"

namespace sm89::testing {

class CrashingDatabase final : public Database {
 public:
  explicit CrashingDatabase(Database& real) : real_(real) {}

  // The `n`-th Write from now is the last.
  void CrashAt(uint64_t n, bool after_commit) {
    left_ = n;
    after_commit_ = after_commit;
  }
  void Revive() {
    crashed_ = false;
    left_ = 0;
  }
  bool crashed() const { return crashed_; }

  absl::Status Migrate(std::string_view component, std::span<const Migration> migrations) override {
    return real_.Migrate(component, migrations);
  }
  absl::Status Write(const Body& body) override {
    if (crashed_) return absl::UnavailableError("the daemon is dead");
    if (left_ != 0 && --left_ == 0) {
      crashed_ = true;
      if (after_commit_) (void)real_.Write(body);
      return absl::UnavailableError("the daemon died");
    }
    return real_.Write(body);
  }
  absl::Status Read(const Body& body) override {
    return crashed_ ? absl::UnavailableError("the daemon is dead") : real_.Read(body);
  }
  absl::Status BackUp(const std::string& path) override { return real_.BackUp(path); }

 private:
  Database& real_;
  uint64_t left_ = 0;
  bool after_commit_ = false;
  bool crashed_ = false;
};

}  // namespace sm89::testing
