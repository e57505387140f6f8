// PTX text by lines: functions, instructions, source places. Not a grammar: enough to put PTX next to SASS.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace sm89::analysis {

struct PtxInstruction {
  uint32_t line = 0;                          // 1-based, of the PTX text
  uint32_t last_line = 0;                     // of its semicolon
  std::string opcode;                         // "mad.lo.s32", without guard
  std::string text;                           // guard and operands included, one line
  uint32_t source_file = 0, source_line = 0;  // .loc in force; 0 = none
};
struct PtxFunction {
  std::string name;
  bool is_entry = false;
  uint32_t first_line = 0, end_line = 0;  // [first, end)
  uint32_t depot_bytes = 0;               // of its .local variables
  std::vector<PtxInstruction> instructions;
};
struct PtxSource {
  std::string version, target;            // "9.0", "sm_89"
  std::map<uint32_t, std::string> files;  // .file
  std::vector<std::string> lines;         // the text, line 1 first
  std::vector<PtxFunction> functions;

  const PtxFunction* Find(std::string_view name) const;
};
// INVALID_ARGUMENT naming the line: braces that do not match, a function inside a function.
absl::StatusOr<PtxSource> ParsePtx(std::string_view text, const std::string& name);

}  // namespace sm89::analysis
