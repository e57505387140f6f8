#include "sim/ingest/static_table.h"

#include <string_view>

#include "sim/base/assert.h"
#include "sim/ingest/limits.h"
#include "sim/isa/modifiers.h"

namespace sm89 {

std::optional<uint32_t> StaticTable::Intern(const StaticInst& inst, uint64_t line) {
  if (insts_.size() >= kMaxStaticInsts) return std::nullopt;
  const uint32_t id = writer_.AddStatic(inst);
  SM89_ASSERT(id <= insts_.size(), "the writer numbers static instructions densely, in the order met");
  if (id == insts_.size()) {
    insts_.push_back(inst);
    StaticUse use;
    use.first_line = line;
    const std::string_view base = BaseMnemonic(inst.opcode);
    use.is_exit = base == "EXIT";
    use.is_async_copy = base == "LDGSTS";
    uses_.push_back(use);
  }
  return id;
}

}  // namespace sm89
