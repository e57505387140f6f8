// RETURN_IF_ERROR / ASSIGN_OR_RETURN for the client, which shares no code with the simulator or the server.
#pragma once

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#define SM89_CLIENT_CONCAT_INNER(a, b) a##b
#define SM89_CLIENT_CONCAT(a, b) SM89_CLIENT_CONCAT_INNER(a, b)

#define CLIENT_RETURN_IF_ERROR(expr)                 \
  do {                                               \
    ::absl::Status client_status_ = (expr);          \
    if (!client_status_.ok()) return client_status_; \
  } while (false)

#define CLIENT_ASSIGN_OR_RETURN(lhs, expr) \
  CLIENT_ASSIGN_OR_RETURN_IMPL(SM89_CLIENT_CONCAT(client_statusor_, __LINE__), lhs, expr)
#define CLIENT_ASSIGN_OR_RETURN_IMPL(tmp, lhs, expr) \
  auto tmp = (expr);                                 \
  if (!tmp.ok()) return tmp.status();                \
  lhs = std::move(tmp).value()
