#include "sim/trace/chunk_builder.h"

#include <algorithm>
#include <utility>

#include "sim/base/assert.h"
#include "sim/trace/byte_io.h"

namespace sm89 {
namespace {

// A reference as its distance from the next number never used: 0 = a new one.
void AppendReference(std::string* out, uint32_t number, uint32_t* next) {
  SM89_ASSERT(number <= *next, "numbers are given in the order of first use");
  AppendVarint(out, *next - number);
  if (number == *next) ++*next;
}

}  // namespace

uint64_t ChunkBuilder::weight() const {
  uint64_t bytes = 8 * addresses_ + sizeof(WarpRecord) * warps_ + ops_lengths_.size() + aux_lengths_.size();
  for (const std::string& c : columns_) bytes += c.size();
  return bytes;
}

void ChunkBuilder::AddPiece(uint32_t kernel, std::span<const WarpPiece> warps, const CtaShapes& shapes) {
  if (num_pieces_ == 0 || kernel != previous_kernel_) predictor_.Reset();
  predictor_.BeginPiece();
  std::vector<WarpRecord> records;
  records.reserve(warps.size());
  for (const WarpPiece& warp : warps) {
    WarpRecord record{.warp = warp.warp, .remaining = warp.remaining};
    if (warp.segment != nullptr) {
      const EncodedSegment& segment = *warp.segment;
      record.instructions = segment.instructions;
      record.ops = InternBlob(segment.ops, Column::kOps, &ops_, &ops_lengths_);
      record.aux = InternBlob(segment.aux, Column::kAux, &aux_, &aux_lengths_);
      record.shape_list = InternShapeList(segment, shapes);
      record.slot_list = InternSlotList(segment);
      AppendBases(static_cast<uint32_t>(records.size()), segment);
    }
    records.push_back(record);
  }
  const uint32_t from = num_pieces_ == 0 ? 0 : previous_kernel_;
  SM89_ASSERT(kernel >= from, "kernels come in order");
  const bool repeat = num_pieces_ > 0 && records == previous_;
  AppendVarint(&column(Column::kPieces), uint64_t{kernel - from} * 2 + (repeat ? 1 : 0));
  if (!repeat) AppendRecords(records);
  warps_ += records.size();
  previous_ = std::move(records);
  previous_kernel_ = kernel;
  ++num_pieces_;
}

void ChunkBuilder::AppendRecords(const std::vector<WarpRecord>& records) {
  std::string* out = &column(Column::kPieces);
  AppendVarint(out, records.size());
  uint32_t next_warp = 0;
  for (const WarpRecord& r : records) {
    AppendVarint(out, r.warp - next_warp);
    next_warp = r.warp + 1;
    AppendVarint(out, r.instructions);
    if (r.instructions == 0) continue;
    AppendVarint(out, r.remaining);
    AppendReference(out, r.ops, &next_ops_);
    AppendReference(out, r.aux, &next_aux_);
    AppendReference(out, r.shape_list, &next_shape_list_);
    AppendReference(out, r.slot_list, &next_slot_list_);
  }
}

void ChunkBuilder::AppendBases(uint32_t position, const EncodedSegment& segment) {
  predictor_.BeginWarp(position);
  for (const FirstBase& first : segment.first_bases) {
    AppendZigzag(&column(Column::kBases), first.base - predictor_.Guess(first.slot));
    predictor_.Learn(first.slot, first.base);
  }
  addresses_ += segment.first_bases.size();
}

uint32_t ChunkBuilder::InternBlob(const std::string& blob, Column c, Numbers* numbers, std::string* lengths) {
  const auto [it, added] = numbers->try_emplace(blob, static_cast<uint32_t>(numbers->size()));
  if (added) {
    column(c) += blob;
    AppendVarint(lengths, blob.size());
  }
  return it->second;
}

uint32_t ChunkBuilder::InternShape(const std::string& code, uint32_t lanes) {
  const auto [it, added] = shapes_.try_emplace(code, static_cast<uint32_t>(shapes_.size()));
  if (added) {
    column(Column::kShapes) += code;
    addresses_ += lanes;
  }
  return it->second;
}

uint32_t ChunkBuilder::InternShapeList(const EncodedSegment& segment, const CtaShapes& shapes) {
  // The key holds absolute numbers, the stored list distances.
  std::string key;
  std::string stored;
  AppendVarint(&stored, segment.shapes.size());
  for (const uint32_t shape : segment.shapes) {
    auto next = static_cast<uint32_t>(shapes_.size());
    const uint32_t number = InternShape(shapes.code(shape), shapes.lanes(shape));
    AppendLittleEndian(&key, number, 4);
    AppendReference(&stored, number, &next);
  }
  const auto [it, added] = shape_lists_.try_emplace(key, static_cast<uint32_t>(shape_lists_.size()));
  if (added) column(Column::kShapeLists) += stored;
  return it->second;
}

uint32_t ChunkBuilder::InternSlotList(const EncodedSegment& segment) {
  std::string code;
  AppendVarint(&code, segment.first_bases.size());
  uint32_t next = 0;
  for (const FirstBase& first : segment.first_bases) {
    AppendVarint(&code, first.slot - next);
    next = first.slot + 1;
  }
  const auto [it, added] = slot_lists_.try_emplace(code, static_cast<uint32_t>(slot_lists_.size()));
  if (added) column(Column::kSlotLists) += code;
  return it->second;
}

BuiltChunk ChunkBuilder::Take() {
  column(Column::kBlobs) = ops_lengths_ + aux_lengths_;
  BuiltChunk built{.pieces = num_pieces_, .shapes = shapes_.size()};
  for (const uint64_t count :
       {uint64_t{shapes_.size()}, uint64_t{shape_lists_.size()}, uint64_t{slot_lists_.size()},
        uint64_t{ops_.size()}, uint64_t{aux_.size()}, num_pieces_}) {
    AppendVarint(&built.raw, count);
  }
  for (const std::string& c : columns_) AppendVarint(&built.raw, c.size());
  for (const std::string& c : columns_) built.raw += c;
  *this = ChunkBuilder();
  return built;
}

}  // namespace sm89
