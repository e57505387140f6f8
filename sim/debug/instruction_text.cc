#include "sim/debug/instruction_text.h"

#include <algorithm>
#include <optional>
#include <span>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "sim/isa/encoded_operands.h"
#include "sim/isa/register_text.h"
#include "sim/report/text.h"
#include "sim/sass/decode.h"

namespace sm89::debug {
namespace {

std::string NamesOf(std::span<const RegRef> registers) {
  return absl::StrJoin(registers, ", ", [](std::string* out, const RegRef& reg) {
    absl::StrAppend(out, RegistersText({reg.file, reg.index, 1}));
  });
}

std::optional<RegFile> FileOf(sass::OperandKind kind) {
  switch (kind) {
    case sass::OperandKind::kReg:
      return RegFile::kGeneral;
    case sass::OperandKind::kUReg:
      return RegFile::kUniform;
    case sass::OperandKind::kPred:
      return RegFile::kPredicate;
    case sass::OperandKind::kUPred:
      return RegFile::kUniformPredicate;
    default:
      return std::nullopt;
  }
}

}  // namespace

std::string InstructionText(const StaticInst& inst, uint32_t binary_version) {
  if (inst.has_encoding) {
    const auto decoded = DecodeEncoding(inst, binary_version);
    if (decoded.ok()) return sass::Print(*decoded, {.pc = inst.pc});
  }
  std::string text = Printable(inst.opcode);
  const std::string dests = NamesOf(std::span(inst.dests).first(inst.num_dests));
  const std::string sources = NamesOf(std::span(inst.sources).first(inst.num_sources));
  if (!dests.empty()) absl::StrAppend(&text, " ", dests);
  if (!sources.empty()) absl::StrAppend(&text, " <- ", sources);
  return text;
}

std::vector<RegRange> RegistersNamedBy(const StaticInst& inst, uint32_t binary_version) {
  std::vector<RegRange> ranges;
  if (!inst.has_encoding) return ranges;
  const auto decoded = DecodeEncoding(inst, binary_version);
  if (!decoded.ok()) return ranges;
  const auto add = [&](RegFile file, uint32_t index, uint32_t count) {
    const bool known = std::any_of(ranges.begin(), ranges.end(), [&](const RegRange& r) {
      return r.file == file && r.first <= index && r.first + r.count >= index + count;
    });
    if (!known) ranges.push_back({file, static_cast<uint8_t>(index), static_cast<uint8_t>(count)});
  };
  if (decoded->guard != 7) {
    add(decoded->guard_uniform ? RegFile::kUniformPredicate : RegFile::kPredicate, decoded->guard, 1);
  }
  for (const sass::Operand& operand : std::span(decoded->operands).first(decoded->num_operands)) {
    const std::optional<RegFile> file = FileOf(operand.kind);
    if (file.has_value() && !operand.IsZeroReg())
      add(*file, operand.index, std::max<uint32_t>(operand.regs, 1));
  }
  return ranges;
}

}  // namespace sm89::debug
