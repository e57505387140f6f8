#include "sim/api/profile_notes.h"

#include <algorithm>
#include <map>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "sim/analysis/cfg.h"
#include "sim/analysis/code.h"
#include "sim/analysis/liveness.h"
#include "sim/analysis/ptx_map.h"
#include "sim/analysis/ptx_source.h"
#include "sim/isa/encoded_operands.h"
#include "sim/sass/decode.h"

namespace sm89 {
namespace {

// By instruction of the function; empty where the cubin has no PTX of its own or names no PTX lines.
std::vector<std::string> PtxTexts(const analysis::Code& code, const GpuConfig& config) {
  std::vector<std::string> texts;
  if (code.module->ptx.empty() || code.function->ptx_lines.empty()) return texts;
  const auto source = analysis::ParsePtx(code.module->ptx, code.module->name);
  if (!source.ok()) return texts;
  const auto map = analysis::MapPtx(code, *source, config);
  if (!map.ok() || map->mapping != analysis::PtxMapping::kPtxLines) return texts;
  texts.resize(code.insts.size());
  for (const analysis::PtxRow& row : map->rows) {
    const std::string text = absl::StrJoin(
        row.ptx, "; ", [](std::string* out, const auto& inst) { absl::StrAppend(out, inst.text); });
    for (const uint32_t index : row.sass) texts[index] = text;
  }
  return texts;
}

// Source files by their number in the module, as the report counts them.
class Files {
 public:
  explicit Files(std::vector<std::string>* names) : names_(names) {}

  uint32_t NumberOf(const analysis::Code& code, uint32_t file) {
    const auto known = numbers_.find(file);
    if (known != numbers_.end()) return known->second;
    const std::string name(code.FileName(file));
    if (name.empty()) return 0;
    names_->push_back(name);
    return numbers_[file] = static_cast<uint32_t>(names_->size());
  }

 private:
  std::vector<std::string>* names_;
  std::map<uint32_t, uint32_t> numbers_;
};

void AddCubinNotes(const analysis::Code& code, const GpuConfig& config, KernelReport* kernel) {
  const analysis::Cfg cfg = analysis::BuildCfg(code);
  const analysis::Liveness live = analysis::ComputeLiveness(code, cfg);
  const std::vector<std::string> ptx = PtxTexts(code, config);
  Files files(&kernel->source_files);
  for (PcReport& inst : kernel->per_pc) {
    const size_t index = inst.pc / analysis::kInstBytes;
    if (index >= code.insts.size()) continue;
    const cubin::SourceLine line = code.LineOf(index);
    if (line.line != 0) {
      inst.source_line = line.line;
      inst.note.file = files.NumberOf(code, line.file);
    }
    if (index < live.counts.size())
      inst.note.live_registers = static_cast<int32_t>(live.counts[index].general);
    if (index < ptx.size()) inst.note.ptx = ptx[index];
  }
}

}  // namespace

void AddProfileNotes(std::span<const StaticInst> code, const CodeOrigin& origin, const GpuConfig& config,
                     KernelReport* kernel) {
  std::map<uint32_t, const StaticInst*> by_pc;
  for (const StaticInst& inst : code) {
    if (inst.has_encoding) by_pc.emplace(inst.pc, &inst);
  }
  for (PcReport& row : kernel->per_pc) {
    const auto found = by_pc.find(row.pc);
    if (found == by_pc.end()) continue;
    const auto inst = DecodeEncoding(*found->second, kernel->info.binary_version);
    if (inst.ok()) row.note.sass = sass::Print(*inst, {.pc = row.pc});
  }
  const cubin::Function* function = origin.module == nullptr ? nullptr : origin.module->Find(origin.function);
  if (function == nullptr) return;
  const auto decoded = analysis::DecodeFunction(*origin.module, *function);
  if (decoded.ok()) AddCubinNotes(*decoded, config, kernel);
}

}  // namespace sm89
