#include "sim/trace/cta_recorder.h"

#include <algorithm>
#include <bit>
#include <string>
#include <string_view>
#include <utility>

#include "absl/hash/hash.h"
#include "absl/strings/str_cat.h"
#include "sim/base/assert.h"
#include "sim/base/fault.h"
#include "sim/base/status_macros.h"
#include "sim/base/strings.h"
#include "sim/trace/segment_decoder.h"

namespace sm89 {
namespace {

// A stretch of one of a CTA's arrays.
struct Range {
  uint64_t first = 0;
  uint32_t count = 0;
};

struct Segment {
  uint32_t instructions = 0;
  uint32_t next = UINT32_MAX;  // of the same warp
  Range ops, aux, shapes, slots;
  uint64_t first_base = 0;  // one a slot
};

template <typename T>
std::span<const T> View(const std::vector<T>& items, const Range& range) {
  return std::span(items).subspan(range.first, range.count);
}

template <typename T>
uint64_t BytesOf(const std::vector<T>& items) {
  return items.size() * sizeof(T);
}

}  // namespace

struct RecordedCta {
  struct Warp {
    uint64_t instructions = 0;
    uint32_t first_segment = UINT32_MAX;
  };
  explicit RecordedCta(std::shared_ptr<LiveBytes> bytes) : live(std::move(bytes)) {}
  // A copy that takes no more memory than it needs, counted among the live bytes.
  RecordedCta(const RecordedCta& open, uint64_t bytes) : RecordedCta(open) {
    counted = bytes;
    live->fetch_add(counted, std::memory_order_relaxed);
  }
  ~RecordedCta() { live->fetch_sub(counted, std::memory_order_relaxed); }

  std::string_view Streams(const Range& range) const {
    return std::string_view(streams).substr(range.first, range.count);
  }
  uint64_t bytes() const {
    return sizeof(*this) + BytesOf(warps) + BytesOf(segments) + streams.size() + BytesOf(shapes) +
           BytesOf(slots) + BytesOf(bases);
  }
  void Clear() {
    warps.clear();
    segments.clear();
    streams.clear();
    shapes.clear();
    slots.clear();
    bases.clear();
    arenas.clear();
  }

  std::shared_ptr<LiveBytes> live;
  uint64_t counted = 0;
  Dim3 id;
  std::vector<Warp> warps;
  std::vector<Segment> segments;
  std::string streams;
  std::vector<const AccessShape*> shapes;
  std::vector<uint32_t> slots;
  std::vector<uint64_t> bases;
  std::shared_ptr<const StaticTableData> table;
  std::vector<std::shared_ptr<ShapeArena>> arenas;  // where the shapes lie

 private:
  RecordedCta(const RecordedCta&) = default;
};

namespace {

struct RecordedShapes {
  std::span<const AccessShape* const> shapes;

  size_t size() const { return shapes.size(); }
  const AccessShape& operator[](size_t i) const { return *shapes[i]; }
};

class RecordedCursor final : public WarpCursor {
 public:
  RecordedCursor(std::shared_ptr<const RecordedCta> cta, uint32_t warp)
      : cta_(std::move(cta)),
        decoder_(cta_->table->by_stream_id, cta_->table->num_slots),
        next_segment_(cta_->warps[warp].first_segment),
        remaining_(cta_->warps[warp].instructions) {}

  bool Next(DynInst* inst) override {
    if (decoder_.left() == 0) [[unlikely]] {
      if (next_segment_ == UINT32_MAX) return false;
      StartSegment();
    }
    const bool good = decoder_.Next(inst);
    SM89_ASSERT(good, "the recorder's own streams decode");
    --remaining_;
    return true;
  }
  const absl::Status& status() const override { return status_; }
  uint64_t remaining() const override { return remaining_; }

 private:
  void StartSegment() {
    const Segment& segment = cta_->segments[next_segment_];
    next_segment_ = segment.next;
    decoder_.Start({.ops = cta_->Streams(segment.ops),
                    .aux = cta_->Streams(segment.aux),
                    .shapes = {View(cta_->shapes, segment.shapes)},
                    .instructions = segment.instructions,
                    .slots = View(cta_->slots, segment.slots),
                    .first_bases = View(cta_->bases, {segment.first_base, segment.slots.count})});
  }

  const std::shared_ptr<const RecordedCta> cta_;
  SegmentDecoder<RecordedShapes> decoder_;
  uint32_t next_segment_;
  uint64_t remaining_;
  const absl::Status status_;
};

class RecordedTrace final : public CtaTrace {
 public:
  explicit RecordedTrace(std::shared_ptr<const RecordedCta> cta) : cta_(std::move(cta)) {}

  Dim3 id() const override { return cta_->id; }
  uint32_t num_warps() const override { return static_cast<uint32_t>(cta_->warps.size()); }
  uint64_t warp_instructions(uint32_t warp) const override {
    return warp < cta_->warps.size() ? cta_->warps[warp].instructions : 0;
  }
  std::unique_ptr<WarpCursor> OpenWarp(uint32_t warp) const override {
    if (warp_instructions(warp) == 0) return nullptr;
    return std::make_unique<RecordedCursor>(cta_, warp);
  }

 private:
  const std::shared_ptr<const RecordedCta> cta_;
};

}  // namespace

CtaRecorder::CtaRecorder(const RecorderLimits& limits)
    : limits_(limits), live_(std::make_shared<LiveBytes>(0)), pool_(live_) {}

CtaRecorder::~CtaRecorder() = default;

absl::Status CtaRecorder::CheckLimit(const char* what, uint64_t bytes, uint64_t limit) const {
  if (bytes <= limit) return absl::OkStatus();
  return InputError(absl::StatusCode::kResourceExhausted,
                    Fault{.field = what,
                          .value = absl::StrCat(bytes),
                          .expected = absl::StrCat("at most ", limit),
                          .message = "the executed instructions take more memory than they may"});
}

absl::Status CtaRecorder::CheckCta() const {
  const uint64_t bytes = cta_->bytes() + pool_.made_bytes() - shapes_before_;
  return CheckLimit("bytes of one thread block", bytes, limits_.cta_bytes);
}

void CtaRecorder::BeginKernel(uint32_t num_statics) {
  statics_.assign(num_statics, {});
  for (uint32_t i = 0; i < num_statics; ++i) statics_[i].static_id = i;
  num_slots_ = 0;
  slots_met_ = 0;
  last_shape_.clear();
  table_ = nullptr;
}

absl::Status CtaRecorder::BeginCta(const Dim3& id, uint32_t num_warps) {
  SM89_ASSERT(num_warps > 0 && num_warps <= kMaxWarpsPerCta, "1 to kMaxWarpsPerCta warps");
  RETURN_IF_ERROR(CheckLimit("bytes of all recorded thread blocks", live_bytes(), limits_.live_bytes));
  if (cta_ == nullptr) cta_ = std::make_unique<RecordedCta>(live_);
  cta_->Clear();
  cta_->id = id;
  cta_->warps.resize(num_warps);
  cta_->arenas.push_back(pool_.arena());
  if (warps_.size() < num_warps) warps_.resize(num_warps);
  for (Warp& warp : warps_) {
    if (!warp.encoder.empty()) warp.encoder.Restart();
    warp.instructions = 0;
    warp.last_segment = UINT32_MAX;
  }
  by_streams_.clear();
  warp_instructions_ = 0;
  shapes_before_ = pool_.made_bytes();
  return absl::OkStatus();
}

absl::Status CtaRecorder::Add(uint32_t index, const DynInstRecord& inst) {
  SM89_ASSERT(index < cta_->warps.size(), "warps of the open thread block");
  SM89_ASSERT(inst.static_id < statics_.size(), "static ids are below BeginKernel's number");
  Warp& warp = warps_[index];
  if (warp.encoder.Full()) [[unlikely]] {
    RETURN_IF_ERROR(CloseSegment(index));
  }
  ++warp.instructions;
  ++warp_instructions_;
  if (!inst.addresses.empty()) return AddAccess(&warp, inst);
  warp.encoder.AddPlain(inst.static_id, inst.mask);
  return absl::OkStatus();
}

absl::Status CtaRecorder::AddAccess(Warp* warp, const DynInstRecord& inst) {
  SM89_ASSERT(inst.addresses.size() == static_cast<size_t>(std::popcount(inst.mask)),
              "one address an active lane");
  uint32_t slot = statics_[inst.static_id].slot;
  if (slot == UINT32_MAX) slot = NewSlot(inst.static_id);
  const AccessShape* shape = last_shape_[slot];
  if (shape == nullptr || !HasShape(*shape, inst.mask, inst.addresses)) {
    shape = ShapeOf(slot, inst);
    if (shape == nullptr) return CheckLimit("access shapes", pool_.num_ids() + 1, kMaxShapes);
    RETURN_IF_ERROR(CheckCta());
  }
  warp->encoder.AddAccess(inst.static_id, inst.mask, slot, shape->id, inst.addresses[0]);
  return absl::OkStatus();
}

uint32_t CtaRecorder::NewSlot(uint32_t static_id) {
  const uint32_t slot = slots_met_++ % kMaxSlots;
  statics_[static_id].slot = slot;
  num_slots_ = std::max(num_slots_, slot + 1);
  if (last_shape_.size() < num_slots_) last_shape_.resize(num_slots_, nullptr);
  table_ = nullptr;
  return slot;
}

// Null when there are no more ids.
const AccessShape* CtaRecorder::ShapeOf(uint32_t slot, const DynInstRecord& inst) {
  if (pool_.num_ids() >= kMaxShapes) return nullptr;
  const AccessShape* shape = pool_.Intern(inst.mask, inst.addresses);
  if (pool_.arena() != cta_->arenas.back()) {
    cta_->arenas.push_back(pool_.arena());
    std::fill(last_shape_.begin(), last_shape_.end(), nullptr);
  }
  last_shape_[slot] = shape;
  return shape;
}

absl::Status CtaRecorder::CloseSegment(uint32_t index) {
  Warp& warp = warps_[index];
  const EncodedSegment& closed = warp.encoder.Close();
  RecordedCta& cta = *cta_;
  Segment segment{.instructions = closed.instructions};
  // Most warps of a regular kernel differ in their base addresses alone.
  const auto number = static_cast<uint32_t>(cta.segments.size());
  const auto [same, added] = by_streams_.try_emplace(absl::HashOf(closed.ops, closed.aux), number);
  const Segment* like = added ? nullptr : &cta.segments[same->second];
  const bool repeats =
      like != nullptr && cta.Streams(like->ops) == closed.ops && cta.Streams(like->aux) == closed.aux;
  if (repeats) {
    segment.ops = like->ops;
    segment.aux = like->aux;
  } else {
    segment.ops = {cta.streams.size(), static_cast<uint32_t>(closed.ops.size())};
    cta.streams += closed.ops;
    segment.aux = {cta.streams.size(), static_cast<uint32_t>(closed.aux.size())};
    cta.streams += closed.aux;
  }
  segment.shapes = {cta.shapes.size(), static_cast<uint32_t>(closed.shapes.size())};
  for (const uint32_t id : closed.shapes) {
    const auto arena = std::find_if(cta.arenas.rbegin(), cta.arenas.rend(),
                                    [&](const auto& candidate) { return candidate->Holds(id); });
    SM89_ASSERT(arena != cta.arenas.rend(), "a shape of an arena that the thread block keeps");
    cta.shapes.push_back((*arena)->Get(id));
  }
  if (repeats && std::ranges::equal(View(cta.shapes, segment.shapes), View(cta.shapes, like->shapes))) {
    cta.shapes.resize(segment.shapes.first);
    segment.shapes = like->shapes;
  }
  segment.slots = {cta.slots.size(), static_cast<uint32_t>(closed.first_bases.size())};
  segment.first_base = cta.bases.size();
  for (const FirstBase& first : closed.first_bases) {
    cta.slots.push_back(first.slot);
    cta.bases.push_back(first.base);
  }
  if (repeats && std::ranges::equal(View(cta.slots, segment.slots), View(cta.slots, like->slots))) {
    cta.slots.resize(segment.slots.first);
    segment.slots = like->slots;
  }
  warp.encoder.Restart();
  uint32_t& link =
      warp.last_segment == UINT32_MAX ? cta.warps[index].first_segment : cta.segments[warp.last_segment].next;
  link = number;
  warp.last_segment = number;
  cta.segments.push_back(segment);
  return CheckCta();
}

absl::StatusOr<std::unique_ptr<CtaTrace>> CtaRecorder::EndCta() {
  for (uint32_t w = 0; w < cta_->warps.size(); ++w) {
    if (!warps_[w].encoder.empty()) RETURN_IF_ERROR(CloseSegment(w));
    cta_->warps[w].instructions = warps_[w].instructions;
  }
  if (table_ == nullptr) {
    auto table = std::make_shared<StaticTableData>();
    table->by_stream_id = statics_;
    table->num_slots = num_slots_;
    table_ = std::move(table);
  }
  cta_->table = table_;
  auto recorded = std::make_shared<const RecordedCta>(*cta_, cta_->bytes());
  cta_->Clear();
  return std::make_unique<RecordedTrace>(std::move(recorded));
}

}  // namespace sm89
