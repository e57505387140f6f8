// Text and JSON of sm89-trace.
#pragma once

#include <iosfwd>
#include <memory>
#include <string>

#include "sim/tools/trace_walk.h"
#include "sim/trace/compact_reader.h"

namespace sm89 {

// What the outputs say of the trace as a whole.
struct TraceHead {
  const TraceSetInfo* info = nullptr;
  std::string digest;
  std::string name;  // as the user named the input
  uint64_t compact_bytes = 0;
};

// Partial or guessed traces are marked in each output: in the text's first line, in "marks" of the JSON.
void WriteInfoText(const TraceHead& head, const CompactReader& reader, std::ostream& out);
void WriteInfoJson(const TraceHead& head, const CompactReader& reader, std::ostream& out);

// Sinks that write a dump. `head` and `out` must outlive them.
std::unique_ptr<DumpSink> MakeTextDump(const TraceHead& head, std::ostream& out);
std::unique_ptr<DumpSink> MakeJsonDump(const TraceHead& head, std::ostream& out);

// The first line of marked texts; empty for a complete trace without guesses.
std::string MarkLine(const TraceSetInfo& info);

}  // namespace sm89
