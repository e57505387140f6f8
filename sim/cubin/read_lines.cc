// Line tables: which of a cubin's sections hold them, and what their addresses mean.
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "sim/cubin/debug_line.h"
#include "sim/cubin/module_reader.h"

namespace sm89::cubin {

absl::StatusOr<std::map<uint64_t, LineAddress>> ModuleReader::LineAddresses(uint32_t section) {
  std::map<uint64_t, LineAddress> addresses;
  for (const ElfSection& candidate : elf_.sections()) {
    const bool is_relocation = candidate.type == kSectionRel || candidate.type == kSectionRela;
    if (!is_relocation || candidate.info != section) continue;
    const auto relocations = elf_.Relocations(candidate);
    if (!relocations.ok()) return relocations.status();
    for (const ElfRelocation& relocation : *relocations) {
      if (++relocations_ > kRelocationsMax) {
        return TooMuch(elf_.name(), HeaderOffset(candidate), "too many relocations",
                       absl::StrCat(relocations_), absl::StrCat("at most ", kRelocationsMax));
      }
      const ElfSymbol& symbol = elf_.symbols()[relocation.symbol];
      if (symbol.section >= function_of_section_.size()) continue;
      const uint32_t function = function_of_section_[symbol.section];
      if (function == kNoFunction) continue;
      ByteView in_place = elf_.Contents(elf_.sections()[section]).Part(relocation.offset, 8);
      const uint64_t addend =
          relocation.has_addend ? static_cast<uint64_t>(relocation.addend) : in_place.U64();
      addresses[relocation.offset] = {function, symbol.value + addend};
    }
  }
  return addresses;
}

absl::Status ModuleReader::ReadLines() {
  const auto& sections = elf_.sections();
  std::vector<uint64_t> instructions;
  for (const Function& function : module_.functions) instructions.push_back(function.num_instructions());
  ByteView strings;
  ByteView line_strings;
  for (const ElfSection& section : sections) {
    if (section.name == ".debug_str") strings = elf_.Contents(section);
    if (section.name == ".debug_line_str") line_strings = elf_.Contents(section);
  }
  for (uint32_t i = 0; i < sections.size(); ++i) {
    const bool is_source = sections[i].name == ".debug_line";
    if (!is_source && sections[i].name != ".nv_debug_line_sass") continue;
    const auto addresses = LineAddresses(i);
    if (!addresses.ok()) return addresses.status();
    LineReader reader(elf_.name(), *addresses, instructions);
    reader.set_strings(strings, line_strings);
    absl::Status status = reader.Read(elf_.Contents(sections[i]));
    if (!status.ok()) return status;
    if (is_source && reader.files().empty()) continue;
    uint64_t described = 0;
    for (size_t f = 0; f < module_.functions.size(); ++f) {
      described += reader.lines()[f].size();
      (is_source ? module_.functions[f].lines : module_.functions[f].ptx_lines) =
          std::move(reader.lines()[f]);
    }
    status = Charge(described * sizeof(SourceLine), HeaderOffset(sections[i]));
    if (!status.ok()) return status;
    if (is_source) module_.files = std::move(reader.files());
  }
  return absl::OkStatus();
}

}  // namespace sm89::cubin
