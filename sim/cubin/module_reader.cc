#include "sim/cubin/module_reader.h"

#include <algorithm>
#include <array>

#include "absl/strings/str_cat.h"

namespace sm89::cubin {
namespace {

// Numbers below were read off files of the toolkits named.
constexpr uint8_t kSymbolIsKernel = 0x10;
constexpr uint32_t kSymbolIndexMask = 0xffffff;  // a code section's info: register count << 24 | symbol
constexpr uint32_t kRegisterShift = 24;
constexpr uint32_t kBarrierShift = 20;  // of a code section's flags, 7 bits, CUDA 11 and 12
constexpr uint32_t kInstructionBytes = 16;
constexpr uint32_t kParamBaseSm8x = 0x160;  // of kernels without parameters, too; others say it themselves
constexpr uint32_t kParamBaseSm90 = 0x210;
constexpr std::array<uint32_t, 5> kArchs = {80, 86, 87, 89, 90};
constexpr std::string_view kTextPrefix = ".text.";

}  // namespace

absl::StatusOr<Module> ModuleReader::Read() {
  const auto steps = {
      &ModuleReader::ReadIdentity,  &ModuleReader::ReadFunctions, &ModuleReader::ReadCodeSymbols,
      &ModuleReader::ReadShared,    &ModuleReader::ReadConstants, &ModuleReader::ReadGlobals,
      &ModuleReader::ReadVariables, &ModuleReader::ReadInfo,      &ModuleReader::ReadRelocations,
      &ModuleReader::ReadLines,     &ModuleReader::ReadPtxText};
  for (const auto step : steps) {
    const absl::Status status = (this->*step)();
    if (!status.ok()) return status;
  }
  return std::move(module_);
}

absl::Status ModuleReader::Charge(uint64_t bytes, uint64_t file_offset) {
  // Twice the image: what is in the file comes once; the rest are zeros and banks that functions share.
  const uint64_t bound = limits_.image_bytes * 2;
  if (bytes > bound - charged_bytes_) {
    return TooMuch(elf_.name(), file_offset, "the module needs too much memory",
                   absl::StrCat(charged_bytes_, " + ", bytes, " bytes"), absl::StrCat("at most ", bound));
  }
  charged_bytes_ += bytes;
  return absl::OkStatus();
}

absl::Status ModuleReader::ReadIdentity() {
  const uint64_t base = elf_.base();
  if (elf_.machine() != kElfMachineCuda) {
    return BadBytes(elf_.name(), base + 18, "not a cubin: the ELF file is for another machine",
                    absl::StrCat("machine ", elf_.machine()), absl::StrCat("machine ", kElfMachineCuda));
  }
  if (elf_.os_abi() == kOsAbiCuda13) {
    module_.arch = (elf_.flags() >> 8) & 0xff;
  } else if (elf_.os_abi() == kOsAbiCuda12) {
    module_.arch = elf_.flags() & 0xff;
    module_.toolkit = absl::StrCat(elf_.version() / 10, ".", elf_.version() % 10);
  } else {
    return BadBytes(elf_.name(), base + 7, "a cubin of an unknown ABI",
                    absl::StrCat("OSABI ", Hex(elf_.os_abi())), "0x33 (CUDA 11, 12) or 0x41 (CUDA 13)");
  }
  if (std::find(kArchs.begin(), kArchs.end(), module_.arch) == kArchs.end()) {
    return BadBytes(elf_.name(), base + 48, "code for an architecture that is not read",
                    absl::StrCat("sm_", module_.arch), "sm_80, sm_86, sm_87, sm_89 or sm_90");
  }
  if (elf_.type() != kElfTypeRelocatable && elf_.type() != kElfTypeExecutable) {
    return BadBytes(elf_.name(), base + 16, "an ELF type that no cubin has", absl::StrCat(elf_.type()),
                    "1 (relocatable) or 2 (executable)");
  }
  module_.name = elf_.name();
  module_.abi_version = elf_.abi_version();
  module_.relocatable = elf_.type() == kElfTypeRelocatable;
  return elf_.ReadSymbols();
}

uint32_t ModuleReader::MainSymbol(uint32_t section, const std::vector<uint32_t>& candidates) const {
  const ElfSection& text = elf_.sections()[section];
  for (const uint32_t symbol : candidates) {
    if (symbol == (text.info & kSymbolIndexMask)) return symbol;
  }
  const std::string_view name = text.name.substr(kTextPrefix.size());
  for (const uint32_t symbol : candidates) {
    if (elf_.SymbolName(symbol) == name) return symbol;
  }
  return 0;
}

absl::Status ModuleReader::ReadFunctions() {
  const auto& sections = elf_.sections();
  const auto& symbols = elf_.symbols();
  function_of_section_.assign(sections.size(), kNoFunction);
  std::vector<std::vector<uint32_t>> candidates(sections.size());
  for (uint32_t i = 0; i < symbols.size(); ++i) {
    const bool is_function = symbols[i].type == kSymbolFunction && symbols[i].section < sections.size();
    if (is_function && symbols[i].section != 0) candidates[symbols[i].section].push_back(i);
  }
  std::vector<std::pair<uint32_t, uint32_t>> found;  // main symbol, section
  for (uint32_t i = 0; i < sections.size(); ++i) {
    if (!sections[i].name.starts_with(kTextPrefix)) continue;
    found.emplace_back(MainSymbol(i, candidates[i]), i);
  }
  if (found.size() > kFunctionsMax) {
    return TooMuch(elf_.name(), elf_.base(), "too many functions", absl::StrCat(found.size()),
                   absl::StrCat("at most ", kFunctionsMax));
  }
  std::sort(found.begin(), found.end());
  for (const auto& [symbol, section] : found) {
    const absl::Status status = AddFunction(section, symbol);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status ModuleReader::AddFunction(uint32_t section, uint32_t symbol) {
  const ElfSection& text = elf_.sections()[section];
  const ByteView code = elf_.Contents(text);
  if (code.size() != text.size_bytes || code.size() % kInstructionBytes != 0) {
    return BadBytes(
        elf_.name(), HeaderOffset(text),
        absl::StrCat("code section ", Quoted(text.name), " is not a whole number of instructions"),
        absl::StrCat(text.size_bytes, " bytes"), "a multiple of 16, in the file");
  }
  const absl::Status status = Charge(code.size(), code.base());
  if (!status.ok()) return status;
  Function function;
  function.name = std::string(text.name.substr(kTextPrefix.size()));
  if (symbol != 0) {
    function.name = NameOf(symbol);
    function.is_kernel = (elf_.symbols()[symbol].other & kSymbolIsKernel) != 0;
    if (function.is_kernel) function.param_base = module_.arch >= 90 ? kParamBaseSm90 : kParamBaseSm8x;
  }
  function.code.assign(code.bytes().begin(), code.bytes().end());
  function.registers = text.info >> kRegisterShift;
  function.num_barriers = static_cast<uint32_t>(text.flags >> kBarrierShift) & 0x7f;
  function_of_section_[section] = static_cast<uint32_t>(module_.functions.size());
  function_by_name_.emplace(function.name, function_of_section_[section]);
  module_.functions.push_back(std::move(function));
  main_symbols_.push_back(symbol);
  return absl::OkStatus();
}

absl::Status ModuleReader::ReadCodeSymbols() {
  const auto& symbols = elf_.symbols();
  for (uint32_t i = 0; i < symbols.size(); ++i) {
    const ElfSymbol& symbol = symbols[i];
    if (symbol.type != kSymbolFunction || symbol.section >= function_of_section_.size()) continue;
    const uint32_t index = function_of_section_[symbol.section];
    if (index == kNoFunction || main_symbols_[index] == i) continue;
    Function& function = module_.functions[index];
    const uint64_t code_bytes = function.code.size();
    const std::string name = NameOf(i);
    if (symbol.value > code_bytes || symbol.size_bytes > code_bytes - symbol.value) {
      return BadBytes(elf_.name(), HeaderOffset(elf_.sections()[symbol.section]),
                      absl::StrCat("function symbol ", i, " ", Quoted(name), " is not inside its code"),
                      absl::StrCat(symbol.size_bytes, " bytes at ", Hex(symbol.value)),
                      absl::StrCat("an end at or before ", Hex(code_bytes)));
    }
    const absl::Status status = Charge(name.size(), elf_.base());
    if (!status.ok()) return status;
    function.symbols.push_back({name, symbol.value, symbol.size_bytes});
  }
  for (Function& function : module_.functions) {
    std::stable_sort(function.symbols.begin(), function.symbols.end(),
                     [](const CodeSymbol& a, const CodeSymbol& b) { return a.offset < b.offset; });
  }
  return absl::OkStatus();
}

uint32_t ModuleReader::OwnerOf(const ElfSection& section, std::string_view function) const {
  if (section.info < function_of_section_.size() && function_of_section_[section.info] != kNoFunction) {
    return function_of_section_[section.info];
  }
  const auto found = function_by_name_.find(function);
  return found == function_by_name_.end() ? kNoFunction : found->second;
}

absl::Status ModuleReader::ReadPtxText() {
  for (const ElfSection& section : elf_.sections()) {
    if (section.name != ".nv_debug_ptx_txt") continue;
    const ByteView text = elf_.Contents(section);
    const absl::Status status = Charge(text.size(), text.base());
    if (!status.ok()) return status;
    // Lines end in a zero byte there.
    module_.ptx.assign(text.bytes());
    std::replace(module_.ptx.begin(), module_.ptx.end(), '\0', '\n');
  }
  return absl::OkStatus();
}

absl::StatusOr<Module> ParseCubin(std::string_view bytes, const std::string& name, const ReadLimits& limits) {
  if (bytes.size() > limits.image_bytes) {
    return TooMuch(name, 0, "the cubin is too large", absl::StrCat(bytes.size(), " bytes"),
                   absl::StrCat("at most ", limits.image_bytes));
  }
  absl::StatusOr<ElfFile> elf = ElfFile::Open(bytes, name);
  if (!elf.ok()) return elf.status();
  return ModuleReader(*std::move(elf), limits).Read();
}

}  // namespace sm89::cubin
