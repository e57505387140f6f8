#include "sim/analysis/mix.h"

#include <algorithm>
#include <array>
#include <map>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "sim/analysis/json_text.h"
#include "sim/isa/opcode_table.h"

namespace sm89::analysis {
namespace {

// sm_90 mnemonics by their closest kin, and what the timing model's table does not list.
ExecUnit UnitOfUnlisted(sass::Op op) {
  switch (op) {
    case sass::Op::kViadd:
    case sass::Op::kViaddmnmx:
    case sass::Op::kVimnmx:
    case sass::Op::kVimnmx3:
      return ExecUnit::kInt;
    case sass::Op::kRedg:
      return ExecUnit::kMem;
    case sass::Op::kCgaerrbar:
    case sass::Op::kUcgabarArv:
    case sass::Op::kUcgabarWait:
      return ExecUnit::kBarrier;
    case sass::Op::kEndcollective:
      return ExecUnit::kBranch;
    default:
      return ExecUnit::kMisc;
  }
}

Json RowsJson(const std::vector<MixRow>& rows) {
  Json object = Json::object();
  for (const MixRow& row : rows) object[row.name] = row.count;
  return object;
}

void AppendRows(const std::vector<MixRow>& rows, uint32_t total, std::string* text) {
  for (const MixRow& row : rows) {
    absl::StrAppendFormat(text, "  %-12s %8d  %5.1f %%\n", row.name, row.count, 100.0 * row.count / total);
  }
}

}  // namespace

ExecUnit UnitOf(const sass::Instruction& inst) {
  const OpcodeRow* row = FindOpcode(sass::Name(inst.op));
  return row != nullptr ? row->unit : UnitOfUnlisted(inst.op);
}

InstructionMix CountMix(const Code& code) {
  InstructionMix mix;
  std::array<uint32_t, kNumExecUnits> units{};
  std::map<std::string, uint32_t> mnemonics;
  mix.total = static_cast<uint32_t>(code.NumUsed());
  for (uint32_t i = 0; i < mix.total; ++i) {
    const sass::Instruction& inst = code.insts[i];
    ++units[static_cast<size_t>(UnitOf(inst))];
    ++mnemonics[std::string(sass::Name(inst.op))];
  }
  for (size_t u = 0; u < units.size(); ++u) {
    if (units[u] != 0) mix.classes.push_back({std::string(Name(static_cast<ExecUnit>(u))), units[u]});
  }
  for (const auto& [name, count] : mnemonics) mix.mnemonics.push_back({name, count});
  std::stable_sort(mix.mnemonics.begin(), mix.mnemonics.end(),
                   [](const MixRow& a, const MixRow& b) { return a.count > b.count; });
  return mix;
}

std::string ToText(const InstructionMix& mix) {
  std::string text = absl::StrFormat("%d instructions (static)\nby class\n", mix.total);
  AppendRows(mix.classes, mix.total, &text);
  absl::StrAppend(&text, "by mnemonic\n");
  AppendRows(mix.mnemonics, mix.total, &text);
  return text;
}

std::string ToJson(const InstructionMix& mix) {
  Json root;
  root["format"] = "sm89-cubin-mix/1";
  root["instructions"] = mix.total;
  root["classes"] = RowsJson(mix.classes);
  root["mnemonics"] = RowsJson(mix.mnemonics);
  return Dump(root);
}

}  // namespace sm89::analysis
