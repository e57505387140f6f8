// SHA-256 through OpenSSL: identity of traces, configurations and results.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace sm89 {

// Incremental SHA-256. Not thread-safe.
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(const Sha256&) = delete;
  Sha256& operator=(const Sha256&) = delete;

  void Update(std::string_view bytes);
  // Lower-case hex, 64 characters. Call once; the object is spent afterwards.
  std::string FinishHex();

 private:
  struct Context;
  std::unique_ptr<Context> context_;
};

std::string Sha256Hex(std::string_view bytes);

}  // namespace sm89
