// Traffic to the thread's stack: spilled registers apart from local arrays.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/analysis/code.h"

namespace sm89::analysis {

// What a local-memory access seems to be for. Rule, in README.md: an LDL/STL at a constant offset from the
// stack pointer whose bytes no computed address can reach is a spill slot (or an argument of a call);
// everything else is a local array or an object whose address was taken.
enum class LocalUse : uint8_t { kSpill, kCallSave, kArray };
std::string_view Name(LocalUse use);

struct LocalAccess {
  uint32_t instruction = 0;
  bool is_store = false;
  LocalUse use = LocalUse::kArray;
  uint32_t bytes = 0;         // a thread
  bool fixed_offset = false;  // relative to the stack pointer of the function's start
  int64_t offset = 0;
};

struct LocalLine {
  cubin::SourceLine line;
  uint32_t spill_loads = 0, spill_stores = 0;
  uint32_t spill_load_bytes = 0, spill_store_bytes = 0;
  uint32_t array_loads = 0, array_stores = 0;
  uint32_t array_load_bytes = 0, array_store_bytes = 0;
};

struct SpillReport {
  uint32_t frame_bytes = 0;  // of the code section's functions, as the file says
  std::vector<LocalAccess> accesses;
  std::vector<LocalLine> lines;  // by file and line; one row with line 0 without line information
  LocalLine total;
};
SpillReport FindSpills(const Code& code);

std::string ToText(const SpillReport& report, const Code& code);
std::string ToJson(const SpillReport& report, const Code& code);

}  // namespace sm89::analysis
