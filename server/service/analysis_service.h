// sm89.v1.AnalysisService: static analysis of machine code, in child processes.
#pragma once

#include <memory>

#include "server/analysis/analysis_runner.h"
#include "server/os/executor.h"
#include "server/store/blob_store.h"
#include "server/traces/trace_manager.h"

namespace grpc {
class Service;
}

namespace sm89 {

// All must outlive the server that the service is registered with.
struct AnalysisServiceDeps {
  TraceManager& traces;
  BlobStore& blobs;
  AnalysisRunner& runner;
  Executor& analyses;  // its threads and its queue are the bounds on what runs and what waits
  Executor& executor;  // reads answers
};
std::unique_ptr<grpc::Service> MakeAnalysisService(const AnalysisServiceDeps& deps);

}  // namespace sm89
