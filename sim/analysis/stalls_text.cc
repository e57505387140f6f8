// Renderings of the stall report.
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "sim/analysis/json_text.h"
#include "sim/analysis/stalls.h"
#include "sim/sass/decode.h"

namespace sm89::analysis {
namespace {

constexpr size_t kProducersShown = 4;

std::string WaitText(const Code& code, const CounterWait& wait) {
  std::string text = absl::StrCat("SB", wait.counter, wait.write ? " result" : " sources");
  for (size_t i = 0; i < wait.producers.size() && i < kProducersShown; ++i) {
    absl::StrAppend(&text, i == 0 ? " of " : ", ", PcText(code.PcOf(wait.producers[i])));
  }
  if (wait.producers.size() > kProducersShown) {
    absl::StrAppend(&text, " and ", wait.producers.size() - kProducersShown, " more");
  }
  return text;
}

std::string InstLine(const StallReport& report, const Code& code, uint32_t index) {
  const InstStall& stall = report.insts[index];
  std::string text = absl::StrFormat("  %s  stall %2d%s  %s", PcText(code.PcOf(index)), stall.stall_cycles,
                                     stall.may_switch ? " y" : "  ",
                                     sass::Print(code.insts[index], {.pc = code.PcOf(index)}));
  for (const CounterWait& wait : stall.waits)
    absl::StrAppend(&text, "\n            waits for ", WaitText(code, wait));
  return text + "\n";
}

}  // namespace

std::string ToText(const StallReport& report, const Code& code, const Cfg& cfg) {
  std::string text =
      "stalls of a lone warp by the control bits (y: the scheduler may switch warps; waits are not counted "
      "in "
      "cycles)\n";
  for (const BlockStall& row : report.blocks) {
    const Block& block = cfg.blocks[row.block];
    absl::StrAppendFormat(&text, "block %d at %s: %d instructions, %d cycles, %d without issue, %d waits\n",
                          row.block, PcText(code.PcOf(block.first)), row.instructions, row.stall_cycles,
                          row.excess_cycles, row.waits);
    for (uint32_t i = block.first; i < block.first + row.instructions; ++i) {
      absl::StrAppend(&text, InstLine(report, code, i));
    }
  }
  return text;
}

std::string ToJson(const StallReport& report, const Code& code, const Cfg& cfg) {
  Json root;
  root["format"] = "sm89-cubin-stalls/1";
  root["function"] = code.function->name;
  root["blocks"] = Json::array();
  for (const BlockStall& row : report.blocks) {
    Json block;
    block["block"] = row.block;
    block["pc"] = code.PcOf(cfg.blocks[row.block].first);
    block["instructions"] = row.instructions;
    block["stall_cycles"] = row.stall_cycles;
    block["excess_cycles"] = row.excess_cycles;
    block["waits"] = row.waits;
    root["blocks"].push_back(std::move(block));
  }
  root["instructions"] = Json::array();
  for (uint32_t i = 0; i < code.NumUsed(); ++i) {
    const InstStall& stall = report.insts[i];
    Json row;
    row["pc"] = code.PcOf(i);
    row["stall_cycles"] = stall.stall_cycles;
    row["may_switch"] = stall.may_switch;
    row["waits"] = Json::array();
    for (const CounterWait& wait : stall.waits) {
      Json producers = Json::array();
      for (const uint32_t p : wait.producers) producers.push_back(code.PcOf(p));
      row["waits"].push_back(
          {{"counter", wait.counter}, {"for", wait.write ? "result" : "sources"}, {"producers", producers}});
    }
    root["instructions"].push_back(std::move(row));
  }
  return Dump(root);
}

}  // namespace sm89::analysis
