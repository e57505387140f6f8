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
#include "sim/base/fault.h"
#include "sim/base/status_macros.h"
#include "sim/cubin/reader.h"
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

// Of a container's images together. What is none (a listing, or nothing that can be read) is as large as its
// file.
absl::Status CheckUnpackedBytes(std::string_view bytes, const std::string& name, uint64_t limit) {
  uint64_t total = bytes.size();
  if (const auto images = cubin::ListImages(bytes, name); images.ok()) {
    total = 0;
    for (const cubin::Image& image : *images) total += image.bytes.size();
  }
  if (total <= limit) return absl::OkStatus();
  Fault fault;
  fault.file = name;
  fault.field = "max_unpacked_bytes";
  fault.value = absl::StrCat(total, " bytes");
  fault.expected = absl::StrCat("at most ", limit, " bytes unpacked");
  fault.message = absl::StrCat("the machine code unpacks to more than the limit of ", limit, " bytes");
  return InputError(absl::StatusCode::kResourceExhausted, fault);
}

// The file's bytes are gone from memory when this returns: the check behind it reads them anew.
absl::Status KeepMachineCode(const std::string& input, const std::string& name, const std::string& output,
                             uint64_t max_unpacked_bytes, IngestedProgram* ingested) {
  ASSIGN_OR_RETURN(const std::string bytes, ReadWholeFile(PosixFileStore(), input, kMaxMachineCodeBytes));
  RETURN_IF_ERROR(CheckUnpackedBytes(bytes, name, max_unpacked_bytes));
  ingested->digest = Sha256Hex(bytes);
  ingested->file_bytes = bytes.size();
  return AtomicWriteFile(PosixFileStore(), output, bytes);
}

}  // namespace

absl::StatusOr<IngestedProgram> IngestMachineCode(const std::string& input, const std::string& output,
                                                  uint64_t max_unpacked_bytes) {
  const std::string name = std::filesystem::path(input).filename().string();
  IngestedProgram ingested;
  RETURN_IF_ERROR(KeepMachineCode(input, name, output, max_unpacked_bytes, &ingested));
  ASSIGN_OR_RETURN(const MachineCodeSummary code, CheckMachineCode({input, name}));
  ingested.launches = code.functions;
  ingested.marks.push_back(absl::StrCat("machine_code: ", Counted(code.functions, "function"), " of ",
                                        code.archs, ", for traces of their kernels"));
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
