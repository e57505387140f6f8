// ConfigService of sm89.v1 over a ConfigStore.
#pragma once

#include <memory>

#include "server/os/executor.h"
#include "server/store/config_store.h"

namespace grpc {
class Service;
}

namespace sm89 {

// Both outlive the service. The server must have been shut down before the service goes.
std::unique_ptr<grpc::Service> MakeConfigService(ConfigStore& configs, Executor& executor);

}  // namespace sm89
