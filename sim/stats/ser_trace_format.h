// The forms in which the reordering stage's decisions are kept (sim/report/ser_trace.h).
#pragma once

#include <cstdint>

namespace sm89 {

enum class SerTraceFormat : uint8_t { kNone, kCompact, kCsv, kJsonLines };

// What the file is called where nobody names it.
constexpr const char* KeptName(SerTraceFormat format) {
  switch (format) {
    case SerTraceFormat::kNone:
      break;
    case SerTraceFormat::kCompact:
      return "ser_trace.ser";
    case SerTraceFormat::kCsv:
      return "ser_trace.csv";
    case SerTraceFormat::kJsonLines:
      return "ser_trace.jsonl";
  }
  return "";
}

}  // namespace sm89
