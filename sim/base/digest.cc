#include "sim/base/digest.h"

#include <openssl/evp.h>

#include <array>

#include "absl/strings/escaping.h"
#include "sim/base/assert.h"
#include "sim/base/strings.h"

namespace sm89 {

struct Sha256::Context {
  EVP_MD_CTX* evp = EVP_MD_CTX_new();
};

Sha256::Sha256() : context_(std::make_unique<Context>()) {
  SM89_ASSERT(context_->evp != nullptr, "out of memory for a digest context");
  SM89_ASSERT(EVP_DigestInit_ex(context_->evp, EVP_sha256(), nullptr) == 1, "SHA-256 is missing");
}

Sha256::~Sha256() { EVP_MD_CTX_free(context_->evp); }

void Sha256::Update(std::string_view bytes) {
  SM89_ASSERT(EVP_DigestUpdate(context_->evp, bytes.data(), bytes.size()) == 1, "SHA-256 update");
}

std::string Sha256::FinishHex() {
  std::array<char, 32> raw{};
  unsigned int size = 0;
  SM89_ASSERT(EVP_DigestFinal_ex(context_->evp, reinterpret_cast<unsigned char*>(raw.data()), &size) == 1,
              "SHA-256 final");
  SM89_ASSERT(size == raw.size(), "SHA-256 is 32 bytes");
  return absl::BytesToHexString(absl::string_view(raw.data(), raw.size()));
}

std::string Sha256Hex(std::string_view bytes) {
  Sha256 digest;
  digest.Update(bytes);
  return digest.FinishHex();
}

}  // namespace sm89
