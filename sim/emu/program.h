// A kernel ready to run: linked, decoded, operands resolved, handlers chosen.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "sim/cubin/module.h"
#include "sim/emu/exec.h"
#include "sim/emu/resolve.h"

namespace sm89::emu {

// A function's place in the program.
struct Placed {
  const cubin::Function* function = nullptr;
  uint32_t first = 0;  // instruction number
};

// Values that the loader knows and code asks for by symbol.
struct LinkValues {
  uint64_t globals_base = 0;    // of Module::globals
  uint64_t constants_base = 0;  // generic, of constant bank 3
};

// Addresses of functions that another file or the driver has (vprintf, __assertfail): no code lies there. All
// kernels of a module share one table of addresses, so that they matter when one is called, not before.
inline constexpr uint64_t kImportBase = 0x7ec000000000;

inline constexpr uint32_t kConstantBanks = 32;  // five bits of an operand
// Constant banks as the launch fills them. Reads past a bank's end give 0.
using ConstantBanks = std::map<uint32_t, std::vector<uint8_t>>;

class Program {
 public:
  // Kernel first, then the functions of other sections that its relocations name. UNIMPLEMENTED lists the
  // mnemonics without semantics.
  static absl::StatusOr<Program> Build(const cubin::Module& module, const cubin::Function& kernel,
                                       const ConstantBanks& banks, const LinkValues& values);

  Program(Program&&) = default;
  Program& operator=(Program&&) = default;

  const cubin::Module& module() const { return *module_; }
  const cubin::Function& kernel() const { return *placed_.front().function; }
  const Placed& PlaceOf(uint32_t inst_index) const;

  const std::vector<sass::Instruction>& instructions() const { return instructions_; }
  const std::vector<Compiled>& code() const { return code_; }  // one more: the end of the code
  uint32_t num_instructions() const { return static_cast<uint32_t>(instructions_.size()); }
  uint32_t num_registers() const { return num_registers_; }
  uint32_t num_rows() const { return num_registers_ + kZeroRows + kTrashRows; }  // of a warp
  // `size_bytes` (1 to 4) of a bank, zero-extended.
  uint32_t ConstantWord(uint32_t bank, uint64_t offset, uint32_t size_bytes = 4) const;

  std::span<const uint8_t> bank(uint32_t number) const { return bank_bytes_[number]; }  // relocated
  const std::vector<uint8_t>& globals() const { return globals_; }      // initial bytes, relocated
  const std::vector<std::string>& imports() const { return imports_; }  // from kImportBase on, 16 apart
  bool uses_local() const { return uses_local_; }
  bool reads_clock() const { return reads_clock_; }

 private:
  Program() = default;

  absl::Status Link(const LinkValues& values);
  absl::Status Decode();
  absl::Status Compile();
  absl::Status CheckTarget(const Compiled& c) const;
  void Note(const sass::Instruction& inst);

  const cubin::Module* module_ = nullptr;
  std::vector<Placed> placed_;
  std::vector<uint8_t> bytes_;
  std::vector<uint8_t> globals_;
  std::vector<std::string> imports_;
  std::vector<sass::Instruction> instructions_;
  std::vector<Compiled> code_;
  ConstantBanks banks_;
  std::array<std::span<const uint8_t>, kConstantBanks> bank_bytes_{};
  FixedRows pool_;
  uint32_t num_registers_ = 0;
  bool uses_local_ = false;
  bool reads_clock_ = false;
};

// Handler of the place after the last instruction: a run that gets there has gone astray.
void RunPastEnd(Exec& x, const Compiled& c);

}  // namespace sm89::emu
