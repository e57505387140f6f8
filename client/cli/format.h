// Numbers, times and names as people read them, and back from what people type.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "sm89/v1/common.pb.h"
#include "sm89/v1/job.pb.h"
#include "sm89/v1/trace.pb.h"

namespace sm89::client {

// Text from elsewhere (kernel names, labels) without anything that could steer a terminal: control
// characters become '?'.
std::string Printable(const std::string& text);

// Printable, cut to `columns` with "..." at the end.
std::string Shorten(const std::string& text, size_t columns);

// Columns that UTF-8 text takes (code points; wide characters count as one).
size_t DisplayWidth(const std::string& text);

std::string HumanBytes(uint64_t bytes);    // "512 B", "3.4 MiB"
std::string HumanCount(double count);      // "950", "1.23 M"
std::string HumanSeconds(double seconds);  // "0.4 s", "2m05s", "3h12m", "-" when negative

// "2026-11-29T15:07:01Z"; "-" when absent.
std::string TimeText(const v1::Timestamp& time);
// Seconds from `time` to now; negative when absent.
double AgeSeconds(const v1::Timestamp& time);
// Start to end, or to now while it runs; negative when not started.
double DurationSeconds(const v1::Job& job);

// Machine code that is executed by the simulation: how many instructions it has is not known beforehand.
bool IsProgram(const v1::Trace& trace);

// "RUNNING".
std::string StateName(v1::Job::State state);

// "4G", "512MiB", "1000000": powers of 1024.
absl::StatusOr<uint64_t> ParseBytes(const std::string& option, const std::string& text);
// "90", "90s", "15m", "2h", "1d" in seconds.
absl::StatusOr<uint32_t> ParseSeconds(const std::string& option, const std::string& text);
// "name=value"; the name must not be empty.
absl::StatusOr<std::pair<std::string, std::string>> ParsePair(const std::string& option,
                                                              const std::string& text);

// "jobs/x" for ("jobs", "x") and ("jobs", "jobs/x"); INVALID_ARGUMENT for another collection's name.
absl::StatusOr<std::string> FullName(const std::string& collection, const std::string& name);
// "x" for "jobs/x".
std::string ShortName(const std::string& name);

// A check of an option: "nan" passes every comparison of a range. The text of the mistake, or nothing.
std::string NotANumber(const std::string& text);

}  // namespace sm89::client
