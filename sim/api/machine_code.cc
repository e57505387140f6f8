#include "sim/api/machine_code.h"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "sim/api/named_kernels.h"
#include "sim/base/counted.h"
#include "sim/base/digest.h"
#include "sim/base/fault.h"
#include "sim/base/status_macros.h"
#include "sim/cubin/reader.h"
#include "sim/sass/decode.h"
#include "sim/sass/listing.h"
#include "sim/sass/opcode_text.h"

namespace sm89 {
namespace {

struct CodeFunction {
  sass::ListedFunction code;
  std::shared_ptr<const cubin::Module> module;  // null: of a listing
};

// Places in CodeFile::functions, in its order.
using FunctionIndex = std::map<std::string, std::vector<size_t>>;

struct CodeFile {
  std::string name;
  std::string digest;
  std::vector<CodeFunction> functions;
  FunctionIndex by_name, by_demangled, by_plain;

  std::string base_name() const { return std::filesystem::path(name).filename().string(); }
};

absl::Status Unreadable(const std::string& name, absl::StatusCode code, std::string message) {
  return InputError(code, Fault{.file = name,
                                .field = "sass",
                                .expected = "a cubin or a listing of at most 1 GiB",
                                .message = std::move(message)});
}

absl::StatusOr<std::string> ReadFile(const std::string& path, const std::string& name) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) {
    return Unreadable(name, absl::StatusCode::kInvalidArgument, "it is a folder; name the files in it");
  }
  std::ifstream in(path, std::ios::binary | std::ios::ate);
  const auto size = in ? static_cast<int64_t>(in.tellg()) : -1;
  if (size < 0) return Unreadable(name, absl::StatusCode::kNotFound, "cannot be read");
  if (static_cast<uint64_t>(size) > kMaxMachineCodeBytes) {
    return Unreadable(name, absl::StatusCode::kInvalidArgument, "the file is too large");
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

std::vector<CodeFunction> FunctionsOf(const std::shared_ptr<const cubin::Module>& module) {
  std::vector<CodeFunction> functions;
  for (const cubin::Function& function : module->functions) {
    sass::ListedFunction listed{function.name, module->arch, {}};
    for (size_t at = 0; at + 16 <= function.code.size(); at += 16) {
      sass::ListedInst inst{at, {}};
      for (size_t b = 8; b-- > 0;) {
        inst.word.lo = inst.word.lo << 8 | function.code[at + b];
        inst.word.hi = inst.word.hi << 8 | function.code[at + 8 + b];
      }
      listed.insts.push_back(inst);
    }
    functions.push_back({std::move(listed), module});
  }
  return functions;
}

absl::StatusOr<std::vector<CodeFunction>> ReadFunctions(const std::string& bytes, const std::string& name) {
  std::vector<CodeFunction> all;
  if (!IsBinary(bytes)) {
    ASSIGN_OR_RETURN(std::vector<sass::ListedFunction> listed, sass::ReadListing(bytes, name));
    for (sass::ListedFunction& function : listed) all.push_back({std::move(function), nullptr});
    return all;
  }
  ASSIGN_OR_RETURN(const std::vector<cubin::Image> images, cubin::ListImages(bytes, name));
  for (const cubin::Image& image : images) {
    if (image.is_ptx) continue;
    const std::string_view elf(reinterpret_cast<const char*>(image.bytes.data()), image.bytes.size());
    ASSIGN_OR_RETURN(cubin::Module module, cubin::ParseCubin(elf, image.name));
    std::vector<CodeFunction> functions =
        FunctionsOf(std::make_shared<const cubin::Module>(std::move(module)));
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

absl::StatusOr<CodeFile> ReadCodeFile(const MachineCodeFile& given) {
  CodeFile file{.name = given.name};
  ASSIGN_OR_RETURN(const std::string bytes, ReadFile(given.path, given.name));
  file.digest = Sha256Hex(bytes);
  ASSIGN_OR_RETURN(file.functions, ReadFunctions(bytes, given.name));
  for (size_t i = 0; i < file.functions.size(); ++i) {
    const std::string& name = file.functions[i].code.name;
    const std::string demangled = Demangled(name);
    file.by_name[name].push_back(i);
    file.by_plain[demangled.substr(0, demangled.find('('))].push_back(i);
    file.by_demangled[demangled].push_back(i);
  }
  return file;
}

// Those of the kernel's architecture, or of none, under `name`.
std::vector<const CodeFunction*> FunctionsUnder(const FunctionIndex& index, const CodeFile& file,
                                                const KernelInfo& kernel) {
  std::vector<const CodeFunction*> found;
  const auto named = index.find(kernel.name);
  if (named == index.end()) return found;
  for (const size_t i : named->second) {
    const uint32_t arch = file.functions[i].code.arch;
    if (arch == 0 || arch == kernel.binary_version) found.push_back(&file.functions[i]);
  }
  return found;
}

// As tracers write kernels: mangled, demangled, or without parameters where that names one function only.
const CodeFunction* FindFunction(const CodeFile& file, const KernelInfo& kernel) {
  const auto mangled = FunctionsUnder(file.by_name, file, kernel);
  if (!mangled.empty()) return mangled.front();
  const auto demangled = FunctionsUnder(file.by_demangled, file, kernel);
  if (!demangled.empty()) return demangled.back();
  const auto plain = FunctionsUnder(file.by_plain, file, kernel);
  return plain.size() == 1 ? plain.front() : nullptr;
}

class Overlay {
 public:
  Overlay(const KernelInfo& kernel, const sass::ListedFunction& function, const std::string& file)
      : kernel_(kernel), function_(function), file_(file) {}

  absl::Status Apply(std::vector<StaticInst>* table) const {
    for (StaticInst& inst : *table) {
      const auto it = std::lower_bound(function_.insts.begin(), function_.insts.end(), inst.pc,
                                       [](const sass::ListedInst& a, uint64_t pc) { return a.pc < pc; });
      if (it == function_.insts.end() || it->pc != inst.pc) return Differs(inst, "nothing there");
      const absl::StatusOr<sass::Instruction> code = sass::Decode(it->word, kernel_.binary_version);
      if (!code.ok()) return Differs(inst, std::string(code.status().message()));
      const std::string listed = sass::PrintOpcode(*code);
      if (!sass::SameOpcodeText(inst.opcode, listed)) return Differs(inst, listed);
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
                      Fault{.file = file_,
                            .field = absl::StrCat(kernel_.name, "+", pc),
                            .value = found,
                            .expected = inst.opcode,
                            .message = absl::StrCat("the code of kernel '", kernel_.name, "' at ", pc,
                                                    " is not what was traced: another build"),
                            .facts = {{"pc", pc}, {"traced", inst.opcode}, {"listed", found}}});
  }

  const KernelInfo& kernel_;
  const sass::ListedFunction& function_;
  const std::string& file_;
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
  return {"no_machine_code",
          NamedKernels(names, " without code in the --sass files: control bits are synthesised")};
}

constexpr size_t kNamesShown = 8;

// "a.cubin (2 functions: f of sm_89, g of sm_90)".
std::string Described(const CodeFile& file) {
  std::vector<std::string> names;
  for (const CodeFunction& function : file.functions) {
    if (names.size() == kNamesShown) break;
    const uint32_t arch = function.code.arch;
    names.push_back(arch == 0 ? function.code.name : absl::StrCat(function.code.name, " of sm_", arch));
  }
  if (file.functions.size() > kNamesShown) names.emplace_back("...");
  return absl::StrCat(file.name, " (", Counted(file.functions.size(), "function"), names.empty() ? "" : ": ",
                      absl::StrJoin(names, ", "), ")");
}

// No file says anything about the trace: certainly not what was meant.
absl::Status NothingOfTheTrace(const std::vector<CodeFile>& files, const TraceSetInfo& info,
                               const std::vector<std::string>& kernels) {
  std::vector<std::string> given;
  for (const CodeFile& file : files) given.push_back(Described(file));
  const auto arch = std::find_if(info.kernels.begin(), info.kernels.end(), [&](const KernelInfo& kernel) {
                      return kernel.name == kernels.front();
                    })->binary_version;
  return InputError(absl::StatusCode::kInvalidArgument,
                    Fault{.field = "sass",
                          .value = absl::StrJoin(given, "; "),
                          .expected = NamedKernels(kernels, absl::StrCat(" of sm_", arch)),
                          .message = "no function of the machine code is one of the trace's kernels"});
}

// Files without a function of any kernel of the trace, selected or not, without their folders.
std::vector<std::string> UselessFiles(const std::vector<CodeFile>& files, const TraceSetInfo& info) {
  std::vector<std::string> names;
  for (const CodeFile& file : files) {
    const bool useful = std::any_of(info.kernels.begin(), info.kernels.end(), [&](const KernelInfo& kernel) {
      return FindFunction(file, kernel) != nullptr;
    });
    if (!useful) names.push_back(file.base_name());
  }
  return names;
}

TraceWarning UselessCode(const std::vector<std::string>& names) {
  return {"machine_code_unused", absl::StrCat("--sass ", absl::StrJoin(names, ", "),
                                              ": no function there is a kernel of the trace; not used")};
}

// Gives kernel `k` the code of the first file that has its function; its place, or none.
absl::StatusOr<std::optional<size_t>> GiveCode(const std::vector<CodeFile>& files, const KernelInfo& kernel,
                                               std::span<const StaticInst> table,
                                               std::vector<StaticInst>* encoded, CodeOrigin* origin) {
  for (size_t f = 0; f < files.size(); ++f) {
    const CodeFunction* function = FindFunction(files[f], kernel);
    if (function == nullptr) continue;
    encoded->assign(table.begin(), table.end());
    RETURN_IF_ERROR(Overlay(kernel, function->code, files[f].name).Apply(encoded));
    *origin = {function->module, function->code.name};
    return std::optional<size_t>(f);
  }
  return std::optional<size_t>();
}

}  // namespace

absl::StatusOr<MachineCodeSummary> CheckMachineCode(const MachineCodeFile& file) {
  ASSIGN_OR_RETURN(const std::string bytes, ReadFile(file.path, file.name));
  ASSIGN_OR_RETURN(const std::vector<CodeFunction> functions, ReadFunctions(bytes, file.name));
  if (functions.empty()) {
    return Unreadable(file.name, absl::StatusCode::kInvalidArgument, "it holds no machine code");
  }
  std::set<uint32_t> archs;
  for (const CodeFunction& function : functions) archs.insert(function.code.arch);
  MachineCodeSummary summary{functions.size(), ""};
  for (const uint32_t arch : archs) {
    const std::string text = arch == 0 ? "an unnamed architecture" : absl::StrCat("sm_", arch);
    absl::StrAppend(&summary.archs, summary.archs.empty() ? "" : ", ", text);
  }
  return summary;
}

absl::StatusOr<MachineCode> AddMachineCode(std::shared_ptr<TraceSource> trace,
                                           const std::vector<MachineCodeFile>& paths,
                                           const std::vector<bool>& selected) {
  std::vector<CodeFile> files;
  for (const MachineCodeFile& path : paths) {
    ASSIGN_OR_RETURN(CodeFile file, ReadCodeFile(path));
    files.push_back(std::move(file));
  }
  MachineCode result;
  for (const CodeFile& file : files) result.given.push_back({file.base_name(), file.digest});
  TraceSetInfo info = trace->info();
  result.files.resize(info.kernels.size());
  result.origins.resize(info.kernels.size());
  std::vector<std::vector<StaticInst>> tables(info.kernels.size());
  std::vector<std::string> missing;
  for (uint32_t k = 0; k < info.kernels.size(); ++k) {
    const KernelInfo& kernel = info.kernels[k];
    const std::span<const StaticInst> table = trace->StaticTable(k);
    if (!selected[k] || HasEncodings(table)) continue;
    ASSIGN_OR_RETURN(const std::optional<size_t> file,
                     GiveCode(files, kernel, table, &tables[k], &result.origins[k]));
    if (file.has_value()) {
      result.files[k] = files[*file].base_name();
    } else if (std::find(missing.begin(), missing.end(), kernel.name) == missing.end()) {
      missing.push_back(kernel.name);
    }
  }
  const std::vector<std::string> useless = UselessFiles(files, info);
  if (useless.size() == files.size() && !missing.empty()) return NothingOfTheTrace(files, info, missing);
  if (!missing.empty()) info.warnings.push_back(MissingKernels(missing));
  if (!useless.empty()) info.warnings.push_back(UselessCode(useless));
  result.source = std::make_shared<EncodedSource>(std::move(trace), std::move(info), std::move(tables));
  return result;
}

}  // namespace sm89
