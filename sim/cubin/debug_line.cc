#include "sim/cubin/debug_line.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "absl/strings/str_cat.h"
#include "sim/cubin/module_reader.h"

namespace sm89::cubin {
namespace {

// DWARF 5, sections 6.2.5 and 7.22.
enum StandardOpcode : uint8_t {
  kCopy = 1,
  kAdvancePc = 2,
  kAdvanceLine = 3,
  kSetFile = 4,
  kConstAddPc = 8,
  kFixedAdvancePc = 9,
};
constexpr uint8_t kEndSequence = 1;
constexpr uint8_t kSetAddress = 2;
constexpr uint8_t kDefineFile = 3;

constexpr uint64_t kInstructionBytes = 16;
constexpr uint32_t kNoFile = ~uint32_t{0};
constexpr uint64_t kLineMax = ~uint32_t{0};
constexpr uint64_t kFileNameBytesMax = uint64_t{1} << 26;  // of all files together
// Each instruction is described once; a few times where code of several sources overlaps. Bounds the work.
constexpr uint64_t kFillsPerInstruction = 64;

}  // namespace

LineReader::LineReader(const std::string& name, const std::map<uint64_t, LineAddress>& addresses,
                       const std::vector<uint64_t>& instructions)
    : name_(name),
      addresses_(addresses),
      instructions_(instructions),
      fills_max_(kFillsPerInstruction *
                 std::accumulate(instructions.begin(), instructions.end(), uint64_t{0})),
      lines_(instructions.size()) {}

absl::Status LineReader::Read(ByteView section) {
  section_base_ = section.base();
  while (section.Left() >= 4) {
    const uint64_t at = section.FileOffset();
    uint32_t offset_bytes = 4;
    uint64_t length = section.U32();
    if (length == 0xffffffff) {  // the 64-bit form
      offset_bytes = 8;
      length = section.U64();
    }
    const ByteView unit = section.Part(section.at(), length);
    section.Skip(length);
    if (!section.ok() || !unit.ok()) {
      return Fail(at, "a unit of the line table is cut off", absl::StrCat(length, " bytes"));
    }
    if (length == 0) continue;
    const absl::Status status = ReadUnit(unit, offset_bytes);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status LineReader::ReadUnit(ByteView in, uint32_t offset_bytes) {
  Unit unit;
  unit.offset_bytes = offset_bytes;
  const absl::Status status = ReadHeader(in, unit);
  if (!status.ok()) return status;
  return Run(in.Part(in.at(), in.Left()), unit);
}

// Leaves `in` at the first opcode.
absl::Status LineReader::ReadHeader(ByteView& in, Unit& unit) {
  const uint64_t at = in.FileOffset();
  unit.version = in.U16();
  if (unit.version < 2 || unit.version > 5) {
    return BadBytes(name_, at, "a line table of an unknown version", absl::StrCat(unit.version), "2 to 5");
  }
  if (unit.version >= 5) {
    unit.address_bytes = in.U8();
    in.Skip(1);  // segment selector size
  }
  const uint64_t header_length = in.Unsigned(unit.offset_bytes);
  const uint64_t header_at = in.at();
  unit.min_instruction_bytes = in.U8();
  if (unit.version >= 4) in.Skip(1);  // operations an instruction
  in.Skip(1);                         // default_is_stmt
  unit.line_base = static_cast<int8_t>(in.U8());
  unit.line_range = in.U8();
  unit.opcode_base = in.U8();
  if (!in.ok() || unit.line_range == 0 || unit.opcode_base == 0 || unit.address_bytes > 8) {
    return Fail(at, "the header of a line table is damaged");
  }
  for (uint32_t i = 1; i < unit.opcode_base; ++i) unit.operand_counts.push_back(in.U8());
  const absl::Status status = unit.version >= 5 ? ReadFilesV5(in, unit) : ReadFilesV2(in, unit);
  if (!status.ok()) return status;
  if (!in.ok() || !in.Has(header_at, header_length) || header_at + header_length < in.at()) {
    return Fail(at, "the header of a line table is cut off", absl::StrCat(header_length, " bytes"));
  }
  in.Seek(header_at + header_length);
  return absl::OkStatus();
}

absl::Status LineReader::AddFile(Unit& unit, const std::string& directory, std::string_view file) {
  std::string path;
  if (!directory.empty() && !file.starts_with('/')) absl::StrAppend(&path, directory, "/");
  path += file;
  const auto [found, is_new] = file_index_.emplace(path, static_cast<uint32_t>(files_.size()));
  if (is_new) {
    file_bytes_ += path.size();
    files_.push_back(std::move(path));
  }
  unit.files.push_back(found->second);
  unit.names_files = true;
  if (files_.size() > kFilesMax || unit.files.size() > kFilesMax || file_bytes_ > kFileNameBytesMax) {
    return TooMuch(name_, section_base_, "the line table names too many source files",
                   absl::StrCat(files_.size(), " of ", file_bytes_, " bytes"),
                   absl::StrCat("at most ", kFilesMax, " of ", kFileNameBytesMax, " bytes"));
  }
  return absl::OkStatus();
}

absl::Status LineReader::ReadFilesV2(ByteView& in, Unit& unit) {
  std::vector<std::string> directories = {""};  // 0 is the compilation's, which is not named here
  while (true) {
    const std::string_view directory = in.CString(kNameBytesMax);
    if (!in.ok()) return Fail(in.FileOffset(), "the directories of a line table are cut off");
    if (directory.empty()) break;
    directories.emplace_back(directory);
  }
  unit.files.push_back(kNoFile);  // numbers begin at 1
  while (true) {
    const uint64_t at = in.FileOffset();
    const std::string_view file = in.CString(kNameBytesMax);
    if (in.ok() && file.empty()) return absl::OkStatus();
    const uint64_t directory = in.Uleb();
    in.Uleb();  // time
    in.Uleb();  // size
    if (!in.ok() || directory >= directories.size()) {
      return Fail(at, "a file of a line table is damaged", absl::StrCat("directory ", directory));
    }
    const absl::Status status = AddFile(unit, directories[directory], file);
    if (!status.ok()) return status;
  }
}

// One attribute of a version 5 table: its text or its number, or neither. False for a form not known.
bool LineReader::ReadForm(ByteView& in, const Unit& unit, uint64_t form, std::string* text,
                          uint64_t* number) const {
  // DWARF 5, section 7.5.6.
  switch (form) {
    case 0x08:  // string
      *text = std::string(in.CString(kNameBytesMax));
      return in.ok();
    case 0x0e:    // strp
    case 0x1f: {  // line_strp
      ByteView table = form == 0x0e ? debug_str_ : debug_line_str_;
      table.Seek(in.Unsigned(unit.offset_bytes));
      *text = std::string(table.CString(kNameBytesMax));
      return in.ok() && table.ok();
    }
    case 0x0f:  // udata
      *number = in.Uleb();
      return in.ok();
    case 0x0b:  // data1
      *number = in.U8();
      return in.ok();
    case 0x05:  // data2
      *number = in.U16();
      return in.ok();
    case 0x06:  // data4
      *number = in.U32();
      return in.ok();
    case 0x07:  // data8
      *number = in.U64();
      return in.ok();
    case 0x1e:  // data16: a checksum
      in.Skip(16);
      return in.ok();
    case 0x09:  // block
      in.Skip(in.Uleb());
      return in.ok();
    default:
      return false;
  }
}

absl::Status LineReader::ReadTableV5(ByteView& in, const Unit& unit,
                                     std::vector<std::pair<std::string, uint64_t>>& out) {
  constexpr uint64_t kContentPath = 1;
  constexpr uint64_t kContentDirectory = 2;
  const uint64_t at = in.FileOffset();
  std::vector<std::pair<uint64_t, uint64_t>> formats(in.U8());  // content, form
  for (auto& [content, form] : formats) {
    content = in.Uleb();
    form = in.Uleb();
  }
  const uint64_t count = in.Uleb();
  // An entry takes at least a byte for each attribute.
  if (!in.ok() || count > in.Left() || (count > 0 && formats.empty()) || count > kFilesMax) {
    return Fail(at, "a table of files is damaged", absl::StrCat(count, " entries"));
  }
  uint64_t bytes = 0;
  for (uint64_t i = 0; i < count; ++i) {
    std::pair<std::string, uint64_t> entry;
    for (const auto& [content, form] : formats) {
      std::string text;
      uint64_t number = 0;
      if (!ReadForm(in, unit, form, &text, &number)) {
        return Fail(in.FileOffset(), "a table of files is cut off or has an unknown form", Hex(form));
      }
      if (content == kContentPath) entry.first = std::move(text);
      if (content == kContentDirectory) entry.second = number;
    }
    bytes += entry.first.size();
    if (bytes > kFileNameBytesMax) return Fail(at, "a table of files is too large");
    out.push_back(std::move(entry));
  }
  return absl::OkStatus();
}

absl::Status LineReader::ReadFilesV5(ByteView& in, Unit& unit) {
  std::vector<std::pair<std::string, uint64_t>> directories;
  std::vector<std::pair<std::string, uint64_t>> files;
  const uint64_t at = in.FileOffset();
  for (auto* table : {&directories, &files}) {
    const absl::Status status = ReadTableV5(in, unit, *table);
    if (!status.ok()) return status;
  }
  for (const auto& [file, directory] : files) {
    if (directory >= directories.size()) {
      return Fail(at, "a file of a line table is damaged", absl::StrCat("directory ", directory));
    }
    const absl::Status status = AddFile(unit, directories[directory].first, file);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status LineReader::CloseRow(State& state, uint64_t file_offset) {
  if (!state.has_row) return absl::OkStatus();
  state.has_row = false;
  std::vector<SourceLine>& lines = lines_[state.at.function];
  const uint64_t count = instructions_[state.at.function];
  if (lines.empty()) lines.resize(count);
  const uint64_t begin = std::min(state.row_offset / kInstructionBytes, count);
  const uint64_t end = std::min((state.at.offset + kInstructionBytes - 1) / kInstructionBytes, count);
  if (begin >= end) return absl::OkStatus();
  filled_ += end - begin;
  if (filled_ > fills_max_) {
    return TooMuch(name_, file_offset, "the line table describes the same code again and again",
                   absl::StrCat(filled_, " instructions"), absl::StrCat("at most ", fills_max_));
  }
  std::fill(lines.begin() + static_cast<ptrdiff_t>(begin), lines.begin() + static_cast<ptrdiff_t>(end),
            state.row);
  return absl::OkStatus();
}

// A row begins at the current address and ends the one before.
absl::Status LineReader::Row(const Unit& unit, State& state, uint64_t file_offset) {
  if (!state.has_function) return absl::OkStatus();  // code that is not in this file
  if (state.has_row && state.at.offset < state.row_offset) {
    return Fail(file_offset, "the addresses of a line table go backwards",
                absl::StrCat(Hex(state.row_offset), " then ", Hex(state.at.offset)));
  }
  const absl::Status status = CloseRow(state, file_offset);
  if (!status.ok()) return status;
  state.row_offset = state.at.offset;
  const bool has_file = state.file < unit.files.size() && unit.files[state.file] != kNoFile;
  // A unit about PTX names no files; otherwise a line without its file is no place.
  const bool is_place = state.line <= kLineMax && (has_file || !unit.names_files);
  state.row.line = is_place ? static_cast<uint32_t>(state.line) : 0;
  state.row.file = is_place && has_file ? unit.files[state.file] : 0;
  state.has_row = true;
  return absl::OkStatus();
}

absl::Status LineReader::Run(ByteView in, const Unit& unit) {
  State state;
  while (!in.AtEnd()) {
    const uint64_t at = in.FileOffset();
    const uint8_t opcode = in.U8();
    absl::Status status;
    if (opcode >= unit.opcode_base) {
      const uint32_t special = uint32_t{opcode} - unit.opcode_base;
      state.at.offset += uint64_t{special / unit.line_range} * unit.min_instruction_bytes;
      state.line += static_cast<uint64_t>(int64_t{unit.line_base} + special % unit.line_range);
      status = Row(unit, state, at);
    } else if (opcode == 0) {
      status = Extended(in, state);
    } else {
      status = Standard(in, unit, opcode, state);
    }
    if (!status.ok()) return status;
    if (!in.ok()) return Fail(at, "a line program is cut off");
  }
  return absl::OkStatus();
}

absl::Status LineReader::Extended(ByteView& in, State& state) {
  const uint64_t at = in.FileOffset();
  const uint64_t length = in.Uleb();
  ByteView operands = in.Part(in.at(), length);
  in.Skip(length);
  if (!in.ok() || length == 0) return Fail(at, "an opcode of a line program is cut off");
  const uint8_t opcode = operands.U8();
  if (opcode == kEndSequence) {
    const absl::Status status = CloseRow(state, at);
    state = State();
    return status;
  }
  if (opcode == kSetAddress) {
    // Rows on both sides of it are of different code: the one before has no known end.
    state.has_row = false;
    const auto found = addresses_.find(operands.FileOffset() - section_base_);
    state.has_function = found != addresses_.end();
    if (state.has_function) state.at = found->second;
    return absl::OkStatus();
  }
  // Others are the compiler's: 0x90 gives the function that a line was inlined from.
  return opcode == kDefineFile ? Fail(at, "a line program defines a file, which nvcc never does")
                               : absl::OkStatus();
}

absl::Status LineReader::Standard(ByteView& in, const Unit& unit, uint8_t opcode, State& state) {
  switch (opcode) {
    case kCopy:
      return Row(unit, state, in.FileOffset());
    case kAdvancePc:
      state.at.offset += in.Uleb() * unit.min_instruction_bytes;
      break;
    case kAdvanceLine:
      state.line += static_cast<uint64_t>(in.Sleb());
      break;
    case kSetFile:
      state.file = in.Uleb();
      break;
    case kConstAddPc:
      state.at.offset += uint64_t{(255u - unit.opcode_base) / unit.line_range} * unit.min_instruction_bytes;
      break;
    case kFixedAdvancePc:
      state.at.offset += in.U16();
      break;
    default:
      for (uint32_t i = 0; i < unit.operand_counts[opcode - 1u]; ++i) in.Uleb();
      break;
  }
  return absl::OkStatus();
}

}  // namespace sm89::cubin
