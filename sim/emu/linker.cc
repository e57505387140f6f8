#include "sim/emu/linker.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "sim/base/fault.h"
#include "sim/base/status_macros.h"

namespace sm89::emu {

namespace {

constexpr uint32_t kFunctionAlign = 128;  // of .text sections

class Linker {
 public:
  Linker(const cubin::Module& module, const LinkValues& values, ConstantBanks* banks)
      : module_(module), values_(values), banks_(banks) {}

  absl::StatusOr<LinkedCode> Link(const cubin::Function& kernel) {
    Place(kernel);
    code_.globals = module_.globals;
    for (const cubin::Relocation& r : module_.global_relocations) {
      RETURN_IF_ERROR(RelocateData("global memory", r, &code_.globals));
    }
    // The list grows while it is walked: functions bring in those that they name.
    for (size_t i = 0; i < code_.placed.size(); ++i) {
      const Placed placed = code_.placed[i];
      RETURN_IF_ERROR(AdoptBanks(*placed.function));
      RETURN_IF_ERROR(RelocateCode(placed));
      for (const auto& [bank, list] : placed.function->constant_relocations) {
        for (const cubin::Relocation& r : list) {
          RETURN_IF_ERROR(RelocateData(absl::StrCat("constant bank ", bank), r, &(*banks_)[bank]));
        }
      }
    }
    return std::move(code_);
  }

 private:
  uint32_t Place(const cubin::Function& function) {
    for (const Placed& p : code_.placed) {
      if (p.function == &function) return p.first;
    }
    code_.bytes.resize((code_.bytes.size() + kFunctionAlign - 1) / kFunctionAlign * kFunctionAlign);
    const auto first = static_cast<uint32_t>(code_.bytes.size() / 16);
    code_.bytes.insert(code_.bytes.end(), function.code.begin(), function.code.end());
    code_.placed.push_back({&function, first});
    return first;
  }

  // A function of another section may bring constants of its own; the banks are the kernel's.
  absl::Status AdoptBanks(const cubin::Function& function) {
    for (const auto& [bank, bytes] : function.constants) {
      if (bank == 0 || bytes.empty() || &function == code_.placed.front().function) continue;
      std::vector<uint8_t>& known = (*banks_)[bank];
      if (known.empty()) known = bytes;
      if (known == bytes) continue;
      return InputError(absl::StatusCode::kUnimplemented,
                        {.file = module_.name,
                         .field = function.name,
                         .message = absl::StrCat("the function and the kernel have different constant banks ",
                                                 bank, "; link the file with nvlink first")});
    }
    return absl::OkStatus();
  }

  // Address of a relocation's symbol: code, global memory, or offset in a constant bank. By place: local
  // names ($str of two objects that were linked) may repeat.
  std::optional<uint64_t> Value(const cubin::Relocation& r) {
    switch (r.place) {
      case cubin::SymbolPlace::kFunction:
        return uint64_t{Place(module_.functions[r.target_index])} * 16 + r.target_offset;
      case cubin::SymbolPlace::kGlobal:
        return values_.globals_base + r.target_offset;
      case cubin::SymbolPlace::kConstant:
        return r.target_offset;
      case cubin::SymbolPlace::kUndefined:
        if (r.type == cubin::kRelocCodeAbs47) return std::nullopt;  // a call without a register
        return Import(r.symbol);
      default:
        return std::nullopt;
    }
  }

  uint64_t Import(const std::string& symbol) {
    const auto known = std::find(code_.imports.begin(), code_.imports.end(), symbol);
    const auto index = static_cast<uint64_t>(known - code_.imports.begin());
    if (known == code_.imports.end()) code_.imports.push_back(symbol);
    return kImportBase + 16 * index;
  }

  absl::Status Fail(const std::string& where, const cubin::Relocation& r, const char* why) const {
    return InputError(absl::StatusCode::kUnimplemented,
                      {.file = module_.name,
                       .field = where,
                       .value = r.symbol,
                       .message = absl::StrFormat("relocation type %d at +0x%x: %s", r.type, r.offset, why)});
  }

  static const char* NoValue(const cubin::Relocation& r) {
    if (r.place == cubin::SymbolPlace::kUndefined) return "the symbol is not in this file";
    return "the symbol is neither code nor a global or constant variable";
  }

  absl::Status RelocateCode(const Placed& placed) {
    const cubin::Function& function = *placed.function;
    for (const cubin::Relocation& r : function.code_relocations) {
      const std::optional<uint64_t> value = Value(r);
      if (!value.has_value()) return Fail(function.name, r, NoValue(r));
      if (r.offset + 16 > function.code.size()) return Fail(function.name, r, "outside the code");
      if (!ApplyToCode(r, *value + static_cast<uint64_t>(r.addend), uint64_t{placed.first} * 16 + r.offset)) {
        return Fail(function.name, r, "the emulator's linker does not know this type");
      }
    }
    return absl::OkStatus();
  }

  bool ApplyToCode(const cubin::Relocation& r, uint64_t value, uint64_t at);

  absl::Status RelocateData(const std::string& where, const cubin::Relocation& r,
                            std::vector<uint8_t>* bytes) {
    constexpr uint32_t kAbs32 = 1;
    const bool generic = r.type == cubin::kRelocGeneric64;
    const std::optional<uint64_t> value = Value(r);
    if (!value.has_value()) return Fail(where, r, NoValue(r));
    if (r.type != kAbs32 && r.type != cubin::kRelocAbs64 && !generic)
      return Fail(where, r, "the emulator's linker does not know this type");
    // Global addresses are their own generic addresses.
    const bool constant = r.place == cubin::SymbolPlace::kConstant && r.target_index == 3;
    if (generic && r.place != cubin::SymbolPlace::kGlobal && !constant)
      return Fail(where, r, "only variables have generic addresses here");
    const size_t size = r.type == kAbs32 ? 4 : 8;
    if (r.offset > bytes->size() || bytes->size() - r.offset < size)
      return Fail(where, r, "outside the section");
    const uint64_t base = generic && constant ? values_.constants_base : 0;
    const uint64_t sum = base + *value + static_cast<uint64_t>(r.addend);
    std::memcpy(bytes->data() + r.offset, &sum, size);
    return absl::OkStatus();
  }

  const cubin::Module& module_;
  const LinkValues& values_;
  ConstantBanks* banks_;
  LinkedCode code_;
};

// Types as they stand in files of ptxas 13.0 beside the instructions that they belong to: the low and the
// high word of an address in the 32-bit immediate of a MOV, the address of a CALL.ABS in units of 4 bytes.
bool Linker::ApplyToCode(const cubin::Relocation& r, uint64_t value, uint64_t at) {
  constexpr uint32_t kLow32 = 56, kHigh32 = 57, kCallTarget = 58;
  constexpr int kTargetBit = 34, kTargetBits = 47;
  uint8_t* word = code_.bytes.data() + at / 16 * 16;
  if (r.type == kLow32 || r.type == kHigh32) {
    const auto part = static_cast<uint32_t>(r.type == kLow32 ? value : value >> 32);
    std::memcpy(word + 4, &part, 4);
    return true;
  }
  if (r.type != kCallTarget) return false;
  uint64_t lo = 0, hi = 0;
  std::memcpy(&lo, word, 8);
  std::memcpy(&hi, word + 8, 8);
  constexpr int kHighBits = kTargetBits - (64 - kTargetBit);
  const uint64_t field = value / 4;
  lo = (lo & ((uint64_t{1} << kTargetBit) - 1)) | field << kTargetBit;
  hi = (hi >> kHighBits << kHighBits) | (field >> (64 - kTargetBit) & ((uint64_t{1} << kHighBits) - 1));
  std::memcpy(word, &lo, 8);
  std::memcpy(word + 8, &hi, 8);
  return true;
}

}  // namespace

absl::StatusOr<LinkedCode> LinkCode(const cubin::Module& module, const cubin::Function& kernel,
                                    const LinkValues& values, ConstantBanks* banks) {
  return Linker(module, values, banks).Link(kernel);
}

}  // namespace sm89::emu
