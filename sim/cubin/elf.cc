#include "sim/cubin/elf.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace sm89::cubin {
namespace {

constexpr uint64_t kHeaderBytes = 64;
constexpr uint64_t kSectionEntryBytes = 64;
constexpr uint64_t kSymbolEntryBytes = 24;
constexpr uint32_t kIndexFollows = 0xffff;  // e_shstrndx: the index is in section 0

// The name at `offset` of a string table; empty when there is none.
std::string_view NameAt(ByteView table, uint64_t offset) {
  table.Seek(offset);
  return table.CString(kNameBytesMax);
}

}  // namespace

bool ElfFile::LooksLikeElf(std::string_view bytes) {
  return bytes.substr(0, 4) ==
         "\x7f"
         "ELF";
}

absl::StatusOr<ElfFile> ElfFile::Open(std::string_view bytes, const std::string& name, uint64_t base) {
  ElfFile elf;
  elf.file_ = ByteView(bytes, base);
  elf.name_ = name;
  const absl::Status status = elf.ReadHeader();
  if (!status.ok()) return status;
  return elf;
}

absl::Status ElfFile::ReadHeader() {
  const uint64_t base = file_.base();
  if (!LooksLikeElf(file_.bytes())) return BadBytes(name_, base, "not an ELF file: no ELF magic");
  if (file_.size() < kHeaderBytes) {
    return BadBytes(name_, base, "the ELF header is cut off", absl::StrCat(file_.size(), " bytes"),
                    "64 bytes");
  }
  ByteView in = file_;
  in.Seek(4);
  const uint8_t word_size = in.U8();
  const uint8_t byte_order = in.U8();
  if (word_size != 2 || byte_order != 1) {
    return BadBytes(name_, base + 4, "only 64-bit little-endian ELF files are read",
                    absl::StrCat("class ", word_size, ", data ", byte_order), "class 2, data 1");
  }
  in.Skip(1);
  os_abi_ = in.U8();
  abi_version_ = in.U8();
  in.Seek(16);
  type_ = in.U16();
  machine_ = in.U16();
  version_ = in.U32();
  in.Skip(16);  // entry point, program headers
  const uint64_t table_offset = in.U64();
  flags_ = in.U32();
  in.Seek(58);
  const uint16_t entry_bytes = in.U16();
  uint64_t count = in.U16();
  uint64_t names_index = in.U16();
  if (table_offset == 0) return absl::OkStatus();  // no sections
  if (entry_bytes != kSectionEntryBytes) {
    return BadBytes(name_, base + 58, "section headers have an unknown size", absl::StrCat(entry_bytes),
                    "64");
  }
  if (!file_.Has(table_offset, kSectionEntryBytes)) {
    return BadBytes(name_, base + 40, "the section table is outside the file", Hex(table_offset),
                    absl::StrCat("at most ", Hex(file_.size())));
  }
  ByteView first = file_.Part(table_offset, kSectionEntryBytes);
  first.Seek(32);
  const uint64_t long_count = first.U64();
  const uint32_t long_names_index = first.U32();
  if (count == 0) count = long_count;
  if (names_index == kIndexFollows) names_index = long_names_index;
  return ReadSections(table_offset, count, names_index);
}

absl::Status ElfFile::ReadSections(uint64_t table_offset, uint64_t count, uint64_t names_index) {
  const uint64_t base = file_.base();
  if (count > kSectionsMax) {
    return TooMuch(name_, base + 60, "too many sections", absl::StrCat(count),
                   absl::StrCat("at most ", kSectionsMax));
  }
  if (!file_.Has(table_offset, count * kSectionEntryBytes)) {
    return BadBytes(name_, base + 40, "the section table reaches past the end of the file",
                    absl::StrCat(count, " sections at ", Hex(table_offset)),
                    absl::StrCat("an end at or before ", Hex(file_.size())));
  }
  ByteView in = file_.Part(table_offset, count * kSectionEntryBytes);
  std::vector<uint32_t> name_offsets;
  sections_.reserve(count);
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t at = in.FileOffset();
    ElfSection section;
    name_offsets.push_back(in.U32());
    section.type = in.U32();
    section.flags = in.U64();
    in.Skip(8);  // address
    section.file_offset = in.U64();
    section.size_bytes = in.U64();
    section.link = in.U32();
    section.info = in.U32();
    section.align = in.U64();
    section.entry_bytes = in.U64();
    const bool has_bytes = section.type != 0 && section.type != kSectionNoBits;
    if (has_bytes && !file_.Has(section.file_offset, section.size_bytes)) {
      return BadBytes(name_, at, absl::StrCat("section ", i, " reaches past the end of the file"),
                      absl::StrCat(section.size_bytes, " bytes at ", Hex(section.file_offset)),
                      absl::StrCat("an end at or before ", Hex(file_.size())));
    }
    sections_.push_back(section);
  }
  if (count == 0) return absl::OkStatus();
  if (names_index >= count) {
    return BadBytes(name_, base + 62, "the section that holds section names does not exist",
                    absl::StrCat(names_index), absl::StrCat("below ", count));
  }
  const ByteView names = Contents(sections_[names_index]);
  for (uint64_t i = 0; i < count; ++i) sections_[i].name = NameAt(names, name_offsets[i]);
  return absl::OkStatus();
}

ByteView ElfFile::Contents(const ElfSection& section) const {
  if (section.type == 0 || section.type == kSectionNoBits) return ByteView({}, base() + section.file_offset);
  return file_.Part(section.file_offset, section.size_bytes);
}

absl::Status ElfFile::ReadSymbols() {
  const ElfSection* table = nullptr;
  for (const ElfSection& section : sections_) {
    if (section.type == kSectionSymbols) table = &section;
  }
  if (table == nullptr) return absl::OkStatus();
  const uint64_t at = base() + table->file_offset;
  const uint64_t count = table->size_bytes / kSymbolEntryBytes;
  if (table->entry_bytes != kSymbolEntryBytes || table->size_bytes % kSymbolEntryBytes != 0) {
    return BadBytes(name_, at, "the symbol table has entries of an unknown size",
                    absl::StrCat(table->entry_bytes, " of ", table->size_bytes), "24");
  }
  if (count > kSymbolsMax) {
    return TooMuch(name_, at, "too many symbols", absl::StrCat(count), absl::StrCat("at most ", kSymbolsMax));
  }
  if (table->link >= sections_.size()) {
    return BadBytes(name_, at, "the symbol table names a string table that does not exist",
                    absl::StrCat(table->link), absl::StrCat("below ", sections_.size()));
  }
  symbol_names_ = Contents(sections_[table->link]);
  ByteView in = Contents(*table);
  symbols_.reserve(count);
  for (uint64_t i = 0; i < count; ++i) {
    ElfSymbol symbol;
    symbol.name_offset = in.U32();
    symbol.type = in.U8() & 0xf;
    symbol.other = in.U8();
    symbol.section = in.U16();
    symbol.value = in.U64();
    symbol.size_bytes = in.U64();
    symbols_.push_back(symbol);
  }
  return absl::OkStatus();
}

std::string_view ElfFile::SymbolName(uint32_t index) const {
  if (index >= symbols_.size()) return {};
  const ElfSymbol& symbol = symbols_[index];
  if (symbol.type == kSymbolSection && symbol.section < sections_.size())
    return sections_[symbol.section].name;
  return NameAt(symbol_names_, symbol.name_offset);
}

absl::StatusOr<std::vector<ElfRelocation>> ElfFile::Relocations(const ElfSection& section) const {
  const bool has_addend = section.type == kSectionRela;
  const uint64_t entry_bytes = has_addend ? 24 : 16;
  ByteView in = Contents(section);
  if (section.size_bytes % entry_bytes != 0) {
    return BadBytes(name_, in.base(),
                    absl::StrCat("section ", Quoted(section.name), " is not a whole number of relocations"),
                    absl::StrCat(section.size_bytes, " bytes"), absl::StrCat("a multiple of ", entry_bytes));
  }
  std::vector<ElfRelocation> out;
  out.reserve(section.size_bytes / entry_bytes);
  while (!in.AtEnd()) {
    const uint64_t at = in.FileOffset();
    ElfRelocation relocation;
    relocation.offset = in.U64();
    relocation.type = in.U32();
    relocation.symbol = in.U32();
    relocation.has_addend = has_addend;
    if (has_addend) relocation.addend = static_cast<int64_t>(in.U64());
    if (relocation.symbol >= symbols_.size()) {
      return BadBytes(name_, at, "a relocation names a symbol that does not exist",
                      absl::StrCat(relocation.symbol), absl::StrCat("below ", symbols_.size()));
    }
    out.push_back(relocation);
  }
  return out;
}

}  // namespace sm89::cubin
