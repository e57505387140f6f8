#include "sim/ingest/opcode_check.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "sim/base/strings.h"
#include "sim/ingest/text_scan.h"
#include "sim/isa/decoded_inst.h"
#include "sim/isa/modifiers.h"

namespace sm89 {
namespace {

constexpr uint32_t kNativeVersion = 89;
constexpr size_t kNamesInMessage = 20;
constexpr size_t kPartialKernelsNamed = 8;

using Counts = std::map<std::string, uint64_t>;

// "A (2), B (1)", the most frequent first.
std::string Listing(const Counts& counts) {
  std::vector<std::pair<std::string, uint64_t>> sorted(counts.begin(), counts.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  std::string text;
  for (size_t i = 0; i < sorted.size() && i < kNamesInMessage; ++i) {
    absl::StrAppend(&text, i == 0 ? "" : ", ", sorted[i].first, " (", sorted[i].second, ")");
  }
  if (sorted.size() > kNamesInMessage)
    absl::StrAppend(&text, " and ", sorted.size() - kNamesInMessage, " more");
  return text;
}

uint64_t Total(const Counts& counts) {
  uint64_t total = 0;
  for (const auto& [name, count] : counts) total += count;
  return total;
}

Counts CountsByText(const StaticTable& table) {
  Counts counts;
  for (uint32_t id = 0; id < table.insts().size(); ++id)
    counts[table.insts()[id].opcode] += table.use(id).count;
  return counts;
}

Fault UnknownFault(const KernelInfo& kernel, const StaticTable& table,
                   const std::vector<UnknownOpcode>& unknown) {
  const Counts by_text = CountsByText(table);
  std::vector<std::string> opcodes;
  std::vector<std::string> counts;
  std::vector<std::string> lines;
  std::vector<std::string> pcs;
  std::vector<std::string> described;
  for (const UnknownOpcode& opcode : unknown) {
    opcodes.push_back(opcode.opcode);
    counts.push_back(absl::StrCat(by_text.at(opcode.opcode)));
    lines.push_back(absl::StrCat(table.use(opcode.static_id).first_line));
    pcs.push_back(FormatHex(table.insts()[opcode.static_id].pc));
    if (described.size() == kNamesInMessage) continue;
    described.push_back(absl::StrCat(opcode.opcode, " (", counts.back(), " times, first at line ",
                                     lines.back(), ", pc ", pcs.back(), ")"));
  }
  const size_t more = unknown.size() - described.size();
  Fault fault;
  fault.file = kernel.file;
  fault.line = table.use(unknown.front().static_id).first_line;
  fault.field = "opcode";
  fault.value = unknown.front().opcode;
  const bool foreign = kernel.binary_version != kNativeVersion;
  fault.expected = "opcodes of SM89 (unknown-as-nop counts others as NOP)";
  fault.message =
      absl::StrCat(foreign ? "opcodes without a counterpart on SM89: " : "unknown opcodes: ",
                   absl::StrJoin(described, ", "), more > 0 ? absl::StrCat(" and ", more, " more") : "");
  fault.facts = {{"opcodes", absl::StrJoin(opcodes, ",")},
                 {"counts", absl::StrJoin(counts, ",")},
                 {"lines", absl::StrJoin(lines, ",")},
                 {"pcs", absl::StrJoin(pcs, ",")}};
  return fault;
}

// Opcodes that are read as another one, with how often they were executed.
Counts MappedOpcodes(const KernelInfo& kernel, const StaticTable& table) {
  Counts mapped;
  for (uint32_t id = 0; id < table.insts().size(); ++id) {
    const std::string_view base = BaseMnemonic(table.insts()[id].opcode);
    const std::string_view counterpart = CounterpartOnSm89(base, kernel.binary_version);
    if (counterpart.empty() || counterpart == base) continue;
    mapped[absl::StrCat(Av(base), " as ", Av(counterpart))] += table.use(id).count;
  }
  return mapped;
}

// Real captures have lost all their addresses before: a kernel that reads address 0 is a bad capture.
void WarnZeroAddresses(KernelInfo& kernel, const DecodedKernel& decoded, const StaticTable& table,
                       IngestContext& context) {
  uint64_t first_line = 0;
  for (uint32_t id = 0; id < table.insts().size(); ++id) {
    const StaticUse& use = table.use(id);
    if (use.zero_address_uses == 0 || decoded.insts[id].space != MemSpace::kGlobal) continue;
    kernel.zero_address_accesses += use.zero_address_uses;
    if (first_line == 0 || use.first_zero_line < first_line) first_line = use.first_zero_line;
  }
  if (kernel.zero_address_accesses == 0) return;
  context.warnings().Add("zero_address",
                         absl::StrCat(kernel.file, ":", first_line, ": ", kernel.zero_address_accesses,
                                      " global accesses have an active lane at address 0 (a bad capture?)"));
}

}  // namespace

void MarkTally::AddForeign(const KernelInfo& kernel, const std::map<std::string, uint64_t>& mapped) {
  ++foreign_kernels_[kernel.binary_version];
  foreign_instructions_ += kernel.warp_instructions;
  for (const auto& [name, count] : mapped) mapped_[name] += count;
}

void MarkTally::AddNops(const std::map<std::string, uint64_t>& counts) {
  for (const auto& [name, count] : counts) nops_[name] += count;
}

void MarkTally::AddPartial(const KernelInfo& kernel) {
  ++partial_kernels_;
  if (partial_.size() < kPartialKernelsNamed) {
    partial_.push_back(
        absl::StrCat(kernel.file, " (", kernel.num_ctas, " of ", kernel.grid_ctas, " blocks)"));
  }
}

std::vector<TraceMark> MarkTally::Take() const {
  std::vector<TraceMark> marks;
  if (!foreign_kernels_.empty()) {
    uint64_t kernels = 0;
    std::vector<std::string> versions;
    for (const auto& [version, count] : foreign_kernels_) {
      kernels += count;
      versions.push_back(absl::StrCat(version));
    }
    marks.push_back(
        {"foreign_arch",
         absl::StrCat(kernels, " kernels of binary version ", absl::StrJoin(versions, ", "),
                      " were read as SM89 (", foreign_instructions_,
                      " warp instructions; other opcode: ", mapped_.empty() ? "none" : Listing(mapped_), ")"),
         kernels});
  }
  if (partial_kernels_ > 0) {
    const uint64_t more = partial_kernels_ - partial_.size();
    marks.push_back({"allow_partial",
                     absl::StrCat("the trace is incomplete: ", absl::StrJoin(partial_, ", "),
                                  more > 0 ? absl::StrCat(" and ", more, " more kernels") : ""),
                     partial_kernels_});
  }
  if (!nops_.empty()) {
    marks.push_back({"unknown_as_nop", absl::StrCat("unknown opcodes were counted as NOP: ", Listing(nops_)),
                     Total(nops_)});
  }
  return marks;
}

std::optional<Fault> CheckOpcodes(KernelInfo& kernel, const StaticTable& table, IngestContext& context,
                                  MarkTally& marks) {
  DecodeOptions options;
  options.binary_version = kernel.binary_version;
  options.unknown_as_nop = context.options().unknown_as_nop;
  const DecodedKernel decoded = DecodeKernel(table.insts(), options);
  if (!decoded.unknown.empty() && !context.options().unknown_as_nop) {
    return UnknownFault(kernel, table, decoded.unknown);
  }
  if (!decoded.unknown.empty()) {
    const Counts by_text = CountsByText(table);
    Counts nops;
    for (const UnknownOpcode& opcode : decoded.unknown) nops[opcode.opcode] = by_text.at(opcode.opcode);
    marks.AddNops(nops);
  }
  if (kernel.binary_version != kNativeVersion) marks.AddForeign(kernel, MappedOpcodes(kernel, table));
  WarnZeroAddresses(kernel, decoded, table, context);
  return std::nullopt;
}

}  // namespace sm89
