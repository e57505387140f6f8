#include "sim/tools/trace_walk.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "sim/base/fault.h"
#include "sim/base/status_macros.h"
#include "sim/tools/trace_text.h"

namespace sm89 {
namespace {

// Instructions between two looks at the cancel flag: well below 100 ms of output.
constexpr uint64_t kCancelInterval = 1024;

struct CtaRange {
  uint64_t first = 0;
  uint64_t count = 0;
};

class Walk {
 public:
  Walk(CompactReader* reader, const DumpFilter& filter, const std::atomic<bool>* cancel, DumpSink* sink)
      : reader_(*reader), filter_(filter), cancel_(cancel), sink_(*sink) {}

  absl::Status Run() {
    RETURN_IF_ERROR(CheckFilter());
    sink_.Begin();
    for (uint32_t k = 0; k < reader_.info().kernels.size() && !totals_.limit_reached; ++k) {
      if (!filter_.kernels.Contains(k + 1)) continue;
      RETURN_IF_ERROR(WalkKernel(k, SelectCtas(k)));
    }
    sink_.End(totals_);
    return absl::OkStatus();
  }

 private:
  bool NamesCta() const { return filter_.cta_id.has_value() || filter_.cta_index.has_value(); }
  std::string CtaText() const {
    return filter_.cta_id.has_value() ? DimText(*filter_.cta_id)
                                      : absl::StrCat(filter_.cta_index.value_or(0));
  }

  static absl::Status NotThere(std::string option, std::string value, std::string expected) {
    return InputError(absl::StatusCode::kInvalidArgument, Fault{.field = std::move(option),
                                                                .value = std::move(value),
                                                                .expected = std::move(expected),
                                                                .message = "the trace does not have this"});
  }

  // Before anything is written.
  absl::Status CheckFilter() const {
    const auto kernels = static_cast<uint32_t>(reader_.info().kernels.size());
    for (const auto& [first, last] : filter_.kernels.ranges) {
      if (last > kernels) {
        return NotThere("--kernel", absl::StrCat(last), absl::StrCat("at most ", kernels));
      }
    }
    RETURN_IF_ERROR(CheckPc());
    RETURN_IF_ERROR(CheckWarp());
    if (!NamesCta() || filter_.code_only) return absl::OkStatus();
    for (uint32_t k = 0; k < kernels; ++k) {
      if (filter_.kernels.Contains(k + 1) && SelectCtas(k).count > 0) return absl::OkStatus();
    }
    return NotThere("--cta", CtaText(), "a thread block of the kernels selected");
  }

  absl::Status CheckPc() const {
    if (!filter_.pc.has_value()) return absl::OkStatus();
    for (uint32_t k = 0; k < reader_.info().kernels.size(); ++k) {
      if (!filter_.kernels.Contains(k + 1)) continue;
      for (const StaticInst& inst : reader_.StaticTable(k)) {
        if (SelectsPc(inst.pc)) return absl::OkStatus();
      }
    }
    return NotThere("--pc", HexText(*filter_.pc), "an instruction of the kernels selected");
  }

  absl::Status CheckWarp() const {
    if (!filter_.warp.has_value()) return absl::OkStatus();
    uint64_t warps = 0;
    for (uint32_t k = 0; k < reader_.info().kernels.size(); ++k) {
      if (!filter_.kernels.Contains(k + 1)) continue;
      const uint64_t threads = SaturatingVolume(reader_.info().kernels[k].block);
      warps = std::max<uint64_t>(warps, (threads + kWarpSize - 1) / kWarpSize);
    }
    if (*filter_.warp < warps) return absl::OkStatus();
    return NotThere("--warp", absl::StrCat(*filter_.warp), absl::StrCat("below ", warps));
  }

  CtaRange SelectCtas(uint32_t k) const {
    const uint64_t all = reader_.NumCtas(k);
    if (filter_.code_only) return {};
    if (filter_.cta_index.has_value()) {
      return *filter_.cta_index < all ? CtaRange{*filter_.cta_index, 1} : CtaRange{};
    }
    if (filter_.cta_id.has_value()) {
      for (uint64_t i = 0; i < all; ++i) {
        if (reader_.CtaId(k, i) == *filter_.cta_id) return {i, 1};
      }
      return {};
    }
    return {0, filter_.all_ctas ? all : std::min<uint64_t>(all, 1)};
  }

  absl::Status WalkKernel(uint32_t k, const CtaRange& ctas) {
    const KernelInfo& info = reader_.info().kernels[k];
    const std::span<const StaticInst> table = reader_.StaticTable(k);
    // Whether unknown opcodes are acceptable was settled when the trace was read.
    const DecodedKernel decoded =
        DecodeKernel(table, {.binary_version = info.binary_version, .unknown_as_nop = true});
    code_ = BuildKernelCode(decoded, info, GpuConfig{});
    kernel_ = {.position = k + 1, .info = &info, .table = table, .decoded = &decoded};
    sink_.BeginKernel(kernel_);
    for (uint32_t id = 0; id < table.size(); ++id) {
      if (SelectsPc(table[id].pc)) sink_.Static(id);
    }
    sink_.BeginExecuted();
    for (uint64_t i = 0; i < ctas.count && !totals_.limit_reached; ++i) {
      RETURN_IF_ERROR(WalkCta(k, ctas.first + i));
      ++totals_.ctas_shown;
    }
    if (!NamesCta() && !filter_.code_only) totals_.ctas_left_out += reader_.NumCtas(k) - ctas.count;
    sink_.EndKernel();
    return absl::OkStatus();
  }

  bool SelectsPc(uint32_t pc) const { return !filter_.pc.has_value() || *filter_.pc == pc; }

  absl::Status WalkCta(uint32_t k, uint64_t index) {
    ASSIGN_OR_RETURN(const std::unique_ptr<CtaTrace> cta, reader_.OpenCta(k, index));
    for (uint32_t warp = 0; warp < cta->num_warps() && !totals_.limit_reached; ++warp) {
      if (filter_.warp.has_value() && *filter_.warp != warp) continue;
      RETURN_IF_ERROR(WalkWarp(*cta, warp));
    }
    return absl::OkStatus();
  }

  absl::Status WalkWarp(const CtaTrace& cta, uint32_t warp) {
    const std::unique_ptr<WarpCursor> cursor = cta.OpenWarp(warp);
    if (cursor == nullptr) return absl::OkStatus();
    DumpInst inst{.cta = cta.id(), .warp = warp};
    for (; cursor->Next(&inst.dyn); ++inst.number) {
      if (inst.number % kCancelInterval == 0 && cancel_ != nullptr && cancel_->load()) {
        return absl::CancelledError("interrupted");
      }
      inst.inst = &kernel_.table[inst.dyn.static_id];
      if (!SelectsPc(inst.inst->pc)) continue;
      if (filter_.limit != 0 && totals_.shown == filter_.limit) {
        totals_.limit_reached = true;
        return absl::OkStatus();
      }
      inst.decoded = &kernel_.decoded->insts[inst.dyn.static_id];
      inst.access = SummarizeAccess(code_, inst.dyn);
      sink_.Executed(inst);
      ++totals_.shown;
    }
    return cursor->status();
  }

  CompactReader& reader_;
  const DumpFilter& filter_;
  const std::atomic<bool>* cancel_;
  DumpSink& sink_;
  DumpKernel kernel_;
  KernelCode code_;
  DumpTotals totals_;
};

}  // namespace

absl::Status WalkTrace(CompactReader* reader, const DumpFilter& filter, const std::atomic<bool>* cancel,
                       DumpSink* sink) {
  return Walk(reader, filter, cancel, sink).Run();
}

}  // namespace sm89
