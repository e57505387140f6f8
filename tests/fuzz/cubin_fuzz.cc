// The cubin and container readers on any bytes: they must answer with OK or an InputError, in bounded memory.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "sim/base/assert.h"
#include "sim/base/fault.h"
#include "sim/cubin/reader.h"

namespace {

using sm89::cubin::Function;
using sm89::cubin::Module;

constexpr sm89::cubin::ReadLimits kLimits = {.file_bytes = 4 << 20, .image_bytes = 1 << 20, .images = 64};

void CheckRefusal(const absl::Status& status) {
  SM89_ASSERT(!sm89::FaultsOf(status).empty(), "every refusal carries its faults");
}

// What a module's users rely on without looking again.
void CheckFunction(const Module& module, const Function& function) {
  SM89_ASSERT(function.code.size() % 16 == 0, "code is whole instructions");
  const bool has_lines = function.lines.empty() || function.lines.size() == function.num_instructions();
  SM89_ASSERT(has_lines, "a line for each instruction, or none");
  for (const sm89::cubin::SourceLine& line : function.lines) {
    SM89_ASSERT(line.line == 0 || line.file < module.files.size(), "lines name files of the module");
  }
  for (const auto& symbol : function.symbols) {
    SM89_ASSERT(symbol.offset + symbol.size_bytes <= function.code.size(), "callees lie in the code");
  }
  for (const auto& branch : function.indirect_branches) {
    for (const uint32_t target : branch.targets) {
      SM89_ASSERT(target < function.code.size(), "branch targets lie in the code");
    }
  }
  for (const auto& relocation : function.code_relocations) {
    SM89_ASSERT(relocation.offset < function.code.size(), "relocations lie in the code");
    const bool is_function = relocation.place == sm89::cubin::SymbolPlace::kFunction;
    SM89_ASSERT(!is_function || relocation.target_index < module.functions.size(), "targets exist");
  }
}

void CheckCubin(std::string_view bytes) {
  const auto module = sm89::cubin::ParseCubin(bytes, "fuzz.cubin", kLimits);
  if (!module.ok()) {
    CheckRefusal(module.status());
    return;
  }
  for (const Function& function : module->functions) CheckFunction(*module, function);
  for (const auto& variable : module->variables) {
    const uint64_t memory = variable.in_constant ? module->constant3.size() : module->globals.size();
    SM89_ASSERT(variable.offset + variable.size_bytes <= memory, "variables lie in their memory");
  }
  for (const auto& relocation : module->global_relocations) {
    SM89_ASSERT(relocation.offset < module->globals.size(), "relocations lie in the globals");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  CheckCubin(bytes);
  const auto images = sm89::cubin::ListImages(bytes, "fuzz", kLimits);
  if (!images.ok()) {
    CheckRefusal(images.status());
    return 0;
  }
  for (const auto& image : *images) {
    SM89_ASSERT(image.bytes.size() <= kLimits.image_bytes, "an image keeps its limit");
    if (!image.is_ptx) CheckCubin({reinterpret_cast<const char*>(image.bytes.data()), image.bytes.size()});
  }
  return 0;
}
