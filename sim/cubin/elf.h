// The parts of a 64-bit little-endian ELF file that a cubin or a host program needs: sections, symbols,
// relocations. Views into the file's bytes, which must outlive it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "sim/cubin/byte_view.h"

namespace sm89::cubin {

// ELF names (System V ABI); 190 is NVIDIA CUDA in the registry of machines.
inline constexpr uint16_t kElfMachineCuda = 190;
inline constexpr uint8_t kOsAbiCuda12 = 0x33;  // CUDA 11 and 12: architecture in bits 7:0 of the flags
inline constexpr uint8_t kOsAbiCuda13 = 0x41;  // CUDA 13: in bits 15:8
inline constexpr uint16_t kElfTypeRelocatable = 1;
inline constexpr uint16_t kElfTypeExecutable = 2;
inline constexpr uint32_t kSectionSymbols = 2;
inline constexpr uint32_t kSectionRela = 4;
inline constexpr uint32_t kSectionNoBits = 8;
inline constexpr uint32_t kSectionRel = 9;
inline constexpr uint8_t kSymbolObject = 1;
inline constexpr uint8_t kSymbolFunction = 2;
inline constexpr uint8_t kSymbolSection = 3;
inline constexpr uint8_t kSymbolCudaObject = 13;  // a variable of a relocatable cubin

// Longest name taken (mangled C++ names of 10 KB are met) and most sections and symbols of one file.
inline constexpr uint64_t kNameBytesMax = 65'535;
inline constexpr uint64_t kSectionsMax = 1'000'000;
inline constexpr uint64_t kSymbolsMax = 4'000'000;

struct ElfSection {
  std::string_view name;
  uint32_t type = 0;
  uint64_t flags = 0;
  uint64_t file_offset = 0;
  uint64_t size_bytes = 0;
  uint32_t link = 0;
  uint32_t info = 0;
  uint64_t align = 0;
  uint64_t entry_bytes = 0;
};

struct ElfSymbol {
  uint32_t name_offset = 0;
  uint8_t type = 0;
  uint8_t other = 0;
  uint32_t section = 0;  // 0 = undefined; special values above 0xff00 stay as they are
  uint64_t value = 0;
  uint64_t size_bytes = 0;
};

struct ElfRelocation {
  uint64_t offset = 0;
  uint32_t type = 0;
  uint32_t symbol = 0;
  bool has_addend = false;
  int64_t addend = 0;
};

class ElfFile {
 public:
  // True for an ELF file of machine `machine` in 64-bit little-endian form.
  static bool LooksLikeElf(std::string_view bytes);

  // Reads header and section table; symbols only with ReadSymbols.
  static absl::StatusOr<ElfFile> Open(std::string_view bytes, const std::string& name, uint64_t base = 0);

  const std::string& name() const { return name_; }
  uint8_t os_abi() const { return os_abi_; }
  uint8_t abi_version() const { return abi_version_; }
  uint16_t type() const { return type_; }
  uint16_t machine() const { return machine_; }
  uint32_t version() const { return version_; }
  uint32_t flags() const { return flags_; }
  uint64_t base() const { return file_.base(); }

  const std::vector<ElfSection>& sections() const { return sections_; }
  // Bytes of a section (none of a NOBITS one). Open checked that they are in the file.
  ByteView Contents(const ElfSection& section) const;

  absl::Status ReadSymbols();
  const std::vector<ElfSymbol>& symbols() const { return symbols_; }
  // A section symbol has its section's name. Empty when the table has no such name.
  std::string_view SymbolName(uint32_t index) const;

  // Entries of a REL or RELA section; every symbol index is inside the table (ReadSymbols came first).
  absl::StatusOr<std::vector<ElfRelocation>> Relocations(const ElfSection& section) const;

 private:
  absl::Status ReadHeader();
  absl::Status ReadSections(uint64_t table_offset, uint64_t count, uint64_t names_index);

  ByteView file_;
  std::string name_;
  uint8_t os_abi_ = 0;
  uint8_t abi_version_ = 0;
  uint16_t type_ = 0;
  uint16_t machine_ = 0;
  uint32_t version_ = 0;
  uint32_t flags_ = 0;
  std::vector<ElfSection> sections_;
  std::vector<ElfSymbol> symbols_;
  ByteView symbol_names_;
};

}  // namespace sm89::cubin
