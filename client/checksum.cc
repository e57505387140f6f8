#include "client/checksum.h"

#include <openssl/evp.h>
#include <openssl/rand.h>
#include <zlib.h>

#include <array>
#include <cstdio>
#include <cstdlib>

#include "absl/strings/str_cat.h"

namespace sm89::client {
namespace {

// OpenSSL's digest and random calls fail only when the library itself is broken or out of memory; there is
// no meaningful way on.
void Require(bool ok, const char* what) {
  if (ok) return;
  std::fprintf(stderr, "sm89: %s failed in the cryptography library\n", what);
  std::abort();
}

std::string Hex(const unsigned char* data, size_t size) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  text.reserve(size * 2);
  for (size_t i = 0; i < size; ++i) {
    text += kDigits[data[i] >> 4];
    text += kDigits[data[i] & 15];
  }
  return text;
}

}  // namespace

uint32_t Crc32(const void* data, size_t size) {
  return static_cast<uint32_t>(crc32_z(0, static_cast<const Bytef*>(data), size));
}

struct Sha256::Impl {
  EVP_MD_CTX* context = EVP_MD_CTX_new();
  ~Impl() { EVP_MD_CTX_free(context); }
};

Sha256::Sha256() : impl_(std::make_unique<Impl>()) {
  Require(impl_->context != nullptr, "EVP_MD_CTX_new");
  Require(EVP_DigestInit_ex(impl_->context, EVP_sha256(), nullptr) == 1, "EVP_DigestInit_ex");
}
Sha256::~Sha256() = default;

void Sha256::Update(const void* data, size_t size) {
  Require(EVP_DigestUpdate(impl_->context, data, size) == 1, "EVP_DigestUpdate");
}

std::string Sha256::FinishHex() {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  Require(EVP_DigestFinal_ex(impl_->context, digest.data(), &size) == 1, "EVP_DigestFinal_ex");
  return Hex(digest.data(), size);
}

std::string Sha256Hex(const std::string& text) {
  Sha256 hash;
  hash.Update(text.data(), text.size());
  return hash.FinishHex();
}

std::string NewUuid() {
  std::array<unsigned char, 16> bytes{};
  Require(RAND_bytes(bytes.data(), static_cast<int>(bytes.size())) == 1, "RAND_bytes");
  bytes[6] = static_cast<unsigned char>((bytes[6] & 0x0f) | 0x40);  // version 4
  bytes[8] = static_cast<unsigned char>((bytes[8] & 0x3f) | 0x80);  // RFC 4122 variant
  const std::string hex = Hex(bytes.data(), bytes.size());
  return absl::StrCat(hex.substr(0, 8), "-", hex.substr(8, 4), "-", hex.substr(12, 4), "-", hex.substr(16, 4),
                      "-", hex.substr(20));
}

}  // namespace sm89::client
