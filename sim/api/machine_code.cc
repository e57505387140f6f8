#include "sim/api/machine_code.h"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "sim/base/fault.h"
#include "sim/base/status_macros.h"
#include "sim/cubin/reader.h"
#include "sim/sass/decode.h"
#include "sim/sass/listing.h"

namespace sm89 {
namespace {

constexpr uint64_t kMaxFileBytes = uint64_t{1} << 30;

struct CodeFunction {
  sass::ListedFunction code;
  std::string demangled;  // "void axpy<float>(float*, int)"; the name itself where it is not mangled
  std::string plain;      // without parameters
};

struct CodeFile {
  std::string path;
  std::vector<CodeFunction> functions;
};

absl::StatusOr<std::string> ReadFile(const std::string& path) {
  std::ifstream in(path, std::ios::binary | std::ios::ate);
  const auto size = in ? static_cast<int64_t>(in.tellg()) : -1;
  if (size < 0 || static_cast<uint64_t>(size) > kMaxFileBytes) {
    return InputError(size < 0 ? absl::StatusCode::kNotFound : absl::StatusCode::kInvalidArgument,
                      Fault{.file = path,
                            .field = "--sass",
                            .expected = "a cubin or a listing of at most 1 GiB",
                            .message = size < 0 ? "cannot be read" : "the file is too large"});
  }
  in.seekg(0);
  std::string bytes(std::istreambuf_iterator<char>(in), {});
  return bytes;
}

// ELF, fat binary, archive: anything that begins with bytes of no text.
bool IsBinary(const std::string& bytes) {
  return bytes.starts_with(
             "\x7f"
             "ELF") ||
         bytes.starts_with("\x50\xed\x55\xba") || bytes.starts_with("!<arch>\n") ||
         bytes.substr(0, 16).find('\0') != std::string::npos;
}

std::vector<sass::ListedFunction> FunctionsOf(const cubin::Module& module) {
  std::vector<sass::ListedFunction> functions;
  for (const cubin::Function& function : module.functions) {
    sass::ListedFunction listed{function.name, module.arch, {}};
    for (size_t at = 0; at + 16 <= function.code.size(); at += 16) {
      sass::ListedInst inst{at, {}};
      for (size_t b = 8; b-- > 0;) {
        inst.word.lo = inst.word.lo << 8 | function.code[at + b];
        inst.word.hi = inst.word.hi << 8 | function.code[at + 8 + b];
      }
      listed.insts.push_back(inst);
    }
    functions.push_back(std::move(listed));
  }
  return functions;
}

absl::StatusOr<std::vector<sass::ListedFunction>> ReadFunctions(const std::string& path) {
  ASSIGN_OR_RETURN(const std::string bytes, ReadFile(path));
  if (!IsBinary(bytes)) return sass::ReadListing(bytes, path);
  std::vector<sass::ListedFunction> all;
  ASSIGN_OR_RETURN(const std::vector<cubin::Image> images, cubin::ListImages(bytes, path));
  for (const cubin::Image& image : images) {
    if (image.is_ptx) continue;
    const std::string_view elf(reinterpret_cast<const char*>(image.bytes.data()), image.bytes.size());
    ASSIGN_OR_RETURN(const cubin::Module module, cubin::ParseCubin(elf, image.name));
    std::vector<sass::ListedFunction> functions = FunctionsOf(module);
    std::move(functions.begin(), functions.end(), std::back_inserter(all));
  }
  return all;
}

std::string Demangled(const std::string& name) {
  int status = 0;
  char* text = abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status);
  if (text == nullptr) return name;
  std::string demangled(text);
  std::free(text);
  return demangled;
}

absl::StatusOr<CodeFile> ReadCodeFile(const std::string& path) {
  ASSIGN_OR_RETURN(std::vector<sass::ListedFunction> functions, ReadFunctions(path));
  CodeFile file{path, {}};
  for (sass::ListedFunction& function : functions) {
    const std::string demangled = Demangled(function.name);
    file.functions.push_back({std::move(function), demangled, demangled.substr(0, demangled.find('('))});
  }
  return file;
}

// As tracers write kernels: mangled, demangled, or without parameters where that names one function only.
const sass::ListedFunction* FindFunction(const CodeFile& file, const KernelInfo& kernel) {
  const CodeFunction* by_demangled = nullptr;
  const CodeFunction* by_plain = nullptr;
  int plain = 0;
  for (const CodeFunction& function : file.functions) {
    if (function.code.arch != 0 && function.code.arch != kernel.binary_version) continue;
    if (function.code.name == kernel.name) return &function.code;
    if (function.demangled == kernel.name) by_demangled = &function;
    if (function.plain == kernel.name) {
      by_plain = &function;
      ++plain;
    }
  }
  if (by_demangled != nullptr) return &by_demangled->code;
  return plain == 1 ? &by_plain->code : nullptr;
}

std::string_view BaseOf(const std::string& opcode) {
  return std::string_view(opcode).substr(0, opcode.find('.'));
}

class Overlay {
 public:
  Overlay(const KernelInfo& kernel, const sass::ListedFunction& function, const std::string& path)
      : kernel_(kernel), function_(function), path_(path) {}

  absl::Status Apply(std::vector<StaticInst>* table) const {
    for (StaticInst& inst : *table) {
      const auto it = std::lower_bound(function_.insts.begin(), function_.insts.end(), inst.pc,
                                       [](const sass::ListedInst& a, uint64_t pc) { return a.pc < pc; });
      if (it == function_.insts.end() || it->pc != inst.pc) return Differs(inst, "nothing there");
      const absl::StatusOr<sass::Instruction> code = sass::Decode(it->word, kernel_.binary_version);
      if (!code.ok()) return Differs(inst, std::string(code.status().message()));
      if (Name(code->op) != BaseOf(inst.opcode)) return Differs(inst, sass::PrintOpcode(*code));
      inst.has_encoding = true;
      for (size_t i = 0; i < 8; ++i) {
        inst.encoding[i] = static_cast<uint8_t>(it->word.lo >> (8 * i));
        inst.encoding[8 + i] = static_cast<uint8_t>(it->word.hi >> (8 * i));
      }
    }
    return absl::OkStatus();
  }

 private:
  absl::Status Differs(const StaticInst& inst, const std::string& found) const {
    const std::string pc = absl::StrCat("0x", absl::Hex(inst.pc));
    return InputError(absl::StatusCode::kInvalidArgument,
                      Fault{.file = path_,
                            .field = absl::StrCat(kernel_.name, "+", pc),
                            .value = found,
                            .expected = inst.opcode,
                            .message = absl::StrCat("the code of kernel '", kernel_.name, "' at ", pc,
                                                    " is not what was traced: another build"),
                            .facts = {{"pc", pc}, {"traced", inst.opcode}, {"listed", found}}});
  }

  const KernelInfo& kernel_;
  const sass::ListedFunction& function_;
  const std::string& path_;
};

class EncodedSource final : public TraceSource {
 public:
  EncodedSource(std::shared_ptr<TraceSource> trace, TraceSetInfo info,
                std::vector<std::vector<StaticInst>> tables)
      : trace_(std::move(trace)), info_(std::move(info)), tables_(std::move(tables)) {}

  const TraceSetInfo& info() const override { return info_; }
  const std::string& digest() const override { return trace_->digest(); }
  std::span<const StaticInst> StaticTable(uint32_t kernel) const override {
    return tables_[kernel].empty() ? trace_->StaticTable(kernel) : tables_[kernel];
  }
  uint64_t NumCtas(uint32_t kernel) const override { return trace_->NumCtas(kernel); }
  Dim3 CtaId(uint32_t kernel, uint64_t index) const override { return trace_->CtaId(kernel, index); }
  absl::StatusOr<std::unique_ptr<CtaTrace>> OpenCta(uint32_t kernel, uint64_t index) override {
    return trace_->OpenCta(kernel, index);
  }
  bool live() const override { return trace_->live(); }

 private:
  std::shared_ptr<TraceSource> trace_;
  TraceSetInfo info_;
  std::vector<std::vector<StaticInst>> tables_;  // by kernel; empty: the trace's own
};

bool HasEncodings(std::span<const StaticInst> table) {
  return std::any_of(table.begin(), table.end(), [](const StaticInst& inst) { return inst.has_encoding; });
}

TraceWarning MissingKernels(const std::vector<std::string>& names) {
  constexpr size_t kShown = 10;
  std::string text = absl::StrCat(names.size(), " kernel(s) without code in the --sass files: ");
  for (size_t i = 0; i < names.size() && i < kShown; ++i)
    absl::StrAppend(&text, i == 0 ? "" : ", ", names[i]);
  if (names.size() > kShown) absl::StrAppend(&text, " and ", names.size() - kShown, " more");
  absl::StrAppend(&text, "; their control bits are synthesised");
  return {"no_machine_code", text};
}

}  // namespace

absl::StatusOr<MachineCode> AddMachineCode(std::shared_ptr<TraceSource> trace,
                                           const std::vector<std::string>& paths) {
  std::vector<CodeFile> files;
  for (const std::string& path : paths) {
    ASSIGN_OR_RETURN(CodeFile file, ReadCodeFile(path));
    files.push_back(std::move(file));
  }
  MachineCode result;
  TraceSetInfo info = trace->info();
  result.files.resize(info.kernels.size());
  std::vector<std::vector<StaticInst>> tables(info.kernels.size());
  std::vector<std::string> missing;
  for (uint32_t k = 0; k < info.kernels.size(); ++k) {
    const KernelInfo& kernel = info.kernels[k];
    const std::span<const StaticInst> table = trace->StaticTable(k);
    if (HasEncodings(table)) continue;
    for (const CodeFile& file : files) {
      const sass::ListedFunction* function = FindFunction(file, kernel);
      if (function == nullptr) continue;
      tables[k].assign(table.begin(), table.end());
      RETURN_IF_ERROR(Overlay(kernel, *function, file.path).Apply(&tables[k]));
      result.files[k] = file.path;
      break;
    }
    const bool known = std::find(missing.begin(), missing.end(), kernel.name) != missing.end();
    if (result.files[k].empty() && !known) missing.push_back(kernel.name);
  }
  if (!missing.empty()) info.warnings.push_back(MissingKernels(missing));
  result.source = std::make_shared<EncodedSource>(std::move(trace), std::move(info), std::move(tables));
  return result;
}

}  // namespace sm89
