#include "server/log/grpc_log.h"

#include <grpc/support/log.h>

#include <string_view>

#include "server/log/log.h"

namespace sm89 {
namespace {

std::string_view BaseName(std::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

void ForwardToLog(gpr_log_func_args* args) {
  const LogLevel level = args->severity == GPR_LOG_SEVERITY_ERROR  ? LogLevel::kWarn
                         : args->severity == GPR_LOG_SEVERITY_INFO ? LogLevel::kInfo
                                                                   : LogLevel::kDebug;
  Log(level, "grpc", {{"message", args->message}, {"source", BaseName(args->file)}, {"line", args->line}});
}

}  // namespace

void RouteGrpcLogs() {
  gpr_set_log_function(&ForwardToLog);
  gpr_set_log_verbosity(LogEnabled(LogLevel::kDebug) ? GPR_LOG_SEVERITY_DEBUG : GPR_LOG_SEVERITY_ERROR);
}

}  // namespace sm89
