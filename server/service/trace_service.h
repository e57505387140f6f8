// TraceService of sm89.v1 over a TraceManager.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>

#include "server/os/clock.h"
#include "server/os/executor.h"
#include "server/traces/trace_manager.h"

namespace grpc {
class Service;
}

namespace sm89 {

struct TraceServiceOptions {
  uint64_t max_chunk_bytes = 0;
  // A WriteUpload stream that brings nothing for this long is cancelled.
  Duration stream_idle_max = std::chrono::seconds(60);
};

// All outlive the service. The server must have been shut down before the service goes.
std::unique_ptr<grpc::Service> MakeTraceService(TraceManager& traces, Executor& executor, const Clock& clock,
                                                const TraceServiceOptions& options);

}  // namespace sm89
