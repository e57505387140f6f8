#include "sim/tools/analysis_command.h"

#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "sim/analysis/bank_conflicts.h"
#include "sim/analysis/cfg.h"
#include "sim/analysis/listing.h"
#include "sim/analysis/liveness.h"
#include "sim/analysis/mix.h"
#include "sim/analysis/mma_diagram.h"
#include "sim/analysis/module_info.h"
#include "sim/analysis/ptx_map.h"
#include "sim/analysis/spills.h"
#include "sim/analysis/stalls.h"
#include "sim/base/fault.h"
#include "sim/base/status_macros.h"
#include "sim/base/strings.h"
#include "sim/config/config.h"
#include "sim/cubin/reader.h"
#include "sim/replay/program.h"
#include "sim/tools/ptx_compile.h"

namespace sm89 {
namespace {

using Json = nlohmann::ordered_json;
using analysis::Cfg;
using analysis::Code;

absl::Status Mistake(const std::string& field, const std::string& value, const std::string& expected,
                     const std::string& message) {
  Fault fault;
  fault.field = field;
  fault.value = value;
  fault.expected = expected;
  fault.message = message;
  return InputError(absl::StatusCode::kInvalidArgument, fault);
}

absl::StatusOr<std::string> ReadFile(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) {
    Fault fault;
    fault.file = path;
    fault.expected = "a file";
    fault.message = error ? error.message() : "not a regular file";
    return InputError(absl::StatusCode::kNotFound, fault);
  }
  std::ifstream in(path, std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(in), {}};
  if (!in) return absl::UnavailableError(absl::StrCat(path, ": cannot be read"));
  return bytes;
}

// The code to look at.
struct Image {
  std::string name;
  std::string bytes;
  std::string ptx;  // when the image was PTX itself
};

absl::StatusOr<Image> OpenImage(const AnalysisRequest& request) {
  if (request.image_path.empty()) return Mistake("cubin", "", "a file with machine code", "no file given");
  Image image;
  image.name = std::filesystem::path(request.image_path).filename().string();
  if (IsProgramFile(request.image_path)) {
    ASSIGN_OR_RETURN(Program program, ReadProgramFile(request.image_path));
    std::string module = request.module;
    if (module.empty() && program.modules.size() == 1) module = program.modules.begin()->first;
    const auto found = program.modules.find(module);
    if (found == program.modules.end()) {
      std::vector<std::string> names;
      for (const auto& [name, bytes] : program.modules) names.push_back(name);
      return Mistake("module", request.module, absl::StrCat("one of ", absl::StrJoin(names, ", ")),
                     absl::StrCat(program.name, " has no such module"));
    }
    image.name = module.empty() ? program.name : module;
    image.bytes = std::move(found->second);
  } else {
    ASSIGN_OR_RETURN(image.bytes, ReadFile(request.image_path));
  }
  if (LooksLikePtx(image.bytes)) {
    image.ptx = std::move(image.bytes);
    ASSIGN_OR_RETURN(image.bytes,
                     CompilePtx(image.ptx, image.name, request.arch, {.program = request.ptxas}));
  }
  return image;
}

// What one function's analysis gives.
struct Answer {
  std::string text, json;
};
using Analyse = std::function<absl::StatusOr<Answer>(const Code&, const Cfg&)>;

template <class Report, class... Context>
Answer Both(const Report& report, const Context&... context) {
  return {ToText(report, context...), ToJson(report, context...)};
}

// For texts that do not name their function.
Answer Named(const Code& code, Answer answer) {
  answer.text = absl::StrCat(code.function->name, ":\n", answer.text);
  return answer;
}

absl::StatusOr<Answer> MapOne(const Code& code, const analysis::PtxSource& ptx, const GpuConfig& config) {
  ASSIGN_OR_RETURN(const analysis::PtxReport report, analysis::MapPtx(code, ptx, config));
  return Both(report, code, ptx);
}

std::map<std::string, Analyse> FunctionAnalyses() {
  return {
      {"cfg", [](const Code& code, const Cfg& cfg) { return Both(cfg, code); }},
      {"dis",
       [](const Code& code, const Cfg& cfg) {
         const analysis::Listing listing = MakeListing(code, cfg, ComputeLiveness(code, cfg));
         return Answer{ToText(listing, code), ToJson(listing, code)};
       }},
      {"live", [](const Code& code, const Cfg& cfg) { return Both(ComputeLiveness(code, cfg), code, cfg); }},
      {"spills", [](const Code& code, const Cfg&) { return Both(FindSpills(code), code); }},
      {"mix", [](const Code& code, const Cfg&) { return Named(code, Both(CountMix(code))); }},
      {"banks", [](const Code& code,
                   const Cfg& cfg) { return Named(code, Both(FindBankConflicts(code, cfg), code)); }},
      {"stalls", [](const Code& code,
                    const Cfg& cfg) { return Named(code, Both(AnalyseStalls(code, cfg), code, cfg)); }},
  };
}

absl::Status NoFunction(const AnalysisRequest& request, const std::vector<std::string>& names) {
  return Mistake(
      "function", request.function,
      names.empty() ? "code" : absl::StrCat("one of ", absl::StrJoin(names, ", ")),
      absl::StrCat(std::filesystem::path(request.image_path).filename().string(), " has no such function"));
}

// Runs `analyse` over the wanted functions of all modules.
absl::StatusOr<std::string> OverFunctions(const AnalysisRequest& request,
                                          const std::vector<cubin::Module>& modules, const Analyse& analyse) {
  std::string text;
  Json functions = Json::array();
  std::vector<std::string> names;
  for (const cubin::Module& module : modules) {
    for (const cubin::Function& function : module.functions) {
      names.push_back(function.name);
      if (!request.function.empty() && request.function != function.name) continue;
      ASSIGN_OR_RETURN(const Code code, analysis::DecodeFunction(module, function));
      ASSIGN_OR_RETURN(const Answer answer, analyse(code, BuildCfg(code)));
      if (answer.text.empty()) continue;
      absl::StrAppend(&text, text.empty() ? "" : "\n", answer.text);
      if (request.format == "json") functions.push_back(Json::parse(answer.json, nullptr, false));
    }
  }
  if (text.empty()) return NoFunction(request, names);
  if (request.format != "json") return text;
  const Json root = {{"kind", request.kind}, {"functions", std::move(functions)}};
  return absl::StrCat(root.dump(1, ' ', false, Json::error_handler_t::replace), "\n");
}

absl::StatusOr<std::string> Info(const AnalysisRequest& request, const std::vector<cubin::Module>& modules,
                                 const GpuConfig& config) {
  if (request.threads == 0 && request.dynamic_shared_bytes != 0) {
    return Mistake("threads", "", "the block size whose occupancy is wanted",
                   "dynamic shared memory means nothing without it");
  }
  std::optional<analysis::LaunchShape> launch;
  if (request.threads != 0) {
    launch = analysis::LaunchShape{.block_threads = request.threads,
                                   .dynamic_shared_bytes = request.dynamic_shared_bytes,
                                   .carveout_percent = {}};
  }
  std::string text;
  Json list = Json::array();
  std::vector<std::string> names;
  size_t found = 0;
  for (const cubin::Module& module : modules) {
    ASSIGN_OR_RETURN(analysis::ModuleInfo info, analysis::DescribeModule(module, config.sm, launch));
    for (const auto& row : info.kernels) names.push_back(row.function->name);
    if (!request.function.empty()) {
      std::erase_if(info.kernels, [&](const auto& row) { return row.function->name != request.function; });
      if (info.kernels.empty()) continue;
    }
    found += info.kernels.size();
    absl::StrAppend(&text, text.empty() ? "" : "\n", ToText(info));
    if (request.format == "json") list.push_back(Json::parse(ToJson(info), nullptr, false));
  }
  if (found == 0 && !request.function.empty()) return NoFunction(request, names);
  if (request.format != "json") return text;
  const Json root = {{"kind", request.kind}, {"modules", std::move(list)}};
  return absl::StrCat(root.dump(1, ' ', false, Json::error_handler_t::replace), "\n");
}

absl::StatusOr<std::string> Ptx(const AnalysisRequest& request, const Image& image,
                                const std::vector<cubin::Module>& modules, const GpuConfig& config) {
  std::string text = image.ptx;
  std::string name = image.name;
  if (!request.ptx_path.empty()) {
    ASSIGN_OR_RETURN(text, ReadFile(request.ptx_path));
    name = request.ptx_path;
  }
  for (const cubin::Module& module : modules) {
    if (text.empty()) text = module.ptx;
  }
  if (text.empty()) {
    return Mistake("ptx", "", "PTX text (--ptx FILE)", absl::StrCat(image.name, " holds no PTX"));
  }
  ASSIGN_OR_RETURN(const analysis::PtxSource source, analysis::ParsePtx(text, name));
  // Library functions that the linker adds come without PTX.
  absl::Status missing;
  bool any = false;
  const absl::StatusOr<std::string> answer =
      OverFunctions(request, modules, [&](const Code& code, const Cfg&) -> absl::StatusOr<Answer> {
        absl::StatusOr<Answer> one = MapOne(code, source, config);
        any = any || one.ok();
        if (!absl::IsNotFound(one.status()) || !request.function.empty()) return one;
        missing = one.status();
        return Answer{};
      });
  return any || missing.ok() ? answer : missing;
}

// "m16n8k16", "mma.m16n8k16", "f16.f32", "ldmatrix", "x4": whole parts of a name, in its order.
bool HasParts(const std::string& name, const std::string& parts) {
  return parts.empty() || absl::StrContains(absl::StrCat(".", name, "."), absl::StrCat(".", parts, "."));
}

absl::StatusOr<std::vector<std::string>> WantedLayouts(const AnalysisRequest& request) {
  std::vector<std::string> wanted;
  for (const std::string& name : analysis::MmaNames()) {
    if (request.type.empty() && name == request.shape) return std::vector<std::string>{name};
    if (HasParts(name, request.shape) && HasParts(name, request.type)) wanted.push_back(name);
  }
  const std::string asked = absl::StrJoin({request.shape, request.type}, request.type.empty() ? "" : " ");
  if (wanted.empty()) {
    return Mistake("shape", asked, absl::StrCat("one of ", absl::StrJoin(analysis::MmaNames(), ", ")),
                   "no layout of this shape and type");
  }
  const bool picture = request.format == "svg";
  if (picture && wanted.size() > 1 && !HasParts(request.shape, "sp")) {
    std::erase_if(wanted, [](const std::string& name) { return HasParts(name, "sp"); });
  }
  if (picture && wanted.size() != 1) {
    return Mistake("shape", asked, absl::StrCat("one of ", absl::StrJoin(wanted, ", ")),
                   "a picture shows one layout");
  }
  return wanted;
}

absl::StatusOr<std::string> MmaLayout(const AnalysisRequest& request) {
  ASSIGN_OR_RETURN(const std::vector<std::string> wanted, WantedLayouts(request));
  std::string text;
  Json list = Json::array();
  for (const std::string& name : wanted) {
    ASSIGN_OR_RETURN(const analysis::MmaPicture picture, analysis::DrawMma(name));
    if (request.format == "svg") return ToSvg(picture);
    absl::StrAppend(&text, text.empty() ? "" : "\n", ToText(picture));
    if (request.format == "json") list.push_back(Json::parse(ToJson(picture), nullptr, false));
  }
  if (request.format != "json") return text;
  const Json root = {{"kind", request.kind}, {"layouts", std::move(list)}};
  return absl::StrCat(root.dump(1, ' ', false, Json::error_handler_t::replace), "\n");
}

absl::Status CheckRequest(const AnalysisRequest& request) {
  std::vector<std::string> names;
  for (const AnalysisKind& kind : AnalysisKinds()) names.push_back(kind.name);
  if (std::find(names.begin(), names.end(), request.kind) == names.end()) {
    return Mistake("kind", request.kind, absl::StrCat("one of ", absl::StrJoin(names, ", ")),
                   "no such analysis");
  }
  const bool picture = request.format == "svg" && request.kind == "mma-layout";
  if (request.format == "text" || request.format == "json" || picture) return absl::OkStatus();
  return Mistake("format", request.format,
                 request.kind == "mma-layout" ? "text, json or svg" : "text or json", "no such form");
}

}  // namespace

const std::vector<AnalysisKind>& AnalysisKinds() {
  static const auto* const kKinds = new std::vector<AnalysisKind>{
      {"info", "kernels, resources, and the occupancy of a launch with what limits it"},
      {"dis", "listing with control bits, source lines and live registers"},
      {"cfg", "basic blocks and their edges"},
      {"live", "live registers an instruction, peaks a source line and a function"},
      {"spills", "spill loads and stores a source line, with bytes"},
      {"mix", "instructions by execution unit and mnemonic"},
      {"banks", "register-bank conflicts"},
      {"stalls", "dependence stalls that the control bits ask for"},
      {"ptx", "PTX next to SASS: expansion, issue cycles, spills, convergence"},
      {"mma-layout", "which lane and register holds which element of mma.sync and ldmatrix"},
  };
  return *kKinds;
}

absl::StatusOr<std::string> RunAnalysis(const AnalysisRequest& request) {
  RETURN_IF_ERROR(CheckRequest(request));
  if (request.kind == "mma-layout") return MmaLayout(request);
  ASSIGN_OR_RETURN(const Image image, OpenImage(request));
  ASSIGN_OR_RETURN(const std::vector<cubin::Module> modules,
                   cubin::ModulesOf(image.bytes, image.name, request.arch));
  ASSIGN_OR_RETURN(const Config config, LoadConfig("RTX4090", {}, {}));
  if (request.kind == "info") return Info(request, modules, config.gpu);
  if (request.kind == "ptx") return Ptx(request, image, modules, config.gpu);
  return OverFunctions(request, modules, FunctionAnalyses().at(request.kind));
}

}  // namespace sm89
