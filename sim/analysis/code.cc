#include "sim/analysis/code.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "sim/base/fault.h"
#include "sim/base/strings.h"
#include "sim/sass/decode.h"

namespace sm89::analysis {
namespace {

cubin::SourceLine At(const std::vector<cubin::SourceLine>& lines, size_t index) {
  return index < lines.size() ? lines[index] : cubin::SourceLine{};
}

uint64_t LoadLittle(const uint8_t* bytes) {
  uint64_t value = 0;
  for (int i = 7; i >= 0; --i) value = value << 8 | bytes[i];
  return value;
}

}  // namespace

cubin::SourceLine Code::LineOf(size_t index) const { return At(function->lines, index); }
cubin::SourceLine Code::PtxLineOf(size_t index) const { return At(function->ptx_lines, index); }

std::string_view Code::FileName(uint32_t file) const {
  return file < module->files.size() ? std::string_view(module->files[file]) : std::string_view();
}

size_t Code::NumUsed() const {
  size_t end = insts.size();
  while (end > 0 && insts[end - 1].op == sass::Op::kNop) --end;
  return end;
}

absl::StatusOr<Code> DecodeFunction(const cubin::Module& module, const cubin::Function& function) {
  Code code{.module = &module, .function = &function, .insts = {}};
  const size_t count = function.num_instructions();
  code.insts.reserve(count);
  for (size_t i = 0; i < count; ++i) {
    const uint8_t* bytes = function.code.data() + i * kInstBytes;
    const sass::Word128 word{LoadLittle(bytes), LoadLittle(bytes + 8)};
    absl::StatusOr<sass::Instruction> inst = sass::Decode(word, module.arch);
    if (!inst.ok()) {
      Fault fault;
      fault.file = module.name;
      fault.field = absl::StrCat(function.name, "+", absl::StrFormat("0x%x", i * kInstBytes));
      fault.value = absl::StrFormat("%016x%016x", word.hi, word.lo);
      fault.message = std::string(inst.status().message());
      return InputError(absl::StatusCode::kInvalidArgument, fault);
    }
    code.insts.push_back(*std::move(inst));
  }
  return code;
}

std::string LineText(const Code& code, const cubin::SourceLine& line) {
  if (line.line == 0) return "";
  std::string_view file = code.FileName(line.file);
  if (const size_t slash = file.rfind('/'); slash != std::string_view::npos) file.remove_prefix(slash + 1);
  return file.empty() ? absl::StrCat("line ", line.line) : absl::StrCat(Av(file), ":", line.line);
}

}  // namespace sm89::analysis
