// Renderings of live registers.
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "sim/analysis/json_text.h"
#include "sim/analysis/liveness.h"
#include "sim/sass/decode.h"

namespace sm89::analysis {
namespace {

Json PeakJson(const LivePeak& peak, const Code& code) {
  return {{"general", peak.general},
          {"predicate", peak.pred},
          {"uniform", peak.uniform},
          {"pc", code.PcOf(peak.instruction)},
          {"instructions", peak.instructions}};
}

Json CountsJson(const LiveCounts& counts) {
  return Json::array({counts.general, counts.pred, counts.uniform, counts.upred});
}

}  // namespace

std::string ToText(const Liveness& live, const Code& code, const Cfg& cfg) {
  std::string text;
  for (size_t f = 0; f < cfg.functions.size(); ++f) {
    const LivePeak& peak = live.functions[f];
    absl::StrAppendFormat(&text,
                          "%s: peak %d general registers (at %s), %d predicate, %d uniform; %d allocated\n",
                          Clean(cfg.functions[f].name), peak.general, PcText(code.PcOf(peak.instruction)),
                          peak.pred, peak.uniform, code.function->registers);
  }
  if (!live.lines.empty()) absl::StrAppend(&text, "\npeak general/predicate/uniform by source line\n");
  for (const LivePeak& peak : live.lines) {
    absl::StrAppendFormat(&text, "  %-28s %3d/%d/%-2d  at %s, %d instructions\n",
                          Clean(LineText(code, peak.line)), peak.general, peak.pred, peak.uniform,
                          PcText(code.PcOf(peak.instruction)), peak.instructions);
  }
  absl::StrAppend(&text, "\ngeneral/predicate/uniform by instruction\n");
  for (uint32_t i = 0; i < code.NumUsed(); ++i) {
    const LiveCounts& c = live.counts[i];
    absl::StrAppendFormat(&text, "  %s  %3d/%d/%-2d  %s\n", PcText(code.PcOf(i)), c.general, c.pred,
                          c.uniform, sass::Print(code.insts[i], {.pc = code.PcOf(i)}));
  }
  return text;
}

std::string ToJson(const Liveness& live, const Code& code, const Cfg& cfg) {
  Json root;
  root["format"] = "sm89-cubin-live/1";
  root["function"] = code.function->name;
  root["registers_allocated"] = code.function->registers;
  root["functions"] = Json::array();
  for (size_t f = 0; f < cfg.functions.size(); ++f) {
    Json object = {{"name", cfg.functions[f].name}};
    object["peak"] = PeakJson(live.functions[f], code);
    root["functions"].push_back(std::move(object));
  }
  root["lines"] = Json::array();
  for (const LivePeak& peak : live.lines) {
    Json object = {{"source", LineJson(code, peak.line)}};
    object["peak"] = PeakJson(peak, code);
    root["lines"].push_back(std::move(object));
  }
  root["columns"] = {"general", "predicate", "uniform", "uniform_predicate"};
  root["instructions"] = Json::array();
  for (uint32_t i = 0; i < code.NumUsed(); ++i) root["instructions"].push_back(CountsJson(live.counts[i]));
  return Dump(root);
}

}  // namespace sm89::analysis
