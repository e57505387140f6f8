// The list reader on any bytes: OK or an InputError; names that it gives are plain.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>

#include "sim/base/assert.h"
#include "sim/base/fault.h"
#include "sim/ingest/input_file.h"
#include "sim/ingest/kernels_list.h"
#include "sim/ingest/limits.h"

namespace {

class BytesSource final : public sm89::ByteSource {
 public:
  BytesSource(const uint8_t* data, size_t size) : data_(data), size_(size) {}
  absl::StatusOr<size_t> Read(char* out, size_t size) override {
    const size_t part = std::min(size, size_ - at_);
    if (part > 0) std::memcpy(out, data_ + at_, part);
    at_ += part;
    return part;
  }

 private:
  const uint8_t* data_;
  const size_t size_;
  size_t at_ = 0;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const sm89::IngestOptions options;
  sm89::IngestContext context(options);
  sm89::LineReader lines(std::make_unique<BytesSource>(data, size), "kernelslist.g", sm89::kMaxListLineBytes);
  const auto list = sm89::ReadKernelsList(lines, context);
  if (!list.ok()) {
    SM89_ASSERT(!sm89::FaultsOf(list.status()).empty(), "every refusal carries its faults");
    return 0;
  }
  SM89_ASSERT(!list->kernels.empty(), "an accepted list names a kernel");
  for (const sm89::ListedKernel& kernel : list->kernels) {
    SM89_ASSERT(sm89::IsPlainName(kernel.file), "a name stays inside the list's folder");
  }
  for (const sm89::TraceCommand& command : list->commands) {
    SM89_ASSERT(command.kind != sm89::CommandKind::kKernel || command.kernel < list->kernels.size(),
                "kernel commands index the kernels");
  }
  return 0;
}
