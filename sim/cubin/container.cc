#include "sim/cubin/container.h"

#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "sim/cubin/elf.h"

namespace sm89::cubin {
namespace {

// Layout of a fat binary, read off what nvcc 13.0 writes with each --compress-mode:
//   container: u32 magic, u16 version, u16 header bytes, u64 bytes of the entries
//   entry:     u16 kind, u16 version, u32 header bytes, u64 payload bytes (padded to 8), u32 packed bytes,
//              u32 options' offset, u16 minor, u16 major, u32 architecture, u32 name's offset, u32 name's
//              length, u64 flags, u64 zero, u64 unpacked bytes (0: not packed)
constexpr uint32_t kFatbinMagic = 0xba55ed50;
constexpr uint64_t kFatbinHeaderBytes = 16;
constexpr uint64_t kEntryHeaderBytes = 64;
constexpr uint16_t kKindPtx = 1;
constexpr uint16_t kKindElf = 2;
constexpr uint64_t kFlagLz4 = 0x2000;
constexpr uint64_t kFlagZstd = 0x8000;
constexpr uint64_t kFatbinAlign = 8;

constexpr std::string_view kArchiveMagic = "!<arch>\n";
constexpr uint64_t kArchiveHeaderBytes = 60;

class EntryLister {
 public:
  EntryLister(const std::string& name, const ReadLimits& limits) : name_(name), limits_(limits) {}

  absl::Status File(ByteView bytes, bool in_archive);
  std::vector<Entry> Take() { return std::move(entries_); }

 private:
  absl::Status Elf(ByteView bytes);
  absl::Status Archive(ByteView bytes);
  absl::Status Fatbins(ByteView bytes);
  absl::Status Fatbin(ByteView entries);
  absl::Status FatbinEntry(ByteView& in);
  absl::Status Add(Entry entry);

  const std::string& name_;
  const ReadLimits& limits_;
  std::vector<Entry> entries_;
};

uint32_t MagicOf(ByteView bytes) { return bytes.U32(); }

absl::Status EntryLister::Add(Entry entry) {
  if (entries_.size() >= limits_.images) {
    return TooMuch(name_, entry.payload.base(), "too many images", absl::StrCat(entries_.size() + 1),
                   absl::StrCat("at most ", limits_.images));
  }
  entries_.push_back(std::move(entry));
  return absl::OkStatus();
}

absl::Status EntryLister::File(ByteView bytes, bool in_archive) {
  if (ElfFile::LooksLikeElf(bytes.bytes())) return Elf(bytes);
  if (MagicOf(bytes) == kFatbinMagic) return Fatbins(bytes);
  if (in_archive) return absl::OkStatus();  // tables of symbols and names
  if (bytes.bytes().starts_with(kArchiveMagic)) return Archive(bytes);
  return BadBytes(name_, bytes.base(), "not a cubin, a fat binary, or a host program or library", "",
                  "ELF, fat binary or archive magic");
}

absl::Status EntryLister::Elf(ByteView bytes) {
  const auto elf = ElfFile::Open(bytes.bytes(), name_, bytes.base());
  if (!elf.ok()) return elf.status();
  if (elf->machine() == kElfMachineCuda) {
    Entry entry;
    // The flags' meaning depends on the toolkit; ParseCubin checks it.
    entry.arch = elf->os_abi() == kOsAbiCuda13 ? (elf->flags() >> 8) & 0xff : elf->flags() & 0xff;
    entry.name = name_;
    entry.payload = bytes;
    entry.unpacked_bytes = bytes.size();
    return Add(std::move(entry));
  }
  for (const ElfSection& section : elf->sections()) {
    if (section.name != ".nv_fatbin" && section.name != "__nv_relfatbin") continue;
    const absl::Status status = Fatbins(elf->Contents(section));
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status EntryLister::Archive(ByteView bytes) {
  bytes.Skip(kArchiveMagic.size());
  while (!bytes.AtEnd()) {
    const ByteView header = bytes.Part(bytes.at(), kArchiveHeaderBytes);
    uint64_t size = 0;
    const std::string digits(header.ok() ? header.bytes().substr(48, 10) : std::string_view());
    if (!absl::SimpleAtoi(digits, &size) || !bytes.Has(bytes.at() + kArchiveHeaderBytes, size)) {
      return BadBytes(name_, bytes.FileOffset(), "a member of the archive is cut off or has no size", digits,
                      "a header of 60 bytes, then as many as it says");
    }
    const absl::Status status = File(bytes.Part(bytes.at() + kArchiveHeaderBytes, size), true);
    if (!status.ok()) return status;
    bytes.Skip(kArchiveHeaderBytes + size);
    if (size % 2 != 0 && !bytes.AtEnd()) bytes.Skip(1);
  }
  return absl::OkStatus();
}

// Containers one after the other, zeros between them.
absl::Status EntryLister::Fatbins(ByteView bytes) {
  while (bytes.Left() >= kFatbinHeaderBytes) {
    const uint64_t at = bytes.FileOffset();
    const uint32_t magic = bytes.U32();
    if (magic == 0) {
      bytes.Skip(kFatbinAlign - 4);
      continue;
    }
    bytes.Skip(2);
    const uint16_t header_bytes = bytes.U16();
    const uint64_t entries_bytes = bytes.U64();
    if (magic != kFatbinMagic || header_bytes < kFatbinHeaderBytes) {
      return BadBytes(name_, at, "not the start of a fat binary",
                      absl::StrCat("magic ", Hex(magic), ", header of ", header_bytes, " bytes"),
                      "magic 0xba55ed50, header of 16 bytes");
    }
    bytes.Skip(header_bytes - kFatbinHeaderBytes);
    const ByteView entries = bytes.Part(bytes.at(), entries_bytes);
    bytes.Skip(entries_bytes);
    if (!bytes.ok() || !entries.ok()) {
      return BadBytes(name_, at, "a fat binary is cut off", absl::StrCat(entries_bytes, " bytes of entries"));
    }
    const absl::Status status = Fatbin(entries);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status EntryLister::Fatbin(ByteView entries) {
  while (!entries.AtEnd()) {
    const absl::Status status = FatbinEntry(entries);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status EntryLister::FatbinEntry(ByteView& in) {
  const uint64_t at = in.FileOffset();
  const uint64_t start = in.at();
  const uint16_t kind = in.U16();
  in.Skip(2);
  const uint32_t header_bytes = in.U32();
  const uint64_t payload_bytes = in.U64();
  const uint32_t packed_bytes = in.U32();
  in.Skip(8);
  Entry entry;
  entry.arch = in.U32();
  in.Skip(8);
  const uint64_t flags = in.U64();
  in.Skip(8);
  const uint64_t unpacked_bytes = in.U64();
  if (!in.ok() || header_bytes < kEntryHeaderBytes || !in.Has(start + header_bytes, payload_bytes)) {
    return BadBytes(name_, at, "an entry of the fat binary is cut off",
                    absl::StrCat("header of ", header_bytes, ", payload of ", payload_bytes, " bytes"),
                    absl::StrCat("at most ", in.size() - start, " bytes, 64 or more of header"));
  }
  entry.payload = in.Part(start + header_bytes, payload_bytes);
  in.Seek(start + header_bytes + payload_bytes);
  if (kind != kKindPtx && kind != kKindElf) return absl::OkStatus();  // intermediate code for a linker
  entry.is_ptx = kind == kKindPtx;
  entry.packing = (flags & kFlagZstd) != 0  ? Packing::kZstd
                  : (flags & kFlagLz4) != 0 ? Packing::kLz4
                                            : Packing::kNone;
  entry.unpacked_bytes = payload_bytes;
  if (entry.packing != Packing::kNone) {
    if (packed_bytes > payload_bytes) {
      return BadBytes(name_, at, "an entry's packed data is longer than the entry",
                      absl::StrCat(packed_bytes), absl::StrCat("at most ", payload_bytes));
    }
    entry.payload = entry.payload.Part(0, packed_bytes);
    entry.unpacked_bytes = unpacked_bytes;
  }
  entry.name = absl::StrCat(name_, "[", entries_.size(), "] ", entry.is_ptx ? "compute_" : "sm_", entry.arch);
  return Add(std::move(entry));
}

}  // namespace

absl::StatusOr<std::vector<Entry>> ListEntries(std::string_view bytes, const std::string& name,
                                               const ReadLimits& limits) {
  if (bytes.size() > limits.file_bytes) {
    return TooMuch(name, 0, "the file is too large", absl::StrCat(bytes.size(), " bytes"),
                   absl::StrCat("at most ", limits.file_bytes));
  }
  EntryLister lister(name, limits);
  const absl::Status status = lister.File(ByteView(bytes), false);
  if (!status.ok()) return status;
  return lister.Take();
}

}  // namespace sm89::cubin
