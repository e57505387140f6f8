// Encodings from a cubin or a listing for traces that have none.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "sim/api/profile_notes.h"
#include "sim/report/run_report.h"
#include "sim/trace/trace_source.h"

namespace sm89 {

// A cubin, a fat binary, a program that holds them, or text of cuobjdump -sass or nvdisasm -hex.
struct MachineCodeFile {
  std::string path;
  std::string name;  // in messages; the report has what is behind its last slash
};

inline constexpr uint64_t kMaxMachineCodeBytes = uint64_t{1} << 30;

struct MachineCodeSummary {
  uint64_t functions = 0;
  std::string archs;  // "sm_89", "sm_89, sm_90"; "an unnamed architecture" where a listing tells none
};
// Reads a file as AddMachineCode does, with the same errors; INVALID_ARGUMENT when it has no function.
absl::StatusOr<MachineCodeSummary> CheckMachineCode(const MachineCodeFile& file);

// A trace whose static instructions carry the encodings that were found.
struct MachineCode {
  // The trace itself, tables apart; its warnings say which kernels no file has.
  std::shared_ptr<TraceSource> source;
  std::vector<std::string> files;  // by kernel: the file that its encodings are of, without folder; "" = none
  std::vector<CodeFileReport> given;  // all files, in order
  std::vector<CodeOrigin> origins;    // by kernel: the function of a cubin that its encodings are of
};

// The first file that has a kernel's function gives its code. Kernels are matched by name, mangled or
// demangled, and by architecture. Kernels that have encodings keep them; those that no file has stay without.
// Kernels that are not `selected` (one flag each) are left alone.
//
// INVALID_ARGUMENT when a file is neither, when no file has a function of the trace though a kernel needs one
// (naming functions and kernels; one such file among others gets a warning), and naming kernel, PC and both
// opcodes when its code is not what was traced: an instruction that is not there, or of another opcode
// (sim/sass/opcode_text.h).
absl::StatusOr<MachineCode> AddMachineCode(std::shared_ptr<TraceSource> trace,
                                           const std::vector<MachineCodeFile>& files,
                                           const std::vector<bool>& selected);

}  // namespace sm89
