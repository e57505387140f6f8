// Fuzz target: any bytes are either refused with faults, or a program that is written back as the same
// program and whose launches are loaded or refused.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "sim/base/assert.h"
#include "sim/base/fault.h"
#include "sim/replay/emulation.h"
#include "sim/replay/program.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto program = sm89::DecodeProgram(bytes, "fuzz");
  if (!program.ok()) {
    SM89_ASSERT(!sm89::FaultsOf(program.status()).empty(), "a refused package has a fault");
    return 0;
  }
  const std::string canonical = EncodeProgram(*program);
  const auto again = sm89::DecodeProgram(canonical, "fuzz");
  SM89_ASSERT(again.ok(), "what is written can be read");
  SM89_ASSERT(EncodeProgram(*again) == canonical, "one program, one package");
  SM89_ASSERT(ProgramDigest(*again) == ProgramDigest(*program), "one program, one digest");
  const auto loaded = sm89::LoadProgram(*program);
  if (!loaded.ok()) return 0;
  SM89_ASSERT(!loaded->launches.empty(), "a program that loads has something to run");
  SM89_ASSERT(loaded->modules.size() == loaded->launches.size(), "a module for each launch");
  for (const auto& module : loaded->modules) SM89_ASSERT(module != nullptr, "a module for each launch");
  return 0;
}
