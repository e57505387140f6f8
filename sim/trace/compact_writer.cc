#include "sim/trace/compact_writer.h"

#include <algorithm>
#include <bit>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "sim/base/assert.h"
#include "sim/base/fault.h"
#include "sim/base/status_macros.h"
#include "sim/base/strings.h"
#include "sim/trace/chunk_builder.h"
#include "sim/trace/format.h"
#include "sim/trace/metadata.h"
#include "sim/trace/output_file.h"
#include "sim/trace/packing.h"
#include "sim/trace/segment_encoder.h"
#include "sim/trace/shape_code.h"
#include "sim/trace/trace_digest.h"

namespace sm89 {
namespace {

// Chunks are small after duplicate removal, so a high level costs little.
constexpr int kLevel = 9;

// The open CTA: its warps' segments wait here until EndCta can lay them out segment by segment.
struct OpenCta {
  struct Warp {
    uint32_t warp = 0;
    uint64_t instructions = 0;
    std::vector<EncodedSegment> segments;
  };
  uint64_t linear = 0;
  std::vector<Warp> warps;
  CtaShapes shapes;
  uint64_t held_bytes = 0;  // of closed segments and of shapes
};

// The open kernel.
struct OpenKernel {
  KernelRecord record;
  std::vector<StaticInst> statics;  // by stream id
  std::vector<uint32_t> slots;      // by stream id; UINT32_MAX = none
  uint32_t num_slots = 0;
  absl::flat_hash_map<std::string, uint32_t> ids;
};

class Writer final : public CompactWriter {
 public:
  absl::Status Open(const std::string& path) {
    path_ = path;
    RETURN_IF_ERROR(file_.Create(path));
    return file_.Append(std::string(kCompactHeaderBytes, '\0'));
  }

  absl::Status BeginKernel(const KernelInfo& kernel) override;
  uint32_t AddStatic(const StaticInst& inst) override;
  absl::Status BeginCta(const Dim3& id) override;
  absl::Status BeginWarp(uint32_t warp_id) override;
  absl::Status Add(const DynInstRecord& inst) override;
  absl::Status EndWarp() override;
  absl::Status EndCta() override;
  absl::Status EndKernel(const KernelInfo& kernel) override;
  absl::StatusOr<WrittenTrace> Finish(const TraceSetInfo& set) override;

 private:
  enum class State { kSet, kKernel, kCta, kWarp, kFinished };

  absl::Status Refuse(absl::StatusCode code, std::string field, std::string value,
                      std::string expected) const;
  absl::Status CheckLimit(std::string what, uint64_t count, uint64_t limit) const;
  void AddAccess(const DynInstRecord& inst);
  absl::Status CloseSegment();
  void AddRun(uint64_t segments);
  absl::Status FlushChunk();
  absl::StatusOr<SectionEntry> WriteSection(SectionKind kind, const std::string& raw);
  uint32_t InternTable(const OpenKernel& kernel);

  std::string path_;
  OutputFile file_;
  State state_ = State::kSet;
  OpenKernel kernel_;
  OpenCta cta_;
  SegmentEncoder encoder_;
  ChunkBuilder chunk_;
  TraceDigest digest_;
  std::string shape_code_;  // scratch
  std::vector<KernelRecord> kernels_;
  std::vector<ChunkEntry> chunks_;
  std::string tables_;  // encoded static tables, one after the other
  uint64_t num_statics_ = 0;
  uint64_t num_runs_ = 0;
  uint64_t num_shapes_ = 0;     // of all chunks
  uint64_t kernels_bytes_ = 0;  // of the kernel records, encoded
  absl::flat_hash_map<std::string, uint32_t> table_numbers_;
};

absl::Status Writer::Refuse(absl::StatusCode code, std::string field, std::string value,
                            std::string expected) const {
  return InputError(code, Fault{.file = kernel_.record.info.file,
                                .field = std::move(field),
                                .value = std::move(value),
                                .expected = std::move(expected),
                                .message = "the compact format cannot hold this trace"});
}

absl::Status Writer::CheckLimit(std::string what, uint64_t count, uint64_t limit) const {
  if (count <= limit) return absl::OkStatus();
  return Refuse(absl::StatusCode::kResourceExhausted, std::move(what), absl::StrCat(count),
                absl::StrCat("at most ", limit));
}

absl::Status Writer::BeginKernel(const KernelInfo& kernel) {
  SM89_ASSERT(state_ == State::kSet, "BeginKernel between kernels only");
  state_ = State::kKernel;
  kernel_ = OpenKernel{};
  kernel_.record.info = kernel;
  KernelInfo& info = kernel_.record.info;
  info.num_ctas = info.warp_instructions = info.thread_instructions = info.masked_off_instructions = 0;
  const Dim3& block = info.block;
  if (!IsPossibleBlock(block)) {
    return Refuse(absl::StatusCode::kInvalidArgument, "block dim",
                  absl::StrCat(block.x, ",", block.y, ",", block.z),
                  absl::StrCat("1 to ", kMaxWarpsPerCta * kWarpSize, " threads"));
  }
  return CheckLimit("kernels", kernels_.size() + 1, kMaxKernels);
}

uint32_t Writer::AddStatic(const StaticInst& inst) {
  SM89_ASSERT(state_ != State::kSet && state_ != State::kFinished, "AddStatic inside a kernel only");
  std::string key;
  AppendStaticInst(&key, inst);
  const auto id = static_cast<uint32_t>(kernel_.statics.size());
  const auto [it, added] = kernel_.ids.try_emplace(std::move(key), id);
  if (added) {
    kernel_.statics.push_back(inst);
    kernel_.slots.push_back(UINT32_MAX);
  }
  return it->second;
}

absl::Status Writer::BeginCta(const Dim3& id) {
  SM89_ASSERT(state_ == State::kKernel, "BeginCta inside a kernel only");
  const Dim3& grid = kernel_.record.info.grid;
  if (id.x >= grid.x || id.y >= grid.y || id.z >= grid.z) {
    return Refuse(absl::StatusCode::kInvalidArgument, "thread block",
                  absl::StrCat(id.x, ",", id.y, ",", id.z),
                  absl::StrCat("inside the grid (", grid.x, ",", grid.y, ",", grid.z, ")"));
  }
  if (SaturatingVolume(grid) > uint64_t{1} << 62) {
    return Refuse(absl::StatusCode::kInvalidArgument, "grid dim",
                  absl::StrCat(grid.x, ",", grid.y, ",", grid.z), "at most 2^62 thread blocks");
  }
  state_ = State::kCta;
  cta_.linear = id.x + uint64_t{grid.x} * (id.y + uint64_t{grid.y} * id.z);
  cta_.warps.clear();
  cta_.shapes.Clear();
  cta_.held_bytes = 0;
  digest_.BeginCta(id);
  return absl::OkStatus();
}

absl::Status Writer::BeginWarp(uint32_t warp_id) {
  SM89_ASSERT(state_ == State::kCta, "BeginWarp inside a CTA only");
  if (warp_id >= kMaxWarpsPerCta) {
    return Refuse(absl::StatusCode::kInvalidArgument, "warp", absl::StrCat(warp_id),
                  absl::StrCat("below ", kMaxWarpsPerCta));
  }
  for (const OpenCta::Warp& other : cta_.warps) {
    if (other.warp == warp_id) {
      return Refuse(absl::StatusCode::kInvalidArgument, "warp", absl::StrCat(warp_id),
                    "each warp once in a thread block");
    }
  }
  state_ = State::kWarp;
  cta_.warps.push_back({.warp = warp_id});
  digest_.BeginWarp(warp_id);
  return absl::OkStatus();
}

absl::Status Writer::Add(const DynInstRecord& inst) {
  SM89_ASSERT(state_ == State::kWarp, "Add inside a warp only");
  SM89_ASSERT(inst.static_id < kernel_.statics.size(), "static ids come from AddStatic");
  const auto lanes = static_cast<size_t>(std::popcount(inst.mask));
  if (!inst.addresses.empty() && inst.addresses.size() != lanes) {
    return Refuse(absl::StatusCode::kInvalidArgument, "addresses", absl::StrCat(inst.addresses.size()),
                  absl::StrCat("none or ", lanes, ", one an active lane"));
  }
  if (encoder_.Full()) RETURN_IF_ERROR(CloseSegment());
  KernelInfo& info = kernel_.record.info;
  ++info.warp_instructions;
  info.thread_instructions += lanes;
  if (lanes == 0) ++info.masked_off_instructions;
  ++cta_.warps.back().instructions;
  if (inst.addresses.empty()) {
    encoder_.AddPlain(inst.static_id, inst.mask);
    digest_.Plain(inst.static_id, inst.mask);
  } else {
    AddAccess(inst);
  }
  return absl::OkStatus();
}

void Writer::AddAccess(const DynInstRecord& inst) {
  uint32_t& slot = kernel_.slots[inst.static_id];
  if (slot == UINT32_MAX) slot = kernel_.num_slots++ % kMaxSlots;
  shape_code_.clear();
  AppendShape(&shape_code_, inst.mask, inst.addresses);
  bool added = false;
  const uint32_t shape = cta_.shapes.Intern(shape_code_, &added);
  if (added) {
    constexpr uint64_t kMapEntryBytes = 64;
    cta_.held_bytes += 2 * shape_code_.size() + kMapEntryBytes;
    encoder_.CountNewShape(static_cast<uint32_t>(inst.addresses.size()));
  }
  encoder_.AddAccess(inst.static_id, inst.mask, slot, shape, inst.addresses[0]);
  digest_.Access(inst.static_id, inst.addresses[0], shape_code_);
}

absl::Status Writer::CloseSegment() {
  std::vector<EncodedSegment>& segments = cta_.warps.back().segments;
  segments.push_back(encoder_.Take());
  cta_.held_bytes += segments.back().held_bytes();
  return CheckLimit("bytes of one thread block", cta_.held_bytes, kMaxOpenCtaBytes);
}

absl::Status Writer::EndWarp() {
  SM89_ASSERT(state_ == State::kWarp, "EndWarp inside a warp only");
  state_ = State::kCta;
  if (!encoder_.empty()) RETURN_IF_ERROR(CloseSegment());
  digest_.EndWarp();
  return absl::OkStatus();
}

absl::Status Writer::EndCta() {
  SM89_ASSERT(state_ == State::kCta, "EndCta inside a CTA only");
  state_ = State::kKernel;
  std::sort(cta_.warps.begin(), cta_.warps.end(),
            [](const OpenCta::Warp& a, const OpenCta::Warp& b) { return a.warp < b.warp; });
  size_t segments = 1;
  for (const OpenCta::Warp& warp : cta_.warps) segments = std::max(segments, warp.segments.size());
  std::vector<uint64_t> done(cta_.warps.size(), 0);
  for (size_t s = 0; s < segments; ++s) {
    std::vector<WarpPiece> piece;
    for (size_t w = 0; w < cta_.warps.size(); ++w) {
      const OpenCta::Warp& warp = cta_.warps[w];
      if (s == 0 && warp.segments.empty()) piece.push_back({.warp = warp.warp});
      if (s >= warp.segments.size()) continue;
      done[w] += warp.segments[s].instructions;
      piece.push_back({warp.warp, warp.instructions - done[w], &warp.segments[s]});
    }
    chunk_.AddPiece(static_cast<uint32_t>(kernels_.size()), piece, cta_.shapes);
    const bool inside = s + 1 < segments;
    const uint64_t target =
        inside ? std::min(kChunkTargetBytes, kChunkWarpBytes * cta_.warps.size()) : kChunkTargetBytes;
    if (chunk_.weight() >= target) RETURN_IF_ERROR(FlushChunk());
  }
  AddRun(segments);
  ++kernel_.record.info.num_ctas;
  digest_.EndCta();
  return absl::OkStatus();
}

void Writer::AddRun(uint64_t segments) {
  std::vector<CtaRun>& runs = kernel_.record.runs;
  if (!runs.empty()) {
    CtaRun& last = runs.back();
    if (last.first_linear + last.count == cta_.linear && last.segments == segments) {
      ++last.count;
      return;
    }
  }
  runs.push_back({.first_linear = cta_.linear, .count = 1, .segments = segments});
}

absl::Status Writer::FlushChunk() {
  const BuiltChunk built = chunk_.Take();
  RETURN_IF_ERROR(CheckLimit("bytes of a chunk", built.raw.size(), kMaxChunkBytes));
  num_shapes_ += built.shapes;
  RETURN_IF_ERROR(CheckLimit("access shapes", num_shapes_, kMaxShapes));
  const std::string packed = Pack(built.raw, kLevel);
  RETURN_IF_ERROR(CheckLimit("chunks", chunks_.size() + 1, kMaxChunks));
  chunks_.push_back({packed.size(), built.raw.size(), built.pieces, built.shapes, Crc32(packed)});
  return file_.Append(packed);
}

uint32_t Writer::InternTable(const OpenKernel& kernel) {
  std::vector<const StaticInst*> by_stream_id;
  for (const StaticInst& inst : kernel.statics) by_stream_id.push_back(&inst);
  std::string encoded = EncodeStaticTable(by_stream_id, kernel.slots);
  const auto number = static_cast<uint32_t>(table_numbers_.size());
  const auto [it, added] = table_numbers_.try_emplace(encoded, number);
  if (added) {
    tables_ += encoded;
    num_statics_ += kernel.statics.size();
  }
  return it->second;
}

absl::Status Writer::EndKernel(const KernelInfo& kernel) {
  SM89_ASSERT(state_ == State::kKernel, "EndKernel inside a kernel only");
  SM89_ASSERT(kernel.grid == kernel_.record.info.grid, "the grid does not change while a kernel is read");
  state_ = State::kSet;
  const KernelInfo counted = kernel_.record.info;
  KernelInfo& info = kernel_.record.info;
  info = kernel;
  info.num_ctas = counted.num_ctas;
  info.warp_instructions = counted.warp_instructions;
  info.thread_instructions = counted.thread_instructions;
  info.masked_off_instructions = counted.masked_off_instructions;
  std::vector<const StaticInst*> by_stream_id;
  for (const StaticInst& inst : kernel_.statics) by_stream_id.push_back(&inst);
  digest_.EndKernel(info, by_stream_id);
  kernel_.record.table = InternTable(kernel_);
  kernels_.push_back(std::move(kernel_.record));
  num_runs_ += kernels_.back().runs.size();
  std::string code;
  AppendKernelInfo(&code, kernels_.back().info);
  kernels_bytes_ += code.size();
  RETURN_IF_ERROR(CheckLimit("bytes of kernel records", kernels_bytes_, kMaxSectionBytes));
  RETURN_IF_ERROR(CheckLimit("runs of thread blocks", num_runs_, kMaxCtaRuns));
  RETURN_IF_ERROR(CheckLimit("bytes of static tables", tables_.size(), kMaxSectionBytes));
  return CheckLimit("static instructions of all different kernels", num_statics_, kMaxStatics);
}

absl::StatusOr<SectionEntry> Writer::WriteSection(SectionKind kind, const std::string& raw) {
  RETURN_IF_ERROR(
      CheckLimit(absl::StrCat("bytes of section ", Av(Name(kind))), raw.size(), kMaxSectionBytes));
  const std::string packed = Pack(raw, kLevel);
  const SectionEntry entry{kind, Crc32(packed), file_.size(), packed.size(), raw.size()};
  RETURN_IF_ERROR(file_.Append(packed));
  return entry;
}

absl::StatusOr<WrittenTrace> Writer::Finish(const TraceSetInfo& set) {
  SM89_ASSERT(state_ == State::kSet, "Finish after the last EndKernel");
  for (const TraceCommand& c : set.commands) {
    SM89_ASSERT(c.kind != CommandKind::kKernel || c.kernel < kernels_.size(),
                "commands name written kernels");
  }
  state_ = State::kFinished;
  RETURN_IF_ERROR(CheckLimit("commands", set.commands.size(), kMaxCommands));
  RETURN_IF_ERROR(CheckLimit("marks", set.marks.size(), kMaxNotes));
  RETURN_IF_ERROR(CheckLimit("warnings", set.warnings.size(), kMaxNotes));
  if (!chunk_.empty()) RETURN_IF_ERROR(FlushChunk());
  std::string statics;
  AppendVarint(&statics, table_numbers_.size());
  statics += tables_;
  FileHeader header;
  header.digest_hex = digest_.Finish(set);
  const std::array<std::string, kSectionOrder.size()> raw = {EncodeSet(set), EncodeKernels(kernels_), statics,
                                                             EncodeChunks(chunks_)};
  for (size_t i = 0; i < raw.size(); ++i) {
    ASSIGN_OR_RETURN(header.sections[i], WriteSection(kSectionOrder[i], raw[i]));
  }
  header.file_bytes = file_.size();
  RETURN_IF_ERROR(file_.WriteAt(0, EncodeHeader(header)));
  RETURN_IF_ERROR(file_.Commit());
  return WrittenTrace{header.digest_hex, header.file_bytes};
}

}  // namespace

absl::StatusOr<std::unique_ptr<CompactWriter>> CompactWriter::Create(const std::string& path) {
  auto writer = std::make_unique<Writer>();
  RETURN_IF_ERROR(writer->Open(path));
  return writer;
}

}  // namespace sm89
