// The execution loop: warps of a CTA take turns, CTAs run one after another or, in a cooperative launch,
// together.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "sim/emu/machine.h"

namespace sm89::emu {

class Runner {
 public:
  explicit Runner(Machine* machine) : m_(*machine) {}

  // One CTA from start to end.
  absl::Status Run(uint64_t index, TraceSink* sink);
  // CTAs 0 .. num_ctas-1, in turns.
  absl::Status RunTogether(uint64_t num_ctas, TraceSink* sink);

 private:
  void Start(uint64_t index, Cta* cta);
  // One turn of every warp that can run. False: none could.
  absl::StatusOr<bool> Round(Cta* cta);
  void Turn(Warp* warp, uint32_t budget);
  template <bool kTrace>
  void Execute(Warp* warp, uint32_t budget);
  absl::Status CheckTurn() const;
  absl::Status Deadlock(const std::vector<Cta*>& ctas) const;

  Machine& m_;
  std::unique_ptr<Cta> one_;  // reused from CTA to CTA
};

}  // namespace sm89::emu
