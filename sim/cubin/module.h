// What a cubin says: kernels with their code, resources, constants and lines. Plain values, owned; no file
// open.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sim/base/types.h"

namespace sm89::cubin {

// Place of an instruction in the source, line 0 = unknown.
struct SourceLine {
  uint32_t file = 0;  // index into Module::files; always 0 for a line of PTX
  uint32_t line = 0;
  friend bool operator==(const SourceLine&, const SourceLine&) = default;
};

struct KernelParam {
  uint32_t ordinal = 0;
  uint32_t offset = 0;  // bytes from the parameters' start
  uint32_t size_bytes = 0;
};

// Where a relocation's symbol lives; what `target_offset` counts from.
enum class SymbolPlace {
  kUndefined,  // in no section of this file: another object has it
  kFunction,   // Module::functions[target_index].code
  kGlobal,     // Module::globals
  kConstant,   // constant bank target_index (3: Module::constant3)
  kShared,     // shared memory of a CTA
  kOther,
};

// Relocation types met in sm_8x and sm_90 files. Their meaning is read off the data and instructions that
// they patch and the place of their symbols. The last four only in objects for a linker (-rdc=true).
inline constexpr uint32_t kRelocAbs64 = 0x02;           // 8 bytes of data: an address
inline constexpr uint32_t kRelocGeneric64 = 0x04;       // 8 bytes of data: a generic address of a variable
inline constexpr uint32_t kRelocCodeLow32 = 0x38;       // bits 63:32 of an instruction = low half (MOV, UMOV)
inline constexpr uint32_t kRelocCodeHigh32 = 0x39;      // bits 63:32 = high half
inline constexpr uint32_t kRelocCodeAbs47 = 0x3a;       // bits 80:34: target of a call (CALL.ABS)
inline constexpr uint32_t kRelocCodeConstant16 = 0x3b;  // bits 47:32: offset in the constant bank (UMOV)
inline constexpr uint32_t kRelocCodeBank19 = 0x40;      // bits 58:40: bank and dword of a constant operand
inline constexpr uint32_t kRelocCodeBank22 = 0x42;      // bits 58:37: bank and byte offset, at bit 38 (LDC)
inline constexpr uint32_t kRelocCodeShared24 = 0x4a;    // bits 63:40: offset in shared memory (LDS, STS)

// A relocation that the loader has to apply before the code runs (the address of a global, of a constant
// bank's table, of a function).
struct Relocation {
  uint64_t offset = 0;  // bytes in the section it belongs to
  uint32_t type = 0;    // R_CUDA_...
  std::string symbol;
  int64_t addend = 0;  // of a data relocation without one of its own: the bytes it finds in place
  SymbolPlace place = SymbolPlace::kUndefined;  // local names may repeat: go by the place, not the name
  uint32_t target_index = 0;
  uint64_t target_offset = 0;  // of the symbol, without the addend
};

// A device function that was not inlined: a named range inside its kernel's code.
struct CodeSymbol {
  std::string name;
  uint64_t offset = 0;
  uint64_t size_bytes = 0;
};

struct IndirectBranch {
  uint32_t offset = 0;            // of the BRX
  std::vector<uint32_t> targets;  // byte offsets in the function
};

// One .text section: a kernel, or a device function of a relocatable object.
struct Function {
  std::string name;
  bool is_kernel = false;
  std::vector<uint8_t> code;           // 16 bytes an instruction
  uint32_t registers = 0;              // a thread
  uint32_t static_shared_bytes = 0;    // a CTA, without the reserved ones
  uint32_t reserved_shared_bytes = 0;  // before the kernel's own: 1,024 on sm_90, 0 on sm_8x
  uint32_t local_bytes = 0;            // a thread: stack frame
  uint32_t stack_bytes = 0;            // minimum stack of a thread, callees included
  bool stack_unbounded = false;        // recursion: the compiler knows no bound and stack_bytes is 0
  uint32_t num_barriers = 0;
  uint32_t param_base = 0;  // offset of the parameters in constant bank 0 (0x160 on sm_8x, 0x210 on sm_90)
  uint32_t param_bytes = 0;
  std::vector<KernelParam> params;  // by ordinal
  std::optional<Dim3> max_threads;  // __launch_bounds__ / .reqntid
  bool threads_exact = false;       // .reqntid: the CTA has exactly max_threads
  uint32_t max_registers = 0;       // 0 = no bound given
  std::vector<uint32_t> exit_offsets;
  std::vector<IndirectBranch> indirect_branches;
  std::vector<CodeSymbol> symbols;  // callees inside this section, by offset
  std::map<uint32_t, std::vector<uint8_t>>
      constants;  // bank -> bytes: 0 (zeros up to the parameters' end), 2, 4 ...
  std::vector<Relocation> code_relocations;
  std::map<uint32_t, std::vector<Relocation>> constant_relocations;  // by bank
  std::vector<SourceLine> lines;      // one an instruction, empty without line information
  std::vector<SourceLine> ptx_lines;  // likewise, lines of the PTX it was assembled from
  std::map<uint32_t, uint64_t>
      other_attributes;  // .nv.info records that have no field here: attribute -> count

  size_t num_instructions() const { return code.size() / 16; }
};

// A variable in global or module-constant memory.
struct Variable {
  std::string name;
  bool in_constant = false;  // c[3], else global memory
  uint64_t offset = 0;       // in Module::globals or Module::constant3
  uint64_t size_bytes = 0;
};

struct Module {
  std::string name;   // of the file, for messages
  uint32_t arch = 0;  // 89 = sm_89
  uint32_t abi_version = 0;
  bool relocatable = false;         // ET_REL
  std::string toolkit;              // "13.0" where the file says it
  std::vector<Function> functions;  // kernels and functions in symbol order
  std::vector<uint8_t> globals;     // .nv.global.init then .nv.global (zeros)
  uint64_t globals_align = 256;
  std::vector<Relocation> global_relocations;
  std::vector<uint8_t> constant3;  // __constant__
  std::vector<Variable> variables;
  std::vector<std::string> files;  // source names of the line tables
  // PTX it was assembled from, else "": `ptx_lines` count its lines where the cubin carries it (-lineinfo);
  // otherwise the container's PTX entry.
  std::string ptx;

  const Function* Find(const std::string& function) const {
    for (const Function& f : functions) {
      if (f.name == function) return &f;
    }
    return nullptr;
  }
};

}  // namespace sm89::cubin
