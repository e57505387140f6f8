#include "client/upload_journal.h"

#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

#include "client/checksum.h"

namespace sm89::client {
namespace {

constexpr size_t kUuidBytes = 36;

bool LooksLikeUuid(const std::string& text) {
  return text.size() == kUuidBytes && text.find_first_not_of("0123456789abcdef-") == std::string::npos;
}

}  // namespace

UploadJournal::UploadJournal(std::string directory) : directory_(std::move(directory)) {}

std::string UploadJournal::PathOf(const std::string& key) const {
  return directory_ + "/" + Sha256Hex(key).substr(0, 32);
}

std::string UploadJournal::RequestIdFor(const std::string& key) {
  const std::string fresh = NewUuid();
  if (directory_.empty()) return fresh;
  std::string kept;
  if (std::ifstream in(PathOf(key)); in && std::getline(in, kept) && LooksLikeUuid(kept)) return kept;
  std::error_code ignored;  // without a journal the upload still works
  std::filesystem::create_directories(directory_, ignored);
  std::ofstream(PathOf(key)) << fresh << '\n';
  return fresh;
}

void UploadJournal::Forget(const std::string& key) {
  if (directory_.empty()) return;
  std::error_code ignored;
  std::filesystem::remove(PathOf(key), ignored);
}

}  // namespace sm89::client
