#include "server/worker/ingest_program.h"

#include <filesystem>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/os/file_store.h"
#include "server/worker/server_ptx.h"
#include "sim/api/machine_code.h"
#include "sim/base/counted.h"
#include "sim/base/digest.h"
#include "sim/base/status_macros.h"
#include "sim/replay/emulation.h"
#include "sim/replay/program.h"
#include "sim/tools/ptx_compile.h"

namespace sm89 {
namespace {

std::string ModuleName(const Program& program, const std::string& module) {
  return module.empty() ? program.name : module;
}

// Replaces PTX by what ptxas makes of it.
absl::Status CompileModules(const std::string& ptxas, Program* program, std::vector<std::string>* marks) {
  for (auto& [module, bytes] : program->modules) {
    if (!LooksLikePtx(bytes)) continue;
    const std::string name = ModuleName(*program, module);
    ASSIGN_OR_RETURN(bytes, CompileOnServer(ptxas, name, bytes, program->arch));
    marks->push_back(
        absl::StrCat("compiled: ", name, " came as PTX; ptxas made the sm_", program->arch, " code of it"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<IngestedProgram> IngestMachineCode(const std::string& input, const std::string& output) {
  const std::string name = std::filesystem::path(input).filename().string();
  ASSIGN_OR_RETURN(const MachineCodeSummary code, CheckMachineCode({input, name}));
  IngestedProgram ingested;
  ingested.launches = code.functions;
  ingested.marks.push_back(absl::StrCat("machine_code: ", Counted(code.functions, "function"), " of ",
                                        code.archs, ", for traces of their kernels"));
  ASSIGN_OR_RETURN(const std::string bytes, ReadWholeFile(PosixFileStore(), input, kMaxMachineCodeBytes));
  ingested.digest = Sha256Hex(bytes);
  ingested.file_bytes = bytes.size();
  RETURN_IF_ERROR(AtomicWriteFile(PosixFileStore(), output, bytes));
  return ingested;
}

absl::StatusOr<IngestedProgram> IngestProgram(const std::string& input, const std::string& output,
                                              const std::string& ptxas) {
  ASSIGN_OR_RETURN(Program program, ReadProgramFile(input));
  program.name = std::filesystem::path(input).filename().string();
  IngestedProgram ingested;
  RETURN_IF_ERROR(CompileModules(ptxas, &program, &ingested.marks));
  ASSIGN_OR_RETURN(const std::unique_ptr<Emulation> emulation, Emulation::Create(program, {}));
  ingested.launches = emulation->outcomes().size();
  ingested.marks.insert(ingested.marks.begin(),
                        absl::StrCat("emulated: ", ingested.launches,
                                     ingested.launches == 1 ? " launch of sm_" : " launches of sm_",
                                     program.arch, " machine code"));
  ingested.digest = ProgramDigest(program);
  const std::string bytes = EncodeProgram(program);
  ingested.file_bytes = bytes.size();
  RETURN_IF_ERROR(AtomicWriteFile(PosixFileStore(), output, bytes));
  return ingested;
}

}  // namespace sm89
