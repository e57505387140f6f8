#include "sim/analysis/listing.h"

#include <map>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "sim/analysis/json_text.h"
#include "sim/sass/decode.h"

namespace sm89::analysis {
namespace {

using Labels = std::map<uint64_t, std::string>;

Labels FindLabels(const Code& code, const Cfg& cfg) {
  Labels labels;
  for (uint32_t i = 0; i < code.insts.size(); ++i) {
    if (const auto target = TargetIndex(code, i)) labels[code.PcOf(*target)];
  }
  for (const cubin::IndirectBranch& branch : code.function->indirect_branches) {
    for (const uint32_t target : branch.targets) labels[target];
  }
  uint32_t number = 0;
  for (auto& [pc, name] : labels) name = absl::StrCat(".L_", number++);
  for (size_t f = 1; f < cfg.functions.size(); ++f) {
    labels[code.PcOf(cfg.functions[f].first)] = cfg.functions[f].name;
  }
  return labels;
}

std::string LabelText(uint64_t address, void* context) {
  const auto& labels = *static_cast<const Labels*>(context);
  const auto found = labels.find(address);
  return found == labels.end() ? "" : absl::StrCat("`(", found->second, ")");
}

Json ControlJson(const sass::Control& c) {
  Json object;
  object["stall_cycles"] = c.stall_cycles;
  object["may_switch"] = !c.keep_warp;
  object["write_counter"] = c.write_counter == 7 ? Json(nullptr) : Json(c.write_counter);
  object["read_counter"] = c.read_counter == 7 ? Json(nullptr) : Json(c.read_counter);
  object["wait_mask"] = c.wait_mask;
  object["reuse_mask"] = c.reuse_mask;
  return object;
}

}  // namespace

std::string ControlText(const sass::Control& control) {
  std::string text = "[";
  for (int c = 0; c < 6; ++c) {
    text.push_back((control.wait_mask >> c & 1) != 0 ? static_cast<char>('0' + c) : '-');
  }
  absl::StrAppend(&text, ":", control.read_counter == 7 ? "R-" : absl::StrCat("R", control.read_counter), ":",
                  control.write_counter == 7 ? "W-" : absl::StrCat("W", control.write_counter), ":",
                  control.keep_warp ? "-" : "Y");
  absl::StrAppendFormat(&text, ":S%02d]", control.stall_cycles);
  return text;
}

Listing MakeListing(const Code& code, const Cfg& cfg, const Liveness& live) {
  Labels labels = FindLabels(code, cfg);
  Listing listing;
  listing.function = code.function->name;
  listing.rows.reserve(code.insts.size());
  for (uint32_t i = 0; i < code.insts.size(); ++i) {
    const sass::Instruction& inst = code.insts[i];
    ListingRow row;
    row.pc = code.PcOf(i);
    if (const auto found = labels.find(row.pc); found != labels.end()) row.label = found->second;
    row.text = sass::Print(inst, {.pc = row.pc, .label = LabelText, .label_context = &labels});
    row.encoding = absl::StrFormat("%016x%016x", inst.word.hi, inst.word.lo);
    row.control = inst.control;
    row.line = code.LineOf(i);
    row.live = live.counts[i];
    row.block = cfg.block_of[i];
    listing.rows.push_back(std::move(row));
  }
  return listing;
}

std::string ToText(const Listing& listing, const Code& code, const ListingOptions& options) {
  std::string text = absl::StrCat(Clean(listing.function), ":\n");
  if (options.control) {
    absl::StrAppend(&text, "  // [waits : read counter : write counter : may switch : stall cycles]\n");
  }
  if (options.live) absl::StrAppend(&text, "  // live: general/predicate/uniform registers\n");
  cubin::SourceLine shown;
  for (const ListingRow& row : listing.rows) {
    if (!row.label.empty()) absl::StrAppend(&text, Clean(row.label), ":\n");
    if (options.lines && row.line.line != 0 && row.line != shown) {
      absl::StrAppend(&text, "  // ", Clean(LineText(code, row.line)), "\n");
      shown = row.line;
    }
    absl::StrAppend(&text, "  ", PcText(row.pc));
    if (options.encoding) absl::StrAppend(&text, "  ", row.encoding);
    if (options.control) absl::StrAppend(&text, "  ", ControlText(row.control));
    if (options.live) {
      absl::StrAppendFormat(&text, "  %3d/%d/%-2d", row.live.general, row.live.pred, row.live.uniform);
    }
    absl::StrAppend(&text, "  ", row.text, ";\n");
  }
  return text;
}

std::string ToJson(const Listing& listing, const Code& code) {
  Json root;
  root["format"] = "sm89-cubin-dis/1";
  root["function"] = listing.function;
  root["instructions"] = Json::array();
  for (const ListingRow& row : listing.rows) {
    Json object;
    object["pc"] = row.pc;
    if (!row.label.empty()) object["label"] = row.label;
    object["text"] = row.text;
    object["encoding"] = row.encoding;
    object["control"] = ControlJson(row.control);
    object["source"] = LineJson(code, row.line);
    object["live"] = {{"general", row.live.general},
                      {"predicate", row.live.pred},
                      {"uniform", row.live.uniform},
                      {"uniform_predicate", row.live.upred}};
    object["block"] = row.block;
    root["instructions"].push_back(std::move(object));
  }
  return Dump(root);
}

}  // namespace sm89::analysis
