// Line programs (DWARF 2 to 5, section .debug_line, and the same form in .nv_debug_line_sass). Internal to
// this folder.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "sim/cubin/byte_view.h"
#include "sim/cubin/module.h"

namespace sm89::cubin {

// What the address operand at a byte of the section stands for, after its relocation.
struct LineAddress {
  uint32_t function = 0;
  uint64_t offset = 0;  // in its code
};

// Fills one line per instruction of each function.
class LineReader {
 public:
  // `addresses`: by offset of the operand in the section. `instructions`: of each function.
  // `string_sections`: .debug_str and .debug_line_str, for version 5.
  LineReader(const std::string& name, const std::map<uint64_t, LineAddress>& addresses,
             const std::vector<uint64_t>& instructions);

  // .debug_str and .debug_line_str, for version 5.
  void set_strings(ByteView debug_str, ByteView debug_line_str) {
    debug_str_ = debug_str;
    debug_line_str_ = debug_line_str;
  }

  // Reads the units of a section; may be called once.
  absl::Status Read(ByteView section);

  // By function; empty where nothing was said about it. Files index `files`.
  std::vector<std::vector<SourceLine>>& lines() { return lines_; }
  std::vector<std::string>& files() { return files_; }

 private:
  struct Unit {
    uint16_t version = 0;
    uint8_t min_instruction_bytes = 1;
    int8_t line_base = 0;
    uint8_t line_range = 1;
    uint8_t opcode_base = 1;
    uint32_t address_bytes = 8;
    uint32_t offset_bytes = 4;
    std::vector<uint8_t> operand_counts;  // of standard opcodes from 1
    bool names_files = false;
    std::vector<uint32_t> files;  // the unit's file number -> index in files_
  };
  // The machine that a program runs on: DWARF 5, section 6.2.2.
  struct State {
    bool has_function = false;
    LineAddress at;
    uint64_t file = 1;
    uint64_t line = 1;
    bool has_row = false;  // the row that is open: covers up to the next
    uint64_t row_offset = 0;
    SourceLine row;
  };

  absl::Status ReadUnit(ByteView unit, uint32_t offset_bytes);
  absl::Status ReadHeader(ByteView& in, Unit& unit);
  absl::Status ReadFilesV2(ByteView& in, Unit& unit);
  absl::Status ReadFilesV5(ByteView& in, Unit& unit);
  absl::Status ReadTableV5(ByteView& in, const Unit& unit,
                           std::vector<std::pair<std::string, uint64_t>>& out);
  bool ReadForm(ByteView& in, const Unit& unit, uint64_t form, std::string* text, uint64_t* number) const;
  absl::Status AddFile(Unit& unit, const std::string& directory, std::string_view file);

  absl::Status Run(ByteView in, const Unit& unit);
  absl::Status Extended(ByteView& in, State& state);
  absl::Status Standard(ByteView& in, const Unit& unit, uint8_t opcode, State& state);
  absl::Status Row(const Unit& unit, State& state, uint64_t file_offset);
  absl::Status CloseRow(State& state, uint64_t file_offset);
  absl::Status Fail(uint64_t file_offset, const std::string& message, const std::string& value = "") const {
    return BadBytes(name_, file_offset, message, value);
  }

  const std::string& name_;
  const std::map<uint64_t, LineAddress>& addresses_;
  const std::vector<uint64_t>& instructions_;
  const uint64_t fills_max_;
  uint64_t section_base_ = 0;
  ByteView debug_str_;
  ByteView debug_line_str_;
  std::vector<std::vector<SourceLine>> lines_;
  std::vector<std::string> files_;
  std::map<std::string, uint32_t> file_index_;
  uint64_t file_bytes_ = 0;
  uint64_t filled_ = 0;
};

}  // namespace sm89::cubin
