#include "sim/emu/linker.h"

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
    // The list grows while it is walked: functions bring in those that they name.
    for (size_t i = 0; i < code_.placed.size(); ++i) {
      RETURN_IF_ERROR(RelocateCode(code_.placed[i]));
    }
    for (size_t i = 0; i < code_.placed.size(); ++i) {
      for (const auto& [bank, list] : code_.placed[i].function->constant_relocations) {
        for (const cubin::Relocation& r : list) RETURN_IF_ERROR(RelocateConstant(bank, r));
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

  // Address of a symbol: code, global memory, or offset in a constant bank.
  std::optional<uint64_t> Value(const std::string& symbol) {
    if (const cubin::Function* f = module_.Find(symbol); f != nullptr) return uint64_t{Place(*f)} * 16;
    for (const cubin::Variable& v : module_.variables) {
      if (v.name == symbol) return v.in_constant ? v.offset : values_.globals_base + v.offset;
    }
    for (const Placed& p : code_.placed) {
      for (const cubin::CodeSymbol& s : p.function->symbols) {
        if (s.name == symbol) return uint64_t{p.first} * 16 + s.offset;
      }
    }
    return std::nullopt;
  }

  absl::Status Fail(const std::string& where, const cubin::Relocation& r, const char* why) const {
    return InputError(absl::StatusCode::kUnimplemented,
                      {.file = module_.name,
                       .field = where,
                       .value = r.symbol,
                       .message = absl::StrFormat("relocation type %d at +0x%x: %s", r.type, r.offset, why)});
  }

  absl::Status RelocateCode(const Placed& placed) {
    const cubin::Function& function = *placed.function;
    for (const cubin::Relocation& r : function.code_relocations) {
      const std::optional<uint64_t> value = Value(r.symbol);
      if (!value.has_value()) return Fail(function.name, r, "the symbol is not in this file");
      if (r.offset + 16 > function.code.size()) return Fail(function.name, r, "outside the code");
      if (!ApplyToCode(r, *value + static_cast<uint64_t>(r.addend), uint64_t{placed.first} * 16 + r.offset)) {
        return Fail(function.name, r, "the emulator's linker does not know this type");
      }
    }
    return absl::OkStatus();
  }

  bool ApplyToCode(const cubin::Relocation& r, uint64_t value, uint64_t at);

  absl::Status RelocateConstant(uint32_t bank, const cubin::Relocation& r) {
    constexpr uint32_t kCuda32 = 1, kCuda64 = 2;
    const std::string where = absl::StrCat("constant bank ", bank);
    const std::optional<uint64_t> value = Value(r.symbol);
    if (!value.has_value()) return Fail(where, r, "the symbol is not in this file");
    if (r.type != kCuda32 && r.type != kCuda64) return Fail(where, r, "unknown type");
    const size_t size = r.type == kCuda64 ? 8 : 4;
    std::vector<uint8_t>& bytes = (*banks_)[bank];
    if (r.offset + size > bytes.size()) return Fail(where, r, "outside the bank");
    const uint64_t sum = *value + static_cast<uint64_t>(r.addend);
    std::memcpy(bytes.data() + r.offset, &sum, size);
    return absl::OkStatus();
  }

  const cubin::Module& module_;
  const LinkValues& values_;
  ConstantBanks* banks_;
  LinkedCode code_;
};

bool Linker::ApplyToCode(const cubin::Relocation&, uint64_t, uint64_t) { return false; }

}  // namespace

absl::StatusOr<LinkedCode> LinkCode(const cubin::Module& module, const cubin::Function& kernel,
                                    const LinkValues& values, ConstantBanks* banks) {
  return Linker(module, values, banks).Link(kernel);
}

}  // namespace sm89::emu
