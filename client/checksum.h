// The two checksums of an upload: CRC-32 of each chunk, SHA-256 of the whole.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace sm89::client {

// zlib's CRC-32 of `size` bytes.
uint32_t Crc32(const void* data, size_t size);

// SHA-256 in pieces. Finish may be called once.
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(const Sha256&) = delete;
  Sha256& operator=(const Sha256&) = delete;

  void Update(const void* data, size_t size);
  std::string FinishHex();  // 64 lower-case hex digits

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// SHA-256 of a short text, hex.
std::string Sha256Hex(const std::string& text);

// A random version 4 UUID, "xxxxxxxx-xxxx-4xxx-yxxx-xxxxxxxxxxxx": the request id of one call.
std::string NewUuid();

}  // namespace sm89::client
