// The HTTP endpoint that Prometheus scrapes: GET /metrics, nothing else, no TLS and no password. Bind it to
// loopback or to an address that only the lab's Prometheus can reach.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "server/metrics/metrics.h"

namespace sm89 {

class MetricsEndpoint {
 public:
  // `address` is "host:port" with a numeric host ("127.0.0.1:9489", "[::1]:0"); port 0 takes a free one.
  // INVALID_ARGUMENT for an address of another form, UNAVAILABLE with the address when it cannot be bound.
  static absl::StatusOr<std::unique_ptr<MetricsEndpoint>> Start(const std::string& address,
                                                                const Metrics& metrics);
  ~MetricsEndpoint();  // may take a second: the HTTP library polls its stop flag
  MetricsEndpoint(const MetricsEndpoint&) = delete;
  MetricsEndpoint& operator=(const MetricsEndpoint&) = delete;

  int port() const;                    // the actual one
  const std::string& address() const;  // "host:port" with the actual port

 private:
  class Impl;
  explicit MetricsEndpoint(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace sm89
