// Where executed instructions come from: a stored trace (compact_reader.h) or a program that executes thread
// blocks while the simulation asks for them (live_source.h).
//
// The simulator's road: for each kernel its static table -> OpenCta(k) when a CTA is launched -> one
// WarpCursor a warp, advanced one instruction at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "sim/base/types.h"
#include "sim/trace/trace_types.h"

namespace sm89 {

// The shape of one access: everything about its addresses but where it starts. Shared by many executed
// instructions, so work done once a shape (coalescing, bank conflicts) is not done again.
struct AccessShape {
  LaneMask mask = 0;
  // Address of each active lane minus the first active lane's address (wrapping 64-bit), lowest lane first.
  // offsets[0] is 0.
  std::vector<uint64_t> offsets;
  // True when offsets[i] == i * stride for all i.
  bool strided = false;
  int64_t stride = 0;
  // Number within the source, for caches keyed by shape: one id always means one shape, and the same shape
  // has the same id in every run. Equal shapes may have different ids (a file's do in different chunks).
  uint32_t id = 0;
};

// One executed warp instruction as the cursor gives it.
struct DynInst {
  uint32_t static_id = 0;
  LaneMask mask = 0;
  const AccessShape* shape = nullptr;  // null: no addresses recorded
  uint64_t base = 0;                   // address of the lowest active lane
};

// One executed warp instruction as it is written or recorded.
struct DynInstRecord {
  // From CompactWriter::AddStatic; of a CtaRecorder: place in the kernel's static table.
  uint32_t static_id = 0;
  LaneMask mask = 0;
  // One address a lane of `mask`, lowest first; empty when the instruction has none in the trace.
  std::span<const uint64_t> addresses;
};

class CtaTrace;

// Walks one warp's instructions in order. Cheap to advance (no heap use but at a chunk border).
// Not thread-safe; different cursors may be used from different threads.
class WarpCursor {
 public:
  virtual ~WarpCursor() = default;
  // False at the end of the warp's trace, and when the file turns out to be damaged: then `status` says so.
  // The shape pointer stays valid until the next call of Next.
  virtual bool Next(DynInst* inst) = 0;
  // OK, or why Next ended early (DATA_LOSS naming file and offset). Check it once Next has said false.
  virtual const absl::Status& status() const = 0;
  // Instructions not yet given.
  virtual uint64_t remaining() const = 0;
};

// One CTA. Warps that are absent or empty have no cursor.
class CtaTrace {
 public:
  virtual ~CtaTrace() = default;
  virtual Dim3 id() const = 0;
  // Warps the CTA has by its block dimensions (absent ones included).
  virtual uint32_t num_warps() const = 0;
  virtual uint64_t warp_instructions(uint32_t warp) const = 0;
  // Null when the warp has no instructions.
  virtual std::unique_ptr<WarpCursor> OpenWarp(uint32_t warp) const = 0;
};

class TraceSource {
 public:
  virtual ~TraceSource() = default;

  // Does not change while the source lives, so spans into it stay valid.
  virtual const TraceSetInfo& info() const = 0;
  // Identity of the content: as WrittenTrace::digest for a file; a live source's own, over what it executes.
  virtual const std::string& digest() const = 0;
  virtual std::span<const StaticInst> StaticTable(uint32_t kernel) const = 0;
  virtual uint64_t NumCtas(uint32_t kernel) const = 0;
  // Coordinates of CTA number `index`, from the index alone.
  virtual Dim3 CtaId(uint32_t kernel, uint64_t index) const = 0;
  // CTA number `index` (0 .. NumCtas-1). A live source gives a kernel's CTAs once each, in ascending order,
  // to one thread at a time.
  virtual absl::StatusOr<std::unique_ptr<CtaTrace>> OpenCta(uint32_t kernel, uint64_t index) = 0;
  // True when OpenCta executes the CTA: it costs time in proportion to the CTA's instructions, and the counts
  // in info().kernels are not known before.
  virtual bool live() const { return false; }
};

}  // namespace sm89
