// The forms in which the reordering stage's decisions are kept (sim/report/ser_trace.h).
#pragma once

#include <cstdint>

namespace sm89 {

enum class SerTraceFormat : uint8_t { kNone, kCompact, kCsv, kJsonLines };

}  // namespace sm89
