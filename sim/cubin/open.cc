// From a path to a module: which image, and what to say when there is none.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "sim/cubin/container.h"

namespace sm89::cubin {
namespace {

std::string_view AsText(const std::vector<uint8_t>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

absl::Status PathFault(absl::StatusCode code, const std::string& path, const std::string& message) {
  Fault fault;
  fault.file = path;
  fault.message = message;
  return InputError(code, fault);
}

absl::StatusOr<std::string> ReadFile(const std::string& path, const ReadLimits& limits) {
  std::error_code error;
  const auto kind = std::filesystem::status(path, error).type();
  if (kind == std::filesystem::file_type::not_found) {
    return PathFault(absl::StatusCode::kNotFound, path, "no such file");
  }
  if (kind != std::filesystem::file_type::regular) {
    return PathFault(absl::StatusCode::kInvalidArgument, path, "is not a regular file");
  }
  const uint64_t size = std::filesystem::file_size(path, error);
  if (error) return PathFault(absl::StatusCode::kUnavailable, path, "cannot be read: " + error.message());
  if (size > limits.file_bytes) {
    return TooMuch(path, 0, "the file is too large", absl::StrCat(size, " bytes"),
                   absl::StrCat("at most ", limits.file_bytes));
  }
  std::ifstream in(path, std::ios::binary);
  if (!in) return PathFault(absl::StatusCode::kPermissionDenied, path, "cannot be opened");
  std::string bytes(size, '\0');
  in.read(bytes.data(), static_cast<std::streamsize>(size));
  if (static_cast<uint64_t>(in.gcount()) != size) {
    return PathFault(absl::StatusCode::kUnavailable, path, "cannot be read to its end");
  }
  return bytes;
}

// Code for `from` runs as it is on `to`: an older sm_8x on a newer one (same major version, NVIDIA's rule of
// binary compatibility), any other only on itself.
bool Runs(uint32_t from, uint32_t to) { return from == to || (from / 10 == 8 && to / 10 == 8 && from < to); }

// The architecture to take for `arch`: the newest that runs on it. 0 = none.
uint32_t ChooseArch(const std::vector<Entry>& entries, uint32_t arch) {
  uint32_t best = 0;
  for (const Entry& entry : entries) {
    if (!entry.is_ptx && Runs(entry.arch, arch)) best = std::max(best, entry.arch);
  }
  return best;
}

absl::Status NothingFor(const std::vector<Entry>& entries, const std::string& path, uint32_t arch) {
  std::set<std::string> code;
  std::set<std::string> ptx;
  for (const Entry& entry : entries) {
    (entry.is_ptx ? ptx : code).insert(absl::StrCat(entry.is_ptx ? "compute_" : "sm_", entry.arch));
  }
  Fault fault;
  fault.file = path;
  fault.field = "architecture";
  fault.value = code.empty() ? "none" : absl::StrJoin(code, ", ");
  fault.expected = absl::StrCat("sm_", arch);
  fault.message = absl::StrCat("holds no machine code for sm_", arch);
  if (!ptx.empty()) {
    absl::StrAppend(&fault.message, "; it has PTX for ", absl::StrJoin(ptx, ", "),
                    ", which ptxas can compile to a cubin");
    fault.facts.emplace_back("ptx", absl::StrJoin(ptx, ","));
  }
  return InputError(absl::StatusCode::kNotFound, fault);
}

// PTX of the same architecture that came along, for a module without its own text.
absl::Status AddPtx(const std::vector<Entry>& entries, const std::string& path, const ReadLimits& limits,
                    Module& module) {
  if (!module.ptx.empty()) return absl::OkStatus();
  for (const Entry& entry : entries) {
    if (!entry.is_ptx || entry.arch != module.arch) continue;
    const auto text = Unpack(entry, path, limits);
    if (!text.ok()) return text.status();
    module.ptx.assign(text->begin(), text->end());
    return absl::OkStatus();
  }
  return absl::OkStatus();
}

bool HasKernels(const Module& module) {
  return std::any_of(module.functions.begin(), module.functions.end(),
                     [](const Function& f) { return f.is_kernel; });
}

// A linked program also carries the relocatable objects it was linked from: they are not for running.
void DropLinkedObjects(std::vector<Module>& modules) {
  const bool is_linked = std::any_of(modules.begin(), modules.end(), [](const Module& module) {
    return !module.relocatable && !module.functions.empty();
  });
  if (!is_linked) return;
  std::erase_if(modules, [](const Module& module) { return module.relocatable; });
}

std::string KernelNames(const std::vector<Module>& modules) {
  constexpr size_t kShown = 20;
  std::vector<std::string> names;
  size_t kernels = 0;
  for (const Module& module : modules) {
    for (const Function& function : module.functions) {
      if (function.is_kernel && ++kernels <= kShown) names.push_back(function.name);
    }
  }
  if (kernels > kShown) names.push_back(absl::StrCat("and ", kernels - kShown, " more"));
  return absl::StrJoin(names, ", ");
}

}  // namespace

absl::StatusOr<std::vector<Image>> ListImages(std::string_view bytes, const std::string& name,
                                              const ReadLimits& limits) {
  const auto entries = ListEntries(bytes, name, limits);
  if (!entries.ok()) return entries.status();
  std::vector<Image> images;
  uint64_t total_bytes = 0;
  for (const Entry& entry : *entries) {
    total_bytes += std::min(entry.unpacked_bytes, limits.image_bytes);
    if (total_bytes > limits.file_bytes) {
      return TooMuch(name, entry.payload.base(), "the images are too large together",
                     absl::StrCat(total_bytes, " bytes"), absl::StrCat("at most ", limits.file_bytes));
    }
    auto unpacked = Unpack(entry, name, limits);
    if (!unpacked.ok()) return unpacked.status();
    images.push_back({entry.is_ptx, entry.arch, entry.name, *std::move(unpacked)});
  }
  return images;
}

absl::StatusOr<std::vector<Module>> OpenModules(const std::string& path, uint32_t arch,
                                                const ReadLimits& limits) {
  const auto bytes = ReadFile(path, limits);
  if (!bytes.ok()) return bytes.status();
  return ModulesOf(*bytes, path, arch, limits);
}

absl::StatusOr<std::vector<Module>> ModulesOf(std::string_view bytes, const std::string& path, uint32_t arch,
                                              const ReadLimits& limits) {
  const auto entries = ListEntries(bytes, path, limits);
  if (!entries.ok()) return entries.status();
  const uint32_t chosen = ChooseArch(*entries, arch);
  if (chosen == 0) return NothingFor(*entries, path, arch);
  std::vector<Module> modules;
  uint64_t total_bytes = 0;
  for (const Entry& entry : *entries) {
    if (entry.is_ptx || entry.arch != chosen) continue;
    total_bytes += std::min(entry.unpacked_bytes, limits.image_bytes);
    if (total_bytes > limits.file_bytes) {
      return TooMuch(path, entry.payload.base(), "the images are too large together",
                     absl::StrCat(total_bytes, " bytes"), absl::StrCat("at most ", limits.file_bytes));
    }
    const auto image = Unpack(entry, path, limits);
    if (!image.ok()) return image.status();
    auto module = ParseCubin(AsText(*image), entry.name, limits);
    if (!module.ok()) return module.status();
    modules.push_back(*std::move(module));
  }
  DropLinkedObjects(modules);
  if (modules.size() == 1) {
    const absl::Status status = AddPtx(*entries, path, limits, modules[0]);
    if (!status.ok()) return status;
  }
  return modules;
}

absl::StatusOr<Module> OpenCubin(const std::string& path, uint32_t arch, const ReadLimits& limits) {
  auto modules = OpenModules(path, arch, limits);
  if (!modules.ok()) return modules.status();
  if (modules->size() == 1) return std::move(modules->front());
  std::vector<Module> with_kernels;
  for (Module& module : *modules) {
    if (HasKernels(module)) with_kernels.push_back(std::move(module));
  }
  if (with_kernels.size() == 1) return std::move(with_kernels.front());
  Fault fault;
  fault.file = path;
  fault.field = "images";
  fault.value = absl::StrCat(with_kernels.size(), " with kernels");
  fault.expected = "one, or a kernel's name to choose by";
  fault.message = absl::StrCat("holds several images for sm_", arch, ": ", KernelNames(with_kernels));
  return InputError(absl::StatusCode::kFailedPrecondition, fault);
}

absl::StatusOr<Module> OpenCubinWith(const std::string& path, const std::string& kernel, uint32_t arch,
                                     const ReadLimits& limits) {
  auto modules = OpenModules(path, arch, limits);
  if (!modules.ok()) return modules.status();
  for (Module& module : *modules) {
    const Function* function = module.Find(kernel);
    if (function != nullptr && function->is_kernel) return std::move(module);
  }
  Fault fault;
  fault.file = path;
  fault.field = "kernel";
  fault.value = kernel;
  fault.expected = KernelNames(*modules);
  fault.message = "no such kernel in the file";
  return InputError(absl::StatusCode::kNotFound, fault);
}

}  // namespace sm89::cubin
