#include "server/service/grpc_server.h"

#include <grpcpp/ext/proto_server_reflection_plugin.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/health_check_service_interface.h>
#include <grpcpp/resource_quota.h>
#include <sys/un.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "server/service/rpc_metrics.h"
#include "sim/base/assert.h"
#include "sim/base/status_macros.h"

namespace sm89 {
namespace {

constexpr int kMsPerSecond = 1000;
constexpr int kMetadataBytesMax = 16 * 1024;
constexpr size_t kQuotaBytes = size_t{1} << 30;
constexpr int kQuotaThreads = 256;
// The fastest that a client may ping without being cut off; the documentation tells clients 20 s.
constexpr int kClientPingMsMin = 5000;
constexpr const char* kServiceNames[] = {"sm89.v1.TraceService", "sm89.v1.ConfigService",
                                         "sm89.v1.JobService", "sm89.v1.PoolService"};

std::chrono::system_clock::time_point After(Duration wait) {
  return std::chrono::system_clock::now() + std::chrono::duration_cast<std::chrono::milliseconds>(wait);
}

void SetLimits(const ListenSettings& listen, const char* quota_name, grpc::ServerBuilder& builder) {
  const int keepalive_ms = static_cast<int>(listen.keepalive_seconds) * kMsPerSecond;
  // Without this a second daemon would silently share the port.
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, keepalive_ms);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, keepalive_ms);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, kClientPingMsMin);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS,
                             static_cast<int>(listen.max_streams_per_connection));
  builder.AddChannelArgument(GRPC_ARG_MAX_METADATA_SIZE, kMetadataBytesMax);
  builder.SetMaxReceiveMessageSize(static_cast<int>(listen.max_message_bytes));
  builder.SetMaxSendMessageSize(static_cast<int>(listen.max_message_bytes));
  grpc::ResourceQuota quota(quota_name);
  quota.Resize(kQuotaBytes);
  quota.SetMaxThreads(kQuotaThreads);
  builder.SetResourceQuota(quota);
}

// "host" of "host:port"; the port of "[::1]:80" is behind the last colon too.
std::string HostOf(const std::string& address) { return address.substr(0, address.rfind(':')); }

class GrpcServersImpl final : public GrpcServers {
 public:
  absl::Status Open(const GrpcServerOptions& options, const std::vector<grpc::Service*>& public_services,
                    grpc::Service* worker_service, RpcMetrics& metrics) {
    ASSIGN_OR_RETURN(const std::string worker_address, UnixAddress(options.worker_socket));
    grpc::EnableDefaultHealthCheckService(true);
    grpc::reflection::InitProtoReflectionServerBuilderPlugin();
    RETURN_IF_ERROR(OpenWorkers(options, worker_address, worker_service, metrics));
    return OpenPublic(options, public_services, metrics);
  }

  ~GrpcServersImpl() override {
    ShutdownPublic(Duration::zero());
    ShutdownWorkers(Duration::zero());
  }

  const std::string& address() const override { return address_; }

  void SetServing(bool serving) override {
    grpc::HealthCheckServiceInterface* health = public_->GetHealthCheckService();
    SM89_ASSERT(health != nullptr, "enabled before the server was built");
    health->SetServingStatus(serving);
  }

  void ShutdownPublic(Duration wait) override {
    if (public_ == nullptr) return;
    public_->Shutdown(After(wait));
    public_->Wait();
    public_ = nullptr;
  }

  void ShutdownWorkers(Duration wait) override {
    if (workers_ == nullptr) return;
    workers_->Shutdown(After(wait));
    workers_->Wait();
    workers_ = nullptr;
  }

 private:
  absl::Status OpenWorkers(const GrpcServerOptions& options, const std::string& address,
                           grpc::Service* service, RpcMetrics& metrics) {
    grpc::ServerBuilder builder;
    SetLimits(options.listen, "workers", builder);
    builder.AddListeningPort(address, grpc::InsecureServerCredentials());
    builder.RegisterService(service);
    MeasureRpcs(builder, metrics);
    workers_ = builder.BuildAndStart();
    if (workers_ == nullptr) return absl::UnavailableError(absl::StrCat("cannot listen on ", address));
    return absl::OkStatus();
  }

  absl::Status OpenPublic(const GrpcServerOptions& options, const std::vector<grpc::Service*>& services,
                          RpcMetrics& metrics) {
    grpc::ServerBuilder builder;
    SetLimits(options.listen, "clients", builder);
    std::vector<std::string> addresses;
    int port = 0;
    if (!options.listen.address.empty()) {
      addresses.push_back(options.listen.address);
      builder.AddListeningPort(options.listen.address, grpc::InsecureServerCredentials(), &port);
    }
    if (!options.unix_socket.empty()) {
      ASSIGN_OR_RETURN(const std::string address, UnixAddress(options.unix_socket));
      addresses.push_back(address);
      builder.AddListeningPort(address, grpc::InsecureServerCredentials());
    }
    if (addresses.empty()) return absl::InvalidArgumentError("there is no address to listen on");
    for (grpc::Service* service : services) builder.RegisterService(service);
    MeasureRpcs(builder, metrics);
    public_ = builder.BuildAndStart();
    const bool tcp_failed = !options.listen.address.empty() && port == 0;
    if (public_ == nullptr || tcp_failed) {
      return absl::UnavailableError(
          absl::StrCat("cannot listen on ", addresses.front(),
                       ": another program uses the port, or the host is none of this machine's"));
    }
    // Overall is there from the start; these can be asked for by name too.
    for (const char* name : kServiceNames) public_->GetHealthCheckService()->SetServingStatus(name, true);
    address_ = port == 0 ? addresses.front() : absl::StrCat(HostOf(options.listen.address), ":", port);
    return absl::OkStatus();
  }

  std::unique_ptr<grpc::Server> public_;
  std::unique_ptr<grpc::Server> workers_;
  std::string address_;
};

}  // namespace

absl::StatusOr<std::string> UnixAddress(const std::string& path) {
  constexpr size_t kPathMax = sizeof(sockaddr_un::sun_path) - 1;
  if (path.empty() || path.size() > kPathMax) {
    return absl::InvalidArgumentError(absl::StrCat("the socket path '", path, "' has ", path.size(),
                                                   " bytes, the system allows 1..", kPathMax,
                                                   ": choose a shorter data_dir"));
  }
  return absl::StrCat("unix:", path);
}

absl::StatusOr<std::unique_ptr<GrpcServers>> GrpcServers::Start(
    const GrpcServerOptions& options, const std::vector<grpc::Service*>& public_services,
    grpc::Service* worker_service, RpcMetrics& metrics) {
  auto servers = std::make_unique<GrpcServersImpl>();
  RETURN_IF_ERROR(servers->Open(options, public_services, worker_service, metrics));
  return servers;
}

}  // namespace sm89
