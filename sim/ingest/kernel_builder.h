// Puts one kernel together from its blocks, warps and instructions, whatever the file format: checks the
// structure, counts, feeds the writer.
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "sim/base/fault.h"
#include "sim/ingest/cta_set.h"
#include "sim/ingest/inst_parser.h"
#include "sim/ingest/static_table.h"
#include "sim/trace/compact_writer.h"
#include "sim/trace/trace_types.h"

namespace sm89 {

// Calls nest: BeginCta (BeginWarp Add* EndWarp)* EndCta. `line` is 0 in formats without lines. Every error is
// an InputError. Not thread-safe.
class KernelBuilder {
 public:
  // The header must be good. `writer` is in this kernel (BeginKernel was called).
  KernelBuilder(const KernelInfo& header, CompactWriter& writer);

  absl::Status BeginCta(const Dim3& id, uint64_t line);
  // A section that says how many instructions follow. Warps with none are only counted.
  absl::Status BeginWarp(uint64_t warp, uint64_t declared, uint64_t line);
  absl::Status Add(const ParsedInst& inst, uint64_t line);
  absl::Status EndWarp();
  absl::Status EndCta();

  bool in_cta() const { return in_cta_; }
  bool in_warp() const { return in_warp_; }
  const Dim3& cta() const { return cta_id_; }
  uint32_t warp() const { return warp_; }
  uint64_t declared() const { return declared_; }
  uint64_t read() const { return read_; }
  const KernelInfo& info() const { return info_; }
  StaticTable& table() { return table_; }
  // LDGSTS whose addresses are those of shared memory: no access to global memory was recorded with them.
  uint64_t async_shared_sides() const { return async_shared_sides_; }
  uint64_t first_shared_side_line() const { return first_shared_side_line_; }

  // The file ended (or was cut) here.
  Fault TruncatedFault(const std::string& why, uint64_t line) const;
  // The warp holds another number of instructions than it declares.
  Fault CountFault(uint64_t read, uint64_t line) const;
  // Blocks of the grid that the file does not have; call when it ended cleanly.
  bool HasAllCtas() const { return ctas_.size() == info_.grid_ctas; }
  Fault MissingCtasFault() const;

 private:
  absl::Status Refuse(uint64_t line, std::string field, std::string value, std::string expected,
                      std::string message) const;

  KernelInfo info_;
  CompactWriter& writer_;
  StaticTable table_;
  CtaSet ctas_;
  uint64_t async_shared_sides_ = 0;
  uint64_t first_shared_side_line_ = 0;
  const uint32_t warps_a_cta_;

  bool in_cta_ = false;
  Dim3 cta_id_;
  uint32_t warp_sections_ = 0;
  std::vector<bool> warp_seen_;

  bool in_warp_ = false;
  uint32_t warp_ = 0;
  uint64_t declared_ = 0;
  uint64_t read_ = 0;
  LaneMask exited_ = 0;
  bool past_exit_ = false;
};

}  // namespace sm89
