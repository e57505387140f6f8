#include "sim/ingest/ingest.h"

#include <array>
#include <memory>
#include <string>
#include <string_view>

#include "sim/base/fault.h"
#include "sim/base/status_macros.h"
#include "sim/ingest/ingest_context.h"
#include "sim/ingest/input_file.h"
#include "sim/ingest/trace_input.h"
#include "sim/ingest/trace_set_reader.h"
#include "sim/trace/format.h"

namespace sm89 {

bool IsCompactTrace(const std::string& path) {
  const absl::StatusOr<std::unique_ptr<InputFile>> file = InputFile::OpenPath(path);
  if (!file.ok()) return false;
  std::array<char, kCompactMagic.size()> head{};
  const absl::StatusOr<size_t> got = (*file)->ReadAt(0, head.data(), head.size());
  return got.ok() && std::string_view(head.data(), *got) == kCompactMagic;
}

absl::StatusOr<IngestResult> IngestTrace(const std::string& input, const std::string& output_path,
                                         const IngestOptions& options) {
  if (IsCompactTrace(input)) {
    Fault fault;
    fault.file = input;
    fault.expected = "a text trace";
    fault.message = "is a compact trace already";
    return InputError(absl::StatusCode::kInvalidArgument, fault);
  }
  IngestContext context(options);
  ASSIGN_OR_RETURN(const TraceInput located, LocateTrace(input, output_path + ".unpack-", context));
  ASSIGN_OR_RETURN(const std::unique_ptr<CompactWriter> writer, CompactWriter::Create(output_path));
  TraceSetReader reader(located, *writer, context);
  IngestResult result;
  ASSIGN_OR_RETURN(result.info, reader.Run());
  ASSIGN_OR_RETURN(result.written, writer->Finish(result.info));
  result.input_bytes = reader.input_bytes();
  return result;
}

}  // namespace sm89
