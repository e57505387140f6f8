#include "server/os/id_source.h"

#include <sys/random.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>

#include "sim/base/assert.h"

namespace sm89 {
namespace {

constexpr std::string_view kAlphabet = "abcdefghijklmnopqrstuvwxyz234567";  // RFC 4648 base32, lower case
constexpr size_t kIdChars = 16;

class RandomIdSource final : public IdSource {
 public:
  std::string NewId() override {
    // One byte a character, 5 of its 8 bits used: simpler than packing, and no bias (32 divides 256).
    std::array<uint8_t, kIdChars> random{};
    ssize_t got = -1;
    do {
      got = getrandom(random.data(), random.size(), 0);
    } while (got < 0 && errno == EINTR);
    SM89_ASSERT(got == static_cast<ssize_t>(random.size()), "getrandom gives up to 256 bytes at once");
    std::string id(kIdChars, '\0');
    std::transform(random.begin(), random.end(), id.begin(), [](uint8_t b) { return kAlphabet[b % 32]; });
    return id;
  }
};

}  // namespace

IdSource& SystemIdSource() {
  static RandomIdSource source;
  return source;
}

bool IsId(std::string_view id) {
  return id.size() == kIdChars && id.find_first_not_of(kAlphabet) == std::string_view::npos;
}

}  // namespace sm89
