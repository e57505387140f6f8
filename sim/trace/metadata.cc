#include "sim/trace/metadata.h"

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "sim/base/assert.h"
#include "sim/base/strings.h"
#include "sim/trace/packing.h"

namespace sm89 {
namespace {

constexpr size_t kDigestBytes = 32;
constexpr size_t kCrcOffset = kCompactHeaderBytes - 4;
constexpr uint64_t kMaxLinear = uint64_t{1} << 62;

Dim3 ReadDim3(ByteReader* in) {
  constexpr uint64_t kLimit = uint64_t{1} << 32;
  Dim3 d;
  for (uint32_t* part : {&d.x, &d.y, &d.z}) *part = static_cast<uint32_t>(in->VarintBelow(kLimit));
  return d;
}

void AppendDim3(std::string* out, const Dim3& d) {
  for (const uint32_t part : {d.x, d.y, d.z}) AppendVarint(out, part);
}

bool ReadBool(ByteReader* in) { return in->VarintBelow(2) != 0; }
uint32_t Read32(ByteReader* in) { return static_cast<uint32_t>(in->VarintBelow(uint64_t{1} << 32)); }

// Fields of KernelInfo that are plain 64-bit counts, in the order stored.
template <typename Info>
auto Counts(Info& k) {
  return std::array{&k.num_ctas,
                    &k.grid_ctas,
                    &k.warp_instructions,
                    &k.thread_instructions,
                    &k.masked_off_instructions,
                    &k.empty_warps,
                    &k.absent_warps,
                    &k.warps_past_exit,
                    &k.zero_address_accesses};
}

KernelInfo ReadKernelInfo(ByteReader* in) {
  KernelInfo k;
  k.name = in->Bytes();
  k.file = in->Bytes();
  k.id = in->Varint();
  k.grid = ReadDim3(in);
  k.block = ReadDim3(in);
  k.shmem_bytes = Read32(in);
  k.nregs = Read32(in);
  k.binary_version = Read32(in);
  k.stream_id = in->Varint();
  k.shmem_base = in->Varint();
  k.local_base = in->Varint();
  k.nvbit_version = in->Bytes();
  k.tracer_version = in->Bytes();
  k.has_lineinfo = ReadBool(in);
  for (uint64_t* count : Counts(k)) *count = in->Varint();
  k.complete = ReadBool(in);
  return k;
}

TraceCommand ReadCommand(ByteReader* in, uint64_t num_kernels) {
  TraceCommand c;
  c.kind = static_cast<CommandKind>(in->VarintBelow(static_cast<uint64_t>(CommandKind::kIgnored) + 1));
  c.address = in->Varint();
  c.bytes = in->Varint();
  c.kernel = Read32(in);
  if (c.kind == CommandKind::kKernel && c.kernel >= num_kernels) in->Fail();
  c.line = Read32(in);
  c.text = in->Bytes();
  return c;
}

}  // namespace

std::string_view Name(SectionKind kind) {
  switch (kind) {
    case SectionKind::kSet:
      return "set";
    case SectionKind::kKernels:
      return "kernels";
    case SectionKind::kStatics:
      return "statics";
    case SectionKind::kChunks:
      return "chunks";
  }
  return "unknown";
}

std::string EncodeHeader(const FileHeader& header) {
  std::string out(kCompactMagic);
  AppendLittleEndian(&out, kCompactVersion, 4);
  AppendLittleEndian(&out, kCompactHeaderBytes, 4);
  AppendLittleEndian(&out, header.file_bytes, 8);
  const std::string digest = absl::HexStringToBytes(header.digest_hex);
  SM89_ASSERT(digest.size() == kDigestBytes, "a SHA-256 in hex");
  out += digest;
  AppendLittleEndian(&out, header.sections.size(), 4);
  AppendLittleEndian(&out, 0, 4);
  for (const SectionEntry& s : header.sections) {
    AppendLittleEndian(&out, static_cast<uint32_t>(s.kind), 4);
    AppendLittleEndian(&out, s.crc, 4);
    AppendLittleEndian(&out, s.offset, 8);
    AppendLittleEndian(&out, s.stored_bytes, 8);
    AppendLittleEndian(&out, s.raw_bytes, 8);
  }
  SM89_ASSERT(out.size() <= kCrcOffset, "the header has room for its sections");
  out.resize(kCrcOffset, '\0');
  AppendLittleEndian(&out, Crc32(out), 4);
  return out;
}

absl::StatusOr<FileHeader> DecodeHeader(std::string_view bytes) {
  if (bytes.substr(0, kCompactMagic.size()) != kCompactMagic) {
    return absl::InvalidArgumentError("not a compact trace: the file does not start with its magic");
  }
  ByteReader in(bytes.substr(kCompactMagic.size()));
  const auto version = static_cast<uint32_t>(in.LittleEndian(4));
  if (in.ok() && version != kCompactVersion) {
    return absl::InvalidArgumentError(
        absl::StrCat("compact trace version ", version, " is not supported, expected ", kCompactVersion));
  }
  if (bytes.size() < kCompactHeaderBytes) return absl::DataLossError("the file ends inside its header");
  ByteReader crc(bytes.substr(kCrcOffset, 4));
  if (Crc32(bytes.substr(0, kCrcOffset)) != crc.LittleEndian(4)) {
    return absl::DataLossError("the header's checksum does not match");
  }
  FileHeader header;
  bool good = in.LittleEndian(4) == kCompactHeaderBytes;
  header.file_bytes = in.LittleEndian(8);
  header.digest_hex = absl::BytesToHexString(Av(in.Raw(kDigestBytes)));
  good = good && in.LittleEndian(4) == header.sections.size() && in.LittleEndian(4) == 0;
  for (size_t i = 0; good && i < header.sections.size(); ++i) {
    SectionEntry& s = header.sections[i];
    s.kind = static_cast<SectionKind>(in.LittleEndian(4));
    good = s.kind == kSectionOrder[i];
    s.crc = static_cast<uint32_t>(in.LittleEndian(4));
    s.offset = in.LittleEndian(8);
    s.stored_bytes = in.LittleEndian(8);
    s.raw_bytes = in.LittleEndian(8);
  }
  const std::string_view unused = in.Raw(kCrcOffset - kCompactMagic.size() - in.offset());
  good = good && unused.find_first_not_of('\0') == std::string_view::npos;
  if (!good || !in.ok()) return absl::DataLossError("the header is malformed");
  return header;
}

bool IsPossibleBlock(const Dim3& block) {
  const uint64_t threads = SaturatingVolume(block);
  return threads > 0 && threads <= uint64_t{kMaxWarpsPerCta} * kWarpSize;
}

void AppendKernelInfo(std::string* out, const KernelInfo& k) {
  AppendBytes(out, k.name);
  AppendBytes(out, k.file);
  AppendVarint(out, k.id);
  AppendDim3(out, k.grid);
  AppendDim3(out, k.block);
  for (const uint64_t value : {uint64_t{k.shmem_bytes}, uint64_t{k.nregs}, uint64_t{k.binary_version},
                               k.stream_id, k.shmem_base, k.local_base}) {
    AppendVarint(out, value);
  }
  AppendBytes(out, k.nvbit_version);
  AppendBytes(out, k.tracer_version);
  AppendVarint(out, k.has_lineinfo ? 1 : 0);
  for (const uint64_t* count : Counts(k)) AppendVarint(out, *count);
  AppendVarint(out, k.complete ? 1 : 0);
}

void AppendCommand(std::string* out, const TraceCommand& c) {
  AppendVarint(out, static_cast<uint64_t>(c.kind));
  AppendVarint(out, c.address);
  AppendVarint(out, c.bytes);
  AppendVarint(out, c.kernel);
  AppendVarint(out, c.line);
  AppendBytes(out, c.text);
}

std::string EncodeSet(const TraceSetInfo& set) {
  std::string out;
  AppendBytes(&out, set.name);
  AppendVarint(&out, set.commands.size());
  for (const TraceCommand& c : set.commands) AppendCommand(&out, c);
  AppendVarint(&out, set.marks.size());
  for (const TraceMark& m : set.marks) {
    AppendBytes(&out, m.kind);
    AppendBytes(&out, m.detail);
    AppendVarint(&out, m.count);
  }
  AppendVarint(&out, set.warnings.size());
  for (const TraceWarning& w : set.warnings) {
    AppendBytes(&out, w.kind);
    AppendBytes(&out, w.message);
  }
  return out;
}

bool DecodeSet(std::string_view bytes, uint64_t num_kernels, TraceSetInfo* set) {
  ByteReader in(bytes);
  set->name = in.Bytes();
  set->commands.resize(in.Count(6, kMaxCommands));
  for (TraceCommand& c : set->commands) c = ReadCommand(&in, num_kernels);
  set->marks.resize(in.Count(3, kMaxNotes));
  for (TraceMark& m : set->marks) {
    m.kind = in.Bytes();
    m.detail = in.Bytes();
    m.count = in.Varint();
  }
  set->warnings.resize(in.Count(2, kMaxNotes));
  for (TraceWarning& w : set->warnings) {
    w.kind = in.Bytes();
    w.message = in.Bytes();
  }
  return in.ok() && in.AtEnd();
}

std::string EncodeKernels(const std::vector<KernelRecord>& kernels) {
  std::string out;
  AppendVarint(&out, kernels.size());
  for (const KernelRecord& k : kernels) {
    AppendKernelInfo(&out, k.info);
    AppendVarint(&out, k.table);
    AppendVarint(&out, k.runs.size());
    uint64_t next = 0;
    for (const CtaRun& run : k.runs) {
      AppendZigzag(&out, run.first_linear - next);
      AppendVarint(&out, run.count);
      AppendVarint(&out, run.segments);
      next = run.first_linear + run.count;
    }
  }
  return out;
}

namespace {

// How far the runs have been read: next piece of the file, runs that may still come.
struct RunBudget {
  uint64_t piece = 0;
  uint64_t runs_left = kMaxCtaRuns;
};

bool ReadRuns(ByteReader* in, RunBudget* budget, KernelRecord* kernel) {
  const uint64_t grid = SaturatingVolume(kernel->info.grid);
  kernel->runs.resize(in->Count(3, budget->runs_left));
  budget->runs_left -= kernel->runs.size();
  uint64_t index = 0;
  uint64_t next = 0;
  for (CtaRun& run : kernel->runs) {
    run.first_index = index;
    run.first_linear = next + in->Zigzag();
    run.count = in->VarintBelow(kMaxLinear);
    run.segments = in->VarintBelow(kMaxLinear);
    if (!in->ok() || run.count == 0 || run.segments == 0 || run.count > kMaxLinear / run.segments)
      return false;
    if (run.first_linear > kMaxLinear || run.first_linear + run.count > grid) return false;
    run.first_piece = budget->piece;
    budget->piece += run.count * run.segments;
    if (budget->piece > kMaxLinear) return false;
    index += run.count;
    next = run.first_linear + run.count;
  }
  return kernel->info.num_ctas == index;
}

}  // namespace

bool DecodeKernels(std::string_view bytes, uint64_t num_tables, std::vector<KernelRecord>* kernels) {
  ByteReader in(bytes);
  kernels->resize(in.Count(16, kMaxKernels));
  RunBudget budget;
  for (KernelRecord& k : *kernels) {
    k.info = ReadKernelInfo(&in);
    k.table = static_cast<uint32_t>(in.VarintBelow(num_tables));
    if (!in.ok() || !IsPossibleBlock(k.info.block) || !ReadRuns(&in, &budget, &k)) return false;
  }
  return in.ok() && in.AtEnd();
}

std::string EncodeChunks(const std::vector<ChunkEntry>& chunks) {
  std::string out;
  AppendVarint(&out, chunks.size());
  for (const ChunkEntry& c : chunks) {
    for (const uint64_t value : {c.stored_bytes, c.raw_bytes, c.pieces, c.shapes}) AppendVarint(&out, value);
    AppendLittleEndian(&out, c.crc, 4);
  }
  return out;
}

bool DecodeChunks(std::string_view bytes, std::vector<ChunkEntry>* chunks) {
  ByteReader in(bytes);
  chunks->resize(in.Count(8, kMaxChunks));
  for (ChunkEntry& c : *chunks) {
    c.stored_bytes = in.VarintBelow(kMaxLinear);
    c.raw_bytes = in.VarintBelow(kMaxChunkBytes + 1);
    c.pieces = in.VarintBelow(kMaxLinear);
    c.shapes = in.VarintBelow(kMaxChunkAddresses + 1);
    c.crc = static_cast<uint32_t>(in.LittleEndian(4));
    if (c.pieces == 0) return false;
  }
  return in.ok() && in.AtEnd();
}

}  // namespace sm89
