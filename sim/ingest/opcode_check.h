// After a kernel was read: does the model know its instructions, and which concessions do they need.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sim/base/fault.h"
#include "sim/ingest/ingest_context.h"
#include "sim/ingest/static_table.h"
#include "sim/trace/trace_types.h"

namespace sm89 {

// Concessions over all kernels of a trace, as marks. Not thread-safe.
class MarkTally {
 public:
  void AddForeign(const KernelInfo& kernel, const std::map<std::string, uint64_t>& mapped);
  void AddNops(const std::map<std::string, uint64_t>& counts);
  void AddPartial(const KernelInfo& kernel);
  std::vector<TraceMark> Take() const;

 private:
  std::map<uint32_t, uint64_t> foreign_kernels_;  // by binary version
  uint64_t foreign_instructions_ = 0;
  std::map<std::string, uint64_t> mapped_;  // "VIADD as IADD3" -> executed warp instructions
  std::map<std::string, uint64_t> nops_;    // opcode -> executed warp instructions
  std::vector<std::string> partial_;
  uint64_t partial_kernels_ = 0;
};

// Decodes the kernel's static table: a fault when it has opcodes that the model cannot run and may not guess;
// else marks, and the count of (and a warning for) global accesses at address 0.
std::optional<Fault> CheckOpcodes(KernelInfo& kernel, const StaticTable& table, IngestContext& context,
                                  MarkTally& marks);

}  // namespace sm89
