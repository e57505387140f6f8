// Static analyses of machine code, one request at a time: what sm89-cubin shows and the AnalysisService
// answers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace sm89 {

struct AnalysisRequest {
  std::string kind;             // one of AnalysisKinds()
  std::string format = "text";  // "text", "json", "svg" (mma-layout only)
  std::string image_path;       // cubin, fat binary, host file, PTX, or a program package; not for mma-layout
  std::string module;           // of a program package with several
  std::string function;         // one function; empty = all
  uint32_t arch = 89;
  std::string ptx_path;  // ptx: the text to lay beside the code; empty = what the image holds
  std::string ptxas;     // path of the assembler for PTX; empty = looked for on PATH
  uint32_t threads = 0;  // info: block size whose occupancy is wanted; 0 = none
  uint64_t dynamic_shared_bytes = 0;
  std::string shape, type;  // mma-layout: "m16n8k16", "f16"; empty = all
};

struct AnalysisKind {
  std::string name;
  std::string help;
};
const std::vector<AnalysisKind>& AnalysisKinds();

// The whole answer. Errors name the file, its offset or the request's field.
absl::StatusOr<std::string> RunAnalysis(const AnalysisRequest& request);

}  // namespace sm89
