#include "sim/trace/trace_store.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "sim/base/assert.h"
#include "sim/base/fault.h"
#include "sim/base/status_macros.h"
#include "sim/base/strings.h"
#include "sim/trace/format.h"
#include "sim/trace/packing.h"

namespace sm89 {

absl::StatusOr<std::shared_ptr<TraceStore>> TraceStore::Open(const std::string& path) {
  auto store = std::make_shared<TraceStore>();
  store->path_ = path;
  ASSIGN_OR_RETURN(store->file_, MappedFile::Open(path));
  RETURN_IF_ERROR(store->ReadHeader());
  RETURN_IF_ERROR(store->ReadTables());
  return store;
}

absl::Status TraceStore::Damage(std::string what, uint64_t offset, std::string message) const {
  return InputError(absl::StatusCode::kDataLoss,
                    Fault{.file = path_,
                          .field = std::move(what),
                          .message = absl::StrCat("damaged compact trace at byte ", offset, ": ", message),
                          .facts = {{"offset", absl::StrCat(offset)}}});
}

absl::Status TraceStore::ReadHeader() {
  const std::string_view bytes = file_->bytes();
  absl::StatusOr<FileHeader> header = DecodeHeader(bytes.substr(0, kCompactHeaderBytes));
  if (!header.ok()) {
    const std::string message(Sv(header.status().message()));
    if (header.status().code() == absl::StatusCode::kDataLoss) return Damage("header", 0, message);
    return InputError(header.status().code(), Fault{.file = path_, .field = "header", .message = message});
  }
  header_ = *std::move(header);
  if (header_.file_bytes != bytes.size()) {
    return Damage(
        "header", std::min<uint64_t>(header_.file_bytes, bytes.size()),
        absl::StrCat("the file has ", bytes.size(), " bytes, its header says ", header_.file_bytes));
  }
  // The chunks fill the space before the first section; sections lie back to back up to the end.
  uint64_t next = header_.sections[0].offset;
  if (next < kCompactHeaderBytes) return Damage("header", 0, "a section lies inside the header");
  for (const SectionEntry& s : header_.sections) {
    const std::string name(Name(s.kind));
    if (s.offset != next || s.stored_bytes > bytes.size() - std::min<uint64_t>(next, bytes.size())) {
      return Damage(name, s.offset, "the section lies outside its place");
    }
    if (s.raw_bytes > kMaxSectionBytes) return Damage(name, s.offset, "the section is larger than allowed");
    next += s.stored_bytes;
  }
  if (next != bytes.size()) return Damage("header", next, "bytes after the last section");
  return absl::OkStatus();
}

absl::StatusOr<std::string> TraceStore::ReadSection(SectionKind kind) const {
  for (const SectionEntry& s : header_.sections) {
    if (s.kind != kind) continue;
    const std::string name(Name(kind));
    const std::string_view stored = file_->bytes().substr(s.offset, s.stored_bytes);
    if (Crc32(stored) != s.crc) return Damage(name, s.offset, "the checksum does not match");
    absl::StatusOr<std::string> raw = Unpack(stored, s.raw_bytes);
    if (!raw.ok()) return Damage(name, s.offset, std::string(Sv(raw.status().message())));
    return raw;
  }
  return Damage("header", 0, "a section is missing");
}

absl::Status TraceStore::ReadTables() {
  const auto malformed = [&](size_t section) {
    const SectionEntry& s = header_.sections[section];
    return Damage(std::string(Name(s.kind)), s.offset, "the section is malformed");
  };
  ASSIGN_OR_RETURN(const std::string set, ReadSection(SectionKind::kSet));
  ASSIGN_OR_RETURN(const std::string kernels, ReadSection(SectionKind::kKernels));
  ASSIGN_OR_RETURN(const std::string statics, ReadSection(SectionKind::kStatics));
  ASSIGN_OR_RETURN(const std::string chunks, ReadSection(SectionKind::kChunks));
  if (!DecodeStaticTables(statics, &tables_)) return malformed(2);
  if (!DecodeKernels(kernels, tables_.size(), &kernels_)) return malformed(1);
  if (!DecodeSet(set, kernels_.size(), &info_)) return malformed(0);
  const bool emulated = std::any_of(info_.marks.begin(), info_.marks.end(),
                                    [](const TraceMark& mark) { return mark.kind == kEmulatedMark; });
  for (KernelRecord& k : kernels_) {
    if (emulated) k.info.origin = KernelOrigin::kCubin;
    info_.kernels.push_back(k.info);
    slots_of_kernel_.push_back(tables_[k.table].num_slots);
  }
  std::vector<ChunkEntry> entries;
  if (!DecodeChunks(chunks, &entries)) return malformed(3);
  return PlaceChunks(entries);
}

absl::Status TraceStore::PlaceChunks(const std::vector<ChunkEntry>& entries) {
  chunks_.resize(entries.size());
  uint64_t offset = kCompactHeaderBytes;
  uint64_t pieces = 0;
  uint64_t shapes = 0;
  uint64_t wanted = 0;  // pieces
  for (const KernelRecord& k : kernels_) {
    for (const CtaRun& run : k.runs) wanted = run.first_piece + run.count * run.segments;
  }
  const uint64_t end = header_.sections[0].offset;
  for (size_t i = 0; i < entries.size(); ++i) {
    ChunkState& c = chunks_[i];
    c.entry = entries[i];
    c.offset = offset;
    c.first_piece = pieces;
    c.first_shape = static_cast<uint32_t>(shapes);
    if (c.entry.stored_bytes > end - offset) {
      return Damage(absl::StrCat("chunk ", i), offset, "the chunk reaches beyond the chunk area");
    }
    if (c.entry.pieces > wanted - pieces || c.entry.shapes > kMaxShapes - shapes) {
      return Damage(absl::StrCat("chunk ", i), offset, "the chunk index counts more than the file can hold");
    }
    offset += c.entry.stored_bytes;
    pieces += c.entry.pieces;
    shapes += c.entry.shapes;
  }
  const uint64_t index = header_.sections[3].offset;
  if (offset != end) return Damage("chunks", index, "the chunk index does not cover the chunk area");
  if (pieces != wanted) return Damage("chunks", index, "chunk index and thread block index disagree");
  return absl::OkStatus();
}

PiecePlace TraceStore::Locate(uint64_t piece) const {
  const auto after = std::upper_bound(chunks_.begin(), chunks_.end(), piece,
                                      [](uint64_t p, const ChunkState& c) { return p < c.first_piece; });
  SM89_ASSERT(after != chunks_.begin(), "the first chunk starts at piece 0");
  const auto chunk = static_cast<uint64_t>(after - chunks_.begin()) - 1;
  return {chunk, piece - chunks_[chunk].first_piece};
}

absl::StatusOr<std::shared_ptr<const Chunk>> TraceStore::GetChunk(uint64_t chunk) {
  SM89_ASSERT(chunk < chunks_.size(), "chunk numbers come from Locate");
  ChunkState& state = chunks_[chunk];
  std::unique_lock lock(mutex_);
  while (true) {
    if (std::shared_ptr<const Chunk> ready = state.loaded.lock()) {
      Keep(ready);
      return ready;
    }
    if (!state.loading) break;
    loaded_.wait(lock);
  }
  state.loading = true;
  lock.unlock();
  absl::StatusOr<std::shared_ptr<const Chunk>> fresh = Load(chunk);
  lock.lock();
  state.loading = false;
  if (fresh.ok()) {
    state.loaded = *fresh;
    Keep(*fresh);
  }
  loaded_.notify_all();
  return fresh;
}

void TraceStore::Keep(const std::shared_ptr<const Chunk>& chunk) {
  if (!kept_.empty() && kept_.front() == chunk) return;
  std::erase(kept_, chunk);
  kept_.push_front(chunk);
  if (kept_.size() > kKeptChunks) kept_.pop_back();
}

absl::StatusOr<std::shared_ptr<const Chunk>> TraceStore::Load(uint64_t chunk) const {
  const ChunkState& state = chunks_[chunk];
  const std::string name = absl::StrCat("chunk ", chunk);
  const std::string_view stored = file_->bytes().substr(state.offset, state.entry.stored_bytes);
  if (Crc32(stored) != state.entry.crc) return Damage(name, state.offset, "the checksum does not match");
  absl::StatusOr<std::string> raw = Unpack(stored, state.entry.raw_bytes);
  if (!raw.ok()) return Damage(name, state.offset, std::string(Sv(raw.status().message())));
  file_->Release(stored);
  absl::StatusOr<Chunk> parsed = Chunk::Parse(*std::move(raw), {.pieces = state.entry.pieces,
                                                                .shapes = state.entry.shapes,
                                                                .first_shape_id = state.first_shape,
                                                                .slots_of_kernel = slots_of_kernel_});
  if (!parsed.ok()) return Damage(name, state.offset, std::string(Sv(parsed.status().message())));
  return std::make_shared<const Chunk>(*std::move(parsed));
}

}  // namespace sm89
