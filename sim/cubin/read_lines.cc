#include "sim/cubin/module_reader.h"

namespace sm89::cubin {

absl::Status ModuleReader::ReadLines() { return absl::OkStatus(); }

}  // namespace sm89::cubin
