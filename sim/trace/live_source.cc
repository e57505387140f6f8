#include "sim/trace/live_source.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "sim/base/assert.h"
#include "sim/base/fault.h"
#include "sim/base/status_macros.h"

namespace sm89 {
namespace {

absl::Status Refuse(const KernelInfo& kernel, std::string field, std::string value, std::string expected) {
  return InputError(absl::StatusCode::kInvalidArgument,
                    Fault{.field = std::move(field),
                          .value = std::move(value),
                          .expected = std::move(expected),
                          .message = absl::StrCat("kernel '", kernel.name, "' cannot be executed")});
}

absl::Status Check(const LiveTrace& trace) {
  SM89_ASSERT(trace.statics.size() == trace.info.kernels.size(), "one static table a kernel");
  for (const KernelInfo& k : trace.info.kernels) {
    if (!IsPossibleBlock(k.block)) {
      return Refuse(k, "block", absl::StrCat(k.block.x, ",", k.block.y, ",", k.block.z),
                    absl::StrCat("1 to ", kMaxWarpsPerCta * kWarpSize, " threads"));
    }
    const uint64_t ctas = SaturatingVolume(k.grid);
    if (ctas == 0 || ctas > uint64_t{1} << 62) {
      return Refuse(k, "grid", absl::StrCat(k.grid.x, ",", k.grid.y, ",", k.grid.z),
                    "1 to 2^62 thread blocks");
    }
    if (k.stream_id != trace.info.kernels[0].stream_id) {
      return Refuse(k, "stream", absl::StrCat(k.stream_id),
                    absl::StrCat(trace.info.kernels[0].stream_id, ", as the kernels before"));
    }
  }
  return absl::OkStatus();
}

class Live final : public LiveSource {
 public:
  Live(LiveTrace trace, std::unique_ptr<CtaProducer> producer, LiveOptions options)
      : trace_(std::move(trace)),
        producer_(std::move(producer)),
        keep_(std::move(options.keep)),
        recorder_(options.limits) {
    for (KernelInfo& k : trace_.info.kernels) {
      k.num_ctas = k.grid_ctas = SaturatingVolume(k.grid);
      k.warp_instructions = k.thread_instructions = k.masked_off_instructions = 0;
    }
  }

  const TraceSetInfo& info() const override { return trace_.info; }
  const std::string& digest() const override { return trace_.digest; }
  std::span<const StaticInst> StaticTable(uint32_t kernel) const override { return trace_.statics[kernel]; }
  uint64_t NumCtas(uint32_t kernel) const override { return trace_.info.kernels[kernel].num_ctas; }
  Dim3 CtaId(uint32_t kernel, uint64_t index) const override {
    const Dim3& grid = trace_.info.kernels[kernel].grid;
    const uint64_t rows = index / grid.x;
    return {static_cast<uint32_t>(index % grid.x), static_cast<uint32_t>(rows % grid.y),
            static_cast<uint32_t>(rows / grid.y)};
  }
  absl::StatusOr<std::unique_ptr<CtaTrace>> OpenCta(uint32_t kernel, uint64_t index) override;
  absl::Status ExecuteRest() override { return ExecuteUpTo(num_kernels()); }
  absl::StatusOr<WrittenTrace> FinishKept() override;
  uint64_t ctas_executed() const override { return ctas_executed_; }
  uint64_t warp_instructions() const override { return warp_instructions_; }

 private:
  uint32_t num_kernels() const { return static_cast<uint32_t>(trace_.info.kernels.size()); }
  // Executes the CTAs left of the kernels before `kernel`.
  absl::Status ExecuteUpTo(uint32_t kernel);
  absl::StatusOr<std::unique_ptr<CtaTrace>> ExecuteNext();

  LiveTrace trace_;
  std::unique_ptr<CtaProducer> producer_;
  std::unique_ptr<CompactWriter> keep_;
  std::unique_ptr<CtaWriter> cta_writer_;  // of kernel_
  CtaRecorder recorder_;
  absl::Status status_;  // of the first CTA that failed: execution cannot go on behind it
  uint32_t kernel_ = 0;  // of the next CTA
  uint64_t next_cta_ = 0;
  uint64_t ctas_executed_ = 0;
  uint64_t warp_instructions_ = 0;
};

absl::StatusOr<std::unique_ptr<CtaTrace>> Live::ExecuteNext() {
  const KernelInfo& info = trace_.info.kernels[kernel_];
  if (next_cta_ == 0) {
    recorder_.BeginKernel(static_cast<uint32_t>(trace_.statics[kernel_].size()));
    if (keep_ != nullptr) {
      RETURN_IF_ERROR(keep_->BeginKernel(info));
      cta_writer_ = std::make_unique<CtaWriter>(trace_.statics[kernel_], keep_.get());
    }
  }
  const uint64_t threads = SaturatingVolume(info.block);
  const auto warps = static_cast<uint32_t>((threads + kWarpSize - 1) / kWarpSize);
  RETURN_IF_ERROR(recorder_.BeginCta(CtaId(kernel_, next_cta_), warps));
  RETURN_IF_ERROR(producer_->Produce(kernel_, next_cta_, &recorder_));
  warp_instructions_ += recorder_.warp_instructions();
  ++ctas_executed_;
  ASSIGN_OR_RETURN(std::unique_ptr<CtaTrace> cta, recorder_.EndCta());
  if (keep_ != nullptr) RETURN_IF_ERROR(cta_writer_->Write(*cta));
  if (++next_cta_ == info.num_ctas) {
    if (keep_ != nullptr) RETURN_IF_ERROR(keep_->EndKernel(info));
    ++kernel_;
    next_cta_ = 0;
  }
  return cta;
}

absl::Status Live::ExecuteUpTo(uint32_t kernel) {
  while (status_.ok() && kernel_ < kernel) status_ = ExecuteNext().status();
  return status_;
}

absl::StatusOr<std::unique_ptr<CtaTrace>> Live::OpenCta(uint32_t kernel, uint64_t index) {
  SM89_ASSERT(kernel < num_kernels() && index < NumCtas(kernel), "numbers come from info() and NumCtas");
  RETURN_IF_ERROR(ExecuteUpTo(kernel));
  SM89_ASSERT(kernel == kernel_ && index == next_cta_, "thread blocks are opened once, in ascending order");
  absl::StatusOr<std::unique_ptr<CtaTrace>> cta = ExecuteNext();
  status_ = cta.status();
  return cta;
}

absl::StatusOr<WrittenTrace> Live::FinishKept() {
  SM89_ASSERT(keep_ != nullptr, "a trace is kept");
  RETURN_IF_ERROR(ExecuteRest());
  return keep_->Finish(trace_.info);
}

}  // namespace

absl::StatusOr<std::shared_ptr<LiveSource>> LiveSource::Create(LiveTrace trace,
                                                               std::unique_ptr<CtaProducer> producer,
                                                               LiveOptions options) {
  RETURN_IF_ERROR(Check(trace));
  return std::make_shared<Live>(std::move(trace), std::move(producer), std::move(options));
}

absl::Status CtaWriter::Write(const CtaTrace& cta) {
  RETURN_IF_ERROR(writer_.BeginCta(cta.id()));
  for (uint32_t w = 0; w < cta.num_warps(); ++w) {
    const std::unique_ptr<WarpCursor> cursor = cta.OpenWarp(w);
    if (cursor != nullptr) RETURN_IF_ERROR(WriteWarp(w, cursor.get()));
  }
  return writer_.EndCta();
}

absl::Status CtaWriter::WriteWarp(uint32_t warp, WarpCursor* cursor) {
  RETURN_IF_ERROR(writer_.BeginWarp(warp));
  DynInst inst;
  while (cursor->Next(&inst)) {
    uint32_t& id = ids_[inst.static_id];
    if (id == UINT32_MAX) id = writer_.AddStatic(statics_[inst.static_id]);
    addresses_.clear();
    if (inst.shape != nullptr) {
      for (const uint64_t offset : inst.shape->offsets) addresses_.push_back(inst.base + offset);
    }
    RETURN_IF_ERROR(writer_.Add({id, inst.mask, addresses_}));
  }
  RETURN_IF_ERROR(cursor->status());
  return writer_.EndWarp();
}

}  // namespace sm89
