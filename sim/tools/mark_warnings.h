// Concessions that were made when a compact trace was written.
#pragma once

#include <iosfwd>
#include <string_view>
#include <vector>

#include "sim/ingest/ingest.h"
#include "sim/trace/trace_types.h"

namespace sm89 {

// One line on `err` for each mark whose flag is not among `flags`: reading a compact trace asks for none of
// them again.
void WarnOfMarks(std::string_view program, const std::vector<TraceMark>& marks, const IngestOptions& flags,
                 std::ostream& err);

}  // namespace sm89
