// Faults on demand, for failure tests only: environment variable SM89_WORKER_FAULT = KIND@CYCLE, where KIND
// is
//   crash  SIGSEGV            abort  a failed assertion       exit   exit code 3
//   hang   never goes on      oom    allocates until refused  slow   sleeps 20 ms before every 1,000 cycles
// The daemon passes the variable on to its workers. Unset (always outside tests), nothing happens.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"

namespace sm89 {

class WorkerFault {
 public:
  enum class Kind : uint8_t { kNone, kCrash, kAbort, kExit, kHang, kOutOfMemory, kSlow };

  WorkerFault() = default;
  // "" = none.
  static absl::StatusOr<WorkerFault> Parse(const std::string& text);

  // Largest step that still meets the fault in time.
  uint64_t StepLimit() const { return kind_ == Kind::kNone ? ~uint64_t{0} : 1000; }
  // Strikes when `cycle` has reached the fault's; returns otherwise.
  void At(uint64_t cycle) const;

 private:
  Kind kind_ = Kind::kNone;
  uint64_t cycle_ = 0;
};

}  // namespace sm89
