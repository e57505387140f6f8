#include "sim/tools/trace_command.h"

#include <filesystem>
#include <ostream>

#include "sim/tools/exit_codes.h"
#include "sim/tools/mark_warnings.h"
#include "sim/tools/sim_errors.h"
#include "sim/tools/sim_temp_file.h"
#include "sim/tools/trace_options.h"
#include "sim/tools/trace_output.h"

namespace sm89 {
namespace {

struct OpenTrace {
  std::shared_ptr<CompactReader> reader;
  uint64_t compact_bytes = 0;
};

absl::StatusOr<OpenTrace> Open(const TraceCommandOptions& options, const SimCommandIo& io) {
  OpenTrace trace;
  if (IsCompactTrace(options.input)) {
    ASSIGN_OR_RETURN(trace.reader, CompactReader::Open(options.input));
    WarnOfMarks("sm89-trace", trace.reader->info().marks, options.ingest, io.err);
    std::error_code error;
    trace.compact_bytes = std::filesystem::file_size(options.input, error);
    return trace;
  }
  ASSIGN_OR_RETURN(const TempFile compact, TempFile::Create("sm89-trace"));
  IngestOptions ingest = options.ingest;
  ingest.cancel = io.interrupted;
  ASSIGN_OR_RETURN(const IngestResult ingested, IngestTrace(options.input, compact.path(), ingest));
  trace.compact_bytes = ingested.written.file_bytes;
  // The reader keeps the file mapped: its name may go as soon as it is open.
  ASSIGN_OR_RETURN(trace.reader, CompactReader::Open(compact.path()));
  return trace;
}

absl::Status Run(const TraceCommandOptions& options, const SimCommandIo& io) {
  ASSIGN_OR_RETURN(const OpenTrace trace, Open(options, io));
  const TraceHead head = {.info = &trace.reader->info(),
                          .digest = trace.reader->digest(),
                          .name = options.input,
                          .compact_bytes = trace.compact_bytes};
  if (!options.dump) {
    (options.json ? WriteInfoJson : WriteInfoText)(head, *trace.reader, io.out);
  } else {
    const std::unique_ptr<DumpSink> sink =
        options.json ? MakeJsonDump(head, io.out) : MakeTextDump(head, io.out);
    RETURN_IF_ERROR(WalkTrace(trace.reader.get(), options.filter, io.interrupted, sink.get()));
  }
  io.out.flush();
  return io.out.good() ? absl::OkStatus() : absl::FailedPreconditionError("cannot write standard output");
}

}  // namespace

int TraceMain(const std::vector<std::string>& args, const SimCommandIo& io) {
  const ParsedTraceCommandLine parsed = ParseTraceCommandLine(args, io.out, io.err);
  if (parsed.exit_code.has_value()) return *parsed.exit_code;
  const absl::Status status = Run(parsed.options, io);
  if (!status.ok()) PrintError("sm89-trace", status, io.err);
  return ExitCodeOf(status);
}

}  // namespace sm89
