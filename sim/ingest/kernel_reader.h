// Reads one kernel file of either format into a compact writer.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "sim/ingest/byte_source.h"
#include "sim/ingest/ingest_context.h"
#include "sim/ingest/input_file.h"
#include "sim/ingest/kernel_builder.h"
#include "sim/ingest/kernel_header.h"
#include "sim/trace/compact_writer.h"

namespace sm89 {

// A kernel file open at its start. The order of calls is ReadHeader, then once ReadBody.
class KernelReader {
 public:
  virtual ~KernelReader() = default;
  // Reads and checks the header; all its faults at once.
  virtual absl::StatusOr<KernelHeader> ReadHeader() = 0;
  // The thread blocks, into `builder`; stops behind `max_ctas` of them. A file that ends early gives
  // DATA_LOSS: the blocks that the builder counts are complete.
  virtual absl::Status ReadBody(KernelBuilder& builder, uint64_t max_ctas) = 0;
};

// By content; a ".tracez" is told by its name.
absl::StatusOr<std::unique_ptr<KernelReader>> OpenKernel(std::unique_ptr<InputFile> file,
                                                         IngestContext& context);

std::unique_ptr<KernelReader> MakeTextKernelReader(std::unique_ptr<ByteSource> source,
                                                   const std::string& file, IngestContext& context);
std::unique_ptr<KernelReader> MakeTracezKernelReader(std::unique_ptr<InputFile> file, IngestContext& context);

}  // namespace sm89
