// Fuzz target: any text is either refused with faults, or read; what is read survives its own dump.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "sim/base/assert.h"
#include "sim/base/fault.h"
#include "sim/config/config.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto config = sm89::LoadConfigText("fuzz", text, {}, {});
  if (!config.ok()) {
    SM89_ASSERT(!sm89::FaultsOf(config.status()).empty(), "a refused text has at least one fault");
    return 0;
  }
  const auto again = sm89::LoadConfigText("dump", sm89::DumpConfig(*config), {}, {});
  SM89_ASSERT(again.ok(), "a dump can be read");
  SM89_ASSERT(again->digest == config->digest, "a dump keeps the digest");
  SM89_ASSERT(sm89::DiffConfigs(*config, *again).empty(), "a dump keeps every value");
  return 0;
}

#ifdef SM89_FUZZ_STANDALONE
#include <fstream>
#include <iterator>
#include <string>

// Without libFuzzer: each argument is a file to run once.
int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    std::ifstream in(argv[i], std::ios::binary);
    const std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
    LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(text.data()), text.size());
  }
  return 0;
}
#endif
