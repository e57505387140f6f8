// The kernel text reader on any bytes: it must answer with OK or an InputError, in bounded memory.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "sim/base/assert.h"
#include "sim/base/fault.h"
#include "sim/ingest/kernel_reader.h"
#include "sim/ingest/null_writer.h"
#include "sim/ingest/opcode_check.h"

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

void CheckRefusal(const absl::Status& status) {
  SM89_ASSERT(!sm89::FaultsOf(status).empty(), "every refusal carries its faults");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  sm89::IngestOptions options;
  options.foreign_arch = true;
  options.unknown_as_nop = true;
  sm89::IngestContext context(options);
  const std::string name = "kernel-1.traceg";
  const auto reader = sm89::MakeTextKernelReader(std::make_unique<BytesSource>(data, size), name, context);
  const auto header = reader->ReadHeader();
  if (!header.ok()) {
    CheckRefusal(header.status());
    return 0;
  }
  sm89::NullWriter nowhere;
  sm89::KernelBuilder builder(header->info, nowhere);
  const absl::Status status = reader->ReadBody(builder, ~uint64_t{0});
  if (!status.ok()) {
    CheckRefusal(status);
    return 0;
  }
  SM89_ASSERT(builder.info().num_ctas > 0, "an accepted kernel has a block");
  if (!builder.HasAllCtas())
    SM89_ASSERT(!builder.MissingCtasFault().message.empty(), "a fault says what is missing");
  sm89::MarkTally marks;
  sm89::KernelInfo info = builder.info();
  const auto fault = sm89::CheckOpcodes(info, builder.table(), context, marks);
  SM89_ASSERT(!fault.has_value(), "unknown opcodes may be NOPs here");
  return 0;
}
