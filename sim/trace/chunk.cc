#include "sim/trace/chunk.h"

#include <algorithm>
#include <array>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "sim/trace/base_predictor.h"
#include "sim/trace/byte_io.h"
#include "sim/trace/format.h"
#include "sim/trace/shape_code.h"

namespace sm89 {

// Reads the columns one after the other; each step checks what it reads against what came before.
class ChunkParser {
 public:
  ChunkParser(std::string raw, const Chunk::Expectation& expected) : expected_(expected) {
    chunk_.raw_ = std::move(raw);
  }

  absl::StatusOr<Chunk> Run() {
    for (const auto& [step, what] : kSteps) {
      if (!(this->*step)()) return absl::DataLossError(absl::StrCat("malformed ", what));
    }
    return std::move(chunk_);
  }

 private:
  bool ReadDirectory();
  bool ReadShapes();
  bool ReadShapeLists();
  bool ReadSlotLists();
  bool ReadBlobs();
  bool ReadPieces();
  bool ReadRecords(ByteReader* in, Chunk::Piece* piece);
  bool ReadReference(ByteReader* in, uint32_t count, uint32_t* next, uint32_t* number);
  bool ReadBases();
  bool ReadBasesOfPiece(const Chunk::Piece& piece, ByteReader* in);
  bool ReadLengths(ByteReader* in, Column column, uint64_t count, std::vector<Chunk::Range>* out);

  ByteReader column(Column c) const { return ByteReader(columns_[static_cast<size_t>(c)]); }
  bool CountAddresses(uint64_t more) {
    addresses_ += more;
    return addresses_ <= kMaxChunkAddresses;
  }

  struct Step {
    bool (ChunkParser::*run)();
    const char* what;
  };
  static const std::array<Step, 7> kSteps;

  const Chunk::Expectation expected_;
  Chunk chunk_;
  std::array<std::string_view, kNumColumns> columns_;
  uint64_t num_shapes_ = 0, num_shape_lists_ = 0, num_slot_lists_ = 0, num_ops_ = 0, num_aux_ = 0,
           num_pieces_ = 0;
  uint32_t next_ops_ = 0, next_aux_ = 0, next_shape_list_ = 0, next_slot_list_ = 0;
  uint64_t addresses_ = 0;
  FirstBasePredictor predictor_;
};

const std::array<ChunkParser::Step, 7> ChunkParser::kSteps = {{
    {&ChunkParser::ReadDirectory, "chunk directory"},
    {&ChunkParser::ReadShapes, "shape column"},
    {&ChunkParser::ReadShapeLists, "shape list column"},
    {&ChunkParser::ReadSlotLists, "slot list column"},
    {&ChunkParser::ReadBlobs, "stream length column"},
    {&ChunkParser::ReadPieces, "piece column"},
    {&ChunkParser::ReadBases, "first base column"},
}};

bool ChunkParser::ReadDirectory() {
  ByteReader in(chunk_.raw_);
  for (uint64_t* count :
       {&num_shapes_, &num_shape_lists_, &num_slot_lists_, &num_ops_, &num_aux_, &num_pieces_}) {
    *count = in.Count(1);
  }
  std::array<uint64_t, kNumColumns> lengths{};
  for (uint64_t& length : lengths) length = in.Varint();
  for (size_t i = 0; i < kNumColumns; ++i) columns_[i] = in.Raw(lengths[i]);
  return in.ok() && in.AtEnd() && num_shapes_ == expected_.shapes && num_pieces_ == expected_.pieces;
}

bool ChunkParser::ReadShapes() {
  ByteReader in = column(Column::kShapes);
  if (num_shapes_ > in.remaining()) return false;
  chunk_.shapes_.resize(num_shapes_);
  uint32_t id = expected_.first_shape_id;
  for (AccessShape& shape : chunk_.shapes_) {
    if (!ReadShape(&in, &shape) || !CountAddresses(shape.offsets.size())) return false;
    shape.id = id++;
  }
  return in.AtEnd();
}

bool ChunkParser::ReadShapeLists() {
  ByteReader in = column(Column::kShapeLists);
  if (num_shape_lists_ > in.remaining()) return false;
  uint32_t next = 0;
  for (uint64_t i = 0; i < num_shape_lists_; ++i) {
    const Chunk::Range range{chunk_.list_items_.size(), in.Count(1)};
    for (uint64_t k = 0; k < range.count; ++k) {
      uint32_t number = 0;
      if (!ReadReference(&in, static_cast<uint32_t>(num_shapes_), &next, &number)) return false;
      chunk_.list_items_.push_back(number);
    }
    chunk_.shape_lists_.push_back(range);
  }
  return in.ok() && in.AtEnd();
}

bool ChunkParser::ReadSlotLists() {
  ByteReader in = column(Column::kSlotLists);
  if (num_slot_lists_ > in.remaining()) return false;
  for (uint64_t i = 0; i < num_slot_lists_; ++i) {
    const Chunk::Range range{chunk_.list_items_.size(), in.Count(1)};
    uint64_t next = 0;
    for (uint64_t k = 0; k < range.count; ++k) {
      const uint64_t slot = next + in.VarintBelow(kMaxSlots);
      if (slot >= kMaxSlots) return false;
      chunk_.list_items_.push_back(static_cast<uint32_t>(slot));
      next = slot + 1;
    }
    chunk_.slot_lists_.push_back(range);
  }
  return in.ok() && in.AtEnd();
}

bool ChunkParser::ReadLengths(ByteReader* in, Column c, uint64_t count, std::vector<Chunk::Range>* out) {
  const std::string_view bytes = columns_[static_cast<size_t>(c)];
  const auto start = static_cast<uint64_t>(bytes.data() - chunk_.raw_.data());
  if (count > in->remaining()) return false;
  uint64_t used = 0;
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t length = in->Varint();
    if (length > bytes.size() - used) return false;
    out->push_back({start + used, length});
    used += length;
  }
  return in->ok() && used == bytes.size();
}

bool ChunkParser::ReadBlobs() {
  ByteReader in = column(Column::kBlobs);
  return ReadLengths(&in, Column::kOps, num_ops_, &chunk_.ops_) &&
         ReadLengths(&in, Column::kAux, num_aux_, &chunk_.aux_) && in.AtEnd();
}

bool ChunkParser::ReadReference(ByteReader* in, uint32_t count, uint32_t* next, uint32_t* number) {
  const uint64_t distance = in->Varint();
  if (!in->ok() || distance > *next) return false;
  *number = static_cast<uint32_t>(*next - distance);
  if (*number >= count) return false;
  if (distance == 0) ++*next;
  return true;
}

bool ChunkParser::ReadPieces() {
  ByteReader in = column(Column::kPieces);
  if (num_pieces_ > in.remaining()) return false;
  chunk_.pieces_.reserve(num_pieces_);
  uint64_t kernel = 0;
  for (uint64_t i = 0; i < num_pieces_; ++i) {
    if (chunk_.warps_.size() > kMaxChunkWarps) return false;
    const uint64_t head = in.Varint();
    kernel += head / 2;
    if (!in.ok() || kernel >= expected_.slots_of_kernel.size()) return false;
    Chunk::Piece piece{.kernel = static_cast<uint32_t>(kernel)};
    if (head % 2 != 0) {
      if (i == 0) return false;
      piece.first_warp = chunk_.warps_.size();
      piece.num_warps = chunk_.pieces_.back().num_warps;
      const uint64_t from = chunk_.pieces_.back().first_warp;
      for (uint64_t k = 0; k < piece.num_warps; ++k) {
        const WarpSegment copy = chunk_.warps_[from + k];
        chunk_.warps_.push_back(copy);
      }
    } else if (!ReadRecords(&in, &piece)) {
      return false;
    }
    chunk_.pieces_.push_back(piece);
  }
  return in.AtEnd();
}

bool ChunkParser::ReadRecords(ByteReader* in, Chunk::Piece* piece) {
  piece->first_warp = chunk_.warps_.size();
  piece->num_warps = in->VarintBelow(kMaxWarpsPerCta + 1);
  uint64_t next_warp = 0;
  for (uint64_t k = 0; k < piece->num_warps; ++k) {
    WarpSegment s;
    const uint64_t warp = next_warp + in->VarintBelow(kMaxWarpsPerCta);
    if (warp >= kMaxWarpsPerCta) return false;
    next_warp = warp + 1;
    s.warp = static_cast<uint32_t>(warp);
    s.instructions = static_cast<uint32_t>(in->VarintBelow(uint64_t{1} << 31));
    if (s.instructions > 0) {
      s.remaining = in->VarintBelow(uint64_t{1} << 62);
      if (!ReadReference(in, static_cast<uint32_t>(num_ops_), &next_ops_, &s.ops) ||
          !ReadReference(in, static_cast<uint32_t>(num_aux_), &next_aux_, &s.aux) ||
          !ReadReference(in, static_cast<uint32_t>(num_shape_lists_), &next_shape_list_, &s.shape_list) ||
          !ReadReference(in, static_cast<uint32_t>(num_slot_lists_), &next_slot_list_, &s.slot_list)) {
        return false;
      }
    }
    if (!in->ok()) return false;
    chunk_.warps_.push_back(s);
  }
  return in->ok();
}

bool ChunkParser::ReadBases() {
  ByteReader in = column(Column::kBases);
  const Chunk::Piece* previous = nullptr;
  for (const Chunk::Piece& piece : chunk_.pieces_) {
    if (previous == nullptr || previous->kernel != piece.kernel) predictor_.Reset();
    previous = &piece;
    if (!ReadBasesOfPiece(piece, &in)) return false;
  }
  return in.AtEnd();
}

bool ChunkParser::ReadBasesOfPiece(const Chunk::Piece& piece, ByteReader* in) {
  predictor_.BeginPiece();
  const uint32_t num_slots = expected_.slots_of_kernel[piece.kernel];
  for (uint64_t k = 0; k < piece.num_warps; ++k) {
    WarpSegment& s = chunk_.warps_[piece.first_warp + k];
    if (s.instructions == 0) continue;
    predictor_.BeginWarp(static_cast<uint32_t>(k));
    const std::span<const uint32_t> slots = chunk_.slot_list(s);
    if (slots.size() > in->remaining() || !CountAddresses(slots.size())) return false;
    s.first_base = chunk_.bases_.size();
    for (const uint32_t slot : slots) {
      if (slot >= num_slots) return false;
      const uint64_t base = predictor_.Guess(slot) + in->Zigzag();
      if (predictor_.cells_created() > kMaxChunkPredictors) return false;
      predictor_.Learn(slot, base);
      chunk_.bases_.push_back(base);
    }
  }
  return in->ok();
}

absl::StatusOr<Chunk> Chunk::Parse(std::string raw, const Expectation& expected) {
  return ChunkParser(std::move(raw), expected).Run();
}

const WarpSegment* Chunk::FindWarp(size_t piece, uint32_t warp) const {
  const std::span<const WarpSegment> all = warps(piece);
  const auto it = std::lower_bound(all.begin(), all.end(), warp,
                                   [](const WarpSegment& s, uint32_t w) { return s.warp < w; });
  return it != all.end() && it->warp == warp ? &*it : nullptr;
}

}  // namespace sm89
