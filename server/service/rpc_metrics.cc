#include "server/service/rpc_metrics.h"

#include <grpcpp/support/server_interceptor.h>

#include <chrono>
#include <string>

#include "absl/strings/str_cat.h"
#include "sm89/v1/analysis.pb.h"
#include "sm89/v1/config.pb.h"
#include "sm89/v1/job.pb.h"
#include "sm89/v1/pool.pb.h"
#include "sm89/v1/trace.pb.h"
#include "sm89/v1/worker.pb.h"

namespace sm89 {
namespace {

using grpc::experimental::InterceptionHookPoints;
using grpc::experimental::Interceptor;
using grpc::experimental::InterceptorBatchMethods;
using grpc::experimental::ServerInterceptorFactoryInterface;
using grpc::experimental::ServerRpcInfo;
using SteadyClock = std::chrono::steady_clock;

// One RPC. The library makes one for each and destroys it after the RPC's last operation.
class MeasuringInterceptor : public Interceptor {
 public:
  MeasuringInterceptor(RpcMetrics& metrics, RpcMetrics::MethodId method)
      : metrics_(metrics), method_(method), start_(SteadyClock::now()) {
    metrics_.Started(method_);
  }

  ~MeasuringInterceptor() override {
    if (!finished_) Finish(absl::StatusCode::kCancelled);
  }

  void Intercept(InterceptorBatchMethods* methods) override {
    if (methods->QueryInterceptionHookPoint(InterceptionHookPoints::PRE_SEND_STATUS)) {
      Finish(static_cast<absl::StatusCode>(methods->GetSendStatus().error_code()));
    }
    methods->Proceed();
  }

 private:
  void Finish(absl::StatusCode code) {
    finished_ = true;
    metrics_.Finished(method_, code, std::chrono::duration<double>(SteadyClock::now() - start_).count());
  }

  RpcMetrics& metrics_;
  const RpcMetrics::MethodId method_;
  const SteadyClock::time_point start_;
  bool finished_ = false;  // touched by the one status batch and by the destructor after it
};

class MeasuringFactory : public ServerInterceptorFactoryInterface {
 public:
  explicit MeasuringFactory(RpcMetrics& metrics) : metrics_(metrics) {}
  Interceptor* CreateServerInterceptor(ServerRpcInfo* info) override {
    return new MeasuringInterceptor(metrics_, metrics_.Find(info->method()));
  }

 private:
  RpcMetrics& metrics_;
};

// Poll's answer is held back until there is work; FinalizeUpload reads the whole trace.
bool IsLongUnary(const google::protobuf::MethodDescriptor& method) {
  return method.full_name() == "sm89.v1.WorkerService.Poll" ||
         method.full_name() == "sm89.v1.TraceService.FinalizeUpload";
}

void AppendMethods(const google::protobuf::FileDescriptor* file, std::vector<RpcMethod>& out) {
  for (int s = 0; s < file->service_count(); ++s) {
    const google::protobuf::ServiceDescriptor* service = file->service(s);
    for (int m = 0; m < service->method_count(); ++m) {
      const google::protobuf::MethodDescriptor* method = service->method(m);
      out.push_back({absl::StrCat(service->full_name(), "/", method->name()),
                     IsLongUnary(*method) || method->client_streaming() || method->server_streaming()});
    }
  }
}

}  // namespace

std::vector<RpcMethod> ServedRpcMethods() {
  // These two come with the library; their descriptors need not be linked in.
  std::vector<RpcMethod> methods = {{"grpc.health.v1.Health/Check", false},
                                    {"grpc.health.v1.Health/Watch", true},
                                    {"grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo", true}};
  for (const google::protobuf::Descriptor* message :
       {v1::BeginUploadRequest::descriptor(), v1::ListConfigsRequest::descriptor(),
        v1::SubmitJobRequest::descriptor(), v1::GetStatusRequest::descriptor(),
        v1::AttachRequest::descriptor(), v1::AnalyzeRequest::descriptor()}) {
    AppendMethods(message->file(), methods);
  }
  return methods;
}

void MeasureRpcs(grpc::ServerBuilder& builder, RpcMetrics& metrics) {
  std::vector<std::unique_ptr<ServerInterceptorFactoryInterface>> factories;
  factories.push_back(std::make_unique<MeasuringFactory>(metrics));
  builder.experimental().SetInterceptorCreators(std::move(factories));
}

}  // namespace sm89
