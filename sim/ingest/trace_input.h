// What the user gave, resolved to one folder with a list or a single kernel file in it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "sim/ingest/ingest_context.h"
#include "sim/ingest/temp_folder.h"

namespace sm89 {

struct TraceInput {
  std::string name;                      // of the upload, folder or file, for display
  std::string folder;                    // where the files lie
  std::string list_file;                 // plain name in `folder`; empty: `kernel_file` is the whole trace
  std::string kernel_file;               // plain name in `folder`
  uint64_t archive_bytes = 0;            // of the archive it was unpacked from; 0 = none
  std::unique_ptr<TempFolder> unpacked;  // owns `folder` when it came from an archive
};

// By content, not by name: a folder (its only kernelslist.g), an archive (unpacked into a folder whose path
// starts with `temp_prefix`), a kernel file, or a list.
absl::StatusOr<TraceInput> LocateTrace(const std::string& input, const std::string& temp_prefix,
                                       IngestContext& context);

}  // namespace sm89
