#include "sim/trace/compact_reader.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "sim/base/assert.h"
#include "sim/base/status_macros.h"
#include "sim/trace/shape_code.h"
#include "sim/trace/trace_digest.h"
#include "sim/trace/trace_store.h"
#include "sim/trace/warp_cursor.h"

namespace sm89 {
namespace {

uint32_t WarpsOf(const Dim3& block) {
  const uint64_t threads = SaturatingVolume(block);
  return static_cast<uint32_t>(
      std::min<uint64_t>(threads / kWarpSize + (threads % kWarpSize != 0), UINT32_MAX));
}

Dim3 FromLinear(uint64_t linear, const Dim3& grid) {
  const uint64_t rows = linear / grid.x;
  return {static_cast<uint32_t>(linear % grid.x), static_cast<uint32_t>(rows % grid.y),
          static_cast<uint32_t>(rows / grid.y)};
}

class Cta final : public CtaTrace {
 public:
  Cta(std::shared_ptr<TraceStore> store, const WarpPlace& place, const Dim3& id,
      std::shared_ptr<const Chunk> chunk, size_t piece)
      : store_(std::move(store)), place_(place), id_(id), chunk_(std::move(chunk)), piece_(piece) {}

  Dim3 id() const override { return id_; }
  uint32_t num_warps() const override { return WarpsOf(store_->kernel(place_.kernel).info.block); }
  uint64_t warp_instructions(uint32_t warp) const override {
    const WarpSegment* s = chunk_->FindWarp(piece_, warp);
    return s == nullptr ? 0 : s->instructions + s->remaining;
  }
  std::unique_ptr<WarpCursor> OpenWarp(uint32_t warp) const override { return OpenCompact(warp); }

  std::unique_ptr<CompactWarpCursor> OpenCompact(uint32_t warp) const {
    if (warp_instructions(warp) == 0) return nullptr;
    WarpPlace place = place_;
    place.warp = warp;
    return std::make_unique<CompactWarpCursor>(store_, place, chunk_, piece_);
  }
  // Warps that have a section, empty ones included.
  std::span<const WarpSegment> present() const { return chunk_->warps(piece_); }

 private:
  const std::shared_ptr<TraceStore> store_;
  const WarpPlace place_;
  const Dim3 id_;
  const std::shared_ptr<const Chunk> chunk_;
  const size_t piece_;
};

class Reader final : public CompactReader {
 public:
  explicit Reader(std::shared_ptr<TraceStore> store) : store_(std::move(store)) {}

  const TraceSetInfo& info() const override { return store_->info(); }
  const std::string& digest() const override { return store_->digest(); }
  std::span<const StaticInst> StaticTable(uint32_t kernel) const override {
    SM89_ASSERT(kernel < store_->num_kernels(), "kernel numbers come from info()");
    return store_->table(kernel).insts;
  }
  uint64_t NumCtas(uint32_t kernel) const override {
    SM89_ASSERT(kernel < store_->num_kernels(), "kernel numbers come from info()");
    return store_->kernel(kernel).info.num_ctas;
  }
  Dim3 CtaId(uint32_t kernel, uint64_t index) const override {
    const CtaRun& run = RunOf(kernel, index);
    return FromLinear(run.first_linear + index - run.first_index, store_->kernel(kernel).info.grid);
  }
  absl::StatusOr<std::unique_ptr<CtaTrace>> OpenCta(uint32_t kernel, uint64_t index) override {
    ASSIGN_OR_RETURN(std::unique_ptr<Cta> cta, Open(kernel, index));
    return std::unique_ptr<CtaTrace>(std::move(cta));
  }
  absl::Status VerifyAll() override;

 private:
  const CtaRun& RunOf(uint32_t kernel, uint64_t index) const;
  absl::StatusOr<std::unique_ptr<Cta>> Open(uint32_t kernel, uint64_t index);
  absl::Status HashCta(const Cta& cta, TraceDigest* digest);

  const std::shared_ptr<TraceStore> store_;
};

const CtaRun& Reader::RunOf(uint32_t kernel, uint64_t index) const {
  SM89_ASSERT(index < NumCtas(kernel), "thread block numbers are below NumCtas");
  const std::vector<CtaRun>& runs = store_->kernel(kernel).runs;
  const auto after = std::upper_bound(runs.begin(), runs.end(), index,
                                      [](uint64_t i, const CtaRun& run) { return i < run.first_index; });
  return *(after - 1);
}

absl::StatusOr<std::unique_ptr<Cta>> Reader::Open(uint32_t kernel, uint64_t index) {
  const CtaRun& run = RunOf(kernel, index);
  const uint64_t place_in_run = index - run.first_index;
  const WarpPlace place{.kernel = kernel,
                        .first_piece = run.first_piece + place_in_run * run.segments,
                        .num_pieces = run.segments};
  const PiecePlace at = store_->Locate(place.first_piece);
  ASSIGN_OR_RETURN(std::shared_ptr<const Chunk> chunk, store_->GetChunk(at.chunk));
  if (chunk->kernel(at.piece) != kernel) {
    return store_->Damage(absl::StrCat("chunk ", at.chunk), store_->chunk_offset(at.chunk),
                          absl::StrCat("a thread block of kernel ", kernel + 1, " lies in another kernel"));
  }
  return std::make_unique<Cta>(store_, place, CtaId(kernel, index), std::move(chunk), at.piece);
}

absl::Status Reader::HashCta(const Cta& cta, TraceDigest* digest) {
  digest->BeginCta(cta.id());
  std::vector<uint64_t> addresses;
  std::string code;
  for (const WarpSegment& warp : cta.present()) {
    digest->BeginWarp(warp.warp);
    if (const std::unique_ptr<CompactWarpCursor> cursor = cta.OpenCompact(warp.warp)) {
      DynInst inst;
      while (cursor->Next(&inst)) {
        if (inst.shape == nullptr) {
          digest->Plain(cursor->stream_id(), inst.mask);
          continue;
        }
        addresses.clear();
        for (const uint64_t offset : inst.shape->offsets) addresses.push_back(inst.base + offset);
        code.clear();
        AppendShape(&code, inst.mask, addresses);
        digest->Access(cursor->stream_id(), inst.base, code);
      }
      RETURN_IF_ERROR(cursor->status());
    }
    digest->EndWarp();
  }
  digest->EndCta();
  return absl::OkStatus();
}

absl::Status Reader::VerifyAll() {
  TraceDigest digest;
  for (uint32_t k = 0; k < store_->num_kernels(); ++k) {
    for (uint64_t i = 0; i < NumCtas(k); ++i) {
      ASSIGN_OR_RETURN(const std::unique_ptr<Cta> cta, Open(k, i));
      RETURN_IF_ERROR(HashCta(*cta, &digest));
    }
    const StaticTableData& table = store_->table(k);
    std::vector<const StaticInst*> by_stream_id;
    for (const StreamStatic& s : table.by_stream_id) by_stream_id.push_back(&table.insts[s.static_id]);
    digest.EndKernel(store_->kernel(k).info, by_stream_id);
  }
  const std::string found = digest.Finish(store_->info());
  if (found != store_->digest()) {
    return store_->Damage(
        "digest", 0, absl::StrCat("the content has digest ", found, ", the header says ", store_->digest()));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::shared_ptr<CompactReader>> CompactReader::Open(const std::string& path) {
  ASSIGN_OR_RETURN(std::shared_ptr<TraceStore> store, TraceStore::Open(path));
  return std::make_shared<Reader>(std::move(store));
}

}  // namespace sm89
