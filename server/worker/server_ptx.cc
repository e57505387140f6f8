#include "server/worker/server_ptx.h"

#include "absl/strings/str_cat.h"
#include "sim/base/fault.h"
#include "sim/tools/ptx_compile.h"

namespace sm89 {

absl::StatusOr<std::string> CompileOnServer(const std::string& ptxas, const std::string& name,
                                            std::string_view text, uint32_t arch) {
  if (!ptxas.empty()) return CompilePtx(text, name, arch, {.program = ptxas});
  Fault fault;
  fault.file = name;
  fault.expected = absl::StrCat("a cubin for sm_", arch);
  fault.message =
      "PTX needs NVIDIA's ptxas on the server: install the CUDA toolkit there (ptxas on the daemon's PATH, "
      "or "
      "its setting ptxas), or send a cubin made by 'ptxas --gpu-name sm_89'";
  return InputError(absl::StatusCode::kFailedPrecondition, fault);
}

}  // namespace sm89
