// Renderings of PTX next to SASS.
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "sim/analysis/json_text.h"
#include "sim/analysis/ptx_map.h"
#include "sim/base/strings.h"
#include "sim/sass/decode.h"

namespace sm89::analysis {
namespace {

Json RowJson(const PtxRow& row, const Code& code) {
  Json object;
  object["ptx_line"] = row.ptx_line == 0 ? Json(nullptr) : Json(row.ptx_line);
  object["source"] = LineJson(code, row.source);
  object["ptx"] = Json::array();
  for (const PtxInstruction& inst : row.ptx)
    object["ptx"].push_back({{"line", inst.line}, {"text", inst.text}});
  object["sass"] = Json::array();
  for (const uint32_t i : row.sass) {
    object["sass"].push_back(
        {{"pc", code.PcOf(i)}, {"text", sass::Print(code.insts[i], {.pc = code.PcOf(i)})}});
  }
  return object;
}

void AddFigures(const PtxRow& row, Json* object) {
  (*object)["ptx_instructions"] = row.ptx.size();
  (*object)["sass_instructions"] = row.sass.size();
  (*object)["expansion"] = row.ptx.empty() ? Json(nullptr) : Json(row.Expansion());
  (*object)["issue_cycles"] = row.issue_cycles;
  (*object)["ideal_cycles"] = row.ideal_cycles;
  (*object)["throughput_lost_percent"] = 100.0 * row.ThroughputLost();
  (*object)["spills"] = row.spills;
  (*object)["convergence"] = row.convergence;
}

std::string FiguresText(const PtxRow& row) {
  std::string text =
      absl::StrFormat("%d -> %d, %d cycles", row.ptx.size(), row.sass.size(), row.issue_cycles);
  if (!row.ptx.empty() && !row.sass.empty()) {
    absl::StrAppendFormat(&text, ", x%.2f, %.0f %% lost", row.Expansion(), 100.0 * row.ThroughputLost());
  }
  if (row.spills > 0) absl::StrAppend(&text, ", ", row.spills, " spill");
  if (row.convergence > 0) absl::StrAppend(&text, ", ", row.convergence, " convergence");
  return text;
}

}  // namespace

std::string ToText(const PtxReport& report, const Code& code, const PtxSource& ptx) {
  std::string text = absl::StrFormat(
      "%s: PTX %s for %s next to SASS, by %s\nPTX -> SASS instructions, issue cycles of a sub-core's units\n"
      "total %s\n",
      Clean(report.function), Clean(ptx.version), Clean(ptx.target), std::string(Name(report.mapping)),
      FiguresText(report.total));
  for (const PtxRow& row : report.rows) {
    absl::StrAppend(&text, "\n", row.ptx_line == 0 ? "without PTX" : absl::StrCat("ptx ", row.ptx_line));
    if (row.source.line != 0) absl::StrAppend(&text, " (", Clean(LineText(code, row.source)), ")");
    absl::StrAppend(&text, ": ", FiguresText(row), "\n");
    for (const PtxInstruction& inst : row.ptx) absl::StrAppend(&text, "    ", Clean(inst.text), ";\n");
    for (const uint32_t i : row.sass) {
      absl::StrAppend(&text, "        ", PcText(code.PcOf(i)), "  ",
                      sass::Print(code.insts[i], {.pc = code.PcOf(i)}), "\n");
    }
  }
  return text;
}

std::string ToJson(const PtxReport& report, const Code& code, const PtxSource& ptx) {
  Json root;
  root["format"] = "sm89-cubin-ptx/1";
  root["function"] = report.function;
  root["ptx_version"] = ptx.version;
  root["ptx_target"] = ptx.target;
  root["mapping"] = std::string(Name(report.mapping));
  AddFigures(report.total, &root["total"]);
  root["rows"] = Json::array();
  for (const PtxRow& row : report.rows) {
    Json object = RowJson(row, code);
    AddFigures(row, &object);
    root["rows"].push_back(std::move(object));
  }
  return Dump(root);
}

}  // namespace sm89::analysis
