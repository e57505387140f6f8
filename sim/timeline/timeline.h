// A run as a chrome trace with the events and fields of PyTorch's profiler (Kineto): for torch.profiler's
// viewers, chrome://tracing, Perfetto and HolisticTraceAnalysis. README.md beside this file names each field.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "sim/report/run_report.h"

namespace sm89 {

// False: no more is wanted.
using PieceSink = std::function<bool(std::string_view)>;

// Gives the file to `write` in pieces of about 64 KiB, in the order of time; ends early when it says false.
// Deterministic bytes. Memory: some bytes a kernel beside the report.
void WriteTimeline(const RunReport& report, const PieceSink& write);

// The same, compressed as one gzip member without name and time.
void WriteGzipTimeline(const RunReport& report, const PieceSink& write);

// Nanoseconds from the run's start to the start of `cycle`, rounded to the nearest: times of the timeline.
// `core_khz` > 0.
uint64_t TimelineNs(uint64_t cycle, uint32_t core_khz);

}  // namespace sm89
