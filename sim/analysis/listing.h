// Annotated disassembly.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/analysis/cfg.h"
#include "sim/analysis/code.h"
#include "sim/analysis/liveness.h"

namespace sm89::analysis {

struct ListingRow {
  uint64_t pc = 0;
  std::string label;     // ".L_3" or a function's name where something jumps to; else ""
  std::string text;      // "@P0 BRA `(.L_3)"
  std::string encoding;  // 32 hexadecimal digits, high word first
  sass::Control control;
  cubin::SourceLine line;
  LiveCounts live;
  uint32_t block = 0;
};
struct Listing {
  std::string function;
  std::vector<ListingRow> rows;
};
Listing MakeListing(const Code& code, const Cfg& cfg, const Liveness& live);

// "[--2---:R0:W1:Y:S04]": counters waited for, read counter, write counter, may switch warps, stall cycles.
std::string ControlText(const sass::Control& control);

struct ListingOptions {
  bool control = true, lines = true, live = true, encoding = false;
};
std::string ToText(const Listing& listing, const Code& code, const ListingOptions& options = {});
std::string ToJson(const Listing& listing, const Code& code);

}  // namespace sm89::analysis
