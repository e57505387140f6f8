#include "sim/emu/program.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "sim/base/assert.h"
#include "sim/base/fault.h"
#include "sim/base/status_macros.h"
#include "sim/emu/linker.h"
#include "sim/sass/decode.h"

namespace sm89::emu {

namespace {

constexpr uint32_t kMaxPlacesListed = 8;

sass::Word128 WordAt(const std::vector<uint8_t>& bytes, size_t index) {
  sass::Word128 word;
  std::memcpy(&word.lo, bytes.data() + index * 16, 8);
  std::memcpy(&word.hi, bytes.data() + index * 16 + 8, 8);
  return word;
}

// Rows a register operand may touch.
uint32_t LastRegister(const sass::Operand& o) {
  if (!o.IsReg() || o.IsZeroReg()) return 0;
  return o.index + std::max<uint32_t>(o.regs, 1);
}

}  // namespace

absl::StatusOr<Program> Program::Build(const cubin::Module& module, const cubin::Function& kernel,
                                       const ConstantBanks& banks, const LinkValues& values) {
  Program program;
  program.module_ = &module;
  program.banks_ = banks;
  program.placed_.push_back({&kernel, 0});
  RETURN_IF_ERROR(program.Link(values));
  RETURN_IF_ERROR(program.Decode());
  RETURN_IF_ERROR(program.Compile());
  return program;
}

absl::Status Program::Link(const LinkValues& values) {
  ASSIGN_OR_RETURN(LinkedCode linked, LinkCode(*module_, *placed_.front().function, values, &banks_));
  bytes_ = std::move(linked.bytes);
  placed_ = std::move(linked.placed);
  imports_ = std::move(linked.imports);
  globals_ = std::move(linked.globals);
  for (const auto& [bank, bytes] : banks_) {
    if (bank < kConstantBanks) bank_bytes_[bank] = bytes;
  }
  return absl::OkStatus();
}

const Placed& Program::PlaceOf(uint32_t inst_index) const {
  const Placed* best = &placed_.front();
  for (const Placed& p : placed_) {
    if (p.first <= inst_index) best = &p;
  }
  return *best;
}

absl::Status Program::Decode() {
  std::vector<Fault> faults;
  const size_t n = bytes_.size() / 16;
  instructions_.reserve(n);
  for (size_t i = 0; i < n; ++i) {
    absl::StatusOr<sass::Instruction> inst = sass::Decode(WordAt(bytes_, i), module_->arch);
    if (!inst.ok()) {
      faults.push_back(
          {.file = module_->name,
           .field = absl::StrFormat("%s +0x%04x", PlaceOf(static_cast<uint32_t>(i)).function->name,
                                    (i - PlaceOf(static_cast<uint32_t>(i)).first) * 16),
           .message = std::string(inst.status().message())});
      instructions_.emplace_back();
      continue;
    }
    instructions_.push_back(*std::move(inst));
    num_registers_ = std::max(num_registers_, 1u);
    for (int k = 0; k < instructions_.back().num_operands; ++k) {
      num_registers_ = std::max(num_registers_, LastRegister(instructions_.back().operands[k]));
    }
  }
  for (const Placed& p : placed_) num_registers_ = std::max(num_registers_, p.function->registers);
  if (faults.empty()) return absl::OkStatus();
  return InputError(absl::StatusCode::kInvalidArgument, "", faults);
}

uint32_t Program::ConstantWord(uint32_t bank, uint64_t offset, uint32_t size_bytes) const {
  uint32_t value = 0;
  if (bank >= kConstantBanks) return value;
  const std::span<const uint8_t> bytes = bank_bytes_[bank];
  if (offset < bytes.size()) {
    std::memcpy(&value, bytes.data() + offset, std::min<size_t>(size_bytes, bytes.size() - offset));
  }
  return value;
}

void Program::Note(const sass::Instruction& inst) {
  switch (inst.op) {
    case sass::Op::kLdl:
    case sass::Op::kStl:
    case sass::Op::kLd:
    case sass::Op::kSt:
    case sass::Op::kAtom:
      uses_local_ = true;
      break;
    case sass::Op::kS2r:
    case sass::Op::kS2ur:
    case sass::Op::kCs2r: {
      const sass::Operand* special = inst.Find(sass::Slot::kSpecial);
      if (special != nullptr && special->index >= sass::kSrClockLo &&
          special->index <= sass::kSrGlobalTimerHi) {
        reads_clock_ = true;
      }
      break;
    }
    default:
      break;
  }
}

// Jumps to a fixed place keep its instruction number in imm.
absl::Status Program::CheckTarget(const Compiled& c) const {
  const sass::Op op = c.inst->op;
  if (op != sass::Op::kBra && op != sass::Op::kCall && op != sass::Op::kJmp) return absl::OkStatus();
  if (c.inst->Find(sass::Slot::kA) != nullptr || (c.imm >= 0 && c.imm < num_instructions())) {
    return absl::OkStatus();
  }
  return InputError(absl::StatusCode::kInvalidArgument,
                    {.file = module_->name,
                     .field = absl::StrFormat("%s+0x%04x", PlaceOf(c.index).function->name,
                                              (c.index - PlaceOf(c.index).first) * 16),
                     .value = absl::StrFormat("0x%x", c.imm * 16),
                     .message = "the jump leaves the code"});
}

absl::Status Program::Compile() {
  std::map<std::string, std::vector<std::string>> refused;  // what -> where
  const ConstantReader constants = [this](uint32_t bank, uint32_t offset) -> absl::StatusOr<uint32_t> {
    return ConstantWord(bank, offset);
  };
  code_.resize(instructions_.size() + 1);
  for (uint32_t i = 0; i < instructions_.size(); ++i) {
    const sass::Instruction& inst = instructions_[i];
    Compiled& c = code_[i];
    RETURN_IF_ERROR(ResolveOperands(inst, num_registers_, constants, &pool_, &c));
    c.index = i;
    Note(inst);
    absl::Status status = CompileControl(inst, &c);
    if (absl::IsNotFound(status)) status = CompileMemory(inst, &c);
    if (absl::IsNotFound(status)) status = CompileAlu(inst, &c);
    if (status.ok()) {
      SM89_ASSERT(c.run != nullptr, "a compiled instruction without a handler");
      RETURN_IF_ERROR(CheckTarget(c));
      continue;
    }
    if (!absl::IsUnimplemented(status) && !absl::IsNotFound(status)) return status;
    const Placed& place = PlaceOf(i);
    refused[absl::IsNotFound(status) ? sass::PrintOpcode(inst) : std::string(status.message())].push_back(
        absl::StrFormat("%s+0x%04x", place.function->name, (i - place.first) * 16));
  }
  code_.back().run = RunPastEnd;
  code_.back().index = num_instructions();
  if (refused.empty()) return absl::OkStatus();
  std::vector<Fault> faults;
  for (const auto& [what, places] : refused) {
    std::vector<std::string> shown(places.begin(),
                                   places.begin() + std::min<size_t>(places.size(), kMaxPlacesListed));
    if (places.size() > shown.size())
      shown.push_back(absl::StrCat("and ", places.size() - shown.size(), " more"));
    faults.push_back({.file = module_->name,
                      .field = absl::StrJoin(shown, ", "),
                      .value = what,
                      .message = absl::StrCat("the emulator has no semantics for ", what)});
  }
  return InputError(absl::StatusCode::kUnimplemented, "", faults);
}

}  // namespace sm89::emu
