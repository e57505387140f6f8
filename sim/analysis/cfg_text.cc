// Renderings of the control-flow graph.
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "sim/analysis/cfg.h"
#include "sim/analysis/json_text.h"
#include "sim/base/strings.h"
#include "sim/sass/decode.h"

namespace sm89::analysis {

std::string ToText(const Cfg& cfg, const Code& code) {
  std::string text;
  for (uint32_t b = 0; b < cfg.blocks.size(); ++b) {
    const Block& block = cfg.blocks[b];
    absl::StrAppendFormat(&text, "block %d  %s..%s  %s", b, PcText(code.PcOf(block.first)),
                          PcText(code.PcOf(block.end)), Clean(cfg.functions[block.function].name));
    if (cfg.immediate_dominator[b]) absl::StrAppend(&text, "  dominated by ", *cfg.immediate_dominator[b]);
    if (!block.reachable) absl::StrAppend(&text, "  unreachable");
    if (block.leaves_unknown) absl::StrAppend(&text, "  leaves to an unknown place");
    absl::StrAppend(&text, "\n");
    for (const Edge& edge : block.successors) {
      absl::StrAppend(&text, "  -> ", edge.to, " (", Av(Name(edge.kind)), ")\n");
    }
  }
  return text;
}

std::string ToJson(const Cfg& cfg, const Code& code) {
  Json root;
  root["format"] = "sm89-cubin-cfg/1";
  root["function"] = code.function->name;
  root["blocks"] = Json::array();
  for (uint32_t b = 0; b < cfg.blocks.size(); ++b) {
    const Block& block = cfg.blocks[b];
    Json object;
    object["block"] = b;
    object["first_pc"] = code.PcOf(block.first);
    object["end_pc"] = code.PcOf(block.end);
    object["function"] = cfg.functions[block.function].name;
    object["reachable"] = block.reachable;
    object["leaves_unknown"] = block.leaves_unknown;
    object["immediate_dominator"] =
        cfg.immediate_dominator[b] ? Json(*cfg.immediate_dominator[b]) : Json(nullptr);
    object["successors"] = Json::array();
    for (const Edge& edge : block.successors) {
      object["successors"].push_back({{"block", edge.to}, {"kind", std::string(Name(edge.kind))}});
    }
    root["blocks"].push_back(std::move(object));
  }
  return Dump(root);
}

std::string ToDot(const Cfg& cfg, const Code& code) {
  std::string text = "digraph cfg {\n  node [shape=box, fontname=monospace];\n";
  for (uint32_t b = 0; b < cfg.blocks.size(); ++b) {
    const Block& block = cfg.blocks[b];
    absl::StrAppendFormat(&text, "  b%d [label=\"%d: %s, %d instructions\\l%s\\l\"];\n", b, b,
                          PcText(code.PcOf(block.first)), block.end - block.first,
                          Clean(sass::Print(code.insts[block.end - 1], {.pc = code.PcOf(block.end - 1)})));
    for (const Edge& edge : block.successors) {
      absl::StrAppendFormat(&text, "  b%d -> b%d [label=\"%s\"];\n", b, edge.to,
                            std::string(Name(edge.kind)));
    }
  }
  return text + "}\n";
}

}  // namespace sm89::analysis
