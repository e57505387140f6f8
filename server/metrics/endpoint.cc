#include "server/metrics/endpoint.h"

#include <prometheus/exposer.h>

#include <exception>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "sim/base/fault.h"
#include "sim/base/strings.h"

namespace sm89 {
namespace {

// "host:port" -> host with its brackets. The HTTP library would take other forms ("8080s", "80,81") too.
absl::StatusOr<std::string> HostOf(const std::string& address) {
  const Fault fault{.field = "metrics_address",
                    .value = address,
                    .expected = "host:port with a numeric host, such as 127.0.0.1:9489 or [::1]:0",
                    .message = "the metrics address is not of the form host:port"};
  const size_t colon = address.rfind(':');
  if (colon == std::string::npos || colon == 0) return InputError(absl::StatusCode::kInvalidArgument, fault);
  const std::string port = address.substr(colon + 1);
  uint32_t number = 0;
  const bool digits = !port.empty() && port.find_first_not_of("0123456789") == std::string::npos;
  if (!digits || !absl::SimpleAtoi(port, &number) || number > 65'535) {
    return InputError(absl::StatusCode::kInvalidArgument, fault);
  }
  const std::string host = address.substr(0, colon);
  const bool v6 = host.front() == '[' && host.back() == ']';
  if (host.find_first_not_of(v6 ? "[]0123456789abcdefABCDEF:." : "0123456789.") != std::string::npos) {
    return InputError(absl::StatusCode::kInvalidArgument, fault);
  }
  return host;
}

}  // namespace

class MetricsEndpoint::Impl {
 public:
  Impl(const std::string& address, const std::string& host) : exposer_(address) {
    const std::vector<int> ports = exposer_.GetListeningPorts();
    port = ports.empty() ? 0 : ports.front();
    actual_address = absl::StrCat(host, ":", port);
  }
  void Serve(const std::shared_ptr<prometheus::Collectable>& collectable) {
    // The endpoint holds a weak reference only.
    collectable_ = collectable;
    exposer_.RegisterCollectable(collectable_);
  }

  int port = 0;
  std::string actual_address;

 private:
  std::shared_ptr<prometheus::Collectable> collectable_;
  prometheus::Exposer exposer_;
};

absl::StatusOr<std::unique_ptr<MetricsEndpoint>> MetricsEndpoint::Start(const std::string& address,
                                                                        const Metrics& metrics) {
  auto host = HostOf(address);
  if (!host.ok()) return host.status();
  try {
    auto impl = std::make_unique<Impl>(address, *host);
    impl->Serve(metrics.collectable());
    return std::unique_ptr<MetricsEndpoint>(new MetricsEndpoint(std::move(impl)));
  } catch (const std::exception& error) {
    // The library throws when it cannot listen and gives no reason.
    return absl::UnavailableError(absl::StrCat("cannot listen for metrics on ", address, ": ", error.what(),
                                               " (port taken, or not an address of this machine)"));
  }
}

MetricsEndpoint::MetricsEndpoint(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
MetricsEndpoint::~MetricsEndpoint() = default;

int MetricsEndpoint::port() const { return impl_->port; }
const std::string& MetricsEndpoint::address() const { return impl_->actual_address; }

}  // namespace sm89
