// Memory that a module brings along: shared sizes, constant banks, globals, variables, relocations.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "sim/cubin/module_reader.h"

namespace sm89::cubin {
namespace {

constexpr std::string_view kSharedPrefix = ".nv.shared.";
constexpr std::string_view kReservedSharedPrefix = ".nv.shared.reserved.";
constexpr std::string_view kConstantPrefix = ".nv.constant";
constexpr int kModuleBank = 3;  // __constant__
constexpr uint64_t kAlignMax = 1 << 20;
// sm_90 keeps the first KiB of a CTA's shared memory for the system and counts it in the section's size;
// seen by comparing with the sizes that the driver reports (silicon/measured/h200_runs.json).
constexpr uint32_t kReservedSharedBytesSm90 = 1024;

}  // namespace

int ConstantBank(std::string_view section_name, std::string_view* function) {
  if (!section_name.starts_with(kConstantPrefix)) return -1;
  section_name.remove_prefix(kConstantPrefix.size());
  int bank = 0;
  size_t digits = 0;
  while (digits < section_name.size() && digits < 2 && section_name[digits] >= '0' &&
         section_name[digits] <= '9') {
    bank = bank * 10 + (section_name[digits] - '0');
    ++digits;
  }
  section_name.remove_prefix(digits);
  if (digits == 0 || (!section_name.empty() && section_name[0] != '.')) return -1;
  *function = section_name.empty() ? section_name : section_name.substr(1);
  return bank;
}

absl::Status ModuleReader::ReadShared() {
  const uint32_t reserved = module_.arch >= 90 ? kReservedSharedBytesSm90 : 0;
  for (Function& function : module_.functions) function.reserved_shared_bytes = reserved;
  for (const ElfSection& section : elf_.sections()) {
    if (!section.name.starts_with(kSharedPrefix) || section.name.starts_with(kReservedSharedPrefix)) continue;
    const uint32_t owner = OwnerOf(section, section.name.substr(kSharedPrefix.size()));
    if (owner == kNoFunction) continue;
    if (section.size_bytes > kSharedBytesMax) {
      return TooMuch(elf_.name(), HeaderOffset(section), absl::StrCat(Quoted(section.name), " is too large"),
                     absl::StrCat(section.size_bytes, " bytes"), absl::StrCat("at most ", kSharedBytesMax));
    }
    const uint32_t size = static_cast<uint32_t>(section.size_bytes);
    module_.functions[owner].static_shared_bytes = size - std::min(size, reserved);
  }
  return absl::OkStatus();
}

absl::Status ModuleReader::SetBank(const ElfSection& section, std::vector<uint8_t>& bank) {
  const ByteView contents = elf_.Contents(section);
  if (!bank.empty() || contents.size() != section.size_bytes) {
    return BadBytes(
        elf_.name(), HeaderOffset(section),
        absl::StrCat("constant bank ", Quoted(section.name), " is there twice or without its bytes"),
        absl::StrCat(contents.size(), " of ", section.size_bytes, " bytes"));
  }
  bank.assign(contents.bytes().begin(), contents.bytes().end());
  return Charge(contents.size(), contents.base());
}

absl::Status ModuleReader::ReadConstants() {
  for (const ElfSection& section : elf_.sections()) {
    std::string_view owner_name;
    const int bank = ConstantBank(section.name, &owner_name);
    if (bank < 0) continue;
    if (owner_name.empty() && bank == kModuleBank) {
      const absl::Status status = SetBank(section, module_.constant3);
      if (!status.ok()) return status;
      continue;
    }
    const uint32_t owner = owner_name.empty() ? kNoFunction : OwnerOf(section, owner_name);
    for (uint32_t i = 0; i < module_.functions.size(); ++i) {
      if (!owner_name.empty() && i != owner) continue;
      const absl::Status status =
          SetBank(section, module_.functions[i].constants[static_cast<uint32_t>(bank)]);
      if (!status.ok()) return status;
    }
  }
  return absl::OkStatus();
}

absl::Status ModuleReader::ReadGlobals() {
  const auto& sections = elf_.sections();
  global_offset_.assign(sections.size(), 0);
  for (const std::string_view wanted : {".nv.global.init", ".nv.global"}) {
    for (size_t i = 0; i < sections.size(); ++i) {
      if (sections[i].name != wanted) continue;
      const uint64_t align = std::max<uint64_t>(sections[i].align, 1);
      if (align > kAlignMax || (align & (align - 1)) != 0) {
        return BadBytes(elf_.name(), HeaderOffset(sections[i]),
                        absl::StrCat(Quoted(wanted), " has a bad alignment"), absl::StrCat(align),
                        absl::StrCat("a power of two, at most ", kAlignMax));
      }
      const uint64_t offset = (module_.globals.size() + align - 1) & ~(align - 1);
      const absl::Status status = Charge(offset - module_.globals.size(), HeaderOffset(sections[i]));
      if (!status.ok()) return status;
      const absl::Status of_section = Charge(sections[i].size_bytes, HeaderOffset(sections[i]));
      if (!of_section.ok()) return of_section;
      const auto bytes = elf_.Contents(sections[i]).bytes();
      module_.globals.resize(offset);
      module_.globals.insert(module_.globals.end(), bytes.begin(), bytes.end());
      module_.globals.resize(offset + sections[i].size_bytes);
      module_.globals_align = std::max(module_.globals_align, align);
      global_offset_[i] = offset;
    }
  }
  return absl::OkStatus();
}

absl::Status ModuleReader::ReadVariables() {
  const auto& symbols = elf_.symbols();
  const auto& sections = elf_.sections();
  for (uint32_t i = 0; i < symbols.size(); ++i) {
    const ElfSymbol& symbol = symbols[i];
    const bool is_object = symbol.type == kSymbolObject || symbol.type == kSymbolCudaObject;
    if (!is_object || symbol.section == 0 || symbol.section >= sections.size()) continue;
    const ElfSection& section = sections[symbol.section];
    const bool in_constant = section.name == ".nv.constant3";
    if (!in_constant && section.name != ".nv.global" && section.name != ".nv.global.init") continue;
    Variable variable;
    variable.name = NameOf(i);
    if (symbol.value > section.size_bytes || symbol.size_bytes > section.size_bytes - symbol.value) {
      return BadBytes(
          elf_.name(), HeaderOffset(section),
          absl::StrCat("variable ", Quoted(variable.name), " is not inside ", Quoted(section.name)),
          absl::StrCat(symbol.size_bytes, " bytes at ", Hex(symbol.value)),
          absl::StrCat("an end at or before ", Hex(section.size_bytes)));
    }
    variable.in_constant = in_constant;
    variable.offset = symbol.value + (in_constant ? 0 : global_offset_[symbol.section]);
    variable.size_bytes = symbol.size_bytes;
    const absl::Status status = Charge(variable.name.size(), elf_.base());
    if (!status.ok()) return status;
    module_.variables.push_back(std::move(variable));
  }
  return absl::OkStatus();
}

void ModuleReader::Resolve(uint32_t symbol, Relocation& out) const {
  const ElfSymbol& target = elf_.symbols()[symbol];
  out.target_offset = target.value;
  if (target.section == 0) return;
  out.place = SymbolPlace::kOther;
  if (target.section >= elf_.sections().size()) return;
  const std::string_view name = elf_.sections()[target.section].name;
  std::string_view owner;
  const int bank = ConstantBank(name, &owner);
  if (function_of_section_[target.section] != kNoFunction) {
    out.place = SymbolPlace::kFunction;
    out.target_index = function_of_section_[target.section];
  } else if (name == ".nv.global" || name == ".nv.global.init") {
    out.place = SymbolPlace::kGlobal;
    out.target_offset += global_offset_[target.section];
  } else if (bank >= 0) {
    out.place = SymbolPlace::kConstant;
    out.target_index = static_cast<uint32_t>(bank);
  } else if (name.starts_with(kSharedPrefix)) {
    out.place = SymbolPlace::kShared;
  }
}

absl::StatusOr<std::vector<Relocation>> ModuleReader::ConvertRelocations(const ElfSection& section,
                                                                         const ElfSection& patched,
                                                                         uint64_t rebase) {
  const auto entries = elf_.Relocations(section);
  if (!entries.ok()) return entries.status();
  std::vector<Relocation> out;
  for (const ElfRelocation& entry : *entries) {
    if (++relocations_ > kRelocationsMax) {
      return TooMuch(elf_.name(), HeaderOffset(section), "too many relocations", absl::StrCat(relocations_),
                     absl::StrCat("at most ", kRelocationsMax));
    }
    if (entry.offset >= patched.size_bytes) {
      return BadBytes(elf_.name(), HeaderOffset(section),
                      absl::StrCat("a relocation is not inside ", Quoted(patched.name)), Hex(entry.offset),
                      absl::StrCat("below ", Hex(patched.size_bytes)));
    }
    Relocation relocation;
    relocation.offset = entry.offset + rebase;
    relocation.type = entry.type;
    relocation.symbol = NameOf(entry.symbol);
    relocation.addend = entry.addend;
    const bool is_data = entry.type == kRelocAbs64 || entry.type == kRelocGeneric64;
    if (!entry.has_addend && is_data) {
      ByteView in_place = elf_.Contents(patched).Part(entry.offset, 8);
      relocation.addend = static_cast<int64_t>(in_place.U64());
    }
    Resolve(entry.symbol, relocation);
    const absl::Status status = Charge(sizeof(Relocation) + relocation.symbol.size(), HeaderOffset(section));
    if (!status.ok()) return status;
    out.push_back(std::move(relocation));
  }
  return out;
}

absl::Status ModuleReader::ReadRelocationSection(const ElfSection& section) {
  if (section.info >= elf_.sections().size()) {
    return BadBytes(elf_.name(), HeaderOffset(section),
                    absl::StrCat(Quoted(section.name), " is about a section that does not exist"),
                    absl::StrCat(section.info), absl::StrCat("below ", elf_.sections().size()));
  }
  const ElfSection& patched = elf_.sections()[section.info];
  const uint32_t function = function_of_section_[section.info];
  const bool is_global = patched.name == ".nv.global" || patched.name == ".nv.global.init";
  std::string_view owner_name;
  const int bank = ConstantBank(patched.name, &owner_name);
  if (function == kNoFunction && !is_global && bank < 0) return absl::OkStatus();
  const auto relocations = ConvertRelocations(section, patched, global_offset_[section.info]);
  if (!relocations.ok()) return relocations.status();
  if (relocations->empty()) return absl::OkStatus();
  const auto append = [&](std::vector<Relocation>& to) {
    to.insert(to.end(), relocations->begin(), relocations->end());
    return Charge(relocations->size() * sizeof(Relocation), HeaderOffset(section));
  };
  if (function != kNoFunction) return append(module_.functions[function].code_relocations);
  if (is_global) return append(module_.global_relocations);
  const uint32_t owner = owner_name.empty() ? kNoFunction : OwnerOf(patched, owner_name);
  for (uint32_t i = 0; i < module_.functions.size(); ++i) {
    if (owner_name.empty() || i == owner) {
      const absl::Status status =
          append(module_.functions[i].constant_relocations[static_cast<uint32_t>(bank)]);
      if (!status.ok()) return status;
    }
  }
  return absl::OkStatus();
}

absl::Status ModuleReader::ReadRelocations() {
  for (const ElfSection& section : elf_.sections()) {
    if (section.type != kSectionRel && section.type != kSectionRela) continue;
    const absl::Status status = ReadRelocationSection(section);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace sm89::cubin
