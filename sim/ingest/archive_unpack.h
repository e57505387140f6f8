// Unpacks the trace files of an uploaded archive into a folder of ours.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "sim/ingest/ingest_context.h"
#include "sim/ingest/input_file.h"

namespace sm89 {

// tar (plain, gzip, bzip2, xz, zstd) or zip. Only kernel files and lists are written, under their member
// names below `folder`, which must be empty and private. Refused: members that lead outside, a member twice,
// more members or bytes than the options allow, a damaged archive. Links and devices are skipped with a
// warning, so nothing below `folder` points out of it.
absl::Status UnpackArchive(InputFile& archive, const std::string& folder, IngestContext& context);

}  // namespace sm89
