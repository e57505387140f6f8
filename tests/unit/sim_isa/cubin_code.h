// Kernels of cubins as static tables with their control flow, for tests against what ptxas wrote.
#pragma once

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "sim/cubin/reader.h"
#include "sim/isa/code_flow.h"
#include "sim/isa/decoded_inst.h"
#include "sim/replay/static_inst.h"
#include "sim/sass/decode.h"

namespace sm89::testing {

struct CubinKernel {
  std::string name;
  uint32_t arch = 0;
  std::vector<StaticInst> table;  // one an instruction
  CodeFlow flow;
  DecodedKernel real;
};

// Empty when a word does not decode.
inline CubinKernel KernelOf(const cubin::Module& module, const cubin::Function& function) {
  CubinKernel kernel{function.name, module.arch, {}, {}, {}};
  std::vector<sass::Instruction> code;
  for (size_t at = 0; at + 16 <= function.code.size(); at += 16) {
    sass::Word128 word;
    for (size_t b = 8; b-- > 0;) {
      word.lo = word.lo << 8 | function.code[at + b];
      word.hi = word.hi << 8 | function.code[at + 8 + b];
    }
    absl::StatusOr<sass::Instruction> inst = sass::Decode(word, module.arch);
    if (!inst.ok()) return kernel;
    code.push_back(*inst);
  }
  while (!code.empty() && code.back().op == sass::Op::kNop) code.pop_back();  // fills the last 128 bytes
  if (!code.empty() && code.back().op == sass::Op::kBra) code.pop_back();  // to itself, behind the last EXIT
  for (size_t i = 0; i < code.size(); ++i) {
    kernel.table.push_back(MakeStaticInst(code[i], static_cast<uint32_t>(16 * i), 0));
  }
  kernel.flow = FlowOfMachineCode(kernel.table, module.arch);
  kernel.real = DecodeKernel(kernel.table, {.binary_version = module.arch});
  return kernel;
}

// Every kernel of every cubin of the reference corpus, by file name. "_G" and "_O0" are unoptimised builds,
// whose control bits wait for everything. Empty where the corpus is absent.
inline std::vector<CubinKernel> CorpusKernels(uint32_t arch, bool optimised_only) {
  std::vector<std::filesystem::path> paths;
  for (const char* folder : {"/../shared/sass/cubin", "/../shared/silicon/cubin"}) {
    const std::filesystem::path path = std::string(SM89_SOURCE_DIR) + folder;
    if (!std::filesystem::exists(path)) continue;
    for (const auto& entry : std::filesystem::directory_iterator(path)) paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  std::vector<CubinKernel> kernels;
  for (const std::filesystem::path& path : paths) {
    const std::string stem = path.stem().string();
    if (optimised_only && (stem.ends_with("_G") || stem.ends_with("_O0") || stem == "p_probe")) continue;
    const absl::StatusOr<std::vector<cubin::Module>> modules = cubin::OpenModules(path.string(), arch);
    if (!modules.ok()) continue;
    for (const cubin::Module& module : *modules) {
      if (module.arch != arch) continue;
      for (const cubin::Function& function : module.functions) {
        CubinKernel kernel = KernelOf(module, function);
        if (!kernel.table.empty()) kernels.push_back(std::move(kernel));
      }
    }
  }
  return kernels;
}

}  // namespace sm89::testing
