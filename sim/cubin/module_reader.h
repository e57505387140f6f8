// Builds a Module from a cubin's sections. Internal to this folder.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "sim/cubin/debug_line.h"
#include "sim/cubin/elf.h"
#include "sim/cubin/module.h"
#include "sim/cubin/reader.h"

namespace sm89::cubin {

// Bounds that no file of the toolkits came near; above them a fault names the bound.
inline constexpr uint64_t kFunctionsMax = 65'536;
inline constexpr uint64_t kRelocationsMax = 4'000'000;  // of one module, all sections together
inline constexpr uint64_t kFilesMax = 65'536;           // source files of the line tables
inline constexpr uint64_t kSharedBytesMax = 1 << 20;    // of a CTA; sm_90 has 227 KiB

// A section holds a function's code: its index, and the function's in Module::functions.
inline constexpr uint32_t kNoFunction = ~uint32_t{0};

class ModuleReader {
 public:
  ModuleReader(ElfFile elf, const ReadLimits& limits) : elf_(std::move(elf)), limits_(limits) {}

  absl::StatusOr<Module> Read();

 private:
  // module_reader.cc
  absl::Status ReadIdentity();
  absl::Status ReadFunctions();
  absl::Status AddFunction(uint32_t section, uint32_t symbol);
  uint32_t MainSymbol(uint32_t section, const std::vector<uint32_t>& candidates) const;
  absl::Status ReadCodeSymbols();
  absl::Status ReadPtxText();
  // Takes `bytes` of the memory that a module may have in all.
  absl::Status Charge(uint64_t bytes, uint64_t file_offset);
  uint64_t HeaderOffset(const ElfSection& section) const { return elf_.base() + section.file_offset; }
  // The function that a section `.nv.KIND.F` belongs to: by the section it refers to, else by the name F.
  uint32_t OwnerOf(const ElfSection& section, std::string_view function) const;
  std::string NameOf(uint32_t symbol) const { return std::string(elf_.SymbolName(symbol)); }

  // read_info.cc
  absl::Status ReadInfo();
  absl::Status ReadInfoSection(const ElfSection& section, Function* owner);
  absl::Status ApplyModuleRecord(uint8_t attribute, ByteView payload);
  absl::Status ApplyRecord(Function& function, uint8_t attribute, uint16_t value, ByteView payload);
  absl::Status ReadIndirectBranches(Function& function, ByteView payload);

  // read_data.cc
  absl::Status ReadShared();
  absl::Status ReadConstants();
  absl::Status SetBank(const ElfSection& section, std::vector<uint8_t>& bank);
  absl::Status ReadGlobals();
  absl::Status ReadVariables();
  absl::Status ReadRelocations();
  absl::Status ReadRelocationSection(const ElfSection& section);
  absl::StatusOr<std::vector<Relocation>> ConvertRelocations(const ElfSection& section,
                                                             const ElfSection& patched, uint64_t rebase);
  void Resolve(uint32_t symbol, Relocation& out) const;

  // read_lines.cc
  absl::Status ReadLines();
  absl::StatusOr<std::map<uint64_t, LineAddress>> LineAddresses(uint32_t section);

  ElfFile elf_;
  const ReadLimits limits_;
  Module module_;
  std::vector<uint32_t> function_of_section_;  // by section index; kNoFunction elsewhere
  std::vector<uint32_t> main_symbols_;         // by function
  std::map<std::string, uint32_t, std::less<>> function_by_name_;
  std::vector<uint64_t> global_offset_;  // by section index: place of .nv.global* in Module::globals
  uint64_t charged_bytes_ = 0;
  uint64_t relocations_ = 0;
};

// Bank of a ".nv.constantN" or ".nv.constantN.F" name and its F; -1 for other names.
int ConstantBank(std::string_view section_name, std::string_view* function);

}  // namespace sm89::cubin
