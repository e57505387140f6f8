// Machine words: the first byte picks the architecture, each 16 bytes after it are an instruction that is
// either refused or printed.
#include <cstddef>
#include <cstdint>
#include <string>

#include "sim/base/assert.h"
#include "sim/sass/decode.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using sm89::sass::Word128;
  static constexpr uint32_t kArchitectures[4] = {80, 86, 89, 90};
  if (size == 0) return 0;
  const uint32_t arch = kArchitectures[data[0] & 3];
  for (size_t at = 1; at + 16 <= size; at += 16) {
    Word128 word;
    for (size_t i = 8; i-- > 0;) {
      word.lo = word.lo << 8 | data[at + i];
      word.hi = word.hi << 8 | data[at + 8 + i];
    }
    const auto inst = sm89::sass::Decode(word, arch);
    if (!inst.ok()) {
      SM89_ASSERT(!inst.status().message().empty(), "a refusal says why");
      continue;
    }
    SM89_ASSERT(inst->form != nullptr && inst->word == word, "an instruction keeps its form and word");
    SM89_ASSERT(!sm89::sass::Print(*inst, {}).empty(), "every instruction has a text");
  }
  return 0;
}
