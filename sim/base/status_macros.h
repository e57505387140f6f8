// RETURN_IF_ERROR / ASSIGN_OR_RETURN for absl::Status (the packaged Abseil has none).
#pragma once

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#define SM89_CONCAT_INNER(a, b) a##b
#define SM89_CONCAT(a, b) SM89_CONCAT_INNER(a, b)

// __COUNTER__, not __LINE__: a lambda inside one of these macros may hold others.
#define RETURN_IF_ERROR(expr) RETURN_IF_ERROR_IMPL(SM89_CONCAT(sm89_status_, __COUNTER__), expr)
#define RETURN_IF_ERROR_IMPL(tmp, expr) \
  do {                                  \
    ::absl::Status tmp = (expr);        \
    if (!tmp.ok()) return tmp;          \
  } while (false)

#define ASSIGN_OR_RETURN(lhs, expr) ASSIGN_OR_RETURN_IMPL(SM89_CONCAT(sm89_statusor_, __COUNTER__), lhs, expr)
#define ASSIGN_OR_RETURN_IMPL(tmp, lhs, expr) \
  auto tmp = (expr);                          \
  if (!tmp.ok()) return tmp.status();         \
  lhs = std::move(tmp).value()
