// The identity of a trace: SHA-256 over its logical content (FORMAT.md, "Digest"). Neither how the text was
// packed nor how this format stores it changes the digest.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/digest.h"
#include "sim/base/types.h"
#include "sim/trace/trace_types.h"

namespace sm89 {

// Feed in file order: kernels, their CTAs, the warps of a CTA in any order.
class TraceDigest {
 public:
  void BeginCta(const Dim3& id);
  void BeginWarp(uint32_t warp);
  void Plain(uint32_t stream_id, LaneMask mask);
  // `shape_code` as AppendShape gives it.
  void Access(uint32_t stream_id, uint64_t base, std::string_view shape_code);
  void EndWarp();
  void EndCta();
  // `statics` by stream id.
  void EndKernel(const KernelInfo& kernel, const std::vector<const StaticInst*>& statics);
  // Lower-case hex. Call once, last.
  std::string Finish(const TraceSetInfo& set);

 private:
  struct WarpHash {
    uint32_t warp = 0;
    std::string hex;
  };
  void FlushWarp();

  Sha256 all_;
  std::unique_ptr<Sha256> warp_hash_;
  std::string buffer_;  // of the open warp
  Dim3 cta_;
  uint32_t warp_ = 0;
  std::vector<WarpHash> warps_;
};

}  // namespace sm89
