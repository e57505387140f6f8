#include "sim/trace/trace_digest.h"

#include <algorithm>
#include <array>
#include <utility>

#include "sim/trace/byte_io.h"
#include "sim/trace/metadata.h"

namespace sm89 {
namespace {

constexpr size_t kFlushBytes = 16 << 10;

}  // namespace

void TraceDigest::BeginCta(const Dim3& id) {
  cta_ = id;
  warps_.clear();
}

void TraceDigest::BeginWarp(uint32_t warp) {
  warp_ = warp;
  warp_hash_ = std::make_unique<Sha256>();
  buffer_.clear();
}

void TraceDigest::FlushWarp() {
  warp_hash_->Update(buffer_);
  buffer_.clear();
}

void TraceDigest::Plain(uint32_t stream_id, LaneMask mask) {
  std::array<char, 9> record{};  // the last byte stays 0
  for (int i = 0; i < 4; ++i) record[i] = static_cast<char>(stream_id >> (8 * i));
  for (int i = 0; i < 4; ++i) record[4 + i] = static_cast<char>(mask >> (8 * i));
  buffer_.append(record.data(), record.size());
  if (buffer_.size() >= kFlushBytes) FlushWarp();
}

void TraceDigest::Access(uint32_t stream_id, uint64_t base, std::string_view shape_code) {
  AppendLittleEndian(&buffer_, stream_id, 4);
  buffer_.append(shape_code.substr(0, 4));  // the mask
  buffer_.push_back('\1');
  AppendLittleEndian(&buffer_, base, 8);
  buffer_.append(shape_code.substr(4));
  if (buffer_.size() >= kFlushBytes) FlushWarp();
}

void TraceDigest::EndWarp() {
  FlushWarp();
  warps_.push_back({warp_, warp_hash_->FinishHex()});
}

void TraceDigest::EndCta() {
  std::sort(warps_.begin(), warps_.end(),
            [](const WarpHash& a, const WarpHash& b) { return a.warp < b.warp; });
  std::string text = "cta";
  for (const uint32_t part : {cta_.x, cta_.y, cta_.z}) AppendVarint(&text, part);
  AppendVarint(&text, warps_.size());
  for (const WarpHash& w : warps_) {
    AppendVarint(&text, w.warp);
    text += w.hex;
  }
  all_.Update(text);
}

void TraceDigest::EndKernel(const KernelInfo& kernel, const std::vector<const StaticInst*>& statics) {
  KernelInfo without_place = kernel;
  without_place.file.clear();
  std::string text = "kernel";
  AppendKernelInfo(&text, without_place);
  AppendVarint(&text, statics.size());
  for (const StaticInst* inst : statics) AppendStaticInst(&text, *inst);
  all_.Update(text);
}

std::string TraceDigest::Finish(const TraceSetInfo& set) {
  std::string text = "set";
  AppendVarint(&text, set.commands.size());
  for (TraceCommand command : set.commands) {
    command.line = 0;
    AppendCommand(&text, command);
  }
  AppendVarint(&text, set.marks.size());
  for (const TraceMark& mark : set.marks) {
    AppendBytes(&text, mark.kind);
    AppendVarint(&text, mark.count);
  }
  all_.Update(text);
  return all_.FinishHex();
}

}  // namespace sm89
