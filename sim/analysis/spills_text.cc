// Renderings of the spill report.
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "sim/analysis/json_text.h"
#include "sim/analysis/spills.h"
#include "sim/base/strings.h"
#include "sim/sass/decode.h"

namespace sm89::analysis {
namespace {

Json LineCounts(const LocalLine& line) {
  return {{"spill_loads", line.spill_loads},   {"spill_load_bytes", line.spill_load_bytes},
          {"spill_stores", line.spill_stores}, {"spill_store_bytes", line.spill_store_bytes},
          {"array_loads", line.array_loads},   {"array_load_bytes", line.array_load_bytes},
          {"array_stores", line.array_stores}, {"array_store_bytes", line.array_store_bytes}};
}

std::string CountsText(const LocalLine& line) {
  return absl::StrFormat("spills %d loads (%d B), %d stores (%d B); arrays %d loads (%d B), %d stores (%d B)",
                         line.spill_loads, line.spill_load_bytes, line.spill_stores, line.spill_store_bytes,
                         line.array_loads, line.array_load_bytes, line.array_stores, line.array_store_bytes);
}

}  // namespace

std::string ToText(const SpillReport& report, const Code& code) {
  std::string text =
      absl::StrFormat("%s: stack frame %d B; a thread, static: %s\n", Clean(code.function->name),
                      report.frame_bytes, CountsText(report.total));
  for (const LocalLine& line : report.lines) {
    const std::string place = line.line.line == 0 ? "no line" : LineText(code, line.line);
    absl::StrAppendFormat(&text, "  %-24s %s\n", Clean(place), CountsText(line));
  }
  for (const LocalAccess& access : report.accesses) {
    absl::StrAppendFormat(&text, "  %s  %-9s %2d B  %s\n", PcText(code.PcOf(access.instruction)),
                          std::string(Name(access.use)), access.bytes,
                          sass::Print(code.insts[access.instruction], {.pc = code.PcOf(access.instruction)}));
  }
  return text;
}

std::string ToJson(const SpillReport& report, const Code& code) {
  Json root;
  root["format"] = "sm89-cubin-spills/1";
  root["function"] = code.function->name;
  root["frame_bytes"] = report.frame_bytes;
  root["total"] = LineCounts(report.total);
  root["lines"] = Json::array();
  for (const LocalLine& line : report.lines) {
    Json object = {{"source", LineJson(code, line.line)}};
    object.update(LineCounts(line));
    root["lines"].push_back(std::move(object));
  }
  root["accesses"] = Json::array();
  for (const LocalAccess& access : report.accesses) {
    root["accesses"].push_back({{"pc", code.PcOf(access.instruction)},
                                {"store", access.is_store},
                                {"use", std::string(Name(access.use))},
                                {"bytes", access.bytes},
                                {"offset", access.fixed_offset ? Json(access.offset) : Json(nullptr)}});
  }
  return Dump(root);
}

}  // namespace sm89::analysis
