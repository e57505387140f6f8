#include "sim/ingest/kernel_reader.h"

#include "absl/strings/match.h"
#include "sim/base/fault.h"
#include "sim/base/status_macros.h"

namespace sm89 {

absl::StatusOr<std::unique_ptr<KernelReader>> OpenKernel(std::unique_ptr<InputFile> file,
                                                         IngestContext& context) {
  const std::string name = file->name();
  if (file->size() == 0) {
    Fault fault;
    fault.file = name;
    fault.expected = "a kernel header and thread blocks";
    fault.message = "the file is empty (zero bytes)";
    fault.facts = {{"missing_part", "header"}};
    return InputError(absl::StatusCode::kInvalidArgument, fault);
  }
  if (absl::EndsWith(name, ".tracez")) return MakeTracezKernelReader(std::move(file), context);
  ASSIGN_OR_RETURN(std::unique_ptr<ByteSource> source, OpenByteSource(std::move(file), context));
  return MakeTextKernelReader(std::move(source), name, context);
}

}  // namespace sm89
