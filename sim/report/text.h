// Small helpers that the renderings share.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/report/run_report.h"

namespace sm89 {

// Valid UTF-8: bytes that are not become U+FFFD.
std::string ValidUtf8(const std::string& bytes);

// Valid UTF-8 on one line, without control characters: safe to show on a terminal.
std::string Printable(const std::string& bytes);

// "cycle_limit: why", "complete, but the trace is partial": one line for people, which says where the
// rest of a longer reason is.
std::string StatusText(const RunReport& report);

// "foreign_arch; allow_partial"; empty without marks.
std::string MarkKinds(const RunReport& report);

// 9999 -> "9999", 12345 -> "12.3K", 1257472 -> "1.26M", up to T: at most 5 characters.
std::string Compact(uint64_t value);

// One line a pair of clock reads, "0x0020>0x0460 threads 32 min 10 median 10 max 12", in cycles; a last one
// when differences were dropped.
std::vector<std::string> ClockReadLines(const ClockReadSummary& reads);

// Position of a derived figure by name; it must exist.
size_t DerivedIndex(std::string_view name);

}  // namespace sm89
