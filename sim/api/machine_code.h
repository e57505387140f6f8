// Encodings from a cubin or a listing for traces that have none.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "sim/trace/trace_source.h"

namespace sm89 {

// A trace whose static instructions carry the encodings that were found.
struct MachineCode {
  // The trace itself, tables apart; its warnings say which kernels no file has.
  std::shared_ptr<TraceSource> source;
  std::vector<std::string> files;  // by kernel: the file that its encodings are of, as given; "" = none
};

// `files`: cubins, fat binaries or programs that hold them, text of cuobjdump -sass or nvdisasm -hex; the
// first one that has a kernel's function gives its code. Kernels are matched by name, mangled or demangled,
// and by architecture. Kernels that have encodings keep them; those that no file has stay without.
//
// INVALID_ARGUMENT when a file is neither, and naming kernel, PC and both opcodes when its code is not what
// was traced: an instruction that is not there, or of another mnemonic.
absl::StatusOr<MachineCode> AddMachineCode(std::shared_ptr<TraceSource> trace,
                                           const std::vector<std::string>& files);

}  // namespace sm89
